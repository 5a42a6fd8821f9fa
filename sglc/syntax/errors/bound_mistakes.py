"""Slips in bounds of types: units, ranges and patterns."""

from __future__ import annotations

from sglc.lalr.machine import Run
from sglc.syntax.errors.core.faulty_line import Line, Mistake

_UNITS = {
    word: meant
    for meant, words in {"tok": "tokens token toks", "chars": "characters character char letters"}.items()
    for word in words.split()
}
"""Long names of the units."""


def bound_mistake(run: Run, line: Line) -> Mistake | None:
    """`max 20`, `max 20 tokens`, `in 1-5`, `in 1...5`, `in [1, 5]`, `>= 1`."""
    if run.could_take("chars"):
        return _unit(run, line)
    if run.could_take("tok") and _UNITS.get(line.token) == "tok":
        return _named_unit(line, "tok")
    if run.could_take("..") and line.token == "-" and line.tokens.kinds[line.index + 1] == "NUMBER":
        return _range(line, line.starts(line.index), line.end, "..")
    if line.token == "." and line.at(line.index - 1) == ".." and line.touching(line.index - 1, line.index):
        return _range(line, line.starts(line.index - 1), line.end, "..")
    before = line.at(line.index - 1)
    if before == "in" and line.token in ("[", "("):
        return Mistake(
            "E0147",
            "a range is written `low..high`",
            line.start,
            line.end,
            label="no list here",
            hint="write `in 1..5`; for a few values `1 | 5` as the type",
        )
    if line.token in (">=", "<=", ">", "<") and run.could_take("where") and run.could_take("in"):
        low = line.token[0] == ">"
        number = line.at(line.index + 1)
        sure = line.token in (">=", "<=") and line.tokens.kinds[line.index + 1] == "NUMBER"
        made = f"in {number}.." if low else f"in ..{number}"
        return Mistake(
            "E0147",
            "a bound on a number is a range",
            line.start,
            line.end,
            label="compares values, not types",
            hint=f"write `{made}`" if sure else "write `in low..high`, `in low..` or `in ..high`",
            edits=((line.start, line.ends(line.index + 1), made),) if sure else (),
        )
    return None


def _unit(run: Run, line: Line) -> Mistake:
    """`max 20` without `chars` or `tok`, or with their long names."""
    index = line.index
    start = next((i for i in (index - 2, index - 3) if line.at(i) in ("max", "min")), index - 1)
    written = line.text[line.starts(start) : line.ends(index - 1)]
    tokens_too = run.could_take("tok")
    unit = _UNITS.get(line.token, "")
    if unit == "chars" or (unit and tokens_too):
        return _named_unit(line, unit)
    place = line.ends(index - 1)
    edits: list[tuple[int, int, str]] = [] if tokens_too else [(place, place, " chars")]
    following = line.at(index + 2)
    if (
        edits
        and line.token == "max"
        and line.tokens.kinds[index + 1] == "NUMBER"
        and following not in ("chars", "tok")
    ):
        edits.append((line.ends(index + 1), line.ends(index + 1), " chars"))
    return Mistake(
        "E0147",
        "a bound needs its unit",
        line.starts(start),
        place,
        label="`chars` or `tok` is due behind it" if tokens_too else "`chars` is due behind it",
        hint=f"write `{written} chars`"
        + (f", or `{written} tok` for a budget of tokens" if tokens_too else ""),
        edits=tuple(edits),
    )


def _named_unit(line: Line, unit: str) -> Mistake:
    return Mistake(
        "E0147",
        f"the unit is written `{unit}`",
        line.start,
        line.end,
        label="a unit",
        hint=f"write `{unit}`",
        edits=((line.start, line.end, unit),),
    )


def _range(line: Line, start: int, end: int, meant: str) -> Mistake:
    return Mistake(
        "E0147",
        "a range is written with two dots",
        start,
        end,
        label="between two numbers",
        hint=f"write `{meant}`",
        edits=((start, end, meant),),
    )


def pattern_mistake(run: Run, line: Line) -> Mistake | None:
    """`matching [a-z]+` and `matching "[a-z]+"`."""
    if line.at(line.index - 1) not in ("matching", "matches") or not run.could_take("REGEX"):
        return None
    if run.could_take("NUMBER") and line.kind in ("NAME", "("):
        return None  # `matches` takes any value
    text, start = line.text, line.start
    end = line.end if line.kind == "STRING" else _pattern_end(text, start)
    raw = text[start + 1 : end - 1] if line.kind == "STRING" else text[start:end]
    plain = (
        bool(raw)
        and "/" not in raw
        and "${" not in raw
        and (line.kind == "STRING" or raw.count("{") == raw.count("}"))
    )
    return Mistake(
        "E0149",
        "a pattern stands between slashes",
        start,
        end,
        label="a text" if line.kind == "STRING" else "",
        hint=f"write `/{raw}/`" if plain else "write `/…/`; a slash inside is `\\/`",
        edits=((start, end, f"/{raw}/"),) if plain else (),
        covers=(start, end),
    )


def _pattern_end(text: str, start: int) -> int:
    """Where a pattern without slashes ends: at a blank, or before a brace that it does not open."""
    depth, place = 0, start
    while place < len(text) and not text[place].isspace():
        depth += (text[place] == "{") - (text[place] == "}")
        if depth < 0:
            break
        place += 1
    return place
