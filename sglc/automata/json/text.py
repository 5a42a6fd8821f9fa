"""JSON texts by value: equality of values, and all texts of one value.

Equality is that of JSON Schema (2020-12, 4.2.2): numbers by their mathematical value, strings by their
characters, objects by their entries whatever their order; no other types are equal to one another.
"""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import Any

from sglc.automata.dfa import operations as dfa
from sglc.automata.number.number_set import NumberError, NumberSet
from sglc.automata.term import Arm, Bytes, Object, Property, Sequence, Term, Text

Value = tuple[Any, ...]
"""A JSON value in a canonical form: ("null",), ("true",), ("false",), ("string", characters), ("number",
sign, digits, exponent), ("array", *items), ("object", *(key, value))."""

_BLANK = Text(dfa.all_words(((0x09, 0x0A), (0x0D, 0x0D), (0x20, 0x20))))
_CONSTANTS = {True: ("true",), False: ("false",), None: ("null",)}


class NotAValue(ValueError):
    """A text that is no JSON value, or one that cannot be distinguished from others."""


def canonical(text: bytes | str) -> Value:
    """The value of a JSON text; of a key that occurs twice the last value counts. Raises NotAValue."""
    try:
        return _canonical(json.loads(text, parse_int=Decimal, parse_float=Decimal, parse_constant=_refuse))
    except RecursionError:
        raise NotAValue("a value is nested too deeply to be compared") from None
    except (ValueError, InvalidOperation) as fault:
        raise NotAValue(f"an item is no JSON value: {fault}") from None


def _refuse(word: str) -> None:
    raise ValueError(word)


def _canonical(value: Any) -> Value:
    if isinstance(value, bool) or value is None:
        return _CONSTANTS[value]
    if isinstance(value, str):
        return ("string", value)
    if isinstance(value, Decimal):
        sign, digits, exponent = value.as_tuple()
        figures = "".join(map(str, digits)).lstrip("0")
        short = figures.rstrip("0")
        assert isinstance(exponent, int)
        return (
            ("number", sign, short, exponent + len(figures) - len(short)) if short else ("number", 0, "", 0)
        )
    if isinstance(value, list):
        return ("array", *map(_canonical, value))
    return ("object", *sorted((key, _canonical(inner)) for key, inner in value.items()))


def texts(value: Value) -> Term:
    """All texts of a value, without blanks around them. Raises NotAValue where they are no regular set."""
    match value:
        case ("string", str(characters)):
            return Sequence((Bytes(b'"'), Text(dfa.literal(characters), "json-any"), Bytes(b'"')))
        case ("number", sign, digits, exponent):
            number = Decimal((sign, tuple(map(int, digits or "0")), exponent))
            try:
                return Text(NumberSet(low=number, high=number).text("any"))
            except (NumberError, dfa.TooLarge) as fault:
                raise NotAValue(f"a number cannot be told apart from others: {fault}") from None
        case ("array", *items):
            comma = Sequence((_BLANK, Bytes(b","), _BLANK))
            parts: list[Term] = [Bytes(b"["), _BLANK]
            for index, item in enumerate(items):
                parts += [comma, texts(item)] if index else [texts(item)]
            return Sequence((*parts, _BLANK, Bytes(b"]")))
        case ("object", *entries):
            inside = Object(
                tuple(Property(key, (Arm(texts(inner)),)) for key, inner in entries),
                clauses=tuple(frozenset({(index, True)}) for index in range(len(entries))),
                order="any",
                encoding="json-any",
                comma=Sequence((_BLANK, Bytes(b","), _BLANK)),
                colon=Sequence((_BLANK, Bytes(b":"), _BLANK)),
            )
            return Sequence((Bytes(b"{"), _BLANK, inside, _BLANK, Bytes(b"}")))
    return Bytes(str(value[0]).encode())
