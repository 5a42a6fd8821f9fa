"""The virtual machine: one loop over the opcode table, with explicit frames.

One `Machine` is one line of execution. A fork starts one more for each branch. All of them share the `Run`:
limits, budgets, statistics, listeners. The verifier has proved stack depths, jumps and operands, so the loop
checks none of them. It polls the step budget and cancellation in one place. The verifier does not prove kinds
of values. Instructions that only compute may meet a wrong kind (`ON_VALUES`); all others look first.
"""

from __future__ import annotations

import asyncio

from sglc.bytecode.code import Code
from sglc.bytecode.opcodes import OPCODES
from sglc.runtime.decoding.conversations.said import Said, resume
from sglc.runtime.engine.core.errors import EngineError, language_error
from sglc.runtime.engine.sampling.seeds import mix
from sglc.runtime.errors import SglError
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.vm.holes.models import warm
from sglc.runtime.vm.instructions import calls as call_steps
from sglc.runtime.vm.instructions import control_flow as control_steps
from sglc.runtime.vm.instructions import expectations as expectation_steps
from sglc.runtime.vm.instructions import externs as extern_steps
from sglc.runtime.vm.instructions import streams as stream_steps
from sglc.runtime.vm.instructions import text as text_steps
from sglc.runtime.vm.instructions import values as value_steps
from sglc.runtime.vm.state.frame import Allowance, Frame, Signal
from sglc.runtime.vm.state.run import BREATH, Records
from sglc.runtime.vm.state.seed import Seeds, known_name
from sglc.runtime.vm.state.strand import Outcome, Step, Strand
from sglc.runtime.vm.state.values import BranchValue, failure
from sglc.values.kinds import KIND_FAULTS, ValueFault, kind

_ASKING = frozenset(number for number, code in enumerate(OPCODES) if "hole" in code.operands)
"""Instructions that fill a hole."""
FORK_LIMIT = 1024
"""Most branches of one fork."""


class Machine(Strand):
    """Runs a strand: takes instruction after instruction until its first frame returns."""

    async def call(
        self,
        code: Code,
        arguments: list[object],
        allowances: tuple[Allowance, ...] = (),
        said: Said | None = None,
    ) -> object:
        """The result of one function, with a conversation of its own, which begins with what was `said`."""
        frame = self.push(code, arguments, None, allowances)
        if said is not None and frame.conversation is not None:
            resume(frame.conversation, said)
        return await self.execute()

    async def execute(self) -> object:
        """Run until the first frame returns."""
        run = self.run
        frames = self.frames
        handlers = run.handlers or HANDLERS
        while True:
            frame = frames[-1]
            instructions = frame.code.instructions
            try:
                while True:
                    op, a, b = instructions[frame.pc]
                    frame.pc += 1
                    run.steps += 1
                    if run.steps >= run.pause_at:
                        await self._poll()
                    try:
                        outcome = handlers[op](self, frame, a, b)
                    except KIND_FAULTS as error:
                        if op not in ON_VALUES or isinstance(error, ConstraintError):
                            raise
                        raise _wrong_kind(op) from error
                    if outcome is None:
                        continue
                    if outcome is Signal.SWITCH or await outcome is Signal.SWITCH:
                        break
            except SglError as error:
                self._unwind(error)
            except ValueFault as fault:
                self._unwind(failure(str(fault)))
            except ConstraintError as error:
                self._unwind(SglError("Unsatisfiable", str(error)))
            except EngineError as error:
                self._unwind(language_error(error))
            except BaseException:
                while frames:
                    frames.pop().leave()
                raise
            if not frames:
                return self.result

    async def _poll(self) -> None:
        run = self.run
        run.check()
        if run.steps >= run.breath_at:
            run.breath_at = run.steps + BREATH
            await asyncio.sleep(0)
        run.pause_at = min(run.breath_at, run.step_limit)

    def _unwind(self, error: SglError) -> None:
        """Continue at the newest handler, or leave the machine with the error."""
        if error.place is None and self.frames:
            error.place = self.place(self.frames[-1])
            error.calls = self.names()
        while self.frames:
            frame = self.frames[-1]
            kept = len(frame.handlers)
            while kept and frame.handlers[kept - 1].target is None:
                kept -= 1
            frame.drop_handlers(kept)
            if frame.handlers and not error.fatal:
                handler = frame.handlers.pop()
                assert handler.target is not None
                del frame.stack[handler.depth :]
                frame.pc = handler.target
                if handler.quiet:
                    return
                frame.drop_tasks()
                if handler.mark is not None and frame.conversation is not None:
                    frame.conversation.restore(handler.mark)
                frame.caught = error
                self.emit(
                    "error", {"name": error.name, "message": error.message, "caught": True}, error.place
                )
                return
            if not error.partial and frame.conversation is not None:
                error.partial = frame.conversation.state.message
            if (len(self.frames) > 1 or self.callers) and self.run.listeners and frame.code.kind != "pure":
                left: dict[str, object] = {"function": known_name(frame.code), "error": error.name}
                self.emit("return", left, error.place)
            self.frames.pop().leave()
        raise error


def _wrong_kind(op: int) -> SglError:
    """The error of an instruction that met a value of a wrong kind.

    The verifier proves depths, not kinds. So a file that no compiler wrote can lead here.
    """
    return SglError("Failure", f"{OPCODES[op].name} met a value that it cannot work on", fatal=True)


def do_fork(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Run fork body `a` for each item that is popped, side by side, and push the branches.

    With `b` branches that fail are left out. Without it the first that fails ends the others, and its
    error is raised. Raises Failure beyond FORK_LIMIT branches.
    """
    return _fork_branches(machine, frame, machine.program.codes[a], bool(b))


async def _fork_branches(machine: Strand, frame: Frame, code: Code, skip: bool) -> None:
    """Run the body once for each item, side by side, each in a copy of the conversation."""
    items = frame.stack.pop()
    if not isinstance(items, list | tuple | range | dict | str):
        raise failure(f"a fork over {kind(items)}, which has no items")
    if len(items) > FORK_LIMIT:
        raise failure(f"a fork has at most {FORK_LIMIT} branches, not {len(items)}")
    run = machine.run
    if len(items) > 1 and frame.conversation is not None:
        uses = [machine.program.holes[a].models for op, a, _ in code.instructions if op in _ASKING]
        await warm(run, frame.conversation, uses)
    machine.emit("fork", {"branches": len(items)})
    machines, tasks = [], []
    seed = frame.seeds.fork()
    for index, item in enumerate(items):
        child = Machine(run, (*machine.path, index), mix(seed, index))
        own = [None] * (len(code.slots) - code.fork_slot - 1)
        slots = [*frame.slots[: code.fork_slot], item, *own]
        conversation = frame.conversation.fork() if frame.conversation is not None else None
        child.records = Records()
        child.frames.append(Frame(code, slots, conversation, True, frame.allowances, Seeds(child.seed)))
        machines.append(child)
        tasks.append(asyncio.create_task(child.execute()))
    try:
        if not skip and tasks:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            if any(task.exception() is not None for task in done):
                await _cancel(tasks)
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    except asyncio.CancelledError:
        await _cancel(tasks)
        for child in machines:
            if child.last is not None:  # it had ended before
                child.last.leave()
        raise
    finally:
        for child in machines:  # in the order of the branches, however fast each was
            machine.records.add(child.records)
    group = []
    fault: BaseException | None = None
    for index, (child, outcome) in enumerate(zip(machines, outcomes, strict=True)):
        if isinstance(outcome, SglError) and skip and not outcome.fatal:
            machine.emit("error", {"name": outcome.name, "message": outcome.message, "skipped": index})
        elif isinstance(outcome, BaseException):
            if fault is None or isinstance(fault, asyncio.CancelledError):
                fault = outcome
        elif child.last is not None:
            child.last.drop_branches()
            group.append(BranchValue(index, outcome, child.last.holes, child.last.conversation))
    if fault is not None:
        for branch in group:
            if branch.conversation is not None:
                branch.conversation.close()
        raise fault
    frame.forks.append(group)
    frame.stack.append(list(group))


async def _cancel(tasks: list[asyncio.Task[object]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


_STEPS: dict[str, Step] = {
    name: step
    for module in (
        *(value_steps, control_steps, call_steps, stream_steps, extern_steps, text_steps),
        expectation_steps,
    )
    for name, step in vars(module).items()
    if name.startswith("do_")
} | {"do_fork": do_fork, "do_call_part": call_steps.do_call}

HANDLERS: tuple[Step, ...] = tuple(_STEPS["do_" + op.name.lower()] for op in OPCODES)
"""What each opcode does, in the order of the table."""

ON_VALUES: frozenset[int] = frozenset(
    op.number
    for op in OPCODES
    if "do_" + op.name.lower() in vars(value_steps) or op.name in ("ITERATE", "IS_TYPE", "LIMIT", "RAISE")
)
"""Instructions that only compute with values of the program. What they raise of `KIND_FAULTS` is the
program's own fault. What other instructions raise, or work that is waited for, is a fault of sglc."""
