"""Masks of a batch: microseconds a row, for texts at one place and at different places of a constraint.

    python tests/benchmarks/mask/mask_batch.py --tokenizer tokenizer.json --engines sglc,llguidance,xgrammar

The engines take turns, batch size by batch size, several times. All masks have been asked for before.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rich.progress import track

import report
from mask.maskbench import QUANTILES, add_engine_arguments, figures, show, start_workers, surroundings, table

SIZES = (1, 8, 32, 128, 512)
TURNS = 4
WORDS = """
One call writes the masks of a batch into int32[n, words]. Microseconds **a row** through Python, of calls
whose masks have all been asked for before; wall clock, or processor time where that is less. *Distinct*: n
texts at n different places of one constraint (an object of 96 properties of several types, and the first n
tokens of a text of it); *equal*: n texts at the same place of it. The engines take turns, each in a process
of its own.

- `fill_masks`: rows as the masks are; `fill, with ends`: guides, with end tokens where a text may end;
- `mask, not copied`: shared rows that must not be written to, for callers that copy them anyway;
- peers: their batch functions, with one thread and with one for each core.
"""


def constraint(size: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A closed object with many properties that are all required, and a value of it."""
    kinds: list[tuple[dict[str, Any], Any]] = [
        ({"type": "string", "maxLength": 80}, "a short line about the sea and the lighthouse"),
        ({"type": "integer", "minimum": 0, "maximum": 99999}, 4711),
        ({"enum": ["small", "medium", "large", "extra large"]}, "extra large"),
        ({"type": "array", "items": {"type": "boolean"}, "maxItems": 5}, [True, False]),
        ({"type": "string", "pattern": "^[a-z]{2,12}-[0-9]{2,6}$"}, "harbour-1234"),
        ({"type": ["string", "null"]}, "or nothing at all, if nobody knows"),
    ]
    properties = {f"field_{n}": kinds[n % len(kinds)][0] for n in range(size)}
    value = {name: kinds[n % len(kinds)][1] for n, name in enumerate(properties)}
    closed = {"type": "object", "properties": properties, "required": [*properties]}
    return closed | {"additionalProperties": False}, value


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--markdown", help="write a page with the tables here")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="threads of the other engines")
    add_engine_arguments(parser)
    arguments = parser.parse_args()
    runners = start_workers(arguments)
    about = surroundings(runners)
    schema, value = constraint(96)
    text = json.dumps(value)
    spent: dict[tuple[str, int, str], list[int]] = {}
    places = [(kind, n) for kind in ("distinct", "equal") for n in SIZES] * TURNS
    for kind, n in track(places, description="batches", disable=not sys.stderr.isatty()):
        starts = list(range(1, n + 1)) if kind == "distinct" else [20] * n
        calls = max(40, 1200 // n)
        job = {"kind": "batch", "constraint": schema, "text": text, "starts": starts}
        for worker in runners:
            result = worker.run(job | {"calls": calls, "threads": arguments.threads}, arguments.timeout)
            if result["outcome"] != "right":
                raise SystemExit(f"{worker.engine}: {result['outcome']}: {result.get('why')}")
            for way, times in result["times"].items():
                spent.setdefault((kind, n, f"{worker.engine}: {way}"), []).extend(t // n for t in times)
    for worker in runners:
        worker.close()
    print(report.machine_line(about))
    body = "\n\n".join(f"## {kind.title()}\n\n{times_table(spent, kind)}" for kind in ("distinct", "equal"))
    print(f"\n{body}")
    if arguments.markdown:
        report.write_page(arguments.markdown, "Masks of a batch", WORDS, body, about)


def times_table(spent: dict[tuple[str, int, str], list[int]], kind: str) -> str:
    rows = [["rows", "way", "calls", "avg", *(f"p{p}" for p in QUANTILES), "max"]]
    for (which, n, way), times in sorted(spent.items(), key=lambda item: item[0][1]):
        if which == kind:
            rows.append(
                [str(n), way, f"{len(times):,}", *(show(mark) for mark in figures(times)[: len(rows[0]) - 3])]
            )
    return table(rows, names=2)


if __name__ == "__main__":
    main()
