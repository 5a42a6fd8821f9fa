"""Half-typed texts: every question has an answer, without an exception and in bounded time.

`SGLC_TEST_EXAMPLES=20000` asks about twenty thousand texts; a small number of them is asked about otherwise.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from random import Random
from types import FrameType

import pytest

from editing.half_typed import half_typed, programs
from example_budget import examples
from sglc.service.core.documents import Documents
from sglc.service.core.snapshot import Snapshot
from sglc.service.holes.hover import hover
from sglc.service.names.places import definition, name_at
from sglc.service.views.hints import counts_of, types_of
from sglc.service.views.lenses import lenses
from sglc.service.views.repairs import every_repair, repairs
from sglc.service.views.structure import folds, links
from sglc.service.views.symbols import symbols
from sglc.service.views.tokens import classified
from sglc.service.writing.completion import complete
from sglc.service.writing.sight import type_definition
from sglc.service.writing.signature import signature

PATIENCE = 60
"""Seconds after which a question counts as one that hangs."""


@contextmanager
def bounded() -> Iterator[None]:
    def late(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"no answer in {PATIENCE} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def ask_everything(snapshot: Snapshot, offset: int) -> None:
    """Every question about a text; what is said of a file lies in it."""
    size = len(snapshot.text)
    end = 0
    for word in classified(snapshot):
        assert end <= word.start < word.end <= size and "\n" not in snapshot.text[word.start : word.end]
        end = word.end
    found = complete(snapshot, offset)
    assert 0 <= found.start <= offset
    for span in (definition(snapshot, offset), type_definition(snapshot, offset)):
        assert span is None or 0 <= span.start <= span.end <= len(span.source.text)
    name_at(snapshot, offset)
    hover(snapshot, offset)
    signature(snapshot, offset)
    for fold in folds(snapshot):
        assert 1 <= fold.first < fold.last <= snapshot.text.count("\n") + 1
    links(snapshot)
    lenses(snapshot)
    for symbol in symbols(snapshot):
        assert symbol.name
    list(types_of(snapshot, 0, size))
    list(counts_of(snapshot, 0, size))
    every = list(repairs(snapshot, snapshot.findings, 0, size))
    assert all(edit.span.end <= size for each in every for edit in each.edits)
    every_repair(snapshot, snapshot.findings)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_every_question_about_a_half_typed_text_has_an_answer(seed: int) -> None:
    documents = Documents()
    path = Path("/program/half.sgl")
    documents.open(path, "")
    for text, offset in islice(half_typed(Random(seed), programs()), examples(60) // 4 + 1):
        documents.change(path, text)
        with bounded():
            snapshot = documents.snapshot(path)
            assert snapshot is not None
            try:
                ask_everything(snapshot, offset)
            except Exception as fault:
                raise AssertionError(f"at {offset} of {text!r}") from fault


HOSTILE = {
    "brackets": "const A = " + "(" * 5_000,
    "inserts": "fn f() -> str:\n    user: | " + "${" * 2_000,
    "strings in inserts": "fn f() -> str:\n    user: | " + '${"' * 500,
    "a long line": "const A = " + "1 + " * 40_000 + "1",
    "a long prompt line": "fn f() -> str:\n    user: | " + "word " * 40_000,
    "many levels": "pure fn f() -> int:\n" + "".join(" " * n + "if true:\n" for n in range(4, 400, 4)),
    "nulls": "\0" * 100,
    "odd line ends": "pure fn f() -> int:\r    return 1\r\rfn g(\r",
    "many errors": "fn f(\n" * 3_000,
    "many lines": "\n" * 50_000 + "const A = b",
    "many dots": "const A = a" + ".b" * 5_000 + ".",
}


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_have_answers(text: str) -> None:
    documents = Documents()
    path = Path("/program/hostile.sgl")
    documents.open(path, text)
    with bounded():
        snapshot = documents.snapshot(path)
        assert snapshot is not None
        for offset in (0, len(text) // 2, len(text)):
            ask_everything(snapshot, offset)
