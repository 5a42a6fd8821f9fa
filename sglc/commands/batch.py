"""`sglc run --data … --out …`: one run for each row, finished rows kept whatever happens."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from sglc.commands.arguments import bind
from sglc.commands.execution import Call, Executor, value_text
from sglc.commands.invocation import CommandFailed, Invocation, counted, fail, fault
from sglc.commands.progress import progress_bar
from sglc.commands.rows import BadRows, Results, Row, read_rows

INTERRUPTED = 130


def run_rows(
    invocation: Invocation,
    call: Call,
    data: Path,
    out: Path,
    texts: Mapping[str, str],
    values: Mapping[str, Any],
    retry_errors: bool,
) -> None:
    """Run every row that has no result yet; the row's own arguments win over the common ones."""
    invocation.stage = f"reading {data}"
    try:
        rows = read_rows(data, call.code.name)
    except FileNotFoundError:
        raise fail(invocation, fault("E0801", f"there is no file {data}")) from None
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise fail(invocation, fault("E0802", f"{data} cannot be read", reason=reason)) from None
    except BadRows as problem:
        raise fail(invocation, fault("E0804", f"{data}: {problem}")) from None
    try:
        results = Results(out, retry_errors=retry_errors)
    except OSError as problem:
        raise fail(invocation, _unwritable(out, problem)) from None
    waiting = [row for row in rows if (row.number, row.digest) not in results.finished]
    done = len(rows) - len(waiting)
    if done:
        click.echo(f"{counted(done, 'row')} of {len(rows)} already in {out}", err=True)
    failed = results.failed_before
    finished = done
    try:
        if waiting:
            with (
                Executor.open(invocation, call) as executor,
                progress_bar(sys.stderr, call.code.name, shown=sys.stderr.isatty()) as progress,
            ):
                for row in waiting:
                    if sys.stderr.isatty():
                        progress("", finished, len(rows))
                    invocation.stage = f"running {call.code.name} on line {row.line} of {data}"
                    ok, interrupted = _one(executor, call, row, texts, values, results)
                    if interrupted:
                        raise KeyboardInterrupt
                    finished += 1
                    failed += not ok
    except KeyboardInterrupt:
        click.echo(
            f"interrupted: {finished} of {counted(len(rows), 'row')} finished and kept in {out}; "
            "the same command goes on with the rest",
            err=True,
        )
        raise CommandFailed(INTERRUPTED) from None
    except OSError as problem:
        kept = f"{finished} of {counted(len(rows), 'row')} finished and kept; run it again for the rest"
        raise fail(invocation, _unwritable(out, problem, kept)) from None
    finally:
        results.close()
    click.echo(f"{counted(len(rows), 'row')}, {failed} failed: {out}", err=True)
    if failed:
        raise CommandFailed(1)


def _unwritable(out: Path, problem: OSError, hint: str = "") -> Any:
    return fault("E0805", f"{out} cannot be written", reason=problem.strerror or str(problem), hint=hint)


def _one(
    executor: Executor,
    call: Call,
    row: Row,
    texts: Mapping[str, str],
    values: Mapping[str, Any],
    results: Results,
) -> tuple[bool, bool]:
    """Run one row and write its result; whether it succeeded, and whether it was interrupted."""
    own = {name: text for name, text in texts.items() if name not in row.arguments}
    bound, problems = bind(call.program, call.code, own, {**values, **row.arguments}, f"line {row.line}")
    if problems:
        first = problems[0]
        message = "; ".join(problem.message for problem in problems)
        error = {"code": first.code, "name": "Arguments", "message": message, "reason": first.reason}
        results.add(row, {"ok": False, "error": error})
        return False, False
    started = time.monotonic()
    outcome = executor.run(bound)
    if outcome.interrupted:
        return False, True
    seconds = round(time.monotonic() - started, 3)
    tokens = outcome.statistics.get("output_tokens", 0)
    failed = outcome.failed
    if failed is None:
        text = value_text(call.program, call.code, outcome.value)
        results.add(row, {"ok": True, "tokens": tokens, "seconds": seconds}, value=text)
        return True, False
    problem = {
        "code": failed.diagnostic.code,
        "name": failed.error.name,
        "message": failed.error.message,
        "partial": failed.error.partial,
    }
    results.add(row, {"ok": False, "tokens": tokens, "seconds": seconds, "error": problem})
    return False, False
