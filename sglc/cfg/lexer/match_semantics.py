"""Automata of the texts that a backtracking matcher (Python's `re`) can match.

A backtracking matcher prefers the first way in the order of the pattern, so a pattern often matches less than
its formal language: `/a|ab/` never gives `ab`, and `/".*?"/` never a text with a quote inside. The texts that
can be a match are again regular: simulate the threads of the automaton in order of preference, and drop all
that come after a thread that has matched (Pike's machine; Cox, "Regular Expression Matching: the Virtual
Machine Approach", 2009). The matches at a place are then the prefixes of the text that this automaton
accepts, and the matcher's own choice is the longest of them.

Patterns are parsed by Python's own parser, so that nothing is understood differently. Lookbehind is followed
inside the match; lookahead that reaches past its end leaves a set of characters that may not follow (where
only a character further on would tell, the first one is forbidden). What depends on text before the match is
refused, and so is what is not regular.
"""

from __future__ import annotations

import re
import re._parser as sre_parser
import warnings
from typing import Any

from sglc.automata import charset, work
from sglc.automata.caches import remembered
from sglc.automata.charset import ALL, Ranges, blocks_of, contains
from sglc.automata.dfa.minimize import minimal_dfa
from sglc.automata.dfa.nfa_union import MAX_STATES
from sglc.automata.dfa.numbering import Numbering
from sglc.automata.term import CharDfa
from sglc.cfg.lexer.pattern_nfa import (
    WORK_PER_STATE,
    Builder,
    Look,
    PatternError,
    plain_builder,
)

Automaton = tuple[tuple[CharDfa, Ranges], ...]
"""Disjoint sets of texts, each with the characters that may not follow its texts."""


Pending = frozenset[tuple[int, int, bool]]
"""Lookaheads still to be decided: (number, state, whether its text must follow)."""
Threads = tuple[tuple[int, Pending], ...]
"""(state, lookaheads), in order of preference."""


def compile_pattern(regex: str) -> Automaton:
    """The matches of a pattern (flags are written inside, as `(?i:…)`). Raises PatternError."""
    found = _compiled(regex)
    if isinstance(found, PatternError):
        raise PatternError(found.reason, found.position)
    return found


@remembered
def _compiled(regex: str) -> Automaton | PatternError:
    """The same; what is refused is refused at once the next time, for it may have been costly."""
    try:
        parsed = parse_pattern(regex)
        return _simulated(parsed, parsed.state.flags).matches()
    except PatternError as fault:
        return fault.with_traceback(None)
    except RecursionError:
        return PatternError("the pattern is nested too deeply")


@remembered
def compile_found(regex: str) -> tuple[CharDfa, CharDfa]:
    """(texts that begin with a match whatever follows, texts that do if nothing follows).

    The first are the shortest; a pattern that looks ahead may tell only after its match. Raises PatternError.
    """
    parsed = parse_pattern(regex)
    return _simulated(parsed, parsed.state.flags).found()


def parse_pattern(regex: str) -> Any:
    """The tree that Python's `re` makes of a pattern. Raises PatternError."""
    try:
        with warnings.catch_warnings():
            # Python warns of `[[` and `--` in sets, which it may read otherwise one day.
            warnings.simplefilter("ignore", FutureWarning)
            return sre_parser.parse(regex)
    except re.error as fault:
        raise PatternError(fault.msg, fault.pos) from None
    except (RecursionError, OverflowError):
        raise PatternError("the pattern is too large") from None


def pattern_width(regex: str) -> tuple[int, int]:
    """Fewest and most characters of a match, as Lark computes them to order its terminals."""
    low, high = parse_pattern(regex).getwidth()
    return int(low), int(high)


def _simulated(parsed: Any, flags: int) -> _Simulation:
    builder = Builder()
    end = builder.state()
    start = builder.add(parsed, flags, end)
    sets = [move[0] for move in builder.moves if move is not None and move[0]]
    looks: list[Look] = []
    subs = [plain_builder(source, flags) for source, flags, *_ in builder.sources]
    for sub in subs:
        sets += [move[0] for move in sub[0].moves if move is not None and move[0]]
    if builder.sources:
        sets.append(ALL)
    blocks, members = blocks_of([*sets, ()])
    for sub, (_, _, ahead, negative, width) in zip(subs, builder.sources, strict=True):
        rows, accepting, at_end = sub[0].rows(sub[1], sub[2], members, anywhere=not ahead)
        looks.append(Look(rows, accepting, at_end, ahead, negative, width))
    return _Simulation(builder, start, end, looks, blocks, members)


class _Simulation:
    """Subsets with an order: the states are the lists of threads that are alive together."""

    def __init__(
        self,
        builder: Builder,
        start: int,
        end: int,
        looks: list[Look],
        blocks: list[Ranges],
        members: dict[Ranges, list[int]],
    ) -> None:
        self.builder = builder
        self.start = start
        self.end = end
        self.looks = looks
        self.blocks = blocks
        self.members = members
        self.behind = [index for index, look in enumerate(looks) if not look.ahead]
        self.reach = max((looks[index].width for index in self.behind), default=0)
        self.budget = MAX_STATES * WORK_PER_STATE

    def explore(self, watching: bool) -> tuple[list[Threads], list[dict[int, int]]]:
        """All lists of threads and their rows. With `watching`, matches that hang on a lookahead wait for it,
        and nothing comes after one that hangs on none."""
        # A place: threads, the states of what is looked behind for, characters read (as far as they matter).
        first = self.close([(self.start, frozenset())], (0,) * len(self.behind), 0)
        place = (first, (0,) * len(self.behind), 0)
        beyond = PatternError(f"the pattern needs more than {MAX_STATES} states")
        number = Numbering(place, limit=MAX_STATES, beyond=beyond)
        rows: list[dict[int, int]] = []
        for threads, trackers, count in number.order:
            row: dict[int, int] = {}
            rows.append(row)
            if watching and (self.end, frozenset()) in threads:
                continue
            for block, targets in self.targets(threads, watching).items():
                after = tuple(
                    self.looks[look].rows[tracker].get(block, 0)
                    for look, tracker in zip(self.behind, trackers, strict=True)
                )
                size = min(count + 1, self.reach)
                closed = self.close(targets, after, size)
                if closed:
                    row[block] = number[closed, after, size]
        return [threads for threads, _, _ in number.order], rows

    def matches(self) -> Automaton:
        """The texts that can be a match."""
        places, rows = self.explore(False)
        watched = [self.watched(threads) for threads in places]
        ends: dict[Ranges, set[int]] = {}
        for state, ways in enumerate(watched):
            if ways:
                # A longer match is made first, and a shorter one then as if nothing followed.
                longer = {block for block, target in rows[state].items() if set() in watched[target]}
                forbidden = set.intersection(*ways) - longer
                these = charset.ranges(part for block in forbidden for part in self.blocks[block])
                ends.setdefault(these, set()).add(state)
        parts = [(minimal_dfa(rows, states, self.blocks), forbidden) for forbidden, states in ends.items()]
        return tuple(part for part in parts if part[0].edges)

    def found(self) -> tuple[CharDfa, CharDfa]:
        """See `compile_found`."""
        places, rows = self.explore(True)
        certain: set[int] = set()
        at_end: set[int] = set()
        for state, threads in enumerate(places):
            for where, pending in threads:
                if where != self.end:
                    continue
                if not pending:
                    certain.add(state)
                elif not any(wanted or at in self.looks[index].at_end for index, at, wanted in pending):
                    at_end.add(state)
        return minimal_dfa(rows, certain, self.blocks), minimal_dfa(rows, at_end, self.blocks)

    def targets(self, threads: Threads, watching: bool) -> dict[int, list[tuple[int, Pending]]]:
        """By block: the threads after one of its characters, in order."""
        found: dict[int, list[tuple[int, Pending]]] = {}
        for state, pending in threads:
            move = self.builder.moves[state]
            if move is None:
                if not watching or state != self.end:
                    continue
                move = (ALL, self.end)
            work.spend(len(self.members[move[0]]))
            for block in self.members[move[0]]:
                self.budget -= 1
                if pending:
                    kept = self.step_pending(pending, block)
                    if kept is None:
                        continue
                    found.setdefault(block, []).append((move[1], kept))
                else:
                    found.setdefault(block, []).append((move[1], pending))
        if self.budget < 0:
            raise PatternError("the pattern is too costly to compile")
        return found

    def step_pending(self, pending: Pending, block: int) -> Pending | None:
        """The lookaheads after a character, None if one has failed."""
        kept = set()
        for index, state, wanted in pending:
            look = self.looks[index]
            target = look.rows[state].get(block)
            if target is not None and target not in look.accepting:
                kept.add((index, target, wanted))
            elif (target is not None) != wanted:
                return None
        return frozenset(kept)

    def close(self, threads: list[tuple[int, Pending]], trackers: tuple[int, ...], count: int) -> Threads:
        """Follow silent edges in order; what comes after a match is never preferred to it.

        After a match that hangs on a lookahead come the threads for which that lookahead has failed.
        """
        builder = self.builder
        seen: set[tuple[int, Pending]] = set()
        found: list[tuple[int, Pending]] = []
        failed: Pending = frozenset()
        stack = threads[::-1]
        while stack:
            state, pending = stack.pop()
            pending |= failed
            if any((index, at, not wanted) in pending for index, at, wanted in pending):
                continue
            thread = (state, pending)
            if thread in seen:
                continue
            seen.add(thread)
            self.budget -= 1
            work.spend(2)
            if state == self.end:
                found.append(thread)
                rest = pending - failed
                if not rest:
                    break
                if len(rest) > 1:
                    raise PatternError("the pattern looks ahead in several ways at once")
                ((index, at, wanted),) = rest
                failed |= {(index, at, not wanted)}
            elif builder.moves[state] is not None:
                found.append(thread)
            elif state in builder.conditions:
                index, after = builder.conditions[state]
                following = self.decide(index, pending, trackers, count)
                if following is not None:
                    stack.append((after, following))
            else:
                stack += [(target, pending) for target in reversed(builder.silent[state])]
        return tuple(found)

    def decide(self, index: int, pending: Pending, trackers: tuple[int, ...], count: int) -> Pending | None:
        """The lookaheads of a thread that passes a condition, None if it cannot."""
        look = self.looks[index]
        if look.ahead:
            if 0 in look.accepting:
                return None if look.negative else pending
            return pending | {(index, 0, not look.negative)}
        if count < look.width:
            raise PatternError("the pattern looks at the text before it")
        holds = trackers[self.behind.index(index)] in look.accepting
        return pending if holds != look.negative else None

    def watched(self, threads: Threads) -> list[set[int]]:
        """For each way in which the match can end here: the blocks that a lookahead does not let follow, or
        that leave it open."""
        found: list[set[int]] = []
        for state, pending in threads:
            if state != self.end:
                continue
            blocks: set[int] = set()
            for index, at, wanted in pending:
                look = self.looks[index]
                if wanted:
                    raise PatternError("the pattern asks for what follows it")
                if at in look.at_end:
                    # With nothing behind it, and so as a match of its own, this is none.
                    break
                blocks |= look.rows[at].keys()
            else:
                found.append(blocks)
        return found


def escaped(text: str) -> str:
    """A text as a pattern."""
    return re.escape(text)


def accepts(automaton: Automaton, text: str) -> bool:
    """Whether a text can be a match, if nothing follows."""
    for dfa, _ in automaton:
        state: int | None = 0
        for char in text:
            point = ord(char)
            state = next((t for low, high, t in dfa.edges[state or 0] if low <= point <= high), None)
            if state is None:
                break
        if state is not None and state in dfa.accepting:
            return True
    return False


__all__ = [
    "ALL",
    "Automaton",
    "PatternError",
    "accepts",
    "compile_pattern",
    "contains",
    "parse_pattern",
    "pattern_width",
]
