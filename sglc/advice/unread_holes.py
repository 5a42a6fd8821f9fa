"""W0227: a hole that nothing reads, at the end of what a function asks (`sglc.analysis.unread`)."""

from __future__ import annotations

from sglc.analysis.unread import unread_holes
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.ir.module import Module

CODE = "W0227"


def unread(module: Module) -> list[Diagnostic]:
    """The findings in the main module, in order. `module` is its code before any pass."""
    own = {function.name for function in module.functions if function.of_program}
    found = []
    for hole in unread_holes(module):
        if hole.function in own:
            name = module.holes[hole.hole].name.rpartition(".")[2]
            found.append(
                Diagnostic(
                    CODE,
                    f"`{name}` is never read",
                    hole.span,
                    label="the model fills it for nobody",
                    reason="nothing is asked behind it in this conversation, so its tokens change no result",
                    hint=f"use it, leave the hole out, or call it `_{name}` if its text is what you want",
                    severity="warning",
                )
            )
    return found
