"""Hard constraints through mask engines: compiling, the worst and the median mask, cold and again.

    python tests/benchmarks/mask_stress.py --tokenizer tokenizer.json --engines sglc,llguidance [--case NAME]

The first 25 are what engines are often slow at, the other ten are worse (stress_cases.py). Times are
microseconds; `again` is another text of the same constraint in the same process.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from maskbench import (
    add_engine_arguments,
    quantile,
    show,
    start_workers,
    surroundings,
    table,
    write_json,
)
from rich.progress import track
from stress_cases import CASES, WORSE


def row_of(name: str, engine: str, result: dict[str, Any]) -> list[str]:
    """Name, engine, compiling, masks cold and again, verdict."""
    cells = [name, engine, show(result["compile"] / 1000) if "compile" in result else "-"]
    for times in (result.get("masks"), (result.get("again") or {}).get("masks")):
        if times:
            cells += [show(quantile(sorted(times), 50) / 1000), show(max(times) / 1000)]
        else:
            cells += ["-", "-"]
    return [*cells, verdict(result)]


def verdict(result: dict[str, Any]) -> str:
    if result["outcome"] == "right":
        return "right"
    wrong = result.get("wrong") or []
    places = ", ".join(f"text {entry['text']} {entry['kind']}" for entry in wrong)
    return f"{result['outcome']}: {result.get('why') or places}"[:70]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_engine_arguments(parser)
    parser.add_argument("--case", action="append", help="cases with this in their name")
    arguments = parser.parse_args()
    runners = start_workers(arguments)
    about = surroundings(runners)
    cases = [c for c in CASES + WORSE if not arguments.case or any(part in c.name for part in arguments.case)]
    rows = [["case", "engine", "compile", "cold p50", "cold max", "again p50", "again max", "verdict"]]
    results = []
    for case in track(cases, description="cases", disable=not sys.stderr.isatty()):
        for worker in runners:
            result = worker.run(case.job(worker.engine), arguments.timeout)
            results.append({"case": case.name, "engine": worker.engine, "result": result})
            rows.append(row_of(case.name, worker.engine, result))
    for worker in runners:
        worker.close()
    print(f"{about['processor']}, {about['cores']} cores, Python {about['python']}, load {about['load']:.1f}")
    print(", ".join(f"{worker.engine} {worker.version}" for worker in runners), end="\n\n")
    print(table(rows, names=2))
    if arguments.json:
        write_json(arguments.json, {"about": about, "results": results})


if __name__ == "__main__":
    main()
