"""Stops: why a run has stopped, where, and what it is to do next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sglc.bytecode.code import Place
from sglc.runtime.decoding.watching import Logits, SearchLook
from sglc.runtime.engine.sampling.legal import NextTokens
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.errors import SglError

if TYPE_CHECKING:
    from sglc.runtime.debug.passages import Passage
    from sglc.runtime.debug.strands import StrandState
    from sglc.runtime.vm.state.frame import Frame

Reason = Literal[
    "entry",
    "statement",
    "line",
    "hole",
    "token",
    "round",
    "improbable",
    "pressure",
    "ensure",
    "expect",
    "raised",
    "back",
    "pause",
]
"""Why a run stops. `improbable`: a token or option had less than a wanted probability. `pressure`: the mask
took away more than a wanted part of the probability. `round`: a search is between tokens. `back`: the hole
that was gone back to."""

StepKind = Literal["statement", "over", "out", "hole", "token", "round"]
"""How far to go: to the next statement (also in a called function), the next one here, behind this function,
to the next hole, to the next token, to the next round of a search or else the next statement here."""


@dataclass(frozen=True, slots=True)
class TokenLook:
    """A token that was drawn and not yet written."""

    drawn: Sampled
    data: bytes
    """Its bytes."""
    legal: NextTokens
    """What the mask allowed."""
    logits: Logits
    texts: Sequence[bytes | None]
    """The bytes of all tokens of the model."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a run stands. It is valid until the run goes on."""

    reason: Reason
    text: str
    """The reason in words."""
    strand: StrandState
    frame: Frame
    pc: int
    """The instruction that comes next in this frame."""
    place: Place | None
    passage: Passage | None = None
    """The hole that is about to be filled or is being filled."""
    token: TokenLook | None = None
    search: SearchLook | None = None
    """Where the search for the text of the hole stands, if one does."""
    error: SglError | None = None
    breakpoints: tuple[int, ...] = ()
    """Numbers of the breakpoints that were met."""
    notes: tuple[str, ...] = ()
    """What the user should know: what was called again on the way back."""


@dataclass(frozen=True, slots=True)
class Go:
    """Go on until something stops the run, or as far as a step goes: one of a strand, or of the one that
    stands."""

    step: StepKind | None = None
    strand: StrandState | None = None


@dataclass(frozen=True, slots=True)
class Back:
    """Go back to a hole that was passed, and stop before it, or go on as `then` says.

    With a `seed` it and what follows in its conversation draw from another one. With `texts`, which were
    found legal, it gets these.
    """

    passage: Passage
    seed: int | None = None
    texts: tuple[str, ...] | None = None
    then: Go | None = None


@dataclass(frozen=True, slots=True)
class Quit:
    """End the run; it fails with Cancelled."""


Action = Go | Back | Quit
