"""Tokens picked from logits where these lie, so that a step gives back numbers of tokens and not rows."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from sglc.kernels.triton import reference


@dataclass(frozen=True, slots=True)
class Picking:
    """How one row is picked from."""

    temperature: float = 0.0
    """0 takes the likeliest token, the first of several."""
    uniform: float = 0.0
    """A random number of [0, 1): where in the distribution over the tokens, in their order, it lies."""


def pick(logits: torch.Tensor, masks: np.ndarray | None, pickings: Sequence[Picking]) -> np.ndarray:
    """int64 [n]: a token of each row of logits [n, V], which this changes.

    `masks` is int32 [n, words], bit t % 32 of word t // 32 for a token t that may be picked; rows of which
    nothing may be picked give -1. Distributions are summed in float64: for one random number a row gives
    one token, whatever the other rows are.
    """
    if masks is not None:
        words = torch.from_numpy(masks).to(logits.device)
        if logits.device.type == "cuda" and importlib.util.find_spec("triton") is not None:
            from sglc.kernels.triton.packed_mask import apply_packed_mask

            apply_packed_mask(logits, words)
        else:
            reference.apply_packed_mask(logits, words)
    highest, tokens = logits.max(1)
    tokens = torch.where(highest == -torch.inf, -1, tokens)
    drawn = [index for index, picking in enumerate(pickings) if picking.temperature > 0]
    if drawn:
        rows = torch.tensor(drawn, device=logits.device)
        settings = torch.tensor(
            [(pickings[index].temperature, pickings[index].uniform) for index in drawn],
            dtype=torch.float64, device=logits.device,
        )  # fmt: skip
        scaled = logits[rows].double() / settings[:, :1]
        sums = (scaled - scaled.amax(1, keepdim=True)).exp().cumsum(1)
        # The first token up to which the sum is larger: never one of probability 0.
        found = torch.searchsorted(sums, settings[:, 1:] * sums[:, -1:], right=True)[:, 0]
        tokens[rows] = torch.where(tokens[rows] < 0, -1, found.clamp(max=logits.shape[1] - 1))
    picked: np.ndarray = tokens.cpu().numpy()
    return picked
