"""Examples run on models elsewhere, with what came of each hole held against the level it was promised."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from oracles.term_oracle import accepts
from sglc.driver import compile_file
from sglc.runtime.backends.exchange import Backend
from sglc.runtime.backends.filling.filler import RemoteFiller
from sglc.runtime.backends.filling.remote_model import RemoteModel
from sglc.runtime.backends.policy.accounts import Accounts
from sglc.runtime.backends.policy.clock import LoopClock
from sglc.runtime.backends.policy.guarded import guarded
from sglc.runtime.backends.policy.settings import Policy
from sglc.runtime.decoding.requests import HoleRequest
from sglc.runtime.errors import CODES, ArgumentError, SglError
from sglc.runtime.session import Session


@dataclass
class Watched:
    """What came of holes, by level: how often each outcome was.

    known        no request was needed: the value was there, or came with the holes asked for together
    value        the first answer was a value
    asked again  a value came of more than one request: it was corrected, or the server was too slow
    else the name of an error
    """

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    """Values that are not of their type."""
    broken: list[str] = field(default_factory=list)
    """Holes without a value although their level promises one."""
    rows: list[tuple[str, str, str, str]] = field(default_factory=list)
    """Name, level, outcome and text or message of each hole, in the order in which they ended; of a run that
    failed its function, `run`, error and message."""

    def begins(self, filler: RemoteFiller, conversation: Any, asked: Any, observer: Any) -> Any:
        fill = _begin(filler, conversation, asked, observer)
        run = fill.run

        async def watched() -> Any:
            level = fill._projection.level
            try:
                result = await run()
            except SglError as error:
                self.failed(asked.request, level, error)
                raise
            self.filled(asked.request, level, result)
            return result

        fill.run = watched
        return fill

    def filled(self, request: HoleRequest, level: str, result: Any) -> None:
        text = result.text.encode()
        if not accepts(request.language, text) or text in request.excluded:
            self.wrong.append(f"{request.name}: {result.text!r}")
        requests = 0 if result.remote is None else result.remote.requests
        together = result.remote is None or result.remote.level != level or requests == 0
        outcome = "known" if together else "value" if requests == 1 else "asked again"
        self._tell(request.name, level, outcome, result.text)

    def failed(self, request: HoleRequest, level: str, error: SglError) -> None:
        assert error.name in CODES
        if level in ("exact", "value"):
            self.broken.append(f"{request.name}: {error}")
        self._tell(request.name, level, error.name, str(error))

    def _tell(self, name: str, level: str, outcome: str, text: str) -> None:
        self.outcomes[level, outcome] += 1
        self.rows.append((name, level, outcome, text))


_begin = RemoteFiller.begin


@contextmanager
def watching(monkeypatch: pytest.MonkeyPatch, before: Callable[[Any, Any], None]) -> Iterator[Watched]:
    """All holes that models elsewhere are asked for are watched. `before` hears of each, with its filler."""
    seen = Watched()

    def begins(self: RemoteFiller, conversation: Any, asked: Any, observer: Any) -> Any:
        before(self, asked)
        return seen.begins(self, conversation, asked, observer)

    monkeypatch.setattr(RemoteFiller, "begin", begins)
    yield seen


def policed(*backends: Backend) -> RemoteModel:
    """A model of backends, with the usual policies."""
    accounts = Accounts()
    return RemoteModel(guarded(backends, Policy(), LoopClock(), accounts), accounts)


@lru_cache
def program_of(path: Path) -> Any:
    program = compile_file(path).program
    assert program is not None
    return program


def functions(path: Path) -> list[tuple[str, dict[str, object]]]:
    """Functions that can be called as they are, with their arguments."""
    program = program_of(path)
    beside = path.with_suffix(".json")
    given = json.loads(beside.read_text(encoding="utf-8")) if beside.exists() else {"theme": "a lighthouse"}
    found = []
    for name, index in program.entry.items():
        code = program.codes[index]
        known = {each.name: given[each.name] for each in code.parameters if each.name in given}
        if code.kind == "fn" and all(each.has_default or each.name in known for each in code.parameters):
            found.append((name, known))
    return found


def run(
    path: Path, model: RemoteModel, watched: Watched, *, timeout: float = 300, max_tokens: int | None = None
) -> None:
    """Run the functions of an example. Fails where a value is wrong, or a promised one is not there."""
    program = program_of(path)
    try:
        session = Session(program, model, models=dict.fromkeys(program.models, model))
    except ArgumentError as refused:
        assert refused.code == "E0722"  # a blend needs models of this machine
        return

    async def each() -> None:
        for name, arguments in functions(path):
            try:
                await session.run(name, arguments, timeout=timeout, select="choose", max_tokens=max_tokens)
            except SglError as error:
                watched.outcomes["run", error.name] += 1
                watched.rows.append((name, "run", error.name, str(error)))
        await model.close()

    asyncio.run(each())
    assert not watched.wrong and not watched.broken, (watched.wrong, watched.broken)
