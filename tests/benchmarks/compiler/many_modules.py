"""How much processor time it takes to check, and to build, a program of 10,000 lines in 50 modules.

    python -P tests/benchmarks/compiler/many_modules.py [--modules 50]

Each module declares enums, records, pure functions, holes and matches, and uses the one before it. Told is
the check of a process that has compiled one line before, a build, the build of the unchanged program
(which is found in the cache), and the build after a change in the first module, which all others lead to.

Bars: 1.2 s for the check; 0.3 s after a change in one module, which is not met: nothing less than a program
is kept between builds.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

LINES = 188
"""Of a module, before those that use another one."""


def module(number: int) -> str:
    """The text of a module."""
    before = number - 1
    lines = [f"use ./m{before} (Item{before}x0, make{before}x0)"] if number else []
    part = 0
    while len(lines) < LINES:
        n = f"{number}x{part}"
        lines += f"""\
pub enum Kind{n}: alpha{n}, beta{n}, gamma{n}

pub record Item{n}:
    id: int in 0..{part + 9}
    name: str matching /[a-z]{{1,{part % 7 + 2}}}/
    kind: Kind{n}
    tags: [str max 20 chars; ..3]

pub pure fn make{n}(id: int in 0..9, kind: Kind{n}) -> Item{n}:
    var total = id
    for step in 1..{part + 3}:
        if total > {part + 5} and step < 3:
            total = total + step
        else:
            total = total - 1
    ensure total < 100 else "too large"
    return Item{n}(id, "ab", kind, ["x", "y"])

pub fn ask{n}(text: str) -> Item{n}:
    user: | Read ${{text}} and answer with ${{schema(Item{n})}}
    assistant: | ?{{item: Item{n} max 200 tok}}
    match item.kind:
        case alpha{n}: return item
        case beta{n}: return make{n}(item.id if item.id < 9 else 9, beta{n})
        case gamma{n}: return item
""".split("\n")
        part += 1
    if number:
        lines += [
            f"pub pure fn uses{number}(item: Item{before}x0) -> int:",
            f"    return make{before}x0(1, item.kind).id + item.id",
        ]
    return "\n".join(lines) + "\n"


def told(what: str, action: Callable[[], object]) -> None:
    """Print the processor time of an action."""
    before = process_time()
    action()
    print(f"{what:34} {process_time() - before:5.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--modules", type=int, default=50)
    count = parser.parse_args().modules
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SGLC_CACHE_DIR"] = str(Path(folder) / "cache")
        from sglc.commands.shared.programs import build_path, check_path

        program = Path(folder) / "program"
        program.mkdir()
        for number in range(count):
            (program / f"m{number}.sgl").write_text(module(number), encoding="utf-8")
        last, first = program / f"m{count - 1}.sgl", program / "m0.sgl"
        print(f"{sum(module(number).count(chr(10)) for number in range(count)):,} lines in {count} modules")
        tiny = Path(folder) / "tiny.sgl"
        tiny.write_text("pub pure fn f() -> int:\n    return 1\n", encoding="utf-8")
        check_path(tiny)
        told("check", lambda: check_path(last))
        told("build", lambda: build_path(last))
        told("build, unchanged", lambda: build_path(last))
        first.write_text(module(0) + "\npub pure fn more() -> int:\n    return 1\n", encoding="utf-8")
        told("build, one module changed", lambda: build_path(last))


if __name__ == "__main__":
    main()
