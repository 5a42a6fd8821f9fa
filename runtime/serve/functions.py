"""What is served: work that has an answer. The functions are the `pub` ones of each program, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Generic, Protocol, TypeVar

from sglc.bytecode.code import Code, Program
from sglc.bytecode.signatures import signature
from sglc.diagnostics.suggest import nearest
from sglc.runtime.errors import ArgumentError, SglError
from sglc.runtime.results import RunResult
from sglc.runtime.serve.options import CallOptions
from sglc.runtime.serve.problems import Problem, of_error, refusal
from sglc.runtime.session import Session
from sglc.runtime.vm.state.run import Written
from sglc.runtime.vm.state.trace import Listener
from sglc.types.language.membership import MemberError
from sglc.types.text.decode import DecodeError, decode_partial
from sglc.types.text.partial import MISSING, Growing, Partial, PartialFields
from sglc.types.text.plain_json import dumps, parse_json, write_json
from sglc.types.type import TAG, Type
from sglc.types.values import EnumValue, RecordValue, Value

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a run: its value as JSON text and what it took, or the problem."""

    value: str = "null"
    usage: Mapping[str, object] = field(default_factory=dict)
    checks: tuple[Mapping[str, object], ...] = ()
    problem: Problem | None = None
    found: Value = None
    """The value itself, of a function, for faces with another notation than JSON."""

    def text(self, run: str) -> str:
        """The JSON object that a client gets."""
        if self.problem is not None:
            return write_json({**self.problem.data(), "id": run})
        head = write_json({"id": run})[:-1]
        tail = write_json({"usage": self.usage, "checks": list(self.checks)})[1:]
        return f'{head}, "value": {self.value}, {tail}'


class Job(Protocol):
    """What a run does: a call of a function, or another question to a model."""

    @property
    def name(self) -> str:
        """What logs call it."""

    def check(self, arguments: Mapping[str, object]) -> None:
        """Raises ArgumentError for arguments that do not fit, before the call waits for its turn."""

    async def answer(self, arguments: Mapping[str, object], options: CallOptions, hear: Listener) -> Answer:
        """Do it; `hear` is told what happens. Raises SglError, and Refusal for what cannot be asked."""

    def problem(self, error: SglError) -> Problem:
        """A failure of a run, its fields as plain data."""

    def partial(self, hole: str, text: str) -> object:
        """What is certain of a hole's value whose text has come so far, as plain data; None for nothing."""


class Performer(Protocol):
    """Runs functions in the place of their sessions: on workers."""

    async def perform(
        self, function: str, arguments: Mapping[str, object], options: CallOptions, hear: Listener
    ) -> Answer:
        """Run one; `hear` is told what happens. Raises what `Session.run` raises."""


@dataclass(frozen=True, slots=True)
class ServedFunction:
    """A function of a program, and the session that runs it, or only checks its arguments where there is a
    performer."""

    program: Program
    code: Code
    session: Session
    performer: Performer | None = None

    @property
    def name(self) -> str:
        """What it is called by."""
        return self.code.name

    @property
    def signature(self) -> str:
        """How it is called, in the notation of the language."""
        return signature(self.program, self.code)

    def check(self, arguments: Mapping[str, object]) -> None:
        """Raises ArgumentError for arguments that do not fit, before the call waits for its turn."""
        self.session.bind(self.code, arguments)

    async def answer(self, arguments: Mapping[str, object], options: CallOptions, hear: Listener) -> Answer:
        """See `Job.answer`."""
        if self.performer is not None:
            if options.answers or options.top:
                raise refusal(400, "Arguments", "workers take no `answers` and tell no `top` tokens")
            return await self.performer.perform(self.name, arguments, options, hear)
        answers = {hole: [Written(text) for text in texts] for hole, texts in options.answers.items()}
        self._check_holes(answers)
        result = await self.session.run(
            self.name,
            arguments,
            seed=options.seed,
            max_tokens=options.max_tokens,
            timeout=options.timeout,
            priority=options.priority,
            tenant=options.tenant,
            on_event=hear,
            detailed=options.tokens,
            trace_top=options.top,
            answers=answers,
        )
        checks = tuple(_checks(result))
        return Answer(self.value_text(result.value), usage_of(result), checks, found=result.value)

    def _check_holes(self, answers: Iterable[str]) -> None:
        """Raises Refusal for a hole that the program has not."""
        known = [spec.name for spec in self.program.holes]
        for each in answers:
            name = each.partition("@")[0]
            if name not in known:
                near = nearest(name, known)
                hint = f"did you mean `{near}`?" if near else ""
                raise refusal(400, "Arguments", f"`answers`: there is no hole `{name}`", hint=hint)

    def value_text(self, value: Value) -> str:
        """A result as JSON, decimals exact."""
        if self.code.result is None:
            return "null"
        return dumps(value, self.program.types[self.code.result], self.program.table)

    def problem(self, error: SglError) -> Problem:
        """A failure of a run, its fields as plain data."""
        return of_error(error, {name: _plain(value) for name, value in error.known_fields.items()})

    def hole_type(self, hole: str) -> Type | None:
        """The type of a hole (`function.name`), None where its value cannot be told from its text alone."""
        spec = next((spec for spec in self.program.holes if spec.name == hole), None)
        return None if spec is None or spec.type is None else self.program.types[spec.type]

    def partial(self, hole: str, text: str) -> object:
        """What is certain of a hole's value whose text has come so far, as plain data; None for nothing."""
        type = self.hole_type(hole)
        if type is None:
            return None
        try:
            return _plain(decode_partial(text, type, self.program.table))
        except DecodeError:
            return None


def usage_of(result: RunResult) -> dict[str, object]:
    """What a run took, for its client."""
    found = result.statistics
    return {
        "output_tokens": found.output_tokens,
        "forced_tokens": found.forced_tokens,
        "forwards": found.forwards,
        "retries": found.retries,
        "seconds": round(found.seconds, 3),
    }


def _checks(result: RunResult) -> list[Mapping[str, object]]:
    return [{"passed": check.passed, "reason": check.reason} for check in result.checks]


def _plain(value: object) -> object:
    """A value, or a part of one, as JSON has it; None for what is not there."""
    if value is MISSING or value is None or isinstance(value, str | bool | int | float | Decimal):
        return None if value is MISSING else value
    if isinstance(value, Growing):
        return _plain(value.value)
    if isinstance(value, EnumValue):
        return value.name
    if isinstance(value, PartialFields | RecordValue):
        tag = {} if value.variant is None else {TAG: value.variant}
        fields: Mapping[str, Partial | object] = value.fields
        return tag | {name: _plain(each) for name, each in fields.items() if each is not None}
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(value)


class FunctionTable:
    """All functions that are served."""

    def __init__(self, sessions: Iterable[Session], performer: Performer | None = None) -> None:
        """All are run by `performer`, else by their sessions. Raises ArgumentError where two public functions
        have the same name, or there is none."""
        self.version = 0
        """How often the functions were replaced."""
        self.sessions = tuple(sessions)
        self._performer = performer
        self.by_name: Mapping[str, ServedFunction] = _public(self.sessions, performer)

    def replace(self, sessions: Iterable[Session]) -> None:
        """Serve the functions of other sessions from now on. Raises ArgumentError, as above; then nothing
        changes."""
        new = tuple(sessions)
        self.by_name = _public(new, self._performer)
        self.sessions = new
        self.version += 1

    def get(self, name: str) -> ServedFunction:
        """A function by name. Raises ArgumentError (E0712) with the nearest one."""
        found = self.by_name.get(name)
        if found is None:
            near = nearest(name, self.by_name)
            hint = f"did you mean `{near}`?" if near else "functions: " + (", ".join(self.by_name) or "none")
            raise ArgumentError("E0712", f"there is no function `{name}`", hint=hint)
        return found


def _public(sessions: tuple[Session, ...], performer: Performer | None) -> dict[str, ServedFunction]:
    """The public functions of sessions by name."""
    found: dict[str, ServedFunction] = {}
    for session in sessions:
        for name, code in session.functions.items():
            if not code.public:
                continue
            before = found.get(name)
            if before is not None:
                raise ArgumentError(
                    "E0828",
                    f"two programs have a public function `{name}`",
                    reason=f"they are {before.program.name} and {session.program.name}",
                    hint="give one of them another name, or take `pub` away",
                )
            found[name] = ServedFunction(session.program, code, session, performer)
    if sessions and not found:
        names = ", ".join(session.program.name for session in sessions)
        what = f"{names} has no" if len(sessions) == 1 else f"none of {names} has a"
        raise ArgumentError(
            "E0828",
            f"{what} public function to serve",
            hint="write `pub fn` before one",
        )
    return found


class OfTable(Generic[T]):
    """What `make` makes of the functions of a table: made again where they were replaced."""

    def __init__(self, table: FunctionTable, make: Callable[[FunctionTable], T]) -> None:
        self._table = table
        self._make = make
        self._version = table.version
        self._made = make(table)

    @property
    def now(self) -> T:
        """As the functions are now."""
        if self._version != self._table.version:
            self._made, self._version = self._make(self._table), self._table.version
        return self._made


def parsed_body(text: str) -> dict[str, Value]:
    """The JSON object of a request, decimals exact. Raises MemberError for what is none."""
    data = parse_json(text)
    if not isinstance(data, dict):
        raise MemberError("", "expected a JSON object")
    return data
