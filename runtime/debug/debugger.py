"""The stop engine: steps of the machine that look whether the run is to stop, and what happens then.

A debugger gives a run its own table of steps (`Run.handlers`), so a run without one pays nothing. While it
stands at a stop, all strands are held where they next take an instruction or a token. To go back, the strand
that stands raises `Rewind`. It ends what the snapshot's strand waits for, and there the snapshot is restored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sized
from dataclasses import replace
from typing import Protocol

from sglc.bytecode.code import Program
from sglc.bytecode.opcodes import BY_NAME, OPCODES
from sglc.runtime.debug.breakpoints import Breakpoint, Breakpoints, Limits
from sglc.runtime.debug.conditions import Evaluate, no_expressions, wanted
from sglc.runtime.debug.failing import EXPECT, EXPECT_RAISES, as_language_error, ended, is_caught, missed
from sglc.runtime.debug.forcing import answer, legal_texts
from sglc.runtime.debug.passages import MOST_TOKENS, History, Passage
from sglc.runtime.debug.places import HOLE_OPS, Places, Statements
from sglc.runtime.debug.returns import Returns, Rewind
from sglc.runtime.debug.stepping import Step
from sglc.runtime.debug.stops import Action, Back, Go, Quit, Reason, StepKind, Stop, TokenLook
from sglc.runtime.debug.strands import Strands, StrandState
from sglc.runtime.decoding.watching import Logits, Look, Moment
from sglc.runtime.engine.core.errors import EngineError
from sglc.runtime.engine.sampling.legal import NextTokens
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.errors import SglError
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.vm.machine import HANDLERS
from sglc.runtime.vm.state.frame import Frame, Signal
from sglc.runtime.vm.state.strand import Outcome, Strand
from sglc.runtime.vm.state.strand import Step as MachineStep
from sglc.runtime.vm.state.trace import Event
from sglc.runtime.vm.state.values import failure
from sglc.values.kinds import ValueFault

TOP = 10
"""Most probable tokens that are kept of each token."""
_FORK, _STREAM = (BY_NAME[name].number for name in ("FORK", "STREAM"))


class Face(Protocol):
    """Who is told of stops and says how to go on."""

    async def stopped(self, stop: Stop) -> Action:
        """The run stands. It goes on as is said."""

    def said(self, breakpoint: Breakpoint, text: str) -> None:
        """A breakpoint says a text, instead of stopping."""


class Debugger:
    """Debugs one run of a program; see `RunDebugger`. It may be used for several, one after the other."""

    top = TOP

    def __init__(
        self,
        program: Program,
        face: Face,
        *,
        statements: Statements | None = None,
        evaluate: Evaluate | None = None,
        entry: bool = True,
    ) -> None:
        """With `entry` it stops before the first statement."""
        self.program = program
        self.places = Places(program, statements)
        self.breakpoints = Breakpoints(self.places)
        self.strands = Strands()
        self.stop: Stop | None = None
        """Where the run stands now."""
        self.ended = False
        """Whether it is to end."""
        self.entry = entry
        self.entry_step: StepKind = "statement"
        """How far the run goes before it first stops, with `entry`."""
        self.evaluate = evaluate or no_expressions
        self._face = face
        self._returns = Returns()
        self._step: Step | None = None
        self._held: asyncio.Future[None] | None = None
        self._raised: BaseException | None = None
        self._late: tuple[str, Passage] | None = None
        self._urgent = False

    @property
    def limits(self) -> Limits:
        """What else stops the run."""
        return self.breakpoints.limits

    @property
    def history(self) -> History:
        """The holes that the run has come to."""
        return self._returns.history

    # -- what a run asks -----------------------------------------------------------------------------

    def begin(self, machine: Strand) -> tuple[MachineStep, ...]:
        """See `RunDebugger.begin`."""
        self.strands.begin(machine)
        self._returns = Returns()
        paused = self._step if self._step is not None and self._step.reason == "pause" else None
        self._step = Step(self.entry_step, reason="entry") if self.entry else paused
        self.ended, self._held, self._raised, self._late = False, None, None, None
        self._calm()
        return tuple(self._looking(op.number, HANDLERS[op.number]) for op in OPCODES)

    def heard(self, event: Event) -> None:
        """Keep what a hole's events tell of it."""
        data = event.data
        if event.kind == "python" and data.get("how") == "called":
            self._returns.called(str(data["function"]))
        if event.kind not in ("token", "forced", "generated", "hole_end", "again"):
            return
        passage = self.history.open_in(event.branch)
        if passage is None:
            return
        if event.kind == "token":
            if len(passage.tokens) < MOST_TOKENS:
                passage.tokens.append(data)
        elif event.text:
            passage.written += event.text
        elif event.kind == "hole_end":
            passage.text, passage.ended = str(data["text"]), str(data["ended"])
            passage.scores = data.get("scores") or {}
        elif event.kind == "again":
            passage.tokens.clear()
            passage.written = ""

    async def token(
        self,
        machine: Strand,
        index: int,
        drawn: Sampled,
        data: bytes,
        legal: NextTokens,
        logits: Logits,
        search: Look | None = None,
    ) -> None:
        """See `RunDebugger.token`."""
        strand = self.strands.of(machine)
        if strand is None or not machine.frames:
            return
        await self._passing(strand)
        told = None if self._returns.target is not None else self._token_reason(drawn)
        if told is None:
            return
        reason, text = told
        models, use = machine.run.models, self.program.holes[index].models
        model = machine.run.model if use is None else models.get(use.base.name, machine.run.model)
        token = TokenLook(drawn, data, legal, logits, model.vocabulary.token_bytes)
        passage, look = self.history.open_in(machine.branch), None if search is None else search()
        if look is not None:
            if passage is not None:
                passage.search = look
            text = look.told if reason == "token" else f"{look.told}: {text}"
        stop = self._stop(strand, machine.frames[-1], reason, text, passage)
        await self._stand(replace(stop, token=token, search=look))

    async def search(self, machine: Strand, index: int, moment: Moment, look: Look) -> None:
        """See `RunDebugger.search`."""
        strand = self.strands.of(machine)
        if strand is None or not machine.frames:
            return
        await self._passing(strand)
        passage = self.history.open_in(machine.branch)
        if moment == "end" and passage is not None:
            passage.search = look()
        step = self._step
        paused = step is not None and step.reason == "pause"
        stepped = paused or (step is not None and step.kind == "round")
        if self._returns.target is None and (stepped or self.limits.rounds):
            found = look()
            if passage is not None:
                passage.search = found
            reason: Reason = "pause" if paused else "round"
            stop = self._stop(strand, machine.frames[-1], reason, found.told, passage)
            await self._stand(replace(stop, search=found))

    def _token_reason(self, drawn: Sampled) -> tuple[Reason, str] | None:
        if self._step is not None and self._step.reason == "pause":
            return "pause", "paused at a token"
        if self._step is not None and self._step.kind == "token":
            return "token", "a token was drawn"
        return self.limits.crossed(drawn)

    # -- steps of the machine ------------------------------------------------------------------------

    def _looking(self, op: int, usual: MachineStep) -> MachineStep:
        """What an instruction does, with a look at whether the run is to stop before it."""
        always = op in HOLE_OPS or op in (_FORK, _STREAM, EXPECT, EXPECT_RAISES)

        def look(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
            if machine.nested:
                return usual(machine, frame, a, b)
            if always or self._urgent or self._is_due(frame):
                return self._slowly(machine, frame, op, a, b, usual)
            try:
                outcome = usual(machine, frame, a, b)
            except (SglError, ValueFault, EngineError) as error:
                if self._hears(machine, error):
                    return self._failing(machine, frame, error)
                raise
            if outcome is None or outcome is Signal.SWITCH:
                return outcome
            return self._watched(machine, frame, outcome)

        return look

    def _is_due(self, frame: Frame) -> bool:
        """Whether more than a glance is due before the instruction that a frame is about to take."""
        pc, code = frame.pc - 1, frame.code
        if self.breakpoints.armed(code, pc):
            return True
        places = self.places.of(code)
        if self._step is not None and pc in places.points:
            return True
        return (self.limits.ensure and pc in places.failures) or not self.history.next_number

    async def _slowly(
        self, machine: Strand, frame: Frame, op: int, a: int, b: int, usual: MachineStep
    ) -> Signal | None:
        """One instruction, with all that may happen before it."""
        strand = self.strands.of(machine)
        if strand is None:
            outcome = usual(machine, frame, a, b)
            return outcome if outcome is None or isinstance(outcome, Signal) else await outcome
        try:
            await self._before(strand, frame, op, a, b)
            try:
                outcome = usual(machine, frame, a, b)
            except (SglError, ValueFault, EngineError) as error:
                if self._hears(machine, error):
                    return await self._failing(machine, frame, error)
                raise
            if op == _STREAM:
                stream = frame.handlers[-1].stream
                assert stream is not None
                self.strands.streams(strand, stream.machine)
            if outcome is None or isinstance(outcome, Signal):
                return outcome
            found = await self._watched(machine, frame, outcome)
            if op in HOLE_OPS:
                self._filled(machine)
            return found
        except Rewind as rewind:
            return self._rewound(strand, rewind)

    async def _watched(self, machine: Strand, frame: Frame, work: Awaitable[Signal | None]) -> Signal | None:
        """Wait for what an instruction has begun."""
        try:
            return await work
        except Rewind as rewind:
            strand = self.strands.of(machine)
            if strand is None:
                raise
            return self._rewound(strand, rewind)
        except (SglError, ValueFault, EngineError, ConstraintError) as error:
            if self._hears(machine, error):
                return await self._failing(machine, frame, error)
            raise

    # -- before an instruction -----------------------------------------------------------------------

    async def _before(self, strand: StrandState, frame: Frame, op: int, index: int, b: int) -> None:
        """All that is to be noted before an instruction, and stopped for."""
        await self._passing(strand)
        pc = frame.pc - 1
        if not self.history.next_number:
            self._returns.note(strand, frame, None, "start")
        if self._returns.target is None:
            if self._late is not None:
                (text, passage), self._late = self._late, None
                await self._stand(self._stop(strand, frame, "improbable", text, passage))
            await self._statement(strand, frame, pc)
            if self.limits.ensure and pc in self.places.of(frame.code).failures:
                reason = frame.stack[-1] if frame.stack else None
                shown = "a condition does not hold" if reason is None else strand.machine.show(reason)
                await self._stand(self._stop(strand, frame, "ensure", shown))
            lacking = missed(strand.machine, frame, op, index, b) if self.limits.expect else None
            if lacking is not None:
                await self._stand(self._stop(strand, frame, "expect", lacking))
        if op in HOLE_OPS:
            await self._hole(strand, frame, index)
        elif op in (_FORK, _STREAM):
            self._returns.note(strand, frame, None, "fork" if op == _FORK else "stream")
            items = frame.stack[-1] if op == _FORK else ()
            self.strands.forks(strand, len(items) if isinstance(items, Sized) else 0)

    async def _statement(self, strand: StrandState, frame: Frame, pc: int) -> None:
        """Stop at the beginning of a statement, for a step or for breakpoints."""
        met = [each for each in self.breakpoints.armed(frame.code, pc) if each.kind != "hole"]
        step = self._step
        if step is not None and pc in self.places.of(frame.code).points and step.ends(strand, frame, pc):
            stop = self._stop(strand, frame, step.reason, "")
            found, problems = await wanted(stop, met, self.evaluate, self._face.said)
            numbers = tuple(each.number for each in found)
            await self._stand(replace(stop, breakpoints=numbers, notes=problems))
        elif met:
            await self._breakpoints(self._stop(strand, frame, "line", ""), met)

    async def _breakpoints(self, stop: Stop, met: list[Breakpoint]) -> bool:
        """Stop for breakpoints that were met, where that is wanted."""
        found, problems = await wanted(stop, met, self.evaluate, self._face.said)
        if found:
            numbers = tuple(each.number for each in found)
            await self._stand(replace(stop, breakpoints=numbers, notes=problems))
        return bool(found)

    async def _hole(self, strand: StrandState, frame: Frame, index: int) -> None:
        """Note a hole, and stop before it where that is wanted."""
        machine, spec, returns = strand.machine, self.program.holes[index], self._returns
        strand.holes += 1
        passage = returns.note(strand, frame, index, spec.name)
        if "n" in spec.options:
            self.strands.forks(strand, 2)
        met = [each for each in self.breakpoints.armed(frame.code, frame.pc - 1) if each.kind == "hole"]
        if returns.arrives(frame, passage):
            notes, returns.notes = returns.notes, ()
            stop = replace(
                self._stop(strand, frame, "back", f"back before {spec.name}", passage), notes=notes
            )
            if returns.then is None:
                await self._stand(stop)
            else:
                self._go(stop, returns.then)
        elif returns.target is None:
            stop = self._stop(strand, frame, "hole", f"before {spec.name}", passage)
            stopped = bool(met) and await self._breakpoints(stop, met)
            if not stopped and self._step is not None and self._step.kind == "hole":
                await self._stand(stop)
        passage.forced = returns.forced.get(passage.identity)
        if passage.forced is not None:
            answer(machine, spec, passage.forced)
        self.history.opened(machine.branch, passage)

    def _filled(self, machine: Strand) -> None:
        """A hole was filled: see whether it is to stop the run, where its tokens could not."""
        passage = self.history.open_in(machine.branch)
        self.history.closed(machine.branch)
        limit = self.limits.improbable
        if passage is None or limit is None or passage.text is None or self._returns.target is not None:
            return
        probability = passage.scores.get(passage.text)
        if probability is not None and probability < limit:
            text = f"{passage.name} is an option of probability {probability:.4g}, below {limit:g}"
            self._late, self._urgent = (text, passage), True

    # -- errors --------------------------------------------------------------------------------------

    def _hears(self, machine: Strand, error: Exception) -> bool:
        """Whether an error that arises now stops the run."""
        if self.ended or self._returns.target is not None or error is self._raised:
            return False
        return self.limits.raised or (self.limits.uncaught and not is_caught(machine))

    async def _failing(self, machine: Strand, frame: Frame, error: Exception) -> Signal | None:
        """Stop where an error arose, and let it go on its way."""
        self._raised = error
        strand = self.strands.of(machine)
        shown = as_language_error(error)
        if strand is not None and machine.frames and shown.name != "Cancelled":
            try:
                await self._passing(strand)
                passage = self.history.open_in(machine.branch)
                stop = self._stop(strand, frame, "raised", str(shown), passage)
                await self._stand(replace(stop, error=shown))
            except Rewind as rewind:
                return self._rewound(strand, rewind)
        raise error

    # -- standing ------------------------------------------------------------------------------------

    def _stop(
        self, strand: StrandState, frame: Frame, reason: Reason, text: str, passage: Passage | None = None
    ) -> Stop:
        machine = strand.machine
        return Stop(reason, text, strand, frame, frame.pc - 1, machine.place(frame), passage=passage)

    async def _passing(self, strand: StrandState) -> None:
        """Wait while another strand stands. Raises what ends this one."""
        while True:
            if self.ended:
                raise ended()
            base = self._returns.base
            if base is not None and strand.descends(base.strand):
                raise Rewind(base)
            if self._held is None:
                return
            await asyncio.shield(self._held)

    async def _stand(self, stop: Stop) -> None:
        """Tell of a stop, and do as is said."""
        self._step = None
        held = self._held = asyncio.get_running_loop().create_future()
        self.stop, self._urgent = stop, True
        try:
            match await self._face.stopped(stop):
                case Go() as go:
                    self._go(stop, go)
                case Quit():
                    self.ended = True
                case Back() as action:
                    self._returns.begin(stop, action)
        finally:
            self.stop, self._held = None, None
            held.set_result(None)
            self._calm()
        if self.ended:
            raise ended()
        if self._returns.base is not None:
            raise Rewind(self._returns.base)

    def _go(self, stop: Stop, go: Go) -> None:
        strand = stop.strand if go.strand is None or not go.strand.alive else go.strand
        frame = stop.frame if strand is stop.strand else strand.machine.frames[-1]
        pc = stop.pc if strand is stop.strand else frame.pc - 1
        places = self.places.of(frame.code)
        self._step = None if go.step is None else Step.begun(go.step, strand, frame, pc, places)

    def _calm(self) -> None:
        """See whether every instruction has still to look."""
        self._urgent = self.ended or bool(self._returns.base or self._held or self._late)

    def _rewound(self, strand: StrandState, rewind: Rewind) -> Signal:
        """Go on from a snapshot, where it is of this strand. Raises Rewind where it is of another."""
        self._returns.restore(strand, rewind)
        self._raised, self._late, self._step = None, None, None
        self._calm()
        return Signal.SWITCH

    # -- what users ask while the run goes on, or stands ---------------------------------------------

    def pause(self) -> None:
        """Stop at the next statement, token or round of a search, whichever it is."""
        if self.stop is None:
            self._step = Step("statement", reason="pause")

    def quit(self) -> None:
        """End the run where it next looks. At a stop the face says so itself."""
        self.ended = self._urgent = True

    async def force(self, stop: Stop, passage: Passage, text: str, then: Go) -> Action:
        """Give a hole a value that a user writes: what the face is to answer, to go on so behind it.

        Where the run does not stand before the hole, it goes back to it. Raises SglError where the value is
        not legal for the hole; see `legal_texts`.
        """
        snapshot = passage.snapshot
        if snapshot is None or passage.index is None:
            raise failure("values can be given only to the newest holes: go back to this one first")
        texts = await legal_texts(snapshot.machine, snapshot.frame(), passage.index, text)
        if passage is stop.passage and stop.token is None and stop.reason in ("hole", "back"):
            self._returns.forced[passage.identity] = texts
            return then
        return Back(passage, texts=texts, then=then)

    def reached_from(self, stop: Stop, passage: Passage) -> Passage:
        """Where the run would be taken up to come to a hole again; see `Returns.base_of`."""
        return self._returns.base_of(stop, passage)
