"""A run as data: what stands in its conversations, in order, with what is known of each piece."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Thought(NamedTuple):
    """A token that the model thought of: text, probability, whether the mask allowed it."""

    text: str
    probability: float
    legal: bool


@dataclass(slots=True)
class Token:
    """A token that the model drew. Keys that the trace does not have are None.

    `probability` is that of the model without mask; `pressure` is in nats; `legal` counts the tokens that the
    mask allowed; `alpha` and `chernoff` are of decoding with two models. `more` has the keys that this
    version does not know, and what `drafts` tells of tokens that were computed ahead.
    """

    text: str
    probability: float | None = None
    pressure: float | None = None
    legal: int | None = None
    top: tuple[Thought, ...] = ()
    alpha: float | None = None
    chernoff: float | None = None
    more: Mapping[str, object] = field(default_factory=dict)
    shown: str = ""
    """The part of it that stands in the value; a character of several tokens stands in the last of them."""
    taken_back: bool = False
    number: int = 0
    """Which token of the run it is, from 1 on; 0 where it is told without its details."""


@dataclass(slots=True)
class Forced:
    """Text that could not be anything else."""

    text: str
    shown: str = ""
    taken_back: bool = False


@dataclass(slots=True)
class Pruned:
    """A token that a validator refused, from the part `dead` on."""

    text: str
    dead: str


@dataclass(slots=True)
class SteppedBack:
    """Text that was taken back, because nothing could follow."""

    text: str


@dataclass(slots=True)
class Correction:
    """A repair: at character `at` of the value what was `wrong` gave way to what was `put`, chosen `by`."""

    at: int | None
    wrong: str
    put: str
    by: str


Piece = Token | Forced | Pruned | SteppedBack | Correction


class Walk(NamedTuple):
    """One of several walks that a hole was filled by."""

    number: int | None
    text: str
    weight: float | None
    outcome: str


class Beam(NamedTuple):
    """The texts that a beam search kept after a step, with their scores."""

    step: int | None
    texts: list[str]
    scores: list[float | None]


class Answer(NamedTuple):
    """What was kept of one answer of a model whose texts are repaired, and how many characters it wrote."""

    kept: str
    written: int | None


@dataclass(slots=True)
class Fill:
    """One filling of a hole. `end` has the keys of its `hole_end`; it is None where the hole did not end."""

    hole: str
    mode: str
    branch: str
    number: int
    """Which filling of the run it is, from 1 on."""
    span: str = ""
    pieces: list[Piece] = field(default_factory=list)
    walks: list[Walk] = field(default_factory=list)
    beams: list[Beam] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    end: Mapping[str, object] | None = None
    value: str | None = None
    """The text of the value. None where the hole did not end; of a repair that failed, what was legal."""
    before: str = ""
    """Text before the hole that its first token wrote anew."""
    behind: str = ""
    """Text that its last token wrote behind the value: a stop."""
    rejected: bool = False

    @property
    def tokens(self) -> list[Token]:
        """The tokens that were drawn."""
        return [piece for piece in self.pieces if isinstance(piece, Token)]

    @property
    def pressures(self) -> list[float]:
        """The pressure at each drawn token, as far as it was measured."""
        return [token.pressure for token in self.tokens if token.pressure is not None]

    @property
    def thoughts(self) -> int:
        """How many tokens are listed with each token."""
        return max((len(token.top) for token in self.tokens), default=0)


@dataclass(slots=True)
class Role:
    """A message begins."""

    role: str


@dataclass(slots=True)
class Text:
    """Text that the program wrote: literal, or that of an inserted value."""

    text: str
    inserted: bool = False
    span: str = ""


@dataclass(slots=True)
class Check:
    """A `check` or `ensure` was decided."""

    passed: bool
    reason: str
    span: str = ""


@dataclass(slots=True)
class Error:
    """An error was raised; `caught` where a handler took it, `skipped` the branch that it ended."""

    name: str
    message: str
    caught: bool = False
    skipped: int | None = None
    span: str = ""


@dataclass(slots=True)
class Mark:
    """A word about something that has no place of its own."""

    text: str


@dataclass(slots=True)
class Call:
    """A call, with all that happened in it. `ended` where it returned; `error` where an error left it."""

    function: str
    items: list[Item] = field(default_factory=list)
    ended: bool = False
    error: str = ""
    span: str = ""

    @property
    def height(self) -> int:
        """How many groups stand in each other here: this one, and those below it."""
        return 1 + height_of(self.items)


@dataclass(slots=True)
class Rejected:
    """What a retry took back: a filling, and all behind it."""

    hole: str
    strategy: str
    text: str
    reason: str
    items: list[Item]
    span: str = ""
    height: int = 1
    """As of a call."""


@dataclass(slots=True)
class Branch:
    """One branch of a fork, or one sample of a hole."""

    index: int
    items: list[Item] = field(default_factory=list)
    adopted: bool = False


@dataclass(slots=True)
class Fork:
    """Branches side by side: `count` of them, of which those are listed that anything is known of.

    `samples` names the hole that was filled several times; it is empty for a fork of the program.
    """

    count: int
    branches: list[Branch] = field(default_factory=list)
    samples: str = ""
    span: str = ""

    @property
    def height(self) -> int:
        """As of a branch."""
        return 1 + max((height_of(branch.items) for branch in self.branches), default=0)

    @property
    def adopted(self) -> int | None:
        """The branch that the conversation went on from."""
        return next((branch.index for branch in self.branches if branch.adopted), None)


Item = Role | Text | Fill | Check | Error | Mark | Call | Rejected | Fork


@dataclass(slots=True)
class Run:
    """A whole run, as far as its trace tells."""

    function: str = ""
    program: str = ""
    seed: int | None = None
    items: list[Item] = field(default_factory=list)
    fills: list[Fill] = field(default_factory=list)
    """All fillings, in the order of their beginnings."""
    finished: bool = False
    tokens: int | None = None
    forced: int | None = None
    forwards: int | None = None
    seconds: float | None = None
    error: Error | None = None
    """What ended the run."""
    skipped: dict[str, int] = field(default_factory=dict)
    """Events of kinds that are not known, by kind."""
    detailed: int = 0
    """Tokens that are told with their details."""
    left_out: int = 0
    """Tokens that are told without, because there are too many."""
    checks: int = 0
    failed_checks: int = 0
    retries: int = 0

    @property
    def outcome(self) -> str:
        """How it ended, in a few words."""
        if self.error is not None:
            return f"ended by {self.error.name or 'an error'}"
        return "finished" if self.finished else "not finished"


def height_of(items: Iterable[Item]) -> int:
    """The height of the highest of some items; 0 for those that hold no others."""
    return max((getattr(item, "height", 0) for item in items), default=0)
