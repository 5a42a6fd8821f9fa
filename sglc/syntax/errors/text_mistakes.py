"""Mistakes around prompt text: roles, pipes, holes in code, and text without its pipe."""

from __future__ import annotations

import re
from itertools import pairwise

from sglc.diagnostics.suggest import nearest
from sglc.lalr.machine import Run
from sglc.syntax.errors.core.faulty_line import (
    STATEMENT_WORDS,
    Line,
    Mistake,
    enclosing_word,
    header_of,
    line_extent,
)
from sglc.syntax.errors.core.reporter import Replacements
from sglc.syntax.lexer.keywords import ROLES

_ROLE_NAMES = {
    "human": "user",
    "person": "user",
    "question": "user",
    "ai": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "answer": "assistant",
    "gpt": "assistant",
    "developer": "system",
}
"""What roles are called elsewhere."""


def role(run: Run, line: Line, module_level: bool) -> Mistake | None:
    """A role without its colon, and text right behind its colon."""
    if line.word not in ROLES or line.first + 1 > line.index:
        return None
    first, following = line.first, line.at(line.first + 1)
    place = line.ends(first)
    extent = line_extent(line.text, line.starts(first), place)
    if following == ":" and line.index > first + 1:
        start = line.starts(first + 2)
        if (
            line.at(first + 2) == "|"
            or start >= extent[1]
            or not (line.text[start].isalpha() or line.text[start] in "$?")
        ):
            return None
        return Mistake(
            "E0103",
            "text behind a role begins with a pipe",
            start,
            len(line.text[: extent[1]].rstrip()),
            label="this is code",
            reason="prompt text stands behind `|`; everything else is code",
            hint=f"write `{line.word}: | …`",
            edits=((start, start, "| "),),
            covers=extent,
        )
    if following in ("|", "") or (
        following not in (":", "with", "=", ".", "(", "[", ",") and line.index == first + 1
    ):
        return Mistake(
            "E0102",
            "a colon is missing",
            line.starts(first),
            place,
            label="a role begins a block",
            hint=f"write `{line.word}:`",
            edits=((place, place, ":"),),
            covers=extent,
        )
    return None


def role_name(run: Run, line: Line, module_level: bool) -> Mistake | None:
    """`human: | …`: a role that there is not."""
    if (
        module_level
        or line.index != line.first + 1
        or line.token != ":"
        or line.tokens.kinds[line.first] != "NAME"
    ):
        return None
    following = line.tokens.kinds[line.index + 1]
    below = following == "_NEWLINE" and line.tokens.kinds[line.index + 2 : line.index + 4] == [
        "_INDENT",
        "PIPE",
    ]
    if following != "PIPE" and not below:
        return None
    start, end = line.starts(line.first), line.ends(line.first)
    meant = _ROLE_NAMES.get(line.word.lower()) or nearest(line.word, ROLES)
    return Mistake(
        "E0111",
        f"there is no role `{line.word}`",
        start,
        end,
        label="unknown role",
        hint=f"write `{meant}`" if meant else "roles are `system`, `user`, `assistant` and `tool`",
        edits=((start, end, meant),) if meant else (),
    )


def hole(run: Run, line: Line, module_level: bool) -> Mistake | None:
    """`?{` in code."""
    tokens, index = line.tokens, line.index
    for place in (index, index - 1):
        if place >= line.first and line.text.startswith("?{", tokens.starts[place]):
            return Mistake(
                "E0112",
                "a hole stands outside prompt text",
                tokens.starts[place],
                tokens.starts[place] + 2,
                label="this is code",
                hint="put it on a pipe line: `| ?{name: T}`, or write `let name = gen T`",
                edits=_as_text(line, tokens.starts[place]) if place == line.first else (),
                covers=line_extent(line.text, tokens.starts[place], line.end),
            )
    return None


_ROLE_LINE = re.compile(r"^[ ]+(?:system|user|assistant)[ ]*:", re.MULTILINE)


def _as_text(line: Line, place: int) -> Replacements:
    """A pipe before a hole, under `assistant` where the function has roles and the line stands in none."""
    start = line.text.rfind("\nfn ", 0, place) + 1
    in_role = enclosing_word(line.text, place) in ROLES
    spoken = not in_role and _ROLE_LINE.search(line.text, start, place) is not None
    return ((place, place, "assistant: | " if spoken else "| "),)


def pipe(run: Run, line: Line, module_level: bool) -> Mistake | None:
    """A pipe behind code."""
    if line.token == "|":
        return Mistake(
            "E0101",
            "a pipe line begins its own line",
            line.start,
            line.end,
            label="text cannot begin here",
            hint="put `| text` on the next line, or after the colon of a block",
        )
    return None


def prose(run: Run, line: Line, module_level: bool) -> Mistake | None:
    """Words one after the other, as text and not as code."""
    kinds = line.kinds()
    words = sum(kind in ("NAME", "STRING", "NUMBER") or kind[0].islower() for kind in kinds)
    start, end = line.tokens.starts[line.first], line.tokens.ends[line.last - 1]
    if module_level:
        if line.index <= line.first + 1 and line.tokens.kinds[line.first] == "NAME":
            return Mistake(
                "E0111",
                f"no declaration begins with `{line.word}`",
                start,
                line.tokens.ends[line.first],
                label="unknown word",
                hint="a file holds use, const, type, record, enum, union, error, grammar, fn, part and test",
            )
        return None
    neighbours = sum(
        a in ("NAME", "ROLE") and (b in ("NAME", "ROLE") or b[0].islower()) for a, b in pairwise(kinds)
    )
    spoken = enclosing_word(line.text, start) in ROLES and line.at(line.first + 1) not in ("=", "(", ".", "[")
    signs = [
        line.at(i) for i in range(line.first, line.last) if line.tokens.kinds[i] in ("BINARY", "AUGMENTED")
    ]
    coded = any(kind in ("(", "[", "{", "=", "->") for kind in kinds) or not all(map(str.isalpha, signs))
    pure = " fn " in header_of(line.text, start) and "pure " in header_of(line.text, start)
    enough = spoken or (words >= 3 and neighbours >= 1 and not coded and not pure)
    if not enough or line.word in STATEMENT_WORDS | {"each", "retry", "else", "elif", "except", "case"}:
        return None
    lines = _prose_lines(line.text, start)
    return Mistake(
        "E0103",
        "this looks like prompt text without its pipe",
        start,
        max(end, lines[0][1]),
        reason="prompt text stands on lines that begin with `|`; everything else is code",
        hint="begin the line with `| `" if len(lines) == 1 else "begin these lines with `| `",
        edits=tuple((place, place, "| ") for place, _ in lines),
        covers=(start, lines[-1][1]),
    )


_CODE = re.compile(
    r"\||\#|\Z|(?:[^\W\d]\w*(?:[ \t]*[-+*/]?=(?!=)|\(.*\)[ \t]*$|\.\w+\())"
    r"|(?:let|var|for|while|match|if|elif|else|return|break|continue|raise|try|except|case|include|part|forget|think"
    r"|ensure|check|system|user|assistant|tool)\b"
)


def _prose_lines(text: str, start: int) -> list[tuple[int, int]]:
    """The line at `start` and those below it that read like it: begin, without blanks, and end of each."""
    column = start - text.rfind("\n", 0, start) - 1
    lines: list[tuple[int, int]] = []
    while True:
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        lines.append((start, len(text[:end].rstrip())))
        following = text[end + 1 : text.find("\n", end + 1) if "\n" in text[end + 1 :] else len(text)]
        body = following.lstrip(" \t")
        if end >= len(text) or len(following) - len(body) != column or _CODE.match(body):
            return lines
        start = end + 1 + column
