"""Hard constraints through mask engines: compiling, the worst and the median mask, cold and again.

    python tests/benchmarks/mask/mask_stress.py --tokenizer tokenizer.json --engines sglc,llguidance [--case
    NAME]
        [--rounds 3] [--library | --walks 12]

The first 25 are what engines are often slow at, the others are worse (stress_cases.py). Times are
microseconds; `again` is for texts that were written before in the same process. Every round has processes of
its own, and each mask is the median of the rounds, so that what only the machine did is not counted. With
`--library` the cases are the grammars of this project's library, with the texts of their tests. With
`--walks` they are those of WALKED, each in a process of its own, and so many random texts are written
besides: compiling is with the first matcher, and all masks are those of texts in their order, cold.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rich.progress import track

import report
from mask.maskbench import (
    add_engine_arguments,
    quantile,
    show,
    start_workers,
    surroundings,
    table,
    write_json,
)
from mask.stress_cases import CASES, WALKED, WORSE, library_cases

WORDS = """
Constraints that are hard for mask engines, each with texts that it takes and texts that it does not take.
The engines take turns, each in a process of its own. Microseconds: compiling; *first*, the first mask with
all that is done before it; then the masks for the tokens of the texts, median and worst, *cold* as first
asked for, and *again* when all the texts have been written once more before; each mask is the median of
rounds with processes of their own. *Right*: every text was taken or not as it must be; *refused*: the engine
said that it cannot; otherwise what went wrong.
"""
LIBRARY = """
The grammars of the library over the texts of their tests. This project matches terminals longest-first, as
Lark's lexers do, and refuses what they would read otherwise; other engines have the same file and read it in
their own way, so that some of the texts are none for them. Microseconds, columns and rounds as in
[stress.md](stress.md).
"""
WALKS = """
Constructs whose worst masks random texts find: `WALKED` of `stress_cases.py`. The texts of a case are written
first, then random ones, each token as likely as any other that is allowed. Every case has a process of its
own. Microseconds: *ready*, compiling with the first matcher; then the masks of all texts in their order, none
asked for before: median, 99th of a hundred, worst. Each mask is the median of the rounds.
"""
WALK_HEAD = ["case", "engine", "ready", "masks", "p50", "p99", "worst", "verdict"]
HEAD = ["case", "engine", "compile", "first", "cold p50", "cold max", "again p50", "again max", "verdict"]


def walk_row(name: str, engine: str, result: dict[str, Any]) -> list[str]:
    """Name, engine, compiling with the first matcher, how many masks, their quantiles, verdict."""
    cells = [show((result["compile"] + result.get("start", 0)) / 1000) if "compile" in result else "-"]
    times = sorted(result.get("masks") or [])
    cells.append(str(len(times)) if times else "-")
    cells += [show(quantile(times, mark) / 1000) if times else "-" for mark in (50, 99, 100)]
    return [name, engine, *cells, verdict(result)]


def row_of(name: str, engine: str, result: dict[str, Any]) -> list[str]:
    """Name, engine, compiling, first mask, masks cold and again, verdict."""
    cells = [name, engine]
    cells += [show(result[key] / 1000) if key in result else "-" for key in ("compile", "first")]
    for times in (result.get("masks"), (result.get("again") or {}).get("masks")):
        if times:
            cells += [show(quantile(sorted(times), 50) / 1000), show(max(times) / 1000)]
        else:
            cells += ["-", "-"]
    return [*cells, verdict(result)]


def median_of(results: list[dict[str, Any]]) -> dict[str, Any]:
    """One result of the rounds of a case: each time by itself the median; what went wrong in any round."""
    wrong = [result for result in results if result["outcome"] != "right"]
    if wrong:
        return wrong[0]
    again = [result["again"] for result in results if result.get("again")]
    return results[0] | {
        "compile": statistics.median(result["compile"] for result in results),
        "start": statistics.median(result["start"] for result in results),
        "first": statistics.median(result["first"] for result in results),
        "masks": _medians([result["masks"] for result in results]),
        "again": {"masks": _medians([each["masks"] for each in again])} if again else None,
    }


def _medians(rounds: list[list[int]]) -> list[float]:
    return [statistics.median(times) for times in zip(*rounds, strict=True)]


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
    parser.add_argument("--library", action="store_true", help="the grammars of the library")
    parser.add_argument("--walks", type=int, default=0, help="so many random texts of each of WALKED")
    parser.add_argument("--rounds", type=int, default=3, help="each with processes of its own")
    parser.add_argument("--markdown", help="write a page with the table here")
    arguments = parser.parse_args()
    walks = arguments.walks
    every = WALKED if walks else library_cases() if arguments.library else CASES + WORSE
    cases = [c for c in every if not arguments.case or any(part in c.name for part in arguments.case)]
    rounds: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for number in range(arguments.rounds):
        runners = start_workers(arguments)
        if not number:
            about = surroundings(runners)
        for case in track(cases, description=f"round {number + 1}", disable=not sys.stderr.isatty()):
            for worker in runners:
                job = case.job(worker.engine)
                found = worker.run(job | {"again": not walks, "walks": walks}, arguments.timeout)
                if walks:
                    worker.close()
                rounds.setdefault((case.name, worker.engine), []).append(found)
        for worker in runners:
            worker.close()
    rows = [WALK_HEAD if walks else HEAD]
    results = []
    for (name, engine), found_in_rounds in rounds.items():
        result = median_of(found_in_rounds)
        results.append({"case": name, "engine": engine, "result": result})
        rows.append((walk_row if walks else row_of)(name, engine, result))
    body = f"{totals(results)}\n\n{table(rows, names=2)}"
    print(f"{report.machine_line(about)}\n\n{body}")
    if arguments.markdown:
        title, words = (
            ("Random texts of hard constraints", WALKS)
            if walks
            else ("Grammars of the library", LIBRARY)
            if arguments.library
            else ("Hard constraints", WORDS)
        )
        report.write_page(arguments.markdown, title, words, body, about)
    if arguments.json:
        write_json(arguments.json, {"about": about, "results": results})


if __name__ == "__main__":
    main()
