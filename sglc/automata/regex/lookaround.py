"""Automata of patterns with lookahead and lookbehind.

A *thread* is a state of the automaton with a set of *promises* about the text still to come; a state of the
result is a set of threads. Passing a lookahead makes a promise: a state of the (minimal) automaton of the
texts that may follow, to be kept or, if negated, to be broken. Promises move along with every character and
must be good at the end. A lookbehind is a search that has run since the start of the text beside the pattern
itself; it holds here if one of its threads is at its end. Its threads may have promises too: then what holds
is a formula over promises, a disjunction of sets of them, which the passing thread takes over.

What a lookahead may match can depend on what came before it (`(?=\\b…)`, `(?=(?<=a)…)`); so its automaton is
made for the neighbour and the searches as they stand where it is passed.
"""

from __future__ import annotations

from collections.abc import Iterable

from sglc.automata.charset import ALL
from sglc.automata.dfa.minimize import minimal_dfa
from sglc.automata.dfa.numbering import Numbering
from sglc.automata.dfa.operations import step
from sglc.automata.regex.nfa import NO_CHAR, Blocks, LookEdge, Nfa
from sglc.automata.regex.tree import RegexError
from sglc.automata.term import CharDfa

Promise = tuple[bool, int, int]
"""To be kept or broken; which automaton; its state."""
Promises = frozenset[Promise]
Thread = tuple[int, Promises]
Formula = frozenset[Promises]
Place = tuple[tuple[frozenset[Thread], ...], int]
"""The threads of the searches and, last, of the pattern; the kind of the character before."""

_NONE: Promises = frozenset()
_TRUE: Formula = frozenset({_NONE})
_MAX_PROMISES = 2_000
"""Sets of promises in one formula."""


def determinise_looks(nfa: Nfa, limit: int) -> CharDfa:
    """The automaton of a pattern with lookahead or lookbehind. Raises RegexError beyond `limit` states."""
    return _Looks(nfa, limit).automaton(len(_guards(nfa)), None)


def _guards(nfa: Nfa) -> list[LookEdge]:
    return nfa.bodies()


class _Looks:
    def __init__(self, nfa: Nfa, limit: int) -> None:
        self.limit = limit
        self.budget = nfa.budget
        guards = _guards(nfa)
        # Parts by number: the bodies of guards, inner ones first, and the pattern itself.
        self.nfas = [guard.body for guard in guards] + [nfa]
        self.part = {id(body): index for index, body in enumerate(self.nfas)}
        self.cut = Blocks(self.nfas)
        self.points = [block[0][0] for block in self.cut.blocks]
        behind = {index for index, guard in enumerate(guards) if guard.behind}
        self.searches = [
            sorted({self.part[id(guard.body)] for guard in body.bodies()} & behind) for body in self.nfas
        ]
        """For each part, the lookbehinds inside it, inner ones first."""
        self.dfas: list[CharDfa] = []
        self.dfa_numbers: dict[CharDfa, int] = {}
        self.universal: list[int] = []
        self.known: dict[tuple[object, ...], CharDfa] = {}
        self.steps: dict[tuple[Promises, int], Promises | None] = {}

    def automaton(self, part: int, place: Place | None) -> CharDfa:
        """The texts that a part matches from a place on; from the start of the text if there is none."""
        key = (part, place)
        if key not in self.known:
            self.known[key] = self.determinise(part, place)
        return self.known[key]

    def determinise(self, part: int, place: Place | None) -> CharDfa:
        parts = [*self.searches[part], part]
        if place is None:
            place = (tuple(self.arrive(each, {(self.nfas[each].start, _NONE)}) for each in parts), NO_CHAR)
        else:
            begin = self.arrive(part, {(self.nfas[part].start, _NONE)})
            place = ((*place[0], begin), place[1])
        beyond = RegexError(0, f"the pattern needs more than {self.limit} states")
        number = Numbering(place, limit=self.limit, beyond=beyond)
        rows: list[dict[int, int]] = []
        accepting: set[int] = set()
        kinds = self.cut.kinds
        # Behind the end of an open part every text is good, whatever the searches find.
        done = (self.nfas[part].end, _NONE)
        everything = ((*(frozenset[Thread]() for _ in parts[1:]), frozenset({done})), 0)
        for here in number.order:
            ends = self.closures(parts, here, NO_CHAR)[-1]
            if any(state == self.nfas[part].end and self.good(promises) for state, promises in ends):
                accepting.add(len(rows))
            row: dict[int, int] = {}
            rows.append(row)
            for kind in set(kinds):
                closed = self.closures(parts, here, kind)
                arrived = [self.moved(each, threads) for each, threads in zip(parts, closed, strict=True)]
                if not arrived[-1]:
                    continue
                for block in arrived[-1]:
                    if kinds[block] != kind:
                        continue
                    target = (self.arrive_all(parts, arrived, block), kind)
                    if self.nfas[part].open_right and done in target[0][-1]:
                        target = everything
                    if not target[0][-1]:
                        continue
                    row[block] = number[target]
        return minimal_dfa(rows, accepting, self.cut.blocks)

    def arrive_all(
        self, parts: list[int], arrived: list[dict[int, list[Thread]]], block: int
    ) -> tuple[frozenset[Thread], ...]:
        return tuple(
            self.arrive(each, gone.get(block, ())) for each, gone in zip(parts, arrived, strict=True)
        )

    # --- threads --------------------------------------------------------------------------------------

    def arrive(self, part: int, threads: Iterable[Thread]) -> frozenset[Thread]:
        """The threads after silent edges, without those that do not matter."""
        nfa = self.nfas[part]
        found: dict[int, set[Promises]] = {}
        stack = list(threads)
        while stack:
            state, promises = stack.pop()
            if _join(found.setdefault(state, set()), promises):
                self.budget.spend(1)
                stack += [(target, promises) for target in nfa.silents[state]]
        return frozenset(
            (state, promises)
            for state, sets in found.items()
            if nfa.moves[state] or state in nfa.edges or state in nfa.looks or state == nfa.end
            for promises in sets
        )

    def closures(self, parts: list[int], place: Place, behind: int) -> list[set[Thread]]:
        """The threads of each part after all guards, given what the next character is."""
        threads, before = place
        holds: dict[int, Formula] = {}
        out = []
        for each, begin in zip(parts, threads, strict=True):
            closed = self.closure(each, begin, before, behind, holds, place, parts)
            end = self.nfas[each].end
            holds[each] = frozenset(promises for state, promises in closed if state == end)
            out.append(closed)
        return out

    def closure(
        self,
        part: int,
        begin: frozenset[Thread],
        before: int,
        behind: int,
        holds: dict[int, Formula],
        place: Place,
        parts: list[int],
    ) -> set[Thread]:
        nfa = self.nfas[part]
        found: dict[int, set[Promises]] = {}
        stack = list(begin)
        while stack:
            state, promises = stack.pop()
            if not _join(found.setdefault(state, set()), promises):
                continue
            self.budget.spend(1)
            stack += [(target, promises) for target in nfa.silents[state]]
            for edge, target in nfa.edges.get(state, ()):
                if self.cut.holds(edge, before, behind):
                    stack.append((target, promises))
            for guard, target in nfa.looks.get(state, ()):
                for more in self.formula(guard, holds, place, parts):
                    joined = promises | more
                    if not any((not kept, dfa, at) in joined for kept, dfa, at in more):
                        stack.append((target, joined))
        return {(state, promises) for state, sets in found.items() for promises in sets}

    def formula(self, guard: LookEdge, holds: dict[int, Formula], place: Place, parts: list[int]) -> Formula:
        """What must be promised to pass a guard."""
        body = self.part[id(guard.body)]
        if guard.behind:
            return self.negation(holds[body]) if guard.negated else holds[body]
        threads = dict(zip(parts, place[0], strict=True))
        inner = tuple(threads[each] for each in self.searches[body])
        dfa = self.automaton(body, (inner, place[1]))
        if not dfa.edges:
            return _TRUE if guard.negated else frozenset()
        return self.promise(not guard.negated, self.number(dfa), 0)

    def negation(self, formula: Formula) -> Formula:
        out: set[Promises] = {_NONE}
        for promises in formula:
            following: set[Promises] = set()
            for sofar in out:
                for kept, dfa, at in promises:
                    if (kept, dfa, at) not in sofar:
                        _join(following, sofar | {(not kept, dfa, at)})
            self.budget.spend(len(following) + 1)
            if len(following) > _MAX_PROMISES:
                raise RegexError(0, "the pattern is too costly to compile")
            out = following
        return frozenset(out)

    def moved(self, part: int, threads: set[Thread]) -> dict[int, list[Thread]]:
        """The threads after a character, by its block."""
        moves = self.cut.moves[part]
        out: dict[int, list[Thread]] = {}
        for state, promises in threads:
            for blocks, target in moves[state]:
                self.budget.spend(len(blocks))
                for block in blocks:
                    after = self.after(promises, block)
                    if after is not None:
                        out.setdefault(block, []).append((target, after))
        return out

    # --- promises -------------------------------------------------------------------------------------

    def number(self, dfa: CharDfa) -> int:
        if dfa not in self.dfa_numbers:
            self.dfa_numbers[dfa] = len(self.dfas)
            self.dfas.append(dfa)
            # From there on every text is good; a minimal automaton has one such state at most.
            everything = (tuple((low, high, at) for low, high in ALL) for at in range(len(dfa.edges)))
            found = [at for at, row in enumerate(everything) if dfa.edges[at] == row and at in dfa.accepting]
            self.universal.append(found[0] if found else -1)
        return self.dfa_numbers[dfa]

    def promise(self, kept: bool, dfa: int, at: int | None) -> Formula:
        """The promise, or what it has come to: nothing more to promise, or nothing that could be."""
        if at is None:
            return frozenset() if kept else _TRUE
        if at == self.universal[dfa]:
            return _TRUE if kept else frozenset()
        return frozenset({frozenset({(kept, dfa, at)})})

    def after(self, promises: Promises, block: int) -> Promises | None:
        """The promises after a character; None if one of them is broken."""
        if not promises:
            return promises
        key = (promises, block)
        if key not in self.steps:
            self.steps[key] = self._after(promises, block)
        return self.steps[key]

    def _after(self, promises: Promises, block: int) -> Promises | None:
        out: set[Promise] = set()
        for kept, dfa, at in promises:
            formula = self.promise(kept, dfa, step(self.dfas[dfa], at, self.points[block]))
            if not formula:
                return None
            for more in formula:
                out |= more
        if any((not kept, dfa, at) in out for kept, dfa, at in out):
            return None
        return frozenset(out)

    def good(self, promises: Promises) -> bool:
        """Whether the text may end here."""
        return all(kept == (at in self.dfas[dfa].accepting) for kept, dfa, at in promises)


def _join(sets: set[Promises], new: Promises) -> bool:
    """Adds a set of promises unless a weaker one is there; drops those that are stronger."""
    if new in sets:
        return False
    for other in sets:
        if other <= new:
            return False
    if sets:
        sets -= {other for other in sets if new < other}
    sets.add(new)
    return True
