"""Types in the notation of the language, for messages."""

from __future__ import annotations

from decimal import Decimal
from typing import assert_never

from sglc.types.json_text import json_text
from sglc.types.language.membership import constant_notation
from sglc.types.type import (
    AliasType,
    Alternatives,
    Applied,
    Bool,
    Constant,
    Dec,
    Float,
    InForm,
    Int,
    Json,
    ListOf,
    MapOf,
    Named,
    Null,
    OneOf,
    Optional,
    SpanOf,
    Str,
    TupleOf,
    Type,
)


def show_type(type: Type) -> str:
    """`[str max 20 chars; 2..4]`. A type that is shown parses back to an equal type."""
    match type:
        case Str():
            return _str(type)
        case Int():
            return "int" + bounds(type.minimum, type.maximum) + _step(type.multiple_of)
        case Dec():
            return "decimal" + bounds(type.minimum, type.maximum) + _step(type.multiple_of)
        case Float():
            return "float" + bounds(type.minimum, type.maximum)
        case Bool():
            return "bool"
        case Null():
            return "null"
        case Constant(value):
            return constant_notation(value)
        case ListOf(item, low, high):
            return f"[{show_type(item)}{_sizes(low, high)}]"
        case MapOf(key, value, low, high):
            return f"{{{show_type(key)}: {show_type(value)}{_sizes(low, high)}}}"
        case TupleOf(items):
            return f"({', '.join(map(show_type, items))}{',' if len(items) == 1 else ''})"
        case Optional(item):
            inner = show_type(item)
            return f"({inner})?" if isinstance(item, Alternatives | Optional) else f"{inner}?"
        case Alternatives(arms):
            *others, last = arms
            shown = show_type(last)
            if shown not in ("str", "int", "decimal", "float") and any(_alike(arm, last) for arm in others):
                shown = f"({shown})"  # what stands behind a union narrows all of it
            return " | ".join([*map(show_type, others), shown])
        case Named(name):
            return name
        case InForm(item, form):
            inner = show_type(item)
            return f"({inner}) as {form}" if isinstance(item, InForm) else f"{inner} as {form}"
        case Json(schema):
            if not schema:
                return "json"
            return f"json schema {schema}" if len(schema) <= 60 else "json schema {…}"
        case Applied(name):
            return f"{name}(…)"
        case OneOf():
            return "one of …"
        case SpanOf():
            return "span of …" + _span_bounds(type)
        case _:
            assert_never(type)


_TEXTS, _NUMBERS = (Str, SpanOf, OneOf), (Int, Dec, Float)


def _alike(arm: Type, refined: Type) -> bool:
    """Whether a refinement of a type, written behind a union, would narrow this arm of it too."""
    if isinstance(arm, Named):
        return isinstance(refined, (*_TEXTS, *_NUMBERS))
    if isinstance(refined, _TEXTS):
        return isinstance(arm, _TEXTS) or (isinstance(arm, Constant) and isinstance(arm.value, str))
    if isinstance(refined, _NUMBERS):
        value = arm.value if isinstance(arm, Constant) else None
        number = isinstance(value, int | Decimal) and not isinstance(value, bool)
        return number or isinstance(arm, _NUMBERS)
    return False


def bounds(low: int | Decimal | None, high: int | Decimal | None) -> str:
    """` in 0..120`, or nothing where there are none."""
    return "" if low is None and high is None else f" in {range_text(low, high)}"


def range_text(low: int | Decimal | None, high: int | Decimal | None) -> str:
    """Bounds as a program writes them, `1..5`; an open side is empty."""
    return f"{_plain(low)}..{_plain(high)}"


def _plain(bound: int | Decimal | None) -> str:
    return "" if bound is None else format(bound, "f") if isinstance(bound, Decimal) else str(bound)


def _step(step: int | Decimal | None) -> str:
    return "" if step is None else f" multiple of {_plain(step)}"


def _sizes(low: int, high: int | None) -> str:
    if not low and high is None:
        return ""
    return f"; {low}" if low == high else f"; {low or ''}..{'' if high is None else high}"


def _span_bounds(type: SpanOf) -> str:
    low = f" min {type.min_chars} chars" if type.min_chars > 1 else ""
    high = "" if type.max_chars is None else f" max {type.max_chars} chars"
    return low + high + "".join(f" until {json_text(stop)}" for stop in type.until)


def named_rules(grammar: str) -> tuple[str, str]:
    """Short name and rules of a grammar in a type."""
    from sglc.types.grammar_text import grammar_name, grammar_shown

    return grammar_name(grammar).rsplit(".", 1)[-1], grammar_shown(grammar)


_WORDS = {"": "str", "free": "str", "line": "line", "lines": "lines"}


def _str(type: Str) -> str:
    words = [_WORDS[type.layout]]
    if type.grammar:
        from sglc.types.grammar_text import grammar_name

        words = [grammar_name(type.grammar)]
    if type.min_chars:
        words.append(f"min {type.min_chars} chars")
    if type.max_chars is not None:
        words.append(f"max {type.max_chars} chars")
    words += (f"matching /{pattern}/" for pattern in type.patterns)
    words += (f"until {json_text(stop)}" for stop in type.until)
    words += (f"not containing {json_text(text)}" for text in type.excludes)
    return " ".join(words)


def one_line(text: str) -> str:
    """A text without its line breaks."""
    return " ".join(text.split())


LONG_PATTERN = 80
"""Characters of a pattern that says less than the documentation beside it."""


def behind_where(declared: AliasType) -> str:
    """The conditions of an alias as they stand behind its type: ` where it % 2 == 1`; empty without any."""
    from sglc.types.condition import show_condition  # loads all of regular expressions

    shown = [] if declared.where is None else [show_condition(declared.where)]
    shown += [one_line(predicate.text) for predicate in declared.predicates]
    return f" where {' and '.join(shown)}" if shown else ""


def in_words(declared: AliasType) -> str:
    """The documentation of an alias of texts, where its patterns are too long to be read; else empty."""
    type = declared.type
    if isinstance(type, Str) and not type.grammar and any(len(p) > LONG_PATTERN for p in type.patterns):
        return one_line(declared.doc)
    return ""
