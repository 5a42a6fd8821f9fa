"""What a layout is made from: the tokens of a program, as the parser took them, in lines with comments.

The parser runs as always. What it says about the text decides whether there is anything to format, and which
of its readings a word has (`max` is a bound here and a name there) is noted while it runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sglc.diagnostics.diagnostic import Diagnostic, has_errors
from sglc.format.tokens import TakenTokens, noted_kinds, taken_tokens
from sglc.source import Source
from sglc.syntax.limits import unreadable
from sglc.syntax.parse import parse, read
from sglc.syntax.parser import Parser

BLANK = " \t\r\u00a0"
"""Characters that mean nothing at the ends of a line."""


@dataclass(slots=True)
class Comment:
    """A comment on a line of its own. `blanks` counts the blank lines above it, `start` is its place."""

    text: str
    blanks: int
    column: int
    start: int
    depth: int = 0


@dataclass(slots=True)
class Gap:
    """What stands between two tokens: a comment behind the first, others on their own lines, blank lines."""

    behind: str = ""
    own: list[Comment] = field(default_factory=list)
    blanks: int = 0
    """Blank lines right above the second token."""

    def has_comment(self) -> bool:
        """Whether there is any comment in it."""
        return bool(self.behind or self.own)


@dataclass(slots=True)
class Line:
    """A logical line: tokens `first` up to `last`, in how many blocks, and what stands above and behind."""

    first: int
    last: int
    depth: int
    above: Gap
    behind: str = ""
    inner: dict[int, Gap] = field(default_factory=dict)
    """Of tokens that begin a physical line within this one: what stands before them."""
    grammar: bool = False
    """Whether it is a rule of a grammar."""
    opens: bool = False
    """Whether a block follows that belongs to it."""


@dataclass(slots=True)
class Reading:
    """A program as tokens and logical lines."""

    source: Source
    tokens: TakenTokens
    lines: list[Line]
    tail: Gap
    """What stands behind the last line."""
    fences: dict[int, tuple[tuple[int, int], ...]]


def reading(source: Source) -> tuple[Reading | None, list[Diagnostic]]:
    """The tokens of a program; None, with what is wrong, if it has errors of syntax."""
    fault = unreadable(source)
    if fault is not None:
        return None, [fault]
    parser = Parser(source)
    noted = noted_kinds(parser)
    _, found, lexed = read(parser)
    if has_errors(found):
        return None, parse(source)[1]
    tokens = taken_tokens(source.text, lexed.tokens, noted)
    made = Reading(source, tokens, [], Gap(), lexed.fences)
    _cut(made)
    return made, found


# -- logical lines ---------------------------------------------------------------------------------


def _cut(made: Reading) -> None:
    """Fill in the lines of a reading."""
    tokens = made.tokens
    text, kinds, starts, ends = tokens.text, tokens.kinds, tokens.starts, tokens.ends
    columns = [0]
    deepest = [0]
    depth, grammar = 0, -1
    line: Line | None = None
    previous = 1 if text.startswith("\ufeff") else 0
    for index, kind in enumerate(kinds):
        if kind == "_NEWLINE":
            assert line is not None
            line.last = index
            made.lines.append(line)
            previous, line = ends[index - 1], None
            deepest = list(columns)
        elif kind == "_INDENT":
            depth += 1
            columns.append(starts[index] - text.rfind("\n", 0, starts[index]) - 1)
            made.lines[-1].opens = True
        elif kind == "_DEDENT":
            depth -= 1
            columns.pop()
        elif kind == "$END" or line is None:
            above = gap_between(text, previous, starts[index], first=not made.lines)
            if made.lines:
                made.lines[-1].behind, above.behind = above.behind, ""
            _settle(above, deepest, depth, last=kind == "$END")
            if kind == "$END":
                made.tail = above
                return
            if grammar >= 0 and depth <= grammar:
                grammar = -1
            line = Line(index, index, depth, above, grammar=grammar >= 0)
            if kind == "grammar" or (kind == "pub" and kinds[index + 1] == "grammar"):
                grammar = depth
        elif starts[index] - ends[index - 1] > 0 and "\n" in text[ends[index - 1] : starts[index]]:
            line.inner[index] = gap_between(text, ends[index - 1], starts[index])


def gap_between(text: str, start: int, end: int, first: bool = False) -> Gap:
    """What stands between the end of a token and the start of the next; `first` if there is none before."""
    between = text[start:end]
    if "#" not in between:
        return Gap(blanks=max(between.count("\n") - (0 if first else 1), 0))
    gap = Gap()
    place = start
    for number, piece in enumerate(between.split("\n")):
        said = piece.strip(BLANK)
        if number == 0 and not first:
            gap.behind = said
        elif said:
            column = len(piece) - len(piece.lstrip(BLANK))
            gap.own.append(Comment(said, gap.blanks, column, place + column))
            gap.blanks = 0
        else:
            gap.blanks += 1
        place += len(piece) + 1
    if gap.own or gap.blanks:
        gap.blanks = max(gap.blanks - 1, 0)  # the last piece is the indentation of the token
    return gap


def _settle(gap: Gap, columns: list[int], depth: int, last: bool) -> None:
    """Say of comments between two lines in which block they stand: by their column, where a block ends.

    A `##` comment right above a line stands in the block of that line; with `last` no line follows.
    """
    if not gap.own:
        return
    close = len(gap.own)
    if gap.blanks == 0 and not last:
        close -= 1
        while close > 0 and gap.own[close].blanks == 0:
            close -= 1
    limit = max(len(columns) - 1, depth)
    for index, comment in enumerate(gap.own):
        level = limit
        while level > depth and (level >= len(columns) or comment.column < columns[level]):
            level -= 1
        if index >= close and comment.text.startswith("##"):
            level = depth
        comment.depth = limit = level
