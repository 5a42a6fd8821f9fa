"""Answers of a server that enforces a JSON Schema and nothing else: any value, in any spelling."""

from __future__ import annotations

import json
import random
from decimal import Decimal, localcontext
from fractions import Fraction
from math import ceil, floor
from typing import Any

from sglc.automata.dfa.operations import intersect, is_empty
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import Text
from strategies.typed_values import _text_word

ANY = r"[\s\S]*"


class NoAnswer(Exception):
    """The schema has no value, or none of a few levels."""


def answer(schema: dict[str, Any], dice: random.Random) -> str:
    """A JSON text that the schema allows."""
    return _spelled(_value(schema, schema, dice, 0), dice)


def _value(schema: Any, root: dict[str, Any], dice: random.Random, depth: int) -> Any:
    if schema is False or depth > 40:
        raise NoAnswer
    if "$ref" in schema:
        return _value(root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, dice, depth + 1)
    if "anyOf" in schema:
        arms = [*schema["anyOf"]]
        dice.shuffle(arms)
        if depth > 8:
            arms.sort(key=lambda arm: len(json.dumps(arm, default=str)))
        for arm in arms:
            try:
                return _value(arm, root, dice, depth + 1)
            except NoAnswer:
                continue
        raise NoAnswer
    for key in ("const", "enum"):
        if key in schema:
            return schema[key] if key == "const" else dice.choice(schema[key])
    match schema["type"]:
        case "object":
            return _object(schema, root, dice, depth)
        case "array":
            return _array(schema, root, dice, depth)
        case "string":
            return _text(schema, dice)
        case "boolean":
            return dice.random() < 0.5
        case "null":
            return None
        case kind:
            return _number(schema, kind, dice)


def _object(schema: Any, root: dict[str, Any], dice: random.Random, depth: int) -> Any:
    names = [
        name
        for name in schema["properties"]
        if name in schema["required"] or (depth < 6 and dice.random() < 0.5)
    ]
    found = {}
    for name in names:
        try:
            found[name] = _value(schema["properties"][name], root, dice, depth + 1)
        except NoAnswer:
            if name in schema["required"]:
                raise
    items = list(found.items())
    dice.shuffle(items)
    return dict(items)


def _array(schema: Any, root: dict[str, Any], dice: random.Random, depth: int) -> Any:
    if "prefixItems" in schema:
        return [_value(item, root, dice, depth + 1) for item in schema["prefixItems"]]
    low = schema.get("minItems", 0)
    high = min(schema.get("maxItems", low + 3), low + (0 if depth > 5 else 3))
    return [_value(schema["items"], root, dice, depth + 1) for _ in range(dice.randint(low, max(low, high)))]


def _text(schema: Any, dice: random.Random) -> str:
    pattern = schema.get("pattern", f"^{ANY}$")
    assert pattern.startswith("^") and pattern.endswith("$")
    dfa = compile_regex(pattern[1:-1])
    low, high = schema.get("minLength", 0), schema.get("maxLength")
    if is_empty(dfa):
        raise NoAnswer
    if low or high is not None:
        quantifier = f"{{{low},{'' if high is None else high}}}"
        dfa = intersect(dfa, compile_regex(rf"[\s\S]{quantifier}"))
        if is_empty(dfa):
            raise NoAnswer
    return _text_word(dice, Text(dfa)).decode()


def _number(schema: Any, kind: str, dice: random.Random) -> Any:
    low, high = Decimal(schema["minimum"]), Decimal(schema["maximum"])
    step = schema.get("multipleOf")
    if kind == "integer" or step is not None:
        step = Decimal(step or 1)
        least, most = ceil(Fraction(low) / Fraction(step)), floor(Fraction(high) / Fraction(step))
        if least > most:
            raise NoAnswer
        with localcontext(prec=1_200):
            found = dice.choice((dice.randint(least, most), least, most)) * step
        return int(found) if kind == "integer" and dice.random() < 0.8 else found
    if low > high:
        raise NoAnswer
    share = Decimal(dice.choice((0, 1, dice.random(), dice.random() / 10**25, dice.random() / 10**90)))
    with localcontext(prec=1_200):
        return low + (high - low) * share if dice.random() < 0.7 else max(low, min(high, share))


def _spelled(value: Any, dice: random.Random) -> str:
    """Any blanks, escapes and ways to write a number."""
    blank = dice.choice(("", " ", "\n  "))
    match value:
        case dict():
            inner = ",".join(
                f"{blank}{_spelled(key, dice)}{blank}:{blank}{_spelled(item, dice)}"
                for key, item in value.items()
            )
            return f"{blank}{{{inner}{blank}}}{blank}"
        case list():
            return f"[{blank}" + f",{blank}".join(_spelled(item, dice) for item in value) + f"{blank}]"
        case str():
            return json.dumps(value, ensure_ascii=dice.random() < 0.5)
        case Decimal():
            plain = format(value, "f")
            return plain if dice.random() < 0.5 and len(plain) < 900 else str(value)
    return json.dumps(value)
