"""From the refusals of services to faults: statuses, bodies of errors, waiting times, without secrets."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Collection, Mapping
from email.utils import parsedate_to_datetime

from sglc.runtime.backends.exchange import BackendFault, Cause

LONGEST_MESSAGE = 300
"""Characters of a message: a line or two on a terminal."""
LONGEST_WAIT = 86_400.0
"""Seconds that a server may ask to wait. More is taken as a day: nobody waits longer."""
_CAUSES: Mapping[int, Cause] = {
    401: "access",
    402: "access",
    403: "access",
    408: "overloaded",
    409: "overloaded",
    425: "overloaded",
    429: "rate",
}
"""Causes of statuses below 500; the others are of the request."""
_AGAIN = frozenset((408, 409, 425, 429))
_NEVER_AGAIN = frozenset((501, 505, 510, 511))
"""Statuses from 500 on that say what the server cannot do at all."""
_SPENT = ("insufficient_quota", "billing", "credit", "spend_limit", "spend limit")
"""Words in the code, type or message of a 429 that no waiting helps."""
_TYPES: Mapping[str, tuple[Cause, bool]] = {
    "overloaded_error": ("overloaded", True),
    "api_error": ("overloaded", True),
    "timeout_error": ("overloaded", True),
    "server_error": ("overloaded", True),
    "internalservererror": ("overloaded", True),
    "internal_server_error": ("overloaded", True),
    "service_unavailable": ("overloaded", True),
    "unavailable_error": ("overloaded", True),
    "rate_limit_error": ("rate", True),
    "rate_limit_exceeded": ("rate", True),
    "insufficient_quota": ("rate", False),
    "authentication_error": ("access", False),
    "billing_error": ("access", False),
    "permission_error": ("access", False),
}
"""What errors mean that come in the middle of a stream, without a status. Others are of the request."""


def fault_of_status(
    status: int, headers: Mapping[str, str], body: bytes, endpoint: str, secrets: Collection[str] = ()
) -> BackendFault:
    """The fault of a reply whose status is no success."""
    kind, message = _error_in(body)
    cause = _CAUSES.get(status, "overloaded" if status >= 500 else "request")
    again = status in _AGAIN or (status >= 500 and status not in _NEVER_AGAIN)
    if status == 429 and any(word in f"{kind} {message}".lower() for word in _SPENT):
        again = False
    if (said := headers.get("x-should-retry", "")) in ("true", "false"):
        again = said == "true"
    return BackendFault(
        cause,
        line(f"status {status}: {message}" if message else f"status {status}", secrets),
        endpoint=endpoint,
        status=status,
        again=again,
        retry_after=waiting_time(headers) if again else None,
    )


def fault_in_stream(error: object, endpoint: str, secrets: Collection[str] = ()) -> BackendFault:
    """The fault of an error that comes as an event of a stream."""
    kind, message = _error_of(error)
    status = error.get("code") if isinstance(error, dict) else None
    if isinstance(status, int) and not isinstance(status, bool) and 400 <= status <= 599:
        cause: Cause = _CAUSES.get(status, "overloaded" if status >= 500 else "request")
        again = status in _AGAIN or (status >= 500 and status not in _NEVER_AGAIN)
    else:
        cause, again = _TYPES.get(kind.lower(), ("request", False))
        status = None
    message = message or kind or "it does not say why"
    return BackendFault(
        cause,
        line(f"the stream ends with an error: {message}", secrets),
        endpoint=endpoint,
        status=status,
        again=again,
    )


def waiting_time(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait: `retry-after-ms`, else `retry-after`, a number or a date."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return min(milliseconds / 1000, LONGEST_WAIT)
    given = headers.get("retry-after", "")
    seconds = _number(given)
    if seconds is None and given:
        try:
            seconds = max(0.0, parsedate_to_datetime(given).timestamp() - time.time())
        except (ValueError, OverflowError):
            return None
    return None if seconds is None else min(seconds, LONGEST_WAIT)


def line(text: str, secrets: Collection[str] = ()) -> str:
    """A text as one line without secrets, cut to what a message may have."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "…")
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 1] + "…"


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) and found >= 0 else None


def _error_in(body: bytes) -> tuple[str, str]:
    """Kind and message of an error in a body: JSON of one of the usual forms, or else some text."""
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        text = body[:2000].decode("utf-8", "replace").strip()
        return "", "" if text.startswith("<") else text
    if isinstance(value, dict):
        for name in ("error", "detail"):
            if value.get(name):
                return _error_of(value[name])
    return _error_of(value)


def _error_of(error: object) -> tuple[str, str]:
    """Kind and message of an error as OpenAI, Anthropic, vLLM, SGLang, llama.cpp and FastAPI write it."""
    if isinstance(error, str):
        return "", error
    if isinstance(error, list) and error:  # FastAPI: what is wrong, field by field
        return _error_of(error[0])
    if not isinstance(error, dict):
        return "", ""
    kinds = [error[name] for name in ("code", "type") if isinstance(error.get(name), str)]
    said = error.get("message") or error.get("msg") or error.get("detail") or ""
    parameter = error.get("param")
    message = said if isinstance(said, str) else json.dumps(said)
    if isinstance(parameter, str) and parameter and parameter not in message:
        message = f"{message} ({parameter})"
    known = [kind for kind in kinds if kind.lower() in _TYPES]
    return (known or kinds or [""])[0], message
