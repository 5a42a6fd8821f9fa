"""Rows of `--data` at the same time: a bounded window, results as they finish, nothing lost by any end."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import Cli, cli
from command_line_files import SLOW, hear_interrupts, write
from fakes.fake_executor import FakeExecutor
from fakes.small_models import small_tokenizer
from sglc.commands.running.batch import in_window
from sglc.commands.running.rows import Row
from sglc.commands.shared.progress import Figures, batch_progress, clock_time
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.core.errors import StepFailed
from sglc.runtime.engine.open import open_engine
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.executor.plan import Piece
from sglc.runtime.model.scripted import ScriptedCache, ScriptedModel

__all__ = ["cli"]

PROGRAM = """\
fn f(text: str) -> int:
    user: | ${text}
    assistant: | ?{n: int in 0..999}
    return n
"""


def rows_of(count: int) -> list[Row]:
    return [Row(number, number + 1, {}, "") for number in range(count)]


# -- the window ----------------------------------------------------------------------------------------


@given(count=st.integers(0, 40), width=st.integers(1, 12), waits=st.lists(st.integers(0, 5), min_size=1))
def test_every_row_runs_once_and_never_more_than_the_window(count: int, width: int, waits: list[int]) -> None:
    begun: list[int] = []
    ended: list[int] = []
    most = 0

    async def one(row: Row) -> None:
        nonlocal most
        begun.append(row.number)
        most = max(most, len(begun) - len(ended))
        for _ in range(waits[row.number % len(waits)]):
            await asyncio.sleep(0)
        ended.append(row.number)

    async def go() -> None:
        await in_window(rows_of(count), width, one)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(go())
    assert begun == list(range(count)) and sorted(ended) == begun
    assert most <= width
    assert not all(waits) or most == min(width, count)


def test_a_fault_ends_the_others_before_it_is_raised() -> None:
    log: list[str] = []

    async def one(row: Row) -> None:
        if row.number == 2:
            await asyncio.sleep(0)
            raise ZeroDivisionError
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            log.append(f"{row.number} cleaned up")
            raise

    with pytest.raises(ZeroDivisionError):
        asyncio.run(in_window(rows_of(100), 3, one))
    assert sorted(log) == ["0 cleaned up", "1 cleaned up"]


def test_being_cancelled_ends_all_rows() -> None:
    log: list[int] = []

    async def one(row: Row) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            log.append(row.number)

    async def go() -> None:
        task = asyncio.create_task(in_window(rows_of(9), 4, one))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert sorted(log) == [0, 1, 2, 3]

    asyncio.run(go())


# -- the command ---------------------------------------------------------------------------------------


class Moody(ScriptedModel):
    """Prefers digits by what it has read; a text may make it fail."""

    def forward(self, cache: ScriptedCache, tokens: Sequence[int], every: bool = False) -> np.ndarray:
        read = bytes(token for token in [*cache.tokens, *tokens] if token < 256)
        if b"broken" in read:
            raise StepFailed("the step could not be computed")
        if b"fault" in read:
            raise ZeroDivisionError("division by zero")
        logits = super().forward(cache, tokens, every)
        for digit in range(10):
            logits[..., 48 + digit] += 20 + (sum(read) * (digit + 3)) % 11
        return logits


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def load(name: str, *_: Any, **__: Any) -> ReferenceEngine:
        return ReferenceEngine(Moody())

    monkeypatch.setattr("sglc.commands.running.loading.load_engine", load)
    return write(tmp_path / "p.sgl", PROGRAM)


def run(cli: Cli, program: Path, texts: Sequence[str], *more: str) -> tuple[int, str, list[dict[str, Any]]]:
    data, out = program.with_name("rows.jsonl"), program.with_name("out.jsonl")
    write(data, "".join(json.dumps({"text": text}) + "\n" for text in texts))
    code, stdout, err = cli("run", program, "--data", data, "--out", out, *more)
    assert stdout == ""
    return code, err, [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def test_rows_side_by_side_say_what_each_says_alone(program: Path, cli: Cli) -> None:
    texts = [f"text {number} {'x' * (number % 7)}" for number in range(30)]
    code, err, found = run(cli, program, texts, "--concurrency", "8")
    assert code == 0 and "30 rows, 0 failed" in err
    together = {entry["row"]: entry["value"] for entry in found}
    assert sorted(together) == list(range(30)) and len(set(together.values())) > 3
    for number in (0, 11, 29):
        code, stdout, _ = cli("run", program, "--arg", f"text={texts[number]}")
        assert (code, int(stdout)) == (0, together[number])


def test_more_rows_are_never_under_way_than_asked_for(
    program: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sglc.runtime.session import Session

    real, going, most = Session.run, 0, 0

    async def watched(self: Session, *values: Any, **named: Any) -> Any:
        nonlocal going, most
        going += 1
        most = max(most, going)
        try:
            return await real(self, *values, **named)
        finally:
            going -= 1

    monkeypatch.setattr(Session, "run", watched)
    code, _, found = run(cli, program, ["x"] * 25, "--concurrency", "6")
    assert (code, len(found), most) == (0, 25, 6)


def test_a_row_whose_step_fails_is_recorded_and_the_others_go_on(program: Path, cli: Cli) -> None:
    code, err, found = run(cli, program, ["a", "broken", "b", "c"], "--concurrency", "3")
    assert code == 1 and "4 rows, 1 failed" in err and "internal error" not in err
    by_row = {entry["row"]: entry for entry in found}
    assert [by_row[row]["ok"] for row in range(4)] == [True, False, True, True]
    assert by_row[1]["error"]["name"] == "Backend"
    assert "could not be computed" in by_row[1]["error"]["message"]


def test_a_fault_in_one_row_is_told_after_the_others_have_run(program: Path, cli: Cli) -> None:
    code, err, found = run(cli, program, ["a", "b", "fault", "c", "d"], "--concurrency", "2")
    assert code == 70 and "5 rows, 1 failed" in err
    assert "internal error while running f on line 3" in err
    by_row = {entry["row"]: entry for entry in found}
    assert sorted(by_row) == [0, 1, 2, 3, 4] and by_row[2]["error"]["code"] == "E0810"
    code, err, found = run(cli, program, ["a", "b", "well", "c", "d"], "--retry-errors")
    assert code == 0 and len(found) == 5


@pytest.fixture
def batching(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BatchingEngine:
    """The batching engine that commands are served by, over an executor that cannot compute some texts."""
    executor = FakeExecutor(small_tokenizer())
    engine = open_engine(executor, memory=executor.block_bytes * 600)
    pieces = executor.tokenizer.token_bytes

    def fault(piece: Piece) -> bool:
        return b"broken" in b"".join(pieces[token] or b"" for token in piece.tokens)

    executor.fault = fault
    monkeypatch.setattr("sglc.commands.running.loading.load_engine", lambda *_, **__: engine)
    return engine


@pytest.mark.slow
def test_rows_fill_the_steps_and_a_broken_one_leaves_the_others_alone(
    program: Path, batching: BatchingEngine, cli: Cli
) -> None:
    texts = [f"text {number}" for number in range(200)]
    texts[7] = texts[120] = "this is broken"
    code, err, found = run(cli, program, texts)
    assert code == 1 and "200 rows, 2 failed" in err and "internal error" not in err
    by_row = {entry["row"]: entry for entry in found}
    assert sorted(by_row) == list(range(200))
    assert [row for row in by_row if not by_row[row]["ok"]] in ([7, 120], [120, 7])
    assert by_row[7]["error"]["name"] == "Backend"
    assert batching.measure.largest > 32 and batching.measure.steps < 40
    batching.cache.check()
    assert batching.cache.stats().sequences == 0


@pytest.mark.parametrize(
    ("options", "rows", "ahead"),
    [
        ([], 0, None),
        (["--concurrency", "3"], 0, 3),
        (["--sequential"], 0, 0),
        (["--concurrency", "7"], 2, 3),
        (["--concurrency", "7"], 9, 0),
        (["--concurrency", "7", "--sequential"], 2, 0),
    ],
)
def test_calls_run_ahead_as_far_as_rows_leave_room(
    program: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, options: list[str], rows: int, ahead: int | None
) -> None:
    from sglc.runtime.session import Session

    real, given = Session.run, []

    async def watched(self: Session, *values: Any, **named: Any) -> Any:
        given.append(named["concurrency"])
        return await real(self, *values, **named)

    monkeypatch.setattr(Session, "run", watched)
    if rows:
        code, _, _ = run(cli, program, ["x"] * rows, *options)
    else:
        code, _, _ = cli("run", program, "--arg", "text=x", *options)
    assert code == 0 and set(given) == {ahead}


def test_two_wishes_for_the_same_calls_are_refused(program: Path, cli: Cli) -> None:
    code, _, err = cli("run", program, "--sequential", "--concurrency", "3")
    assert code == 2 and "--sequential and --concurrency" in err


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
def test_an_interrupt_keeps_what_has_finished_beside_rows_that_have_not(tmp_path: Path) -> None:
    path = write(tmp_path / "p.sgl", SLOW.replace("slow()", "slow(n: int)").replace("2000", "500 * n"))
    numbers = [0, 9, 0, 9, 0, 0]
    rows = write(tmp_path / "rows.jsonl", "".join(f'{{"n": {n}}}\n' for n in numbers))
    model = write(tmp_path / "s.json", "[]")
    out = tmp_path / "out.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "sglc", "run", str(path), "--model", f"scripted:{model}"]
        + ["--data", str(rows), "--out", str(out), "--concurrency", "3"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_interrupts,
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (out.exists() and out.read_bytes().count(b"\n") >= 4):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "4 of 6 rows finished and kept" in err and "Traceback" not in err
    kept = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert sorted(entry["row"] for entry in kept) == [0, 2, 4, 5] and all(entry["ok"] for entry in kept)


# -- progress ------------------------------------------------------------------------------------------


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_without_a_terminal_a_line_comes_every_few_seconds_at_most() -> None:
    clock, out = Clock(), io.StringIO()
    figures = Figures(100, 10, clock)
    with batch_progress(out, "crew", figures, clock=clock) as show:
        for _ in range(40):
            clock.now += 0.5
            figures.finished += 1
            figures.tokens += 20
            show()
    lines = out.getvalue().splitlines()
    assert len(lines) == 4
    assert lines[0] == "crew: 20 of 100 rows, 40 tok/s, 0:40 left"
    figures.failed, figures.hit_rate = 2, 0.973
    assert figures.details() == "2 failed, 40 tok/s, cache 97 %, 0:25 left"


def test_the_time_left_is_told_once_a_window_of_rows_has_finished() -> None:
    clock = Clock()
    figures = Figures(100, 0, clock)
    figures.window = 20
    clock.now += 30
    figures.finished = 19
    assert figures.left() is None and "left" not in figures.details()
    figures.finished = 20
    assert figures.left() == 120


def test_no_line_comes_while_no_row_finishes() -> None:
    clock, out = Clock(), io.StringIO()
    with batch_progress(out, "crew", Figures(3, 0, clock), clock=clock) as show:
        for _ in range(50):
            clock.now += 1
            show()
    assert out.getvalue() == ""


def test_a_terminal_has_a_bar_with_the_figures() -> None:
    out = Terminal()
    clock = Clock()
    figures = Figures(8, 0, clock)
    with batch_progress(out, "crew", figures, clock=clock) as show:
        clock.now += 2
        figures.finished, figures.tokens = 4, 90
        show()
    assert "crew" in out.getvalue() and "4/8" in out.getvalue() and "45 tok/s" in out.getvalue()


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, "0:00"), (59.6, "1:00"), (3599, "59:59"), (3723, "1:02:03")]
)
def test_times_are_shown_as_on_a_clock(seconds: float, shown: str) -> None:
    assert clock_time(seconds) == shown
