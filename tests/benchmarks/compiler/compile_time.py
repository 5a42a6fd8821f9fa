"""How long compiling takes: each example from source to bytecode, and checking a file of 300 lines.

    python -P tests/benchmarks/compiler/compile_time.py

Prints the best and the median of many runs in this process, with the parser's tables loaded, and what one
whole process takes. Bars: an example under 10 ms, 300 lines under 100 ms, a process under 0.6 s.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

from sglc.driver import compile_source
from sglc.source import Source
from sglc.syntax.parse import parse

EXAMPLES = sorted((Path(__file__).resolve().parents[3] / "examples").glob("*.sgl"))
ROUNDS = 15
LONG = 300


def measure(action: Callable[[], object]) -> tuple[float, float]:
    """Best and median milliseconds."""
    times = []
    for _ in range(ROUNDS):
        started = perf_counter()
        action()
        times.append((perf_counter() - started) * 1000)
    return min(times), median(times)


def long_program() -> str:
    """About 300 lines of all kinds, put together from functions with different names."""
    block = (
        "enum Mood{n}: calm, annoyed, furious\n\n"
        "## A note.\nrecord Note{n}:\n    title: str max 40 chars\n"
        "    mood: Mood{n}\n    size: int in 0..{m}\n\n"
        "pure fn weight{n}(note: Note{n}) -> int:\n    var total = 0\n    for i in 1..3:\n"
        "        if note.size > i * 2:\n            total += i\n        else:\n            total += 1\n"
        "    return total\n\n"
        "fn note{n}(about: str) -> Note{n}:\n    system: | You take notes.\n"
        "    user:\n        | About: ${{about}}\n"
        "        | ${{schema(Note{n})}}\n    assistant: | ?{{note: Note{n}}}\n    return note\n\n"
        'test "notes {n}":\n    fuzz note{n}("x") times 3:\n        expect weight{n}(it) >= 0\n\n'
    )
    text, number = "", 0
    while text.count("\n") < LONG - 20:
        number += 1
        text += block.format(n=number, m=number + 10)
    return text


def main() -> None:
    print(f"{'program':<18}{'lines':>6}{'parse ms':>10}{'all ms':>9}{'median':>9}")
    for path in EXAMPLES:
        text = path.read_text(encoding="utf-8")
        lines = text.count("\n")
        parsing, _ = measure(lambda text=text, path=path: parse(Source(str(path), text)))
        best, middle = measure(lambda text=text, path=path: compile_source(Source(str(path), text)))
        print(f"{path.stem:<18}{lines:>6}{parsing:>10.2f}{best:>9.2f}{middle:>9.2f}")
    text = long_program()
    parsing, _ = measure(lambda: parse(Source("long.sgl", text)))
    best, middle = measure(lambda: compile_source(Source("long.sgl", text)))
    print(f"{'(long)':<18}{text.count(chr(10)):>6}{parsing:>10.2f}{best:>9.2f}{middle:>9.2f}")
    command = [sys.executable, "-P", "-m", "sglc", "check", str(EXAMPLES[0])]
    best, middle = measure(lambda: subprocess.run(command, check=True, capture_output=True))
    print(f"\nsglc check of one example, whole process: {best:.0f} ms, median {middle:.0f} ms")


if __name__ == "__main__":
    main()
