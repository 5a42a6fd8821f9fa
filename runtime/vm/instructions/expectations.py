"""Instructions of tests: mocks, fuzzing, expectations."""

from __future__ import annotations

from sglc.runtime.vm.state.frame import Frame
from sglc.runtime.vm.state.run import GoldenCall
from sglc.runtime.vm.state.strand import Outcome, Strand
from sglc.runtime.vm.state.values import Cursor
from sglc.types.json_text import json_text


def do_mock(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Pop an answer for the hole of name `a`: for one fill, or with `b` for all that have no other."""
    machine.run.mock(machine.program.names[a], frame.stack.pop(), bool(b), machine.place(frame))
    return None


def do_fuzz(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """With `a` a round begins in which random walks over the masks fill holes; without, the model and mocks
    fill them again."""
    run = machine.run
    if a:
        run.draws.begin(machine.place(frame))
    else:
        run.draws.end()
    run.fuzzing = bool(a)
    return None


def _shown(machine: Strand, value: object) -> str:
    """A value in a message: texts in quotes, their line breaks escaped."""
    return json_text(value) if isinstance(value, str) else machine.show(value)


def do_witness(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Pop a part of the expectation that follows. Its text, name `a`, is shown with it."""
    machine.run.witnesses[machine.program.names[a]] = frame.stack.pop()
    return None


def do_expect(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Pop a condition. Where it is false, note a missed expectation with its witnesses and the variables."""
    machine.run.expectations += 1
    parts, machine.run.witnesses = machine.run.witnesses, {}
    if not frame.stack.pop():
        values = {text: _shown(machine, value) for text, value in parts.items()}
        values |= {
            name: _shown(machine, value)
            for name, value in zip(frame.code.slots, frame.slots, strict=True)
            if value is not None and not isinstance(value, Cursor) and not name.startswith("%")
        }
        machine.run.miss("the expectation does not hold", machine.place(frame), values)
    return None


def do_expect_raises(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Count an expected error. `b` says that it did not come, which is noted as missed."""
    machine.run.expectations += 1
    if b:
        name = machine.program.names[a]
        machine.run.miss(f"{name} was not raised", machine.place(frame), {})
    return None


def do_golden(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Note what holes are asked from here on."""
    machine.run.asked, machine.run.golden_from = [], len(machine.records.holes)
    return None


def do_end_golden(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Pop the value of a golden call, and keep it with what was noted."""
    run = machine.run
    run.expectations += 1
    asked, run.asked = tuple(run.asked or ()), None
    texts = tuple(record.text for record in machine.records.holes[run.golden_from :])
    run.goldens.append(GoldenCall(machine.place(frame), asked, texts, frame.stack.pop()))
    return None


def do_replay(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Note that the run in the trace of name `a` is to be run again."""
    machine.run.expectations += 1
    machine.run.replays.append((machine.program.names[a], machine.place(frame)))
    return None
