"""The predicates of a program's types, asked of values by calls of their functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sglc.bytecode.code import Code, Program
from sglc.runtime.vm.state.values import failure
from sglc.types.language.predicates import asked, predicates_of

if TYPE_CHECKING:
    from sglc.runtime.vm.state.frame import Frame
    from sglc.runtime.vm.state.strand import Strand


class TypePredicates:
    """Which types have predicates, and the functions of these."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[int, bool] = {}
        self._codes: dict[str, Code] = {}

    def of(self, index: int) -> bool:
        """Whether anything is asked of values of type number `index`."""
        found = self._known.get(index)
        if found is None:
            found = bool(predicates_of(self._program.types[index], self._program.table))
            self._known[index] = found
        return found

    def code(self, name: str) -> Code:
        """The function of that name. The verifier sees to it that there is one."""
        if not self._codes:
            self._codes = {code.name: code for code in self._program.codes}
        return self._codes[name]


async def _fault(machine: Strand, value: object, index: int) -> str | None:
    """The first predicate that does not hold of a member of type number `index`, as a sentence."""
    program = machine.program
    for path, predicate, part in asked(value, program.types[index], program.table):
        code = machine.run.prepared.predicates.code(predicate.function)
        if await machine.compute(code, [part]) is not True:
            return f"{f'at {path}: ' if path else ''}`{predicate.text}` does not hold"
    return None


async def hold(machine: Strand, value: object, index: int) -> None:
    """Raises Failure where a predicate of type number `index` does not hold of its member."""
    fault = await _fault(machine, value, index)
    if fault is not None:
        raise failure(f"a value is outside of its type: {fault}")


async def decide(machine: Strand, frame: Frame, value: object, index: int) -> None:
    """Replace the newest item by whether the predicates of type number `index` hold of its member."""
    frame.stack[-1] = await _fault(machine, value, index) is None
