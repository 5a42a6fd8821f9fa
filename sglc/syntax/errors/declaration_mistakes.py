"""Slips in headers of functions, in records, enums, errors and types."""

from __future__ import annotations

import re

from sglc.lalr.machine import Run
from sglc.syntax.errors.core.faulty_line import HEADER_WORDS, Line, Mistake, line_extent
from sglc.syntax.errors.foreign.types import TYPE_NAMES, translated

_TYPE_WORDS = frozenset("str int bool float decimal json null".split()) | frozenset(TYPE_NAMES)
_FIELD_LINE = re.compile(r"[ \t]+([^\W\d]\w*)[ \t]*:[ \t]*([^#\n]+?)[ \t]*,?[ \t]*(?:\r?\n|\Z)")
_VALUE_KINDS = ("NAME", "NUMBER", "STRING", "true", "false", "null", "[", "(", "{")


def declaration_mistake(run: Run, line: Line, module_level: bool) -> Mistake | None:
    """Whether it is one of the slips of declarations."""
    for rule in (_header, _parameter, _enum, _alias, _error, _test, _variable):
        found = rule(run, line)
        if found is not None:
            return found
    return None


def is_type_word(word: str) -> bool:
    """Whether a word is a type, by the looks of it."""
    return word in _TYPE_WORDS or word[:1].isupper()


# -- functions -------------------------------------------------------------------------------------


def _header(run: Run, line: Line) -> Mistake | None:
    """`) int:`, `): int:`, `) => int:`: what stands between parameters and result."""
    if line.word not in HEADER_WORDS or line.depth_before(line.index):
        return None
    index = line.index
    if line.token == ":" and line.at(line.last - 1) == ":" and index == line.last - 1:
        colon = next(
            (i for i in range(line.first, index) if line.at(i - 1) == ")" and line.at(i) == ":"), None
        )
        if colon is not None and colon < index:
            return _arrow(line, colon, colon, " ->")
    if not run.could_take("->"):
        return None
    if line.token == "=>":
        return _arrow(line, index, index, "->")
    if line.kind in _VALUE_KINDS and line.at(index - 1) == ")" and line.token != "{":
        return Mistake(
            "E0146",
            "an arrow stands before the result",
            line.start,
            line.end,
            label="the result's type",
            hint=f"write `-> {line.token}`",
            edits=((line.start, line.start, "-> "),),
            repair="->",
        )
    return None


def _arrow(line: Line, first: int, last: int, text: str) -> Mistake:
    start, end = line.starts(first), line.ends(last)
    return Mistake(
        "E0146",
        "an arrow stands before the result",
        start,
        end,
        label="`->` is due here",
        hint="write `->`",
        edits=((start, end, text),),
    )


def _parameter(run: Run, line: Line) -> Mistake | None:
    """`f(n)` and `f(int n)` in a header."""
    index = line.index
    inside = line.word in HEADER_WORDS and line.depth_before(index) == 1 and run.could_take(":")
    if not inside or not line.at(index - 1).isidentifier():
        return None
    name, start = line.at(index - 1), line.starts(index - 1)
    if line.token.isidentifier():
        named, type = (name, line.token) if is_type_word(line.token) else (line.token, name)
        made = f"{named}: {TYPE_NAMES.get(type, type)}"
        clear = is_type_word(type) and not is_type_word(named)
        return Mistake(
            "E0146",
            "a parameter is a name, a colon and its type",
            start,
            line.end,
            hint=f"write `{made}`" if clear else "write `name: Type`",
            edits=((start, line.end, made),) if clear else (),
        )
    if line.token in (")", ",", "="):
        return Mistake(
            "E0146",
            f"the parameter `{name}` has no type",
            start,
            line.ends(index - 1),
            label="of which type?",
            hint=f"write `{name}: str`, `{name}: int`, or another type",
        )
    return None


# -- enums, records, types -------------------------------------------------------------------------


def _enum(run: Run, line: Line) -> Mistake | None:
    """Members with values, in quotes, or between bars."""
    first = line.first + (line.word == "pub")
    colon = first + 2
    if line.at(first) != "enum" or line.at(colon) != ":" or line.index <= colon:
        return None
    names: list[str] = []
    place = colon + 1
    while place < line.last:
        word = line.at(place).strip("\"'")
        if not word.isidentifier():
            names = []
            break
        names.append(word)
        place += 1
        if line.at(place) == "=":
            place += 2
        if place < line.last and line.at(place) not in (",", "|"):
            names = []
            break
        place += 1
    start, end = line.starts(colon + 1), line.ends(line.last - 1)
    made = ", ".join(names)
    what = {"=": "members of an enum have no values", "|": "members of an enum are separated by commas"}
    message = what.get(line.token, "members of an enum are names")
    return Mistake(
        "E0148",
        message,
        line.start,
        line.end,
        label="not in an enum",
        hint=f"write `{made}`" if names and len(made) < 60 else "write `enum E: one, two`",
        edits=((start, end, made),) if names and len(set(names)) == len(names) else (),
    )


def _alias(run: Run, line: Line) -> Mistake | None:
    """`type T: …`, and `type T = {name: str, …}` for a record."""
    first = line.first + (line.word == "pub")
    if line.at(first) != "type":
        return None
    if line.index == first + 2 and line.token == ":":
        return Mistake(
            "E0148",
            "a type gets its name by `=`",
            line.start,
            line.end,
            hint="write `=`",
            edits=((line.start, line.end, " ="),),
            repair="=",
            skip=1,
        )
    brace = first + 3
    if line.at(first + 2) == "=" and line.at(brace) == "{" and line.index > brace:
        fields = _fields(line, brace)
        name = line.at(first + 1)
        made = None if fields is None else "".join(f"\n    {label}: {type}" for label, type in fields)
        return Mistake(
            "E0148",
            "a type with fields is a `record`",
            line.starts(brace),
            line.ends(brace),
            label="`{…}` is a map here",
            hint=f"write `record {name}:` and a field on each line below",
            edits=((line.starts(first), line.ends(line.last - 1), f"record {name}:{made}"),) if made else (),
        )
    return None


def _fields(line: Line, brace: int) -> list[tuple[str, str]] | None:
    """Names and types between braces, where each is plain enough."""
    close = line.closing(brace)
    if close is None or close != line.last - 1:
        return None
    fields: list[tuple[str, str]] = []
    place = brace + 1
    while place < close:
        name = line.at(place).strip("\"'")
        place += 1
        optional = line.at(place) == "?"
        place += optional
        found = translated(line, place + 1) if line.at(place) == ":" else None
        if not name.isidentifier() or found is None:
            return None
        fields.append((name + "?" * optional, found[0]))
        place = found[1]
        if place < close and line.at(place) not in (",", ";"):
            return None
        place += 1
    return fields


def _error(run: Run, line: Line) -> Mistake | None:
    """`error E:` with its fields on lines below."""
    first = line.first + (line.word == "pub")
    if line.at(first) != "error" or line.index != first + 2 or line.token != ":":
        return None
    text, fields = line.text, []
    place = after = line_extent(text, line.start, line.end)[1]
    while (match := _FIELD_LINE.match(text, place)) is not None and match.end() > place:
        fields.append(f"{match[1]}: {match[2]}")
        place = after = match.end()
    made = f"({', '.join(fields)})"
    whole = bool(fields) and not text[line.end : line_extent(text, line.start, line.end)[1]].strip()
    return Mistake(
        "E0148",
        "fields of an error stand in parentheses",
        line.start,
        line.end,
        label="begins no block here",
        hint=f"write `error {line.at(first + 1)}{made if fields else ''}`",
        edits=((line.start, after, made + "\n"),) if whole else (),
    )


def _test(run: Run, line: Line) -> Mistake | None:
    if (
        line.word != "test"
        or line.index != line.first + 1
        or line.kind != "NAME"
        or line.at(line.last - 1) != ":"
    ):
        return None
    start, end = line.start, line.ends(line.last - 2)
    title = line.text[start:end].removesuffix("()")
    return Mistake(
        "E0113",
        "a test has a title in quotes",
        start,
        end,
        hint=f'write `test "{title}":`',
        edits=((start, end, f'"{title}"'),)
        if title.isidentifier() or title.replace(" ", "").isalnum()
        else (),
    )


# -- variables -------------------------------------------------------------------------------------


def _variable(run: Run, line: Line) -> Mistake | None:
    """`int m = 1`, `m := 1`, `const m = 1` inside a function."""
    first, index = line.first, line.index
    if (
        index == first + 1
        and line.kind == "NAME"
        and line.at(index + 1) == "="
        and line.tokens.kinds[first] == "NAME"
    ):
        if not (is_type_word(line.word) or line.word in ("auto", "val")):
            return None
        start = line.starts(first)
        typed = f"let {line.token}: {TYPE_NAMES.get(line.word, line.word)}"
        made = typed if is_type_word(line.word) else f"let {line.token}"
        return Mistake(
            "E0113",
            "`let` and `var` begin a variable, its type stands behind the name",
            start,
            line.end,
            hint=f"write `{made} = …`",
            edits=((start, line.end, made),),
        )
    if index == first + 1 and line.token == ":" and line.at(index + 1) == "=":
        if not line.touching(index, index + 1) or line.tokens.kinds[first] != "NAME":
            return None
        start, end = line.starts(first), line.ends(index + 1)
        return Mistake(
            "E0113",
            "`let` begins a variable",
            line.start,
            end,
            hint=f"write `let {line.word} = …`",
            edits=((start, end, f"let {line.word} ="),),
        )
    return None
