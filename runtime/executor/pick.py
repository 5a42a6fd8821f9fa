"""Samples tokens on the device of the logits, so that a step returns token ids and not rows.

The order of operations is the sampler's: mask, temperature, top-k, top-p, min-p. Nothing is decided on the
host, so on a GPU all of it is queued behind the step, and the first wait is that for the tokens.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence

import numpy as np
import torch

from sglc.kernels.dsl.noise import GOLDEN, LAST_SHIFT, ROUNDS, SMALL
from sglc.kernels.triton import packed_mask_reference
from sglc.runtime.executor.plan import Candidate, Picking

Rows = slice | torch.Tensor


def host_masks(count: int, vocabulary: int, device: torch.device) -> np.ndarray:
    """int32 [count, ceil(vocabulary / 32)], not set, from where copying to the device waits for nothing."""
    shape = (count, -(-vocabulary // 32))
    masks: np.ndarray = torch.empty(shape, dtype=torch.int32, pin_memory=device.type == "cuda").numpy()
    return masks


def pick(
    logits: torch.Tensor, masks: np.ndarray | None, pickings: Sequence[Picking]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[tuple[Candidate, ...]]]:
    """int64 [n]: a token of each row of float32 logits [n, V], which this changes; and twice float64 [n]: its
    log-probability in the whole distribution, and that of all tokens of its mask. NaN where they are not
    wanted. And the most probable tokens of each row; none where none are wanted.

    `masks` is int32 [n, words], bit t % 32 of word t // 32 for a token t that may be picked; None allows all.
    A row of which nothing may be picked gives -1. NaN is never picked. Distributions are summed in float64,
    in an order that the device chooses.
    """
    device = logits.device
    logits.nan_to_num_(nan=-torch.inf, posinf=torch.inf, neginf=-torch.inf)
    scored = _Sums(logits, [(1.0 if each.scored else None) for each in pickings])
    weighed = _Sums(logits, [(each.temperature or 1.0) if each.weighed else None for each in pickings])
    tops = _tops(logits, masks, [picking.top for picking in pickings])
    if masks is not None:
        _apply(logits, torch.from_numpy(masks).to(device, non_blocking=True))
    highest, tokens = logits.max(1)
    tokens = torch.where(highest == -torch.inf, -1, tokens)
    drawn = [index for index, picking in enumerate(pickings) if picking.temperature > 0]
    if drawn:
        rows = _rows(drawn, len(pickings), device)
        tokens[rows] = _draw(logits[rows], highest[rows], tokens[rows], [pickings[index] for index in drawn])
    if not (scored.wanted or weighed.wanted):
        nothing = np.full(len(pickings), math.nan)
        return tokens.cpu().numpy(), nothing, nothing, tops
    logprobs = logits.gather(1, tokens.clamp(min=0)[:, None])[:, 0] - scored.before
    masses = (weighed.of(logits) - weighed.before).clamp(max=0.0)
    found = torch.stack([tokens.double(), logprobs, masses]).cpu().numpy()  # one copy; such numbers are exact
    return found[0].astype(np.int64), found[1], found[2], tops


def _tops(
    logits: torch.Tensor, masks: np.ndarray | None, counts: Sequence[int]
) -> list[tuple[Candidate, ...]]:
    """By row of logits [n, V] before the mask so many of the most probable tokens, the best first. Of equals
    at the border the device chooses. The host waits for them."""
    tops: list[tuple[Candidate, ...]] = [()] * len(counts)
    wanted = [row for row, count in enumerate(counts) if count]
    if not wanted:
        return tops
    chosen = logits[_rows(wanted, len(counts), logits.device)]
    values, ids = chosen.topk(min(max(counts), logits.shape[1]), dim=1)
    logprobs = values.double() - chosen.double().logsumexp(1, keepdim=True)
    for row, tokens, numbers in zip(wanted, ids.tolist(), logprobs.tolist(), strict=True):
        best = sorted(zip(tokens, numbers, strict=True), key=lambda each: (-each[1], each[0]))
        tops[row] = tuple(
            Candidate(token, logprob, masks is None or bool(masks[row, token >> 5] >> (token & 31) & 1))
            for token, logprob in best[: counts[row]]
            if logprob > -math.inf
        )
    return tops


class _Sums:
    """log Σ exp(logit / temperature) of some rows, before the mask and after it."""

    def __init__(self, logits: torch.Tensor, temperatures: Sequence[float | None]) -> None:
        """`temperatures` has one for each row of float32 logits [n, V]; None where no sum is wanted."""
        self._count, self._device = len(temperatures), logits.device
        self.wanted = [index for index, each in enumerate(temperatures) if each is not None]
        if self.wanted:
            self._rows = _rows(self.wanted, self._count, self._device)
            given = [[each] for each in temperatures if each is not None]
            self._temperatures = to_device(given, torch.float64, self._device)
        self.before = self.of(logits)
        """float64 [n], NaN where not wanted."""

    def of(self, logits: torch.Tensor) -> torch.Tensor:
        """float64 [n] of logits as they are now, NaN where not wanted."""
        sums = torch.full((self._count,), torch.nan, dtype=torch.float64, device=self._device)
        if self.wanted:
            sums[self._rows] = (logits[self._rows].double() / self._temperatures).logsumexp(1)
        return sums


def _apply(logits: torch.Tensor, masks: torch.Tensor) -> None:
    if logits.device.type == "cuda" and importlib.util.find_spec("triton") is not None:
        from sglc.kernels.triton.packed_mask import apply_packed_mask

        apply_packed_mask(logits, masks)
    else:
        packed_mask_reference.apply_packed_mask(logits, masks)


def _rows(numbers: list[int], count: int, device: torch.device) -> Rows:
    """Numbers of some of `count` rows to select by; where it is all of them a slice, which copies nothing."""
    return slice(None) if len(numbers) == count else to_device(numbers, torch.int64, device)


def to_device(values: Sequence[object], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Values on the device, without waiting for what runs there."""
    made = torch.tensor(values, dtype=dtype, pin_memory=device.type == "cuda")
    return made.to(device, non_blocking=True)


def _draw(
    logits: torch.Tensor, highest: torch.Tensor, argmax: torch.Tensor, pickings: Sequence[Picking]
) -> torch.Tensor:
    """int64 [m]: tokens drawn from masked logits [m, V]; `argmax` [m] is -1 where there is none."""
    device = logits.device
    numbers = [(picking.temperature, picking.min_p or 0.0) for picking in pickings]
    settings = to_device(numbers, torch.float64, device)
    temperature, least = settings[:, :1], settings[:, 1:]
    top = highest[:, None]
    scores = (logits - top).where(logits != top, 0.0) * (1.0 / temperature).float()
    limited = [
        index
        for index, picking in enumerate(pickings)
        if picking.top_k is not None or (picking.top_p or 1.0) < 1.0
    ]
    if limited:
        rows = _rows(limited, len(pickings), device)
        kept = _best(logits[rows], top[rows], temperature[rows], [pickings[index] for index in limited])
        scores[rows] = scores[rows].where(kept, -torch.inf)
    if any(picking.min_p for picking in pickings):
        weights = _weights(logits, top, temperature)
        scores = scores.where(weights >= least, -torch.inf)  # the argmax has weight 1
    found = (scores + gumbel(logits.shape[1], [picking.key for picking in pickings], device)).argmax(1)
    return torch.where(argmax >= 0, found, argmax)


def gumbel(size: int, keys: Sequence[int], device: torch.device) -> torch.Tensor:
    """float32 [n, size]: the noise of tokens 0 to size - 1 under each key; see
    `sampling_reference.gumbel`."""
    parts = to_device([(key & 0xFFFFFFFF, key >> 32) for key in keys], torch.int64, device)
    x = (torch.arange(size, device=device) * GOLDEN + parts[:, :1]) & 0xFFFFFFFF
    for number, (shift, factor) in enumerate(ROUNDS):
        x = ((x ^ (x >> shift)) * factor) & 0xFFFFFFFF  # what overflows stands above the lower 32 bits
        if number == 0:
            x ^= parts[:, 1:]
    x ^= x >> LAST_SHIFT
    v = ((x >> 1).float() + 0.5) * 2.0**-31
    waiting = (v * (1.0 + 0.5 * v)).where(v < SMALL, -(1.0 - v).clamp(min=2.0**-24).log())
    return -waiting.log()


def _weights(logits: torch.Tensor, top: torch.Tensor, temperature: torch.Tensor) -> torch.Tensor:
    """float64 [m, n]: e^((logit - top) / temperature); 1 at the largest, be it infinite."""
    below = (logits.double() - top).where(logits != top, 0.0)
    return (below / temperature).exp_()


def _best(
    logits: torch.Tensor, top: torch.Tensor, temperature: torch.Tensor, pickings: Sequence[Picking]
) -> torch.Tensor:
    """bool [m, V]: what top-k and top-p leave. Both keep the first of a ranking, so the last of them is a
    border: larger logits stay, and of equal ones the lowest ids."""
    device, size = logits.device, logits.shape[1]
    ranks = [min(picking.top_k or size, size) for picking in pickings]
    most = max(ranks)
    ranked = logits.topk(most).values if most < size else logits.sort(1, descending=True).values
    place = torch.arange(most, device=device)
    inside = place < to_device(ranks, torch.int64, device)[:, None]
    weights = _weights(ranked, top, temperature).where(inside, 0.0)
    # Without a limit the last weights may add nothing to the sum, and still count.
    masses = [picking.top_p if (picking.top_p or 1.0) < 1.0 else math.inf for picking in pickings]
    mass = to_device(masses, torch.float64, device)[:, None] * weights.sum(1, keepdim=True)
    inside &= weights.cumsum(1) - weights < mass
    count = inside.sum(1, keepdim=True)
    border = ranked.gather(1, count - 1)
    above, equal = logits > border, logits == border
    spare = count - above.sum(1, keepdim=True)
    return above | (equal & (equal.cumsum(1, dtype=torch.int32) <= spare))
