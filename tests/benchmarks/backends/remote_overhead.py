"""Processor time of this process for calls to models elsewhere: all that is ours, without a network.

    python tests/benchmarks/backends/remote_overhead.py [--calls 200] [--rounds 5]

All calls of a round are in flight at once, on one event loop in one thread, at a backend of plain functions
that answers in pieces of four characters. The first round compiles constraints and is left out. A row has
the processor time of the best round and of the median one, a call, and the requests a call.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

from backends.fake_backend import FakeBackend
from sglc.driver import compile_source
from sglc.runtime.backends.filling.remote_model import RemoteModel
from sglc.runtime.session import Session
from sglc.source import Source

LINE = """pub fn f(x: str) -> str:
    user: | Name ${x}
    assistant: | ?{name: line max 40 chars}
    return name
"""
RECORD = """record Crew:
    name: str max 40 chars
    age: int in 18..70
    post: "engineer" | "pilot" | "medic"

pub fn f(x: str) -> Crew:
    user: | Invent ${x}
    assistant: | ?{member: Crew}
    return member
"""
FUSED = """pub fn f(x: str) -> str:
    user: | Invent ${x}
    assistant:
        | ?{a: line max 20 chars until "."}. ?{b: int in 1..99}
        | ?{c: int in 1..99} ?{d: choose ["glad", "sad"]}
        | ?{e: line max 20 chars}
    return "${a} ${b} ${c} ${d} ${e}"
"""
OPTIONS = """pub fn f(x: str) -> str:
    user: | Name ${x}
    assistant: | ?{name: one of [x, "another", "a third"]}
    return name
"""
CREW = json.dumps({"name": "Ada Lovelace", "age": 36, "post": "engineer"})
FIVE = json.dumps({"a": "Ada", "b": 7, "c": 8, "d": "glad", "e": "Bye then."})
CASES: dict[str, tuple[str, str]] = {
    "a line": (LINE, "Ada Lovelace"),
    "a record": (RECORD, CREW),
    "five holes, one request": (FUSED, FIVE),
    "options that each call has of its own": (OPTIONS, "another"),
}


def measured(text: str, answer: str, calls: int, rounds: int) -> tuple[list[float], float, int]:
    """Milliseconds of processor time a call, by round; requests a call; most requests in flight."""
    program = compile_source(Source("p.sgl", text)).program
    assert program is not None
    backend = FakeBackend(lambda query: [answer[at : at + 4] for at in range(0, len(answer), 4)])
    session = Session(program, RemoteModel(backend))

    async def all_calls(number: int) -> None:
        await asyncio.gather(*(session.run("f", {"x": f"x{number}.{call}"}) for call in range(calls)))

    times = []
    for number in range(rounds + 1):
        before = time.process_time()
        asyncio.run(all_calls(number))
        times.append((time.process_time() - before) / calls * 1e3)
    return times[1:], len(backend.asked) / calls / (rounds + 1), backend.most


def main(show: Callable[[str], None] = print) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    show("| call | best ms | median ms | requests | in flight |\n|---|--:|--:|--:|--:|")
    for name, (text, answer) in CASES.items():
        times, requests, most = measured(text, answer, given.calls, given.rounds)
        show(f"| {name} | {min(times):.2f} | {median(times):.2f} | {requests:.1f} | {most} |")


if __name__ == "__main__":
    main()
