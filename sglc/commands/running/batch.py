"""`sglc run --data … --out …`: one run for each row, many at a time, finished rows kept whatever happens.

Rows are taken one by one by a fixed number of workers, so no more coroutines exist than rows are being run. A
result is written as soon as its row has finished, and is not held.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click

from sglc.commands.running.arguments import bind
from sglc.commands.running.execution import Call, Outcome, value_text
from sglc.commands.running.locking import InUse
from sglc.commands.running.rows import BadRows, NoResults, Results, Row, read_rows
from sglc.commands.shared.invocation import CommandFailed, Invocation, counted, fail, fault
from sglc.commands.shared.progress import BatchProgress, Figures, batch_progress
from sglc.diagnostics.diagnostic import Diagnostic

if TYPE_CHECKING:
    from sglc.types.values import Value

INTERRUPTED = 130
TICK = 0.25
"""Seconds after which figures are shown again though no row has finished."""


@dataclass(frozen=True, slots=True)
class Common:
    """Arguments of all rows, as texts and as JSON; a row's own win over both."""

    texts: Mapping[str, str]
    values: Mapping[str, Value]


class Halted(Exception):
    """Nothing can be run any more, so rows that are left are not recorded. The diagnostic says why."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class OpenRunner(Protocol):
    """Opens what runs rows, for as long as the block lasts. `figures` tell how many there are."""

    def __call__(self, figures: Figures) -> AbstractContextManager[RowRunner]: ...


class Unwritable(Exception):
    """A result could not be written, so nothing goes on; the reason is the cause."""


def run_rows(
    invocation: Invocation,
    call: Call,
    data: Path,
    out: Path,
    common: Common,
    retry_errors: bool,
    concurrency: int | None,
    open_runner: OpenRunner,
) -> None:
    """Run every row that has no result yet, at most `concurrency` at a time (None: what suits the engine), by
    what `open_runner` opens for so many rows."""
    rows = _read(invocation, call, data, {**common.values, **common.texts})
    try:
        if out.exists() and out.samefile(data):
            raise NoResults("it is the file of rows")
        results = Results(out, retry_errors=retry_errors)
    except OSError as problem:
        raise fail(invocation, _unwritable(out, problem)) from None
    except InUse as other:
        reason = f"{other} writes to it"
        hint = "wait until that run has ended, or name another file for --out"
        raise fail(invocation, fault("E0813", f"{out} is in use", reason=reason, hint=hint)) from None
    except NoResults as problem:
        hint = "name a new file for --out"
        raise fail(
            invocation, fault("E0805", f"{out} holds no results", reason=str(problem), hint=hint)
        ) from None
    if results.unlocked:
        click.echo(
            f"warning: {out} is not locked, {results.unlocked}; let no other run write to it", err=True
        )
    waiting = [row for row in rows if (row.number, row.digest) not in results.finished]
    done = len(rows) - len(waiting)
    if done:
        click.echo(f"{counted(done, 'row')} of {len(rows)} already in {out}", err=True)
    figures = Figures(len(rows), done)
    figures.failed = sum((row.number, row.digest) in results.failed for row in rows)
    faults: list[tuple[Row, Exception]] = []
    try:
        if waiting:
            with open_runner(figures) as runner:
                invocation.stage = f"running {call.code.name} on the rows of {data}"
                width = concurrency or runner.width
                ahead = 0 if call.concurrency == 0 else width // len(waiting)
                batch = Batch(call, runner, common, results, figures, ahead)
                with batch_progress(sys.stderr, call.code.name, figures) as progress:
                    runner.wait(batch.run(waiting, width, progress))
                faults = batch.faults
        try:
            results.close()
        except OSError as problem:
            raise Unwritable(str(problem)) from problem
    except KeyboardInterrupt:
        with contextlib.suppress(OSError):
            results.close()
        click.echo(
            f"interrupted: {figures.finished} of {counted(len(rows), 'row')} finished and kept in {out}; "
            "the same command goes on with the rest",
            err=True,
        )
        raise CommandFailed(INTERRUPTED) from None
    except Halted as problem:
        with contextlib.suppress(OSError):
            results.close()
        kept = counted(figures.finished, "row")
        click.echo(f"{kept} of {len(rows)} finished and kept in {out}; run it again for the rest", err=True)
        raise fail(invocation, problem.diagnostic) from None
    except Unwritable as problem:
        with contextlib.suppress(OSError):
            results.close()
        kept = (
            f"{figures.finished} of {counted(len(rows), 'row')} finished and kept; run it again for the rest"
        )
        assert isinstance(problem.__cause__, OSError)
        raise fail(invocation, _unwritable(out, problem.__cause__, kept)) from None
    finally:
        with contextlib.suppress(OSError):
            results.close()
    click.echo(f"{counted(len(rows), 'row')}, {figures.failed} failed: {out}", err=True)
    if faults:
        row, wrong = faults[0]
        invocation.stage = f"running {call.code.name} on line {row.line} of {data}"
        raise wrong
    if figures.failed:
        raise CommandFailed(1)


def _read(invocation: Invocation, call: Call, data: Path, common: Mapping[str, Value]) -> list[Row]:
    invocation.stage = f"reading {data}"
    try:
        return read_rows(data, call.code.name, common)
    except FileNotFoundError:
        raise fail(invocation, fault("E0801", f"there is no file {data}")) from None
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise fail(invocation, fault("E0802", f"{data} cannot be read", reason=reason)) from None
    except BadRows as problem:
        raise fail(invocation, fault("E0804", f"{data}: {problem}")) from None


def _unwritable(out: Path, problem: OSError, hint: str = "") -> Diagnostic:
    return fault("E0805", f"{out} cannot be written", reason=problem.strerror or str(problem), hint=hint)


async def in_window(rows: Iterable[Row], width: int, one: Callable[[Row], Awaitable[None]]) -> None:
    """Have `one` called for every row in order, at most `width` calls at a time.

    The first exception of a call, or being cancelled, cancels those under way, waits until they have ended,
    and is raised.
    """
    waiting = iter(rows)

    async def work() -> None:
        for row in waiting:
            await one(row)
            await asyncio.sleep(0)

    tasks = [asyncio.create_task(work()) for _ in range(width)]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()


class RowRunner(Protocol):
    """What runs rows: a model of this process, or workers."""

    @property
    def tokens(self) -> int:
        """Tokens of all values so far."""

    @property
    def hit_rate(self) -> float | None:
        """Share of prompt tokens that were found again; None where none are kept."""

    async def outcome(self, arguments: Mapping[str, Value], *, concurrency: int | None = None) -> Outcome:
        """How one run ends; any number of them may go on at the same time."""

    def refresh(self) -> None:
        """Tell what is told from time to time."""

    def wait(self, work: Coroutine[object, object, None]) -> None:
        """Run a coroutine to its end."""

    @property
    def width(self) -> int:
        """Rows that are worth keeping going at the same time."""


class Batch:
    """The rows of one command on their way.

    `faults` are rows that met an exception which no program may cause. They are recorded as failed, and the
    others go on; what it was is told at the end. In each row at most `ahead` calls run before their turn:
    rows fill the engine's steps, and only what they leave free is for calls.
    """

    def __init__(
        self, call: Call, runner: RowRunner, common: Common, results: Results, figures: Figures, ahead: int
    ) -> None:
        self._ahead = ahead
        self._call = call
        self._runner = runner
        self._common = common
        self._results = results
        self._figures = figures
        self._show: BatchProgress = lambda: None
        self.faults: list[tuple[Row, Exception]] = []

    async def run(self, rows: list[Row], width: int, show: BatchProgress) -> None:
        """Run rows and write their results. Raises Unwritable, and CancelledError after Ctrl-C."""
        self._show = show
        self._figures.window = width
        ticking = asyncio.create_task(self._tick())
        try:
            await in_window(rows, min(width, len(rows)), self._one)
        finally:
            ticking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await ticking

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            self._runner.refresh()
            with contextlib.suppress(OSError):  # told when the next row is written, or at the end
                self._results.sync_in_time()
            self._look()

    async def _one(self, row: Row) -> None:
        """Run one row and write its result."""
        call = self._call
        own = {name: text for name, text in self._common.texts.items() if name not in row.arguments}
        values = {**self._common.values, **row.arguments}
        bound, problems = bind(call.program, call.code, own, values, f"line {row.line}")
        if problems:
            first = problems[0]
            message = "; ".join(problem.message for problem in problems)
            error = {"code": first.code, "name": "Arguments", "message": message, "reason": first.reason}
            self._add(row, {"ok": False, "error": error})
            return
        started = time.monotonic()
        try:
            outcome = await self._runner.outcome(bound, concurrency=self._ahead)
        except Halted:
            raise
        except Exception as wrong:
            self.faults.append((row, wrong))
            error = {"code": "E0810", "name": "Internal", "message": f"{type(wrong).__name__}: {wrong}"}
            self._add(row, {"ok": False, "error": error})
            return
        self._add_outcome(row, outcome, round(time.monotonic() - started, 3))

    def _add_outcome(self, row: Row, outcome: Outcome, seconds: float) -> None:
        tokens = outcome.statistics.get("output_tokens", 0)
        failed = outcome.failed
        if failed is None:
            text = outcome.written
            if text is None:
                text = value_text(self._call.program, self._call.code, outcome.value)
            self._add(row, {"ok": True, "tokens": tokens, "seconds": seconds}, text)
            return
        problem = {
            "code": failed.diagnostic.code,
            "name": failed.error.name,
            "message": failed.error.message,
            "partial": failed.error.partial,
        }
        self._add(row, {"ok": False, "tokens": tokens, "seconds": seconds, "error": problem})

    def _add(self, row: Row, entry: Mapping[str, object], value: str | None = None) -> None:
        if (row.number, row.digest) in self._results.finished:
            return  # a row stands once in the results, whoever answers again
        try:
            self._results.add(row, entry, value)
        except OSError as problem:
            raise Unwritable(str(problem)) from problem
        self._figures.finished += 1
        self._figures.failed += not entry["ok"]
        self._look()

    def _look(self) -> None:
        """Show the figures as they are now."""
        figures, runner = self._figures, self._runner
        figures.tokens, figures.hit_rate = runner.tokens, runner.hit_rate
        self._show()
