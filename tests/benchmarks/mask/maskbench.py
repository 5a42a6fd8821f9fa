"""Token masks for the schemas and texts of the MaskBench data set, by several engines side by side.

    python tests/benchmarks/mask/maskbench.py maskbench.jsonl.xz --tokenizer tokenizer.json \\
        --engines sglc,llguidance,xgrammar --limit 300 --seed 0 [--python-for xgrammar=/path/python] \\
        [--json results.json] [--diff]

DATA is a file of one JSON object a line (`name`, `schema`, `tests` with `data` and `valid`), may be .xz, or a
folder of such objects (default: $SGLC_BENCH_DATA; the tokenizer: $SGLC_BENCH_TOKENIZER). Every schema goes
through all engines in turn, each in a process of its own with a time limit. Texts are written as
json.dumps(value, ensure_ascii=False) writes them.

  TBM      microseconds for mask and commit of one token, the first time
  again    the same for another text of the same constraint in the same process
  TTFM     compiling and the first mask; a schema beyond the time limit counts as the limit
  right    all valid texts are allowed with their end, all invalid ones are not
  over     a valid text was refused;  under: an invalid text was allowed
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rich.progress import track

import report
from mask.mask_worker import Worker, workers

DEFAULT_ENGINES = "sglc"
WORDS = """
Schemas and texts of MaskBench. Each schema goes through all engines in turn, each in a process of its own,
and every valid and invalid text of it token by token. Microseconds; the less of wall clock and processor
time.

- *TBM*: mask and commit of one token, the first time;
- *again*: the same for another text of the same constraint in the same process, once everything is warm;
- *TTFM*: compiling and the first mask; a schema beyond the time limit counts as the limit;
- *whole schema*: compiling and all tokens of all texts;
- *right*: all valid texts are allowed with their end, all invalid ones are not;
- *over*: a valid text was refused; *under*: an invalid one was allowed;
- *refused*: the engine says that it does not take the schema.

`sglc` takes keys in any order and every spelling, `sglc-default` keys as declared and one spelling;
`xgrammar` is set to any white space and open objects, as JSON Schema has it, `xgrammar-default` is not.
"""
QUANTILES = (25, 50, 75, 90, 95, 99, 99.9)
OUTCOMES = ("right", "over", "under", "refused", "gave up", "timeout", "crash")

# Data


def read_cases(place: str | None) -> list[dict[str, Any]]:
    """All cases of a file or folder. Raises SystemExit with a clear message where there are none."""
    path = Path(given(place, "SGLC_BENCH_DATA", "the MaskBench data"))
    if path.is_dir():
        files = sorted(path.glob("*.json"))
        cases = [{"name": file.name} | json.loads(file.read_text(encoding="utf-8")) for file in files]
    else:
        cases = list(_read_lines(path))
    if not cases:
        raise SystemExit(f"{path} holds no schemas")
    return cases


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    opener: Any = lzma.open if path.suffix == ".xz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def given(place: str | None, variable: str, what: str) -> str:
    """A path from the command line or the environment. Raises SystemExit if there is none."""
    found = place or os.environ.get(variable)
    if not found:
        raise SystemExit(f"{what}: give a path, or set {variable}")
    if not Path(found).exists():
        raise SystemExit(f"{what}: {found} does not exist")
    return found


def sample(cases: list[dict[str, Any]], limit: int, seed: int) -> list[dict[str, Any]]:
    """The same schemas for the same seed, whatever else there is in the data."""

    def place(case: dict[str, Any]) -> str:
        return hashlib.sha256(f"{seed} {case['name']}".encode()).hexdigest()

    ordered = sorted(cases, key=place)
    return ordered[:limit] if limit else ordered


def text_of(value: Any) -> str:
    """One JSON text of a value; lone surrogates are escaped, since no UTF-8 text can contain them."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return text


# Running


def run(cases: list[dict[str, Any]], runners: list[Worker], seconds: float) -> list[dict[str, Any]]:
    """One record a case: its name and the result of each engine."""
    records = []
    for number, case in enumerate(track(cases, description="schemas", disable=not sys.stderr.isatty())):
        job = {
            "kind": "schema",
            "constraint": case["schema"],
            "texts": [(text_of(test["data"]), test["valid"]) for test in case["tests"]],
            "again": True,
        }
        turn = number % len(runners)  # nobody always goes first
        results = {}
        for worker in runners[turn:] + runners[:turn]:
            result = worker.run(job, seconds)
            if result["outcome"] == "timeout":
                result["limit"] = int(seconds * 1e9)
            results[worker.engine] = result
        records.append({"name": case["name"], "results": results})
    return records


# Figures


def quantile(ordered: list[int], percent: float) -> int:
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def figures(times: list[int]) -> list[float]:
    """Average, quantiles, maximum and sum, in microseconds."""
    if not times:
        return []
    ordered = sorted(times)
    marks = [sum(ordered) / len(ordered), *(quantile(ordered, p) for p in QUANTILES), ordered[-1]]
    return [mark / 1000 for mark in marks]


def per_token(result: dict[str, Any]) -> list[int]:
    """Mask and commit of every token; where the mask ended a text there was no commit.

    The lists go in step but for texts that end with a mask alone, whose order does not matter here.
    """
    masks, commits = result.get("masks", []), result.get("commits", [])
    return [mask + commit for mask, commit in zip(masks, commits, strict=False)] + masks[len(commits) :]


def times_of(records: list[dict[str, Any]], engine: str) -> dict[str, list[int]]:
    """All times of an engine in nanoseconds."""
    times: dict[str, list[int]] = {"TBM": [], "again": [], "TTFM": [], "TTFM again": [], "whole schema": []}
    for record in records:
        result = record["results"][engine]
        if "limit" in result:
            times["TTFM"].append(result["limit"])
        if "first" not in result:
            continue
        cold = per_token(result)
        times["TBM"] += cold
        times["TTFM"].append(result["compile"] + result["first"])
        times["whole schema"].append(result["compile"] + sum(cold))
        again = result.get("again")
        if again:
            times["again"] += per_token(again)
            times["TTFM again"].append(again["compile"] + again["first"])
    return times


def table(rows: list[list[str]], names: int = 1) -> str:
    """Rows (the first is the head) as a Markdown table; all but the first `names` columns are numbers."""
    wide = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell.ljust(wide[n]) if n < names else cell.rjust(wide[n]) for n, cell in enumerate(row)]
        lines.append("| " + " | ".join(cells) + " |")
    lines.insert(1, "|" + "|".join("-" * (size + 2) for size in wide) + "|")
    return "\n".join(lines)


def show(value: float) -> str:
    return f"{value:,.2f}" if value < 10 else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def timing_table(records: list[dict[str, Any]], engines: list[str]) -> str:
    names = ["avg", *(f"p{p}" for p in QUANTILES), "max"]
    rows = [["microseconds", "engine", "n", *names]]
    for measure in ("TBM", "again", "TTFM", "TTFM again", "whole schema"):
        for engine in engines:
            times = times_of(records, engine)[measure]
            cells = [show(mark) for mark in figures(times)] or ["-"] * len(names)
            rows.append([measure, engine, f"{len(times):,}", *cells])
    return table(rows, names=2)


def count_table(records: list[dict[str, Any]], engines: list[str]) -> str:
    rows = [["schemas", *OUTCOMES]]
    for engine in engines:
        counts = Counter(record["results"][engine]["outcome"] for record in records)
        rows.append([engine, *(str(counts[outcome]) for outcome in OUTCOMES)])
    return table(rows)


def bucket(reason: str) -> str:
    """Reasons that differ only in numbers, names and places are one."""
    reason = re.sub(r"\s+", " ", reason).split(" at /")[0].split(" at #")[0]
    reason = re.sub(r"0x[0-9a-f]+|\d+", "N", re.sub(r'"[^"]*"', '"…"', reason))
    return reason[:110]


def reasons(records: list[dict[str, Any]], engine: str, most: int = 15) -> list[tuple[str, int]]:
    counts = Counter(
        f"{result['outcome']}: {bucket(result['why'])}"
        for record in records
        if (result := record["results"][engine]).get("why")
    )
    return counts.most_common(most)


def differences(records: list[dict[str, Any]], engine: str) -> Iterator[str]:
    """A line for every schema that an engine does not get right."""
    for record in records:
        result = record["results"][engine]
        if result["outcome"] == "right":
            continue
        yield f"{record['name']}: {result['outcome']}: {result.get('why', '')}"
        for wrong in result.get("wrong", ()):
            yield f"    text {wrong['text']} {wrong['kind']}: {wrong['context']!r} {wrong['why'] or ''}"


def slowest(records: list[dict[str, Any]], engine: str, most: int) -> Iterator[str]:
    """The slowest masks of an engine, at most two of a schema, and the slowest compilations."""
    masks, compiling = [], []
    for record in records:
        result = record["results"][engine]
        masks += [(place["ns"], record["name"], place) for place in result.get("slowest", ())[:2]]
        compiling.append((result.get("compile", 0), record["name"]))
    for ns, name, place in sorted(masks, key=lambda entry: -entry[0])[:most]:
        yield f"{ns / 1000:9,.0f} us  {name} text {place['text']}: {place['context']!r}"
    for ns, name in sorted(compiling, reverse=True)[:most]:
        yield f"{ns / 1000:9,.0f} us  {name} compiling"


def tables(records: list[dict[str, Any]], engines: list[str]) -> str:
    """Markdown: how many schemas each engine gets right, and the times."""
    parts = [f"## All {len(records)} schemas", count_table(records, engines), timing_table(records, engines)]
    common = [r for r in records if all(r["results"][e]["outcome"] == "right" for e in engines)]
    if len(engines) > 1 and common:
        parts += [f"## The {len(common)} schemas that every engine gets right", timing_table(common, engines)]
    return "\n\n".join(parts)


def all_reasons(records: list[dict[str, Any]], engines: list[str]) -> str:
    """Markdown: why schemas were not served, most frequent first."""
    parts = []
    for engine in engines:
        found = reasons(records, engine)
        if found:
            lines = [f"{count:5}  {reason}" for reason, count in found]
            parts.append(f"### {engine}: reasons\n\n" + "\n".join(f"    {line}" for line in lines))
    return "\n\n".join(parts)


# Command line


def add_engine_arguments(parser: argparse.ArgumentParser) -> None:
    """What all benchmarks of engines have in common."""
    parser.add_argument("--tokenizer", help="a tokenizer.json")
    parser.add_argument("--engines", default=DEFAULT_ENGINES, help="separated by commas")
    parser.add_argument(
        "--python-for",
        action="append",
        default=[],
        metavar="ENGINE=PATH",
        help="the Python of an engine or package (default: $SGLC_BENCH_PEER_PYTHON for all but sglc)",
    )
    parser.add_argument("--timeout", type=float, default=20, help="seconds for a constraint and its texts")
    parser.add_argument("--memory", type=int, default=10, help="GiB of address space for an engine; 0: any")
    parser.add_argument("--cpu", type=int, help="run all engines on this core")
    parser.add_argument("--json", help="write all results here")


def start_workers(arguments: argparse.Namespace) -> list[Worker]:
    tokenizer = given(arguments.tokenizer, "SGLC_BENCH_TOKENIZER", "--tokenizer")
    pythons = dict(entry.split("=", 1) for entry in arguments.python_for)
    return workers(arguments.engines.split(","), tokenizer, pythons, arguments.memory, arguments.cpu)


def versions_of(runners: list[Worker]) -> dict[str, dict[str, Any]]:
    """By engine: its version and the time that its process takes to start."""
    return {w.engine: {"version": w.version, "start_seconds": w.start_seconds} for w in runners}


def surroundings(runners: list[Worker]) -> dict[str, Any]:
    """What figures depend on."""
    return report.surroundings(versions_of(runners))


def write_json(path: str, content: dict[str, Any]) -> None:
    Path(path).write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="?", help="file or folder of schemas and texts")
    add_engine_arguments(parser)
    parser.add_argument("--limit", type=int, default=0, help="number of schemas; 0: all")
    parser.add_argument("--seed", type=int, default=0, help="which schemas")
    parser.add_argument("--only", action="append", help="schemas with this in their name")
    parser.add_argument("--diff", action="store_true", help="list what the first engine does not get right")
    parser.add_argument("--slow", type=int, default=0, metavar="N", help="list its N slowest masks")
    parser.add_argument("--markdown", help="write a page with the tables here")
    parser.add_argument("--from", dest="results", help="report the results of an earlier run (--json)")
    arguments = parser.parse_args()
    if arguments.results:
        content = json.loads(Path(arguments.results).read_text(encoding="utf-8"))
        records, engines = content["records"], list(content["about"]["engines"])
        about = content["about"]
    else:
        cases = read_cases(arguments.data)
        if arguments.only:
            cases = [case for case in cases if any(part in case["name"] for part in arguments.only)]
        cases = sample(cases, arguments.limit, arguments.seed)
        runners = start_workers(arguments)
        engines = [worker.engine for worker in runners]
        about = surroundings(runners)
        records = run(cases, runners, arguments.timeout)
        for worker in runners:
            worker.close()
        if arguments.json:
            write_json(arguments.json, {"about": about, "records": records})
    print(report.machine_line(about))
    body = "\n\n".join(filter(None, [tables(records, engines), all_reasons(records, engines)]))
    print(f"\n{body}")
    if arguments.markdown:
        report.write_page(arguments.markdown, "Masks for JSON Schemas", WORDS, body, about)
    if arguments.slow:
        print(f"\n{engines[0]}: slowest")
        for line in slowest(records, engines[0], arguments.slow):
            print(f"  {line}")
    if arguments.diff:
        print(f"\n{engines[0]}: not right")
        for line in differences(records, engines[0]):
            print(f"  {line}")


if __name__ == "__main__":
    main()
