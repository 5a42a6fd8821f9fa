"""Statements, declarations and comments as other languages write them, told by what stands on the line."""

from __future__ import annotations

from sglc.lalr.machine import Run
from sglc.syntax.errors.core.faulty_line import (
    BLOCK_WORDS,
    HEADER_WORDS,
    Line,
    Mistake,
    enclosing_word,
    line_extent,
)
from sglc.syntax.errors.core.reporter import Replacements
from sglc.syntax.errors.foreign.operators import foreign_operator
from sglc.syntax.errors.foreign.types import foreign_type
from sglc.syntax.errors.foreign.words import first_word, foreign_word, modifier, prefixed_text
from sglc.syntax.lexer.keywords import ROLES


def foreign(run: Run, line: Line, module_level: bool) -> Mistake | None:
    """Whether the line is written as in another language."""
    return (
        _comment(line)
        or first_word(line, module_level)
        or modifier(line)
        or _braces(line)
        or _semicolon(line)
        or foreign_type(run, line)
        or foreign_word(line)
        or foreign_operator(run, line)
        or prefixed_text(line)
    )


def _comment(line: Line) -> Mistake | None:
    """`// …` at the start of a line or behind code, `\"\"\"…\"\"\"` as the first thing of a line."""
    text = line.text
    for index in range(line.first, line.index + 1):
        if line.at(index) != "//":
            continue
        following = [line.tokens.kinds[i] for i in range(index + 1, min(index + 4, line.last))]
        if index == line.first or (line.index > index + 1 and "NAME" in following):
            start, end = line.starts(index), line_extent(text, line.starts(index), line.ends(index))[1]
            return Mistake(
                "E0113",
                "a comment begins with `#`",
                start,
                start + 2,
                label="divides whole numbers",
                hint="write `#`",
                edits=((start, start + 2, "#"),),
                covers=(start, end),
            )
    start = line.starts(line.first)
    if text.startswith('"""', start) and block_of(line) in ROLES:
        end = text.find('"""', start + 3)
        alone = "\n" in text[start:end] and not text[start + 3 : end].split("\n", 1)[0].strip()
        return Mistake(
            "E0113",
            'a block of text begins with `text """`',
            start,
            start + 3,
            label="a text in quotes is code",
            hint='write `text """`',
            edits=((start, start, "text "),) if end > 0 and alone else (),
            covers=(line_extent(text, start, start)[0], line_extent(text, start, max(end, start) + 3)[1]),
        )
    if text.startswith('"""', start):
        end = text.find('"""', start + 3)
        alone = end > 0 and "\n" not in text[start:end]
        written = text[start + 3 : end].strip() if alone else ""
        return Mistake(
            "E0113",
            'a comment begins with `#`; `"""` holds prompt text, after the word `text`',
            start,
            start + 3,
            hint="write `# …`, or `## …` above what it describes",
            edits=((start, end + 3, f"# {written}"),) if written else (),
            covers=line_extent(text, start, end + 3 if end > 0 else start + 3),
        )
    return None


def _braces(line: Line) -> Mistake | None:
    if line.token != "{" or line.word not in BLOCK_WORDS | HEADER_WORDS or line.index == line.first:
        return None
    return Mistake(
        "E0113",
        "blocks are indented, not put in braces",
        line.start,
        line.end,
        label="a colon is due here",
        hint="end the line with `:` and indent what follows",
        edits=_without_braces(line),
    )


def _without_braces(line: Line) -> Replacements:
    """A colon for the opening brace and nothing for the closing one, where each ends a line of its own."""
    close = line.closing(line.index)
    if close is None or close != line.last - 1:
        return ()
    text = line.text
    before, opened, closed = line.ends(line.index - 1), line.end, line.starts(close)
    colon = (before, opened, ":")
    inner = text[opened:closed]
    if "\n" not in inner:
        return (colon, (line.ends(close - 1), closed + 1, "")) if inner.strip() else ()
    first, after = line_extent(text, closed, closed + 1)
    if text[first:after].strip() != "}" or inner.split("\n", 1)[0].strip():
        return ()
    return (colon, (first, after, ""))


def _semicolon(line: Line) -> Mistake | None:
    if line.token != ";" or line.depth_before(line.index):
        return None
    last = line.index + 1 == line.last
    following = line.end if last else line.starts(line.index + 1)
    return Mistake(
        "E0113",
        "a line is one statement",
        line.start,
        line.end,
        label="ends nothing",
        hint="leave it out" if last else "put the rest on its own line",
        edits=((line.start, following, "" if last else "\n" + line.indentation),)
        if line.index > line.first
        else (),
        repair="" if last else "_NEWLINE",
        skip=1 if line.index > line.first else 0,
    )


def block_of(line: Line) -> str:
    """The first word of the block that the line stands in."""
    return enclosing_word(line.text, line.starts(line.first))
