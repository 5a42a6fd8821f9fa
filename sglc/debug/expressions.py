"""Expressions of the language at a stop, over the variables that are there.

An expression is compiled as the body of a pure function that is put behind the module of the frame, with the
variables that it speaks of as its parameters. So it means what it would mean in the program. It cannot ask a
model, call Python or change anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sglc.bytecode.code import Program
from sglc.debug.paths import paths_of
from sglc.diagnostics.diagnostic import has_errors
from sglc.driver import compile_source
from sglc.options import CompileOptions
from sglc.runtime.debug.looking import variables_of
from sglc.runtime.debug.stops import Stop
from sglc.runtime.decoding.conversations.conversation import PlainChat
from sglc.runtime.decoding.requests import Constraints
from sglc.runtime.errors import SglError
from sglc.runtime.mask.vocabulary.vocabulary import BYTES
from sglc.runtime.vm.machine import Machine
from sglc.runtime.vm.state.frame import Frame
from sglc.runtime.vm.state.models import RunModel
from sglc.runtime.vm.state.run import Limits, Prepared, Run
from sglc.source import Source
from sglc.values.kinds import is_value, kind

LONGEST = 4000
"""Most characters of an expression."""
STEPS = 1_000_000
"""Most instructions that it may take."""
KEPT = 256
"""Compiled expressions that are kept: conditions of breakpoints are asked again and again."""
_FUNCTION = "debug_expression_of_this_stop"
_RESULT = "value_of_this_stop"
_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class _Compiled:
    program: Program | None
    problem: str


class Expressions:
    """Evaluates expressions at stops of one program."""

    def __init__(
        self, program: Program, options: CompileOptions | None = None, main: Path | None = None
    ) -> None:
        """`options` are those that the program was compiled with, `main` is where its main file lies: modules
        that it uses are looked up beside it."""
        self.program = program
        self._paths = [] if main is None else paths_of(program, main)
        self._outside = options is not None and options.allow_outside
        self._kept: dict[tuple[int, str, tuple[tuple[str, str], ...]], _Compiled] = {}

    async def __call__(self, stop: Stop, text: str) -> object:
        """See `evaluate`."""
        return await self.evaluate(stop.frame, text)

    async def evaluate(self, frame: Frame, text: str) -> object:
        """The value of an expression over the variables of a frame. Raises SglError with the reason where it
        has none."""
        text = text.strip()
        variables = {each.name: each for each in variables_of(self.program, frame)}
        if text in variables:
            return variables[text].value
        if not text or len(text) > LONGEST or "\n" in text or "\r" in text:
            raise SglError("Failure", f"an expression is one line of at most {LONGEST} characters")
        asked = {name: variables[name] for name in dict.fromkeys(_WORD.findall(text)) if name in variables}
        values = {name: each.value for name, each in asked.items()}
        for name, value in values.items():
            if isinstance(value, range):
                values[name] = list(value)
            elif not is_value(value):
                raise SglError("Failure", f"`{name}` is {kind(value)}: it can only be shown by itself")
        types = {name: each.type for name, each in asked.items()}
        compiled = self._compiled(frame, text, types)
        if compiled.program is None:
            raise SglError("Failure", compiled.problem)
        return await _value(compiled.program, values)

    def _compiled(self, frame: Frame, text: str, types: Mapping[str, str]) -> _Compiled:
        file = frame.code.places[0].file if frame.code.places else 0
        key = (file, text, tuple(types.items()))
        found = self._kept.get(key)
        if found is None:
            if len(self._kept) >= KEPT:
                self._kept.pop(next(iter(self._kept)))
            found = self._kept[key] = self._compile(file, text, types)
        return found

    def _compile(self, file: int, text: str, types: Mapping[str, str]) -> _Compiled:
        program = self.program
        source = program.sources[file] if file < len(program.sources) else ""
        if not program.files[file].endswith(".sgl"):
            return _Compiled(None, "expressions need a program in SGL: variables alone can be shown")
        if not source:
            return _Compiled(
                None, "the program was compiled without its source: variables alone can be shown"
            )
        parameters = ", ".join(f"{name}: {type}" for name, type in types.items())
        head = f"\n\npure fn {_FUNCTION}({parameters}):\n    let {_RESULT} = "
        whole = source.rstrip() + head + text + "\n"
        path = self._paths[file] if file < len(self._paths) else None
        path = Path(program.files[file]) if path is None else path
        made = compile_source(
            Source(str(path), whole),
            CompileOptions(0, allow_outside=self._outside),
        )
        if made.program is None or has_errors(made.diagnostics):
            errors = [each.message for each in made.diagnostics if each.severity == "error"]
            return _Compiled(None, errors[0] if errors else "this is no expression")
        return _Compiled(made.program, "")


async def _value(program: Program, values: Mapping[str, object]) -> object:
    """Run the function of the expression, and read its variable."""
    code = next(each for each in program.codes if each.name == _FUNCTION)
    constraints = Constraints()
    run = Run(
        Prepared(program, constraints, {}),
        model=RunModel(BYTES, constraints, chat=PlainChat()),
        limits=Limits(steps=STEPS),
    )
    machine = Machine(run)
    await machine.call(code, [values[each.name] for each in code.parameters])
    assert machine.last is not None
    return machine.last.slots[code.slots.index(_RESULT)]
