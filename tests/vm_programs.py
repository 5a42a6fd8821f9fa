"""Programs assembled by hand, for tests of the virtual machine.

Instructions are tuples: the opcode's name and its operands as what they stand for (a constant's value, a
name, a type, a hole, the name of a code, a label), which the builder turns into indices. A string that ends
with a colon is a label.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sglc.bytecode.code import (
    Code,
    ErrorSpec,
    HoleSpec,
    Instruction,
    ParameterSpec,
    Place,
    Program,
    RetryPoint,
)
from sglc.bytecode.opcodes import BY_NAME
from sglc.bytecode.verify import verify
from sglc.types.type import DeclaredType, Type

Line = tuple[Any, ...] | str


class Assembler:
    """Collects codes and their pools into a program."""

    def __init__(self, **table: DeclaredType) -> None:
        self.table = table
        self.constants: list[Any] = []
        self.names: list[str] = []
        self.types: list[Type] = []
        self.holes: list[HoleSpec] = []
        self.errors: list[ErrorSpec] = []
        self._codes: list[tuple[dict[str, Any], Sequence[Line]]] = []

    @staticmethod
    def _index(pool: list[Any], value: Any) -> int:
        for index, known in enumerate(pool):
            if type(known) is type(value) and known == value:
                return index
        pool.append(value)
        return len(pool) - 1

    def type(self, type: Type) -> int:
        return self._index(self.types, type)

    def hole(self, name: str, type: Type | None = None, mode: Any = "gen", **more: Any) -> HoleSpec:
        index = None if type is None else self.type(type)
        more.setdefault("stops", ("\n",) if mode == "gen" else ())
        return HoleSpec(name, mode, index, **more)

    def code(
        self,
        name: str,
        lines: Sequence[Line],
        *,
        parameters: dict[str, Type] | None = None,
        slots: str = "",
        result: Type | None = None,
        retries: Sequence[tuple[str, int, HoleSpec, str]] = (),
        **more: Any,
    ) -> None:
        names = (*(parameters or {}), *slots.split())
        described = {
            "name": name,
            "kind": more.pop("kind", "fn"),
            "parameters": tuple(ParameterSpec(n, self.type(t)) for n, t in (parameters or {}).items()),
            "slots": names,
            "result": None if result is None else self.type(result),
            "retries": tuple(
                RetryPoint(strategy, attempts, self._index(self.holes, hole), names.index(slot))  # type: ignore[arg-type]
                for strategy, attempts, hole, slot in retries
            ),
            **more,
        }
        self._codes.append((described, lines))

    def _operand(self, kind: str, value: Any, names: tuple[str, ...], labels: dict[str, int]) -> int:
        match kind:
            case "constant":
                return self._index(self.constants, value)
            case "name":
                return self._index(self.names, value)
            case "type":
                return self.type(value)
            case "hole":
                return self._index(self.holes, value)
            case "code":
                return next(i for i, (d, _) in enumerate(self._codes) if d["name"] == value)
            case "slot":
                return names.index(value)
            case "target":
                return labels[value]
        return int(value)

    def program(self) -> Program:
        codes = []
        for described, lines in self._codes:
            labels: dict[str, int] = {}
            rows: list[tuple[Any, ...]] = []
            for line in lines:
                if isinstance(line, str):
                    labels[line.rstrip(":")] = len(rows)
                else:
                    rows.append(line)
            instructions, places = [], []
            for number, (name, *operands) in enumerate(rows):
                op = BY_NAME[name]
                values = [
                    self._operand(kind, value, described["slots"], labels)
                    for kind, value in zip(op.operands, operands, strict=True)
                ]
                instructions.append(Instruction(op.number, *values))
                places.append(Place(0, 0, 0, number + 1, 1))
            codes.append(Code(instructions=tuple(instructions), places=tuple(places), **described))
        entry = {code.name: i for i, code in enumerate(codes) if code.kind in ("fn", "pure")}
        made = Program(
            "hand",
            tuple(codes),
            entry,
            tuple(self.constants),
            tuple(self.names),
            tuple(self.types),
            dict(self.table),
            tuple(self.holes),
            tuple(self.errors),
            ("hand.sgl",),
        )
        assert [fault.reason or fault.message for fault in verify(made)] == []
        return made
