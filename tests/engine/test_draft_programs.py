"""Whole programs with a draft model: several at once, cancelled ones, and draft models as users name them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fakes.copying_executor import CopyingExecutor
from fakes.model_folders import folder_of
from fakes.noisy_executor import NoisyExecutor
from fakes.priced_cost import PricedCost
from late import Late
from sglc.driver import compile_source
from sglc.runtime.engine import draft_loading
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.drafting import draft_model
from sglc.runtime.engine.drafting.draft_model import DraftModel
from sglc.runtime.engine.load import load_engine
from sglc.runtime.engine.open import open_engine
from sglc.runtime.errors import SglError
from sglc.runtime.executor.choose import load_executor
from sglc.runtime.executor.plan import Piece
from sglc.runtime.metrics.collector import Collector
from sglc.runtime.metrics.report import report
from sglc.runtime.model import load
from sglc.runtime.model.weights.errors import ModelError
from sglc.runtime.session import Session
from sglc.source import Source

np = Late("numpy")

PROGRAM = """
enum Mood: calm, cheerful, worried

record Note:
    who: str matching /[a-z]{2,6}( [a-z]{2,6}){0,2}/
    mood: Mood
    pages: [int in 1..40; 1..3]

pure fn short(text: str) -> alive | dead | final:
    return dead if len(text) > 24 else final

## Several holes, a validator and a retry.
pub fn notes(text: str) -> str:
    user: | ${text} ${text}
    assistant:
        | The first: ?{first: Note temp 0.9}
        | In short: ?{line: str max 40 chars where short(line) temp 0.9}
        | At length: ?{more: str min 30 chars max 60 chars temp 0.9}
        | ?{number: int in 1..99 temp 1.0}
        ensure number > 60 else "too small"
            retry 2 resample
    return "${first} ${line} ${more} ${number}"
"""


def target_price(rows: int) -> float:
    return 0.004 + 0.0001 * rows


def draft_price(rows: int) -> float:
    return 0.0002


@pytest.fixture(autouse=True)
def no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prices are those of the functions above, whatever anything takes."""
    monkeypatch.setattr(draft_model, "OVERHEAD", 0.0)
    monkeypatch.setattr(DraftModel, "record", lambda self, *_: None)


def session_of(noise: float | None, collector: Collector | None = None) -> tuple[Session, BatchingEngine]:
    """A session with a draft model of that noise, or with none."""
    program = compile_source(Source("notes.sgl", PROGRAM)).program
    assert program is not None
    target = CopyingExecutor(3, 0.0)
    engine = open_engine(target, memory=600 * target.block_bytes)
    engine.cost = PricedCost(target_price)
    engine.cost.record(1, 1.0)
    if noise is not None:
        draft = NoisyExecutor(3, 0.0, noise)
        engine.draft = open_engine(draft, memory=600 * draft.block_bytes)
        engine.draft.cost = PricedCost(draft_price)
        engine.draft.cost.record(1, 1.0)
    return Session(program, engine, recorder=collector), engine


async def outcome(session: Session, seed: int, **more: Any) -> Any:
    try:
        result = await session.run("notes", {"text": "the answer is there"}, seed=seed, **more)
    except SglError as error:
        return error.name, error.partial
    return result.value, result.text, result.statistics.output_tokens


@pytest.mark.slow
def test_programs_at_the_same_time_share_steps_of_both_models() -> None:
    """Values and texts are those of each program alone without drafts; so many rows are in a step."""

    async def together(session: Session) -> list[Any]:
        return await asyncio.gather(*(outcome(session, seed) for seed in range(6)))

    session, engine = session_of(0.3)
    assert engine.draft is not None
    found = asyncio.run(together(session))
    alone = session_of(None)[0]
    assert found == [asyncio.run(outcome(alone, seed)) for seed in range(6)]
    assert engine.draft.measure.largest >= 4 and engine.measure.largest == 6
    assert engine.draft.measure.requests > 1.5 * engine.draft.measure.steps
    assert engine.statistics.accepted > 50
    for each in (engine, engine.draft):
        each.cache.check()
        assert not each._handles or each is engine
    engine.close()
    assert engine.draft._closed


@pytest.mark.slow
def test_programs_that_are_cancelled_leave_the_others_as_they_are() -> None:
    session, engine = session_of(0.3)
    assert engine.draft is not None

    async def some(stop: int) -> list[Any]:
        jobs = [asyncio.ensure_future(outcome(session, seed)) for seed in range(4)]
        for _ in range(stop):
            await asyncio.sleep(0)
        jobs[1].cancel()
        jobs[2].cancel()
        found = await asyncio.gather(*jobs, return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) for each in found[1:3])
        return [found[0], found[3]]

    alone = session_of(None)[0]
    expected = [asyncio.run(outcome(alone, seed)) for seed in (0, 3)]
    for stop in range(5, 205, 20):
        assert asyncio.run(some(stop)) == expected
        assert not engine._gathering.holds and not engine.draft._handles
        engine.cache.check()
        engine.draft.cache.check()


def test_figures_tell_drafts_by_their_source() -> None:
    collector = Collector()
    session, engine = session_of(0.0, collector)
    events: list[Any] = []
    asyncio.run(outcome(session, 1, on_event=events.append))
    found: Any = report(collector, engine)
    drafts = found["process"]["drafts"]
    # The draft model is the target itself; what the validator refuses is drawn again with other noise.
    assert 0.7 * drafts["draft model"]["sent"] < drafts["draft model"]["came"] > 20
    assert sum(each["sent"] for each in drafts.values()) >= found["process"]["engine"]["drafted"]
    assert sum(each["came"] for each in drafts.values()) >= found["process"]["engine"]["accepted"]
    assert found["process"]["draft_model"]["name"] == "noisy"
    assert found["process"]["draft_model"]["forwards"] >= drafts["draft model"]["sent"]
    assert found["holes"]["notes.more"]["drafts"]["draft model"]["came"] > 5
    told = [event.data for event in events if event.kind == "token" and "draft" in event.data]
    assert [each for each in told if each["draft"] == "draft model"]
    assert all(each.get("refused") != each["token"] for each in told)


# -- loading -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_draft_model_has_an_engine_of_its_own() -> None:
    folder = str(folder_of("llama"))
    engine = load_engine(
        folder, executor="torch", dtype="float32", memory=1 << 20, speculate=True, draft=folder
    )
    assert isinstance(engine, BatchingEngine) and engine.draft is not None
    assert engine.draft.model is not engine.model
    assert engine.draft.cache.pool.size == engine.cache.pool.size
    assert engine.draft.cost is not None and engine.draft.cost.estimate(1) < 1.0  # seconds, not a guess
    engine.close()
    plain = load_engine(folder, executor="torch", memory=1 << 20, draft=draft_loading.NO_DRAFT)
    assert isinstance(plain, BatchingEngine) and plain.draft is None
    plain.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"name": "scripted:x.json", "draft": "smollm2"}, "a scripted model writes its answers"),
        ({"draft": "scripted:x.json"}, "a scripted model writes its answers"),
        ({"draft": "layers:1", "speculate": False}, "drafts are switched off"),
        ({"draft": "layers:1", "speculate": None}, "texts may differ by rounding"),
        ({"draft": "layers:"}, "numbers from 0 on"),
        ({"draft": "layers:1,x"}, "numbers from 0 on"),
        ({"draft": "layers:3"}, "the model has layers 0 to 2, and no 3"),
        ({"draft": "layers:0,1,2"}, "all 3 layers of the model are left out"),
        ({"draft": "qwen2", "changed": True}, "its vocabulary is not that of"),
        ({"draft": "layers:1", "processes": True}, "divided among processes"),
    ],
)
def test_what_does_not_fit_is_told(
    options: dict[str, Any], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {"name": str(folder_of("llama")), "speculate": True, **options}
    if given.pop("processes", False):
        monkeypatch.setenv("WORLD_SIZE", "2")
    if given["draft"] == "qwen2":
        given["draft"] = str(folder_of("qwen2"))
    if given.pop("changed", False):
        tokens = iter(("one", "another"))
        monkeypatch.setattr(draft_loading, "token_digest", lambda tokenizer: next(tokens))
        monkeypatch.setattr(draft_loading, "_difference", lambda *_: "token 3 is another")
    with pytest.raises(ModelError) as raised:
        load_engine(executor="torch", dtype="float32", memory=1 << 20, **given)
    assert why in raised.value.why and raised.value.hint


def test_vocabularies_are_compared_by_bytes_and_special_tokens() -> None:
    from fakes.small_models import small_tokenizer

    class Changed:
        def __init__(self, token_bytes: tuple[bytes | None, ...], special: dict[str, int]) -> None:
            self.token_bytes, self.special, self.size = token_bytes, special, len(token_bytes)

    ours: Any = small_tokenizer()
    same: Any = Changed(ours.token_bytes, dict(reversed(list(ours.special.items()))))
    assert draft_loading.token_digest(ours) == draft_loading.token_digest(same)
    swapped = list(ours.token_bytes)
    first, second = (i for i, data in enumerate(swapped) if data in (b"a", b"b"))
    swapped[first], swapped[second] = swapped[second], swapped[first]
    renamed = {**ours.special, "<|other|>": max(ours.special.values())}
    others: list[Any] = [
        Changed(tuple(swapped), ours.special),
        Changed(ours.token_bytes, renamed),
        Changed((*ours.token_bytes, None), ours.special),
    ]
    said = [f"token {first} is 'b', not 'a'", "special token <|other|>", f"{ours.size + 1} tokens"]
    for other, why in zip(others, said, strict=True):
        assert draft_loading.token_digest(ours) != draft_loading.token_digest(other)
        assert why in draft_loading._difference(ours, other)


def test_layers_are_left_out_of_torch_models() -> None:
    """As the model computes when a layer adds nothing: its output projections are zero."""
    import torch

    whole, fewer = (
        load_executor(str(folder_of("llama")), kind="torch", dtype="float32", left_out=out)
        for out in ((), (1,))
    )
    layer = whole.model.model.layers[1]  # type: ignore[attr-defined]
    with torch.no_grad():
        layer.self_attn.o_proj.weight.zero_()
        layer.mlp.down_proj.weight.zero_()
    piece = Piece([0, 1], 0, list(range(1, 21)), 5)
    for each in (whole, fewer):
        each.reserve(2)
    np.testing.assert_allclose(fewer.run([piece]), whole.run([piece]), atol=1e-5)
    assert fewer.block_bytes * 3 == whole.block_bytes * 2 and fewer.identity != whole.identity


FOUND = """
record Found:
    name: str min 2 chars max 30 chars
    year: int in 1800..2100

pub fn found(warmth: float) -> str:
    user:
        | Captain Ines Duarte left the harbour of Porto in September 2021 with a dog named Pickle.
        | Tell what happened then, and name someone in it.
    assistant:
        | ?{line: str min 60 chars max 120 chars temp warmth}
        | ?{first: Found temp warmth}
    return "${line} ${first}"
"""


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.skipif(
    not (load.cached_folder(load.DEFAULT) or load.package_file()), reason="no SmolLM2 weights at hand"
)
def test_smollm2_writes_the_same_with_layers_left_out_as_its_draft_model() -> None:
    """Bit for bit; and drafts of the model without its layer 13 come nearly as often as any coupling lets
    them."""
    program = compile_source(Source("found.sgl", FOUND)).program
    assert program is not None
    runs = [(0.0, 0), (0.0, 1), (0.9, 2), (0.9, 3), (1.0, 4), (1.0, 5)]
    texts: list[list[str]] = []
    for draft in (None, "layers:13"):
        engine = load_engine("smollm2", executor="native", threads=1, memory=64 << 20, draft=draft)
        assert isinstance(engine, BatchingEngine)
        engine.cost = PricedCost(target_price)
        if engine.draft is not None:
            assert engine.draft.model.block_bytes * 30 == engine.model.block_bytes * 29  # type: ignore[attr-defined]
            engine.draft.cost = PricedCost(draft_price)
            engine.draft.cost.record(1, 1.0)
        session = Session(program, engine)
        told: list[Any] = []
        texts.append(
            [
                asyncio.run(session.run("found", {"warmth": warmth}, seed=seed, on_event=told.append)).text
                for warmth, seed in runs
            ]
        )
        engine.close()
    assert texts[0] == texts[1]
    tokens = [
        event.data for event in told if event.kind == "token" and event.data.get("draft") == "draft model"
    ]
    came = [each for each in tokens if "refused" not in each]
    assert len(tokens) > 100 and len(came) > 0.6 * len(tokens)
