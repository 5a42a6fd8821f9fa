"""Programs assembled by hand, for tests of the virtual machine.

Instructions are tuples: the opcode's name and its operands as what they stand for (a constant's value, a
name, a type, a hole, the name of a code, a label), which the builder turns into indices. A string that ends
with a colon is a label.
"""

from __future__ import annotations

import asyncio
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
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.results import RunResult
from sglc.runtime.session import Session
from sglc.types.type import DeclaredType, EnumType, FieldType, Int, RecordType, Str, Type, UnionType

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


# -- programs that several tests run -----------------------------------------------------------------


WORD = Str(max_chars=20)
MOOD = EnumType("Mood", ("calm", "angry"))
PET = RecordType("Pet", (FieldType("name", WORD), FieldType("age", Int(0, 30))))
SHAPE = UnionType("Shape", (RecordType("Dot", ()), RecordType("Square", (FieldType("side", Int(1, 9)),))))


def assembler() -> Assembler:
    return Assembler(Mood=MOOD, Pet=PET, Shape=SHAPE)


def run(
    built: Assembler,
    arguments: dict[str, Any] | None = None,
    answers: Any = None,
    name: str = "f",
    **more: Any,
) -> RunResult:
    limits = more.pop("limits", None)
    engine = ReferenceEngine(ScriptedModel(answers))
    try:
        return asyncio.run(Session(built.program(), engine, limits=limits).run(name, arguments, **more))
    finally:
        engine.close()


def value(*lines: Any, slots: str = "", **arguments: Any) -> Any:
    """What a function of these instructions returns."""
    built = assembler()
    types = {name: Int() if isinstance(v, int) else WORD for name, v in arguments.items()}
    built.code("f", [*lines, ("RETURN",)], slots=slots, parameters=types)
    return run(built, arguments).value


def recursion() -> Assembler:
    built = assembler()
    built.code(
        "f",
        [
            ("LOAD", "n"),
            ("CONSTANT", 0),
            ("BINARY", "=="),
            ("JUMP_IF_TRUE", "end"),
            ("LOAD", "n"),
            ("LOAD", "n"),
            ("CONSTANT", 1),
            ("BINARY", "-"),
            ("CALL", "f", 1),
            ("BINARY", "+"),
            ("RETURN",),
            "end:",
            ("CONSTANT", 0),
            ("RETURN",),
        ],
        parameters={"n": Int()},
        kind="pure",
    )
    return built


def hole_program(type: Any, **more: Any) -> Assembler:
    built = assembler()
    options = more.pop("given", {})
    hole = built.hole("f.x", type, options=tuple(options), **more)
    built.code(
        "f",
        [
            ("ROLE", "assistant"),
            ("LINE",),
            *[("CONSTANT", option) for option in options.values()],
            ("GEN", hole, len(options)),
            ("STORE", "x"),
            ("END_ROLE",),
            ("LOAD", "x"),
            ("RETURN",),
        ],
        slots="x",
    )
    return built


def retry_program(strategy: str, attempts: int) -> Assembler:
    built = assembler()
    hole = built.hole("f.n", Int(0, 9))
    built.code(
        "f",
        [
            ("ROLE", "assistant"),
            ("LINE",),
            ("TEXT", "n = "),
            ("SNAPSHOT", 0),
            ("GEN", hole, 0),
            ("STORE", "n"),
            ("LOAD", "n"),
            ("CONSTANT", 5),
            ("BINARY", ">"),
            ("JUMP_IF_TRUE", "fine"),
            ("CONSTANT", "too small"),
            ("RETRY", 0),
            ("CONSTANT", "too small"),
            ("RAISE", "Rejected", 1),
            "fine:",
            ("LOAD", "n"),
            ("RETURN",),
        ],
        slots="n",
        retries=[(strategy, attempts, hole, "n")],
    )
    return built


def fork_program(skip: bool = False) -> Assembler:
    built = assembler()
    hole = built.hole("f.idea", WORD)
    built.code(
        "f",
        [
            ("ROLE", "user"),
            ("LINE",),
            ("TEXT", "Ideas?"),
            ("END_ROLE",),
            ("CONSTANT", 0),
            ("CONSTANT", 3),
            ("RANGE", 0),
            ("FORK", "body", int(skip)),
            ("STORE", "ideas"),
            ("LOAD", "ideas"),
            ("CONSTANT", 0),
            ("INDEX",),
            ("STORE", "best"),
            ("LOAD", "best"),
            ("ADOPT",),
            ("LOAD", "best"),
            ("ATTRIBUTE", "idea"),
            ("LOAD", "ideas"),
            ("BUILTIN", "len", 1),
            ("LOAD", "best"),
            ("ATTRIBUTE", "value"),
            ("LIST", 3),
            ("RETURN",),
        ],
        slots="ideas best i idea",
    )
    built.code(
        "body",
        [
            ("LOAD", "i"),
            ("SEED",),
            ("ROLE", "assistant"),
            ("LINE",),
            ("GEN", hole, 0),
            ("STORE", "idea"),
            ("LOAD", "idea"),
            ("CONSTANT", "bad"),
            ("BINARY", "=="),
            ("JUMP_IF_FALSE", "fine"),
            ("CONSTANT", "bad idea"),
            ("RAISE", "Rejected", 1),
            "fine:",
            ("LOAD", "i"),
            ("CONSTANT", 10),
            ("BINARY", "*"),
            ("RETURN",),
        ],
        slots="ideas best i idea",
        kind="fork",
        fork_slot=2,
    )
    return built


def program_with_tests() -> Assembler:
    built = hole_program(Int(0, 9))
    built.code(
        "mocked",
        [
            ("CONSTANT", 4),
            ("MOCK", "f.x", 0),
            ("CALL", "f", 0),
            ("STORE", "it"),
            ("LOAD", "it"),
            ("CONSTANT", 4),
            ("BINARY", "=="),
            ("EXPECT",),
            ("LOAD", "it"),
            ("CONSTANT", 5),
            ("BINARY", "=="),
            ("EXPECT",),
            ("CONSTANT", None),
            ("RETURN",),
        ],
        slots="it",
        kind="test",
    )
    built.code(
        "fuzzed",
        [
            ("FUZZ", 1),
            ("CONSTANT", 0),
            ("CONSTANT", 300),
            ("RANGE", 0),
            ("ITERATE",),
            ("STORE", "items"),
            "again:",
            ("LOAD", "items"),
            ("NEXT", "done", "i"),
            ("STORE", "items"),
            ("CALL", "f", 0),
            ("STORE", "it"),
            ("LOAD", "it"),
            ("CONSTANT", 9),
            ("BINARY", "<="),
            ("EXPECT",),
            ("JUMP", "again"),
            "done:",
            ("POP",),
            ("FUZZ", 0),
            ("CALL", "f", 0),
            ("RETURN",),
        ],
        slots="i it items",
        kind="test",
    )
    built.code("wrong", [("CONSTANT", 44), ("MOCK", "f.x", 1), ("CALL", "f", 0), ("RETURN",)], kind="test")
    return built
