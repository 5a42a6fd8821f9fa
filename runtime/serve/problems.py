"""What a request gets in place of a value: `application/problem+json` of RFC 9457.

`name` is the name of the error in the language, `code` its code; a declared error has its `fields`, and
`partial` is the text of an answer that was not finished.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sglc.runtime.errors import ArgumentError, SglError
from sglc.types.text.plain_json import write_json

MEDIA_TYPE = "application/problem+json"
STATUS: Mapping[str, int] = {
    "Rejected": 422,
    "Truncated": 422,
    "Refused": 422,
    "Unsatisfiable": 422,
    "Unsupported": 422,
    "Budget": 422,
    "Failure": 422,
    "Backend": 502,
    "Foreign": 502,
    "Cancelled": 503,
    "Timeout": 504,
}
"""Built-in errors of the language and their status; a declared error has DECLARED."""
DECLARED = 422
TITLES: Mapping[int, str] = {
    400: "the request cannot be read",
    401: "a key is needed",
    403: "not allowed",
    404: "there is nothing here",
    405: "another method is needed",
    406: "nothing that is asked for can be given",
    408: "the request did not come",
    409: "it is there already",
    413: "too large",
    414: "the address is too long",
    415: "another media type is needed",
    421: "another host is meant",
    422: "the call has no value",
    426: "another protocol is needed",
    429: "too many requests",
    431: "the headers are too large",
    500: "a fault of the server",
    501: "this is not there",
    502: "what the call needs has failed",
    503: "no calls are taken",
    504: "out of time",
    505: "another version of HTTP is needed",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """A failure as a client sees it. `retry_after` is in seconds; None says nothing of when."""

    status: int
    name: str
    detail: str
    code: str = ""
    hint: str = ""
    fields: Mapping[str, object] = field(default_factory=dict)
    partial: str | None = None
    retry_after: float | None = None
    closes: bool = False
    """Whether the connection ends with it: what is left of the request is not read."""

    def data(self) -> dict[str, object]:
        """The members of the JSON object; those that say nothing are absent."""
        told: dict[str, object] = {
            "type": f"urn:sgl:error:{self.name}",
            "title": TITLES[self.status],
            "status": self.status,
            "detail": self.detail,
            "name": self.name,
        }
        if self.code:
            told["code"] = self.code
        if self.hint:
            told["hint"] = self.hint
        if self.fields:
            told["fields"] = dict(self.fields)
        if self.partial:
            told["partial"] = self.partial
        if self.retry_after is not None:
            told["retry_after"] = _whole(self.retry_after)
        return told

    def text(self) -> str:
        """The JSON object on one line, decimals exact."""
        return write_json(self.data())

    @property
    def headers(self) -> dict[str, str]:
        """Headers that say the same to clients that read no bodies."""
        found = {} if self.retry_after is None else {"retry-after": str(_whole(self.retry_after))}
        if self.closes:
            found["connection"] = "close"
        if self.status == 401:
            found["www-authenticate"] = "Bearer"
        return found


class Refusal(Exception):
    """A request that is not answered with a value."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def refusal(
    status: int, name: str, detail: str, *, hint: str = "", retry_after: float | None = None
) -> Refusal:
    """What a handler raises."""
    return Refusal(Problem(status, name, detail, hint=hint, retry_after=retry_after))


def of_arguments(error: ArgumentError) -> Problem:
    """Of a call that cannot begin: 404 where there is no such function, else 400."""
    detail = f"{error.message}: {error.reason}" if error.reason else error.message
    return Problem(404 if error.code == "E0712" else 400, "Arguments", detail, error.code, error.hint)


def of_error(error: SglError, fields: Mapping[str, object] | None = None) -> Problem:
    """Of a run that failed. `fields` are those of the error as plain data.

    What has no room (a context, a queue) has a status of its own, so that clients know what to do.
    """
    told = dict(error.known_fields if fields is None else fields)
    status = STATUS.get(error.name, DECLARED)
    cause = type(error.__cause__).__name__ if error.__cause__ is not None else ""
    after = told.get("retry_after") if error.name == "Backend" else None
    retry_after = float(after) if isinstance(after, int | float) else None
    if cause == "ContextOverflow":
        status = 413
    elif cause == "QueueFull" or told.get("cause") in ("overloaded", "rate"):
        status, retry_after = 429, 1.0 if retry_after is None else retry_after
    return Problem(
        status, error.name, error.message, error.code, error.hint, told, error.partial, retry_after
    )


def internal(run: str) -> Problem:
    """Of a fault of our own. What it was stands in the log of the server, under the same number."""
    return Problem(500, "Internal", f"a fault of the server; its log has it under {run}")


def _whole(seconds: float) -> int:
    """Seconds as `Retry-After` has them: whole, at least one."""
    return max(1, -int(-seconds // 1))
