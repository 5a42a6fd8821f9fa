"""How to compile, as one frozen value."""

from __future__ import annotations

from dataclasses import dataclass

LEVELS = (0, 1, 2)
"""What `-O` takes; see `sglc.passes.pipeline`."""


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """How a program is compiled.

    `level` says which passes run (`-O`): 0 none, 1 those that tidy, 2 all. `verify` checks the IR after each.
    With `allow_outside` the program may read files outside of its project (see `sglc.library`).
    """

    level: int = LEVELS[-1]
    verify: bool = False
    allow_outside: bool = False
