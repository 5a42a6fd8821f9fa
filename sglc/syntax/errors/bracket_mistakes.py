"""Slips in brackets: named arguments with a colon, braces for a list, missing commas."""

from __future__ import annotations

from sglc.lalr.machine import Run
from sglc.syntax.errors.core.faulty_line import Line, Mistake
from sglc.syntax.errors.core.reporter import Replacements


def named_argument(run: Run, line: Line) -> Mistake | None:
    """`f(a: 1)` and `R{a: 1}`."""
    index = line.index
    if line.token == ":" and run.could_take("=") and line.depth_before(index) and line.kind == ":":
        opened = line.opener(index)
        if opened is None or line.at(opened) != "(" or line.tokens.kinds[index - 1] != "NAME":
            return None
        edits = tuple((line.starts(i), line.ends(i), " =") for i in _labels(line, opened))
        return Mistake(
            "E0113",
            "an argument is named by `=`",
            line.start,
            line.end,
            hint=f"write `{line.at(index - 1)} = …`",
            edits=edits,
            repair="=",
            skip=1,
        )
    if line.token == "{" and index > line.first and line.at(index - 1)[:1].isupper() and run.could_take("("):
        close = line.closing(index)
        if close is None:
            return None
        edits = ((line.ends(index - 1), line.end, "("), (line.starts(close), line.ends(close), ")"))
        edits += tuple((line.starts(i), line.ends(i), " =") for i in _labels(line, index))
        return Mistake(
            "E0113",
            "a record is made by a call",
            line.start,
            line.end,
            hint=f"write `{line.at(index - 1)}(field = …)`",
            edits=edits,
        )
    return None


def _labels(line: Line, opened: int) -> list[int]:
    """The colons right behind names at the start of a bracket and behind its commas."""
    close = line.closing(opened) or line.last
    depth, found = 0, []
    for place in range(opened, close):
        kind = line.tokens.kinds[place]
        depth += (kind in "([{") - (kind in ")]}")
        labelled = line.tokens.kinds[place + 1] == "NAME" and line.at(place + 2) == ":"
        if depth == 1 and (place == opened or kind == ",") and labelled:
            found.append(place + 2)
    return found


def braced_list(run: Run, line: Line) -> Mistake | None:
    """`{1, 2}` for a list, `{str, int}` for a map's type."""
    opened = line.opener(line.index)
    if line.token not in (",", "}") or opened is None or line.at(opened) != "{" or not run.could_take(":"):
        return None
    if run.could_take("?"):
        if line.token == "}":
            return None
        return Mistake(
            "E0144",
            "a map's type has a colon between keys and values",
            line.start,
            line.end,
            hint="write `{str: T}`",
            edits=((line.start, line.end, ":"),),
            repair=":",
            skip=1,
        )
    close = line.closing(opened)
    edits: Replacements = ()
    if close is not None and not any(line.at(i) == ":" for i in range(opened, close)):
        edits = (
            (line.starts(opened), line.ends(opened), "["),
            (line.starts(close), line.ends(close), "]"),
        )
    return Mistake(
        "E0113",
        "a list stands in square brackets",
        line.starts(opened),
        line.ends(opened),
        label="`{…}` is a map",
        hint="write `[…]`",
        edits=edits,
    )


def choice(line: Line) -> Mistake | None:
    """`?{x: ["yes", "no"]}`: a list of texts for one of them."""
    opened = line.opener(line.index)
    if line.token != "," or opened is None or line.at(opened) != "[":
        return None
    close = line.closing(opened)
    if close is None or any(
        line.tokens.kinds[i] not in ("STRING", "NUMBER", ",") for i in range(opened + 1, close)
    ):
        return None
    made = " | ".join(line.at(i) for i in range(opened + 1, close) if line.at(i) != ",")
    start, end = line.starts(opened), line.ends(close)
    return Mistake(
        "E0144",
        "one of several texts is written with bars",
        start,
        end,
        label="`[…]` is a list",
        hint=f"write `{made}`",
        edits=((start, end, made),),
    )


def sign_of_another(line: Line) -> Mistake | None:
    """`xs[::2]` and `f(*xs)`."""
    before = line.at(line.index - 1)
    if line.token == ":" and (before == ":" or (before == "[" and line.at(line.index + 1) == ":")):
        return Mistake(
            "E0113",
            "a slice has no step",
            line.start,
            line.end,
            label="two numbers at most",
            hint="write `[xs[i] for i in 0..<len(xs) if i % 2 == 0]`",
        )
    if line.token in ("*", "**") and before in ("(", ",", "[") and line.word != "use":
        return Mistake(
            "E0113",
            "lists and maps are not unpacked",
            line.start,
            line.end,
            label="from another language",
            hint="pass the list itself, or join lists by `+`",
        )
    return None


def generator(line: Line) -> Mistake | None:
    """`sum(x * 2 for x in xs)`: a comprehension without its brackets."""
    opened = line.opener(line.index)
    if line.token != "for" or opened is None or line.at(opened) not in ("(", "{"):
        return None
    close = line.closing(opened)
    if line.at(opened) == "{":
        return Mistake(
            "E0113",
            "there are comprehensions of lists only",
            line.starts(opened),
            line.ends(opened),
            label="a map is written out",
            hint="fill a map in a loop: `m[key] = value`",
        )
    edits: Replacements = ()
    if close is not None:
        edits = ((line.ends(opened), line.ends(opened), "["), (line.starts(close), line.starts(close), "]"))
    return Mistake(
        "E0113",
        "a comprehension stands in square brackets",
        line.start,
        line.end,
        label="begins no list here",
        hint="write `[… for x in xs]`",
        edits=edits,
    )


def missing_comma(run: Run, line: Line) -> Mistake | None:
    """Two values side by side in a bracket."""
    index = line.index
    value = line.kind in ("NAME", "NUMBER", "STRING", "true", "false", "null", "[", "(", "{")
    if not value or index == line.first or not line.depth_before(index):
        return None
    if not (run.could_take(",") and run.could_take("BINARY")) or line.touching(index - 1, index):
        return None
    place = line.ends(index - 1)
    prose = line.kind == "NAME" and line.tokens.kinds[index - 1] == "NAME"
    return Mistake(
        "E0145",
        "a comma is missing",
        place - 1,
        place,
        label="behind this",
        hint=f"write `{line.at(index - 1)}, {line.token}`",
        edits=() if prose else ((place, place, ","),),
        repair="" if prose else ",",
    )
