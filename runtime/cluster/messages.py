"""What a front and its workers tell each other: lines of JSON, each an object with one key that says what.

To a worker: `setup` (once, the first), `call` (of a function, or a request to a model), `cancel`, `report`,
`metrics`, `state`, `end`. From a worker:
`ready` or `failed` (once), `event`, `answer`, `gone` (blocks that left its memory), `figures`, `report`,
`metrics`, `state`.
Arguments and values are texts of JSON within the JSON, so that their numbers keep their digits. A line has at
most LONGEST_LINE bytes; both sides end a connection on which one is longer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal

from sglc.runtime.engine.core.errors import ContextOverflow, QueueFull
from sglc.runtime.errors import ArgumentError, SglError
from sglc.runtime.serve.problems import TITLES, Problem, Refusal
from sglc.runtime.vm.state.trace import Event, plain_data
from sglc.types.text.plain_json import parse_json, write_json
from sglc.types.type import TAG
from sglc.types.values import EnumValue, RecordValue

LONGEST_LINE = 128 * 1024 * 1024
"""Bytes. Rows of `sglc run --data` have at most half of it."""

CHUNK = "chunk"
"""The event that tells a part of a stream of OpenAI's protocol: its text."""
END = '{"end"'
"""How the last message to a worker begins."""


class Garbled(Exception):
    """A line that is none of these."""


class WorkerFault(Exception):
    """A fault of sglc itself within a worker, as told: its class and its message. The traceback is in the
    worker's stderr."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A call: the function, its arguments as the text of a JSON object, and its options, which are those of
    `Session.run`. `ahead` is its `concurrency`, `detailed` whether events tell of each token, `told` whether
    there are events at all, `traceparent` the span that what Python does on the way is below."""

    function: str
    arguments: str
    seed: int = 0
    max_tokens: int | None = None
    timeout: float | None = None
    priority: int = 0
    ahead: int | None = None
    detailed: bool = False
    told: bool = False
    tenant: str = ""
    traceparent: str = ""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request of OpenAI's protocol to a model of the worker: its JSON text, and its number at the front.
    `kind` is `chat` or `text`. An event `hole_end` tells the end of each answer; where a stream is asked for,
    events `chunk` tell its parts."""

    kind: str
    body: str
    id: str
    timeout: float | None = None
    priority: int = 0
    tenant: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a call that has a value: its JSON text, and what it took."""

    value: str
    usage: Mapping[str, object] = field(default_factory=dict)
    checks: tuple[Mapping[str, object], ...] = ()

    @property
    def written(self) -> int:
        """Tokens that the model wrote."""
        found = self.usage.get("output_tokens")
        return found if isinstance(found, int) else 0


def written(**message: object) -> str:
    """A message as its line, without the line end."""
    return json.dumps(message, ensure_ascii=True, separators=(",", ":"))


def read(line: str | bytes) -> dict[str, object]:
    """The message in a line. Raises Garbled."""
    try:
        found: object = json.loads(line)
    except (ValueError, RecursionError):
        raise Garbled("it is no JSON") from None
    if not isinstance(found, dict):
        raise Garbled("it is no JSON object")
    return found


def text_of(data: Mapping[str, object], name: str) -> str:
    """A text of a message. Raises Garbled."""
    found = data.get(name, "")
    if not isinstance(found, str):
        raise Garbled(f"{name} is no text")
    return found


def number_of(data: Mapping[str, object], name: str) -> int:
    """A whole number of a message. Raises Garbled."""
    found = data.get(name)
    if not isinstance(found, int):
        raise Garbled(f"{name} is no whole number")
    return found


def seconds_of(data: Mapping[str, object], name: str) -> float | None:
    """A time of a message, None where it has none. Raises Garbled."""
    found = data.get(name)
    try:
        return float(found) if isinstance(found, int | float) else None
    except OverflowError:
        raise Garbled(f"{name} is no time") from None


def part_of(data: Mapping[str, object], name: str) -> dict[str, object]:
    """An object within a message, empty where it has none. Raises Garbled."""
    found = data.get(name, {})
    if not isinstance(found, dict):
        raise Garbled(f"{name} is no object")
    return found


def fields_of(data: Mapping[str, object]) -> dict[str, object]:
    """The fields of a failure, whose text is JSON within the message. Raises Garbled."""
    try:
        found = parse_json(text_of(data, "fields"))
    except ValueError as wrong:
        raise Garbled(f"fields: {wrong}") from None
    return {**found} if isinstance(found, dict) else {}


def list_of(data: Mapping[str, object], name: str) -> list[object]:
    """A list within a message, empty where it has none. Raises Garbled."""
    found = data.get(name, [])
    if not isinstance(found, list):
        raise Garbled(f"{name} is no list")
    return found


# -- calls and answers -------------------------------------------------------------------------------------


def call_line(number: int, asked: Asked | ModelRequest) -> str:
    """A call, which its worker answers under the same number."""
    return written(call=number, **asdict(asked))


def asked_of(data: Mapping[str, object]) -> Asked:
    """The call in a message. Raises Garbled."""
    most, ahead = data.get("max_tokens"), data.get("ahead")
    return Asked(
        text_of(data, "function"),
        text_of(data, "arguments"),
        number_of(data, "seed"),
        most if isinstance(most, int) else None,
        seconds_of(data, "timeout"),
        number_of(data, "priority"),
        ahead if isinstance(ahead, int) else None,
        data.get("detailed") is True,
        data.get("told") is True,
        text_of(data, "tenant"),
        text_of(data, "traceparent"),
    )


def request_of(data: Mapping[str, object]) -> ModelRequest | None:
    """The request to a model in a message; None where it is a call of a function. Raises Garbled."""
    if "body" not in data:
        return None
    return ModelRequest(
        text_of(data, "kind"),
        text_of(data, "body"),
        text_of(data, "id"),
        seconds_of(data, "timeout"),
        number_of(data, "priority"),
        text_of(data, "tenant"),
    )


def reply_line(number: int, reply: Reply) -> str:
    """The answer to a call that has a value; that it is too long is told in its place."""
    line = written(answer=number, **asdict(reply))
    if len(line) < LONGEST_LINE:
        return line
    return failure_line(number, SglError("Failure", f"the answer is longer than {LONGEST_LINE >> 20} MiB"))


def reply_of(data: Mapping[str, object]) -> Reply:
    """The reply in an answer. Raises what the call raised where it has none, and Garbled."""
    if "failure" in data:
        raise failure_of(part_of(data, "failure"))
    checks = tuple(each for each in list_of(data, "checks") if isinstance(each, dict))
    return Reply(text_of(data, "value"), part_of(data, "usage"), checks)


def failure_line(number: int, problem: Exception) -> str:
    """The answer to a call that has no value."""
    line = written(answer=number, failure=failure_data(problem))
    if len(line) < LONGEST_LINE:
        return line
    return failure_line(number, WorkerFault(f"{type(problem).__name__}: too long to be told"))


def failure_data(problem: Exception) -> dict[str, object]:
    """What ended a call, as JSON: an error of the language, a call that cannot begin, a request that is
    refused, or a fault."""
    if isinstance(problem, ArgumentError):
        told = {"code": problem.code, "reason": problem.reason, "hint": problem.hint}
        return {"kind": "arguments", "message": problem.message, **told}
    if isinstance(problem, Refusal):
        refused = asdict(problem.problem)
        return {"kind": "refusal", **refused, "fields": write_json(_fields(problem.problem.fields))}
    if not isinstance(problem, SglError):
        told_as = str(problem) if isinstance(problem, WorkerFault) else f"{type(problem).__name__}: {problem}"
        return {"kind": "fault", "message": told_as}
    cause = problem.__cause__
    return {
        "kind": "error",
        "name": problem.name,
        "message": problem.message,
        "fields": write_json(_fields(problem.fields)),
        "partial": problem.partial,
        "hint": problem.hint,
        "fatal": problem.fatal,
        "cause": "" if cause is None else type(cause).__name__,
        "caused": "" if cause is None else str(cause),
    }


def failure_of(data: Mapping[str, object]) -> Exception:
    """What `failure_data` was given, as far as a front needs it: values of fields are plain data, a place in
    the source is not told. Raises Garbled."""
    kind, message, hint = text_of(data, "kind"), text_of(data, "message"), text_of(data, "hint")
    if kind == "arguments":
        return ArgumentError(text_of(data, "code"), message, reason=text_of(data, "reason"), hint=hint)
    if kind == "refusal":
        return _refusal_of(data)
    if kind != "error":
        return WorkerFault(message)
    partial = data.get("partial")
    error = SglError(
        text_of(data, "name"),
        message,
        fields=fields_of(data),
        partial=partial if isinstance(partial, str) else None,
        hint=hint,
        fatal=data.get("fatal") is True,
    )
    if cause := text_of(data, "cause"):
        error.__cause__ = _cause_of(cause, text_of(data, "caused"))
    return error


def _refusal_of(data: Mapping[str, object]) -> Refusal:
    status = number_of(data, "status")
    return Refusal(
        Problem(
            status if status in TITLES else 500,
            text_of(data, "name"),
            text_of(data, "detail"),
            text_of(data, "code"),
            text_of(data, "hint"),
            fields_of(data),
            retry_after=seconds_of(data, "retry_after"),
        )
    )


def _cause_of(name: str, message: str) -> Exception:
    """What lies behind an error; those that a front tells apart are of their class."""
    if name == "QueueFull":
        return QueueFull(message)
    if name == "ContextOverflow":
        found = ContextOverflow(0, 0)
        found.args = (message,)
        return found
    return WorkerFault(f"{name}: {message}")


def _fields(value: object) -> object:
    """Values of an error's fields as JSON has them, decimals exact."""
    if isinstance(value, RecordValue):
        tag = {} if value.variant is None else {TAG: value.variant}
        return tag | {name: _fields(each) for name, each in value.fields.items()}
    if isinstance(value, Mapping):
        return {str(name): _fields(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_fields(each) for each in value]
    if isinstance(value, EnumValue):
        return value.name
    if value is None or isinstance(value, str | int | float | Decimal):
        return value
    return str(value)


def gone_of(data: Mapping[str, object]) -> list[bytes]:
    """The names of blocks that have left a worker's memory. Raises Garbled."""
    try:
        return [bytes.fromhex(str(name)) for name in list_of(data, "gone")]
    except ValueError:
        raise Garbled("gone: no names of blocks") from None


# -- events ------------------------------------------------------------------------------------------------


def event_line(number: int, event: Event) -> str:
    """An event of a call."""
    return written(
        event=number,
        kind=event.kind,
        data=plain_data(event.data),
        branch=event.branch,
        span=event.span,
        time=event.time,
        took=plain_data(event.took),
    )


def event_of(data: Mapping[str, object]) -> Event:
    """The event in a message. Raises Garbled."""
    return Event(
        text_of(data, "kind"),
        part_of(data, "data"),
        text_of(data, "branch"),
        text_of(data, "span"),
        number_of(data, "time"),
        part_of(data, "took"),
    )
