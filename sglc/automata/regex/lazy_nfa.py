"""Lazily determinised automata of patterns.

The minimal automaton of `(a|b)*a(a|b){14}` has 32,768 states; as subsets of the states of the pattern's own
automaton, made when a text first leads to them, it costs what is looked at. Every state of that automaton
reaches acceptance, so every subset but the empty one does, and no more need be known to leave no dead end.

What a place asks of its neighbours (`\\b`, `^`, `$`) is part of the states here: which kind of character
came before, and which kind is promised to come.
"""

from __future__ import annotations

from collections.abc import Iterable

from sglc.automata.charset import Ranges, meet, ranges
from sglc.automata.graphs import reached
from sglc.automata.regex.nfa import NO_CHAR, Blocks, Nfa
from sglc.automata.regex.tree import RegexError
from sglc.automata.term import CharNfa

MAX_SIZE = 400_000
"""States, edges and members of groups together."""

_FREE = -2
_Spot = tuple[int, int, int]
"""A state, the kind of the character before, the kind of the next one; both `_FREE` where none is asked."""


def char_nfa(nfa: Nfa) -> CharNfa | None:
    """The automaton of a pattern without lookahead and lookbehind; None if it matches nothing.

    Raises RegexError where it would be too large.
    """
    return _Build(nfa).build()


class _Build:
    def __init__(self, nfa: Nfa) -> None:
        self.nfa = nfa
        self.cut = Blocks([nfa]) if nfa.edges else None
        self.kinds: list[int] = []
        self.of_kind: dict[int, Ranges] = {}
        if self.cut is not None:
            parts: dict[int, list[tuple[int, int]]] = {}
            for block, kind in zip(self.cut.blocks, self.cut.kinds, strict=True):
                parts.setdefault(kind, []).extend(block)
            self.of_kind = {kind: ranges(these) for kind, these in parts.items()}
            self.kinds = [NO_CHAR, *self.of_kind]
        self.asks = self._asking()
        self.size = 0

    def _asking(self) -> set[int]:
        """The states from which a place with neighbours can be reached."""
        before: dict[int, list[int]] = {}
        nfa = self.nfa
        if not nfa.edges:
            return set()
        for state in range(len(nfa.moves)):
            targets = [*nfa.silents[state], *(target for _, target in nfa.moves[state])]
            for target in targets + [target for _, target in nfa.edges.get(state, ())]:
                before.setdefault(target, []).append(state)
        return set(reached(nfa.edges, lambda state: before.get(state, ())))

    def spots(self, state: int, before: int) -> list[_Spot]:
        """A state after a character of a kind, with each promise for the next one."""
        if state not in self.asks:
            return [(state, _FREE, _FREE)]
        return [(state, before, kind) for kind in self.kinds]

    def reach(self, spots: Iterable[_Spot]) -> list[_Spot]:
        """The spots with characters to read, or where a text may end, after silent moves."""
        nfa, cut = self.nfa, self.cut

        def following(spot: _Spot) -> list[_Spot]:
            state, before, behind = spot
            targets = list(nfa.silents[state])
            if cut is not None and before != _FREE:
                edges = nfa.edges.get(state, ())
                targets += [target for edge, target in edges if cut.holds(edge, before, behind)]
            return [(target, before, behind) for target in targets]

        seen = reached(spots, following)
        self.nfa.budget.spend(len(seen))
        return sorted(spot for spot in seen if nfa.moves[spot[0]] or self.ends(spot))

    def ends(self, spot: _Spot) -> bool:
        return spot[0] == self.nfa.end and spot[2] in (_FREE, NO_CHAR)

    def moves(self, spot: _Spot) -> list[tuple[Ranges, list[_Spot]]]:
        """(characters, spots behind them before silent moves)."""
        state, before, behind = spot
        out: list[tuple[Ranges, list[_Spot]]] = []
        for these, target in self.nfa.moves[state]:
            if before == _FREE:
                parts = [(these, _FREE)]
            elif behind == NO_CHAR:
                parts = []
            else:
                parts = [(meet(these, self.of_kind[behind]), behind)]
            out += [(some, self.spots(target, kind)) for some, kind in parts if some]
        return out

    def build(self) -> CharNfa | None:
        nfa = self.nfa
        first = self.spots(nfa.start, NO_CHAR)
        groups: list[list[_Spot]] = [self.reach(first)]
        group_of: dict[tuple[_Spot, ...], int] = {tuple(first): 0}
        rows: dict[_Spot, list[tuple[Ranges, int]]] = {}
        for group in groups:
            self.count(len(group))
            for spot in group:
                if spot in rows:
                    continue
                row = rows[spot] = []
                for these, behind in self.moves(spot):
                    key = tuple(behind)
                    if key not in group_of:
                        group_of[key] = len(groups)
                        groups.append(self.reach(behind))
                    row.append((these, group_of[key]))
                    self.count(len(these))
        return self.trimmed(groups, rows)

    def count(self, more: int) -> None:
        self.size += more + 1
        if self.size > MAX_SIZE:
            raise RegexError(0, "the pattern is too costly to compile")

    def trimmed(
        self, groups: list[list[_Spot]], rows: dict[_Spot, list[tuple[Ranges, int]]]
    ) -> CharNfa | None:
        before: dict[_Spot, list[_Spot]] = {}
        for spot, row in rows.items():
            for target in {target for _, number in row for target in groups[number]}:
                before.setdefault(target, []).append(spot)
        alive = set(reached(filter(self.ends, rows), lambda spot: before.get(spot, ())))
        number = {spot: index for index, spot in enumerate(spot for spot in rows if spot in alive)}
        if not number:
            return None
        members = [tuple(number[spot] for spot in group if spot in alive) for group in groups]
        used: dict[tuple[int, ...], int] = {members[0]: 0}
        edges = []
        for spot in number:
            parts = [
                (low, high, used.setdefault(members[target], len(used)))
                for these, target in rows[spot]
                if members[target]
                for low, high in these
            ]
            edges.append(tuple(sorted(parts)))
        accepting = frozenset(number[spot] for spot in number if self.ends(spot))
        return CharNfa(tuple(edges), tuple(used), accepting)
