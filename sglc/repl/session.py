"""A session: text in, what came of it out. An input is taken as a whole or changes nothing."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from sglc.bytecode.code import Program
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.externs.modules import Access
from sglc.repl.compiling import UNTOLD, Compiled, Compiler, Unsound
from sglc.repl.models import SessionModels, asks
from sglc.repl.pieces import Declared, cut
from sglc.repl.state import Entry, State, Variable
from sglc.repl.typing import Typing
from sglc.runtime.errors import ArgumentError, SglError, diagnostic_of
from sglc.runtime.results import RunResult
from sglc.runtime.vm.state.trace import Event
from sglc.source import Source, Span
from sglc.types.language.membership import is_member
from sglc.types.notation.sgl import show_type
from sglc.types.text.plain_json import dumps
from sglc.types.type import Type, TypeTable
from sglc.types.values import Value

Listener = Callable[[Event], None]
Hear = Callable[[Compiled], Listener]
"""Makes the listener of an input that is about to run."""
MOST_STEPS = 1000
"""Inputs that can be taken back."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The value of an expression, with the program that knows its types."""

    value: Value
    type: Type
    program: Program

    def text(self, indent: int | None = None) -> str:
        """The value as JSON, decimals exact."""
        return dumps(self.value, self.type, self.program.table, indent=indent)

    @property
    def type_text(self) -> str:
        """Its type as the language writes it."""
        return show_type(self.type)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of an input. `notes` are sentences for a person; `result` is what a run tells of itself."""

    accepted: bool
    found: tuple[Diagnostic, ...] = ()
    notes: tuple[str, ...] = ()
    shown: Shown | None = None
    result: RunResult | None = None
    interrupted: bool = False
    fault: Exception | None = None
    """A fault of sglc itself."""


@dataclass(frozen=True, slots=True)
class Step:
    """An input that was taken: its text, its parts, and what was known before it."""

    text: str
    statements: tuple[str, ...]
    before: State


@dataclass(slots=True)
class ReplSession:
    """What is typed, one input after the other. `state` is what is known now, `steps` what led to it.

    `top` is how many of the most probable tokens listeners hear of with each token. Of one thread at a time.
    """

    models: SessionModels = field(default_factory=SessionModels)
    compiler: Compiler = field(default_factory=Compiler)
    access: Access = field(default_factory=Access)
    seed: int = 0
    max_tokens: int | None = None
    timeout: float | None = None
    top: int = 0
    state: State = field(default_factory=State)
    steps: list[Step] = field(default_factory=list)
    count: int = 0
    """Inputs so far, also those that were not taken."""
    typing: Typing = field(default_factory=Typing, repr=False, compare=False)
    """What is being typed."""

    def source(self, text: str, name: str = "") -> Source:
        """An input as a source; without a name it has the next number."""
        if not name:
            self.count += 1
            name = f"<{self.count}>"
        return Source(name, text)

    def take(self, text: str, hear: Hear | None = None, name: str = "") -> Reply:
        """Check an input and run it. `hear` makes who hears of what happens meanwhile; `name` is what
        messages call the text. Ctrl-C ends the run, and the session goes on."""
        source = self.source(text, name)
        before, steps = self.state, list(self.steps)
        try:
            reply = self._take(source, hear)
        except KeyboardInterrupt:
            reply = Reply(False, interrupted=True)
        except Exception as fault:
            reply = Reply(False, fault=fault)
        if not reply.accepted:
            self.state, self.steps = before, steps
        return reply

    def _take(self, source: Source, hear: Hear | None) -> Reply:
        parts = cut(source)
        if not parts.sound:
            return Reply(False, parts.found)
        before, found = self.state, parts.found
        notes: tuple[str, ...] = ()
        if not parts.declarations and not parts.statements:
            return Reply(True, found)
        if parts.declarations:
            declared = self._declare(parts.declarations, source)
            if not declared.accepted:
                return replace(declared, found=(*found, *declared.found))
            found, notes = (*found, *declared.found), declared.notes
        reply = Reply(True)
        if parts.statements:
            reply = self._run(parts.statements, hear)
        reply = replace(reply, found=(*found, *reply.found), notes=(*notes, *reply.notes))
        if reply.accepted:
            self.steps.append(Step(source.text, tuple(each.text for each in parts.statements), before))
            del self.steps[:-MOST_STEPS]
        return reply

    def undo(self) -> Step | None:
        """Take back the last input that changed something; None where there is none."""
        while self.steps:
            step = self.steps.pop()
            if not self.state.same(step.before):
                self.state = step.before
                return step
        return None

    def reset(self, *, all_of_it: bool = False) -> None:
        """Forget what was said; with `all_of_it` variables and declarations too."""
        self.state = State() if all_of_it else replace(self.state, said=State().said)
        self.steps.clear()

    # -- declarations --------------------------------------------------------------------------------

    def _declare(self, new: Sequence[Declared], source: Source) -> Reply:
        """Take in declarations. They replace those of the same names; others that no longer check with them
        are set aside, and those that were come back where they check again."""
        names = {name for each in new for name in each.names}
        kept = [each for old in self.state.entries for each in _without(old, names)]
        entries = [*(replace(each, aside=False, reason="") for each in kept), *map(Entry, new)]
        own = {id(each) for each in new}
        program: Program | None = None
        while True:
            counting = [each.declared for each in entries if not each.aside]
            program, diagnostics, composed, text = self.compiler.declarations(counting)
            told = [composed.told(each, text) for each in diagnostics]
            errors = [each for each in told if each.severity == "error"]
            if not errors:
                break
            guilty: dict[int, str] = {}
            for each in errors:
                culprit = _around(each.span, counting)
                if culprit is not None and id(culprit) not in own:
                    guilty.setdefault(id(culprit), f"{each.message} ({each.code})")
            if not guilty:
                return Reply(False, tuple(errors))
            entries = [
                replace(each, aside=True, reason=guilty[id(each.declared)])
                if id(each.declared) in guilty
                else each
                for each in entries
            ]
        assert program is not None, "a program without errors is made"
        notes = list(_moved(kept, entries))
        variables = dict(self.state.variables)
        taken = {name for each in new if not each.function for name in each.names}
        for name, variable in self.state.variables.items():
            if name in taken:
                notes.append(f"the variable {name} is gone: {name} is declared now")
                del variables[name]
            elif not _still(variable, program.table):
                notes.append(f"the variable {name} is gone: it is no {show_type(variable.type)} any more")
                del variables[name]
        self.state = replace(self.state, entries=tuple(entries), variables=variables)
        warnings = (each for each in told if each.span is not None and each.span.source is source)
        return Reply(True, tuple(each for each in warnings if each.code not in UNTOLD), tuple(notes))

    def program(self) -> tuple[Program, Callable[[Diagnostic], Diagnostic]]:
        """The program of all declarations that count, and what finds the place where something was typed."""
        program, _, composed, source = self.compiler.declarations(self.state.declared)
        assert program is not None, "what counts checks"
        return program, lambda found: composed.told(found, source)

    # -- statements ----------------------------------------------------------------------------------

    def compiled(self, text: str) -> Compiled | Unsound:
        """An input of statements as a program, which is not run."""
        parts = cut(Source("<asked>", text))
        if not parts.sound:
            return Unsound(parts.found)
        return self.compiler.statements(self.state, parts.statements) if parts.statements else Unsound(())

    def type_of(self, text: str) -> str | Unsound:
        """The type of an expression, which is not run."""
        parts = cut(Source("<asked>", text))
        if not parts.sound:
            return Unsound(parts.found)
        return self.compiler.type_of(self.state, parts.statements) if parts.statements else "null"

    def _run(self, statements: Sequence[Span], hear: Hear | None) -> Reply:
        from sglc.python.background import LOOP
        from sglc.runtime.model.weights.errors import ModelError

        made = self.compiler.statements(self.state, statements)
        if isinstance(made, Unsound):
            return Reply(False, made.found, tuple(self._aside(statements)))
        found = made.found
        heard = None if hear is None else _Hearing(hear(made))
        try:
            result = LOOP.wait(self._result(made, heard))
        except SglError as error:
            drawn = replace(diagnostic_of(error, made.program), witness="")
            told = made.composed.told(replace(drawn, reason=_own(drawn.reason, made.name)), made.source)
            return Reply(False, (*found, told))
        except ArgumentError as problem:
            return Reply(False, (*found, problem.diagnostic()))
        except ModelError as problem:
            what = f"{problem.what}: {problem.where}"
            told = Diagnostic("E0807", what, None, reason=problem.why, hint=problem.hint)
            return Reply(False, (*found, told))
        finally:
            if heard is not None:
                heard.listener = None
        return self._kept(made, result)

    def _aside(self, statements: Sequence[Span]) -> Iterable[str]:
        """Why names of an input have no meaning now, though they had one."""
        text = " ".join(each.text for each in statements)
        for entry in self.state.entries:
            names = [name for name in entry.declared.names if re.search(rf"\b{re.escape(name)}\b", text)]
            if entry.aside and names:
                yield f"{', '.join(names)} is set aside: {entry.reason}"

    async def _result(self, made: Compiled, listener: Listener | None) -> RunResult:
        """Run a compiled input. Raises SglError, ArgumentError, ModelError."""
        from sglc.runtime.session import Session

        models = self.models
        loaded = None
        if asks(made.program, made.code) or (made.code.kind != "pure" and models.is_loaded):
            loop = asyncio.get_running_loop()
            loaded = await loop.run_in_executor(None, models.of, made.program)
        python = None
        if made.program.python_modules:
            from sglc.externs.host import Host

            python = Host(made.program, self.access)
            python.check(made.code)
        session = Session(
            made.program,
            None if loaded is None else loaded.own,
            models={} if loaded is None else loaded.named,
            fallbacks={} if loaded is None else loaded.fallbacks,
            python=python,
        )
        return await session.run(
            made.name,
            made.arguments,
            seed=self.seed,
            max_tokens=self.max_tokens,
            timeout=self.timeout,
            on_event=listener,
            detailed=listener is not None,
            trace_top=self.top if listener is not None else 0,
            said=made.said,
        )

    def _kept(self, made: Compiled, result: RunResult) -> Reply:
        """Take over what a run gave back."""
        values: list[Value] = list(result.value) if isinstance(result.value, tuple) else []
        shown = None if made.shown is None else Shown(values.pop(0), made.shown, made.program)
        variables = dict(self.state.variables)
        for each, value in zip(made.kept, values, strict=True):
            variables[each.name] = Variable(each.name, each.type, value, each.span, each.mutable)
        said = self.state.said if result.said is None or made.code.kind == "pure" else result.said
        self.state = replace(self.state, variables=variables, said=replace(said, is_open=False))
        return Reply(True, made.found, made.notes, shown, result)


@dataclass(slots=True)
class _Hearing:
    """Passes events on until the run has been left: one that is cancelled may tell a last thing."""

    listener: Listener | None

    def __call__(self, event: Event) -> None:
        listener = self.listener
        if listener is not None:
            listener(event)


def _own(reason: str, name: str) -> str:
    """A reason that names calls, without the function that the input is, and the one that the place is in."""
    head, through, calls = reason.partition("called through ")
    names = [each for each in calls.split(" > ") if each != name]
    return head + through + " > ".join(names) if len(names) > 1 else head.removesuffix("; ")


def _around(span: Span | None, declared: Iterable[Declared]) -> Declared | None:
    """The declaration that a place lies in."""
    if span is None:
        return None
    for each in declared:
        if each.span.source is span.source and each.span.start <= span.start <= each.span.end:
            return each
    return None


def _without(entry: Entry, names: set[str]) -> list[Entry]:
    """A declaration without the names that are declared anew; of an import others stay."""
    declared = entry.declared
    gone = names & set(declared.names)
    if not gone:
        return [entry]
    left = [name for name in declared.names if name not in gone]
    if not left or declared.kind != "import":
        return []
    head, _, listed = declared.span.text.partition("(")
    items = [item.strip() for item in listed.partition(")")[0].split(",")]
    wanted = [item for item in items if item and item.split()[-1] in left]
    text = f"{head}({', '.join(wanted)})\n"
    source = Source(declared.span.source.name, text)
    return [replace(entry, declared=replace(declared, span=Span(source, 0, len(text)), names=tuple(left)))]


def _moved(before: Sequence[Entry], after: Sequence[Entry]) -> Iterable[str]:
    """What is said of declarations that were set aside, and of those that came back."""
    for old, new in zip(before, after, strict=False):
        name = ", ".join(new.declared.names)
        if new.aside and not old.aside:
            yield f"{name} is set aside, it no longer checks: {new.reason}"
        elif old.aside and not new.aside:
            yield f"{name} checks again"


def _still(variable: Variable, table: TypeTable) -> bool:
    """Whether a value is of its type, as that is declared now."""
    try:
        return is_member(variable.value, variable.type, table)
    except (KeyError, ValueError, LookupError):
        return False
