"""What an editor writes between the words: inferred types, bounds of holes, lengths of prompt text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

from sglc.check.show_types import show_found
from sglc.immutable import value
from sglc.service.core.snapshot import Snapshot
from sglc.service.holes.facts import Asked, asked, bounds_of
from sglc.syntax.tree import ast
from sglc.syntax.tree.spans import walk

if TYPE_CHECKING:
    from sglc.runtime.tokenizer import Tokenizer

LONGEST = 60
"""Characters of a type that are shown."""
LEAST_TEXT = 1
"""Tokens of a message from which on its length is shown."""


@value
class Hint:
    """Text that is shown at an offset, before what stands there."""

    offset: int
    text: str
    kind: Literal["type", "count"]
    tip: str = ""


@value
class Pending:
    """A hint whose text takes a while: it reads nothing of the snapshot."""

    offset: int
    made: Callable[[Tokenizer | None], str]


def types_of(snapshot: Snapshot, start: int, end: int) -> Iterator[Hint]:
    """The types of variables that are declared without one."""
    for node in walk(snapshot.tree.declarations):
        match node:
            case ast.Let(name=name, type=None, value=value) if not isinstance(value, ast.Gen):
                found = snapshot.tables.type(value)
                shown = "" if found is None else show_found(found)
                if shown not in ("", "?") and len(shown) <= LONGEST and start <= name.span.end <= end:
                    yield Hint(name.span.end, f": {shown}", "type")


def counts_of(snapshot: Snapshot, start: int, end: int) -> Iterator[Pending]:
    """Bounds of holes, behind them, and the tokens of constant text of each message, behind its role."""
    for node in walk(snapshot.tree.declarations):
        if isinstance(node, ast.Hole) and start <= node.span.end <= end:
            hole = asked(snapshot, node.content)
            if hole is not None:
                yield Pending(node.span.end, _Bounds(hole))
        elif isinstance(node, ast.Role) and start <= node.keyword.end <= end:
            text = constant_text(node.body)
            if text:
                yield Pending(node.keyword.end, _Length(text))


def constant_text(body: tuple[ast.Statement, ...]) -> str:
    """The text of a message that is the same in each run, inserts and holes left out."""
    text = ""
    for statement in body:
        if isinstance(statement, ast.PipeLine):
            text += "".join(part.text for part in statement.parts if isinstance(part, ast.Text))
            text += "" if statement.glued else "\n"
    return text.removesuffix("\n")


class _Bounds:
    """The bounds of a hole as a hint."""

    def __init__(self, hole: Asked) -> None:
        self.hole = hole

    def __call__(self, tokenizer: Tokenizer | None) -> str:
        found = bounds_of(self.hole, tokenizer)
        if found is None or (found.most is None and found.least <= 1):
            return ""
        unit = "tok" if found.unit == "tokens" else "B"
        if found.most == found.least:
            return f"{found.least} {unit}"
        return f"{found.least}..{'' if found.most is None else found.most} {unit}"


class _Length:
    """The tokens of a text as a hint; nothing without a tokenizer."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __call__(self, tokenizer: Tokenizer | None) -> str:
        if tokenizer is None:
            return ""
        count = len(tokenizer.encode(self.text))
        return f"{count} tok" if count >= LEAST_TEXT else ""
