"""How to compile, as one frozen value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """`level` 0 leaves the IR as it was lowered, 1 runs the passes; `verify` checks the IR after each one.

    With `allow_outside` the program may read files outside of its project (see `sglc.library`).
    """

    level: int = 1
    verify: bool = False
    allow_outside: bool = False
