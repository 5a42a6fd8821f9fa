"""How often streams are told something, on a clock that jumps."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.virtual_time import run
from sglc.runtime.serve.openai.pace import CHUNKS, LONGEST, Beat, StreamPace


@given(st.integers(1, 400))
def test_all_streams_together_have_some_chunks_a_second(count: int) -> None:
    pace = StreamPace()
    with ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(pace.stream())
        assert pace.interval == min(LONGEST, (count - 1) / CHUNKS)
    assert pace.interval == 0


def test_a_stream_that_fails_counts_no_more() -> None:
    pace = StreamPace()
    with pytest.raises(ValueError), pace.stream():
        raise ValueError
    assert pace.interval == 0


async def times(beat: Beat, news: list[float], end: float) -> list[float]:
    """When a stream is told, with news at some times and an end."""
    loop = asyncio.get_running_loop()
    there, ended = asyncio.Event(), loop.create_future()
    for at in news:
        loop.call_at(at, there.set)
    loop.call_at(end, ended.set_result, None)
    loop.call_at(end, there.set)
    found = []
    while not ended.done():
        await beat.due(there, ended)
        there.clear()
        found.append(round(loop.time(), 6))
    return found


def told(news: list[float], end: float, streams: int) -> list[float]:
    async def whole() -> list[float]:
        pace = StreamPace()
        with ExitStack() as stack:
            beat = [stack.enter_context(pace.stream()) for _ in range(streams)][-1]
            return await times(beat, news, end)

    return run(whole())


def test_the_first_chunk_is_at_once_and_the_next_at_their_time() -> None:
    news = [1 + step / 100 for step in range(31)]
    assert told(news, 1.31, 1000) == [1, 1.1, 1.2, 1.3, 1.31]


def test_a_stream_that_is_alone_is_told_of_each_token() -> None:
    news = [1 + step / 10_000 for step in range(5)]
    assert told(news, 1.05, 1) == pytest.approx([*news, 1.05])


def test_news_after_a_pause_is_told_at_once() -> None:
    assert told([1, 5], 9, 1000) == [1, 5, 9]


@given(st.lists(st.floats(0.01, 2), max_size=30), st.floats(0.01, 2), st.integers(1, 100))
def test_the_end_is_never_held_back(news: list[float], end: float, streams: int) -> None:
    found = told([each for each in news if each < end], end, streams)
    assert found[-1] == round(end, 6)
    gap = min(LONGEST, (streams - 1) / CHUNKS)
    assert all(after - before >= gap - 1e-5 for before, after in pairwise(found[:-1]))
