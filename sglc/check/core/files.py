"""Files that a program takes in: texts, schemas, grammars and declarations beside its modules."""

from __future__ import annotations

from sglc.check.core.context import ModuleContext, ProgramState
from sglc.library import LibraryError
from sglc.source import Span

OUTSIDE_HINT = (
    "move it into the project, put an `sgl.toml` into a folder that holds both, or allow it: "
    "`--allow-outside`, in Python `allow_outside=True`"
)


def file_text(module: ModuleContext, path: str, span: Span) -> str | None:
    """The text of a file as `path` names it in a module; None, reported at `span`, where it cannot be had."""
    try:
        text = module.program.library.read_text(path, module.source)
        reason = "looked for beside this file"
    except LibraryError as fault:
        if fault.outside:
            report_outside(module, path, span, fault)
            return None
        text, reason = None, fault.reason
    if text is None:
        module.report("E0211", f"there is no file `{path}`", span, label="not found", reason=reason)
    return text


def report_outside(module: ModuleContext | ProgramState, path: str, span: Span, fault: LibraryError) -> None:
    """Report a path that leaves the project."""
    module.report(
        "E0138",
        f"`{path}` leaves the project",
        span,
        label="not read",
        reason=fault.reason,
        hint=OUTSIDE_HINT,
    )
