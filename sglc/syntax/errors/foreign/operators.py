"""Operators and other signs of other languages, at the token that does not fit."""

from __future__ import annotations

from sglc.lalr.machine import Run
from sglc.syntax.errors.core.faulty_line import Line, Mistake
from sglc.syntax.errors.core.reporter import Replacements


def foreign_operator(run: Run, line: Line) -> Mistake | None:
    """`||`, `===`, `<>`, `x++`, `a ? b : c`, `is not`, at the token that does not fit."""
    index, token = line.index, line.token
    before = line.at(index - 1)
    pair = index > line.first and line.touching(index - 1, index)
    if token == "|" and line.at(index + 1) == "|" and line.touching(index, index + 1):
        return _replaced(line, index, index + 1, "or", "either condition", "BINARY", skip=2)
    if token == "=" and before in ("==", "!=") and pair:
        return _replaced(line, index - 1, index, before, "compares", "", skip=1)
    if token == ">" and before == "<" and pair:
        return _replaced(line, index - 1, index, "!=", "compares", "", skip=1)
    if token in ("+", "-") and before == token and pair and line.at(index + 1) == "":
        start = line.ends(index - 2)
        return Mistake(
            "E0113",
            f"there is no `{token}{token}`",
            line.starts(index - 1),
            line.end,
            label="from another language",
            hint=f"write `{token}= 1`",
            edits=((start, line.end, f" {token}= 1"),),
        )
    if line.kind == "NUMBER" and before == "." and pair:
        place = line.starts(index - 1)
        return Mistake(
            "E0113",
            "a part of a tuple is read by its place in brackets",
            place,
            line.end,
            label="no field",
            hint=f"write `[{token}]`",
            edits=((place, line.end, f"[{token}]"),),
        )
    if token == "?" and run.could_take("BINARY"):
        return _null(line) or _ternary(line)
    if token == "," and line.word == "return" and run.could_take("BINARY") and not line.depth_before(index):
        start, end = line.starts(line.first + 1), line.ends(line.last - 1)
        return Mistake(
            "E0113",
            "a tuple stands in parentheses",
            line.start,
            line.end,
            label="ends the value",
            hint="write `return (a, b)`",
            edits=((start, start, "("), (end, end, ")")),
        )
    if token == "if" and before in ("return", "=") and not run.could_take("BINARY"):
        return Mistake(
            "E0113",
            "a choice is written `a if condition else b`",
            line.start,
            line.end,
            label="from another language",
            hint="write the first value before the `if`",
        )
    if token == "is" and line.kind == "NAME":
        negated = line.at(index + 1) == "not"
        meant = "!=" if negated else "=="
        last = index + 1 if negated else index
        return _replaced(line, index, last, meant, "compares", "BINARY", skip=last - index + 1)
    if token == "then" and line.kind == "NAME" and line.word in ("if", "elif", "while"):
        return Mistake(
            "E0113",
            "a colon ends the condition",
            line.start,
            line.end,
            label="from another language",
            hint="write `:`",
            edits=((line.ends(index - 1), line.end, ":"),),
            repair=":",
            skip=1,
        )
    return None


def _replaced(line: Line, first: int, last: int, meant: str, what: str, repair: str, skip: int) -> Mistake:
    start, end = line.starts(first), line.ends(last)
    written = line.text[start:end]
    return Mistake(
        "E0113",
        f"`{written}` is written `{meant}`",
        start,
        end,
        label=what,
        hint=f"write `{meant}`",
        edits=((start, end, meant),),
        repair=repair,
        skip=skip,
    )


def _null(line: Line) -> Mistake | None:
    """`a ?? b` and `a?.b`."""
    index = line.index
    following = line.at(index + 1)
    if following not in ("?", ".") or not line.touching(index, index + 1):
        return None
    owner = line.at(index - 1)
    if following == ".":
        label = line.at(index + 2)
        return Mistake(
            "E0113",
            "there is no `?.`",
            line.start,
            line.ends(index + 1),
            label="from another language",
            hint=f"test it first: `{owner}.{label} if {owner} != null else …`",
        )
    rest = line.last - 1
    plain = line.tokens.kinds[index - 1] == "NAME" and line.at(index - 2) in ("return", "=", "(", ",", "[")
    end = line.ends(rest)
    other = line.text[line.starts(index + 2) : end] if index + 2 <= rest else ""
    start = line.starts(index - 1)
    made = f"{owner} if {owner} != null else {other}"
    sure = plain and bool(other) and not line.depth_before(index)
    return Mistake(
        "E0113",
        "there is no `??`",
        line.start,
        line.ends(index + 1),
        label="from another language",
        hint=f"write `{made}`" if sure else "write `x if x != null else y`",
        edits=((start, end, made),) if sure else (),
    )


def _ternary(line: Line) -> Mistake:
    colon = next((i for i in range(line.index + 1, line.last) if line.at(i) == ":"), None)
    first = line.first + 1 if line.word == "return" else None
    if first is None:
        first = next((i + 1 for i in range(line.first, line.index) if line.at(i) == "="), None)
    edits: Replacements = ()
    if first is not None and colon is not None and not line.depth_before(line.index):
        text, start, end = line.text, line.starts(first), line.ends(line.last - 1)
        condition = text[start : line.ends(line.index - 1)]
        yes = text[line.starts(line.index + 1) : line.ends(colon - 1)]
        no = text[line.starts(colon + 1) : end] if colon + 1 < line.last else ""
        if no:
            edits = ((start, end, f"{yes} if {condition} else {no}"),)
    return Mistake(
        "E0113",
        "a choice is written `a if condition else b`",
        line.start,
        line.end,
        label="from another language",
        hint=f"write `{edits[0][2]}`" if edits else "write `a if condition else b`",
        edits=edits,
    )
