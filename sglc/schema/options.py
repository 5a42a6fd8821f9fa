"""How texts of a schema are spelled and in what order, and how much work a schema may ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Draft = Literal["4", "6", "7", "2019-09", "2020-12"]


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
    order      of an object's properties: as the schema declares them, or any
    spacing    `canonical`: `", "` and `": "` as json.dumps writes; `compact`: none; `flexible`: up to
               `blanks` blanks or newlines around every token inside arrays and objects
    spelling   of strings and numbers: the one that json.dumps(ensure_ascii=False) writes, or any legal one
    numbers    the spelling of numbers, where it is not to be that of strings
    formats    whether `format` is asserted (for the names of the standard; others are annotations)
    distinct   whether keys that are known by a pattern only may not occur twice either
    resources  schemas that references may lead to, by absolute URI; nothing is ever fetched
    """

    draft: Draft = "2020-12"
    order: Literal["declared", "any"] = "declared"
    spacing: Literal["canonical", "compact", "flexible"] = "canonical"
    spelling: Literal["canonical", "any"] = "canonical"
    numbers: Literal["canonical", "any"] | None = None
    formats: bool = True
    distinct: bool = False
    blanks: int = 4
    resources: Mapping[str, Any] = field(default_factory=dict, hash=False)
    limits: SchemaLimits = SchemaLimits()
