"""Reading a text again after an edit: only the declarations that have changed are read.

A text is cut into pieces, each a declaration with the comments above it. A piece is read with what follows it
cut short to a declaration that is always right, so that it ends as it would in the whole text. The nodes of a
piece that is there again are used again, moved to where it stands now: moving a node sets the numbers in its
spans, which is why a reader serves one text that is edited, and whoever holds older nodes of it must let go.

What is read is what `parse` reads, for every text: where a piece may depend on others, the whole is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal

from sglc.diagnostics.diagnostic import Diagnostic, Edit, Label
from sglc.source import Source, Span
from sglc.syntax.errors.core.reporter import MAX_DIAGNOSTICS
from sglc.syntax.errors.core.sound_edits import MOST, with_sound_edits
from sglc.syntax.lexer.layout import LINE_WORDS
from sglc.syntax.lexer.tokens import LexedText
from sglc.syntax.limits import LONG_LINE, MAX_CHARACTERS, too_deep, unreadable
from sglc.syntax.parse import MANY_TOKENS, in_order, parse
from sglc.syntax.parser import Parser
from sglc.syntax.tree import ast

_BEGINS = re.compile(
    r"(?m)^(?:[ \t\u00a0]*(?:#[^\n]*)?\r?\n)*"
    r"(pub|fn|part|aside|pure|record|enum|union|type|error|const|grammar|import|use|extern|test)\b"
    r"(?=[ \t]*([:,=.]?))"
)
_LAST = "const last__ = 1\n"
"""What stands behind a piece while it is read."""

GOES_ON: Final = "goes on"
"""A piece that is read as one with the next: a bracket is open in it that may be closed there, or it is the
first and has nothing that can be read."""
MOST_JOINS = 8
"""Pieces of a text that are read again with the next one; the whole is read where there are more."""
_FAR_REACHING = frozenset(("deep", "tab indentation"))
"""Faults of the lexer behind which nothing is read, or that are told with regard to all of the file."""

Key = tuple[str, str, bool]
"""The text of a piece, what follows it up to the first word of the next one, with a mark behind that (nothing
of the last piece), and whether it is the first."""


@dataclass(slots=True, eq=False)
class _Piece:
    """A piece that was read. Its nodes are where it stood when it was used last."""

    declarations: tuple[ast.Declaration, ...]
    found: list[Diagnostic]
    """Its findings, stray comments left out."""
    strays: list[Diagnostic]
    doc: str
    base: int
    dedents: tuple[int, int] | None
    """Of the first and of the last fault of its tokens the column, if it is one of indentation; else -1. Of
    such faults in a row with the same column one is told."""
    spans: list[Span] = field(default_factory=list)

    def move(self, source: Source, base: int) -> None:
        """Put all spans to another place of another text."""
        by = base - self.base
        self.base = base
        if by:
            for span in self.spans:
                span.source = source  # type: ignore[misc]
                span.start += by  # type: ignore[misc]
                span.end += by  # type: ignore[misc]
        else:
            for span in self.spans:
                span.source = source  # type: ignore[misc]


class PieceReader:
    """Reads the versions of one text, one after the other. A `Reader` of `sglc.check.program`."""

    reads_as_parse = True

    def __init__(self) -> None:
        self._known: dict[Key, list[_Piece]] = {}
        """The pieces of the last text that was read in pieces."""
        self.read = 0
        """How many pieces of the last text were read anew; -1 where the whole was."""

    def __call__(self, source: Source) -> tuple[ast.Module, list[Diagnostic]]:
        """As `parse`."""
        found = self._in_pieces(source)
        if found is not None:
            return found
        self.read = -1
        return parse(source)

    def _in_pieces(self, source: Source) -> tuple[ast.Module, list[Diagnostic]] | None:
        text = source.text
        if len(text) > MAX_CHARACTERS:
            return None
        pool, self._known = self._known, {}
        pieces: list[_Piece] = []
        self.read = 0
        whole = True
        waiting, joins = "", 0
        for (own, behind, _), start in _cut(text):
            key, base = (waiting + own, behind, start == len(waiting)), start - len(waiting)
            piece = self._piece(source.name, key, pool, "\t" in text)
            waiting = key[0] if piece is GOES_ON and joins < MOST_JOINS else ""
            joins += bool(waiting)
            if isinstance(piece, _Piece):
                self._known.setdefault(key, []).append(piece)
                pieces.append(piece)
                piece.move(source, base)
            elif not waiting:
                whole = False
        if not whole or waiting:
            return None
        found = [each for piece in pieces for each in piece.found]
        if not any(each.severity == "error" for each in found):
            found += [each for piece in pieces for each in piece.strays]
        dedents = [piece.dedents for piece in pieces if piece.dedents is not None]
        if any(last[1] == first[0] >= 0 for last, first in pairwise(dedents)):
            return None
        edits = sum(bool(each.edits) for each in found)
        if found and (len(found) >= MAX_DIAGNOSTICS or edits > MOST or not pieces[0].declarations):
            return None
        declarations = tuple(node for piece in pieces for node in piece.declarations)
        return ast.Module(source, declarations, pieces[0].doc if pieces else ""), in_order(found)

    def _piece(
        self, name: str, key: Key, pool: dict[Key, list[_Piece]], tabs: bool
    ) -> _Piece | Literal["goes on"] | None:
        """A piece as it was, else as `_read` reads it."""
        known = pool.get(key)
        if known:
            return known.pop()
        self.read += 1
        return _read(name, key, tabs)


def _cut(text: str) -> list[tuple[Key, int]]:
    """The pieces of a text with the places where they begin."""
    matches = list(_BEGINS.finditer(text))
    del matches[:1]  # what stands before the first declaration is read with it
    starts = [0, *(match.start() for match in matches)]
    # Up to the word, so that comments between two pieces show how the upper one ends.
    behind = [text[match.start() : match.end()] + match.group(2) for match in matches]
    found = []
    for number, start in enumerate(starts):
        last = number + 1 == len(starts)
        end = len(text) if last else starts[number + 1]
        found.append(((text[start:end], "" if last else behind[number], number == 0), start))
    return found


def _read(name: str, key: Key, tabs: bool) -> _Piece | Literal["goes on"] | None:
    """Read one piece; None where what it is read as may depend on other pieces, `GOES_ON` where on the next
    alone."""
    text, behind, first = key
    if "/*" in text or text.count('"""') % 2:
        return None  # what is open may end in another piece
    word = re.search(r"(\w+)([:,=.]?)$", behind)
    tail = behind[: word.start()] + _LAST if word else ""
    source = Source(name, text + tail)
    if unreadable(source) is not None:
        return None
    read = _declarations(source)
    if read is None:
        return None
    parser, declarations, lexed = read
    if tail:
        if not declarations or declarations[-1].span.start < len(text):
            return None
        if word is not None and (word[1] not in LINE_WORDS or word[2]) and _is_open(lexed, len(text)):
            return GOES_ON
        declarations = declarations[:-1]
        if first and not declarations and parser.reporter.diagnostics:
            return GOES_ON  # the documentation of the module ends at its first declaration
    reporter = parser.reporter
    if reporter.diagnostics and tabs:
        return None
    found = in_order(list(reporter.diagnostics))
    doc = parser.context.docs.of_module(declarations) if first else ""
    before = len(reporter.diagnostics)
    if not any(each.severity == "error" for each in found):
        parser.context.docs.report_strays()
    strays = [
        each
        for each in reporter.diagnostics[before:]
        if each.span is not None and each.span.start < len(text)
    ]
    if any(each.edits for each in found):
        found = with_sound_edits(found, source, lambda other: _faults(name, other))
    ends = (lexed.faults[0], lexed.faults[-1]) if lexed.faults else ()
    columns = [each.end - each.start if each.kind == "dedent" else -1 for each in ends]
    dedents = (columns[0], columns[1]) if columns else None
    piece = _Piece(declarations, found, strays, doc, 0, dedents)
    piece.spans = list({id(span): span for span in _spans((declarations, found, strays))}.values())
    return piece


def _is_open(lexed: LexedText, end: int) -> bool:
    """Whether a bracket is open in the last line before an offset: one that was left open in a line above
    has ended with that."""
    kinds, starts = lexed.tokens.kinds, lexed.tokens.starts
    lines = [start for kind, start in zip(kinds, starts, strict=True) if kind == "_NEWLINE" and start <= end]
    begins = lines[-2] if len(lines) > 1 else -1
    return any(fault.kind == "bracket" and fault.start >= begins for fault in lexed.faults)


def _declarations(source: Source) -> tuple[Parser, tuple[ast.Declaration, ...], LexedText] | None:
    parser = Parser(source)
    declarations, lexed = parser.module()
    if any(fault.kind in _FAR_REACHING for fault in lexed.faults):
        return None
    longest = max(map(len, source.text.splitlines()), default=0)
    if lexed.longest > MANY_TOKENS or longest > LONG_LINE:
        declarations = too_deep(declarations, parser.reporter.diagnostics)
    return parser, declarations, lexed


def _faults(name: str, text: str) -> list[Diagnostic]:
    """What is found in the text of a declaration, as `parse` would before it tries edits."""
    from sglc.syntax.parse import faults_of

    return faults_of(Source(name, text))


def _spans(node: object) -> list[Span]:
    """Every span in nodes and findings, without recursion."""
    found: list[Span] = []
    waiting: list[object] = [node]
    while waiting:
        each = waiting.pop()
        if each.__class__ is Span:
            found.append(each)
        elif isinstance(each, tuple | list):
            waiting += each
        elif isinstance(each, Diagnostic):
            waiting += (each.span, each.secondary, each.edits, each.offered)
        elif isinstance(each, Label | Edit):
            waiting.append(each.span)
        elif (names := getattr(each.__class__, "__slots__", None)) and not isinstance(each, Source):
            waiting += [getattr(each, name) for name in names]
    return found
