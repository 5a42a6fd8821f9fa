"""Instructions that enter and leave functions, and those that let calls run ahead."""

from __future__ import annotations

import asyncio

from sglc.bytecode.code import Code
from sglc.runtime.vm.state.frame import Frame, Signal, take
from sglc.runtime.vm.state.seed import known_name
from sglc.runtime.vm.state.strand import Outcome, Strand
from sglc.runtime.vm.state.tasks import Task, begun


def do_call(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Call code `a` with the newest `b` items, or join the task that runs this call already.

    `Strand.push` says in which conversation it runs.
    """
    code = machine.program.codes[a]
    arguments = take(frame, b)
    if frame.tasks:
        task = begun(frame, a, arguments)
        if task is not None:
            return _join(machine, frame, task, code, arguments)
    return _enter(machine, frame, code, arguments)


def _enter(machine: Strand, frame: Frame, code: Code, arguments: list[object]) -> Signal:
    machine.push(code, arguments, frame, frame.allowances)
    if machine.run.listeners and code.kind != "pure":
        within = {"part": True} if code.kind == "part" else {}
        machine.emit("call", {"function": known_name(code), **within})
    return Signal.SWITCH


async def _join(
    machine: Strand, frame: Frame, task: Task, code: Code, arguments: list[object]
) -> Signal | None:
    """Wait for a task and go on as if its call had run here; if it may have gone otherwise, run it here.

    Where no budget has changed since the task began, its events are told as they happen from here on. Else
    they are told at its end, when it is known that it fitted.
    """
    run = machine.run
    assert task.future is not None
    if not task.fits(run):
        task.drop()
        return _enter(machine, frame, code, arguments)
    timely = task.timely
    if timely:
        run.let_in(task.run)
    try:
        await asyncio.wait([task.future])
    except BaseException:
        task.drop()
        await asyncio.wait([task.future])
        if timely:
            task.settle()
        raise
    if not timely:
        if not task.fits(run):
            return _enter(machine, frame, code, arguments)
        run.let_in(task.run)
    task.settle()
    frame.seeds.call(known_name(code))
    frame.stack.append(task.future.result())
    return None


def do_start(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Pop `b` items: a call of code `a` with them will come. It may begin, beside what comes before it."""
    arguments = take(frame, b)
    if machine.run.tasks is not None:
        machine.run.tasks.hint(machine, frame, a, arguments)
    return None


def do_return(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Leave the frame with the newest item as its result. The frame frees what it holds."""
    value = frame.stack.pop()
    frames = machine.frames
    if (len(frames) > 1 or machine.callers) and machine.run.listeners and frame.code.kind != "pure":
        machine.emit("return", {"function": known_name(frame.code)})
    frames.pop()
    if frames:
        frame.leave()
        frames[-1].stack.append(value)
    else:
        frame.drop_tasks()
        machine.last = frame
        machine.result = value
    return Signal.SWITCH
