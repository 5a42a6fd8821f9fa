"""What masks made ahead of time cost and save.

    python tests/benchmarks/mask/mask_artefact.py TOKENIZER.json [--schemas FILE.jsonl.xz] [--count N]

For each constraint: the time to expand it, the size of its file, and from the file, each time opened anew,
the time until the first mask is there; beside it the time that a new constraint takes (compiled on a fresh
machine, first mask). Then texts are replayed token by token, longest match first: how many of their tokens
the tables knew, and the time of a mask and a step. With --schemas the constraints are JSON Schemas, a line of
JSON each with `schema` and `tests`.
"""

from __future__ import annotations

import argparse
import gc
import json
import lzma
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rich.progress import track

import report
from mask.mask_types import CASES, TABLE, tokens_of
from mask.maskbench import QUANTILES, figures, show, table
from sglc.automata.term import Language
from sglc.runtime.mask import workspaces
from sglc.runtime.mask.artifact.build import tabulate
from sglc.runtime.mask.artifact.places import constraint_digest, load_tables, save_tables
from sglc.runtime.mask.automaton.limits import ConstraintOptions
from sglc.runtime.mask.constraint import Constraint
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.types.language.language import language

ROUNDS = 60
MEASURES = ("open and first mask", "digest", "compile and first mask", "token from tables")
NAMES = ["avg", *(f"p{p}" for p in QUANTILES), "max"]
WORDS = """
Constraints that were expanded ahead of time and lie in files. Microseconds; wall clock, or processor time of
the thread where that is less.

- *open and first mask*: opening the file and filling the first mask, each time anew, with the digest of the
  constraint at hand (by which a file is found) and the vocabulary loaded;
- *digest*: hashing the description of the constraint, for who has not kept it;
- *compile and first mask*: the same constraint without a file, on a fresh machine;
- *token from tables*: a mask and a step of those tokens of the texts that the tables know, the first time;
- *known*: the share of the tokens of some texts that the tables know; beyond, the constraint is compiled and
  the text goes on there.
"""


def elapsed(started: tuple[int, int]) -> int:
    """Nanoseconds since `now`."""
    wall, cpu = now()
    return min(wall - started[0], cpu - started[1])


def now() -> tuple[int, int]:
    return time.perf_counter_ns(), time.thread_time_ns()


def of_types() -> Iterator[tuple[str, Language, list[str]]]:
    for name, type, text in CASES:
        yield name, language(type, TABLE), [text]


def of_schemas(path: Path, count: int) -> Iterator[tuple[str, Language, list[str]]]:
    from sglc.schema.compile import compile_schema
    from sglc.schema.core.errors import SchemaFault
    from sglc.schema.core.options import SchemaOptions

    with lzma.open(path, "rt", encoding="utf-8") as file:
        lines = file.readlines()
    for line in lines[:: max(1, len(lines) // count)][:count]:
        entry = json.loads(line)
        try:
            made = compile_schema(entry["schema"], SchemaOptions())
        except SchemaFault:
            continue
        texts = [json.dumps(test["data"], ensure_ascii=False) for test in entry["tests"] if test["valid"]]
        yield str(entry.get("name", "schema")), made, texts[:3]


def opened(folder: Path, made: Language, vocabulary: Vocabulary) -> tuple[list[int], list[int]]:
    """Nanoseconds to hash a description, and to open its file and have the first mask."""
    row = np.zeros(vocabulary.words, np.int32)
    hashing, first = [], []
    for _ in range(ROUNDS):
        started = now()
        digest = constraint_digest(made)
        hashing.append(elapsed(started))
        started = now()
        matcher = load_tables(folder, made, vocabulary, digest=digest).matcher(vocabulary)
        matcher.fill_mask(row)
        first.append(elapsed(started))
        # To close the file is no part of it.
        del matcher
    return hashing, first


def compiled(made: Language, vocabulary: Vocabulary) -> int:
    """Nanoseconds to compile on a fresh machine and to have the first mask."""
    workspaces.clear()
    row = np.zeros(vocabulary.words, np.int32)
    started = now()
    Constraint(made, ConstraintOptions()).matcher(vocabulary).fill_mask(row)
    return elapsed(started)


def replayed(
    folder: Path, made: Language, vocabulary: Vocabulary, texts: list[str]
) -> tuple[int, int, list[int]]:
    """(tokens that the tables knew, all tokens, nanoseconds of each of those that were known)."""
    row = np.zeros(vocabulary.words, np.int32)
    known = whole = 0
    times: list[int] = []
    for text in texts:
        tokens = tokens_of(text, vocabulary)
        matcher = load_tables(folder, made, vocabulary).matcher(vocabulary)
        whole += len(tokens)
        for token in tokens:
            started = now()
            matcher.fill_mask(row)
            legal = matcher.accept(token)
            spent = elapsed(started)
            if not legal or getattr(matcher, "is_thawed", True):
                break
            times.append(spent)
            known += 1
    return known, whole, times


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("tokenizer")
    parser.add_argument("--schemas", type=Path)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--markdown", help="write a page with the tables here")
    given = parser.parse_args()
    about = report.surroundings()
    vocabulary = Vocabulary.from_tokenizer_json(given.tokenizer)
    assert vocabulary.digest  # once a process; 25 ms for 128,000 tokens
    cases = of_schemas(given.schemas, given.count) if given.schemas else of_types()
    times: dict[str, list[int]] = {name: [] for name in MEASURES}
    rows = [
        ["constraint", "states", "KB", "expand s", "open and first p50", "max", "compile and first", "known"]
    ]
    known = whole = 0
    sizes = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, made, texts in track([*cases], "constraints", disable=not sys.stderr.isatty()):
            try:
                new = compiled(made, vocabulary)
                started = time.perf_counter()
                tables = tabulate(made, vocabulary)
                expanded = time.perf_counter() - started
            except ConstraintError as fault:
                rows.append([name.removesuffix(".json"), "-", "-", f"refused: {fault}", *["-"] * 4])
                continue
            size = save_tables(folder, made, vocabulary, tables).stat().st_size
            del tables
            gc.collect()
            hashing, first = opened(folder, made, vocabulary)
            some, of, steps = replayed(folder, made, vocabulary, texts)
            for which, more in zip(times, (first, hashing, [new], steps), strict=True):
                times[which] += more
            sizes.append(size)
            known, whole = known + some, whole + of
            states = load_tables(folder, made, vocabulary).tables.n
            rows.append(
                [
                    name.removesuffix(".json"),
                    str(states),
                    f"{size / 1e3:.0f}",
                    f"{expanded:.1f}",
                    show(statistics.median(first) / 1e3),
                    show(max(first) / 1e3),
                    show(new / 1e3),
                    f"{some / max(of, 1):.0%}",
                ]
            )
    summary = [["microseconds", "n", *NAMES]]
    for which, all_times in times.items():
        summary.append(
            [
                which,
                f"{len(all_times):,}",
                *([show(mark) for mark in figures(all_times)] or ["-"] * len(NAMES)),
            ]
        )
    body = (
        f"{vocabulary.size:,} tokens. Files: p50 {np.percentile(sizes, 50) / 1e3:.0f} KB, max "
        f"{max(sizes) / 1e3:.0f} KB; {known:,} of {whole:,} tokens known to the tables.\n\n"
        f"{table(summary)}\n\n{table(rows)}"
    )
    print(f"{report.machine_line(about)}\n\n{body}")
    if given.markdown:
        report.write_page(given.markdown, "Masks ahead of time", WORDS, body, about)


if __name__ == "__main__":
    main()
