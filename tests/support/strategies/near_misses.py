"""JSON values and texts that are nearly another one: what a target or a reader must not confuse."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

_TEXTS = ("", "a", "EUR", "null", "abcdefghij", "x\n", "A\u0085", "12-34", "\u0661\u0662-34", "<<", "ab")
_NUMBERS = (0, 1, -1, 7, 151, Decimal("0.5"), Decimal("1.50"))
OTHERS: tuple[Any, ...] = (None, True, False, *_NUMBERS, *_TEXTS, [], {}, [1], {"a": 1}, {"type": "One"})
KEYS = ("a", "x", "type", "note", "größe", "abcde", "")
CHARS = 'aAbB<.\n"\\é€😀١\u2028-_ 9'


def edited(dice: random.Random, data: Any) -> Any:
    """The data with one part replaced, removed, added, or changed a little."""
    if isinstance(data, dict) and data and dice.random() < 0.75:
        key = dice.choice(list(data))
        return {**data, key: edited(dice, data[key])}
    if isinstance(data, list) and data and dice.random() < 0.75:
        at = dice.randrange(len(data))
        return [*data[:at], edited(dice, data[at]), *data[at + 1 :]]
    changes = [lambda: dice.choice(OTHERS)]
    match data:
        case dict():
            changes += [
                lambda: {**data, dice.choice(KEYS): dice.choice(OTHERS)},
                lambda: dict(list(data.items())[1:]),
            ]
        case list():
            changes += [lambda: [*data, *data[:1]], lambda: data[1:], lambda: data[::-1]]
        case str():
            at = dice.randint(0, len(data))
            changes += [
                lambda: data[:at] + dice.choice(CHARS) + data[at:],
                lambda: data[:at] + data[at + 1 :],
                lambda: data.swapcase(),
                lambda: data + "\n",
            ]
        case int() | Decimal() if not isinstance(data, bool):
            changes += [lambda: data + 1, lambda: -data, lambda: Decimal(data) + Decimal("0.01")]
    return dice.choice(changes)()


CHARACTERS = list('ab "\\{}[]:,.0123-"nul\n\té€')


def mutated(text: str, seed: int) -> str:
    """A text with a few characters inserted, left out or moved."""
    dice = random.Random(seed)
    found = list(text)
    for _ in range(dice.randint(1, 3)):
        at = dice.randint(0, len(found))
        match dice.randrange(3):
            case 0:
                found.insert(at, dice.choice(CHARACTERS))
            case 1 if found:
                del found[min(at, len(found) - 1)]
            case 2 if found:
                found.insert(at, found.pop(dice.randrange(len(found))))
    return "".join(found)
