"""Failures as clients of OpenAI's protocol read them: `{"error": {"message", "type", "param", "code"}}`."""

from __future__ import annotations

from sglc.runtime.serve.problems import Problem, Refusal
from sglc.types.text.plain_json import write_json

INVALID = "invalid_value"
UNSUPPORTED = "unsupported_parameter"
CONTEXT = "context_length_exceeded"
UNKNOWN_MODEL = "model_not_found"
_CODES = {
    "Busy": "queue_full",
    "Rate": "rate_limit_exceeded",
    "Schemas": "schema_limit_exceeded",
    "Internal": "internal_error",
}
"""Codes of problems that have names only."""
_PARAM = "param"


def wrong(param: str, message: str, code: str = INVALID) -> Refusal:
    """A request that is refused because of one of its parameters."""
    return Refusal(Problem(400, "Arguments", message, code, fields={_PARAM: param}))


def unsupported(param: str, why: str) -> Refusal:
    """A parameter that would change the answer, and that this server does not have."""
    return wrong(param, f"`{param}` is not supported here: {why}", UNSUPPORTED)


def no_model(name: str, known: list[str]) -> Refusal:
    """A model that there is not."""
    message = f"there is no model {name!r}; there are " + (", ".join(known) or "none")
    return Refusal(Problem(404, "NotFound", message, UNKNOWN_MODEL, fields={_PARAM: "model"}))


def status_of(problem: Problem) -> int:
    """The status that clients of this protocol expect: a context without room is 400."""
    if problem.status == 413 and problem.name == "Budget":
        return 400
    return 400 if problem.name in ("Unsupported", "Truncated") else problem.status


def error_text(problem: Problem) -> str:
    """The JSON object of a failure."""
    status = status_of(problem)
    code = problem.code or _CODES.get(problem.name, problem.name.lower())
    if problem.status == 413 and problem.name == "Budget":
        code = CONTEXT
    kind = (
        "rate_limit_error" if status == 429 else "server_error" if status >= 500 else "invalid_request_error"
    )
    message = f"{problem.detail}; {problem.hint}" if problem.hint else problem.detail
    param = problem.fields.get(_PARAM)
    return write_json({"error": {"message": message, "type": kind, "param": param, "code": code}})
