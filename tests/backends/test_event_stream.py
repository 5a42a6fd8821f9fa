"""Server-sent events: the examples of the standard, cuts at every byte, bounds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglc.runtime.backends.event_stream import EventStreamReader, ServerEvent, server_events
from sglc.runtime.backends.exchange import BackendFault


def read(*pieces: bytes, **options: int) -> list[ServerEvent]:
    reader = EventStreamReader(**options)
    return [event for piece in pieces for event in reader.take(piece)]


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("data: YHOO\ndata: +2\ndata: 10\n\n", [ServerEvent("message", "YHOO\n+2\n10")]),
        (": test stream\n\ndata: first\nid: 1\n\ndata:second\nid\n\ndata:  third\n\n",
         [ServerEvent("message", text) for text in ("first", "second", " third")]),
        ("data\n\ndata\ndata\n\ndata:", [ServerEvent("message", ""), ServerEvent("message", "\n")]),
        ("event: add\ndata: 7\n\ndata: 8\n\n", [ServerEvent("add", "7"), ServerEvent("message", "8")]),
        ("event: ping\n\nretry: 9\nunknown: x\ndata: a:b\n\n", [ServerEvent("message", "a:b")]),
        ("\ufeffdata: marked\n\n", [ServerEvent("message", "marked")]),
        ("data: one\r\rdata: two\r\n\r\ndata: three\n\r", [
            ServerEvent("message", "one"), ServerEvent("message", "two"), ServerEvent("message", "three")]),
        ("data: not ended\n", []),
        ("", []),
    ],
)  # fmt: skip
def test_examples_of_the_standard(text: str, events: list[ServerEvent]) -> None:
    data = text.encode()
    assert read(data) == events
    for cut in range(len(data) + 1):
        assert read(data[:cut], data[cut:]) == events
    assert read(*(data[at : at + 1] for at in range(len(data)))) == events


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))), st.data())
def test_what_is_written_is_read(texts: list[str], data: st.DataObject) -> None:
    end = data.draw(st.sampled_from(["\n", "\r", "\r\n"]))
    stream = "".join(f"data: {text}{end}{end}" for text in texts).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)))))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert [event.data for event in read(*pieces)] == texts


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(BackendFault, match="no UTF-8") as caught:
        read(b"data: \xff\n\n")
    assert (caught.value.cause, caught.value.again) == ("protocol", True)
    assert read(b": \xff\n\ndata: x\n\n") == [ServerEvent("message", "x")], "comments are nobody's text"


def test_lines_have_a_bound() -> None:
    assert read(b"data: 1234\n\n", longest_line=10) == [ServerEvent("message", "1234")]
    for pieces in ([b"data: 12345\n\n"], [b"data: 1", b"2345"]):
        with pytest.raises(BackendFault, match="more than 10 bytes"):
            read(*pieces, longest_line=10)


def test_events_have_a_bound() -> None:
    assert read(b"data: 1\ndata: 2\n\n" * 3, longest_event=4)
    with pytest.raises(BackendFault, match="an event has more than 4 bytes"):
        read(b"data: 1\ndata: 2\ndata: 3\n\n", longest_event=4)


def test_the_body_is_closed_with_the_events() -> None:
    closed = []

    async def body() -> AsyncIterator[bytes]:
        try:
            yield b"data: 1\n\ndata: 2\n\n"
            yield b"data: 3\n\n"
        finally:
            closed.append(True)

    async def job() -> None:
        events = server_events(body())
        assert (await anext(events)).data == "1"
        await events.aclose()  # type: ignore[attr-defined]
        assert closed == [True]

    asyncio.run(job())
