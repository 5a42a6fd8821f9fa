"""Hard constraints through mask engines: compiling, the worst and the median mask, cold and again.

    python tests/benchmarks/mask_stress.py --tokenizer tokenizer.json --engines sglc,llguidance [--case NAME]

The first 25 are what engines are often slow at, the others are worse (stress_cases.py). Times are
microseconds; `again` is for texts that were written before in the same process.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import report
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

WORDS = """
Constraints that are hard for mask engines, each with texts that it takes and texts that it does not take.
The engines take turns, each in a process of its own. Microseconds: compiling, then the masks for the tokens
of the texts, median and worst, *cold* as first asked for, and *again* when all the texts have been written
once more before. *Right*: every text was taken or not as it must be; *refused*: the engine said that it
cannot; otherwise what went wrong.
"""


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


def totals(results: list[dict[str, Any]]) -> str:
    """By engine: what is right, and the worst masks of it."""
    rows = [["engine", "cases", "right", "refused", "wrong or lost", "worst mask cold", "again"]]
    for engine in dict.fromkeys(entry["engine"] for entry in results):
        of = [entry["result"] for entry in results if entry["engine"] == engine]
        right = [result for result in of if result["outcome"] == "right"]
        refused = sum(result["outcome"] == "refused" for result in of)
        cold = max((max(result["masks"]) for result in right if result.get("masks")), default=0)
        again = [(result.get("again") or {}).get("masks") for result in right]
        warm = max((max(masks) for masks in again if masks), default=0)
        counts = [len(of), len(right), refused, len(of) - len(right) - refused]
        rows.append([engine, *map(str, counts), show(cold / 1000), show(warm / 1000)])
    return table(rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_engine_arguments(parser)
    parser.add_argument("--case", action="append", help="cases with this in their name")
    parser.add_argument("--markdown", help="write a page with the table here")
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
    body = f"{totals(results)}\n\n{table(rows, names=2)}"
    print(f"{report.machine_line(about)}\n\n{body}")
    if arguments.markdown:
        report.write_page(arguments.markdown, "Hard constraints", WORDS, body, about)
    if arguments.json:
        write_json(arguments.json, {"about": about, "results": results})


if __name__ == "__main__":
    main()
