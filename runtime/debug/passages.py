"""Passages: holes that a run came to, what they were given, and what it takes to go back to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sglc.bytecode.code import Place
from sglc.runtime.debug.snapshots import StrandSnapshot
from sglc.runtime.debug.strands import Key, StrandState
from sglc.runtime.decoding.watching import SearchLook

MOST_SNAPSHOTS = 2000
"""Most snapshots that are kept. Holes without one are reached from the one before them."""
MOST_TOKENS = 4096
"""Most tokens of a hole that are kept to be looked at."""
Identity = tuple[Key, int]
"""A passage, whenever the run goes the same way: the key of its strand, and its number there."""


@dataclass(slots=True, eq=False)
class Passage:
    """One hole, or a place that others are reached from (`index` is then None)."""

    number: int
    """In the order in which they came."""
    identity: Identity
    strand: StrandState
    index: int | None
    """The hole's index in the program."""
    name: str
    place: Place | None
    snapshot: StrandSnapshot | None
    text: str | None = None
    """What it was given; None as long as it has nothing."""
    ended: str = ""
    forced: tuple[str, ...] | None = None
    """The texts that the user has given it."""
    tokens: list[Mapping[str, object]] = field(default_factory=list)
    """Its tokens, as the event `token` tells them."""
    written: str = ""
    """Its text as far as it has been told."""
    search: SearchLook | None = None
    """Where the search for its text was last looked at, if there was one: its end once it is over."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """Probabilities of its options, of a `select` or `choose`."""


class History:
    """The passages of a run, in their order."""

    def __init__(self) -> None:
        self._all: list[Passage] = []
        self._kept = 0
        self._open: dict[str, Passage] = {}

    def __iter__(self) -> Iterator[Passage]:
        return iter(self._all)

    def add(self, passage: Passage) -> None:
        """Note a passage; where there are many, every other one of the older ones loses its snapshot."""
        self._all.append(passage)
        self._kept += 1
        if self._kept > MOST_SNAPSHOTS:
            kept = [each for each in self._all[1:-100] if each.snapshot is not None]
            for each in kept[::2]:
                each.snapshot = None
                self._kept -= 1

    @property
    def next_number(self) -> int:
        """The number of the passage that comes next."""
        return self._all[-1].number + 1 if self._all else 0

    @property
    def holes(self) -> Sequence[Passage]:
        """Those that are holes."""
        return [each for each in self._all if each.index is not None]

    def cut(self, passage: Passage) -> None:
        """Forget a passage and all behind it: the run has gone back."""
        at = self._all.index(passage)
        self._kept -= sum(each.snapshot is not None for each in self._all[at:])
        del self._all[at:]
        self._open.clear()

    # -- what is filled now --------------------------------------------------------------------------

    def opened(self, branch: str, passage: Passage) -> None:
        """A hole of a branch of forks is being filled."""
        self._open[branch] = passage

    def open_in(self, branch: str) -> Passage | None:
        """The hole that is being filled in a branch, or in the one whose samples are drawn there."""
        while True:
            found = self._open.get(branch)
            if found is not None or not branch:
                return found
            branch = branch.rpartition(".")[0]

    def closed(self, branch: str) -> None:
        """It is filled."""
        self._open.pop(branch, None)
