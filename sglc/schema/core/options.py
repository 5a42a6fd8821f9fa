"""How texts of a schema are spelled and in what order, and how much work a schema may ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from sglc.automata.json.data import JsonData


Draft = Literal["4", "6", "7", "2019-09", "2020-12"]
Order = Literal["declared", "any"]
Spacing = Literal["canonical", "compact", "flexible"]
Spelling = Literal["canonical", "any"]
Hostnames = Literal["exact", "plain"]


MOST_INDENT = 1_000
"""Blanks of an indentation, which are states of an automaton."""


@dataclass(frozen=True, slots=True)
class SchemaLimits:
    """Counted in work, so that a schema is taken or refused alike on every machine."""

    schemas: int = 20_000
    """Subschemas that are looked at."""
    alternatives: int = 400
    """Ways in which an object (or an array) may satisfy everything that is asked of it."""
    branches: int = 600
    """The same on the way there, of parts of what is asked."""
    work: int = 150_000
    """Pairs of such ways that are combined, in the whole schema."""
    parts: int = 3_000_000
    """Requirements on objects that are looked at while such pairs are combined, in the whole schema."""
    shapes: int = 10_000
    """Different combinations of subschemas that one value must satisfy at once."""
    states: int = 50_000
    """States of one automaton of strings or numbers."""
    key_states: int = 4_000
    """States of the automata of the keys of one object, where patterns are told apart."""
    domain: int = 64
    """Values that `uniqueItems` tells apart."""
    arms: int = 64
    """Kinds of values that are told apart at one place of an array or under one key of an object."""


@dataclass(frozen=True, slots=True)
class SchemaOptions:
    """What the schema itself leaves open.

    draft      the dialect where there is no `$schema`
    order      of an object's properties: as the schema declares them (those that are only required behind, in
               the order of `required`), or any
    spacing    `canonical`: `", "` and `": "` as json.dumps writes; `compact`: none; `flexible`: around every
               token, and around the whole text, up to `blanks` blanks, tabs and line breaks, or one line
               break and an indentation of up to `indent` blanks, or as many tabs: so what json.dumps,
               JSON.stringify, jq and the printers of Go and Rust write
    spelling   of strings and numbers: the one that json.dumps(ensure_ascii=False) writes, or any legal one
    numbers    the spelling of numbers, where it is not to be that of strings
    formats    whether `format` is asserted (for the names of the standard; others are annotations)
    hostnames  `exact`: `format: hostname` is refused since draft 7, where names have to be valid as Punycode,
               which is no regular set; `plain`: it is written without labels that begin with `xn--`
    distinct   whether keys that are known by a pattern only may not occur twice either
    resources  schemas that references may lead to, by absolute URI; nothing is ever fetched
    """

    draft: Draft = "2020-12"
    order: Order = "declared"
    spacing: Spacing = "canonical"
    spelling: Spelling = "canonical"
    numbers: Spelling | None = None
    formats: bool = True
    hostnames: Hostnames = "exact"
    distinct: bool = False
    blanks: int = 4
    indent: int = 128
    resources: Mapping[str, JsonData] = field(default_factory=dict, hash=False)
    limits: SchemaLimits = SchemaLimits()

    def __post_init__(self) -> None:
        """Raises ValueError for a value that an option does not have."""
        for name, allowed in _ALLOWED:
            value = getattr(self, name)
            if not isinstance(value, str | None) or value not in allowed:
                raise ValueError(f"{name} must be {_listed(allowed)}, not {value!r}")
        for name in ("formats", "distinct"):
            value = getattr(self, name)
            if not isinstance(value, bool):
                raise ValueError(f"{name} must be True or False, not {value!r}")
        if not isinstance(self.blanks, int) or isinstance(self.blanks, bool) or self.blanks < 0:
            raise ValueError(f"blanks must be a whole number from 0 up, not {self.blanks!r}")
        if type(self.indent) is not int or not 0 <= self.indent <= MOST_INDENT:
            raise ValueError(f"indent must be a whole number from 0 to {MOST_INDENT}, not {self.indent!r}")
        if not isinstance(self.resources, Mapping) or not all(isinstance(uri, str) for uri in self.resources):
            raise ValueError("resources must map URIs to schemas")
        if not isinstance(self.limits, SchemaLimits):
            raise ValueError(f"limits must be SchemaLimits, not {self.limits!r}")


_ALLOWED: tuple[tuple[str, tuple[str | None, ...]], ...] = (
    ("draft", get_args(Draft)),
    ("order", get_args(Order)),
    ("spacing", get_args(Spacing)),
    ("spelling", get_args(Spelling)),
    ("numbers", (*get_args(Spelling), None)),
    ("hostnames", get_args(Hostnames)),
)


def _listed(allowed: tuple[str | None, ...]) -> str:
    names = [repr(name) for name in allowed]
    return f"{', '.join(names[:-1])} or {names[-1]}"
