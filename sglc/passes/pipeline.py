"""The passes in order. Verified IR in, verified IR out, and nothing but IR in between."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from sglc.ir.module import Module
from sglc.options import LEVELS
from sglc.passes import dead_code, fold, forced_text, inline, merge_text, specialise, start_early, unroll


@dataclass(frozen=True, slots=True)
class Pass:
    """A step of the pipeline: from module to module. `level` is the lowest level that runs it.

    A pass that `remembers` is also given the module that its last run in this pipeline has made, if there was
    one: what is the same object in it need not be looked at again.
    """

    name: str
    run: Callable[..., Module]
    level: int = 1
    remembers: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One pass that ran: what it was given, what it made, and the seconds it took.

    A pass that has nothing to do gives back the module it was given.
    """

    name: str
    before: Module
    after: Module
    seconds: float


Observer = Callable[[Step], None]
"""Called after each pass: it prints, times or verifies, and changes nothing."""

TIDY = Pass("dead_code", dead_code.run, remembers=True)
PASSES = (
    Pass("inline", inline.run),  # parts first, so that their text can join the text around them
    TIDY,  # joins blocks
    Pass("fold", fold.run),
    TIDY,  # what folding made useless
    Pass("unroll", unroll.run, level=2),  # loops over constants, calls on constants
    replace(TIDY, level=2),
    Pass("specialise", specialise.run, level=2),  # functions called with constants
    replace(TIDY, level=2),
    Pass("merge_text", merge_text.run),
    Pass("forced_text", forced_text.run, level=2),
    Pass("start_early", start_early.run, level=2),  # last, for it copies what computes arguments
)

NAMES = tuple(dict.fromkeys(step.name for step in PASSES))


def of_level(level: int) -> tuple[Pass, ...]:
    """The passes that a level runs: none at 0, those that only tidy at 1, all at 2."""
    return tuple(step for step in PASSES if step.level <= level)


def run(module: Module, level: int = LEVELS[-1], observe: Observer | None = None) -> Module:
    """The module after the passes of a level. `observe` sees every step."""
    made: dict[str, Module | None] = {}
    for step in of_level(level):
        begun = time.perf_counter()
        after = step.run(module, made.get(step.name)) if step.remembers else step.run(module)
        if observe is not None:
            observe(Step(step.name, module, after, time.perf_counter() - begun))
        made[step.name] = module = after
    return module
