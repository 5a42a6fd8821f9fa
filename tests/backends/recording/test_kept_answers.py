"""Answers that are kept: for the same question alone, whole, believed only as written, within bounds."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from pathlib import Path
from typing import Any

import pytest

from backends.answering import Answering
from sglc.runtime.backends.exchange import BackendFault, Ending, Message, Piece, Query, TokenChance, Usage
from sglc.runtime.backends.recording.kept_answers import AnswerStore, KeepingAnswers
from sglc.runtime.engine.sampling.options import Sampling
from sglc.targets.projection.core.enforcement import Enforcement

ASKED = Query((Message("user", "Who?"),))
SAID = [
    Piece("A", -0.5, ((TokenChance("A", -0.5), TokenChance("\ud800", -2.0)),)),
    Piece("nn"),
    Ending("stop", Usage(5, 2, 1)),
]


@pytest.fixture
def store(tmp_path: Path) -> AnswerStore:
    return AnswerStore(tmp_path / "answers")


def ask(backend: Any, query: Query = ASKED, most: int | None = None) -> list[Any]:
    async def run() -> list[Any]:
        stream, found = backend.stream(query), []
        async for event in stream:
            found.append(event)
            if len(found) == most:
                await stream.aclose()
                break
        return found

    return asyncio.run(run())


def test_an_answer_comes_again_and_says_so(store: AnswerStore) -> None:
    inner = Answering([SAID])
    backend = KeepingAnswers(inner, store)
    assert ask(backend) == SAID
    again = ask(KeepingAnswers(inner, store))
    assert again == [*SAID[:2], Ending("stop", Usage(5, 2, 1), attempts=0, kept=True)]
    assert len(inner.queries) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"messages": (Message("system", "Who?"),)},
        {"begun": "A"},
        {"enforced": Enforcement("regex", "a")},
        {"enforced": Enforcement("json_schema", schema={"type": "object"})},
        {"sampling": Sampling(top_k=3)},
        {"seed": 1},
        {"max_tokens": 1},
        {"stops": ("x",)},
        {"top_logprobs": 1},
    ],
)
def test_another_question_is_asked(store: AnswerStore, change: dict[str, Any]) -> None:
    inner = Answering([SAID])
    ask(KeepingAnswers(inner, store))
    ask(KeepingAnswers(inner, store), dataclasses.replace(ASKED, **change))
    assert len(inner.queries) == 2


def test_deadline_and_purpose_make_no_difference_and_who_is_asked_does(store: AnswerStore) -> None:
    inner, other = Answering([SAID]), Answering([SAID], name="test:other")
    ask(KeepingAnswers(inner, store))
    ask(KeepingAnswers(inner, store), dataclasses.replace(ASKED, deadline=5.0, purpose="crew.name"))
    ask(KeepingAnswers(other, store))
    other.endpoint = "https://elsewhere.test"
    ask(KeepingAnswers(other, store))
    assert (len(inner.queries), len(other.queries)) == (1, 2)


@pytest.mark.parametrize(
    ("answer", "most"),
    [
        ([Piece("A"), Ending("length")], None),
        ([Ending("refused", message="no")], None),
        ([Ending("filtered")], None),
        (SAID, 1),
        ([Piece("A")], None),
    ],
)
def test_only_whole_answers_that_ended_by_themselves_are_kept(
    store: AnswerStore, answer: list[Any], most: int | None
) -> None:
    inner = Answering([answer])
    for _ in range(2):
        ask(KeepingAnswers(inner, store), most=most)
    assert len(inner.queries) == 2


def test_a_fault_is_not_kept(store: AnswerStore) -> None:
    inner = Answering([[Piece("A"), BackendFault("connection", "broken")], SAID])
    with pytest.raises(BackendFault):
        ask(KeepingAnswers(inner, store))
    assert ask(KeepingAnswers(inner, store)) == SAID


@pytest.mark.parametrize(
    ("sampling", "seed", "random", "asked"),
    [
        (Sampling(0.7), None, False, 2),
        (Sampling(0.7), None, True, 1),
        (Sampling(0.7), 4, False, 1),
        (Sampling(), None, False, 1),
    ],
)
def test_what_is_drawn_without_a_seed_is_kept_only_where_that_is_said(
    store: AnswerStore, sampling: Sampling, seed: int | None, random: bool, asked: int
) -> None:
    inner = Answering([SAID])
    query = dataclasses.replace(ASKED, sampling=sampling, seed=seed)
    for _ in range(2):
        ask(KeepingAnswers(inner, store, random=random), query)
    assert len(inner.queries) == asked


def test_files_that_were_changed_are_not_believed(tmp_path: Path, store: AnswerStore) -> None:
    inner = Answering([SAID])
    ask(KeepingAnswers(inner, store))
    (path,) = (tmp_path / "answers").iterdir()
    data = path.read_bytes()
    spoilt = [
        b"",
        data[:-1],
        data.replace(b"nn", b"mm"),
        b"x\n{}",
        data.replace(b'question": "', b'question": "0'),
    ]
    for number, each in enumerate(spoilt, 2):
        path.write_bytes(each)
        assert ask(KeepingAnswers(inner, store)) == SAID
        assert len(inner.queries) == number
        assert path.read_bytes() == data
    if os.name == "posix":
        path.chmod(0o666)
        ask(KeepingAnswers(inner, store))
        assert len(inner.queries) == len(spoilt) + 2


def test_the_least_recently_used_go_at_the_bound(tmp_path: Path) -> None:
    folder = tmp_path / "answers"
    inner = Answering([SAID])
    questions = [dataclasses.replace(ASKED, seed=number) for number in range(5)]
    ask(KeepingAnswers(inner, AnswerStore(folder)), questions[0])
    (path,) = folder.iterdir()
    size = path.stat().st_size
    store = AnswerStore(folder, most=4 * size + 8)
    for age, question in enumerate(questions[1:4]):
        ask(KeepingAnswers(inner, store), question)
        for each in folder.iterdir():
            facts = each.stat()
            os.utime(each, (facts.st_atime - 10 * (age + 1), facts.st_mtime - 10 * (age + 1)))
    ask(KeepingAnswers(inner, store), questions[0])  # used again
    assert len(inner.queries) == 4 and len(list(folder.iterdir())) == 4
    ask(KeepingAnswers(inner, store), questions[4])
    assert len(list(folder.iterdir())) == 3
    ask(KeepingAnswers(inner, store), questions[0])
    assert len(inner.queries) == 5
    ask(KeepingAnswers(inner, store), questions[1])
    assert len(inner.queries) == 6
    tiny = AnswerStore(tmp_path / "tiny", most=10)
    ask(KeepingAnswers(inner, tiny))
    assert not (tmp_path / "tiny").exists()
