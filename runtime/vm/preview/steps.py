"""What instructions do in a preview: as in a run, but values may be unknown, and holes note what they get.

Every step looks at the items that its instruction takes (the opcode table says how many). Where all of them
are known it is the step of a run. Else most results are unknown; instructions that only move values keep what
is known (`TAKES`); text that is unknown is noted at its place. A preview takes for granted that what computes
does not fail.
"""

from __future__ import annotations

from collections.abc import Awaitable
from itertools import cycle
from typing import Literal

from sglc.bytecode.code import HoleSpec
from sglc.bytecode.opcodes import BY_NAME, OPCODES, Opcode
from sglc.runtime.vm.holes.retries import earlier_values, show_repairs
from sglc.runtime.vm.instructions.calls import do_return
from sglc.runtime.vm.instructions.streams import newest
from sglc.runtime.vm.machine import HANDLERS
from sglc.runtime.vm.preview.joins import pops, quiet_join
from sglc.runtime.vm.preview.record import Asked, Record, Remark
from sglc.runtime.vm.preview.unknown import Unknown, holes_of
from sglc.runtime.vm.state.frame import Frame, take
from sglc.runtime.vm.state.seed import known_name
from sglc.runtime.vm.state.strand import Outcome, Step, Strand
from sglc.runtime.vm.state.streams import CallStream
from sglc.runtime.vm.state.values import failure
from sglc.types.notation.sgl import show_type

TAKES: dict[str, str] = {
    "STORE": "-",
    "DUPLICATE": "-",
    "POP": "-",
    "LIST": "-",
    "TUPLE": "-",
    "MAP": "*-",
    "RECORD": "-",
    "VARIANT": "-",
    "APPEND": "+-",
    "ATTRIBUTE": "+",
    "INDEX": "+*",
    "SLICE": "+**",
    "WITH_ITEM": "+*-",
    "WITH_FIELD": "+-",
    "IS_VARIANT": "+",
    "ITERATE": "+",
    "NEXT": "+",
    "BUILTIN len": "+",
    "BINARY +": "++",
    "CALL": "-",
    "STREAM": "-",
    "CALL_PART": "-",
    "RETURN": "-",
    "FORK": "+",
    "ADOPT": "+",
}
"""Instructions that work with unknown values, and what they must know of each item that they take, the first
again behind the last: `*` all of it, `+` its outermost value (a list of unknown items will do), `-` none."""


def preview_steps(record: Record) -> tuple[Step, ...]:
    """The machine's table for one preview, in the order of the opcodes."""
    own: dict[str, Step] = {
        "ROLE": _noting("role"),
        "END_ROLE": _noting("end"),
        "START": _not_early,
        "CALL": _calling(record),
        "STREAM": _streaming(record),
        "STREAM_NEXT": _reading(record),
        "STREAM_PART": _part(record),
        "FORK": _forking,
        "GEN": _asking(record),
        "SELECT": _asking(record),
        "PYTHON": _python(record),
    }
    return tuple(_step(opcode, own.get(opcode.name) or HANDLERS[opcode.number], record) for opcode in OPCODES)


def _step(opcode: Opcode, usual: Step, record: Record) -> Step:
    """The usual step, and another one for unknown items."""
    if opcode.pops == 0 or opcode.name in ("GEN", "SELECT", "PYTHON"):
        return usual

    def step(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
        if not record.uncertain:
            return usual(machine, frame, a, b)
        count = pops(frame.code, frame.pc - 1)
        items = frame.stack[len(frame.stack) - count :]
        holes = holes_of(items)
        if not holes:
            return usual(machine, frame, a, b)
        name = opcode.name
        if name in ("BUILTIN", "BINARY"):
            name = f"{name} {machine.program.names[a]}"
        if name in TAKES and _suffices(items, TAKES[name]):
            return usual(machine, frame, a, b)
        match name:
            case "JUMP_IF_FALSE" | "JUMP_IF_TRUE":
                frame.stack.pop()
                return _skip(machine, frame, holes, record)
            case "NEXT":
                return _skip(machine, frame, holes, record)
            case "FORK" | "ADOPT":
                return _stop(machine, frame, holes, record)
            case "INSERT":
                frame.stack.pop()
                assert frame.conversation is not None
                frame.conversation.text("")
                frame.conversation.note("unknown", _source(machine, frame) or "${…}")
            case "RAISE" | "RETRY" | "RECORD_CHECK":
                del frame.stack[len(frame.stack) - count :]
                frame.stack += ["…" if holes_of((item,)) else item for item in items]
                return usual(machine, frame, a, b)
            case "CHECK_TYPE" | "LIMIT":
                pass
            case "CHECK_GIVEN":
                del frame.stack[len(frame.stack) - count + 1 :]
            case _:
                del frame.stack[len(frame.stack) - count :]
                frame.stack += [Unknown(holes)] * opcode.pushes
        return None

    return step


def _suffices(items: list[object], takes: str) -> bool:
    """Whether what is known of the items is as much as an instruction needs."""
    for item, need in zip(items, cycle(takes), strict=False):
        if (need == "+" and isinstance(item, Unknown)) or (need == "*" and holes_of((item,))):
            return False
    return True


def _skip(machine: Strand, frame: Frame, holes: tuple[str, ...], record: Record) -> Outcome:
    """Go on where the arms of a branch on an unknown value meet, or stop where they can be told apart."""
    join = quiet_join(machine.program, frame.code, frame.pc - 1)
    if join is None:
        return _stop(machine, frame, holes, record)
    if join.fails and frame.conversation is not None:
        written = len(frame.conversation.rendered())
        remark = Remark(_source(machine, frame), machine.place(frame), holes, written)
        record.of(machine, frame).passed.append(remark)
    unknown = Unknown(holes)
    for slot in join.stored:
        frame.slots[slot] = unknown
    if join.target is None:
        frame.stack.append(unknown)
        return do_return(machine, frame, 0, 0)
    frame.stack += [unknown] * join.pushed
    frame.pc = join.target
    return None


def _stop(machine: Strand, frame: Frame, holes: tuple[str, ...], record: Record) -> Outcome:
    """Leave the function that has the conversation; its caller goes on with an unknown result."""
    if frame.conversation is not None:
        stopped = Remark(_source(machine, frame), machine.place(frame), holes)
        record.of(machine, frame).stopped = stopped
    frames = machine.frames
    while frames[-1].code.kind == "part" and len(frames) > 1:
        frames.pop().leave()
    frames[-1].stack.append(Unknown(holes))
    return do_return(machine, frames[-1], 0, 0)


def _source(machine: Strand, frame: Frame) -> str:
    """The text in the source of the instruction at hand, on one line; empty where there is none."""
    place, program = machine.place(frame), machine.program
    if place is None or not 0 <= place.file < len(program.sources):
        return ""
    return " ".join(program.sources[place.file][place.start : place.end].split())


def _noting(kind: Literal["role", "end"]) -> Step:
    """Open or close a message, and note that."""
    usual = HANDLERS[BY_NAME["ROLE" if kind == "role" else "END_ROLE"].number]

    def step(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
        usual(machine, frame, a, b)
        assert frame.conversation is not None
        frame.conversation.note(kind, frame.conversation.state.roles[-1])
        return None

    return step


def _not_early(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Leave the hint out: conversations begin in the order of the program."""
    take(frame, b)
    return None


def _calling(record: Record) -> Step:
    """Call a function, and note its conversation."""
    usual = HANDLERS[BY_NAME["CALL"].number]

    def step(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
        outcome = usual(machine, frame, a, b)
        record.enter(machine)
        return outcome

    return step


def _streaming(record: Record) -> Step:
    """Open a stream, and note the conversation of its call."""
    usual = HANDLERS[BY_NAME["STREAM"].number]

    def step(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
        usual(machine, frame, a, b)
        record.enter(newest(frame).machine, machine.place(frame))
        return None

    return step


def _reading(record: Record) -> Step:
    """Read a stream; whether there is more of a result that is not known is not known."""

    async def read(frame: Frame, stream: CallStream, hole: str) -> None:
        more = await stream.next(hole)
        holes = holes_of((stream.current,)) if record.uncertain else ()
        frame.stack.append(Unknown(holes) if holes else more)

    def step(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
        return read(frame, newest(frame), machine.program.names[a])

    return step


def _part(record: Record) -> Step:
    """What is there of a result; unknown where it is not all known."""
    usual = HANDLERS[BY_NAME["STREAM_PART"].number]

    def step(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
        holes = holes_of((newest(frame).current,)) if record.uncertain else ()
        if not holes:
            return usual(machine, frame, a, b)
        frame.stack.append(Unknown(holes))
        return None

    return step


def _forking(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Begin the conversation that several branches share, as a model would read it, and fork."""
    items = frame.stack[-1]
    several = isinstance(items, list | tuple | range | dict | str) and len(items) > 1
    if several and frame.conversation is not None:
        frame.conversation.start()
    return HANDLERS[BY_NAME["FORK"].number](machine, frame, a, b)


def _asking(record: Record) -> Step:
    """A hole: what it is asked is recorded, then it is filled as a test would fill it, or is unknown."""

    def step(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
        run, spec = machine.run, machine.program.holes[a]
        recorded, conversation = record.of(machine, frame), frame.conversation
        assert conversation is not None
        conversation.start()
        _, repairs, _ = earlier_values(frame, a)
        mark = show_repairs(conversation, repairs)
        recorded.asked.append(Asked(spec.name, conversation.state))
        conversation.restore(mark)
        depends = holes_of(frame.stack[len(frame.stack) - b :])
        first = (*machine.path, 0) if "n" in spec.options else machine.path
        if run.fuzzing or run.mocks.has(spec.name, ".".join(map(str, first))):
            if depends:
                missing = ", ".join(f"`{name}`" for name in depends)
                raise failure(f"hole `{spec.name}` depends on {missing}, which has no value yet")
            op = frame.code.instructions[frame.pc - 1].op
            outcome = HANDLERS[op](machine, frame, a, b)
            assert isinstance(outcome, Awaitable)
            return _filled(frame, spec.name, a, outcome)
        take(frame, b)
        conversation.text("")
        conversation.note("unknown", _hole_text(machine, spec))
        record.uncertain = True
        value = Unknown((spec.name,))
        frame.holes[spec.name.rpartition(".")[2]] = value
        frame.texts[a] = ""
        frame.stack.append(value)
        return None

    return step


def _python(record: Record) -> Step:
    """A call of Python, which a preview never makes: its mock, a drawn value, or an unknown one."""
    usual = HANDLERS[BY_NAME["PYTHON"].number]

    def step(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
        name = known_name(frame.code)
        items = frame.stack[len(frame.stack) - a :]
        if not holes_of(items) and (machine.run.fuzzing or machine.run.mocks.has(name, machine.branch)):
            return usual(machine, frame, a, b)
        take(frame, a)
        record.uncertain = True
        frame.stack.append(Unknown((name,)))
        return None

    return step


async def _filled(frame: Frame, name: str, hole: int, outcome: Awaitable[object]) -> None:
    """Fill a hole and note its text; where no value was left, the machine is somewhere else."""
    before = frame.pc
    await outcome
    if frame.pc == before and frame.conversation is not None:
        frame.conversation.note("value", name, len(frame.texts[hole]))


def _hole_text(machine: Strand, spec: HoleSpec) -> str:
    """`?{name: type}`, as a program writes it."""
    short = spec.name.rpartition(".")[2]
    type = "one of its options" if spec.type is None else show_type(machine.program.types[spec.type])
    mode = "" if spec.mode == "gen" else f"{spec.mode} "
    return f"?{{{short}: {mode}{type}}}"
