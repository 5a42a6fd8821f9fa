"""The exceptions of the Python interface. They can be pickled: a worker's failure reaches its caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sglc.diagnostics.diagnostic import Diagnostic
from sglc.diagnostics.render import render


class CompileError(Exception):
    """A program that does not compile. The message is the rendered diagnostics; they are also data."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n\n".join(render(d) for d in diagnostics))

    def __reduce__(self) -> tuple[object, ...]:
        return CompileError, (self.diagnostics,)


class RunError(Exception):
    """A run that failed with an error of the language.

    `name` is the error's name (`Truncated`, `Stuck`), `code` its code, `reason` the message, `fields` the
    values it was raised with, `partial` the text that had been generated of what could not be finished, and
    `diagnostic` what the command line would show.
    """

    def __init__(
        self,
        name: str,
        code: str,
        reason: str,
        fields: Mapping[str, object],
        partial: str | None,
        diagnostic: Diagnostic,
    ) -> None:
        self.name = name
        self.code = code
        self.reason = reason
        self.fields = dict(fields)
        self.partial = partial
        self.diagnostic = diagnostic
        super().__init__(render(diagnostic))

    def __reduce__(self) -> tuple[object, ...]:
        return RunError, (self.name, self.code, self.reason, self.fields, self.partial, self.diagnostic)
