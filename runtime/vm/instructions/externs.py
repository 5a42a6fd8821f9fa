"""The instruction that calls a function of Python: mocked in tests, drawn in fuzzing, else by the host."""

from __future__ import annotations

import asyncio
from time import perf_counter

from sglc.automata.term import Language
from sglc.bytecode.code import Code
from sglc.bytecode.encoding import encode
from sglc.runtime.decoding.requests import HoleRequest
from sglc.runtime.errors import SglError
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.vm.holes.drawing import drawn_value
from sglc.runtime.vm.state.frame import Frame, take
from sglc.runtime.vm.state.run import CallOutcome
from sglc.runtime.vm.state.seed import known_name
from sglc.runtime.vm.state.strand import Outcome, Strand
from sglc.runtime.vm.state.values import failure
from sglc.types.language.language import language
from sglc.types.language.membership import is_member
from sglc.types.type import Type
from sglc.values.text import display


def do_python(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Pop `a` arguments, call the function of Python that the code stands for, and push what it gives."""
    return _call(machine, frame, take(frame, a))


async def _call(machine: Strand, frame: Frame, arguments: list[object]) -> None:
    code = frame.code
    assert code.extern is not None
    started = perf_counter()
    told: dict[str, object] = {"function": known_name(code), "target": code.extern.target}
    told["arguments"] = {
        parameter.name: display(argument, machine.program.table)
        for parameter, argument in zip(code.parameters, arguments, strict=True)
    }
    try:
        value, how = await _result(machine, code, arguments)
    except SglError as error:
        told |= {"error": error.name, "message": error.message}
        if error.fields:
            told["fields"] = {name: encode(part) for name, part in error.fields.items()}
        raise
    else:
        told |= {"result": display(value, machine.program.table), "how": how}
        if not isinstance(value, str):
            told["value"] = encode(value)
    finally:
        machine.emit("python", {**told, "seconds": round(perf_counter() - started, 4)})
    frame.stack.append(value)


async def _result(machine: Strand, code: Code, arguments: list[object]) -> tuple[object, str]:
    """What a call gives and how that was found: `mock`, `trace`, `fuzz`, `kept` of an earlier call, or
    `called`."""
    run, name = machine.run, known_name(code)
    type = None if code.result is None else machine.program.types[code.result]
    mocked = run.mocks.take(name, machine.branch)
    if mocked is not None:
        given, how, source = mocked[0], "mock", "the mock"
        if isinstance(given, CallOutcome):
            if given.error is not None:
                raise given.error
            given, how, source = given.value, "trace", "the recorded answer"
        if type is not None and not is_member(given, type, machine.program.table):
            raise failure(f"{source} of `{name}` is not a value of its result")
        return given, how
    if run.fuzzing:
        return (None if type is None else _drawn(machine, name, type)), "fuzz"
    if run.python is None:
        raise failure(f"`{name}` has no mock, and tests run no Python: write `mock {name} = …`")
    assert code.extern is not None
    if code.extern.key is None:
        return await run.python.call(code, arguments), "called"
    key = name, display(arguments[code.extern.key], machine.program.table)
    kept = run.writes.get(key)
    if kept is not None:
        return await asyncio.shield(kept), "kept"
    made = run.writes[key] = asyncio.get_running_loop().create_future()
    try:
        value = await run.python.call(code, arguments)
    except BaseException as error:
        if isinstance(error, SglError) and error.name == "Unsupported":
            del run.writes[key]  # it was never made
        made.set_exception(_unknown(name, error))
        made.exception()  # nobody need hear of it
        raise
    made.set_result(value)
    return value, "called"


def _unknown(name: str, error: BaseException) -> SglError:
    """What a second call with the key of a failed one gets: the first may have done its work."""
    if isinstance(error, SglError):
        return SglError(error.name, error.message, fields=error.fields)
    return SglError("Cancelled", f"the call of `{name}` with this key was ended")


def _drawn(machine: Strand, name: str, type: Type) -> object:
    """A random value of a type."""
    run, table = machine.run, machine.program.table
    described: Language = language(type, table, surface="hole")
    request = HoleRequest(name, ("python", name), described)
    try:
        matcher = run.prepared.constraints.value(request).matcher(run.model.vocabulary)
    except ConstraintError as fault:
        raise failure(f"the result of `{name}` cannot be drawn: {fault}") from None
    if matcher.is_dead():
        raise SglError("Unsatisfiable", f"the result of `{name}` has no value")
    return drawn_value(machine, name, matcher, described, type)
