"""Automata of the trees of patterns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sglc.automata.dfa.minimize import minimal_dfa
from sglc.automata.dfa.nfa_union import MAX_STATES, determinised
from sglc.automata.dfa.numbering import Numbering
from sglc.automata.dfa.operations import NONE, TooLarge
from sglc.automata.graphs import reached
from sglc.automata.regex import tree as r
from sglc.automata.regex.lazy_nfa import char_nfa
from sglc.automata.regex.nfa import EAGER, NO_CHAR, Blocks, Budget, Nfa
from sglc.automata.term import CharDfa, CharNfa
from sglc.immutable import value

DEFAULT_LIMIT = MAX_STATES
"""States of the automaton. The unrolled pattern may have ten times as many, the work is bounded likewise."""

_WORK_PER_STATE = 25
"""Edges and members of groups that may be looked at for each state."""


def compile_node(
    node: r.Node, *, open_left: bool = False, open_right: bool = False, limit: int = DEFAULT_LIMIT
) -> CharDfa:
    """`open_left`, `open_right`: any text may come before the match, or follow it."""
    nfa = _Bare.of(node, open_left, open_right).nfa(limit)
    if nfa.looks:
        return _determinise_looks(nfa, limit)
    return _determinise(nfa, limit)


def compile_small(
    node: r.Node, *, open_left: bool, open_right: bool, small: int, limit: int
) -> CharDfa | CharNfa:
    """The same, but not made deterministic if that takes more than `small` states, or as much work.

    Patterns with lookahead or lookbehind always are.
    """
    bare = _Bare.of(node, open_left, open_right)
    nfa = bare.nfa(limit)
    found = None if bare.is_longer(small) else _within(nfa, small, limit)
    return found or char_nfa(nfa) or NONE


def compile_within(
    node: r.Node, *, open_left: bool, open_right: bool, small: int, limit: int
) -> CharDfa | None:
    """The same, None where it would not be made deterministic."""
    bare = _Bare.of(node, open_left, open_right)
    return None if bare.is_longer(small) else _within(bare.nfa(limit), small, limit)


@value
class _Bare:
    """A tree without anchors at its ends, and whether any text may come there."""

    node: r.Node
    open_left: bool
    open_right: bool

    @staticmethod
    def of(node: r.Node, open_left: bool, open_right: bool) -> _Bare:
        node, open_left, open_right = r.without_anchors(node, open_left, open_right)
        if open_left:
            node = r.cut(node, left=True)
        if open_right:
            node = r.cut(node, left=False)
        return _Bare(node, open_left, open_right)

    def nfa(self, limit: int) -> Nfa:
        budget = Budget(10 * limit, limit * _WORK_PER_STATE)
        return Nfa(r.factor(self.node), budget, open_left=self.open_left, open_right=self.open_right)

    def is_longer(self, states: int) -> bool:
        """Whether the automaton surely has more states: in that of a finite language no word comes to a state
        twice."""
        if self.open_left or self.open_right or r.has_places(self.node):
            return False
        longest = r.longest_word(self.node)
        return longest is not None and longest >= states


def _within(nfa: Nfa, small: int, limit: int) -> CharDfa | None:
    """The deterministic automaton, None if it takes more than `small` states, or as much work."""
    if nfa.looks:
        return _determinise_looks(nfa, limit)
    whole = nfa.budget.work
    nfa.budget.work = min(whole, small * _WORK_PER_STATE)
    try:
        return _determinise(nfa, small)
    except r.RegexError:
        nfa.budget.work = whole
        return None


def _determinise_looks(nfa: Nfa, limit: int) -> CharDfa:
    from sglc.automata.regex.lookaround import determinise_looks

    return determinise_looks(nfa, limit)


def _determinise(nfa: Nfa, limit: int) -> CharDfa:
    cut_up = Blocks([nfa])
    if not nfa.edges:
        return _determinise_plain(nfa, cut_up, limit)
    moves = cut_up.moves[0]
    kinds = cut_up.kinds
    budget = nfa.budget
    eager: dict[int, list[tuple[r.Edge, int]]] = {}
    waiting: dict[int, list[tuple[r.Edge, int]]] = {}
    for state, edges in nfa.edges.items():
        for edge, target in edges:
            # What depends on the next character waits for it.
            (eager if edge.kind in EAGER else waiting).setdefault(state, []).append((edge, target))

    known_reach: dict[tuple[int, int, int | None], frozenset[int]] = {}
    looked = 0
    """Work that has not been charged yet."""

    def reach(state: int, before: int, behind: int | None) -> frozenset[int]:
        """The states that matter after silent edges and those that are decided, from one state."""
        nonlocal looked
        key = (state, before, behind)
        found = known_reach.get(key)
        if found is None:

            def following(here: int) -> Iterator[int]:
                yield from nfa.silents[here]
                yield from [t for edge, t in eager.get(here, ()) if cut_up.holds(edge, before, 0)]
                if behind is not None and here in waiting:
                    yield from [t for edge, t in waiting[here] if cut_up.holds(edge, before, behind)]

            seen = reached([state], following)
            looked += len(seen)
            found = frozenset(s for s in seen if moves[s] or s == nfa.end or s in waiting)
            known_reach[key] = found
        return found

    def closure(states: Iterable[int], before: int, behind: int | None) -> frozenset[int]:
        nonlocal looked
        parts = [reach(state, before, behind) for state in states]
        looked += sum(map(len, parts))
        return frozenset().union(*parts)

    def arrive(states: set[int], before: int) -> tuple[frozenset[int], int]:
        """The states that matter, and the kind of the character before while it may still be asked for."""
        kernel = closure(states, before, None)
        if nfa.open_right and nfa.end in kernel:
            return everything
        if not waiting:
            return kernel, 0
        return kernel, before if any(s in waiting for s in kernel) else 0

    everything = (frozenset({nfa.end}), 0)
    first = arrive({nfa.start}, NO_CHAR)
    beyond = r.RegexError(0, f"the pattern needs more than {limit} states")
    number = Numbering(first, limit=limit, beyond=beyond)
    rows: list[dict[int, int]] = []
    accepting: set[int] = set()
    for kernel, before in number.order:
        waits = bool(waiting) and any(state in waiting for state in kernel)
        if nfa.end in (closure(kernel, before, NO_CHAR) if waits else kernel):
            accepting.add(len(rows))
        gathered: dict[int, set[int]] = {}
        for kind in set(kinds) if waits else (None,):
            for state in kernel if kind is None else closure(kernel, before, kind):
                for parts, target in moves[state]:
                    looked += len(parts)
                    for block in parts:
                        if kind is not None and kinds[block] != kind:
                            continue
                        if block in gathered:
                            gathered[block].add(target)
                        else:
                            gathered[block] = {target}
        targets_of: dict[int, int] = {}
        rows.append(targets_of)
        same: dict[tuple[frozenset[int], int], int] = {}
        for block, targets in gathered.items():
            key = (frozenset(targets), kinds[block])
            known = same.get(key)
            if known is None:
                arrived = arrive(targets, kinds[block])
                looked += len(arrived[0]) + 1
                known = same[key] = number[arrived]
            targets_of[block] = known
        budget.spend(looked)
        looked = 0
    return minimal_dfa(rows, accepting, cut_up.blocks)


def _determinise_plain(nfa: Nfa, cut_up: Blocks, limit: int) -> CharDfa:
    """The same, without anything that depends on neighbouring characters."""
    try:
        return determinised(
            cut_up.moves[0],
            nfa.silents,
            (nfa.start, nfa.end),
            cut_up.blocks,
            limit,
            nfa.budget.spend,
            open_right=nfa.open_right,
        )
    except TooLarge:
        raise r.RegexError(0, f"the pattern needs more than {limit} states") from None
