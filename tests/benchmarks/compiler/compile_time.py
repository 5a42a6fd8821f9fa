"""How long compiling takes, stage by stage, and how long it takes to find a program in the cache.

    python -P tests/benchmarks/compiler/compile_time.py [--rounds 15] [--markdown docs/benchmarks/compile.md]

Bars: `examples/character.sgl` in 5 ms, 1,000 lines in 80 ms, an unchanged program of either size in 5 ms.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pytest  # noqa: E402

import report  # noqa: E402
from sglc.bytecode.serial import dumps  # noqa: E402
from sglc.bytecode.verify import verified  # noqa: E402
from sglc.check import program as checker  # noqa: E402
from sglc.check.program import check  # noqa: E402
from sglc.commands.shared.programs import build_path, seldom_collected  # noqa: E402
from sglc.emit.program import emit  # noqa: E402
from sglc.library import Library  # noqa: E402
from sglc.lower.program import lower  # noqa: E402
from sglc.passes import pipeline  # noqa: E402
from sglc.source import Source  # noqa: E402
from sglc.syntax.parse import parse  # noqa: E402

EXAMPLES = sorted((ROOT / "examples").glob("*.sgl"))
LONG = 1000
STAGES = ("parse", "check", "lower", "passes", "emit", "verify", "write", "all", "found")
WORDS = """
Milliseconds of processor time in one process with the parser's tables loaded, the least of some rounds.
`write` makes the bytes of the `.sglb` file, `all` is the sum, and `found` takes the unchanged program from
the cache. `(functions)` is made of records, pure functions, functions with a hole and tests, `(copies)` of
the declarations of `character.sgl` under other names, and `(modules)` of the same in ten files.
"""


def functions(lines: int) -> str:
    """A program of about so many lines of all kinds: functions with different names."""
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
    while text.count("\n") < lines - 20:
        number += 1
        text += block.format(n=number, m=number + 10)
    return text


_OWN_NAME = re.compile(r"\b(Crew|Country|Post|Craft|Talent|Shown|SHOWN|crew)\b")


def copies(lines: int, first: int = 0) -> str:
    """The declarations of `character.sgl`, again and again under other names."""
    declarations = (ROOT / "examples" / "character.sgl").read_text(encoding="utf-8").partition("\ntest ")[0]
    text, number = "", first
    while text.count("\n") < lines - 20:
        number += 1
        text += _OWN_NAME.sub(lambda name, n=number: f"{name[0]}{n}", declarations) + "\n"
    return text


def programs(folder: Path) -> list[tuple[str, Path]]:
    """(name, main file): the examples, and longer programs that are written into a folder."""
    written = {"functions": functions(LONG), "copies": copies(LONG)}
    parts = range(10)
    for part in parts:
        written[f"part{part}"] = copies(LONG // 10, first=100 * part).replace("\nfn crew", "\npub fn crew")
    uses = "".join(f"use ./part{part} (crew{100 * part + 1})\n" for part in parts)
    calls = "\n".join(f'    let a{part} = crew{100 * part + 1}("x")' for part in parts)
    texts = " ".join(f"${{a{part}.name}}" for part in parts)
    written["modules"] = f'{uses}\nfn all() -> str:\n{calls}\n    return "{texts}"\n'
    for name, text in written.items():
        (folder / f"{name}.sgl").write_text(text, encoding="utf-8")
    made = [(f"({name})", folder / f"{name}.sgl") for name in ("functions", "copies", "modules")]
    return [(path.name, path) for path in EXAMPLES] + made


@seldom_collected()
def stages(path: Path) -> list[float]:
    """Milliseconds of each of `STAGES`; those of modules that a program imports are its own."""
    source = Source(str(path), path.read_text(encoding="utf-8"))
    clock = [process_time()]

    def lap() -> None:
        clock.append(process_time())

    parsing = 0.0

    def timed_parse(text: Source) -> object:
        nonlocal parsing
        began = process_time()
        try:
            return parse(text)
        finally:
            parsing += process_time() - began

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checker, "parse", timed_parse)
        checked, found = check(source, Library(), timed_parse)
    assert checked is not None and not any(one.severity == "error" for one in found), found
    lap()
    module = lower(checked)
    lap()
    module = pipeline.run(module)
    lap()
    program = emit(module)
    lap()
    program, faults = verified(program)
    assert not faults
    lap()
    dumps(program)
    lap()
    all_stages = clock[-1] - clock[0]
    times = [after - before for before, after in pairwise(clock)]
    built, _ = build_path(path)
    began = process_time()
    again, _ = build_path(path, told=False)
    known = process_time() - began
    assert built is not None and again is not None and again.made is None, f"{path} was not in the cache"
    return [1000 * t for t in (parsing, times[0] - parsing, *times[1:], all_stages, known)]


def lines_of(path: Path, name: str) -> int:
    """The lines of a program, those of its modules included."""
    files = [path, *(path.parent.glob("part*.sgl") if name == "(modules)" else ())]
    return sum(file.read_text(encoding="utf-8").count("\n") for file in files)


def whole_process(action: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Best and median milliseconds of wall clock."""
    times = []
    for _ in range(rounds):
        started = perf_counter()
        action()
        times.append((perf_counter() - started) * 1000)
    return min(times), median(times)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--markdown", help="write a page with the table here")
    arguments = parser.parse_args()
    about = report.surroundings()
    rows = [
        f"| {'program':<19} | lines | {' | '.join(f'{stage:>6}' for stage in STAGES)} |",
        f"|{'-' * 21}|-------|{'|'.join('-' * 7 + ':' for _ in STAGES)}|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SGLC_CACHE_DIR"] = str(Path(folder) / "cache")
        for name, path in programs(Path(folder)):
            best = [
                min(times) for times in zip(*(stages(path) for _ in range(arguments.rounds)), strict=True)
            ]
            figures = " | ".join(f"{value:>6.2f}" for value in best)
            rows.append(f"| {name:<19} | {lines_of(path, name):>5} | {figures} |")
        command = [sys.executable, "-P", "-m", "sglc", "check", str(EXAMPLES[0])]
        best_run, middle = whole_process(
            lambda: subprocess.run(command, check=True, capture_output=True), arguments.rounds
        )
    rows.append(f"\n`sglc check` of one example, whole process: {best_run:.0f} ms, median {middle:.0f}.")
    body = "\n".join(rows)
    print(body)
    if arguments.markdown:
        report.write_page(arguments.markdown, "Compiling", WORDS, body, about)


if __name__ == "__main__":
    main()
