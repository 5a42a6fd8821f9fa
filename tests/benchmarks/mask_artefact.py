"""What masks made ahead of time cost and save.

    python tests/benchmarks/mask_artefact.py TOKENIZER.json [--schemas FILE.jsonl.xz] [--count N]

For each constraint: the time to expand it, the size of its file, and from the file the time to open it and to
have the first mask, each with a matcher of its own, beside the time that a new constraint takes (compiled on
a fresh machine, first mask). Then texts are replayed token by token, longest match first: how many of their
tokens the tables knew, and the time of a mask and a step. `digest` is the time to hash the description, by
which a file is found; who has kept the digest does not need it. With --schemas the constraints are JSON
Schemas, one line of JSON each with `schema` and `tests`.
"""

from __future__ import annotations

import argparse
import json
import lzma
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from mask_types import CASES, TABLE, tokens_of

from sglc.automata.term import Language
from sglc.runtime.mask import constraint as constraints
from sglc.runtime.mask.account import ConstraintOptions
from sglc.runtime.mask.constraint import Constraint
from sglc.runtime.mask.errors import ConstraintError
from sglc.runtime.mask.freeze import freeze
from sglc.runtime.mask.frozen import constraint_digest, load_frozen, save_frozen
from sglc.runtime.mask.vocabulary import Vocabulary
from sglc.types.language import language

ROUNDS = 25


def of_types() -> Iterator[tuple[str, Language, list[str]]]:
    for name, type, text in CASES:
        yield name, language(type, TABLE), [text]


def of_schemas(path: Path, count: int) -> Iterator[tuple[str, Language, list[str]]]:
    from sglc.schema.compile import compile_schema
    from sglc.schema.errors import SchemaFault
    from sglc.schema.options import SchemaOptions

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


def opened(folder: Path, made: Language, vocabulary: Vocabulary) -> tuple[float, float, float]:
    """Median microseconds to hash a description, to open its file and to have the first mask."""
    row = np.zeros(vocabulary.words, np.int32)
    hashing, opening, first = [], [], []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        digest = constraint_digest(made)
        hashing.append((time.perf_counter() - started) * 1e6)
        started = time.perf_counter()
        matcher = load_frozen(folder, made, vocabulary, digest=digest).matcher(vocabulary)
        found = time.perf_counter()
        matcher.fill_mask(row)
        first.append((time.perf_counter() - found) * 1e6)
        opening.append((found - started) * 1e6)
    return statistics.median(hashing), statistics.median(opening), statistics.median(first)


def compiled(made: Language, vocabulary: Vocabulary) -> float:
    """Microseconds to compile on a fresh machine and to have the first mask."""
    constraints._shops.clear()
    row = np.zeros(vocabulary.words, np.int32)
    started = time.perf_counter()
    Constraint(made, ConstraintOptions()).matcher(vocabulary).fill_mask(row)
    return (time.perf_counter() - started) * 1e6


def replayed(
    folder: Path, made: Language, vocabulary: Vocabulary, texts: list[str]
) -> tuple[int, int, list[float]]:
    """(tokens that the tables knew, all tokens, microseconds of each of those that were known)."""
    row = np.zeros(vocabulary.words, np.int32)
    known = whole = 0
    times: list[float] = []
    for text in texts:
        tokens = tokens_of(text, vocabulary)
        matcher = load_frozen(folder, made, vocabulary).matcher(vocabulary)
        whole += len(tokens)
        for token in tokens:
            started = time.perf_counter()
            matcher.fill_mask(row)
            legal = matcher.accept(token)
            spent = (time.perf_counter() - started) * 1e6
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
    given = parser.parse_args()
    vocabulary = Vocabulary.from_tokenizer_json(given.tokenizer)
    started = time.perf_counter()
    assert vocabulary.digest
    digested = (time.perf_counter() - started) * 1e3
    cases = of_schemas(given.schemas, given.count) if given.schemas else of_types()
    print(f"{vocabulary.size} tokens; their digest, once a process: {digested:.1f} ms")
    print(f"{'':24}{'states':>7}{'KB':>8}{'expand s':>9}{'digest us':>10}{'open us':>9}{'first us':>9}"
          f"{'compile us':>11}{'known':>7}{'token us':>9}")  # fmt: skip
    both, sizes, steps, news = [], [], [], []
    known = whole = 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, made, texts in cases:
            try:
                new = compiled(made, vocabulary)
                started = time.perf_counter()
                tables = freeze(made, vocabulary)
                expanded = time.perf_counter() - started
            except ConstraintError as fault:
                print(f"{name[:23]:24}refused: {fault}")
                continue
            size = save_frozen(folder, made, vocabulary, tables).stat().st_size
            hashing, opening, first = opened(folder, made, vocabulary)
            some, of, times = replayed(folder, made, vocabulary, texts)
            both.append(opening + first)
            sizes.append(size)
            steps += times
            news.append(new)
            known, whole = known + some, whole + of
            token = statistics.median(times) if times else float("nan")
            print(f"{name[:23]:24}{tables.n:7}{size / 1e3:8.0f}{expanded:9.2f}{hashing:10.0f}{opening:9.0f}"
                  f"{first:9.0f}{new:11.0f}{some / max(of, 1):7.0%}{token:9.1f}")  # fmt: skip
    print(f"open and first mask: p50 {np.percentile(both, 50):.0f} us, p90 {np.percentile(both, 90):.0f}, "
          f"max {max(both):.0f}; compile and first mask: p50 {np.percentile(news, 50):.0f}, "
          f"p90 {np.percentile(news, 90):.0f}, max {max(news):.0f}")  # fmt: skip
    print(f"files: p50 {np.percentile(sizes, 50) / 1e3:.0f} KB, max {max(sizes) / 1e3:.0f} KB; "
          f"{known} of {whole} tokens known to the tables; a mask and a step, first time: "
          f"p50 {np.percentile(steps, 50):.1f} us, p99 {np.percentile(steps, 99):.1f}")  # fmt: skip


if __name__ == "__main__":
    main()
