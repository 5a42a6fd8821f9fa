"""Values that a user gives a hole: they must be legal for it, and are written in their one spelling."""

from __future__ import annotations

import json
from copy import copy
from dataclasses import replace

from sglc.bytecode.code import HoleSpec
from sglc.runtime.errors import SglError
from sglc.runtime.vm.holes import holes
from sglc.runtime.vm.holes.options import Options, finite_values
from sglc.runtime.vm.state.frame import Frame
from sglc.runtime.vm.state.run import Written
from sglc.runtime.vm.state.strand import Strand
from sglc.types.json_text import json_text
from sglc.types.language.membership import MemberError
from sglc.types.notation.sgl import show_type
from sglc.types.text.plain_json import from_text
from sglc.types.text.printer import print_value
from sglc.types.text.scalar_printer import PrintError
from sglc.types.type import Type

MOST_OPTIONS = 8
"""Most options that a message names."""
LONGEST = 1_000_000
"""Most characters of a value that is given."""


def given_options(frame: Frame) -> list[object]:
    """The options of the hole that a frame is about to fill."""
    count = frame.code.instructions[frame.pc].b
    return frame.stack[-count:] if count else []


def aside(frame: Frame) -> Frame:
    """A copy of a frame that is about to fill a hole, from which its request can be made without a trace."""
    twin = copy(frame)
    twin.pc = frame.pc - 1
    twin.seeds = replace(frame.seeds, calls=dict(frame.seeds.calls))
    twin.stack = list(frame.stack)
    return twin


async def legal_texts(machine: Strand, frame: Frame, index: int, text: str) -> tuple[str, ...]:
    """The canonical text of a value that a user writes: text, numbers and members of enums as they are, all
    else as JSON. Of a hole with several samples a JSON list of texts, one for each.

    Raises SglError with the reason where the hole cannot take it.
    """
    spec = machine.program.holes[index]
    if len(text) > LONGEST:
        raise SglError("Failure", f"a value has at most {LONGEST} characters")
    options = given_options(frame)
    if "n" in spec.options:
        return await _samples(machine, frame, index, options, text)
    return (await _one(machine, frame, index, options, text),)


async def _samples(
    machine: Strand, frame: Frame, index: int, options: list[object], text: str
) -> tuple[str, ...]:
    spec = machine.program.holes[index]
    wanted = options[spec.options.index("n")]
    if spec.decoding is not None and (spec.decoding.distinct or spec.decoding.strategy == "beam"):
        raise SglError("Unsupported", f"samples of `{spec.name}` are found together; they take no values")
    try:
        values = json.loads(text)
    except ValueError:
        values = None
    if not isinstance(values, list) or len(values) != wanted:
        raise SglError("Failure", f"hole `{spec.name}` takes a JSON list of {wanted} values")
    texts = []
    for each in values:
        shown = each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)
        texts.append(await _one(machine, frame, index, options, shown))
    return tuple(texts)


def answer(machine: Strand, spec: HoleSpec, texts: tuple[str, ...]) -> None:
    """Have a hole that is about to be filled answered by legal texts. They use up a scripted model's own
    answers to it, and mocks and random draws of a test."""
    branch, run = machine.branch, machine.run
    for number, text in enumerate(texts):
        at = branch if "n" not in spec.options else f"{branch}.{number}" if branch else str(number)
        if run.mocks.take(spec.name, at) is None and run.fuzzing:
            run.draws.next(spec.name, at)
        run.mock(f"{spec.name}@{at}", Written(text), always=False)
        script = machine.run.model.script
        if script is not None:
            script.skip(spec.name)


async def _one(machine: Strand, frame: Frame, index: int, given: list[object], text: str) -> str:
    spec = machine.program.holes[index]
    twin = aside(frame)
    if spec.mode == "select":
        return _option(machine, spec, given, text)
    request, values, type = holes.request_of(machine, twin, index, Options(spec, given))
    if type is None:
        return _named(spec, list(values), text)
    try:
        value = from_text(text, type, machine.program.table)
        canonical = print_value(value, type, machine.program.table)
    except MemberError as problem:
        raise _refused(spec, type, text, str(problem)) from None
    except PrintError as problem:
        raise _refused(spec, type, text, str(problem)) from None
    verdicts = holes.verdicts_of(machine, spec, Options(spec, given).asked()) if spec.validators else None
    try:
        await holes.accept_given(machine, request, type, canonical, verdicts)
    except SglError as problem:
        if problem.name != "Failure":
            raise
        reason = "its validator does not accept it" if "validator" in problem.message else ""
        raise _refused(spec, type, canonical, reason or "the hole's mask does not allow it") from None
    return canonical


def _option(machine: Strand, spec: HoleSpec, given: list[object], text: str) -> str:
    candidates = Options(spec, given).candidates(machine.program.table)
    if candidates is None:
        assert spec.type is not None
        candidates = finite_values(machine.program.types[spec.type], machine.program.table)
    return _named(spec, [machine.show(each) for each in candidates], text)


def _named(spec: HoleSpec, options: list[str], text: str) -> str:
    if text in options:
        return text
    shown = ", ".join(json_text(each) for each in options[:MOST_OPTIONS])
    more = ", …" if len(options) > MOST_OPTIONS else ""
    raise SglError("Failure", f"{json_text(text)} is no option of `{spec.name}`: {shown}{more}")


def _refused(spec: HoleSpec, type: Type, text: str, reason: str) -> SglError:
    shown = text if len(text) <= 80 else text[:79] + "…"
    why = f": {reason}" if reason else ""
    return SglError("Failure", f"{json_text(shown)} is no value of `{spec.name}` ({show_type(type)}){why}")
