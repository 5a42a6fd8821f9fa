"""Lexemes of automata whose states are made while they are read: numbered in the order they are met."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from sglc.kernels.trie.api import SubtreeWalk
from sglc.kernels.trie.arrays import Quiet
from sglc.kernels.trie.walks import ENDS
from sglc.runtime.mask.lexeme.codepoint_lexeme import CharacterLexeme
from sglc.runtime.mask.lexeme.escapes import ByteMoves
from sglc.runtime.mask.lexeme.table import LexemeDfa, LexemeState
from sglc.runtime.mask.lexeme.utf8_states import Edge


class NumberedLexeme(LexemeDfa):
    """The rows of `ByteMoves`; `places` are its local states by number."""

    counts = True
    """Whether `describe` may bound the characters to the end of a word."""

    def __init__(self, table: ByteMoves) -> None:
        super().__init__()
        self.encoding = table.encoding
        self.table = table
        self._by_characters: CharacterLexeme = NumberedCharacters(self)

    def moves(self, state: int) -> Iterable[tuple[int, int, int]]:
        return [(low, high, self.number(t)) for low, high, t in self.table.moves(self.places[state])]

    def walk_states(
        self,
        whole: SubtreeWalk,
        entries: np.ndarray,
        place: LexemeState,
        first: np.ndarray,
        row: np.ndarray,
        quiet: Quiet | None,
    ) -> tuple[np.ndarray, np.ndarray, int]:
        lexeme, local = self._by_characters, self.places[place.state]
        where = (local + 1, 0) if local >= 0 else lexeme.place(-1 - local)
        if where is None or (quiet is not None and quiet.home >= 0):
            return super().walk_states(whole, entries, place, first, row, quiet)
        _, least, most, eager = self._bounds(place)
        begin, mode = where
        bounds = (begin, least, most, eager, mode)
        return whole.characters(entries, bounds, first, row, lexeme.current, lexeme.load, quiet)


class NumberedCharacters(CharacterLexeme):
    """The automaton of a `NumberedLexeme`, whose states are made when they are loaded."""

    def __init__(self, lexeme: NumberedLexeme) -> None:
        super().__init__(lexeme.table.characters, 16)
        self._lexeme = lexeme

    def load(self, number: int) -> None:
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
