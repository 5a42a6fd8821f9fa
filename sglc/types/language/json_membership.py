"""Which plain JSON values satisfy a schema: what is wrong where, and the order that its keys have.

A value is held against the language of its schema by its one spelling, read from left to right; how far that
goes tells which part is at fault.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache

from sglc.automata.analysis.membership import Membership, MembershipLimit
from sglc.types.json_text import json_text, surrogate_fault
from sglc.types.json_values import INTEGER_DIGITS, json_value_text, plain_json, type_name
from sglc.types.schema_language import SchemaTextError, schema_language, schema_language_any_order
from sglc.types.type import Json
from sglc.types.values import MAX_DEPTH, Value

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]|, |: |[^\[\]{}, ]+')
_SHOWN = 60
"""Most characters of a value in a message."""


@lru_cache(maxsize=64)
def _membership(schema: str, any_order: bool) -> Membership:
    return Membership(schema_language_any_order(schema) if any_order else schema_language(schema))


def json_fault(value: object, type: Json) -> tuple[str, str] | None:
    """What is wrong with a value, None if it is one of the type: the path to the part at fault, and why."""
    kind = _kind_fault(value, 0)
    if kind is not None or not type.schema:
        return None if kind is None else ("", kind)
    written = json_value_text(value)
    try:
        if _membership(type.schema, False).fault(written) is None:
            return None
        found = _membership(type.schema, True).fault(written)
    except (MembershipLimit, SchemaTextError) as limit:
        return "", f"it cannot be held against its JSON Schema: {limit}"
    if found is None:
        return "", "its keys do not have the order of its JSON Schema"
    return _fault_at(written, *found)


def ordered_json(value: Value, type: Json) -> Value:
    """The plain value that a value stands for, with its keys in the order of the schema; others stay.

    A number of a constant has one spelling in a schema's language: 1.50 is taken for `const: 1.5` as 1.5.
    """
    plain = plain_json(value)
    if not type.schema or _kind_fault(plain, 0) is not None:
        return plain
    try:
        found = _in_order(plain, type.schema)
        found = found or _in_order(_with_short_numbers(plain), type.schema)
    except (MembershipLimit, SchemaTextError):
        return plain
    return plain if found is None else found[0]


def _in_order(plain: Value, schema: str) -> tuple[Value] | None:
    """The value with its keys in the order of the schema; None if it is none of the schema's in any order."""
    written = json_value_text(plain)
    if _membership(schema, False).fault(written) is None:
        return (plain,)
    orders = _membership(schema, True).orders(written)
    return None if orders is None else (_ordered(plain, orders),)


def _with_short_numbers(value: Value) -> Value:
    """The value with numbers without needless digits."""
    match value:
        case Decimal() if value == value.to_integral_value():
            return int(value) if value.adjusted() < INTEGER_DIGITS else value
        case Decimal():
            return Decimal(format(value, "f").rstrip("0"))
        case dict():
            return {key: _with_short_numbers(item) for key, item in value.items()}
        case list():
            return [_with_short_numbers(item) for item in value]
    return value


def _ordered(value: Value, orders: Mapping[int, Mapping[str, int]]) -> Value:
    """Objects by where they begin in the text, with the numbers of their keys; those without come last."""
    at = 0

    def walk(part: Value) -> Value:
        nonlocal at
        match part:
            case dict():
                at += 1
                numbers = orders.get(at, {})
                entries = {}
                for index, (key, item) in enumerate(part.items()):
                    at += len(json_text(key)) + (4 if index else 2)
                    entries[key] = walk(item)
                at += 1
                return dict(sorted(entries.items(), key=lambda entry: numbers.get(entry[0], len(numbers))))
            case list():
                at += 1
                items = []
                for index, item in enumerate(part):
                    at += 2 if index else 0
                    items.append(walk(item))
                at += 1
                return items
        at += len(json_value_text(part))
        return part

    return walk(value)


def _fault_at(written: str, place: int, begun: bool) -> tuple[str, str]:
    """Path and reason of what cannot be read at a place of a JSON text (`Membership.fault`)."""
    path: list[str | int] = []
    begins: list[int] = []
    key_next = False
    for token in _TOKEN.finditer(written):
        text, start, end = token.group(), token.start(), token.end()
        if text in ("[", "{"):
            if place == start:
                return _said(path, _part(written, start))
            begins.append(start)
            path.append(0 if text == "[" else "")
            key_next = text == "{"
        elif text in ("]", "}"):
            path.pop()
            if place <= start:
                what = "items" if text == "]" else "keys"
                return _steps(path), f"{_part(written, begins[-1])} ends where more {what} are due"
            begins.pop()
            key_next = False
        elif text == ", ":
            if place <= start:
                what = "keys" if written[begins[-1]] == "{" else "items"
                return _steps(path[:-1]), f"{_part(written, begins[-1])} has {what} that are not allowed"
            last = path[-1]
            if isinstance(last, int):
                path[-1] = last + 1
            else:
                key_next = True
        elif key_next and text.startswith('"'):
            if place < end:
                return _steps(path[:-1]), f"the key {text} is not allowed here"
            path[-1] = text
            key_next = False
        elif text != ": " and (place < end or (place == end and begun)):
            return _said(path, text)
    return _steps(path), f"{_short(written)} does not satisfy its JSON Schema"


def _said(path: list[str | int], text: str) -> tuple[str, str]:
    return _steps(path), f"{_short(text)} does not satisfy its JSON Schema"


def _steps(path: list[str | int]) -> str:
    """As the part is reached in a program: `["items"][2]`."""
    return "".join(f"[{step}]" for step in path if step != "")


def _part(written: str, start: int) -> str:
    """The array or object that begins at a place."""
    depth = 0
    for token in _TOKEN.finditer(written, start):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token.group(), 0)
        if not depth:
            return _short(written[start : token.end()])
        if token.end() - start > 2 * _SHOWN:
            break
    return _short(written[start:])


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def _kind_fault(value: object, depth: int) -> str | None:
    if depth > MAX_DEPTH:
        return f"nested deeper than {MAX_DEPTH}"
    match value:
        case None | bool() | int():
            return None
        case Decimal():
            return None if value.is_finite() and abs(value.adjusted()) < 1_000_000 else "no finite number"
        case str():
            return surrogate_fault(value)
        case list():
            return next((f for item in value if (f := _kind_fault(item, depth + 1))), None)
        case Mapping():
            if not all(isinstance(key, str) for key in value):
                return "an object whose keys are no texts"
            parts = (part for entry in value.items() for part in entry)
            return next((f for part in parts if (f := _kind_fault(part, depth + 1))), None)
    return f"expected a JSON value, found a {type_name(value)}"
