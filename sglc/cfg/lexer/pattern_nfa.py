"""Parsed patterns as automata with ordered silent edges, and what they look at as automata of their own."""

from __future__ import annotations

import re
import re._constants as sre
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sglc.automata import charset, work
from sglc.automata.charset import ALL, Ranges, invert, meet
from sglc.automata.dfa.nfa_union import MAX_STATES
from sglc.automata.dfa.numbering import Numbering
from sglc.automata.graphs import reached

WORK_PER_STATE = 200


class PatternError(ValueError):
    """A pattern that is malformed (`position` in it) or not available."""

    def __init__(self, reason: str, position: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position


@dataclass(slots=True)
class Look:
    """A lookahead: automaton of its texts, as rows of block to state, with the accepting states.

    `at_end` are the states that are a text of it only if nothing follows at all.
    """

    rows: list[dict[int, int]]
    accepting: set[int]
    at_end: set[int]
    ahead: bool
    negative: bool
    width: int


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


class Builder:
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
        """The number of a new state. Raises PatternError above MAX_STATES."""
        if len(self.moves) >= MAX_STATES:
            raise PatternError(f"the pattern unrolls to more than {MAX_STATES} states")
        work.spend(2)
        self.moves.append(None)
        self.silent.append([])
        return len(self.moves) - 1

    # Building, from the end to the start: `add` gives the state before a part that goes on at `after`.

    def add(self, parsed: Iterable[Any], flags: int, after: int) -> int:
        """The state before a parsed pattern."""
        for op, argument in reversed(list(parsed)):
            after = self.add_one(op, argument, flags, after)
        return after

    def chars(self, these: Ranges, after: int) -> int:
        """The state before one character of a set."""
        state = self.state()
        self.moves[state] = (these, after)
        return state

    def split(self, targets: Sequence[int]) -> int:
        """A state with silent edges to the targets, the preferred one first."""
        state = self.state()
        self.silent[state] = list(targets)
        return state

    def add_one(self, op: Any, argument: Any, flags: int, after: int) -> int:
        """The state before one part. Raises PatternError for a part that is not supported."""
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

    def condition(
        self, inner: object, flags: int, ahead: bool, negative: bool, width: int, after: int
    ) -> int:
        """The state before a look ahead or behind of `width` characters."""
        state = self.state()
        self.sources.append((inner, flags, ahead, negative, width))
        self.conditions[state] = (len(self.sources) - 1, after)
        return state

    def add_anchor(self, kind: object, flags: int, after: int) -> int:
        """The state before a boundary. Raises PatternError for one that is not supported."""
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
        """The state before a repetition; counts are unrolled."""
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
        """The characters with their other cases, if the flags ignore case."""
        these = charset.ranges(these)
        if not flags & re.IGNORECASE:
            return these
        folded = charset.ignoring_case(these)
        return meet(folded, ((0, 0x7F),)) if flags & re.ASCII else folded

    def char_set(self, items: Any, flags: int) -> Ranges:
        """The characters of a class. Raises PatternError for an item that is not supported."""
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
        self, start: int, end: int, members: dict[Ranges, list[int]], *, anywhere: bool
    ) -> tuple[list[dict[int, int]], set[int], set[int]]:
        """Rows of all texts (or of all that end in one); accepting states; those that accept at the end."""

        def close(states: Iterable[int]) -> frozenset[int]:
            return frozenset(reached(states, self.silent.__getitem__))

        first = close([start])
        beyond = PatternError("what the pattern looks at is too large")
        number = Numbering(first, limit=MAX_STATES, beyond=beyond)
        rows: list[dict[int, int]] = []
        for current in number.order:
            gathered: dict[int, set[int]] = {}
            if anywhere:
                gathered = {block: {start} for block in members[ALL]}
            for state in current:
                move = self.moves[state]
                if move is not None:
                    for block in members[move[0]]:
                        gathered.setdefault(block, set()).add(move[1])
            row: dict[int, int] = {}
            for block, targets in gathered.items():
                closed = close(targets)
                work.spend(2 + 2 * len(closed))
                row[block] = number[closed]
            rows.append(row)
        accepting = {index for states, index in number.items() if end in states}
        return rows, accepting, {index for states, index in number.items() if states & self.at_end}


def plain_builder(source: Any, flags: int) -> tuple[Builder, int, int]:
    """The automaton of a look: (builder, start, end)."""
    inner = Builder(looked_at=True)
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
    inner = Builder()
    end = inner.state()
    move = inner.moves[inner.add(source, flags, end)]
    return move[0] if move is not None and move[1] == end and len(inner.moves) == 2 else None
