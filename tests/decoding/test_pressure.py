"""Pressure of masks: -log of the probability that the model gives the legal tokens."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.drawing_executor import DrawingFake
from fakes.fake_executor import FakeExecutor
from fakes.small_models import FickleModel, small_tokenizer
from sglc.driver import compile_file
from sglc.runtime.decoding.conversations.conversation import Conversation, Encoder
from sglc.runtime.decoding.hole_decoder import HoleDecoder
from sglc.runtime.decoding.requests import Constraints, HoleRequest, HoleResult, Silent, Timing
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.open import open_engine
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.metrics.collector import Collector
from sglc.runtime.metrics.report import report
from sglc.runtime.session import Session
from sglc.runtime.vm.state.trace import Event
from sglc.types.language.language import language
from sglc.types.type import Int

WORDS = [str(number) for number in range(1, 101)]


class Heard(Silent):
    """Keeps every drawn token, and the tokens of the branch before it."""

    detailed = weighed = True

    def __init__(self, talk: Conversation) -> None:
        self.talk = talk
        self.seen: list[tuple[list[int], Sampled]] = []

    def token(self, drawn: Sampled, data: bytes, allowed: int, draft: object = None) -> None:
        self.seen.append((list(self.talk.branch.tokens), drawn))


def fill(model: FickleModel, sampling: Sampling, seed: int) -> tuple[HoleResult, Heard, int]:
    """An `int in 1..100` behind a message; and the tokens before it."""
    engine = ReferenceEngine(model)
    talk = Conversation(
        encoder=Encoder(model.tokenizer), chat=model.tokenizer.chat, open_branch=lambda _: engine.branch()
    )
    for role, text in (("user", "how many"), ("assistant", "")):
        talk.role(role)
        talk.text(text)
        if role == "user":
            talk.end_role()
    heard = Heard(talk)
    request = HoleRequest("f.x", "key", language(Int(1, 100), {}), sampling=sampling, seed=seed)
    decoder = HoleDecoder(
        talk, model.tokenizer.vocabulary(), Constraints(), request, heard, Timing(), 4096, lambda: None
    )
    result = asyncio.run(decoder.run())
    engine.close()
    return result, heard, result.prompt


def legal(written: bytes, vocabulary: Any) -> list[int]:
    """The tokens that may follow, by all values of the type: no automaton, no mask."""
    found = []
    for token, data in enumerate(vocabulary.token_bytes):
        if token in vocabulary.end_ids:
            if written.decode() in WORDS:
                found.append(token)
        elif data and any(word.encode().startswith(written + data) for word in WORDS):
            found.append(token)
    return found


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from((0.0, 0.5, 1.0, 2.0)))
def test_pressure_is_what_the_mask_takes_away(seed: int, temperature: float) -> None:
    model = FickleModel(seed)
    result, heard, base = fill(model, Sampling(temperature), seed)
    vocabulary = small_tokenizer().vocabulary()
    total = 0.0
    for before, drawn in heard.seen:
        logits = model.forward(model.new_cache(), before).astype(np.float64) / (temperature or 1.0)
        logits -= logits.max()
        written = b"".join(vocabulary.token_bytes[token] or b"" for token in before[base:])
        share = np.exp(logits[legal(written, vocabulary)]).sum() / np.exp(logits).sum()
        assert drawn.log_mass == pytest.approx(math.log(share), abs=1e-4)
        total -= math.log(share)
    assert result.pressure == pytest.approx(total, abs=1e-3) and len(heard.seen) == result.sampled


# -- of whole programs -----------------------------------------------------------------------------------

PROGRAM = """\
pub fn f() -> [int]:
    user: | how many?
    assistant: | ?{x: int in 0..999999 temp 1.0 n 3} and ?{y: "yes" | "yesterday"}
    return x
"""


@pytest.fixture
def engine() -> Iterator[BatchingEngine]:
    executor = FakeExecutor(small_tokenizer())
    made = open_engine(executor, memory=executor.block_bytes * 2000)
    yield made
    made.close()


@pytest.fixture
def program(tmp_path: Path) -> Any:
    path = tmp_path / "p.sgl"
    path.write_text(PROGRAM)
    return compile_file(path).program


def test_trace_result_and_report_tell_the_same_pressure(engine: BatchingEngine, program: Any) -> None:
    events: list[Event] = []
    collector = Collector(weighed=True)
    session = Session(program, engine, recorder=collector)
    result = asyncio.run(session.run("f", {}, trace=events.append))
    tokens = [event.data for event in events if event.kind == "token"]
    ends = [event.data for event in events if event.kind == "hole_end"]
    assert [hole.name for hole in result.holes] == ["f.x", "f.x", "f.x", "f.y"]
    assert [hole.text for hole in result.holes][:3] == [str(value) for value in result.value]
    of_x = [hole.pressure for hole in result.holes if hole.name == "f.x"]
    assert all(pressure is not None and pressure > 0 for pressure in of_x)
    whole = sum(each for each in of_x if each is not None)
    assert sum(token["pressure"] for token in tokens if token["hole"] == "f.x") == pytest.approx(
        whole, abs=1e-3
    )
    assert sum(end["pressure"] for end in ends if end["hole"] == "f.x") == pytest.approx(whole, abs=1e-3)
    holes: Any = report(collector, engine)["holes"]
    assert holes["f.x"]["pressure"] == pytest.approx(whole, abs=1e-5)
    assert holes["f.x"]["weighed"] == holes["f.x"]["sampled"]


@pytest.mark.parametrize("executor", [FakeExecutor, DrawingFake])
def test_a_trace_tells_the_most_probable_tokens_where_it_is_asked_to(program: Any, executor: Any) -> None:
    """By logits on the host and by tokens picked on the device."""
    made = executor(small_tokenizer())
    engine = open_engine(made, memory=made.block_bytes * 2000)
    asked: list[Event] = []
    plain: list[Event] = []
    try:
        session = Session(program, engine)
        one = [asyncio.run(session.run("f", {}, seed=s, trace=asked.append, trace_top=3)) for s in range(4)]
        two = [asyncio.run(session.run("f", {}, seed=s, trace=plain.append)) for s in range(4)]
    finally:
        engine.close()
    assert [each.value for each in one] == [each.value for each in two]
    assert not any("top" in event.data for event in plain)
    tokens = [event.data for event in asked if event.kind == "token"]
    assert tokens
    for token in tokens:
        top = token["top"]
        assert len(top) == 3 and [each[1] for each in top] == sorted((each[1] for each in top), reverse=True)
        own = [each for each in top if each[0] == token["text"] and each[1] == token["logprob"]]
        assert all(each[2] for each in own)
    flags = [each[2] for token in tokens for each in token["top"]]
    assert any(flags) and not all(flags)


def test_pressure_is_measured_only_where_it_is_asked_for(engine: BatchingEngine, program: Any) -> None:
    plain = asyncio.run(Session(program, engine).run("f", {}))
    assert all(hole.pressure is None for hole in plain.holes)
    asked = asyncio.run(Session(program, engine).run("f", {}, pressure=True))
    assert all(hole.pressure is not None for hole in asked.holes)
    assert asked.value == plain.value and asked.text == plain.text
    silent: list[Event] = []
    asyncio.run(Session(program, engine).run("f", {}, on_event=silent.append, detailed=False, pressure=False))
    assert not any("pressure" in event.data for event in silent)
