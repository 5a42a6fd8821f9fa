"""Lexemes of automata whose states are made while they are read: numbered in the order they are met."""

from __future__ import annotations

from collections.abc import Sequence

from sglc.kernels.trie.walks import ENDS
from sglc.runtime.mask.lexeme.codepoint_lexeme import CharacterLexeme
from sglc.runtime.mask.lexeme.escapes import ByteMoves
from sglc.runtime.mask.lexeme.table import LexemeDfa
from sglc.runtime.mask.lexeme.utf8_states import Edge


class NumberedLexeme(LexemeDfa):
    """The rows of `ByteMoves`; `places` are its local states by number."""

    table: ByteMoves
    counts = True
    """Whether `describe` may bound the characters to the end of a word."""

    def __init__(self, table: ByteMoves) -> None:
        super().__init__()
        self.encoding = table.encoding
        self.table = table
        self._by_characters: CharacterLexeme = NumberedCharacters(self)

    def by_characters(self) -> CharacterLexeme:
        """The automaton with the same states, loaded when walks come to them."""
        return self._by_characters


class NumberedCharacters(CharacterLexeme):
    """The automaton of a `NumberedLexeme`, whose states are made when they are loaded."""

    def __init__(self, lexeme: NumberedLexeme) -> None:
        super().__init__(lexeme.table.characters, 16)
        self._lexeme = lexeme

    def load(self, number: int) -> None:
        """Take the edges of a state, and whether a word ends there, from the table."""
        lexeme, state = self._lexeme, number - 1
        self._reserve(state + 1)
        ends = bool(lexeme.describe(lexeme.number(state))[0] & ENDS)
        self._take(state, lexeme.table.edges(state), ends)

    def _meet(self, row: Sequence[Edge]) -> None:
        lexeme = self._lexeme
        targets = {target for _, _, target in row}
        self._reserve(1 + max(targets, default=0))
        if not lexeme.counts:
            return
        arrays = self._arrays
        for target in targets:
            _, arrays.lo[target + 1], arrays.hi[target + 1] = lexeme.describe(lexeme.number(target))
