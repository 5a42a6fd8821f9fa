"""Constraints of `Annotated` and `Field` as refinements of types."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from sglc.source import Span
from sglc.syntax.tree import ast

NUMBERS = ("int", "decimal", "float")


class NoType(Exception):
    """An annotation that is no type of the language: what is wrong with it, and what to write instead."""

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Constraints:
    """What the metadata of an annotation say, under the names of `annotated_types` and of Pydantic."""

    ge: object = None
    gt: object = None
    le: object = None
    lt: object = None
    multiple_of: object = None
    min_length: object = None
    max_length: object = None
    pattern: object = None
    description: str = ""
    written: str = ""
    """A type of the language as text, which stands for the whole annotation."""


_KNOWN = ("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length", "pattern", "description")


def constraints(metadata: Iterable[object]) -> Constraints:
    """The constraints among metadata; what means something to others is passed by.

    Objects are known by their attributes, so that neither Pydantic nor annotated_types need be installed.
    Raises NoType for a function, which says nothing of the texts that are legal.
    """
    found: dict[str, Any] = {}
    for each in metadata:
        if isinstance(each, type) or each is None:
            continue
        inner = getattr(each, "metadata", None)
        if isinstance(inner, list | tuple):
            nested = constraints(inner)
            found |= {name: v for name in _KNOWN if (v := getattr(nested, name)) not in (None, "")}
        if hasattr(each, "func") and callable(each.func):
            raise NoType(
                "a function says nothing of the texts that are legal",
                "write `ge`, `le`, `min_length`, `max_length` or `pattern`, or ask behind the hole by "
                "`assert`",
            )
        written = getattr(each, "sgl_type", None)
        if isinstance(written, str):
            found["written"] = written
        for name in _KNOWN:
            value = getattr(each, name, None)
            if value is not None and not callable(value):
                found[name] = value
    return replace(Constraints(), **found)


def refined(type: ast.TypeExpression, asked: Constraints, span: Span) -> ast.TypeExpression:
    """A type with the refinements of its constraints. Raises NoType where one does not go with it."""
    if isinstance(type, ast.TypeOptional):
        return ast.TypeOptional(refined(type.item, asked, span), span)
    base = type.base if isinstance(type, ast.TypeRefined) else type
    name = base.name if isinstance(base, ast.TypeName) else ""
    numeric = [value for value in (asked.ge, asked.gt, asked.le, asked.lt, asked.multiple_of)]
    textual = asked.min_length is not None or asked.max_length is not None
    if any(value is not None for value in numeric) and name not in NUMBERS:
        raise NoType("`ge`, `gt`, `le`, `lt` and `multiple_of` are for numbers")
    if isinstance(base, ast.TypeList) and textual:
        return replace(base, minimum=_count(asked.min_length), maximum=_count(asked.max_length))
    if isinstance(base, ast.TypeMap) and textual:
        return replace(base, minimum=_count(asked.min_length), maximum=_count(asked.max_length))
    if (textual or asked.pattern is not None) and name != "str":
        raise NoType("`min_length`, `max_length` and `pattern` are for texts, lists and dicts")
    found = [*_number(name, asked, span), *_text(asked, span)]
    if not found:
        return type
    known = type.refinements if isinstance(type, ast.TypeRefined) else ()
    return ast.TypeRefined(base, (*known, *found), span)


def _number(name: str, asked: Constraints, span: Span) -> Iterable[ast.Refinement]:
    if name == "int":
        least = None if asked.ge is None else _bound(asked.ge, True)
        most = None if asked.le is None else _bound(asked.le, True)
        if asked.gt is not None:
            above = _bound(asked.gt, True) + 1
            least = above if least is None else max(least, above)
        if asked.lt is not None:
            below = _bound(asked.lt, True) - 1
            most = below if most is None else min(most, below)
    else:
        if asked.gt is not None or asked.lt is not None:
            raise NoType(f"`gt` and `lt` of a {name} leave out a bound", "write `ge` and `le`")
        least = None if asked.ge is None else _bound(asked.ge, False)
        most = None if asked.le is None else _bound(asked.le, False)
    if least is not None or most is not None:
        yield ast.RangeRefinement(least, most, False, span)
    if asked.multiple_of is not None:
        yield ast.MultipleOf(_bound(asked.multiple_of, name == "int"), span)


def _text(asked: Constraints, span: Span) -> Iterable[ast.Refinement]:
    if asked.pattern is not None:
        yield ast.Matching(whole(asked.pattern), span)
    if asked.min_length is not None:
        yield ast.MinChars(_count(asked.min_length) or 0, span)
    if asked.max_length is not None:
        yield ast.MaxChars(_count(asked.max_length) or 0, span)


def _bound(value: object, integral: bool) -> int | Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise NoType(f"`{value!r}` is no number")
    if integral:
        if value != int(value):
            raise NoType(f"`{value!r}` is no whole number")
        return int(value)
    return value if isinstance(value, int | Decimal) else Decimal(repr(value))


def _count(value: object) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise NoType(f"`{value!r}` is no length")
    return value


def whole(pattern: object) -> str:
    """The pattern of whole texts that means what `pattern` means when it is searched for, as Pydantic does.

    A pattern between `^` and `$` is the whole text's already. Raises NoType for one with alternatives that
    no brackets hold together, where `^` and `$` belong to one of them.
    """
    text = pattern.pattern if isinstance(pattern, re.Pattern) else pattern
    if not isinstance(text, str):
        raise NoType(f"`{pattern!r}` is no pattern")
    begins = text.startswith(("^", r"\A"))
    ends = (text.endswith("$") and not text.endswith(r"\$")) or text.endswith(r"\Z") or text.endswith(r"\z")
    if _has_alternatives(text) and (begins or ends):
        raise NoType(
            "`^` and `$` belong to the first and the last alternative of this pattern",
            "put the alternatives into brackets: `^(?:a|b)$`",
        )
    inner = text[(1 if text.startswith("^") else 2) if begins else 0 :]
    if ends:
        inner = inner[: -1 if inner.endswith("$") else -2]
    if begins and ends:
        return inner
    anything = r"[\s\S]*"
    return f"{'' if begins else anything}(?:{inner}){'' if ends else anything}"


def _has_alternatives(text: str) -> bool:
    """Whether a `|` stands outside of brackets."""
    bare = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", "x", text, flags=re.DOTALL)
    depth = 0
    for char in bare:
        depth += (char == "(") - (char == ")")
        if char == "|" and depth == 0:
            return True
    return False
