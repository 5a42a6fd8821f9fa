"""Snapshots of a strand: all that it needs to go on from a place once more, as if it had never gone on.

Values and transcripts never change (a list that another one holds is copied before it grows, see
`may_change`), so a snapshot is references. A conversation that was closed opens its branch anew; keys and
values of its tokens are found in the cache.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace

from sglc.bytecode.code import Place
from sglc.runtime.decoding.conversations.conversation import Conversation, Transcript
from sglc.runtime.errors import SglError
from sglc.runtime.vm.state.draws import Drawn, DrawsMark, Key, MocksMark
from sglc.runtime.vm.state.frame import Frame, Handler, KnownText, Snapshot
from sglc.runtime.vm.state.run import AskedHole, Run, Statistics
from sglc.runtime.vm.state.seed import Seeds
from sglc.runtime.vm.state.strand import Strand
from sglc.runtime.vm.state.values import BranchValue


@dataclass(frozen=True, slots=True)
class _FrameState:
    frame: Frame
    pc: int
    slots: list[object]
    stack: list[object]
    handlers: list[Handler]
    retries: dict[int, Snapshot]
    again: set[int]
    caught: SglError | None
    holes: dict[str, object]
    texts: dict[int, str]
    forks: list[list[BranchValue]]
    ahead: deque[KnownText]
    seeds: Seeds

    @classmethod
    def of(cls, frame: Frame, pc: int) -> _FrameState:
        return cls(
            frame,
            pc,
            list(frame.slots),
            list(frame.stack),
            list(frame.handlers),
            {number: _copied(each) for number, each in frame.snapshots.items()},
            set(frame.again),
            frame.caught,
            dict(frame.holes),
            dict(frame.texts),
            [list(group) for group in frame.forks],
            deque(frame.ahead),
            _seeds(frame.seeds),
        )

    def restore(self) -> None:
        frame = self.frame
        for handler in frame.handlers:
            if handler.stream is not None and not any(handler is each for each in self.handlers):
                handler.stream.drop()
        known = {id(branch) for group in self.forks for branch in group}
        for group in frame.forks:
            for branch in group:
                if id(branch) not in known and branch.conversation is not None:
                    branch.conversation.close()
                    branch.conversation = None
        frame.pc = self.pc
        frame.slots[:] = self.slots
        frame.stack[:] = self.stack
        frame.handlers[:] = self.handlers
        frame.snapshots = {number: _copied(each) for number, each in self.retries.items()}
        frame.again = set(self.again)
        frame.caught = self.caught
        frame.holes = dict(self.holes)
        frame.texts = dict(self.texts)
        frame.forks = [list(group) for group in self.forks]
        frame.ahead = deque(self.ahead)
        seeds = _seeds(self.seeds)
        frame.seeds.seed, frame.seeds.holes = seeds.seed, seeds.holes
        frame.seeds.forks, frame.seeds.calls = seeds.forks, seeds.calls


def _copied(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, excluded=set(snapshot.excluded), repairs=list(snapshot.repairs))


def _seeds(seeds: Seeds) -> Seeds:
    return replace(seeds, calls=dict(seeds.calls))


@dataclass(frozen=True, slots=True)
class _TestState:
    """What the statements of tests have done: mocks, the round of a `fuzz`, what was expected."""

    mocks: MocksMark
    replaced: int
    draws: DrawsMark
    fuzzing: bool
    counts: tuple[int, int, int, int, int]
    """Expectations, and how many were missed, golden calls, replays, and where a golden call began."""
    failed: Mapping[Place | None, Mapping[Key, Drawn]]
    witnesses: Mapping[str, object]
    asked: tuple[AskedHole, ...] | None

    @classmethod
    def of(cls, run: Run) -> _TestState:
        return cls(
            run.mocks.mark(),
            len(run.mocks.replaced),
            run.draws.mark(),
            run.fuzzing,
            (run.expectations, len(run.missed), len(run.goldens), len(run.replays), run.golden_from),
            dict(run.failed_draws),
            dict(run.witnesses),
            None if run.asked is None else tuple(run.asked),
        )

    def restore(self, run: Run) -> None:
        run.mocks.restore(self.mocks, self.replaced)
        run.draws.restore(self.draws)
        run.fuzzing = self.fuzzing
        run.expectations, missed, goldens, replays, run.golden_from = self.counts
        del run.missed[missed:], run.goldens[goldens:], run.replays[replays:]
        run.failed_draws = {place: dict(made) for place, made in self.failed.items()}
        run.witnesses = dict(self.witnesses)
        run.asked = None if self.asked is None else list(self.asked)


@dataclass(frozen=True, slots=True)
class _RunState:
    """What all strands share. It is taken back only where no other strand is alive."""

    steps: int
    """Without the instruction that comes next."""
    statistics: Statistics
    timed: int
    """Tokens whose time was noted; all that follow are taken back."""
    partial: str
    scripts: Mapping[str, Mapping[str, int]]
    test: _TestState

    @classmethod
    def of(cls, run: Run) -> _RunState:
        scripts = {
            name: model.script.mark() for name, model in run.models.items() if model.script is not None
        }
        found = run.statistics
        return cls(
            run.steps - 1, _counts(found), len(found.timing.outside), run.partial, scripts, _TestState.of(run)
        )

    def restore(self, run: Run) -> None:
        run.steps, run.partial, run.statistics = self.steps, self.partial, _counts(self.statistics)
        del run.statistics.timing.outside[self.timed :]
        self.test.restore(run)
        for name, mark in self.scripts.items():
            script = run.models[name].script
            if script is not None:
                script.restore(mark)


def _counts(statistics: Statistics) -> Statistics:
    """A copy that counts on its own; times are noted in the same list."""
    return replace(statistics, remote=replace(statistics.remote))


@dataclass(frozen=True, slots=True)
class StrandSnapshot:
    """A strand before an instruction, its newest frame's."""

    machine: Strand
    frames: tuple[_FrameState, ...]
    conversations: tuple[tuple[Conversation, Transcript], ...]
    branches: tuple[tuple[BranchValue, Conversation], ...]
    allowances: tuple[tuple[int, int], ...]
    records: tuple[int, int]
    run: _RunState
    counts: tuple[int, int]
    """Holes and forks of the strand."""

    @classmethod
    def of(cls, machine: Strand, counts: tuple[int, int]) -> StrandSnapshot:
        """The strand as it is before the instruction that its newest frame was about to take."""
        newest = machine.frames[-1]
        frames = tuple(
            _FrameState.of(frame, frame.pc - 1 if frame is newest else frame.pc) for frame in machine.frames
        )
        marks: dict[int, tuple[Conversation, Transcript]] = {}
        branches = []
        for frame in machine.frames:
            if frame.conversation is not None:
                marks[id(frame.conversation)] = (frame.conversation, frame.conversation.mark())
            for group in frame.forks:
                for branch in group:
                    if branch.conversation is not None:
                        branches.append((branch, branch.conversation))
                        marks[id(branch.conversation)] = (branch.conversation, branch.conversation.mark())
        return cls(
            machine,
            frames,
            tuple(marks.values()),
            tuple(branches),
            tuple((each.spent, each.slack) for frame in machine.frames for each in frame.allowances),
            (len(machine.records.holes), len(machine.records.checks)),
            _RunState.of(machine.run),
            counts,
        )

    def frame(self) -> Frame:
        """A copy of the newest frame as it was, before its instruction, with a conversation of its own."""
        state = self.frames[-1]
        twin = copy(state.frame)
        twin.pc, twin.slots, twin.stack = state.pc, list(state.slots), list(state.stack)
        twin.snapshots, twin.seeds = state.retries, _seeds(state.seeds)
        if state.frame.conversation is not None:
            twin.conversation = state.frame.conversation.sibling()
            twin.conversation.restore(
                next(mark for known, mark in self.conversations if known is state.frame.conversation)
            )
        return twin

    @property
    def reads_streams(self) -> bool:
        """Whether a stream was open: what its call has written since cannot be taken back."""
        return any(each.stream is not None for state in self.frames for each in state.handlers)

    def restore(self) -> None:
        """Bring the strand back to here. Frames that were entered since are left."""
        machine, kept = self.machine, {id(state.frame) for state in self.frames}
        for frame in reversed(machine.frames):
            if id(frame) not in kept:
                frame.leave()
        for branch, conversation in self.branches:
            branch.conversation = conversation
        for state in self.frames:
            state.restore()
        for conversation, mark in self.conversations:
            conversation.restore(mark)
        machine.frames[:] = [state.frame for state in self.frames]
        values = iter(self.allowances)
        for frame in machine.frames:
            for allowance in frame.allowances:
                allowance.spent, allowance.slack = next(values)
        holes, checks = self.records
        del machine.records.holes[holes:], machine.records.checks[checks:]
        machine.last, machine.result = None, None
        self.run.restore(machine.run)
