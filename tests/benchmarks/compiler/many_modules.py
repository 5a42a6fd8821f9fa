"""How much processor time it takes to check, and to build, a program of 10,000 lines in 50 modules.

    python -P tests/benchmarks/compiler/many_modules.py [--modules 50]

Each module declares enums, records, pure functions, holes and matches, and uses the one before it. Told is
the check of a process that has compiled one line before, checks of a workspace after changes in single
modules (all others lead to the first), a build, the build of the unchanged program (which is found in the
cache), and the build after a change in the first module. Each check is the least of some rounds.

Bars: 1.2 s for the check; 0.3 s for a check in a workspace after a change in one module.
"""

from __future__ import annotations

import argparse
import gc
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


def told(what: str, *actions: Callable[[], object]) -> None:
    """Print the least processor time of some actions."""
    times = []
    for action in actions:
        gc.collect()
        before = process_time()
        action()
        times.append(process_time() - before)
    print(f"{what:44} {min(times):5.2f} s")


def changes(number: int) -> dict[str, str]:
    """Texts of a module by what is changed in it."""
    text = module(number)
    return {
        "a body": text.replace("total = total - 1", "total = total - 2", 1),
        "a prompt": text.replace("| Read", "| Please read", 1),
        "a function more": text + "\npub pure fn more() -> int:\n    return 1\n",
        "a type": text.replace("max 20 chars", "max 30 chars", 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--modules", type=int, default=50)
    count = parser.parse_args().modules
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SGLC_CACHE_DIR"] = str(Path(folder) / "cache")
        from sglc.check.program import Workspace
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
        told("check", *[lambda: check_path(last)] * 3)
        workspace = Workspace()
        told("check in a new workspace", lambda: check_path(last, workspace=workspace))
        told("nothing changed", *[lambda: check_path(last, workspace=workspace)] * 3)
        for number in (0, count // 2, count - 1):
            path = program / f"m{number}.sgl"
            for what, text in changes(number).items():
                path.write_text(text, encoding="utf-8")
                told(f"{what} in m{number} changed", lambda: check_path(last, workspace=workspace))
                path.write_text(module(number), encoding="utf-8")
                check_path(last, workspace=workspace)
        told("build", lambda: build_path(last))
        told("build, unchanged", lambda: build_path(last))
        first.write_text(module(0) + "\npub pure fn more() -> int:\n    return 1\n", encoding="utf-8")
        told("build, one module changed", lambda: build_path(last))


if __name__ == "__main__":
    main()
