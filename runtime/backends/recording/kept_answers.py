"""Answers of backends that are kept on disk and given again for the same question.

A file holds one answer: a line with its checksum, then JSON with the digest of the question and the events of
its stream. The question is not in it: it may repeat what a faulty answer has shown.
Nothing is believed that somebody else could have written, and nothing whose checksum or question is another.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sglc.automata.json.data import JsonData
from sglc.cache_files import PART, cache_folder, keep, read_own
from sglc.runtime.backends.exchange import Backend, Ending, Event, Piece, Query, TextScore, TokenChance, Usage
from sglc.targets.projection.core.capabilities import Capabilities

VERSION = 1
FOLDER = "answers"
MOST_BYTES = 256 << 20
"""Bytes of all answers together: a hundred thousand of some kilobytes each."""
MOST_ANSWER = 8 << 20
"""Bytes of one answer: with probabilities of 20 tokens at each place that is some thousand tokens."""
_LEFT = 0.9
"""Part of the bound that is left when it is reached, so that not each answer looks for the oldest."""


class AnswerStore:
    """Answers in a folder, the least recently used of which go where there are too many bytes."""

    def __init__(self, folder: Path | None = None, most: int = MOST_BYTES) -> None:
        """`folder`: in the cache of this user where none is named. `most`: bytes of all files."""
        self._folder = folder or cache_folder() / FOLDER
        self._most = most
        self._bytes: int | None = None

    def get(self, question: str) -> list[Event] | None:
        """The events of an answer to a question; None where there is none that can be believed."""
        path = self._path(question)
        try:
            checksum, _, data = read_own(path, MOST_ANSWER).partition(b"\n")
            if checksum != _checksum(data):
                raise ValueError("the checksum is another")
            found = json.loads(data)
            if found["question"] != _digest(question):
                raise ValueError("the question is another")
            events = _read(found["events"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError):
            with suppress(OSError):
                path.unlink()
            return None
        with suppress(OSError):
            os.utime(path)
        return events

    def put(self, question: str, events: Sequence[Event]) -> None:
        """Keep an answer. That the disk is full, or not there, is no error."""
        data = json.dumps(
            {"question": _digest(question), "events": [_shown(event) for event in events]}
        ).encode()
        whole = _checksum(data) + b"\n" + data
        if len(whole) > min(MOST_ANSWER, self._most):
            return
        keep(self._path(question), whole)
        self._bytes = self._measured() if self._bytes is None else self._bytes + len(whole)
        if self._bytes > self._most:
            self._bytes = self._evict()

    def _path(self, question: str) -> Path:
        return self._folder / f"{_digest(question)}.json"

    def _files(self) -> list[tuple[float, int, str]]:
        """Time of last use, size and path of each file."""
        with suppress(OSError), os.scandir(self._folder) as entries:
            found = []
            for entry in entries:
                with suppress(OSError):
                    if entry.name.endswith((".json", PART)) and entry.is_file(follow_symlinks=False):
                        facts = entry.stat(follow_symlinks=False)
                        found.append((facts.st_mtime_ns / 1e9, facts.st_size, entry.path))
            return found
        return []

    def _measured(self) -> int:
        return sum(size for _, size, _ in self._files())

    def _evict(self) -> int:
        """Remove the least recently used; the bytes that are left."""
        files = sorted(self._files())
        total = sum(size for _, size, _ in files)
        for _, size, path in files:
            if total <= self._most * _LEFT:
                break
            with suppress(OSError):
                os.unlink(path)
                total -= size
        return total


class KeepingAnswers:
    """A backend that gives an answer again where the same was asked before.

    Equal are the backend's name and address and all that is sent: messages, what is enforced, sampling, seed,
    bounds. An answer is kept if it came whole and ended with `stop`. Where tokens are drawn without a seed,
    each answer is another on purpose: such are kept only with `random`.
    """

    def __init__(
        self,
        inner: Backend,
        store: AnswerStore,
        *,
        random: bool = False,
        on_kept: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_kept` is called for each answer that is given again."""
        self._inner = inner
        self._store = store
        self._random = random
        self._on_kept = on_kept

    @property
    def name(self) -> str:
        """That of the backend inside."""
        return self._inner.name

    @property
    def endpoint(self) -> str:
        """That of the backend inside, which is not asked for kept answers."""
        return self._inner.endpoint

    @property
    def capabilities(self) -> Capabilities:
        """Those of the backend inside."""
        return self._inner.capabilities

    async def stream(self, query: Query) -> AsyncIterator[Event]:
        """The answer; its ending has `kept` where it was given before. Raises BackendFault."""
        if query.sampling.temperature and query.seed is None and not self._random:
            events = self._inner.stream(query)
            try:
                async for event in events:
                    yield event
            finally:
                await _close(events)
            return
        question = question_of(self._inner, query)
        known = self._store.get(question)
        if known is not None:
            self._on_kept()
            for event in known:
                yield event
            return
        said: list[Event] = []
        events = self._inner.stream(query)
        try:
            async for event in events:
                said.append(event)
                if self._is_own(event):
                    self._store.put(question, said)
                yield event
        finally:
            await _close(events)

    def _is_own(self, event: Event) -> bool:
        """Whether an answer has ended by itself, and is that of the backend that the question names: not of
        one that was asked in its place."""
        by = event.answered_by if isinstance(event, Ending) else ""
        return isinstance(event, Ending) and event.reason == "stop" and by in ("", self._inner.name)

    async def score(self, query: Query, texts: Sequence[str]) -> list[TextScore]:
        """Scores, which are never kept. Raises BackendFault."""
        return await self._inner.score(query, texts)

    async def close(self) -> None:
        """Give connections back."""
        await self._inner.close()


def question_of(backend: Backend, query: Query) -> str:
    """What an answer is found by, as JSON: who is asked, and all that is sent."""
    asked = {
        field.name: getattr(query, field.name)
        for field in dataclasses.fields(query)
        if field.name not in ("deadline", "purpose", "live")
    }
    data = {"version": VERSION, "backend": backend.name, "endpoint": backend.endpoint, **asked}
    return json.dumps(data, sort_keys=True, ensure_ascii=True, default=_plain)


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, frozenset | set):
        return sorted(value)
    if hasattr(value, "items"):
        return dict(value.items())
    return str(value)


async def _close(events: AsyncIterator[Event]) -> None:
    close = getattr(events, "aclose", None)
    if close is not None:
        await close()


def _digest(question: str) -> str:
    return hashlib.sha256(question.encode()).hexdigest()


def _checksum(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def _shown(event: Event) -> JsonData:
    if isinstance(event, Piece):
        return [event.text, event.logprob, [[[each.text, each.logprob] for each in top] for top in event.top]]
    usage = event.usage
    return None if usage is None else [usage.prompt, usage.output, usage.cached]


def _read(data: Any) -> list[Event]:
    """The events, of which the last is an ending. Raises what Python does for anything else."""
    *pieces, usage = data
    events: list[Event] = [_piece(*each) for each in pieces]
    told = None if usage is None else Usage(*map(int, usage))
    return [*events, Ending("stop", told, attempts=0, kept=True)]


def _piece(text: Any, logprob: Any, top: Any) -> Piece:
    if not isinstance(text, str):
        raise TypeError("a piece is a text")
    chances = tuple(tuple(TokenChance(str(word), float(value)) for word, value in each) for each in top)
    return Piece(text, None if logprob is None else float(logprob), chances)
