"""Choices between many parts that begin with words: one lexeme over all the words, each with what follows it.

A grammar of a thousand statements has a thousand alternatives where a statement begins. They are one place
here, and what follows a word is compiled when the word has been read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from sglc.automata import term as t
from sglc.automata.charset import Ranges
from sglc.automata.dfa.trie import Place
from sglc.kernels.trie.api import UNBOUNDED, SubtreeWalk
from sglc.kernels.trie.walks import ENDS, NO_MOVE
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import DEAD, Node, Worklist
from sglc.runtime.mask.core.byte_sets import unpacked
from sglc.runtime.mask.lexeme.table import LexemeDfa, LexemeState
from sglc.runtime.mask.lexeme.word_list import WordSet, first_characters
from sglc.runtime.mask.nodes.core import measure

MANY = 24
"""Fewer alternatives are opened one by one."""

Cases = dict[bytes, dict[str, None]]
"""By word: the rules of what may follow it."""


def cases_of(rules: t.LateRules, arms: Iterable[t.Term]) -> tuple[Cases, list[t.Term]]:
    """The arms that are a word and a rule, by the word, and the others. Rules that stand alone are their
    bodies."""
    cases: Cases = {}
    others: list[t.Term] = []
    seen: set[str] = set()
    waiting = list(arms)[::-1]
    while waiting:
        match waiting.pop():
            case t.Sequence((t.Bytes(data), t.Rule(name))) if data:
                cases.setdefault(data, {})[name] = None
            case t.Rule(name):
                if name not in seen:
                    seen.add(name)
                    waiting.append(rules[name])
            case t.Choice(inner):
                waiting += inner[::-1]
            case other:
                others.append(other)
    return cases, others


class CaseLexeme(LexemeDfa):
    """The trie of the words; the label of a state where a word ends is the number of the word."""

    def __init__(self, words: WordSet) -> None:
        super().__init__()
        self.set = words
        self._labels = np.zeros(0, np.int32)
        self.number(words.root)

    def moves(self, state: int) -> Iterable[tuple[int, int, int]]:
        """The byte of each child in the trie, with the state of its place."""
        below = self.set.children(self.places[state])
        return [(byte, byte, self.number(place)) for byte, place in below.items()]

    def describe(self, state: int) -> tuple[int, int, int]:
        """ENDS where a word ends; lengths are any."""
        return ENDS if self.set.ends(self.places[state]) else 0, 0, UNBOUNDED

    def walk(
        self, whole: SubtreeWalk, entries: np.ndarray, place: LexemeState, first: np.ndarray, row: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | None] | None:
        """By the sorted words; the labels are those of the words that end at the boundaries."""
        found = whole.words(entries, self.set.list, self.places[place.state], first, row, False)
        return found.boundaries, found.ends

    def plain_step(self, state: int, byte: int) -> int | None:
        """By a search in the sorted words."""
        found = self.set.child(self.places[state], byte)
        return NO_MOVE if found is None else self.number(found)

    def label(self, state: int) -> int:
        """The number of the word that ends in a state, -1 if none does."""
        place: Place = self.places[state]
        return place[0] if self.set.ends(place) else -1

    def labels_of(self, states: np.ndarray) -> np.ndarray | None:
        """int32: the labels of states, kept for all that are known."""
        known = len(self._labels)
        if known < len(self.places):
            new = [self.label(state) for state in range(known, len(self.places))]
            self._labels = np.concatenate([self._labels, np.array(new, np.int32)])
        found: np.ndarray = self._labels[states]
        return found


class CaseNode(Node):
    """One of some words, none of them empty, and what follows it. Lexeme state: one of its table from which a
    word goes on. All that may follow is known to be productive.
    """

    productive = True
    follow_by_label = True

    def __init__(
        self, cases: Mapping[bytes, Iterable[str]], rules: t.LateRules, compiled: Callable[[t.Term], Node]
    ) -> None:
        """`cases`: by word the rules of what may follow it."""
        self.set = WordSet(cases)
        self.rows = CaseLexeme(self.set)
        self.rules = rules
        self._follows = [tuple(cases[word]) for word in self.set.words]
        self._compiled = compiled
        self._any: np.ndarray | None = None
        self._first: dict[int, tuple[np.ndarray, bool]] = {}
        self._nodes: list[Node | None] = [None] * len(self._follows)
        self._behind: dict[tuple[str, ...], Node] = {}
        """By the rules that follow: many words are followed by the same."""

    def behind_word(self, label: int) -> Node:
        """What follows a word."""
        found = self._nodes[label]
        if found is None:
            follows = self._follows[label]
            found = self._behind.get(follows)
            if found is None:
                terms = tuple(map(t.Rule, follows))
                found = self._behind[follows] = self._compiled(
                    terms[0] if len(terms) == 1 else t.Choice(terms)
                )
            self._nodes[label] = found
        return found

    def begins_behind(self, label: int) -> tuple[int, bool]:
        """At least the bytes with which what may follow a word begins, and whether it may be empty."""
        found, follows = 0, self._follows[label]
        for name in follows:
            found |= self.rules.first_bytes(name)
        return found, any([self.rules.may_be_empty(name) for name in follows])

    def make_children(self) -> None:
        """Compile what follows each of the words."""
        for label in range(len(self._nodes)):
            self.behind_word(label)

    def children(self) -> Sequence[Node]:
        """What follows words, as far as it has been compiled."""
        return [node for node in self._nodes if node is not None]

    def openers(self) -> Sequence[Node]:
        """No node: each case begins with a byte of its word."""
        return ()

    def analyse(self) -> tuple[bool, bool]:
        """Productive by what its maker knows; never nullable, as no word is empty."""
        return True, False

    def measure(self) -> int | None:
        """The least of a word with what follows it, of those that have been compiled and have a size."""
        found = [
            len(word) + node.size
            for word, node in zip(self.set.words, self._nodes, strict=True)
            if node is not None and node.size is not None
        ]
        return min(found, default=None)

    def open(self, machine: Machine, cont: int, work: Worklist, out: set[int]) -> None:
        """One thread at the root of the words."""
        out.add(machine.thread(self, 0, cont))

    def first_characters(self, state: int) -> Ranges | None:
        """The characters with which the words go on; None where they are not whole."""
        return first_characters(self.set, self.rows.places[state])

    def lexeme(self, machine: Machine, state: int) -> LexemeState:
        """The state itself, in `rows`."""
        return LexemeState(self.rows, state)

    def begins_any(self) -> np.ndarray:
        """bool[256]: at least the bytes with which anything begins that follows a word."""
        # To know more, all that may follow would have to be looked at.
        if self._any is None:
            self._any = unpacked(self.rules.all_first_bytes())
        return self._any

    def follow(self, machine: Machine, state: int, cont: int) -> np.ndarray:
        """At least those bytes: all with which any case goes on, and those behind the node."""
        found: np.ndarray = self.begins_any() | machine.first_after(cont)
        return found

    def follow_of(self, label: int) -> tuple[np.ndarray, bool]:
        """At least the bytes with which the rules behind a word begin, without compiling them."""
        found = self._first.get(label)
        if found is None:
            known, empty = self.begins_behind(label)
            found = self._first[label] = unpacked(known), empty
        return found

    def leave(self, machine: Machine, state: int, cont: int, label: int, data: bytes | None = None) -> int:
        """Begin what follows the word with that number."""
        return machine.begin(self.behind_word(label), cont)

    def land(self, machine: Machine, state: int, cont: int, local: int, taken: int, data: bytes) -> int:
        """By the state alone, as words have no counts."""
        return self._at(machine, local, cont)

    def moves(self, machine: Machine, state: int, cont: int) -> Iterator[tuple[int, int, int]]:
        """Those of the words; where one ends, what follows it is compiled."""
        for low, high, target in self.rows.moves(state):
            yield low, high, self._at(machine, target, cont)

    def move(self, machine: Machine, state: int, cont: int, byte: int) -> int:
        """By a search in the sorted words; what follows the others is not compiled."""
        place = self.set.child(self.rows.places[state], byte)
        return DEAD if place is None else self._at(machine, self.rows.number(place), cont)

    def _at(self, machine: Machine, local: int, cont: int) -> int:
        label = self.rows.label(local)
        config = DEAD if label < 0 else self.leave(machine, local, cont, label)
        if self.set.goes_on(self.rows.places[local]):
            config = machine.union(config, machine.alone(machine.thread(self, local, cont)))
        return config

    def forced_run(self, state: int) -> bytes:
        """The rest of the only word that goes on; empty where there are several."""
        first, last, depth = self.rows.places[state]
        return self.set.words[first][depth:] if last - first == 1 else b""

    def opens_behind(self, machine: Machine, state: int, cont: int) -> Worklist | None:
        """None, as what follows differs from word to word."""
        return None

    def behind(self, machine: Machine, state: int, cont: int) -> int:
        """The configuration behind the first word that goes on, which is then the only one."""
        first, _, _ = self.rows.places[state]
        return self.leave(machine, state, cont, first)

    def skip(self, state: int, size: int) -> int:
        """So many bytes further in the same word."""
        first, last, depth = self.rows.places[state]
        return self.rows.number((first, last, depth + size))

    def shortest(self, machine: Machine) -> bytes:
        """A shortest word with what follows it. Raises CompletionTooLong."""
        return self.shortest_from(machine, 0)

    def shortest_from(self, machine: Machine, state: int) -> bytes:
        """The rest of the word that is shortest with what follows it. Raises CompletionTooLong."""
        if self.size is None:
            measure(self)
        first, last, depth = self.rows.places[state]
        ends = self.set.ends((first, last, depth))
        best = min(range(first + ends, last), key=lambda label: self._length(label))
        return self.set.words[best][depth:] + self.behind_word(best).shortest(machine)

    def _length(self, label: int) -> int:
        size = self.behind_word(label).size
        assert size is not None, "all that may follow has been measured"
        return len(self.set.words[label]) + size
