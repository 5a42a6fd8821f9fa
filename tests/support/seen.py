"""All that can be seen of a run but times: what must not change when calls run ahead."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from outcomes import TIMES
from sglc.bytecode.code import Program
from sglc.runtime.engine.base import Engine
from sglc.runtime.errors import SglError
from sglc.runtime.session import Session
from sglc.runtime.vm.state.run import Limits
from sglc.runtime.vm.state.run import Statistics as RunStatistics
from sglc.runtime.vm.state.trace import Event


@dataclass(frozen=True)
class Seen:
    """All that can be seen of a run but times."""

    value: object
    error: tuple[object, ...] | None
    text: str
    checks: tuple[object, ...]
    statistics: Mapping[str, object]
    events: Mapping[str, list[tuple[object, ...]]]


class Ended:
    """A recorder that keeps the statistics of a run, however it ends."""

    weighed = False

    def __init__(self) -> None:
        self.statistics: dict[str, object] = {}

    def begin(self, function: str, seed: int) -> None:
        return None

    def call(self, function: str) -> None:
        pass

    def hole(self, name: str, mode: str, result: object, seconds: float, error: str) -> None:
        pass

    def end(self, function: str, statistics: RunStatistics, error: str) -> None:
        self.statistics = {
            each.name: getattr(statistics, each.name)
            for each in fields(statistics)
            if each.name not in ("seconds", "timing")
        }


def streams_of(events: list[Event]) -> dict[str, list[tuple[Any, ...]]]:
    """Events without times, by branch of forks."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    for event in events:
        data = {name: value for name, value in event.data.items() if name not in TIMES}
        found.setdefault(event.branch, []).append((event.kind, data, event.span))
    return found


def seen(
    program: Program,
    arguments: Mapping[str, object],
    engine: Engine,
    *,
    limits: Limits | None = None,
    **options: Any,
) -> Seen:
    """Run `main`. Branches of a fork run side by side, so events are kept by branch."""
    ended = Ended()
    told: list[Event] = []
    session = Session(program, engine, limits=limits, recorder=ended)

    async def run() -> Any:
        try:
            return await session.run("main", arguments, trace=told.append, **options)
        finally:
            assert asyncio.all_tasks() == {asyncio.current_task()}

    try:
        result = asyncio.run(run())
    except SglError as raised:
        error = (raised.name, raised.message, dict(raised.fields), raised.place, raised.calls, raised.partial)
        return Seen(None, error, "", (), ended.statistics, streams_of(told))
    return Seen(result.value, None, result.text, result.checks, ended.statistics, streams_of(told))
