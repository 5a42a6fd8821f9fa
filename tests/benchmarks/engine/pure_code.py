"""How much of a program's processor time its own computations take: pure functions, validators, conditions.

    python -P tests/benchmarks/engine/pure_code.py [--executor KIND] [--model NAME] [--markdown FILE]

Runs each example with its default arguments (or the JSON file beside it) on a real model, greedily. A first
run finds masks and kernels, the second is measured. From the start of an instruction to the start of the next
one of the same line of execution counts as its time; instructions that wait (for a model, a task) are left
out. The clock itself counts too, so that the figures are upper bounds. The page decides whether functions on
numbers and texts are worth machine code of their own.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter_ns, process_time_ns
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from drafting.speculation import BLOCKS
from engine.concurrency import grid
from engine.examples_on_model import EXAMPLES, arguments_of
from report import surroundings, write_page
from sglc.commands.running.arguments import bind, choose_function
from sglc.driver import compile_file
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.errors import SglError
from sglc.runtime.executor.choose import load_executor
from sglc.runtime.kv.cache import KVCache
from sglc.runtime.session import Session
from sglc.runtime.vm import machine as machines
from sglc.runtime.vm.state.frame import Signal
from sglc.runtime.vm.state.strand import Strand

HEAD = (
    "program",
    "tokens",
    "steps",
    "cpu ms a step",
    "instructions",
    "share",
    "of pure functions",
    "µs a step",
    "share",
)
WORDS = """*cpu ms a step* is the run's processor time by its forward passes. *instructions* are all that the
machine took, *of pure functions* those of `pure fn` and validators; their shares are of the processor time
of the run."""


@dataclass
class Clock:
    """Time and number of instructions: of all code, and of pure functions."""

    every: int = 0
    every_ns: int = 0
    pure: int = 0
    pure_ns: int = 0
    _last: tuple[int, Strand, bool] | None = None

    def begin(self, strand: Strand, pure: bool) -> None:
        """An instruction of a line of execution begins."""
        now = perf_counter_ns()
        if self._last is not None and self._last[1] is strand:
            spent = now - self._last[0]
            self.every += 1
            self.every_ns += spent
            if self._last[2]:
                self.pure += 1
                self.pure_ns += spent
        self._last = (perf_counter_ns(), strand, pure)

    def wait(self) -> None:
        """The instruction that began last waits: what it takes is not its own."""
        self._last = None


def timed(clock: Clock, handlers: tuple[Any, ...]) -> tuple[Any, ...]:
    """The instructions, each with a clock in front of it."""

    def wrap(handler: Any) -> Any:
        def step(machine: Strand, frame: Any, a: int, b: int) -> Any:
            clock.begin(machine, frame.code.kind == "pure")
            outcome = handler(machine, frame, a, b)
            if outcome is not None and not isinstance(outcome, Signal):
                clock.wait()
            return outcome

        return step

    return tuple(map(wrap, handlers))


def row(path: Path, engine: BatchingEngine) -> tuple[str, ...] | None:
    """The figures of a program; None where no function of it asks a model."""
    program = compile_file(path).program
    assert program is not None, path
    code, _ = choose_function(program, None)
    code = code or next((code for code in program.codes if code.public), None)
    if code is None or code.kind != "fn":
        return None
    bound, problems = bind(program, code, {}, arguments_of(path))
    assert not problems, problems
    session = Session(program, engine)
    clock, plain = Clock(), machines.HANDLERS
    try:
        asyncio.run(session.run(code.name, bound))
        forwards, started = engine.statistics.forwards, process_time_ns()
        result = asyncio.run(session.run(code.name, bound))
        took, steps = process_time_ns() - started, engine.statistics.forwards - forwards
        machines.HANDLERS = timed(clock, plain)
        asyncio.run(session.run(code.name, bound))
    except SglError as error:
        return (path.stem, f"ends with {error.name}", *[""] * (len(HEAD) - 2))
    finally:
        machines.HANDLERS = plain
    return (
        path.stem,
        f"{result.statistics.output_tokens}",
        f"{steps}",
        f"{took / steps / 1e6:.2f}",
        f"{clock.every:,}",
        f"{clock.every_ns / took:.2%}",
        f"{clock.pure:,}",
        f"{clock.pure_ns / steps / 1e3:.0f}",
        f"{clock.pure_ns / took:.2%}",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="What the code of programs takes of their runs.")
    parser.add_argument("--executor", default="auto")
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args()
    executor = load_executor(given.model, kind=given.executor)
    executor.reserve(BLOCKS)
    cache = KVCache(BLOCKS, executor.block_bytes, copy_block=executor.copy_block)
    engine = BatchingEngine(executor, cache)
    table = [HEAD]
    for path in EXAMPLES:
        if (found := row(path, engine)) is not None:
            table.append(found)
            print(" | ".join(found), flush=True)
    engine.close()
    if given.markdown is not None:
        words = (__doc__ or "").split("\n\n", 2)[2]
        body = f"{grid(table)}\n\n{WORDS}\n\n{executor.kind}, {executor.name}."
        write_page(str(given.markdown), "Code of programs", words, body, surroundings())


if __name__ == "__main__":
    main()
