"""Machines with all that has been found on them, shared by the constraints of a process."""

from __future__ import annotations

import threading
from collections import OrderedDict
from weakref import finalize

from sglc.runtime.mask.automaton.limits import ConstraintOptions
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.compile.compiler import Compiler
from sglc.runtime.mask.gss.machine import GssMachine
from sglc.runtime.mask.mask_cache import MaskStore
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

_MOST_KEPT = 8
"""Workspaces of different options in a process, and mask stores of different vocabularies in one of them: a
process serves a few models, and each store may take `ConstraintOptions.mask_bytes`."""


class Lease:
    """What holds a machine: its workspace and each of its mask stores, which their matchers hold.

    When all of them are gone, nobody can ask the machine any more, and it is taken apart. Its parts refer to
    each other in cycles: left to the garbage collector, it would stay until the next look at all objects,
    which would be the longer for it.
    """

    def __init__(self, machine: Machine, compiler: Compiler) -> None:
        finalize(self, _take_apart, machine, compiler).atexit = False


def _take_apart(machine: Machine, compiler: Compiler) -> None:
    for node in machine.nodes:
        vars(node).clear()
    vars(compiler).clear()
    vars(machine).clear()


class Workspace:
    """A machine with its compiler and mask stores; constraints made at about the same time share one.

    Grammars have machines of their own, as their masks are found in another way.
    """

    def __init__(self, options: ConstraintOptions, *, of_grammars: bool) -> None:
        self.options = options
        self.budget = options.table_bytes
        """Bytes from which on it is full."""
        self.machine: Machine = GssMachine(of_grammars=of_grammars)
        self.compiler = Compiler(self.machine, options.max_depth, options.max_terms)
        self._lease = Lease(self.machine, self.compiler)
        self._lock = threading.Lock()
        self._stores: OrderedDict[str, MaskStore] = OrderedDict()
        self.matchers = 0
        """How many there have been, of all constraints."""

    def store(self, vocabulary: Vocabulary) -> MaskStore:
        """The masks of a vocabulary, for one more matcher."""
        digest = vocabulary.digest
        with self._lock:
            self.matchers += 1
            found = self._stores.get(digest)
            if found is None:
                found = MaskStore(self.machine, vocabulary, self.options.mask_bytes, self._lease)
                self._stores[digest] = found
                if len(self._stores) > _MOST_KEPT:
                    self._stores.popitem(last=False)
            else:
                self._stores.move_to_end(digest)
            return found

    @property
    def size(self) -> int:
        """Bytes of all but the masks, roughly."""
        with self._lock:
            stores = list(self._stores.values())
        return self.machine.size + sum([store.table_bytes for store in stores])

    def full(self) -> bool:
        """Whether all but its masks takes more bytes than the budget. New constraints then get another."""
        return self.size > self.budget


_lock = threading.Lock()
_shared: OrderedDict[tuple[ConstraintOptions, bool], Workspace] = OrderedDict()


def get(options: ConstraintOptions, *, of_grammars: bool = False) -> Workspace:
    """The workspace for new matchers; a full one is left to the matchers it has."""
    key = options, of_grammars
    with _lock:
        found = _shared.get(key)
        if found is None or found.full():
            found = _shared[key] = Workspace(options, of_grammars=of_grammars)
        _shared.move_to_end(key)
        if len(_shared) > _MOST_KEPT:
            _shared.popitem(last=False)
        return found


def clear() -> None:
    """Forget all of them; constraints and matchers keep theirs."""
    with _lock:
        _shared.clear()
