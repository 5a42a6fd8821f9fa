"""Conflict sets: the terminals that a lexer might match instead of another one.

Two plain texts conflict only if one is a prefix of the other. Prefixes are looked up in an index, so that a
thousand keywords do not make a million pairs.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property

from sglc.automata import charset
from sglc.cfg.lexer.terminals import Token
from sglc.cfg.model.graph import LEAF, Graph


class ConflictSets:
    """`of(terminal)`: the terminals that may be tried where it is read, and can match there.

    `together[i]` is the bit set of the terminals that are tried with tokens[i]; None: all are.
    """

    def __init__(self, tokens: list[Token], ignored: list[Token], together: list[int] | None) -> None:
        self.at: dict[int, int] = {}
        """By leaf: the bit set of those tried there, where it is not all that are tried with its terminal."""
        self.tokens = tokens
        self.ignored = ignored
        self.together = together
        self.place = {token.index: number for number, token in enumerate(tokens)}
        self.texts: dict[str, list[Token]] = {}
        self.others: list[Token] = []
        for token in tokens:
            if _is_plain(token):
                self.texts.setdefault(token.value.lower(), []).append(token)
            else:
                self.others.append(token)
        self.sorted = sorted(self.texts)
        self.by_first: dict[str, list[Token]] = {}
        for text in self.sorted:
            self.by_first.setdefault(text[0], []).extend(self.texts[text])
        self._by_first: dict[str, list[Token]] = {}

    def of(self, token: Token, tried: int | None = None) -> list[Token]:
        """`tried`: of these only, instead of all that are tried with it anywhere."""
        found = self._near(token) if _is_plain(token) else self._beginning(token)
        if tried is None and self.together is not None:
            tried = self.together[self.place[token.index]]
        if tried is not None:
            found = [other for other in found if tried >> self.place[other.index] & 1]
        return [*found, *self.ignored]

    def tell_apart(self, graph: Graph, occurrences: dict[tuple[int, int], int]) -> None:
        """Give a terminal's occurrences with other competitors than it has elsewhere leaves of their own.

        `occurrences`: by (node above, place below it) the bit set of those tried there.
        """
        leaves: dict[tuple[int, tuple[int, ...]], int] = {}
        below: dict[int, list[int]] = {}
        competitors: dict[tuple[int, int], tuple[int, ...]] = {}
        for (above, index), tried in occurrences.items():
            leaf = graph.below[above][index]
            token = graph.about[leaf]
            assert isinstance(token, Token) and self.together is not None
            most = self.together[self.place[token.index]]
            if tried == most:
                continue
            for mask in (tried, most):
                if (leaf, mask) not in competitors:
                    competitors[leaf, mask] = tuple([other.index for other in self.of(token, mask)])
            these = competitors[leaf, tried]
            if these == competitors[leaf, most]:
                continue
            other = leaves.get((leaf, these))
            if other is None:
                other = leaves[leaf, these] = graph.add(LEAF, (), token)
                self.at[other] = tried
            below.setdefault(above, list(graph.below[above]))[index] = other
        for above, nodes in below.items():
            graph.below[above] = tuple(nodes)

    def _beginning(self, token: Token) -> list[Token]:
        """Those that may begin with the same character."""
        found = self.patterns_beginning(token)
        points = charset.ignoring_case(token.first)
        for first, tokens in self.by_first.items():
            if charset.contains(points, ord(first)):
                found += tokens
        return found

    def patterns_beginning(self, token: Token) -> list[Token]:
        """What is no plain text and may begin with the same character."""
        return [other for other in self.others if charset.meet(other.first, token.first)]

    @cached_property
    def near(self) -> set[int]:
        """Plain texts, by index, that begin another one or begin with another one, in any case of letters."""
        found: set[int] = set()
        path: list[str] = []
        for text in self.sorted:
            while path and not text.startswith(path[-1]):
                path.pop()
            if path or len(self.texts[text]) > 1:
                found.update([token.index for these in (text, *path[-1:]) for token in self.texts[these]])
            path.append(text)
        return found

    def _near(self, token: Token) -> list[Token]:
        text = token.value.lower()
        return self.texts_near(text) + self.patterns_at(text[:1])

    def texts_near(self, text: str) -> list[Token]:
        """Plain texts that begin with one in small letters, or that it begins with; itself first."""
        texts, ordered = self.texts, self.sorted
        found: list[Token] = []
        at = bisect_left(ordered, text)
        while at < len(ordered) and ordered[at].startswith(text):
            found += texts[ordered[at]]
            at += 1
        for size in range(1, len(text)):
            if text[:size] in texts:
                found += texts[text[:size]]
        return found

    def patterns_at(self, first: str) -> list[Token]:
        """What is no plain text and may begin with a small letter, in any case of it."""
        found = self._by_first.get(first)
        if found is None:
            points = charset.ignoring_case(((ord(first), ord(first)),))
            found = [other for other in self.others if charset.meet(other.first, points)]
            self._by_first[first] = found
        return found


def _is_plain(token: Token) -> bool:
    """Whether it is a text whose letters have no more than two forms."""
    return token.is_text and token.value.isascii() and bool(token.value)
