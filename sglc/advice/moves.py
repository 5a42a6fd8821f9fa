"""Moving statements up in their list: whether nothing but the order of the text changes, and the edits."""

from __future__ import annotations

from collections.abc import Sequence

from sglc.advice.statements import Body
from sglc.check.core.walk import mentions
from sglc.diagnostics.diagnostic import Edit
from sglc.source import Source, Span
from sglc.syntax.tree import ast


def move_up(body: Body, first: int, last: int, target: int) -> tuple[Edit, ...]:
    """Edits that put statements `first` to `last` of a list before statement `target`, whole lines of text.

    None where the program would not be the same but for the order of its text: lines that are glued to
    others, statements that share a line, and names that are defined between the two places.
    """
    moved, between = body[first : last + 1], body[target:first]
    before = body[target - 1 : target]
    if any(
        isinstance(each, ast.PipeLine) and each.glued
        for each in (*before, *moved[-1:], *body[first - 1 : first])
    ):
        return ()
    names = tuple(each.name.text for each in between if isinstance(each, ast.Let))
    if any(isinstance(each, ast.Assign) for each in between) or (names and _mention(moved, names)):
        return ()
    source = moved[0].span.source
    start, end = _lines(source, moved[0].span), _lines(source, moved[-1].span)
    place = _lines(source, body[target].span)
    if start is None or end is None or place is None:
        return ()
    start_at, place_at = _with_comments(source, start[0]), _with_comments(source, place[0])
    text = source.text[start_at : end[1]]
    if not text.endswith("\n"):  # the last line of a file
        text += "\n"
    return (
        Edit(Span(source, place_at, place_at), text),
        Edit(Span(source, start_at, end[1]), ""),
    )


def _mention(statements: Sequence[ast.Statement], names: tuple[str, ...]) -> bool:
    return any(mentions(part, names) for each in statements for part in _expressions(each))


def _expressions(statement: ast.Statement) -> list[object]:
    match statement:
        case ast.PipeLine(parts):
            return [part.value for part in parts if isinstance(part, ast.Insert)]
        case ast.Part(call=call):
            return [call]
        case ast.Role(body=body):
            return [part for each in body for part in _expressions(each)]
    return []


def _lines(source: Source, span: Span) -> tuple[int, int] | None:
    """Start and end of the lines of a statement; None where something else stands on them."""
    text = source.text
    start = text.rfind("\n", 0, span.start) + 1
    stop = text.find("\n", span.end)
    end = len(text) if stop < 0 else stop + 1
    behind = text[span.end : end].strip()
    if text[start : span.start].strip() or (behind and not behind.startswith("#")):
        return None
    return start, end


def _with_comments(source: Source, start: int) -> int:
    """Where the lines of comments begin that stand directly above a line."""
    while start > 0:
        above = source.text.rfind("\n", 0, start - 1) + 1
        if not source.text[above:start].lstrip().startswith("#"):
            break
        start = above
    return start
