"""The protocol between the parts of a constraint and the machine, which knows nothing of their kinds.

A new kind of constraint (an object of a JSON Schema with its set of keys, a rule of a grammar) is a new
subclass of `Node`.

Integers with a fixed meaning: configuration 0 is DEAD (no thread), configuration 1 accepts and cannot go on;
thread 0 is acceptance; continuation 0 is the end of the constraint.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sglc.runtime.mask.core.intern_table import Interned
from sglc.runtime.mask.lexeme.table import LexemeState

if TYPE_CHECKING:
    from sglc.automata.charset import Ranges
    from sglc.runtime.mask.automaton.machine import Machine

DEAD = 0
FINAL = 1
"""The configuration that accepts and cannot go on."""
ACCEPT = 0
"""The thread that stands for acceptance."""
END = 0
"""The continuation after which the constraint is over."""

Worklist = list[tuple["Node | None", int]]
"""What a closure still has to do: open a node before a continuation, or (None) resume a continuation."""


class UniqueItems(NamedTuple):
    """A lexeme state as a plain continuation without a few words, which begin at the same place.

    plain      the configuration that goes on in the same way but takes every word of the lexeme
    inner      the configuration of the lexeme up to its own end
    forbidden  the configuration of the words that are left out; DEAD if none of them can be meant any more
    follow     bool[256], the bytes with which the text after the lexeme may begin
    goes_on    of configurations like `inner` and `forbidden`: whether some other word reads one more byte;
               None where that depends on bytes that were not kept
    """

    plain: int
    inner: int
    forbidden: int
    follow: np.ndarray
    goes_on: Callable[[int, int], bool | None]


class Node:
    """One interned part of a constraint.

    As a *lexeme*, in some state, it has byte moves; as a *frame*, it is resumed when the part before has
    ended. Every lexeme state must be alive: some completion of the lexeme exists, and it reads at least one
    more byte.
    """

    index: int = -1
    """Its number in the machine."""
    state_numbers: Interned[Hashable, int]
    """The machine's numbers of its states, shared by all nodes of its kind."""
    productive: bool = False
    """Whether it has any word; found by fixpoint before the node is opened."""
    nullable: bool = False
    """Whether the empty word is one of its words."""
    universal: bool = False
    """Whether, as a lexeme, it accepts every byte string."""
    differs: bool = False
    """Whether its lexeme states have a `difference`."""
    repeats_nothing: bool = False
    """Whether, as a frame with a number as its state, it may repeat a part that reads nothing."""
    follow_by_label: bool = False
    """Whether `follow_of` says something."""
    forbidden_next: Ranges = ()
    """Of a node that reads nothing: the characters that may not come behind it."""
    size: int | None = None
    """Bytes of its shortest word, None until measured."""

    def children(self) -> Sequence[Node]:
        """The nodes that `analyse` and `measure` look at."""
        return ()

    def make_children(self) -> None:
        """Make those that are made when they are needed."""

    def openers(self) -> Sequence[Node]:
        """The children that may be opened before a byte has been read."""
        return self.children()

    def analyse(self) -> tuple[bool, bool]:
        """(productive, nullable) as far as known from the children."""
        raise TypeError(f"{type(self).__name__} has no analysis")

    def measure(self) -> int | None:
        """Bytes of the shortest word as far as known from the children."""
        raise TypeError(f"{type(self).__name__} has no measure")

    def open(self, machine: Machine, cont: int, work: Worklist, out: set[int]) -> None:
        """Add the threads at the beginning of this node, which is followed by `cont`."""
        raise TypeError(f"{type(self).__name__} cannot be opened")

    def resume(self, machine: Machine, state: Any, cont: int, work: Worklist, out: set[int]) -> None:
        """Add the threads after the part that this frame waited for."""
        raise TypeError(f"{type(self).__name__} is not a frame")

    def resumes_with(self, state: Any) -> tuple[int, bool] | None:
        """Of a frame: the bytes (256 bits) with which the rest of this node may begin, and whether it may be
        empty. None where a closure has to say."""
        return None

    def moves(self, machine: Machine, state: Any, cont: int) -> Iterable[tuple[int, int, int]]:
        """(lowest byte, highest byte, configuration) of a lexeme state: all that is legal, disjoint."""
        raise TypeError(f"{type(self).__name__} is not a lexeme")

    def move(self, machine: Machine, state: Any, cont: int, byte: int) -> int:
        """The configuration after one byte of a lexeme state."""
        for low, high, target in self.moves(machine, state, cont):
            if low <= byte <= high:
                return target
        return 0

    def history_dependent(self, machine: Machine, state: Any) -> bool:
        """Whether this lexeme state keeps the bytes read, so that it has `move` but no `moves` of its own."""
        return False

    def without_history(self, machine: Machine, state: Any) -> Hashable:
        """The state without the bytes read: the same moves until those bytes would matter, which is said by
        `needs_history`."""
        kept: Hashable = state
        return kept

    def needs_history(self, machine: Machine, state: Any) -> bool:
        """Whether the moves depend on bytes that `without_history` dropped."""
        return False

    def lexeme(self, machine: Machine, state: Any) -> LexemeState | None:
        """The place in a lexeme table that a lexeme state stands for, where there is such a table.

        Walks and steps then read the table; `moves` and `move` must say the same.
        """
        return None

    def land(self, machine: Machine, state: Any, cont: int, local: int, taken: int, data: bytes) -> int:
        """The configuration at state `local` of the lexeme table, after `data` of `taken` characters."""
        raise TypeError(f"{type(self).__name__} has no lexeme table")

    def follow(self, machine: Machine, state: Any, cont: int) -> np.ndarray:
        """bool[256]: the bytes with which the text after the lexeme may begin."""
        return machine.first_after(cont)

    def follow_of(self, label: int) -> tuple[np.ndarray | None, bool]:
        """For lexemes that say so by label: the bytes (bool[256]) with which the text after their words may
        begin as far as it belongs to the node, and whether it may be empty. None: not known."""
        return None, True

    def leave(self, machine: Machine, state: Any, cont: int, label: int, data: bytes | None = None) -> int:
        """The configuration after a word of the lexeme that ends with a label (-1 where there are none).

        `data` are the bytes of the word from `state` on; without them, for a mask, the configuration need
        not know them (see `without_history`).
        """
        return machine.after(cont)

    def forbidden(self, machine: Machine, state: Any) -> Callable[[bytes], bool] | None:
        """Whether a word of the lexeme table, given from `state` on, is not a word of the lexeme after all.

        Such words may not be so many that a state from which only they lead on would be alive.
        """
        return None

    def first_characters(self, state: Any) -> Ranges | None:
        """The characters with which a lexeme may go on, whatever comes behind it; None: not known."""
        return None

    def first_bytes(self, machine: Machine, state: Any, cont: int) -> np.ndarray:
        """bool[256]: the bytes that a lexeme state may read."""
        alone = machine.alone(machine.thread(self, state, cont))
        legal: np.ndarray = machine.row(machine.history_free(alone)) != DEAD
        return legal

    def difference(self, machine: Machine, state: Any, cont: int) -> UniqueItems | None:
        """A lexeme state as something plain without a few words, where it is that. Masks are found by it."""
        return None

    def forced_run(self, state: Any) -> bytes:
        """All remaining bytes of a lexeme state that has no choice at all."""
        return b""

    def behind(self, machine: Machine, state: Any, cont: int) -> int:
        """The configuration after the `forced_run`."""
        return machine.after(cont)

    def opens_behind(self, machine: Machine, state: Any, cont: int) -> Worklist | None:
        """What is opened behind the `forced_run`, so that several places open it once; None where `behind`
        is no such configuration."""
        return [(None, cont)]

    def skip(self, state: Any, size: int) -> Any:
        """The lexeme state after the first `size` bytes of its `forced_run`, which is longer."""
        raise TypeError(f"{type(self).__name__} has no forced run")

    def shortest(self, machine: Machine) -> bytes:
        """A shortest word of the whole node."""
        raise TypeError(f"{type(self).__name__} has no words")

    def shortest_from(self, machine: Machine, state: Any) -> bytes:
        """A shortest ending of a lexeme state."""
        raise TypeError(f"{type(self).__name__} is not a lexeme")

    def shortest_rest(self, machine: Machine, state: Any) -> bytes:
        """A shortest rest of this node when its frame is resumed."""
        raise TypeError(f"{type(self).__name__} is not a frame")
