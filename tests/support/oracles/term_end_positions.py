"""Where words of the terms of `sglc.automata.term` end: the first half of the oracle, see `term_oracle`."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from oracles.entry_oracle import Process, Step, process_of
from oracles.text_oracle import count_fits, decode, move, pieces, read_char
from sglc.automata.term import (
    Anything,
    Array,
    Bytes,
    Choice,
    Except,
    Language,
    Listed,
    Nothing,
    Object,
    Repeat,
    Rule,
    Sequence,
    Span,
    Term,
    Text,
    Words,
)


class Ends:
    """Answers about one text."""

    def __init__(
        self,
        language: Language,
        data: bytes,
        processes: dict[int, Process],
    ) -> None:
        self.rules = language.rules
        self.data = data
        self.known_ends: dict[tuple[int, int], frozenset[int]] = {}
        self.processes = processes
        self.kept: list[Term] = []  # so that no id in known_ends is used twice

    def ends(self, term: Term, start: int) -> frozenset[int]:
        """All places where a word of the term that begins at `start` may end."""
        key = (id(term), start)
        if key not in self.known_ends:
            self.kept.append(term)
            self.known_ends[key] = frozenset(self._ends(term, start))
        return self.known_ends[key]

    def _ends(self, term: Term, start: int) -> Iterator[int]:
        data = self.data
        match term:
            case Nothing():
                return
            case Anything():
                yield from range(start, len(data) + 1)
            case Bytes(expected):
                if data.startswith(expected, start):
                    yield start + len(expected)
            case Words(words):
                for word in words:
                    if data.startswith(word, start):
                        yield start + len(word)
            case Text():
                for at, state, count in self._walk(term, start):
                    if state in term.dfa.accepting and count_fits(term, count):
                        yield at
            case Array() | Object():
                process = self._process(term)
                for at, state in self._states(process, start):
                    if process.done(state):
                        yield at
            case Span(_, encoding) | Listed(_, encoding):
                for piece in pieces(term):
                    at = start
                    for char in piece:
                        found, size = read_char(data, at, encoding)
                        if found != char:
                            break
                        at += size
                    else:
                        yield at
            case Sequence(items):
                yield from self._sequence_ends(items, start)
            case Choice(arms):
                for arm in arms:
                    yield from self.ends(arm, start)
            case Repeat():
                yield from self._repeat_ends(term, start)
            case Except(item, words):
                for at in self.ends(item, start):
                    if data[start:at] not in words:
                        yield at
            case Rule(name):
                yield from self.ends(self.rules[name], start)

    # Arrays and objects are processes: steps from state to state, each of which reads an item or entry.

    def _process(self, term: Array | Object) -> Process:
        if id(term) not in self.processes:
            self.processes[id(term)] = process_of(term)
        return self.processes[id(term)]

    def _states(self, process: Process, start: int) -> Iterator[tuple[int, Hashable]]:
        """(place, state) after every number of complete steps."""
        seen = {(start, process.start)}
        stack = [(start, process.start)]
        while stack:
            place, state = stack.pop()
            yield place, state
            for step in process.steps(state):
                for end, key in self._step_ends(step, place):
                    spot = (end, step.following(key))
                    if spot not in seen:
                        seen.add(spot)
                        stack.append(spot)

    def _step_ends(self, step: Step, start: int) -> Iterator[tuple[int, str]]:
        """(end, key read) of a step."""
        for before in self._sequence_ends(step.before, start):
            for end in self.ends(step.key, before):
                key = decode(self.data[before:end])
                for after in self._sequence_ends(step.after, end):
                    yield after, key

    def _sequence_ends(self, items: tuple[Term, ...], start: int) -> set[int]:
        places = {start}
        for item in items:
            places = {end for place in places for end in self.ends(item, place)}
        return places

    def _repeat_places(self, term: Repeat, start: int) -> Iterator[tuple[int, int]]:
        """(place, number of items read) after every number of items."""
        seen = set()
        stack = [(start, 0)]
        while stack:
            place, count = stack.pop()
            # More than the minimum is as good as the minimum where there is no maximum; but a first item
            # differs from none by the separator that is due.
            key = (place, count if term.maximum is not None else min(count, max(term.minimum, 1)))
            if key in seen:
                continue
            seen.add(key)
            yield place, count
            if term.maximum is None or count < term.maximum:
                for begin in self._after_separator(term, place, count):
                    stack += [(end, count + 1) for end in self.ends(term.item, begin)]

    def _after_separator(self, term: Repeat, place: int, count: int) -> list[int]:
        if count == 0:
            return [place]
        fits = self.data.startswith(term.separator, place)
        return [place + len(term.separator)] if fits else []

    def _repeat_ends(self, term: Repeat, start: int) -> Iterator[int]:
        for place, count in self._repeat_places(term, start):
            if count >= term.minimum and (term.maximum is None or count <= term.maximum):
                yield place

    def _walk(self, term: Text, start: int) -> Iterator[tuple[int, int, int]]:
        """(place, state, characters read) after every character, as far as the automaton goes."""
        if not term.dfa.edges:
            return
        at, state, count = start, 0, 0
        while True:
            yield at, state, count
            char, size = read_char(self.data, at, term.encoding)
            if char is None:
                return
            target = move(term, state, ord(char))
            if target is None:
                return
            at, state, count = at + size, target, count + 1
