"""Failures at run time: what SGL code can catch, and how an uncaught one becomes a diagnostic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sglc.diagnostics.diagnostic import Diagnostic
from sglc.source import Source, Span

if TYPE_CHECKING:
    from sglc.bytecode.code import Place, Program

CODES: dict[str, str] = {
    "Truncated": "E0701",
    "Rejected": "E0702",
    "Refused": "E0703",
    "Unsatisfiable": "E0704",
    "Unsupported": "E0705",
    "Timeout": "E0706",
    "Backend": "E0707",
    "Budget": "E0708",
    "Cancelled": "E0709",
    "Failure": "E0710",
    "Foreign": "E0723",
}
"""Built-in errors of the language and their codes; a declared error has DECLARED."""
DECLARED = "E0711"
BACKEND: Mapping[str, object] = {"cause": "local", "endpoint": "", "attempts": 1, "retry_after": None}
"""What a program reads of a `Backend` that says nothing of it. `cause` is what failed: `connection`,
`overloaded`, `rate`, `access`, `request`, `protocol` of models elsewhere, else `local`; `endpoint` the
address without keys; `attempts` the requests that were sent; `retry_after` the seconds after which it may
succeed."""


class SglError(Exception):
    """An error of the language on its way to a handler.

    `name` is the error's name, `fields` the values of a declared error's fields, `partial` the text that was
    generated of a value that could not be finished. A fatal error (a run's time, tokens or steps are spent)
    passes every handler. `place` and `file` are set by the virtual machine where the error arose.
    """

    def __init__(
        self,
        name: str,
        message: str,
        *,
        fields: Mapping[str, object] | None = None,
        partial: str | None = None,
        hint: str = "",
        fatal: bool = False,
    ) -> None:
        super().__init__(message)
        self.name = name
        self.message = message
        self.fields: dict[str, object] = dict(fields or {})
        self.partial = partial
        self.hint = hint
        self.fatal = fatal
        self.place: Place | None = None
        self.calls: tuple[str, ...] = ()
        """Names of the functions that were running, outermost first."""

    @property
    def code(self) -> str:
        """The code of its diagnostic, such as `E0704`."""
        return CODES.get(self.name, DECLARED)

    @property
    def known_fields(self) -> dict[str, object]:
        """The fields, and those of a `Backend` that says nothing of them."""
        return {**BACKEND, **self.fields} if self.name == "Backend" else dict(self.fields)

    @property
    def parts(self) -> dict[str, object]:
        """What a handler can read: the fields, and of a built-in error the text that was not finished."""
        partial = {"partial": self.partial or ""} if self.name in CODES else {}
        return partial | self.known_fields

    def __str__(self) -> str:
        return f"{self.name}: {self.message}" if self.message else self.name


class ArgumentError(Exception):
    """A run that cannot start: no such function, or arguments that do not fit its parameters."""

    def __init__(self, code: str, message: str, *, reason: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.reason = reason
        self.hint = hint

    def diagnostic(self) -> Diagnostic:
        """The error as a diagnostic, which has no place in the program."""
        return Diagnostic(self.code, self.message, None, reason=self.reason, hint=self.hint)


def span_of(program: Program, place: Place | None) -> Span | None:
    """The place as a span of the program's own copy of the source; None where no source was kept."""
    if place is None or not 0 <= place.file < len(program.files):
        return None
    text = program.sources[place.file] if place.file < len(program.sources) else ""
    if place.end > len(text):
        return None
    return Span(Source(program.files[place.file], text), place.start, place.end)


def diagnostic_of(error: SglError, program: Program) -> Diagnostic:
    """The error as a diagnostic that points at the source."""
    span = span_of(program, error.place)
    message = f"{error.name}: {error.message}" if error.message else f"{error.name} was raised"
    reason = ""
    if span is None and error.place is not None and 0 <= error.place.file < len(program.files):
        place = error.place
        reason = f"at {program.files[place.file]}:{place.line}:{place.column}"
    if len(error.calls) > 1:
        shown = error.calls if len(error.calls) <= 6 else (*error.calls[:3], "…", *error.calls[-2:])
        reason = f"{reason}; " if reason else ""
        reason += "called through " + " > ".join(shown)
    return Diagnostic(
        error.code,
        message,
        span,
        label="raised here" if span is not None else "",
        reason=reason,
        witness=error.partial or "",
        hint=error.hint,
    )
