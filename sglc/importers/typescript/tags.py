"""Bounds in the comments of TypeScript: the tags that are usual where JSON Schema is made of it.

`/** How old. @asType integer @minimum 0 @maximum 120 */`. Tags with other names are documentation.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal, InvalidOperation

from sglc.automata.analysis.emptiness import is_empty
from sglc.automata.number.decimal import MAX_DIVISOR
from sglc.automata.regex.compile import RegexError, compile_regex
from sglc.importers.core.bounds import beyond
from sglc.importers.core.fault import SourceFault
from sglc.importers.sql.types import DATE, TIME, TIMESTAMPTZ, UUID
from sglc.lalr.parse import ParseNode
from sglc.types.language.language import language
from sglc.types.type import AliasType, Float, Int, ListOf, Optional, Str, Type, matching

_TAG = re.compile(
    r"(?:^|(?<=\s))@(minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf|minLength|maxLength|pattern"
    r"|minItems|maxItems|asType|TJS-type|format)\b[ \t]*((?:(?!\s@\w).)*)"
)
_FORMATS: dict[str, AliasType] = {"date": DATE, "time": TIME, "date-time": TIMESTAMPTZ, "uuid": UUID}


def without_tags(doc: str) -> str:
    """A comment without its tags of bounds."""
    return " ".join(_TAG.sub("", doc).split())


def bounded(type: Type, doc: str, node: ParseNode) -> Type:
    """A type with the bounds that its comment gives. Raises SourceFault where one does not fit."""
    tags = [(match.group(1), match.group(2).strip()) for match in _TAG.finditer(doc)]
    if not tags:
        return type
    if isinstance(type, Optional):
        return Optional(bounded(type.item, doc, node))
    # What kind of number it is comes before what its bounds are.
    for tag, text in sorted(tags, key=lambda one: one[0] not in ("asType", "TJS-type")):
        type = _with(type, tag, text, node)
    low, high = _limits(type)
    if low is not None and high is not None and low > high:
        raise SourceFault(node.start, node.end, f"its comment leaves no value: {low} is more than {high}")
    if isinstance(type, Str) and type.patterns and is_empty(language(type, {})):
        raise SourceFault(node.start, node.end, "its comment leaves no text")
    return type


def _limits(type: Type) -> tuple[Decimal | int | None, Decimal | int | None]:
    match type:
        case Int() | Float():
            return type.minimum, type.maximum
        case Str():
            return type.min_chars, type.max_chars
        case ListOf():
            return type.minimum, type.maximum
    return None, None


def _with(type: Type, tag: str, text: str, node: ParseNode) -> Type:
    if tag == "format":
        found = _FORMATS.get(text)
        if found is None or type != Str():
            known = ", ".join(_FORMATS)
            raise SourceFault(node.start, node.end, f"@format {text} is not read here", f"known are {known}")
        return found.type
    if tag == "pattern":
        if isinstance(type, Str):
            return matching(_pattern(text, node), of=type)
    elif tag in ("asType", "TJS-type"):
        if isinstance(type, Float) and text in ("integer", "int"):
            return Int()
        if (isinstance(type, Float) and text == "number") or (isinstance(type, Str) and text == "string"):
            return type
    else:
        number = _number(tag, text, node)
        made = _bounded(type, tag, number)
        if made is not None:
            return made
    raise SourceFault(node.start, node.end, f"@{tag} {text} does not fit its type")


def _bounded(type: Type, tag: str, number: Decimal) -> Type | None:
    count = int(number)
    match type, tag:
        case Str(), "minLength":
            return replace(type, min_chars=max(type.min_chars, count))
        case Str(), "maxLength":
            return replace(type, max_chars=count if type.max_chars is None else min(type.max_chars, count))
        case ListOf(), "minItems":
            return replace(type, minimum=max(type.minimum, count))
        case ListOf(), "maxItems":
            return replace(type, maximum=count)
        case Int(), "multipleOf" if number == count and 0 < count <= MAX_DIVISOR:
            return replace(type, multiple_of=count)
        case ((Int() | Float()), "minimum" | "exclusiveMinimum"):
            strict = tag == "exclusiveMinimum"
            if isinstance(type, Float):
                return replace(type, minimum=beyond(type, number, 1) if strict else number)
            least = -int(-number // 1)
            return replace(type, minimum=least + 1 if strict and least == number else least)
        case ((Int() | Float()), "maximum" | "exclusiveMaximum"):
            strict = tag == "exclusiveMaximum"
            if isinstance(type, Float):
                return replace(type, maximum=beyond(type, number, -1) if strict else number)
            most = int(number // 1)
            return replace(type, maximum=most - 1 if strict and most == number else most)
    return None


def _number(tag: str, text: str, node: ParseNode) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    whole = tag in ("minLength", "maxLength", "minItems", "maxItems")
    if not number.is_finite() or abs(number.adjusted()) > 18 or (whole and (number < 0 or number % 1)):
        raise SourceFault(
            node.start, node.end, f"@{tag} needs {'a count' if whole else 'a number'}, not `{text}`"
        )
    return number


def _pattern(text: str, node: ParseNode) -> str:
    """A pattern of the whole text for one that is searched in it."""
    try:
        searched = rf"[\s\S]*(?:{text})[\s\S]*"
        dfa = compile_regex(searched)
        if text.startswith("^") and text.endswith("$"):
            try:
                if compile_regex(text[1:-1]) == dfa:
                    return text[1:-1]
            except RegexError:
                pass
        return searched
    except RegexError as fault:
        raise SourceFault(node.start, node.end, f"@pattern cannot be used: {fault.reason}") from None
