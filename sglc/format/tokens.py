"""Tokens as the parser took them: a word may be a keyword or a name, a `-` a sign or an operator."""

from __future__ import annotations

from dataclasses import dataclass

from sglc.lalr.machine import Run, Tokens
from sglc.syntax.parser import Parser

RANGES = frozenset(("..", "..=", "..<"))
_SEVERAL_WORDS = frozenset(("BINARY", "_NOT_CONTAINING", "OR_SKIP"))


@dataclass(slots=True)
class TakenTokens:
    """Parallel lists: of each token its kind, its extent in the text, and what is written for it.

    A sign is of the kind `-`, a repetition in a grammar `*` or `+`, a range `..`; other operators are BINARY.
    """

    text: str
    kinds: list[str]
    starts: list[int]
    ends: list[int]
    written: list[str]


def noted_kinds(parser: Parser) -> dict[int, str]:
    """Let a parser note, by where a token starts, as which other kind than its own it was taken."""
    noted: dict[int, str] = {}
    usual = parser.semantics.instead

    def noting(run: Run, kind: str, index: int) -> str:
        found = usual(run, kind, index)
        noted[run.tokens.starts[index]] = found
        return found

    parser.semantics.instead = noting
    return noted


def taken_tokens(text: str, tokens: Tokens, noted: dict[int, str]) -> TakenTokens:
    """The tokens of a text that was parsed without a fault."""
    kinds, starts, ends = list(tokens.kinds), tokens.starts, tokens.ends
    written = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    for index, kind in enumerate(kinds):
        if kind[0] != "_" and starts[index] in noted:
            kind = kinds[index] = noted[starts[index]]
        if written[index] in RANGES:
            kinds[index] = ".."
        elif kind == "PIPE":
            written[index] = _pipe(written[index])
        elif kind in _SEVERAL_WORDS and len(written[index]) > 3:
            written[index] = " ".join(written[index].split())
    return TakenTokens(text, kinds, starts, ends, written)


def _pipe(text: str) -> str:
    """A pipe line; the one blank behind the pipe is no text, so it can be there or not."""
    if text in ("|", "| "):
        return "|"
    return text if text[1] == " " else f"| {text[1:]}"
