"""Slips in patterns of cases, in variables and in imports."""

from __future__ import annotations

import re

from sglc.lalr.machine import Run
from sglc.syntax.errors.core.faulty_line import Line, Mistake, line_extent
from sglc.syntax.errors.core.reporter import Replacements

_USE = re.compile(
    r'use[ \t]+"?([\w./]+)"?[ \t]*(?:import[ \t]+|[{(])[ \t]*([\w \t,]+?)[ \t]*[})]?[ \t]*(?:#.*)?'
)


def pattern_mistake(run: Run, line: Line, module_level: bool) -> Mistake | None:
    """Whether it is one of these slips."""
    for rule in (_several_patterns, _list, _member, _several_variables, _use, _field):
        found = rule(run, line)
        if found is not None:
            return found
    return None


def _several_patterns(run: Run, line: Line) -> Mistake | None:
    """`case 1, 2:` and `case 1 or 2:`."""
    if line.word != "case" or line.index == line.first or line.depth_before(line.index):
        return None
    if line.token not in (",", "or") or not run.could_take("|"):
        return None
    start = line.ends(line.index - 1)
    return Mistake(
        "E0143",
        "several patterns of one case stand between bars",
        line.start,
        line.end,
        label="`|` is due here",
        hint="write `|`",
        edits=((start, line.end, " |"),),
        repair="|",
        skip=1,
    )


def _list(run: Run, line: Line) -> Mistake | None:
    """`case [a, b]:`, `case [first, *rest]:`."""
    if line.word != "case" or line.token not in ("[", "{") or not run.could_take("null"):
        return None
    close = line.closing(line.index)
    return Mistake(
        "E0143",
        "lists and maps have no patterns",
        line.start,
        line.end if close is None else line.ends(close),
        label="tuples, records and variants have them",
        hint="ask for the length and the items: `if len(xs) == 2:`, `xs[0]`"
        if line.token == "["
        else "ask for the entries: `if map contains key:`, `map[key]`",
    )


def _member(run: Run, line: Line) -> Mistake | None:
    """`case Mood.calm:`."""
    index = line.index
    if line.word != "case" or line.token != "." or line.tokens.kinds[index - 1] != "NAME":
        return None
    name = line.at(index + 1)
    if not name.isidentifier():
        return None
    start, end = line.starts(index - 1), line.ends(index + 1)
    return Mistake(
        "E0143",
        "a pattern names a member or variant by itself",
        start,
        end,
        label="of the type that is matched",
        hint=f"write `{name}`",
        edits=((start, line.starts(index + 1), ""),),
    )


def is_taken_apart(line: Line) -> bool:
    """Whether a line begins as `for (a, b` or `let (a, b`."""
    begins = line.word in ("for", "let", "var") and line.token == "(" and line.index == line.first + 1
    named = begins and line.index + 2 < line.last and line.kind_at(line.index + 1) == "NAME"
    return named and line.at(line.index + 2) == ","


def _several_variables(run: Run, line: Line) -> Mistake | None:
    """`let a, b = …`, `for i, x in …`, the same in parentheses, `let a`."""
    first, index = line.first, line.index
    if is_taken_apart(line):
        close = next((i for i in range(index, line.last) if line.at(i) == ")"), index)
        loop = line.word == "for"
        return Mistake(
            "E0113",
            "a loop has one variable" if loop else f"each `{line.word}` binds one name",
            line.start,
            line.ends(close),
            label="several names",
            hint="write `for pair in …:` and read `pair[0]` and `pair[1]`"
            if loop
            else "bind the value to one name and read its parts: `pair[0]`, `pair[1]`",
        )
    if (
        line.word in ("let", "var")
        and line.kind == "_NEWLINE"
        and line.at(first + 2) == ":"
        and index > first + 3
    ):
        return Mistake(
            "E0113",
            "a variable begins with a value",
            line.starts(first),
            line.ends(index - 1),
            label="of what?",
            hint=f"write `{line.text[line.starts(first) : line.ends(index - 1)]} = …`",
        )
    if index != first + 2 or line.tokens.kinds[first + 1] != "NAME":
        return None
    if line.word == "for" and line.token == ",":
        return Mistake(
            "E0113",
            "a loop has one variable",
            line.starts(first + 1),
            line.end,
            label="several names",
            hint="write `for pair in …:` and read `pair[0]` and `pair[1]`",
        )
    if line.word in ("let", "var") and line.token == ",":
        return Mistake(
            "E0113",
            f"each `{line.word}` binds one name",
            line.starts(first + 1),
            line.end,
            label="several names",
            hint="bind the value to one name and read its parts: `pair[0]`, `pair[1]`",
        )
    if line.word in ("let", "var") and line.kind == "_NEWLINE":
        return Mistake(
            "E0113",
            "a variable begins with a value",
            line.starts(first),
            line.ends(first + 1),
            label="of what?",
            hint=f"write `{line.word} {line.at(first + 1)} = …`",
        )
    return None


def _use(run: Run, line: Line) -> Mistake | None:
    """`use x import y`, `use x {y}`, `use "x" (y)`."""
    if line.word != "use" or line.index > line.first + 2:
        return None
    start = line.starts(line.first)
    extent = line_extent(line.text, start, start)
    match = _USE.fullmatch(line.text[start : extent[1]].rstrip())
    if match is None:
        return None
    made = f"use {match[1]} ({', '.join(name.strip() for name in match[2].split(','))})"
    whole = (start, start + len(match[0]))
    return Mistake(
        "E0113",
        "`use` names what it takes in parentheses",
        line.start,
        line.end,
        hint=f"write `{made}`",
        edits=((*whole, made),),
        covers=extent,
    )


def _field(run: Run, line: Line) -> Mistake | None:
    """`name = str`, `name: str: "x"` and `name` among the fields of a record."""
    first, index = line.first, line.index
    if not (run.could_take(":") or run.could_take("=")) or line.tokens.kinds[first] != "NAME":
        return None
    if index == first + 1 and run.could_take("?") and not run.could_take("BINARY"):
        name = line.word
        if line.token == "=" and line.tokens.kinds[index + 1] in ("NAME", "[", "{", "("):
            edits: Replacements = ((line.ends(first), line.end, ":"),)
            return Mistake(
                "E0148",
                "a colon stands between a field and its type",
                line.start,
                line.end,
                hint=f"write `{name}: {line.at(index + 1)}`",
                edits=edits,
            )
        if line.kind == "_NEWLINE":
            return Mistake(
                "E0148",
                f"the field `{name}` has no type",
                line.starts(first),
                line.ends(first),
                label="of which type?",
                hint=f"write `{name}: str`, `{name}: int`, or another type",
            )
    if index > first + 2 and line.token == ":" and line.at(first + 1) == ":" and run.could_take("="):
        if line.depth_before(index):
            return None
        return Mistake(
            "E0148",
            "a default stands behind `=`",
            line.start,
            line.end,
            label="the type is complete",
            hint="write `=`",
            edits=((line.start, line.end, " ="),),
        )
    return None
