"""Programs whose calls are announced, seen with and without tasks."""

from __future__ import annotations

from typing import Any

from fakes.hashed_engine import HashedEngine
from seen import Seen, seen
from sglc.bytecode.code import Program
from sglc.bytecode.verify import verified
from sglc.driver import lowered
from sglc.emit.program import emit
from sglc.options import CompileOptions
from sglc.source import Source
from sglc.types.values import Value
from strategies.programs.hints import announced

Calls = list[tuple[str, tuple[Value, ...]]]


def program(text: str, calls: Calls, function: str = "main") -> Program:
    """The bytecode of a source, with hints of these calls where a function begins."""
    module, found = lowered(Source("ahead.sgl", text), CompileOptions(level=0))
    assert module is not None, [each.message for each in found]
    made, faults = verified(emit(announced(module, function, calls)))
    assert not faults, [fault.reason for fault in faults]
    return made


ARGUMENTS = {"n": 2, "word": "sea"}


def both(made: Program, **options: Any) -> tuple[Seen, HashedEngine, HashedEngine]:
    """What is seen of a run, the same with and without tasks, and the engines of the two runs."""
    concurrency = options.pop("concurrency", 8)
    delays, faults = options.pop("delays", 3), options.pop("faults", 0)
    plain, ahead = (HashedEngine(delays=delays, faults=faults) for _ in range(2))
    before = seen(made, ARGUMENTS, plain, concurrency=0, **options)
    after = seen(made, ARGUMENTS, ahead, concurrency=concurrency, **options)
    assert after == before
    return before, plain, ahead


ONE = """\
error Odd(n: int)

fn one(n: int) -> str:
    user: | Number ${n}.
    assistant: | ?{w: str min 6 chars max 9 chars temp 1.5}
    return w

fn bad(n: int) -> str raises Odd:
    user: | Number ${n}.
    assistant: | ?{w: str min 2 chars max 4 chars}
    check len(w) > 99 else "short"
    raise Odd(n)

"""

TWO = (
    ONE
    + """\
pub fn main(n: int, word: str) -> [str]:
    let a = one(1)
    let b = one(2)
    return [a, b]
"""
)


LED = TWO.replace("    let a", "    assistant: | ?{first: str min 3 chars max 4 chars}\n    let a")
"""The same behind a hole, in the time of which tasks get on."""
