"""A context-free grammar as it was written: rules and terminals over expressions.

Every dialect (Lark, EBNF, GBNF, grammar blocks of SGL) is read into this one form. Templates are expanded
and imports resolved by the readers. What only shapes a tree (aliases, modifiers, priorities of rules) is kept
beside: it does not change which texts are legal.

`at` is an offset into the source of the rule or terminal that an expression belongs to, -1 for none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal as OneOf

from sglc.source import Source

Dialect = OneOf["lark", "ebnf", "gbnf", "sgl"]
CodePoints = tuple[tuple[int, int], ...]
"""Sorted disjoint ranges of code points, both ends included."""


@dataclass(frozen=True, slots=True)
class Literal:
    """Exactly this text, in any case of its letters if `ignore_case`."""

    text: str
    ignore_case: bool = False
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Pattern:
    """What Python's `re` matches; `flags` are letters of `imsxua`."""

    regex: str
    flags: frozenset[str] = frozenset()
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Characters:
    """One character of a set."""

    points: CodePoints
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Words:
    """One of many texts that are known as data."""

    texts: frozenset[str]
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Given:
    """A value that is put in later: a parameter, or a field of one by its `path`.

    It is a list of texts, one of which stands here, or (`listed` false) the one text that does.
    """

    parameter: str
    path: tuple[str, ...] = ()
    listed: bool = True
    at: int = field(default=-1, compare=False, repr=False)

    @property
    def shown(self) -> str:
        """The parameter with its path, for messages."""
        return ".".join((self.parameter, *self.path))


@dataclass(frozen=True, slots=True)
class Reference:
    """A rule or terminal by its name."""

    name: str
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other; without items the empty text."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Alternatives:
    arms: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`minimum` to `maximum` (None: any number) times; 0 to 1 is an option."""

    item: Expression
    minimum: int = 0
    maximum: int | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """Texts of `item` that are not texts of `without`; both must be regular."""

    item: Expression
    without: Expression
    at: int = field(default=-1, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Named:
    """`item`, whose node in a tree has a name of its own."""

    item: Expression
    name: str


Expression = (
    Literal
    | Pattern
    | Characters
    | Words
    | Given
    | Reference
    | Sequence
    | Alternatives
    | Repeat
    | Difference
    | Named
)
EMPTY = Sequence(())


def with_parts(item: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """An expression with its direct parts changed; itself where it has none."""
    match item:
        case Sequence(items):
            return Sequence(tuple([change(inner) for inner in items]))
        case Alternatives(arms):
            return Alternatives(tuple([change(arm) for arm in arms]))
        case Repeat(inner) | Named(inner):
            return replace(item, item=change(inner))
        case Difference(inner, without):
            return replace(item, item=change(inner), without=change(without))
    return item


@dataclass(frozen=True, slots=True)
class Rule:
    """`modifiers` are Lark's (`?`, `!`); a priority decides between parses, never about legal texts."""

    name: str
    body: Expression
    modifiers: str = ""
    priority: int | None = None
    at: int = field(default=-1, compare=False, repr=False)
    source: Source | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Terminal:
    """A regular part by name; it may refer to terminals only, never to itself."""

    name: str
    body: Expression
    priority: int = 0
    at: int = field(default=-1, compare=False, repr=False)
    source: Source | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Grammar:
    """Rules and terminals by name; `ignore` names terminals that may stand between any two others.

    A grammar with `parameters` is *open*: its `Given` parts have no texts yet (see
    `sglc.cfg.model.parameters`). `whole`, if there is one, is a rule that the start stands in: texts are then
    read as they are there.
    """

    rules: Mapping[str, Rule]
    terminals: Mapping[str, Terminal]
    ignore: tuple[str, ...] = ()
    start: str = "start"
    dialect: Dialect = "lark"
    parameters: tuple[str, ...] = ()
    whole: str = ""
    checked: bool = field(default=False, init=False, compare=False, repr=False)
    """Whether `sglc.cfg.model.validate.check_names` has found nothing wrong."""
