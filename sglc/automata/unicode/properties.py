"""Sets of characters by Unicode property, from one Unicode version on every machine.

`properties.zlib` has the character properties and the simple case folding of the Unicode Character Database
(https://www.unicode.org/ucd/), as compressed text and bytes: one line for each property (its kind, the size
of its data in bytes, its names), an empty line, the data. A set's data are its ranges as gaps and lengths in
base-128 numbers, low bits first. Kinds: `gc` general categories, `bin` binary properties, `sc` scripts, `scx`
script extensions where they differ from the script, `fold` the orbits of simple case folding.
"""

from __future__ import annotations

import zlib
from functools import cache
from pathlib import Path

from sglc.automata.charset import ALL, Ranges, closure, invert, ranges
from sglc.automata.dfa.serialize import read_numbers

__all__ = ["VERSION", "case_orbits", "property_set", "simple_case_closure"]

VERSION = "17.0"
"""The version of the Unicode Character Database that the table was made from."""

_TABLE = Path(__file__).with_name("properties.zlib")

_GROUPS = {
    "l": ("Lu", "Ll", "Lt", "Lm", "Lo"),
    "letter": ("Lu", "Ll", "Lt", "Lm", "Lo"),
    "lc": ("Lu", "Ll", "Lt"),
    "casedletter": ("Lu", "Ll", "Lt"),
    "m": ("Mn", "Mc", "Me"),
    "mark": ("Mn", "Mc", "Me"),
    "combiningmark": ("Mn", "Mc", "Me"),
    "n": ("Nd", "Nl", "No"),
    "number": ("Nd", "Nl", "No"),
    "p": ("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"),
    "punct": ("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"),
    "punctuation": ("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"),
    "s": ("Sm", "Sc", "Sk", "So"),
    "symbol": ("Sm", "Sc", "Sk", "So"),
    "z": ("Zs", "Zl", "Zp"),
    "separator": ("Zs", "Zl", "Zp"),
    "c": ("Cc", "Cf", "Co", "Cn"),
    "other": ("Cc", "Cf", "Co", "Cn"),
}
_KINDS = {
    "gc": ("gc",),
    "generalcategory": ("gc",),
    "sc": ("sc",),
    "script": ("sc",),
    "scx": ("scx", "sc"),
    "scriptextensions": ("scx", "sc"),
}


def property_set(name: str) -> Ranges | None:
    r"""The characters of `\p{name}`, None if there is no such property.

    A name is a general category, a binary property or a script, or `key=value` with the key General_Category,
    Script or Script_Extensions; short and long names, without regard to case, blanks, `_` and `-`.
    """
    key, equals, value = name.partition("=")
    if equals:
        kinds = _KINDS.get(_loose(key))
        return None if kinds is None else _by_kind(kinds, _loose(value))
    return _by_kind(("gc", "bin", "sc"), _loose(name))


@cache
def property_names() -> frozenset[str]:
    r"""All that ECMA-262 has for the inside of `\p{…}`, in its own spelling."""
    categories = set(_GROUP_NAMES.split())
    scripts: set[str] = set()
    single = {"Any", "ASCII", "Assigned"}
    for kind, names in _table()[2]:
        if kind == "gc":
            categories.update(names)
        elif kind == "sc":
            scripts.update(names)
        elif kind == "bin":
            single.update(names)
    for key, values in (
        ("General_Category", categories),
        ("Script", scripts),
        ("Script_Extensions", scripts),
    ):
        short = {"General_Category": "gc", "Script": "sc", "Script_Extensions": "scx"}[key]
        single.update(f"{each}={value}" for each in (key, short) for value in values)
    return frozenset(single | categories)


_GROUP_NAMES = (
    "L Letter LC Cased_Letter M Mark Combining_Mark N Number P Punctuation punct S Symbol Z Separator C Other"
)


@cache
def _by_kind(kinds: tuple[str, ...], name: str) -> Ranges | None:
    if "gc" in kinds and name in _GROUPS:
        parts = [_decoded("gc", _loose(part)) or () for part in _GROUPS[name]]
        return ranges(part for these in parts for part in these)
    if "bin" in kinds and name == "any":
        return ALL
    if "bin" in kinds and name == "ascii":
        return ((0, 0x7F),)
    if "bin" in kinds and name == "assigned":
        return invert(_decoded("gc", "cn") or ())
    if name == "cs" or (name == "surrogate" and "gc" in kinds):
        return () if "gc" in kinds else None
    for kind in kinds:
        found = _decoded(kind, name)
        # A script without extensions of its own is found under its long name too.
        if found is not None:
            return found
    return None


def _decoded(kind: str, name: str) -> Ranges | None:
    index, data, _ = _table()
    place = index.get((kind, name))
    if place is None:
        return None
    out: list[tuple[int, int]] = []
    last = 0
    numbers = read_numbers(data[place[0] : place[1]])
    for gap in numbers:
        low = last + gap
        last = low + next(numbers)
        out.append((low, last))
    return ranges(out)


@cache
def _table() -> tuple[dict[tuple[str, str], tuple[int, int]], bytes, list[tuple[str, list[str]]]]:
    """Where the data of each property is, by kind and any of its names; all the data; kinds and names."""
    head, _, data = zlib.decompress(_TABLE.read_bytes()).partition(b"\n\n")
    index: dict[tuple[str, str], tuple[int, int]] = {}
    start = 0
    names_of: dict[str, list[str]] = {}
    listed: list[tuple[str, list[str]]] = []
    for line in head.decode().split("\n"):
        kind, size, *names = line.split()
        listed.append((kind, names))
        if kind == "sc":
            names_of[names[0]] = names
        for name in names_of.get(names[0], names) if kind == "scx" else names:
            index[kind, _loose(name)] = (start, start + int(size))
        start += int(size)
    return index, data, listed


def _loose(name: str) -> str:
    return name.replace("_", "").replace(" ", "").replace("-", "").lower()


# --- case -----------------------------------------------------------------------------------------------


@cache
def case_orbits() -> dict[int, tuple[int, ...]]:
    """For each character that simple case folding takes for another, all that are taken for it."""
    index, data, _ = _table()
    start, end = index["fold", "fold"]
    numbers = read_numbers(data[start:end])
    orbits: dict[int, tuple[int, ...]] = {}
    first = 0
    for size in numbers:
        point = first
        members = []
        for _ in range(size):
            point += next(numbers)
            members.append(point)
        first = members[0]
        for member in members:
            orbits[member] = tuple(members)
    return orbits


def simple_case_closure(these: Ranges) -> Ranges:
    """The set with all characters that simple case folding takes for one of its members."""
    return closure(these, case_orbits())
