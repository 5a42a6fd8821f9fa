"""Who is called, in which thread, for how long; and that streams are closed, whatever ends the repair."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

import sglc
from sglc.runtime.repair import drivers

WORD = {"regex": "[a-z]{3}!"}


class Closing:
    """Pieces that note whether the stream was closed."""

    def __init__(self, *pieces: Any) -> None:
        self._pieces = iter(pieces)
        self.closed = 0
        self.read = 0

    def __call__(self, prompt: str) -> Closing:
        return self

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        piece = next(self._pieces)
        self.read += 1
        if isinstance(piece, BaseException):
            raise piece
        return piece

    def close(self) -> None:
        self.closed += 1


class ClosingSoon(Closing):
    """The same, to be awaited."""

    def __aiter__(self) -> AsyncIterator[str]:
        return self  # type: ignore[return-value]

    async def __anext__(self) -> str:
        try:
            return next(self)
        except StopIteration:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        self.closed += 1


def both(generate: Any, **options: Any) -> Iterator[Any]:
    """The results of both functions."""
    yield lambda: sglc.repair(generate(), **options)
    yield lambda: asyncio.run(sglc.repair_async(generate(), **options))


@pytest.mark.parametrize("kind", [Closing, ClosingSoon])
@pytest.mark.parametrize("seconds", [None, 60])
def test_a_stream_is_closed_at_its_first_illegal_byte(kind: type[Closing], seconds: float | None) -> None:
    made: list[Closing] = []

    def model() -> Closing:
        made.append(kind("ab", "1", "never", "never"))
        return made[-1]

    for run in both(model, **WORD, complete=True, max_calls=1, max_seconds=seconds):
        assert run().text == "aba!"
    assert [(each.read, each.closed) for each in made] == [(2, 1), (2, 1)]


@pytest.mark.parametrize("kind", [Closing, ClosingSoon])
def test_a_stream_that_raises_is_closed_and_its_legal_beginning_is_kept(kind: type[Closing]) -> None:
    made: list[Closing] = []

    def model() -> Closing:
        made.append(kind("ab", OSError("the line is dead")))
        return made[-1]

    for run in both(model, **WORD):
        with pytest.raises(sglc.RunError, match="OSError: the line is dead") as caught:
            run()
        assert (caught.value.name, caught.value.partial) == ("Backend", "ab")
        assert isinstance(caught.value.__cause__, OSError)
    assert [each.closed for each in made] == [1, 1]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "gave None, not a text"),
        (7, "gave 7, not a text"),
        (b"abc", "gave bytes, not a text"),
        ({"text": "abc"}, "gave dict, not a text"),
        ([1], "a piece 1, not a text"),
        (["ab", None], "a piece None, not a text"),
    ],
)
def test_what_is_no_text(answer: Any, said: str) -> None:
    for run in both(lambda: lambda prompt: answer, **WORD):
        with pytest.raises(sglc.RunError, match=said):
            run()


def test_empty_pieces_do_not_go_on_for_ever() -> None:
    from sglc.runtime.repair.calling import EMPTY

    def silent(prompt: str) -> Iterator[str]:
        yield from [""] * (EMPTY - 1)
        yield "ab"
        yield from [""] * (EMPTY - 1)
        yield "c"
        while True:
            yield ""

    for run in both(lambda: silent, **WORD):
        assert run().text == "abc!"

    def mute(prompt: str) -> Iterator[str]:
        yield from [""] * EMPTY
        yield "abc"

    assert sglc.repair(mute, **WORD, complete=True, max_calls=1).text == "aaa!"


@pytest.fixture
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams that hang are not waited for a second."""
    monkeypatch.setattr(drivers, "GRACE", 0.05)


def test_a_function_that_hangs_is_left_at_the_time_bound(short_grace: None) -> None:
    hanging, released = threading.Event(), threading.Event()

    def hangs(prompt: str) -> str:
        hanging.set()
        assert released.wait(60)
        return "abc"

    def stalls(prompt: str) -> Iterator[str]:
        yield "ab"
        yield hangs(prompt)

    async def sleeps(prompt: str) -> str:
        await asyncio.sleep(60)
        return "abc"

    try:
        for generate, kept in ((hangs, ""), (stalls, "ab"), (sleeps, "")):
            for run in both(lambda made=generate: made, **WORD, max_seconds=0.05):
                with pytest.raises(sglc.RunError, match=r"0\.05 seconds have passed") as caught:
                    run()
                assert (caught.value.name, caught.value.partial) == ("Truncated", kept)
    finally:
        released.set()
    assert hanging.is_set()


def test_a_call_that_is_cancelled_closes_its_stream() -> None:
    closed: list[str] = []

    async def waits(prompt: str) -> AsyncIterator[str]:
        try:
            yield "ab"
            await asyncio.sleep(60)
        finally:
            closed.append(prompt)

    async def cancelled() -> None:
        task = asyncio.create_task(sglc.repair_async(waits, "p", **WORD))
        while not task.done() and not closed:
            await asyncio.sleep(0.01)
            if len(asyncio.all_tasks()) > 2:
                task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(asyncio.wait_for(cancelled(), 30))
    assert closed == ["p"]


def test_functions_run_in_the_thread_of_the_caller_unless_time_is_bounded() -> None:
    mark = contextvars.ContextVar("mark", default="")
    mark.set("mine")
    seen: list[tuple[bool, str]] = []

    def generate(prompt: str) -> str:
        seen.append((threading.current_thread() is threading.main_thread(), mark.get()))
        return "abc"

    assert sglc.repair(generate, **WORD).text == "abc!"
    assert sglc.repair(generate, **WORD, max_seconds=60).text == "abc!"
    assert seen == [(True, "mine"), (False, "mine")]


def test_the_event_loop_goes_on_while_a_function_blocks() -> None:
    async def main() -> str:
        ticked = threading.Event()

        def blocks(prompt: str) -> str:
            assert ticked.wait(30), "the event loop stands still"
            return "abc"

        asyncio.get_running_loop().call_later(0.01, ticked.set)
        return (await sglc.repair_async(blocks, **WORD)).text

    assert asyncio.run(main()) == "abc!"


def test_what_on_piece_raises_reaches_the_caller() -> None:
    class Enough(Exception):
        pass

    def told(piece: str) -> None:
        raise Enough

    stream = Closing("ab", "c")
    with pytest.raises(Enough):
        sglc.repair(stream, **WORD, on_piece=told)
    assert stream.closed == 1


def test_prefix_and_length_are_given_to_who_takes_them() -> None:
    calls: list[tuple[str, str, int | None]] = []

    def generate(prompt: str, *, prefix: str, max_tokens: int | None) -> str:
        calls.append((prompt, prefix, max_tokens))
        return "c!" if prefix else "ab1"

    found = sglc.repair(generate, "p:", regex="[a-z]{3}!([a-z]!)*", max_tokens=100)
    assert calls == [("p:", "", 100), ("p:", "aba!", 16)]
    assert (found.text, found.ended, found.tokens) == ("aba!c!", "stopped", 5)


def test_short_pieces_behind_a_correction_double_while_they_are_legal() -> None:
    wanted: list[int | None] = []

    def generate(prompt: str, max_tokens: int | None = None) -> str:
        wanted.append(max_tokens)
        return "?" if len(wanted) == 1 else "ab" * max_tokens if len(wanted) < 5 else ""

    found = sglc.repair(generate, regex="x?[ab]*", max_tokens=None, ask=lambda *about: "a")
    assert wanted == [None, 16, 32, 64, 128] and found.ended == "stopped"


def test_a_call_that_is_cancelled_leaves_a_function_that_hangs(short_grace: None) -> None:
    released, hanging = threading.Event(), threading.Event()

    def stalls(prompt: str) -> Iterator[str]:
        yield "ab"
        hanging.set()
        assert released.wait(60)
        yield "c"

    async def cancelled() -> None:
        task = asyncio.create_task(sglc.repair_async(stalls, **WORD))
        await asyncio.to_thread(hanging.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not released.is_set()

    try:
        asyncio.run(asyncio.wait_for(cancelled(), 40))
    finally:
        released.set()
