"""Faults and refusals of backends as errors of the language."""

from __future__ import annotations

from sglc.runtime.backends.exchange import BackendFault, Cause, Ending
from sglc.runtime.errors import SglError

HINTS: dict[Cause, str] = {
    "connection": "see whether the address can be reached and `timeouts` of sgl.toml are long enough",
    "overloaded": "try again later, or name another model in `fallback` of sgl.toml",
    "rate": "set `limits` in sgl.toml to what the key may do, or lower `--concurrency`",
    "access": "see whether the environment has the key, and whether the key may use the model",
    "budget": "raise `budget` in sgl.toml, or bound holes by fewer tokens",
    "deadline": "allow more time with `--timeout`, or bound holes by fewer tokens",
}
"""What a user can do, by what went wrong."""


def language_error(fault: BackendFault, asked: str = "", partial: str | None = None) -> SglError:
    """The error that a program meets: `Timeout` where the deadline of the run passed, which no handler
    catches; `Budget` where a budget is used up; else `Backend` with its fields.

    asked    what was asked of whom, which the message begins with
    partial  the legal text so far; None where that is the text of the answer that had come
    """
    known, hint = (fault.partial if partial is None else partial) or None, HINTS.get(fault.cause, "")
    message = f"{asked}: {_said(fault)}" if asked else _said(fault)
    if fault.cause == "deadline":
        return SglError("Timeout", message, partial=known, hint=hint, fatal=True)
    if fault.cause == "budget":
        return SglError("Budget", message, partial=known, hint=hint)
    fields: dict[str, object] = {
        "cause": fault.cause,
        "endpoint": fault.endpoint,
        "attempts": fault.attempts,
        "retry_after": fault.retry_after,
    }
    return SglError("Backend", message, fields=fields, partial=known, hint=hint)


def _said(fault: BackendFault) -> str:
    """The message, with what the reader needs to look for the reason."""
    where = f"{fault.endpoint}: " if fault.endpoint else ""
    status = f" (status {fault.status})" if fault.status is not None else ""
    tries = f", after {fault.attempts} requests" if fault.attempts > 1 else ""
    return f"{where}{fault.message}{status}{tries}"


def refused_error(ending: Ending, hole: str, backend: str, partial: str) -> SglError:
    """`Refused`, of the model or of a filter of the server."""
    who = "refuses to answer" if ending.reason == "refused" else "has filtered the answer"
    said = f": {ending.message}" if ending.message else ""
    return SglError("Refused", f"hole `{hole}`: {backend} {who}{said}", partial=partial)
