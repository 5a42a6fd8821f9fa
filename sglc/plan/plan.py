"""What a plan says: rows of a conversation in order, and what they come to.

Sizes are counted in the plan's `unit`: tokens of a model, or bytes where no model is named.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from sglc.project.prices import Price

Unit = Literal["tokens", "bytes"]
Times = tuple[int, int | None]
"""The least and the greatest number of times; None for no bound."""
RowKind = Literal[
    "text",
    "value",
    "hole",
    "call",
    "part",
    "fork",
    "forget",
    "loop",
    "choice",
    "arm",
    "try",
    "except",
    "leave",
]


@dataclass(frozen=True, slots=True)
class MaskPlan:
    """Masks of a hole that were made ahead of time for the model: states, and bytes of files."""

    states: int
    bytes: int


@dataclass(frozen=True, slots=True)
class HolePlan:
    """One filling of a hole. `least` and `most` are bounds of what `--stats` counts as its tokens."""

    name: str
    mode: Literal["gen", "choose", "select"]
    type: str
    least: int
    exact: bool
    """Whether a value of `least` is known; else it is a lower bound."""
    most: int | None
    most_exact: bool
    because: str = ""
    """What bounds it beside its type: `max 80 tok`, `within 300 tok`; why nothing is known of it."""
    cut: int = 0
    """The lower bound of a value that a budget cuts off."""
    drawn: int | None = None
    """Of the value of `least`: tokens drawn, each by a forward pass where no drafts come true. None where no
    such value is known, and without a model."""
    forced: int | None = None
    value: str = ""
    """The value of `least`."""
    attempts: int = 1
    samples: int = 1
    """Values, each with its own tokens. Beams find all of theirs in one search, which counts as one."""
    texts: int = 1
    """Most texts that a strategy tries for one that is kept: walks, particles or beams. Budgets count all."""
    masks: MaskPlan | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One thing of a conversation. What does not belong to its kind is empty.

    text    constant text: `size`, `text`; `behind` where it stands behind something that varies, before the
            first hole
    value   text of a value: `origins`, none where it is the same in every call
    hole    `hole`
    call    of `function`; `started` where it may run beside what stands before it
    fork, loop   `times`, `origins` of what they run over
    choice, arm, try, except   ways; their rows follow, one deeper
    leave   the function returns or raises: `text`
    """

    number: int
    depth: int
    kind: RowKind
    role: str = ""
    """Of the message that it stands in."""
    line: int | None = None
    size: int | None = None
    text: str = ""
    origins: tuple[str, ...] = ()
    behind: bool = False
    times: Times | None = None
    function: str = ""
    started: bool = False
    hole: HolePlan | None = None


Verdict = Literal["holds", "may be cut", "cannot hold", "unknown"]


@dataclass(frozen=True, slots=True)
class FunctionPlan:
    """The plan of one function. `least` and `most` bound the tokens of all its holes and of its calls."""

    name: str
    signature: str
    rows: tuple[Row, ...]
    least: int
    most: int | None
    within: int | None = None
    verdict: Verdict | None = None
    beginning: int = 0
    """Size of the text that every call begins with."""
    behind: int = 0
    """Size of constant text behind something that varies, before the first hole."""

    @property
    def holes(self) -> list[HolePlan]:
        """In the order of the rows."""
        return [row.hole for row in self.rows if row.hole is not None]


@dataclass(frozen=True, slots=True)
class ProgramPlan:
    """The plans of a program's functions. `model` is empty for a plan in bytes. `price` is that of the model
    which the program runs on; what the holes of a function cost follows from it where tokens are counted."""

    file: str
    model: str
    unit: Unit
    functions: tuple[FunctionPlan, ...]
    price: Price | None = None

    def cost(self, function: FunctionPlan) -> tuple[Decimal, Decimal | None] | None:
        """The least and the most that the answers of one call cost, prompts left out; None where no price is
        known or tokens are not counted."""
        if self.price is None or self.unit != "tokens":
            return None
        most = None if function.most is None else self.price.of(0, function.most)
        return self.price.of(0, function.least), most
