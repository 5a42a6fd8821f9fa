"""The passes in order. Verified IR in, verified IR out, and nothing but IR in between."""

from __future__ import annotations

from collections.abc import Callable

from sglc.ir.module import Module
from sglc.passes import dead_code, fold, inline, merge_text

Pass = Callable[[Module], Module]

PASSES: tuple[tuple[str, Pass], ...] = (
    ("inline", inline.run),  # parts first, so that their text can join the text around them
    ("dead_code", dead_code.run),  # joins blocks
    ("fold", fold.run),
    ("dead_code", dead_code.run),  # what folding made useless
    ("merge_text", merge_text.run),
)
"""Name and function of each pass of level 1, in order."""


def run(module: Module, level: int = 1, hook: Callable[[str, Module], None] | None = None) -> Module:
    """The module after the passes of a level: 0 none, 1 all.

    `hook(name, module)` is called after each pass; printing, timing and verifying hang on it.
    """
    if level < 1:
        return module
    for name, run_pass in PASSES:
        module = run_pass(module)
        if hook is not None:
            hook(name, module)
    return module
