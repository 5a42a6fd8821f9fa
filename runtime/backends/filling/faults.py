"""What went wrong at a backend, as errors of the language."""

from __future__ import annotations

from sglc.runtime.backends.exchange import BackendFault, Ending
from sglc.runtime.errors import SglError


def backend_error(fault: BackendFault, hole: str, backend: str, partial: str = "") -> SglError:
    """`Backend` with its cause, endpoint, attempts and the seconds after which it may be tried again."""
    fields = {
        "message": fault.message,
        "cause": fault.cause,
        "endpoint": fault.endpoint,
        "attempts": fault.attempts,
        "retry_after": fault.retry_after,
    }
    hint = "the same request may succeed later" if fault.again else ""
    message = f"hole `{hole}` was asked of {backend}: {fault.message}"
    return SglError("Backend", message, fields=fields, partial=partial or fault.partial or None, hint=hint)


def refused_error(ending: Ending, hole: str, backend: str, partial: str) -> SglError:
    """`Refused`, of the model or of a filter of the server."""
    who = "refuses to answer" if ending.reason == "refused" else "has filtered the answer"
    said = f": {ending.message}" if ending.message else ""
    return SglError("Refused", f"hole `{hole}`: {backend} {who}{said}", partial=partial)
