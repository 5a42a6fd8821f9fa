"""The law of the formatter, tried on each result: the tokens and the comments are those of the program."""

from __future__ import annotations

from collections.abc import Iterator

from sglc.format.reading import Gap, Reading, reading
from sglc.source import Source

_SHAPE = frozenset((",", "_NEWLINE", "_INDENT", "_DEDENT"))
"""Tokens that a layout has more or less of: commas between parts may become line ends."""


class Unfaithful(Exception):
    """A fault of the formatter: its result would not be the program that it was given."""


def require_same(before: Reading, text: str) -> Reading:
    """The tokens of a result. Raises Unfaithful where it has other ones, as taken, or other comments."""
    after, _ = reading(Source(before.source.name, text))
    if after is None:
        raise Unfaithful("the result is no program any more")
    if list(_tokens(before)) != list(_tokens(after)):
        raise Unfaithful("the result has other tokens")
    if list(comments(before)) != list(comments(after)):
        raise Unfaithful("the result has other comments")
    return after


def _tokens(made: Reading) -> Iterator[tuple[str, str]]:
    tokens = made.tokens
    for kind, written, start in zip(tokens.kinds, tokens.written, tokens.starts, strict=True):
        if kind == "FENCE":
            lines = (tokens.text[begin:end] for begin, end in made.fences[start])
            yield kind, "\n".join(lines)
        elif kind not in _SHAPE:
            yield kind, written


def comments(made: Reading) -> Iterator[str]:
    """The comments of a program in their order."""
    for line in made.lines:
        yield from _comments(line.above)
        for index in sorted(line.inner):
            yield from _comments(line.inner[index])
        if line.behind:
            yield line.behind
    yield from _comments(made.tail)


def _comments(gap: Gap) -> Iterator[str]:
    if gap.behind:
        yield gap.behind
    for comment in gap.own:
        yield comment.text
