"""JSON texts that are wrong somewhere: numbers no machine has, halves of characters, depths, keys twice."""

from __future__ import annotations

import json
import random
from typing import Any

MARK = "\x01here\x01"
"""Stands in a value where another text is put in place of its JSON."""
NUMBERS = (
    *("1e999", "-1e999", "1e-999", "1E400000000", "-1e-400000000", "1e" + "9" * 50, "9" * 400, "9" * 5000),
    *("0." + "3" * 5000, "-0", "-0.0", "1.0", "1e2", "9007199254740993", "18446744073709551616", "-1", "0"),
    *("NaN", "Infinity", "-Infinity", "01", "+1", ".5", "1.", "0x10", "1_000", "1e", "--1", "2147483648"),
)
STRINGS = (
    *('""', r'"\ud800"', r'"\udc00\ud800"', r'"\ud83d\ude00"', r'"\u0000"', r'"\x41"', r'"\u12"', '"', "'a'"),
    *('"a\nb"', '"\t"', '"\u202e\u2028"', '"\x7f\u0085"', '"' + "a" * 70_000 + '"', '"' + "é" * 9_000 + '"'),
    *('"__proto__"', '"../../etc/passwd"', '"%s%n{0}${x}"', '"\\r\\nset-cookie: a=b"', '"\ufeff"'),
)
DEPTHS = (3, 60, 200, 2_000, 100_000)
OTHERS = (
    *(
        "null",
        "true",
        "false",
        "nul",
        "None",
        "undefined",
        "",
        ",",
        ":",
        "// x\n1",
        "/* x */ 1",
        "[,]",
        "[1,]",
    ),
    *("[]", "{}", "[[],[{}]]", '{"a": 1, "a": 2}', '{"": {"": []}}', "[" + "0," * 9_999 + "0]", "{1: 2}"),
)


def nested(dice: random.Random) -> str:
    """Arrays or objects inside each other, sometimes without their ends."""
    depth = dice.choice(DEPTHS)
    opening, closing = dice.choice([("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
    return opening * depth + "0" + closing * (depth if dice.random() < 0.7 else 0)


def nasty(dice: random.Random) -> str:
    """The text of a value, or of none."""
    kind = dice.randrange(10)
    if kind == 0:
        return nested(dice)
    return dice.choice(NUMBERS if kind < 4 else STRINGS if kind < 7 else OTHERS)


def _places(value: Any) -> list[tuple[Any, Any]]:
    """All members and items of a value: what holds them, and under what."""
    found: list[tuple[Any, Any]] = []
    todo = [value]
    while todo:
        each = todo.pop()
        keys = list(each) if isinstance(each, dict) else range(len(each)) if isinstance(each, list) else ()
        for key in keys:
            found.append((each, key))
            todo.append(each[key])
    return found


def mutated(dice: random.Random, value: Any) -> bytes:
    """The JSON of a value with one to three things wrong."""
    value = json.loads(json.dumps(value))
    raws: list[str] = []
    doubled = ""
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        places = _places(value)
        holder, key = dice.choice(places)
        match dice.randrange(8):
            case 0 if isinstance(holder, dict):
                holder[
                    dice.choice([key + "s", key[:-1], key.upper(), "__class__", "\0", "é" * 99, "\ud800"])
                ] = holder.pop(key)
            case 1:
                del holder[key]
            case 2 if isinstance(holder, dict):
                holder[dice.choice(["extra", "", "arguments", "options", "id", "\udfff"])] = dice.choice(
                    [1, None, {}, []]
                )
            case 3:
                holder[key] = dice.choice(places)[0]
                value = json.loads(json.dumps(value, default=str)) if not _circular(value) else {}
            case 4 if isinstance(holder, dict):
                doubled = key
            case _:
                holder[key] = f"{MARK}{len(raws)}"
                raws.append(nasty(dice))
        if not _places(value):
            break
    text = json.dumps(value, ensure_ascii=dice.random() < 0.5)
    if doubled:
        text = text.replace(
            f"{json.dumps(doubled)}:", f"{json.dumps(doubled)}: {nasty(dice)}, {json.dumps(doubled)}:", 1
        )
    for number, raw in enumerate(raws):
        marked = f"{MARK}{number}"
        for each in (json.dumps(marked), json.dumps(marked, ensure_ascii=False)):
            text = text.replace(each, raw)
    return _encoded(dice, text)


def _circular(value: Any) -> bool:
    try:
        json.dumps(value)
    except (ValueError, RecursionError):
        return True
    return False


def _encoded(dice: random.Random, text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    match dice.randrange(24):
        case 0:
            return b"\xef\xbb\xbf" + data
        case 1:
            return text.encode("utf-16", "surrogatepass")
        case 2:
            return data + dice.choice([b" x", b"{}", b"\0", b"]", b"\n\n "])
        case 3:
            return data[: dice.randint(0, len(data))]
        case 4:
            at = dice.randint(0, len(data))
            return (
                data[:at]
                + dice.choice([b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\x80"])
                + data[at:]
            )
        case 5:
            return nasty(dice).encode("utf-8", "surrogatepass")
        case _:
            return data


def damaged(dice: random.Random, data: bytes, words: tuple[bytes, ...]) -> bytes:
    """Bytes with some changed, left out, doubled or put in."""
    found = bytearray(data)
    for _ in range(dice.randint(1, 6)):
        at, length = dice.randint(0, len(found)), dice.randint(0, 12)
        match dice.randrange(6):
            case 0 if at < len(found):
                found[at] = dice.randrange(256)
            case 1 if at < len(found):
                found[at] ^= 1 << dice.randrange(8)
            case 2:
                del found[at : at + length]
            case 3:
                found[at:at] = found[at : at + length]
            case 4:
                found[at:at] = dice.choice(words)
            case 5 if dice.random() < 0.3:
                del found[at:]
    return bytes(found)
