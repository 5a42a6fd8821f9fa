"""Compiled programs that lie: parts of a sound one changed, and the checksum made right again."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from sglc.bytecode.opcodes import OPCODES
from sglc.bytecode.serial import HEADER, sign

NUMBERS = (0, 1, 2, 3, 5, 7, -1, 63, 255, 1 << 15, (1 << 31) - 1, 1 << 31, 1 << 63, 1 << 200)
TEXTS = (
    "",
    "x",
    "\n",
    "\0",
    "a" * 200,
    "é\U0001f600",
    "\ud800",
    "%",
    "(" * 50,
    "(a+)+$",
    "[",
    "..",
    "f.x",
    "1",
)
PLAIN: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    "",
    "x",
    [],
    {},
    ["l"],
    ["t"],
    ["f", "0x1p+2"],
    ["d", "1.5"],
)


def forged(body: bytes, others: Sequence[Any], dice: random.Random) -> bytes:
    """A program with one to four parts changed; `others` are bodies whose parts may stand in it."""
    data = json.loads(body)
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        with suppress(TypeError, ValueError, IndexError, KeyError):  # a part that was changed before
            match dice.randrange(8):
                case 0 | 1 | 2:
                    _reroute(data, dice)
                case 3:
                    _confuse(data, others, dice)
                case _:
                    _change(data, others, dice)
    return sign(json.dumps(data, sort_keys=True, separators=(",", ":")).encode("ascii"))


def body_of(artefact: bytes) -> bytes:
    return artefact[HEADER:]


def _reroute(data: Any, dice: random.Random) -> None:
    """Change an instruction's operand, or its opcode to one that takes and leaves as many values."""
    numbers = dice.choice(data["codes"])[1]
    at = dice.randrange(len(numbers) // 3) * 3
    opcode = OPCODES[numbers[at]] if numbers[at] < len(OPCODES) else OPCODES[0]
    if dice.random() < 0.4:
        alike = [op.number for op in OPCODES if (op.pops, op.pushes) == (opcode.pops, opcode.pushes)]
        numbers[at] = dice.choice(alike)
    else:
        at += dice.choice((1, 1, 1, 2))
        numbers[at] = max(0, dice.choice((numbers[at] - 1, numbers[at] + 1, dice.randrange(12))))


def _confuse(data: Any, others: Sequence[Any], dice: random.Random) -> None:
    """Put a constant, a type or a declaration where one of another kind stood."""
    section = dice.choice(("constants", "types", "table", "holes"))
    found = dice.choice(others)[section]
    if data[section] and found:
        at, new = dice.randrange(len(data[section])), json.loads(json.dumps(dice.choice(found)))
        if section == "table":
            data[section][at][1] = new[1]
        else:
            data[section][at] = new


def _change(data: Any, others: Sequence[Any], dice: random.Random) -> None:
    """Change one part of a body in its place, most often where a program's meaning lies."""
    section = dice.choice(
        ("codes",) * 5 + ("holes",) * 3 + ("types",) * 3 + ("constants", "table", "names", "any")
    )
    at = data if section == "any" else data[section]
    if not at:
        return
    while True:
        keys = list(at) if isinstance(at, dict) else range(len(at))
        key = dice.choice(list(keys))
        part = at[key]
        deeper = isinstance(part, list | dict) and part and dice.random() < 0.9
        if not deeper:
            break
        at = part
    if isinstance(at, list) and len(at) > 1 and dice.random() < 0.2:
        _move(at, key, dice)
        return
    at[key] = _other(part, others, dice)


def _move(items: list[Any], at: int, dice: random.Random) -> None:
    """Leave an item out, write it twice, or change it for another one."""
    other = dice.randrange(len(items))
    match dice.randrange(3):
        case 0:
            del items[at]
        case 1:
            items.insert(other, json.loads(json.dumps(items[at])))
        case 2:
            items[at], items[other] = items[other], items[at]


def _other(part: Any, others: Sequence[Any], dice: random.Random) -> Any:
    if dice.random() < 0.15:
        return dice.choice(PLAIN)
    if isinstance(part, bool):
        return not part
    if isinstance(part, int):
        near = part + dice.choice((-2, -1, 1, 2))
        return dice.choice((near, near, near, dice.choice(NUMBERS), dice.randrange(80)))
    if isinstance(part, str):
        cut = part[: dice.randrange(len(part) + 1)]
        return dice.choice((cut, part + part, dice.choice(TEXTS), _leaf(others, dice)))
    return _leaf(others, dice)


def _leaf(others: Sequence[Any], dice: random.Random) -> Any:
    """A part from somewhere in another program."""
    found = dice.choice(others)
    while isinstance(found, list | dict) and found and dice.random() < 0.85:
        found = found[dice.choice(list(found) if isinstance(found, dict) else range(len(found)))]
    return json.loads(json.dumps(found))
