"""W0220: constant text that each call reads again, because it stands behind text that varies.

The analysis (`sglc.analysis.late_text`) says which text that is. Here it is found in the source: which lines
or messages it is, whether it is worth a remark, and where it could stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise

from sglc.advice.candidates import WORTH_MOVING
from sglc.advice.moves import move_up
from sglc.advice.statements import Body, Spot, spots_of
from sglc.analysis.late_text import ConstantText, LateText, Place, Varying, late_texts
from sglc.analysis.layout import layout
from sglc.check.core.result import CheckedProgram
from sglc.diagnostics.diagnostic import Diagnostic, Edit, Label
from sglc.ir.module import Module
from sglc.passes import fold
from sglc.source import Span
from sglc.syntax.tree import ast

CODE = "W0220"

DELIMITER = 20
"""Most characters of a line that only marks where something begins or ends: `</mail>`, three backquotes."""

_SPEAKS_OF_PLACE = re.compile(
    r"\b(above|aforementioned|earlier|foregoing|preceding|previous|so far|(this|that|these|those) (was|were)"
    r"|you (have |were |have been )?just (read|saw|seen|given|shown))\b",
    re.I,
)
"""What only text says that must stand behind what it speaks of."""
_GOES_ON = re.compile(
    r"\s*((\w[\w'-]*\s+){0,3}(it|its|them|they|their)\b"
    r"|(then|next|now|finally|second|secondly|third|thirdly|also|end of)\b|(step\s+)?[2-9][.):])",
    re.I,
)
"""How text begins that goes on from what stands before: `Say what it is about`, `Step 2.`, `Then`. A pronoun
among the first four words has hardly a noun before it in its own sentence."""


Measure = Callable[[str], int]
"""How many tokens a text has."""


def late_text(
    checked: CheckedProgram, module: Module, candidates: Collection[str], measure: Measure | None = None
) -> list[Diagnostic]:
    """The findings in some functions of the main module, in order. `module` is its code before any pass.

    Text is told in characters, and in tokens where there is a measure of them.
    """
    bodies = [
        each.body for each in checked.main.module.declarations if isinstance(each, ast.FunctionDeclaration)
    ]
    folded = fold.run(module)
    found: dict[Span, Diagnostic] = {}
    for function in folded.functions:
        if function.kind != "fn" or function.module or (function.copy_of or function.name) not in candidates:
            continue
        for late in late_texts(layout(folded, function)):
            for passage in _passages(late, bodies):
                diagnostic = _told(passage, measure)
                if diagnostic is not None and diagnostic.span is not None:
                    found.setdefault(diagnostic.span, diagnostic)
    return sorted(found.values(), key=lambda each: each.span.start if each.span is not None else 0)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of late text: the statement that it is in, its place in the list of that, what it writes."""

    index: int
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class _Passage:
    """Late text in one list of statements, in which what varies stands too."""

    pieces: tuple[_Piece, ...]
    body: Body
    first: int
    """The statement that varies first."""
    varying: Varying
    shown: Span
    """What varies, as this list's function has it."""
    closed: frozenset[int]
    """Statements with something that varies, or with a hole."""

    def text_of(self, statements: list[int]) -> str:
        """The text in some of the statements."""
        return "".join(piece.text for piece in self.pieces if piece.index in statements)


def _passages(late: LateText, bodies: list[Body]) -> Iterator[_Passage]:
    """The late text by the innermost lists that it shares with what varies first."""
    written = " ".join(text.text for text in late.texts)
    if _SPEAKS_OF_PLACE.search(written) or _GOES_ON.match(written):
        return
    placed = [(text, _shared(late.first.place, text, bodies)) for text in late.texts]
    for _, group in groupby(placed, key=lambda pair: pair[1] and (pair[1][0], id(pair[1][1].body))):
        members = list(group)
        if members[0][1] is None:
            continue
        depth, spot = members[0][1]
        pieces = [
            _Piece(index, place[depth], written)
            for text, _ in members
            for place, written in text.parts()
            for index in _indices(spot.body, place, depth, bodies)
        ]
        around = (late.first.place, late.behind.place, late.until)
        closed = [index for place in around for index in _indices(spot.body, place, depth, bodies)]
        shown = late.first.place[depth]
        yield _Passage(tuple(pieces), spot.body, spot.index, late.first, shown, frozenset(closed))


def _shared(varying: Place, text: ConstantText, bodies: list[Body]) -> tuple[int, Spot] | None:
    """How many calls of parts lead to both, and where what varies stands in the innermost list of both."""
    place = text.places[0] if text.places else ()
    depth = 0
    while depth < min(len(varying), len(place)) - 1 and varying[depth] == place[depth]:
        depth += 1
    if depth >= len(place):
        return None
    there = {id(spot.body) for spot in spots_of(bodies, place[depth])}
    spots = [spot for spot in spots_of(bodies, varying[depth]) if id(spot.body) in there]
    return (depth, spots[-1]) if spots else None


def _indices(body: Body, place: Place, depth: int, bodies: list[Body]) -> list[int]:
    """The statement of a list in which a place lies; none if it lies in none."""
    if depth >= len(place):
        return []
    return [spot.index for spot in spots_of(bodies, place[depth]) if spot.body is body]


def _told(passage: _Passage, measure: Measure | None) -> Diagnostic | None:
    """The finding, if the text is long enough."""
    body = passage.body
    late = sorted({piece.index for piece in passage.pieces if piece.index > passage.first})
    while late and _is_delimiter(body[late[0]]):
        del late[0]
    if len(passage.text_of(late)) < WORTH_MOVING:
        return None
    free = [index for index in late if index not in passage.closed]
    target = _target(body, passage.first)
    edits: tuple[Edit, ...] = ()
    if (
        _are_alike(free, body)
        and len(passage.text_of(free)) >= WORTH_MOVING
        and _keeps_roles(body, free, target)
    ):
        edits = move_up(body, free[0], free[-1], target)
    if edits:
        text, span = passage.text_of(free), body[free[0]].span.to(body[free[-1]].span)
        hint = f"move {_numbers(span)} before line {_line(body[target].span)}"
    else:
        spans = [piece.span for piece in passage.pieces if piece.index in late]
        text, span = passage.text_of(late), spans[0].to(spans[-1])
        hint = "write what is the same in every call before what varies"
    names = ", ".join(sorted({f"`{origin.name}`" for origin in passage.varying.origins if origin.name}))
    amount = f"{len(text)} characters"
    if measure is not None:
        amount += f" ({measure(text)} tokens)"
    return Diagnostic(
        CODE,
        f"each call reads {amount} again that are the same in every call",
        span,
        label="constant text behind text that varies",
        reason="what was read of a prompt is used again up to its first difference",
        hint=hint,
        secondary=(Label(passage.shown, f"varies with {names}" if names else "varies"),),
        severity="warning",
        offered=edits,
    )


def _are_alike(indices: list[int], body: Body) -> bool:
    """Whether they are statements in a row, all of them lines of text or all of them messages."""
    if not indices or indices != list(range(indices[0], indices[-1] + 1)):
        return False
    kinds = {isinstance(body[index], ast.Role) for index in indices}
    written = (ast.PipeLine, ast.Part, ast.Include, ast.Role)
    return len(kinds) == 1 and all(isinstance(body[index], written) for index in indices)


def _target(body: Body, first: int) -> int:
    """The statement before which text goes that leaves the varying one its opening: `<mail>`, `The mail:`."""
    target = first
    while target > 0 and _is_delimiter(body[target - 1]):
        target -= 1
    if target > 0 and _text(body[target - 1]).rstrip().endswith(":"):
        target -= 1
    return target


def _keeps_roles(body: Body, moved: list[int], target: int) -> bool:
    """Whether messages may come in the new order: the system's first, no more of one role in a row."""
    if not isinstance(body[moved[0]], ast.Role):
        return not isinstance(body[target], ast.Role)
    order = [*range(target), *moved, *(i for i in range(target, len(body)) if i not in moved)]
    before = [each.role for each in body if isinstance(each, ast.Role)]
    after = [each.role for each in (body[index] for index in order) if isinstance(each, ast.Role)]
    return after[0] == before[0] and "system" not in after[1:] and _repeats(after) <= _repeats(before)


def _repeats(roles: list[str]) -> int:
    return sum(one == other for one, other in pairwise(roles))


def _is_delimiter(statement: ast.Statement) -> bool:
    """Whether a line only marks where something begins or ends."""
    text = _text(statement).strip()
    return 0 < len(text) <= DELIMITER and not re.search(r"\s", text)


def _text(statement: ast.Statement) -> str:
    """The text of a line without inserts and holes; empty for another statement."""
    if isinstance(statement, ast.PipeLine) and all(isinstance(part, ast.Text) for part in statement.parts):
        return "".join(part.text for part in statement.parts if isinstance(part, ast.Text))
    return ""


def _line(span: Span) -> int:
    return span.source.position(span.start)[0]


def _numbers(span: Span) -> str:
    first, last = _line(span), span.source.position(span.end)[0]
    return f"line {first}" if first == last else f"lines {first}-{last}"
