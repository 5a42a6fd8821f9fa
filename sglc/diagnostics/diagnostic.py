"""A diagnostic is a value: stages return them in a list, only the outermost layer draws them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sglc.source import Span

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Label:
    """A secondary place with a few words about it."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Put `text` in the place of the characters of `span`: an empty span inserts, an empty text removes."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about a program.

    `code` is a key of the catalogue (`E0123`, `W0012`). `message` says what is wrong in one line, `label`
    says what stands at the primary span, `reason` why it is wrong, `witness` is the shortest concrete
    text that shows it, `hint` what to do. `edits` do what the hint says, all of them together: they are
    written only where the repair is certain, for `sglc check --fix` makes them without asking. `offered` are
    edits that change what the program says, if only its order: they are made where their code is accepted.
    """

    code: str
    message: str
    span: Span | None
    label: str = ""
    reason: str = ""
    witness: str = ""
    hint: str = ""
    secondary: tuple[Label, ...] = ()
    severity: Severity = "error"
    edits: tuple[Edit, ...] = ()
    offered: tuple[Edit, ...] = ()


def has_errors(diagnostics: list[Diagnostic]) -> bool:
    """Whether one of the findings is an error."""
    return any(d.severity == "error" for d in diagnostics)
