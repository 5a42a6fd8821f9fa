"""Patterns of Python's `re` as automata of the texts that its matcher can give.

A backtracking matcher prefers the first way in the order of the pattern, so a pattern often matches less than
its formal language: `/a|ab/` never gives `ab`, and `/".*?"/` never a text with a quote inside. The texts that
can be a match are again regular: simulate the threads of the automaton in order of preference, and drop all
that come after a thread that has matched (Pike's machine; Cox, "Regular Expression Matching: the Virtual
Machine Approach", 2009). The matches at a place are then the prefixes of the text that this automaton
accepts, and the matcher's own choice is the longest of them.

Patterns are parsed by Python's own parser, so that nothing is understood differently. Lookbehind is followed
inside the match; lookahead that reaches past its end leaves a set of characters that may not follow (where
only a character further on would tell, the first one is barred). What depends on text before the match is
refused, and so is what is not regular.
"""

from __future__ import annotations

import re
import re._constants as sre
import re._parser as sre_parser
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from sglc.automata import charset
from sglc.automata.charset import ALL, Ranges, atoms, contains, invert, meet
from sglc.automata.minimal import minimal_dfa
from sglc.automata.term import CharDfa

MAX_STATES = 20_000
"""States of one automaton; the unrolled pattern may have as many."""
_WORK_PER_STATE = 200

Automaton = tuple[tuple[CharDfa, Ranges], ...]
"""Disjoint sets of texts, each with the characters that may not follow its texts."""


class PatternError(ValueError):
    """A pattern that is malformed (`position` in it) or not available."""

    def __init__(self, reason: str, position: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position


@dataclass(slots=True)
class _Look:
    """A lookahead: automaton of its texts, as rows of block to state, with the accepting states.

    `at_end` are the states that are a text of it only if nothing follows at all.
    """

    rows: list[dict[int, int]]
    accepting: set[int]
    at_end: set[int]
    ahead: bool
    negative: bool
    width: int


Pending = frozenset[tuple[int, int, bool]]
"""Lookaheads still to be decided: (number, state, whether its text must follow)."""
Threads = tuple[tuple[int, Pending], ...]
"""(state, lookaheads), in order of preference."""


@lru_cache(maxsize=1024)
def compile_pattern(regex: str) -> Automaton:
    """The matches of a pattern (flags are written inside, as `(?i:…)`). Raises PatternError."""
    parsed = parse_pattern(regex)
    try:
        return _Builder().build(parsed, parsed.state.flags).matches()
    except RecursionError:
        raise PatternError("the pattern is nested too deeply") from None


@lru_cache(maxsize=1024)
def compile_found(regex: str) -> tuple[CharDfa, CharDfa]:
    """(texts that begin with a match whatever follows, texts that do if nothing follows).

    The first are the shortest; a pattern that looks ahead may tell only after its match. Raises PatternError.
    """
    parsed = parse_pattern(regex)
    return _Builder().build(parsed, parsed.state.flags).found()


def parse_pattern(regex: str) -> Any:
    try:
        return sre_parser.parse(regex)
    except re.error as fault:
        raise PatternError(fault.msg, fault.pos) from None
    except (RecursionError, OverflowError):
        raise PatternError("the pattern is too large") from None


def pattern_width(regex: str) -> tuple[int, int]:
    """Fewest and most characters of a match, as Lark computes them to order its terminals."""
    low, high = parse_pattern(regex).getwidth()
    return int(low), int(high)


@cache
def _category(name: str, ascii_only: bool) -> Ranges:
    if ascii_only:
        return {"DIGIT": charset.DIGITS, "WORD": charset.WORD, "SPACE": charset.SPACE}[name]
    if name == "DIGIT":
        return charset.general_category("Nd") or ()
    if name == "SPACE":
        return charset.ranges((point, point) for point in range(0x3001) if chr(point).isspace())
    letters = charset.general_category("L") or ()
    numbers = charset.general_category("N") or ()
    return charset.ranges([*letters, *numbers, (0x5F, 0x5F)])


class _Builder:
    """The automaton with ordered silent edges: states are characters, splits, conditions and the match."""

    def __init__(self, *, looked_at: bool = False) -> None:
        self.looked_at = looked_at
        self.behind_words: list[tuple[int, Ranges]] = []
        """States of what is looked at that must be reached by a letter only, and the letters."""
        self.moves: list[tuple[Ranges, int] | None] = []
        self.silent: list[list[int]] = []
        self.conditions: dict[int, tuple[int, int]] = {}
        """State to (number of a look, state after)."""
        self.sources: list[tuple[Any, int, bool, bool, int]] = []
        """Looks: (pattern, flags, ahead, negative, width); the pattern may be a set for a word boundary."""
        self.at_end: set[int] = set()
        """States of what is looked at that stand for the end of the text."""

    def state(self) -> int:
        if len(self.moves) >= MAX_STATES:
            raise PatternError(f"the pattern unrolls to more than {MAX_STATES} states")
        self.moves.append(None)
        self.silent.append([])
        return len(self.moves) - 1

    def build(self, parsed: Any, flags: int) -> _Simulation:
        end = self.state()
        start = self.add(parsed, flags, end)
        sets = [move[0] for move in self.moves if move is not None and move[0]]
        looks: list[_Look] = []
        subs = [_plain(source, flags) for source, flags, *_ in self.sources]
        for sub in subs:
            sets += [move[0] for move in sub[0].moves if move is not None and move[0]]
        if self.sources:
            sets.append(ALL)
        blocks, members = atoms(list(dict.fromkeys(sets)))
        number = {these: index for index, these in enumerate(dict.fromkeys(sets))}
        blocks_of = {these: tuple(members[number[these]]) for these in number}
        blocks_of[()] = ()
        for sub, (_, _, ahead, negative, width) in zip(subs, self.sources, strict=True):
            rows, accepting, at_end = sub[0].rows(sub[1], sub[2], blocks_of, anywhere=not ahead)
            looks.append(_Look(rows, accepting, at_end, ahead, negative, width))
        return _Simulation(self, start, end, looks, blocks, blocks_of)

    # Building, from the end to the start: `add` gives the state before a part that goes on at `after`.

    def add(self, parsed: Iterable[Any], flags: int, after: int) -> int:
        for op, argument in reversed(list(parsed)):
            after = self.add_one(op, argument, flags, after)
        return after

    def chars(self, these: Ranges, after: int) -> int:
        state = self.state()
        self.moves[state] = (these, after)
        return state

    def split(self, targets: Sequence[int]) -> int:
        state = self.state()
        self.silent[state] = list(targets)
        return state

    def add_one(self, op: Any, argument: Any, flags: int, after: int) -> int:
        if op is sre.LITERAL:
            return self.chars(self.fold(((argument, argument),), flags), after)
        if op is sre.NOT_LITERAL:
            return self.chars(invert(self.fold(((argument, argument),), flags)), after)
        if op is sre.ANY:
            return self.chars(ALL if flags & re.DOTALL else invert(((0x0A, 0x0A),)), after)
        if op is sre.IN:
            return self.chars(self.char_set(argument, flags), after)
        if op is sre.BRANCH:
            return self.split([self.add(arm, flags, after) for arm in argument[1]])
        if op is sre.SUBPATTERN:
            _, more, less, inner = argument
            return self.add(inner, flags & ~less | more, after)
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            return self.add_repeat(argument, flags, after, greedy=op is sre.MAX_REPEAT)
        if op in (sre.ASSERT, sre.ASSERT_NOT):
            direction, inner = argument
            low, high = inner.getwidth()
            if direction < 0 and low != high:
                raise PatternError("lookbehind needs a fixed width")
            return self.condition(inner, flags, direction > 0, op is sre.ASSERT_NOT, int(high), after)
        if op is sre.AT:
            return self.add_anchor(argument, flags, after)
        if op in (sre.GROUPREF, sre.GROUPREF_EXISTS):
            raise PatternError("a backreference is not regular")
        if op is getattr(sre, "POSSESSIVE_REPEAT", None) or op is getattr(sre, "ATOMIC_GROUP", None):
            raise PatternError("possessive quantifiers and atomic groups are not supported")
        raise PatternError(f"{str(op).lower()} is not supported")

    def condition(self, inner: Any, flags: int, ahead: bool, negative: bool, width: int, after: int) -> int:
        state = self.state()
        self.sources.append((inner, flags, ahead, negative, width))
        self.conditions[state] = (len(self.sources) - 1, after)
        return state

    def add_anchor(self, kind: Any, flags: int, after: int) -> int:
        if kind is sre.AT_END_STRING or (kind is sre.AT_END and flags & re.MULTILINE):
            these = ALL if kind is sre.AT_END_STRING else invert(((0x0A, 0x0A),))
            return self.condition(these, flags, True, True, 1, after)
        if kind in (sre.AT_BOUNDARY, sre.AT_NON_BOUNDARY):
            word = _category("WORD", bool(flags & re.ASCII))
            inside = kind is sre.AT_BOUNDARY
            if self.looked_at and inside:
                # Known to stand behind a letter: the check is made when the whole is there.
                state = self.condition(word, flags, True, True, 1, after)
                self.behind_words.append((state, word))
                return state
            arms = []
            for left in (True, False):
                right_negative = left if inside else not left
                right = self.condition(word, flags, True, right_negative, 1, after)
                arms.append(self.condition(word, flags, False, not left, 1, right))
            return self.split(arms)
        if kind is sre.AT_END:
            raise PatternError("$ looks past a line end", None)
        raise PatternError("the beginning of the text or of a line cannot be asked for in a terminal")

    def add_repeat(self, argument: Any, flags: int, after: int, *, greedy: bool) -> int:
        low, high, inner = argument
        if high is sre.MAXREPEAT:
            hub = self.state()
            body = self.add(inner, flags, hub)
            self.silent[hub] = [body, after] if greedy else [after, body]
            first = hub
        else:
            first = after
            for _ in range(int(high) - int(low)):
                body = self.add(inner, flags, first)
                first = self.split([body, after] if greedy else [after, body])
        for _ in range(int(low)):
            first = self.add(inner, flags, first)
        return first

    def fold(self, these: Ranges, flags: int) -> Ranges:
        these = charset.ranges(these)
        if not flags & re.IGNORECASE:
            return these
        folded = charset.ignoring_case(these)
        return meet(folded, ((0, 0x7F),)) if flags & re.ASCII else folded

    def char_set(self, items: Any, flags: int) -> Ranges:
        parts: list[tuple[int, int]] = []
        categories: list[tuple[int, int]] = []
        negated = False
        for op, argument in items:
            if op is sre.NEGATE:
                negated = True
            elif op is sre.LITERAL:
                parts.append((argument, argument))
            elif op is sre.RANGE:
                parts.append(argument)
            elif op is sre.CATEGORY:
                name = str(argument).removeprefix("CATEGORY_")
                these = _category(name.removeprefix("NOT_"), bool(flags & re.ASCII))
                categories += invert(these) if name.startswith("NOT_") else these
            else:
                raise PatternError(f"{str(op).lower()} is not supported in a class")
        found = charset.ranges([*self.fold(tuple(parts), flags), *categories])
        return invert(found) if negated else found

    # Plain automata, for what is looked at

    def only_behind(self, state: int, start: int, these: Ranges) -> bool:
        """Whether a state is reached by characters of a set only."""
        before = {state}
        stack = [state]
        while stack:
            here = stack.pop()
            for source, targets in enumerate(self.silent):
                if here in targets and source not in before:
                    before.add(source)
                    stack.append(source)
        return start not in before and all(
            meet(move[0], these) == move[0] for move in self.moves if move is not None and move[1] in before
        )

    def only_ends(self, state: int, end: int) -> bool:
        """Whether nothing is read from a state to the end."""
        while state != end:
            if self.moves[state] is not None or len(self.silent[state]) != 1:
                return False
            state = self.silent[state][0]
        return True

    def rows(
        self, start: int, end: int, blocks_of: dict[Ranges, tuple[int, ...]], *, anywhere: bool
    ) -> tuple[list[dict[int, int]], set[int], set[int]]:
        """Rows of all texts (or of all that end in one); accepting states; those that accept at the end."""

        def close(states: Iterable[int]) -> frozenset[int]:
            found = set(states)
            stack = list(found)
            while stack:
                for target in self.silent[stack.pop()]:
                    if target not in found:
                        found.add(target)
                        stack.append(target)
            return frozenset(found)

        first = close([start])
        number = {first: 0}
        order = [first]
        rows: list[dict[int, int]] = []
        for current in order:
            gathered: dict[int, set[int]] = {}
            if anywhere:
                gathered = {block: {start} for block in blocks_of[ALL]}
            for state in current:
                move = self.moves[state]
                if move is not None:
                    for block in blocks_of[move[0]]:
                        gathered.setdefault(block, set()).add(move[1])
            row: dict[int, int] = {}
            for block, targets in gathered.items():
                closed = close(targets)
                if closed not in number:
                    if len(order) > MAX_STATES:
                        raise PatternError("what the pattern looks at is too large")
                    number[closed] = len(order)
                    order.append(closed)
                row[block] = number[closed]
            rows.append(row)
        accepting = {index for index, states in enumerate(order) if end in states}
        return rows, accepting, {index for index, states in enumerate(order) if states & self.at_end}


def _plain(source: Any, flags: int) -> tuple[_Builder, int, int]:
    """The automaton of a look: (builder, start, end)."""
    inner = _Builder(looked_at=True)
    end = inner.state()
    if isinstance(source, tuple):
        start = inner.chars(source, end)
    else:
        start = inner.add(source, flags, end)
    for state, word in inner.behind_words:
        if not inner.only_behind(state, start, word):
            raise PatternError("\\b is supported inside lookahead only behind a letter")
    for state, (index, after) in inner.conditions.items():
        # A last look at one more character is a character more that is looked at, or the end.
        these = _one_character(*inner.sources[index])
        if these is None or not inner.only_ends(after, end):
            raise PatternError("lookaround inside lookaround is not supported")
        negative = inner.sources[index][3]
        inner.moves[state] = (invert(these) if negative else these, end)
        if negative:
            inner.at_end.add(state)
    inner.conditions.clear()
    return inner, start, end


def _one_character(source: Any, flags: int, ahead: bool, negative: bool, width: int) -> Ranges | None:
    """The set of a lookahead at a single character."""
    if not ahead or width != 1:
        return None
    if isinstance(source, tuple):
        return source
    inner = _Builder()
    end = inner.state()
    move = inner.moves[inner.add(source, flags, end)]
    return move[0] if move is not None and move[1] == end and len(inner.moves) == 2 else None


class _Simulation:
    """Subsets with an order: the states are the lists of threads that are alive together."""

    def __init__(
        self, builder: _Builder, start: int, end: int, looks: list[_Look], blocks: list[Ranges],
        blocks_of: dict[Ranges, tuple[int, ...]],
    ) -> None:  # fmt: skip
        self.builder = builder
        self.start = start
        self.end = end
        self.looks = looks
        self.blocks = blocks
        self.blocks_of = blocks_of
        self.behind = [index for index, look in enumerate(looks) if not look.ahead]
        self.reach = max((looks[index].width for index in self.behind), default=0)
        self.budget = MAX_STATES * _WORK_PER_STATE

    def explore(self, watching: bool) -> tuple[list[Threads], list[dict[int, int]]]:
        """All lists of threads and their rows. With `watching`, matches that hang on a lookahead wait for it,
        and nothing comes after one that hangs on none."""
        # A place: threads, the states of what is looked behind for, characters read (as far as they matter).
        first = self.close([(self.start, frozenset())], (0,) * len(self.behind), 0)
        place = (first, (0,) * len(self.behind), 0)
        number = {place: 0}
        order = [place]
        rows: list[dict[int, int]] = []
        for threads, trackers, count in order:
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
                if not closed:
                    continue
                key = (closed, after, size)
                if key not in number:
                    if len(order) > MAX_STATES:
                        raise PatternError(f"the pattern needs more than {MAX_STATES} states")
                    number[key] = len(order)
                    order.append(key)
                row[block] = number[key]
        return [threads for threads, _, _ in order], rows

    def matches(self) -> Automaton:
        """The texts that can be a match."""
        places, rows = self.explore(False)
        watched = [self.watched(threads) for threads in places]
        ends: dict[Ranges, set[int]] = {}
        for state, ways in enumerate(watched):
            if ways:
                # A longer match is made first, and a shorter one then as if nothing followed.
                longer = {block for block, target in rows[state].items() if set() in watched[target]}
                barred = set.intersection(*ways) - longer
                these = charset.ranges(part for block in barred for part in self.blocks[block])
                ends.setdefault(these, set()).add(state)
        parts = [(minimal_dfa(rows, states, self.blocks), barred) for barred, states in ends.items()]
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
            for block in self.blocks_of[move[0]]:
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


def first_points(automaton: Automaton) -> Ranges:
    """The characters that a match may begin with."""
    return charset.ranges((low, high) for dfa, _ in automaton if dfa.edges for low, high, _ in dfa.edges[0])


__all__ = [
    "ALL", "Automaton", "PatternError", "accepts", "compile_pattern", "contains", "first_points",
    "parse_pattern", "pattern_width",
]  # fmt: skip
