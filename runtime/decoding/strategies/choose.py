"""Which decoder a strategy is."""

from __future__ import annotations

from typing import Protocol

from sglc.runtime.decoding.requests import HoleResult
from sglc.runtime.decoding.strategies.attempt import Attempts
from sglc.runtime.decoding.strategies.beams import BeamDecoder
from sglc.runtime.decoding.strategies.exact import ExactDecoder
from sglc.runtime.decoding.strategies.particles import ParticleDecoder
from sglc.runtime.decoding.strategies.prefix_tree import PrefixTree
from sglc.runtime.decoding.validated import Verdicts
from sglc.runtime.errors import SglError
from sglc.types.decoding import Decoding


class Decoder(Protocol):
    """Decodes one hole."""

    async def run(self) -> HoleResult:
        """Generate the value and append its text to the conversation."""


def decoder_of(
    decoding: Decoding, attempts: Attempts, tree: PrefixTree, verdicts: Verdicts | None, wanted: int
) -> Decoder:
    """The decoder of a strategy other than `local`; `wanted` is how many texts one search is to find.

    Raises Unsupported where values of the run make a combination that cannot be had.
    """
    name, sampling = attempts.request.name, attempts.request.sampling
    if (sampling.top_k, sampling.top_p, sampling.min_p) != (None, None, None):
        raise SglError(
            "Unsupported",
            f"`decode {decoding.strategy}` of hole `{name}` takes no `top_k`, `top_p` or `min_p`",
            hint="leave them out, or write `decode local`",
        )
    if decoding.strategy in ("exact", "smc") and not sampling.temperature:
        raise SglError(
            "Unsupported",
            f"`decode {decoding.strategy}` of hole `{name}` draws, and its temperature is 0",
            hint="give it a temperature above 0, or write `decode beam(4)` for the most probable text",
        )
    if decoding.strategy == "exact":
        few = verdicts is None and attempts.longest_of_few() is not None
        return ExactDecoder(attempts, decoding.count, tree, verdicts, few, wanted)
    if verdicts is not None:
        raise SglError("Unsupported", f"`decode {decoding.strategy}` of hole `{name}` asks no validator")
    if decoding.strategy == "smc":
        return ParticleDecoder(attempts, decoding.count)
    return BeamDecoder(attempts, decoding.count, decoding.by, wanted)
