"""JSON answers as values: models write them in any order, spacing and spelling, the language in one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.explanation import byte_vocabulary
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.runtime.repair.spelling import FREE
from sglc.types.language.membership import MemberError
from sglc.types.notation.json_schema import definitions
from sglc.types.text.plain_json import from_json, parse_json
from sglc.types.text.printer import print_value
from sglc.types.text.scalar_printer import PrintError
from sglc.types.type import AliasType, Type, TypeTable, form_of
from sglc.types.values import TOO_DEEP, is_too_deep

CONTAINERS = b"{["
_BLANKS = b" \t\r\n"
MOST_DIGITS = 30
"""Digits of a whole number that is written with a point or an exponent: more than integers of the language
have without bounds, and few enough that `1e999999` is not written out."""


class NotAValue(ValueError):
    """A text that is no value of the type; the message says why, as a part of a sentence."""


@dataclass(frozen=True, slots=True)
class Values:
    """How answers are read as values.

    matcher    the JSON texts of the values, in any spelling; at the beginning
    canonical  from such a text to the language's own spelling. Raises NotAValue
    """

    matcher: Matcher
    canonical: Callable[[str], str]


def json_values(type: Type, table: TypeTable, vocabulary: Vocabulary | None = None) -> Values | None:
    """The values of a type whose texts are JSON objects or arrays; None for any other type.

    `vocabulary`: of the local model that drafts, if there is one. What JSON Schema cannot say of the type,
    `canonical` checks.
    """
    formed = form_of(type, table)
    if formed is not None and formed.form != "json":
        return None
    schema: Any = {**definitions(("It",), {**table, "It": AliasType("It", type)}), "$ref": "#/$defs/It"}
    own = compile_constraint(type=type, table=table).matcher(byte_vocabulary())
    if not _begins(own):
        return None
    try:
        matcher = compile_constraint(json_schema=schema, schema_options=FREE).matcher(
            vocabulary or byte_vocabulary()
        )
    except ConstraintError:  # more than the limits of schemas allow: answers are read as texts
        return None
    if not _begins(matcher):
        return None
    return Values(matcher, lambda text: _canonical(text, type, table))


def begins_with(matcher: Matcher) -> bytes:
    """The marks that a value of JSON begins with, where all begin with `{` or `[`; else nothing."""
    return CONTAINERS if _begins(matcher) else b""


def _begins(matcher: Matcher) -> bool:
    following = set(matcher.next_bytes()) - set(_BLANKS)
    return bool(following) and following <= set(CONTAINERS)


def _whole_numbers(data: Any) -> Any:
    """The same JSON, where 12.0 is 12: numbers are what they are worth."""
    match data:
        case Decimal() if data.adjusted() < MOST_DIGITS and data == data.to_integral_value():
            return int(data)
        case list():
            return [_whole_numbers(each) for each in data]
        case dict():
            return {key: _whole_numbers(each) for key, each in data.items()}
    return data


def _canonical(text: str, type: Type, table: TypeTable) -> str:
    try:
        data = parse_json(text)
        if is_too_deep(data):
            raise NotAValue(TOO_DEEP)
        return print_value(from_json(_whole_numbers(data), type, table), type, table)
    except (MemberError, PrintError) as fault:
        raise NotAValue(str(fault)) from None
