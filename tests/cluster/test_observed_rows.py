"""`sglc run --data --workers` with `--metrics` and `--spans`: what one process tells, of all workers."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from pathlib import Path

import pytest

from clustering.row_jobs import job, options, results
from command_line import Cli, cli
from command_line_files import write
from oracles.prometheus_text import samples

__all__ = ["cli", "job"]
for package in ("prometheus_client", "opentelemetry.sdk"):
    pytest.importorskip(package)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="processes and signals as on POSIX"),
]


def _whole(path: Path) -> Counter[str]:
    """The samples of a file, added up over the workers."""
    found: Counter[str] = Counter()
    for key, value in samples(path.read_text(encoding="utf-8")).items():
        name, _, labels = key.rstrip("}").partition("{")
        kept = [each for each in labels.split(",") if each and not each.startswith("worker=")]
        found[f"{name}{{{','.join(kept)}}}"] += value
    return found


def test_metrics_and_spans_are_those_of_one_process(job: Path, cli: Cli, tmp_path: Path) -> None:
    """Counts of runs, calls and holes are equal; there is one span of a run for each row, and its hole."""
    for name, more in (("one", []), ("two", ["--workers", "2"])):
        files = ["--metrics", str(tmp_path / f"{name}.prom"), "--spans", str(tmp_path / f"{name}.spans")]
        assert cli(*options(job, f"{name}.jsonl", *files, *more))[0] == 1
    assert results(job, "one.jsonl") == results(job, "two.jsonl")
    one, two = (_whole(tmp_path / f"{name}.prom") for name in ("one", "two"))
    counted = re.compile(r"sglc_(runs|calls|retries|hole_(fillings|failures|tokens|prompt_tokens))_total\{.*")
    assert {k: v for k, v in one.items() if counted.fullmatch(k)} == {
        k: v for k, v in two.items() if counted.fullmatch(k)
    }
    assert two["sglc_runs_total{function=f,outcome=ok}"] == 13
    assert two["sglc_runs_total{function=f,outcome=Odd}"] == 1
    assert two["sglc_workers{state=ready}"] == 2 and not two["sglc_running_runs{}"]
    spans = [json.loads(line) for line in (tmp_path / "two.spans").read_text().splitlines()]
    alone = [json.loads(line) for line in (tmp_path / "one.spans").read_text().splitlines()]
    assert Counter(each["name"] for each in spans) == Counter(each["name"] for each in alone) + Counter(
        {"dispatch f": 14}
    )
    of = {each["context"]["span_id"]: each for each in spans}
    for run in (each for each in spans if each["name"] == "run f"):
        assert of[run["parent_id"]]["name"] == "dispatch f"
        assert run["attributes"]["sglc.worker"] in ("0", "1")
    failed = [each for each in spans if each["attributes"].get("error.type") == "Odd"]
    assert {each["name"] for each in failed} >= {"dispatch f", "run f"}


def test_metrics_are_scraped_while_rows_run(tmp_path: Path) -> None:
    program = write(
        tmp_path / "p.sgl",
        'extern py "slow:wait" fn wait(n: int) -> int effects read\n\n'
        "pub fn f(n: int) -> int:\n    return wait(n)\n",
    )
    write(
        tmp_path / "slow.py", "import time\n\ndef wait(n: int) -> int:\n    time.sleep(0.05)\n    return n\n"
    )
    write(tmp_path / "rows.jsonl", "".join(f'{{"n": {n}}}\n' for n in range(600)))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    rows = ["--data", str(tmp_path / "rows.jsonl"), "--out", str(tmp_path / "out.jsonl")]
    more = ["--workers", "2", "--metrics", f":{port}"]
    command = [sys.executable, "-P", "-m", "sglc", "run", str(program), *rows, *more]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    found: dict[str, float] = {}
    try:
        end = time.monotonic() + 60
        while process.poll() is None and not any("runs_total" in key and n for key, n in found.items()):
            assert time.monotonic() < end, "no run was told"
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as reply:
                    found = samples(reply.read().decode())
            except OSError:
                time.sleep(0.05)
        assert process.poll() is None, process.communicate()[1]
        assert found["sglc_workers{state=ready}"] >= 1
    finally:
        process.terminate()
        process.communicate(timeout=60)
