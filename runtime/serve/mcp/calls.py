"""A call of a tool as a run of the server: arguments in, value, problem or progress out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping

from mcp import types

from sglc.runtime.serve.access import Key
from sglc.runtime.serve.functions import Answer, ServedFunction
from sglc.runtime.serve.mcp.tools import RESULT
from sglc.runtime.serve.options import CallOptions, call_options
from sglc.runtime.serve.problems import Problem, Refusal, refusal
from sglc.runtime.serve.runs import Run, Runs
from sglc.types.text.plain_json import write_json

OPTIONS = "sglc/options"
"""In `_meta` of a call: its options, as of typed calls."""
RUN, USAGE, CHECKS = "sglc/run", "sglc/usage", "sglc/checks"
"""In `_meta` of a result: the number of the run, what it took, the checks of the program."""
_NOT_HERE = ("keep", "tokens")
"""Options that need a client of events."""
LONGEST_NEWS = 200
"""Characters of a message of progress: what has come of a value may be long."""

ENDED = Problem(503, "Ending", "the server is ending")
"""Of a run that was cancelled before it had begun."""

Report = Callable[[float, str], Awaitable[None]]
"""Tells the client how far a call is: a number that grows, and what is new."""


async def called(
    runs: Runs,
    function: ServedFunction,
    arguments: Mapping[str, object],
    options: object,
    key: Key,
    report: Report | None,
) -> types.CallToolResult:
    """Run a function for a tool's call; with `report` its client hears of values as they come.

    What has no value is a result with `isError`, wrong arguments among them, so that the model that called
    sees what was wrong. A call that is cancelled ends its run at the next token.
    """
    try:
        run = runs.start(function, arguments, _options(options, runs), key, told=report is not None)
    except Refusal as refused:
        return _failed(refused.problem, {})
    runs.enter(run)
    idle = runs.limits.idle
    telling = None if report is None else asyncio.ensure_future(_report(run, report, idle))
    try:
        assert run.task is not None
        await asyncio.wait({run.task})
        if telling is not None and run.answer is not None:
            await telling
    finally:
        if telling is not None:
            telling.cancel()
        runs.leave(run)
    return result_of(run.answer or Answer(problem=ENDED), run.id)


def result_of(answer: Answer, run: str) -> types.CallToolResult:
    """The result of a call. Its text has all digits of the value, structured content numbers as doubles."""
    meta: dict[str, object] = {RUN: run}
    if answer.problem is not None:
        return _failed(answer.problem, meta)
    meta |= {USAGE: dict(answer.usage), CHECKS: [dict(check) for check in answer.checks]}
    value = json.loads(answer.value)
    return types.CallToolResult(
        content=[types.TextContent(text=value if isinstance(value, str) else answer.value)],
        structured_content={RESULT: value},
        _meta=meta,
    )


def _failed(problem: Problem, meta: dict[str, object]) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(text=write_json(problem.data()))], is_error=True, _meta=meta
    )


def _options(given: object, runs: Runs) -> CallOptions:
    if isinstance(given, Mapping):
        for name in _NOT_HERE:
            if given.get(name) is not None:
                raise refusal(400, "Arguments", f"a call of a tool has no option `{name}`")
    return call_options(given, runs.limits)


async def _report(run: Run, report: Report, idle: float) -> None:
    """Tell of each value as it grows, until the run has ended. A client that takes nothing for so many
    seconds loses its run."""
    number = 0
    while True:
        for each in await run.log.after(number):
            number = each.number
            if each.last:
                return
            if each.name == "partial":
                try:
                    async with asyncio.timeout(idle):
                        await report(number, _news(each.data))
                except TimeoutError:
                    run.cancel(Problem(503, "Cancelled", "the client has read nothing for too long"))
                    return


def _news(data: str) -> str:
    """What is new of a hole, as a person reads it."""
    told = json.loads(data)
    value = told["value"]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    cut = text if len(text) <= LONGEST_NEWS else f"…{text[-LONGEST_NEWS:]}"
    return f"{told['hole']}: {cut}"
