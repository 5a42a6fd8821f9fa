"""Which branches of a program its tests have taken.

A branch is one side of a condition, or a loop with and without a round, at its place in the source: copies of
a function count as one. Steps are those of the machine; those that branch note which way they go.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sglc.bytecode.code import Code, Program
from sglc.bytecode.opcodes import BY_NAME, OPCODES
from sglc.runtime.vm.machine import HANDLERS
from sglc.runtime.vm.state.frame import Frame
from sglc.runtime.vm.state.strand import Outcome, Step, Strand

_CONDITIONS = {BY_NAME[name].number for name in ("JUMP_IF_FALSE", "JUMP_IF_TRUE")}
_IF_FALSE, _NEXT, _CONSTANT = (BY_NAME[name].number for name in ("JUMP_IF_FALSE", "NEXT", "CONSTANT"))
NO_CASE = "no case matches this value"
"""What the lowering lets a `match` raise behind its last case."""

Where = tuple[int, int, int]
"""A file, and a stretch of it."""


@dataclass(frozen=True, slots=True)
class Missed:
    """A branch that was never taken: `file:line:column`, and what did not come, in words."""

    place: str
    text: str


@dataclass(slots=True)
class BranchCoverage:
    """What the runs of one program have taken. Only the functions of its main file count."""

    program: Program
    taken: set[tuple[Where, bool]] = field(default_factory=set)

    def steps(self) -> tuple[Step, ...]:
        """The machine's table, with notes of what is taken."""
        return tuple(self._noting(op.number, HANDLERS[op.number]) for op in OPCODES)

    def _noting(self, op: int, usual: Step) -> Step:
        if op in _CONDITIONS:

            def decide(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
                self._note(frame, bool(frame.stack[-1]))
                return usual(machine, frame, a, b)

            return decide
        if op == _NEXT:

            def go_round(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
                at, before = frame.pc - 1, frame.pc
                outcome = usual(machine, frame, a, b)
                self._note(frame, frame.pc == before, at)
                return outcome

            return go_round
        return usual

    def _note(self, frame: Frame, way: bool, at: int | None = None) -> None:
        place = frame.code.places[frame.pc - 1 if at is None else at]
        self.taken.add(((place.file, place.start, place.end), way))

    def _codes(self) -> Iterator[Code]:
        """The functions of the main file."""
        for code in self.program.codes:
            if code.kind != "test" and code.places and code.places[0].file == 0:
                yield code

    def _branches(self) -> dict[tuple[Where, bool], Missed]:
        """All branches, in the order of the source, with what is said where one was not taken."""
        found: dict[tuple[Where, bool], Missed] = {}
        for code in self._codes():
            for number, ((op, target, _), place) in enumerate(
                zip(code.instructions, code.places, strict=True)
            ):
                if op not in _CONDITIONS and op != _NEXT:
                    continue
                where = (place.file, place.start, place.end)
                at = f"{self.program.files[place.file]}:{place.line}:{place.column}"
                text = self._text(where)
                for way in (True, False):
                    if not way and self._cannot_be(code, target if op == _IF_FALSE else number + 1):
                        continue
                    if op == _NEXT:
                        told = f"the loop over `{text}` never {'had a round' if way else 'came to its end'}"
                    else:
                        told = f"`{text}` was never {'true' if way else 'false'}"
                    found.setdefault((where, way), Missed(at, told))
        return dict(sorted(found.items(), key=lambda each: (each[0][0], not each[0][1])))

    def _cannot_be(self, code: Code, at: int) -> bool:
        """Whether an instruction begins what no value leads to: behind the last case of a `match` all values
        are used up."""
        op, constant, _ = code.instructions[at]
        return op == _CONSTANT and self.program.constants[constant] == NO_CASE

    def _text(self, where: Where) -> str:
        file, start, end = where
        source = self.program.sources[file] if file < len(self.program.sources) else ""
        text = " ".join(source[start:end].split())
        return text if len(text) <= 60 else text[:59] + "…"

    def count(self) -> int:
        """How many branches there are."""
        return len(self._branches())

    def missed(self) -> list[Missed]:
        """Branches that were never taken."""
        return [told for branch, told in self._branches().items() if branch not in self.taken]

    def plain(self) -> dict[str, object]:
        """As JSON has it."""
        missed = self.missed()
        return {
            "branches": self.count(),
            "taken": self.count() - len(missed),
            "missed": [{"place": each.place, "text": each.text} for each in missed],
        }
