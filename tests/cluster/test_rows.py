"""`sglc run --data --workers`: real processes, with a scripted model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from clustering.row_jobs import job, options, results
from command_line import Cli, cli
from command_line_files import SLOW, hear_interrupts, write

__all__ = ["cli", "job"]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="processes and signals as on POSIX"),
]


def test_the_results_are_those_of_one_process(job: Path, cli: Cli) -> None:
    code, _, err = cli(*options(job, "one.jsonl"))
    assert code == 1 and "15 rows, 2 failed" in err
    code, out, err = cli(*options(job, "two.jsonl", "--workers", "2", "--stats=json"))
    assert code == 1 and "15 rows, 2 failed" in err and out == ""
    one, two = results(job, "one.jsonl"), results(job, "two.jsonl")
    assert one == two and len(two) == 15
    assert '"at": 0.125' in two[13]["line"] and two[12]["error"]["name"] == "Odd"
    told = json.loads(next(line for line in err.splitlines() if line.startswith('{"workers"')))
    assert len(told["workers"]) == 2
    assert sum(each["functions"]["f"]["calls"] for each in told["workers"]) == 14


def test_rows_that_are_done_are_not_run_again(job: Path, cli: Cli) -> None:
    cli(*options(job, "out.jsonl"))
    code, _, err = cli(*options(job, "out.jsonl", "--workers", "1", "--retry-errors"))
    assert code == 1 and "13 rows of 15 already" in err
    assert len(results(job, "out.jsonl")) == 15
    code, _, err = cli(*options(job, "out.jsonl", "--workers", "1"))
    assert code == 1 and "15 rows of 15 already" in err


@pytest.mark.parametrize(
    ("more", "code", "told"),
    [
        (["--workers", "0"], 2, "N or MIN:MAX"),
        (["--workers", "3:2"], 2, "N or MIN:MAX"),
        (["--workers", "2:"], 2, "N or MIN:MAX"),
        (["--cluster", "local"], 2, "--cluster needs --workers"),
        (["--workers", "2", "--cluster", "http://x:1"], 2, "ray://HOST:PORT"),
        (["--workers", "2", "--model", "q=openai:x"], 1, "E0721"),
    ],
)
def test_what_cannot_be_done_is_told(job: Path, cli: Cli, more: list[str], code: int, told: str) -> None:
    found, _, err = cli(*options(job, "out.jsonl", *more))
    assert found == code and told in err


def test_workers_and_models_that_cannot_be_had(job: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    code, _, err = cli("run", job, "--arg", "text=x", "--workers", "2")
    assert code == 2 and "--workers belongs to --data" in err
    files = options(job, "out.jsonl", "--workers", "2")
    code, _, err = cli(*[part.replace("scripted:", "vllm:http://") for part in files])
    assert code == 1 and "E0840" in err and "it is a model elsewhere" in err
    code, _, err = cli(*[part.replace("/s.json", "/none.json") for part in files])
    assert code == 1 and "E0807" in err and "none.json" in err
    monkeypatch.setenv("WORLD_SIZE", "2")
    code, _, err = cli(*files)
    assert code == 1 and "cannot be divided by torchrun" in err


@pytest.fixture
def slow_job(tmp_path: Path) -> Path:
    """Its rows take seconds, or none at all."""
    text = SLOW.replace("slow()", "slow(n: int)").replace("2000", "500 * n")
    write(tmp_path / "rows.jsonl", "".join(f'{{"n": {n}}}\n' for n in [0, 9, 0, 9, 0, 0]))
    write(tmp_path / "s.json", "[]")
    return write(tmp_path / "p.sgl", text)


def started(job: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "sglc", *options(job, "out.jsonl", *more)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_interrupts,
        start_new_session=True,
    )


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to be"
        time.sleep(0.05)


def lines(job: Path) -> int:
    out = job.parent / "out.jsonl"
    return out.read_bytes().count(b"\n") if out.exists() else 0


def children(process: int) -> list[int]:
    text = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    return [int(each) for each in text.split()]


def lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks into /proc")
@pytest.mark.parametrize("how", ["interrupt", "kill"])
def test_no_worker_outlives_its_front(slow_job: Path, how: str) -> None:
    process = started(slow_job, "--workers", "2", "--concurrency", "4")
    try:
        until(lambda: lines(slow_job) >= 4)
        workers = children(process.pid)
        assert len(workers) == 2
        if how == "interrupt":
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does it
        else:
            process.kill()
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
    until(lambda: not any(map(lives, workers)), 10.0)
    if how == "interrupt":
        assert process.returncode == 130, err
        assert "4 of 6 rows finished and kept" in err and "Traceback" not in err
    assert {entry["row"] for entry in results(slow_job, "out.jsonl")} == {0, 2, 4, 5}


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks into /proc")
def test_workers_that_are_killed_take_no_row_along(tmp_path: Path) -> None:
    text = SLOW.replace("slow()", "slow(n: int)").replace("2000", "n")
    write(tmp_path / "rows.jsonl", "".join(f'{{"n": {5 + n % 7}}}\n' for n in range(60)))
    write(tmp_path / "s.json", "[]")
    job = write(tmp_path / "p.sgl", text)
    process = started(job, "--workers", "2")
    try:
        for goal in (5, 20, 35):
            until(lambda goal=goal: lines(job) >= goal)  # type: ignore[misc]
            until(lambda: len(children(process.pid)) == 2)
            os.kill(children(process.pid)[goal % 2], signal.SIGKILL)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0 and "60 rows, 0 failed" in err
    found = results(job, "out.jsonl")
    assert [entry["row"] for entry in found] == list(range(60)) and all(entry["ok"] for entry in found)
