"""Steps: from where a run goes on to where it stops next."""

from __future__ import annotations

from dataclasses import dataclass

from sglc.runtime.debug.places import CodePlaces
from sglc.runtime.debug.stops import Reason, StepKind
from sglc.runtime.debug.strands import StrandState
from sglc.runtime.vm.state.frame import Frame


@dataclass(slots=True, eq=False)
class Step:
    """A step under way: what kind, and where it began. Without a strand it ends at the next statement."""

    kind: StepKind
    strand: StrandState | None = None
    frame: Frame | None = None
    depth: int = 0
    line: int = 0
    pc: int = -1
    places: CodePlaces | None = None
    """Of the function in which it began."""
    reason: Reason = "statement"
    """What is told where it ends at a statement."""

    @classmethod
    def begun(cls, kind: StepKind, strand: StrandState, frame: Frame, pc: int, places: CodePlaces) -> Step:
        """A step from where a strand is, before an instruction of its newest frame."""
        depth = len(strand.machine.frames)
        line = places.lines[pc] if 0 <= pc < len(places.lines) else 0
        return cls(kind, strand, frame, depth, line, pc, places)

    def ends(self, strand: StrandState, frame: Frame, pc: int) -> bool:
        """Whether it ends before an instruction at which a statement begins."""
        if self.kind in ("hole", "token"):
            return False
        if self.strand is None:
            return True
        if strand is not self.strand:
            # Only single statements go into what the strand has started. Behind its end its parent goes on.
            return self.kind == "statement" or (not self.strand.alive and self.strand.descends(strand))
        depth = len(strand.machine.frames)
        if self.kind == "out":
            return depth < self.depth
        if frame is not self.frame:
            return depth < self.depth or self.kind == "statement"
        return self._moved(frame, pc)

    def _moved(self, frame: Frame, pc: int) -> bool:
        """Whether an instruction of the same frame belongs to another statement, or to another round."""
        line = self.places.lines[pc] if self.places is not None else 0
        moved = line != self.line or pc <= self.pc
        if not moved:
            self.pc = pc
        return moved
