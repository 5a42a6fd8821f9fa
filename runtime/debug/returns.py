"""Going back: the holes that a run has come to, and how it is brought to one of them again."""

from __future__ import annotations

from sglc.runtime.debug.passages import History, Identity, Passage
from sglc.runtime.debug.snapshots import StrandSnapshot
from sglc.runtime.debug.stops import Back, Go, Stop
from sglc.runtime.debug.strands import StrandState
from sglc.runtime.engine.sampling.seeds import mix
from sglc.runtime.vm.state.frame import Frame


class Rewind(BaseException):
    """Ends what a strand waits for, because the run goes back to a snapshot of that strand."""

    def __init__(self, base: Passage) -> None:
        super().__init__(base.name)
        self.base = base


class Returns:
    """Notes where a run can be brought back to, and brings it there.

    A hole is reached by restoring its own snapshot where that can be done, else by going on from the nearest
    place before it. On the way everything is drawn as it was: seeds and forced values are the same.
    """

    def __init__(self) -> None:
        self.history = History()
        self.forced: dict[Identity, tuple[str, ...]] = {}
        """Texts that the user has given holes."""
        self.target: Identity | None = None
        """The hole that is on its way, behind a snapshot before it."""
        self.base: Passage | None = None
        """What is being restored, until it is."""
        self.notes: tuple[str, ...] = ()
        """What is to be told when the target is there."""
        self.then: Go | None = None
        """How the run goes on from there; None lets it stop."""
        self._seed: int | None = None
        self._calls: list[tuple[int, str]] = []

    def note(self, strand: StrandState, frame: Frame, index: int | None, name: str) -> Passage:
        """Note that a strand came to a hole, or to a place from which others are reached."""
        machine = strand.machine
        counts = (strand.holes - (index is not None), strand.forks)
        made = Passage(
            self.history.next_number,
            (strand.key, strand.holes if index is not None else -1),
            strand,
            index,
            name,
            machine.place(frame),
            StrandSnapshot.of(machine, counts),
        )
        self.history.add(made)
        return made

    def called(self, function: str) -> None:
        """Note that a function of Python was called: on the way back it may be called again."""
        self._calls.append((self.history.next_number, function))

    def begin(self, stop: Stop, action: Back) -> None:
        """Let the run go back; the strand that stands is to raise `Rewind` for `base`."""
        target = action.passage
        base = self.base_of(stop, target)
        self.forced = {
            each.identity: self.forced[each.identity]
            for each in self.history
            if each.number < target.number and each.identity in self.forced
        }
        if action.texts is not None:
            self.forced[target.identity] = action.texts
        self._seed, self.then = action.seed, action.then
        again = dict.fromkeys(name for at, name in self._calls if base.number < at <= target.number)
        self.notes = tuple(f"called again on the way here: {name}" for name in again)
        self.target, self.base = target.identity, base

    def base_of(self, stop: Stop, target: Passage) -> Passage:
        """Where the run can be taken back to at once, so that it comes to a hole again.

        That is the hole itself, else the nearest place before it. The strand must be the one that stands, or
        one that waits for it, and nothing may have gone on beside it: what that has counted would be lost.
        """
        passages = list(self.history)
        for each in reversed(passages[: passages.index(target) + 1]):
            snapshot, strand = each.snapshot, each.strand
            if snapshot is not None and strand.alone and not snapshot.reads_streams:
                if strand.alive and stop.strand.descends(strand):
                    return each
        return passages[0]

    def restore(self, strand: StrandState, rewind: Rewind) -> None:
        """Restore the snapshot, where it is of this strand. Raises Rewind where it is of another."""
        base = rewind.base
        if strand is not base.strand:
            raise rewind
        assert base.snapshot is not None
        base.snapshot.restore()
        strand.holes, strand.forks = base.snapshot.counts
        self.history.cut(base)
        self._calls = [each for each in self._calls if each[0] <= base.number]
        self.base = None

    def arrives(self, frame: Frame, passage: Passage) -> bool:
        """Whether a hole is the one that was gone back to; it gets its new seed, if there is one."""
        if self.target != passage.identity:
            return False
        self.target = None
        if self._seed is not None:
            frame.seeds.begin(mix("seed", self._seed, passage.identity[1]))
        self._seed = None
        return True
