"""Names and texts that mean something in other notations: in tables of types, and in whole programs.

Each text would call `INJECTED` where a target lets it end its string, comment or docstring.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st

from sglc.types.type import (
    AliasType,
    Alternatives,
    Constant,
    DeclaredType,
    EnumType,
    FieldType,
    Int,
    Json,
    ListOf,
    MapOf,
    Named,
    Optional,
    RecordType,
    Str,
    Type,
    UnionType,
)

MARK = "INJECTED"
WORDS = (
    "class from None self cls __proto__ constructor prototype toString hasOwnProperty print complete "
    "attempts function c it run show sgl s n stop temperature Enum Any Literal BaseModel Field eval "
    "input list str int arguments default ﬁ fi x² K Ⅷ π größe 名前 __x __init__ __doc__ _ __ _x_ "
    "undefined __slots__ mro name value seed_ model_config model_x again text Decimal Conversation TYPES "
    "PROGRAM dataclass KW_ONLY Warning object isCrew String Object any never Array"
).split()
"""Names that a program may give; most of them have a meaning in a target."""
KEYS = (*WORDS, "a b", "1st", "", 'q"t', "b\\", "'", "x\u00b7", "a\u0301", "-", "\x00")
"""Names that keys, members and types of other languages may have."""
TEXTS = (
    '"""\nINJECTED()\n"""',
    "'''\nINJECTED()\n'''",
    "*/ INJECTED(); /*",
    "*\\/ INJECTED()",
    "*/*/INJECTED()",
    "\u2028INJECTED()\u2028",
    "\u2029INJECTED()",
    "\x85INJECTED()\x85",
    "\x0cINJECTED()\x0b",
    "\x1cINJECTED()\x1d\x1e",
    "\nINJECTED()\n",
    "\rINJECTED()\r",
    "`${INJECTED()}`",
    "{INJECTED()}",
    "${INJECTED()}",
    "\\${INJECTED}",
    '"; INJECTED(); "',
    "'; INJECTED(); '",
    '\\"; INJECTED(); \\"',
    "\\",
    "ends \\",
    "//",
    "/INJECTED()/u",
    "<!-- INJECTED()",
    "-->INJECTED()",
    "\x00",
    "😀",
    "\ufeff",
    '"',
    '""',
    '"""',
    'ends "',
    "*)INJECTED()(*",
    "#\nINJECTED()",
    "]]> INJECTED()",
    "@pattern x\nINJECTED()",
    "%INJECTED()",
)


def hostile_tables() -> st.SearchStrategy[dict[str, DeclaredType]]:
    """Tables of four declared types."""
    return st.randoms(use_true_random=False).map(hostile_table)


@dataclass(frozen=True)
class HostileProgram:
    """A program with one function of a text and a number, and its two holes: a word and a record."""

    text: str
    function: str
    argument: str
    holes: tuple[str, str]


def hostile_programs() -> st.SearchStrategy[HostileProgram]:
    """`hostile_program` as a strategy, which shrinks."""
    return st.randoms(use_true_random=False).map(hostile_program)


def hostile_table(random: Random) -> dict[str, DeclaredType]:
    """Four declared types with names, docs and texts of these."""
    names = random.sample([*KEYS, *TEXTS, "std.text.Line"], 4)
    return {name: _declared(random, name, names) for name in names}


def _declared(random: Random, name: str, names: list[str]) -> DeclaredType:
    doc = random.choice(("", *TEXTS))
    match random.randrange(4):
        case 0:
            return RecordType(name, _fields(random, 3, names), doc=doc)
        case 1:
            return EnumType(name, tuple(random.sample((*KEYS, *TEXTS), 4)), doc=doc)
        case 2:
            variants = (RecordType(each, _fields(random, 2, names)) for each in random.sample(KEYS, 2))
            return UnionType(name, tuple(variants), doc=doc)
    return AliasType(name, _type(random, ()), doc=doc)


def _fields(random: Random, count: int, names: list[str]) -> tuple[FieldType, ...]:
    found = []
    for key in random.sample((*KEYS, *TEXTS), count):
        doc = random.choice(("", *TEXTS))
        if random.random() < 0.2:
            default = random.choice(TEXTS)
            found.append(FieldType(key, Str(layout="free"), has_default=True, default=default, doc=doc))
        else:
            optional = random.random() < 0.3
            found.append(FieldType(key, _type(random, names), optional=optional, doc=doc))
    return tuple(found)


def _type(random: Random, names: tuple[str, ...] | list[str]) -> Type:
    text = random.choice(TEXTS)
    kinds: list[Type] = [
        Int(0, 9),
        Str(max_chars=4),
        Str(excludes=(text,)),
        Str(until=(text,)),
        Constant(text),
        Alternatives((Constant("a"), Constant(text))),
        MapOf(Str(), Int()),
        Json(json.dumps({"const": text}, ensure_ascii=False)),
        *(Optional(Named(name)) for name in names),
        *(ListOf(Named(name)) for name in names),
    ]
    return random.choice(kinds)


def hostile_program(random: Random) -> HostileProgram:
    """A program that every target writes. Docs and prompts are on one line; texts in quotes have escapes."""

    def line() -> str:
        return re.sub("[\n\r\x00\x0b\x0c]", " ", random.choice(TEXTS))

    def prompt() -> str:
        return line().replace("\\", "\\\\").replace("${", "\\${").replace("?{", "\\?{").rstrip("\\") + "."

    def quoted() -> str:
        found = json.dumps(random.choice(TEXTS), ensure_ascii=False)
        return found.replace("\\f", "\\u000c").replace("${", "\\${")

    words = random.sample([each for each in WORDS if each not in ("int", "str", "list")], 6)
    field, argument, other, hole, second, function = words
    text = "\n".join(
        (
            f"## {line()}",
            "record Card:",
            f"    {field}: int in 0..9  ## {line()}",
            "    note?: str max 9 chars",
            f"const KEPT = {quoted()}",
            f'type Word = {quoted()} | "plain"',
            f"## {line()}",
            f"fn {function}({argument}: str, {other}: int = 3) -> str:",
            f"    system: | {prompt()}",
            f"    user: | {prompt()} ${{{argument}}} ${{{other}}} ${{KEPT}}",
            f"    assistant: | ?{{{hole}: Word}} and",
            "    user: | More.",
            f"    assistant: | ?{{{second}: Card}}",
            f"    return {quoted()}",
            "",
        )
    )
    return HostileProgram(text, function, argument, (hole, second))
