"""One digest of all masks of hard constraints and of schemas, and the time that cold masks take.

    python tests/benchmarks/mask/mask_digest.py --tokenizer tokenizer.json --times [--each] [--library]
        [--maskbench maskbench.jsonl.xz --schemas 300] [--engine sglc-default] [--json results.json]

Masks are exact, so a change of how they are found changes no digest. The masks are those at every token of
the texts of `stress_cases.py`, as `mask_stress.py` walks them (with `--library`, of the grammars of the
library too), then those of schemas of MaskBench, in one process. `--times` adds processor time of the
process: of every mask as it is asked for first, and of the mask with the step after it; for JSON and regexes
and for grammars apart. `--each` shows the cases one by one.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mask.mask_engines import ENGINES, Engine, GaveUp, Refused, TokenizerFile
from mask.mask_worker import warm_up
from mask.maskbench import given, quantile, read_cases, sample, show, table, text_of
from mask.stress_cases import CASES, WORSE, library_cases

QUANTILES = (50, 90, 99)


@dataclass
class Walked:
    """The masks of one case: their digest, their number, and nanoseconds of masks and of steps."""

    name: str
    digest: str = ""
    count: int = 0
    outcome: str = "walked"
    masks: list[int] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)


def walk(engine: Engine, name: str, job: dict[str, Any]) -> Walked:
    """Every mask of the texts of a job up to the first token that is not allowed."""
    found = Walked(name)
    digest = hashlib.sha256()
    texts = [engine.tokenizer.encode(text) for text, _ in job["texts"]]
    gc.collect()
    try:
        engine.compile(job["kind"], job["constraint"], job.get("options", {}))
        for tokens in texts:
            engine.start()
            _follow(engine, tokens, digest, found)
    except (Refused, GaveUp) as fault:
        found.outcome = f"{type(fault).__name__}: {fault}"
        digest.update(found.outcome.split(":")[0].encode())
    found.digest = digest.hexdigest()
    return found


def _follow(engine: Engine, tokens: list[int], digest: Any, found: Walked) -> None:
    cpu = time.process_time_ns
    for token in [*tokens, None]:
        start = cpu()
        engine.mask()
        stop = cpu()
        found.masks.append(stop - start)
        found.count += 1
        digest.update(engine.array.tobytes())
        if token is None or not engine.allows(token):
            found.steps.append(0)
            return
        start = cpu()
        taken = engine.commit(token)
        stop = cpu()
        found.steps.append(stop - start)
        assert taken, "the mask allows a token that is refused"


def jobs(arguments: argparse.Namespace) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(group, name, job) of all that is asked for, in a fixed order."""
    cases = CASES + WORSE + (library_cases() if arguments.library else [])
    for case in cases:
        group = "grammars" if case.kind == "lark" else "JSON and regexes"
        yield group, case.name, case.job(arguments.engine)
    if arguments.maskbench:
        for case in sample(read_cases(arguments.maskbench), arguments.schemas, arguments.seed):
            texts = [(text_of(test["data"]), test["valid"]) for test in case["tests"]]
            yield "MaskBench", case["name"], {"kind": "schema", "constraint": case["schema"], "texts": texts}


def digest_of(every: list[Walked]) -> str:
    """That of the digests of some cases, in order."""
    return hashlib.sha256("".join([walked.digest for walked in every]).encode()).hexdigest()[:16]


def figures(every: list[Walked]) -> list[str]:
    """Total in ms, average and quantiles in microseconds: of masks, and of these with their steps."""
    cells: list[str] = []
    masks = [time for walked in every for time in walked.masks]
    both = [sum(pair) for walked in every for pair in zip(walked.masks, walked.steps, strict=False)]
    for times in (masks, both):
        times.sort()
        total = sum(times)
        marks = [quantile(times, mark) for mark in QUANTILES]
        cells += [show(total / 1e6), *[show(mark / 1e3) for mark in (total / len(times), *marks)]]
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokenizer", help="default: $SGLC_BENCH_TOKENIZER")
    parser.add_argument("--engine", default="sglc", choices=[n for n in ENGINES if n.startswith("sglc")])
    parser.add_argument("--maskbench", help="data as for maskbench.py")
    parser.add_argument("--schemas", type=int, default=300, help="how many of MaskBench; 0 for all")
    parser.add_argument("--seed", type=int, default=0, help="of the sample of schemas")
    parser.add_argument("--library", action="store_true", help="the grammars of the library too")
    parser.add_argument("--only", action="append", help="cases with this in their name")
    parser.add_argument("--times", action="store_true", help="processor time of cold masks")
    parser.add_argument("--each", action="store_true", help="a line for each case")
    parser.add_argument("--json", help="write digests and times of all cases here")
    arguments = parser.parse_args()
    engine = ENGINES[arguments.engine](
        TokenizerFile(given(arguments.tokenizer, "SGLC_BENCH_TOKENIZER", "tokenizer"))
    )
    warm_up(engine)
    groups: dict[str, list[Walked]] = {}
    for group, name, job in jobs(arguments):
        if not arguments.only or any(part in name for part in arguments.only):
            groups.setdefault(group, []).append(walk(engine, name, job))
    rows = [["masks", "cases", "number", "digest"]]
    marks = ["total ms", "avg us", *[f"p{mark}" for mark in QUANTILES]]
    if arguments.times:
        rows[0] += [*marks, *[f"with step: {mark}" for mark in marks]]
    for group, every in groups.items():
        row = [group, str(len(every)), str(sum([walked.count for walked in every])), digest_of(every)]
        rows.append(row + (figures(every) if arguments.times else []))
    if arguments.each:
        lines = [["case", "masks", "digest", "total us", "p50", "worst"]]
        for walked in [walked for every in groups.values() for walked in every]:
            times = sorted(walked.masks) or [0]
            marks = [show(t / 1e3) for t in (sum(times), quantile(times, 50), times[-1])]
            lines.append([walked.name[:60], str(walked.count), walked.digest[:8], *marks])
        print(table(lines))
    print(table(rows, names=1))
    if arguments.json:
        data = {group: [asdict(walked) for walked in every] for group, every in groups.items()}
        Path(arguments.json).write_text(json.dumps(data), encoding="utf-8")


if __name__ == "__main__":
    main()
