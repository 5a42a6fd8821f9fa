"""What a function writes into its conversation, in order: what is the same in every call, and what varies.

A `Layout` is a tree of items in the order of the program. It follows the structure of the source, so that
an `if` is a `Choice` of arms and a `for` or `while` is a `Loop`:

    Role(role)              a message of that role begins (`MessageEnd` ends it)
    Constant(text)          text that stands in the program, with the newlines between its lines
    Inserted(origins)       the text of a value. Without origins it is the same in every call
    Filled(hole)            a hole: the model writes here
    Called(function)        a call of a `part`, whose `items` are written here, or of a `fn`, which has a
                            conversation of its own. Pure functions write nothing and are left out
    Forked(function)        a fork: `items` is what each branch writes
    Choice(arms)            one of several ways; `origins` are those of the condition
    Loop(items, times)      what is repeated, with the least and the greatest number of rounds
    Attempt(items, handler) a `try` and what is written where it fails
    Forgotten(items)        what is written and then taken out of the conversation again
    Again(hole)             where a condition fails, what stands from the hole on is run again
    Leave(kind)             the function returns or raises here, or a round of a loop ends early

Text *varies* where an item has origins (`sglc.analysis.origins`), and behind each `Filled`. `walk` gives all
items in order with the depth and the origins of the conditions around them:

    for place in walk(layout(module, function).items):
        if isinstance(place.item, Constant) and not place.under: ...   # written in every call
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from sglc.analysis.origins import SAME, Origins
from sglc.source import Span


@dataclass(frozen=True, slots=True)
class Role:
    role: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class MessageEnd:
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Constant:
    """Neighbours in one straight run are one item; `spans` are the places of its pieces, as far as known, and
    `sizes` how many characters each of these writes."""

    text: str
    spans: tuple[Span, ...] = ()
    sizes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Inserted:
    origins: Origins
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Filled:
    """`hole` is an index into `Module.holes`; `attempts` how often it is filled at most: retries and one.

    `options` are what is known of the values that it is given, by name (`max_tokens`, `options`, `n`, …).
    """

    hole: int
    attempts: int
    options: Mapping[str, object]
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Called:
    """`kind` as of the function. `origins` are those of the arguments; `started` where it runs beside what
    follows."""

    function: str
    kind: str
    origins: Origins
    items: tuple[Item, ...] = ()
    started: bool = False
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Forked:
    function: str
    origins: Origins
    times: tuple[int, int | None]
    items: tuple[Item, ...] = ()
    skip: bool = False
    """Whether branches that fail are left out."""
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    origins: Origins
    arms: tuple[tuple[Item, ...], ...]
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Loop:
    """`times` are the least and the greatest number of rounds, None where no greatest is known."""

    origins: Origins
    items: tuple[Item, ...]
    times: tuple[int, int | None]
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    items: tuple[Item, ...]
    handler: tuple[Item, ...]
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Forgotten:
    items: tuple[Item, ...]
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Again:
    """`attempts` is how often one run of the hole is followed by another for this condition."""

    hole: int
    attempts: int
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Leave:
    kind: Literal["return", "raise", "round"]
    span: Span | None = None


Item = (
    Role
    | MessageEnd
    | Constant
    | Inserted
    | Filled
    | Called
    | Forked
    | Choice
    | Loop
    | Attempt
    | Forgotten
    | Again
    | Leave
)


@dataclass(frozen=True, slots=True)
class Layout:
    """The items of one function, and its token budget (None for none)."""

    function: str
    items: tuple[Item, ...]
    within: int | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """An item where it stands: how deep in choices, loops, parts and forks, and the origins of the conditions
    that decide whether it is written."""

    item: Item
    depth: int = 0
    under: Origins = SAME


def walk(items: tuple[Item, ...], depth: int = 0, under: Origins = SAME) -> Iterator[Placed]:
    """All items in order, those inside of others behind these."""
    for item in items:
        yield Placed(item, depth, under)
        match item:
            case Choice(around, arms):
                for arm in arms:
                    yield from walk(arm, depth + 1, under | around)
            case Loop(around, inner) | Forked(origins=around, items=inner):
                yield from walk(inner, depth + 1, under | around)
            case Called(items=inner) | Forgotten(items=inner):
                yield from walk(inner, depth + 1, under)
            case Attempt(inner, handler):
                yield from walk(inner, depth + 1, under)
                yield from walk(handler, depth + 1, under)
