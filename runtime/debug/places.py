"""Where a program can stop: the first instruction of each statement, by function, file and line.

Instructions know their places in the source. The statement that a place belongs to is told by whoever has
read the source (`Statements`); without that each line counts as one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sglc.bytecode.code import Code, Place, Program
from sglc.bytecode.opcodes import BY_NAME, OPCODES

Statements = Mapping[int, Sequence[tuple[int, int, int]]]
"""Of each file, by its index: offset, end and line of its statements, in the order of their offsets."""

_JUMPS = frozenset(BY_NAME[name].number for name in ("JUMP", "JUMP_IF_FALSE", "JUMP_IF_TRUE", "NEXT", "TRY"))
_BEHIND = frozenset(
    BY_NAME[name].number for name in ("END_ROLE", "JUMP", "POP", "END_TRY", "FORGET", "END_STREAM", "STORE")
)
"""Instructions that end what was begun: nobody wants to stop there."""
HOLE_OPS = frozenset(op.number for op in OPCODES if "hole" in op.operands)
"""Instructions that fill a hole."""
_LEAVING = frozenset(BY_NAME[name].number for name in ("JUMP", "RETURN", "RAISE", "RERAISE"))
"""Instructions behind which another one comes than the next."""
_STORE, _RETRY, _CHECK, _RAISE = (
    BY_NAME[name].number for name in ("STORE", "RETRY", "RECORD_CHECK", "RAISE")
)
_REASON = "%reason"
"""What the lowering calls the slot of the reason for which a condition failed."""


@dataclass(frozen=True, slots=True)
class CodePlaces:
    """The places of one function. `lines` has the line of the statement of each instruction, 0 for none."""

    lines: tuple[int, ...]
    points: frozenset[int]
    """Instructions at which a statement begins: those that come behind one of another line."""
    holes: Mapping[int, int]
    """Instructions that fill a hole, with its index."""
    failures: frozenset[int]
    """Instructions that are met only where an `ensure` or `check` does not hold."""


class Places:
    """The places of a program."""

    def __init__(self, program: Program, statements: Statements | None = None) -> None:
        self.program = program
        self._statements = {file: _Nested(rows) for file, rows in (statements or {}).items()}
        self._codes: dict[int, CodePlaces] = {}

    def of(self, code: Code) -> CodePlaces:
        """The places of a function of the program."""
        found = self._codes.get(id(code))
        if found is None:
            found = self._codes[id(code)] = self._read(code)
        return found

    def _line(self, place: Place) -> int:
        nested = self._statements.get(place.file)
        line = None if nested is None else nested.line(place.start)
        return place.line if line is None else line

    def _read(self, code: Code) -> CodePlaces:
        lines = tuple(self._line(place) for place in code.places)
        before: dict[int, set[int]] = {0: {0}}
        for pc, (op, a, _) in enumerate(code.instructions):
            if op in _JUMPS:
                before.setdefault(a, set()).add(lines[pc])
            if op not in _LEAVING:
                before.setdefault(pc + 1, set()).add(lines[pc])
        points = {
            pc
            for pc, (op, _, _) in enumerate(code.instructions)
            if op not in _BEHIND and lines[pc] and before.get(pc, set()) - {lines[pc]}
        }
        holes = {pc: each.a for pc, each in enumerate(code.instructions) if each.op in HOLE_OPS}
        return CodePlaces(lines, frozenset(points), holes, self._failures(code))

    def _failures(self, code: Code) -> frozenset[int]:
        kept = {
            pc
            for pc, (op, slot, _) in enumerate(code.instructions)
            if op == _STORE and code.slots[slot].startswith(_REASON)
        }
        if kept:
            return frozenset(kept)
        names = self.program.names
        return frozenset(
            pc
            for pc, (op, a, _) in enumerate(code.instructions)
            if op == _RETRY or (op == _CHECK and not a) or (op == _RAISE and names[a] == "Rejected")
        )

    # -- from lines and names to instructions --------------------------------------------------------

    def file(self, path: str) -> int | None:
        """The index of a file: the one of that name, else the only one that the name is the end of."""
        files = self.program.files
        if path in files:
            return files.index(path)
        tail = "/" + path.replace("\\", "/").rsplit("/", 1)[-1]
        near = [index for index, name in enumerate(files) if ("/" + name).endswith(tail)]
        return near[0] if len(near) == 1 else None

    def lines(self, file: int) -> list[int]:
        """The lines of a file at which something can stop, ascending."""
        found = {
            self.of(code).lines[pc]
            for code in self.program.codes
            for pc in self.of(code).points
            if code.places[pc].file == file
        }
        return sorted(found)

    def line_from(self, file: int, line: int) -> int | None:
        """The first line with code from a line on; None behind the last one."""
        return next((each for each in self.lines(file) if each >= line), None)

    def at_line(self, file: int, line: int) -> list[tuple[Code, int]]:
        """Where the statements of a line begin, in all copies of its function."""
        found = []
        for code in self.program.codes:
            places = self.of(code)
            here = [pc for pc in places.points if places.lines[pc] == line and code.places[pc].file == file]
            found += [(code, pc) for pc in sorted(here)]
        return found

    def at_hole(self, name: str) -> list[tuple[Code, int]]:
        """Where a hole is filled, by its name `f.hole`, or `hole` where that is enough."""
        holes = self.program.holes
        return [
            (code, pc)
            for code in self.program.codes
            for pc, index in sorted(self.of(code).holes.items())
            if name in (holes[index].name, holes[index].name.rpartition(".")[2])
        ]

    def at_function(self, name: str) -> list[tuple[Code, int]]:
        """Where a function begins, by its name, that of a module with or without the module's."""
        return [
            (code, min(self.of(code).points))
            for code in self.program.codes
            if name in (code.copy_of or code.name, (code.copy_of or code.name).rpartition(".")[2])
            and self.of(code).points
        ]

    def first_line(self, code: Code) -> int:
        """The first line of a function at which something can stop; 0 for none."""
        places = self.of(code)
        return places.lines[min(places.points)] if places.points else 0


@dataclass(slots=True)
class _Nested:
    """Statements of one file, which lie in each other or beside each other."""

    rows: Sequence[tuple[int, int, int]]
    _starts: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self._starts = [start for start, _, _ in self.rows]

    def line(self, offset: int) -> int | None:
        """The line of the innermost statement around an offset."""
        at = bisect_right(self._starts, offset)
        while at:
            at -= 1
            start, end, line = self.rows[at]
            if start <= offset < max(end, start + 1):
                return line
        return None
