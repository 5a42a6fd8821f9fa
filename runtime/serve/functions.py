"""The functions that are served: the `pub` ones of each program, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from sglc.bytecode.code import Code, Program
from sglc.bytecode.signatures import signature
from sglc.diagnostics.suggest import nearest
from sglc.runtime.errors import ArgumentError, SglError
from sglc.runtime.serve.problems import Problem, of_error
from sglc.runtime.session import Session
from sglc.types.language.membership import MemberError
from sglc.types.text.decode import DecodeError, decode_partial
from sglc.types.text.partial import MISSING, Growing, Partial, PartialFields
from sglc.types.text.plain_json import dumps, parse_json
from sglc.types.type import TAG, Type
from sglc.types.values import EnumValue, RecordValue, Value


@dataclass(frozen=True, slots=True)
class ServedFunction:
    """A function of a program, and the session that runs it."""

    program: Program
    code: Code
    session: Session

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

    def __init__(self, sessions: Iterable[Session]) -> None:
        """Raises ArgumentError where two public functions have the same name, or there is none."""
        self.sessions = tuple(sessions)
        self.by_name: dict[str, ServedFunction] = {}
        for session in self.sessions:
            for name, code in session.functions.items():
                if not code.public:
                    continue
                before = self.by_name.get(name)
                if before is not None:
                    raise ArgumentError(
                        "E0828",
                        f"two programs have a public function `{name}`",
                        reason=f"they are {before.program.name} and {session.program.name}",
                        hint="give one of them another name, or take `pub` away",
                    )
                self.by_name[name] = ServedFunction(session.program, code, session)
        if self.sessions and not self.by_name:
            names = ", ".join(session.program.name for session in self.sessions)
            raise ArgumentError(
                "E0828", f"{names} has no public function to serve", hint="write `pub fn` before one"
            )

    def get(self, name: str) -> ServedFunction:
        """A function by name. Raises ArgumentError (E0712) with the nearest one."""
        found = self.by_name.get(name)
        if found is None:
            near = nearest(name, self.by_name)
            hint = f"did you mean `{near}`?" if near else "functions: " + (", ".join(self.by_name) or "none")
            raise ArgumentError("E0712", f"there is no function `{name}`", hint=hint)
        return found


def parsed_body(text: str) -> dict[str, Value]:
    """The JSON object of a request, decimals exact. Raises MemberError for what is none."""
    data = parse_json(text)
    if not isinstance(data, dict):
        raise MemberError("", "expected a JSON object")
    return data
