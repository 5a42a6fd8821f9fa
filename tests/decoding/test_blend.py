"""Two models fill one hole: their shares, what is drawn, and what does not change it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from fakes.drawing_executor import DrawingFake
from fakes.fake_executor import FakeExecutor, FakeModel
from fakes.hashed_engine import HashedEngine
from fakes.small_models import FickleModel, small_tokenizer
from oracles.decoding import blend as oracle
from oracles.decoding.noise import noise
from sglc.bytecode.code import Program
from sglc.driver import compile_source
from sglc.runtime.decoding.blend import Blend, BlendRule
from sglc.runtime.engine.base import Engine
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.open import open_engine
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampler import noise_key, sample
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest
from sglc.runtime.errors import ArgumentError, SglError
from sglc.runtime.metrics.collector import Collector
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.results import RunResult
from sglc.runtime.session import Session
from sglc.runtime.vm.state.trace import Event
from sglc.source import Source

SIZE = 75
RULES = ("kl", "ess", "entropy", "forward")
SAMPLINGS = [
    Sampling(),
    Sampling(0.7),
    Sampling(1.0, top_k=9),
    Sampling(1.3, top_p=0.8),
    Sampling(0.9, min_p=0.2),
    Sampling(0.0, top_k=4),
]


def rows(number: int) -> np.ndarray:
    rng = np.random.default_rng(number)
    base = rng.normal(size=SIZE) * 2
    return np.stack((base, base + rng.normal(size=SIZE) * 2)).astype(np.float32)


def mask_of(ids: list[int]) -> np.ndarray:
    bits = np.zeros(-(-SIZE // 32) * 32, bool)
    bits[ids] = True
    return np.packbits(bits, bitorder="little").view(np.int32)


def request(sampling: Sampling, legal: np.ndarray | None, seed: int, **more: Any) -> SamplingRequest:
    return SamplingRequest(sampling, seed, legal, position=3, **more)


# -- one token ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
def test_weights_of_0_and_1_draw_what_the_one_model_draws(sampling: Sampling) -> None:
    for number in range(60):
        pair = rows(number)
        legal = None if number % 3 == 0 else mask_of(list(range(number % 7, SIZE, 1 + number % 5)))
        teacher = Blend(BlendRule("weight", 1.0)).sample(pair, request(sampling, legal, number))
        greedy = sampling.temperature == 0.0
        alone = Sampling(1.0, sampling.top_k) if greedy else sampling
        kept = sample(pair[1], legal, Sampling() if greedy else alone, (number, 3))
        assert teacher.token == kept.token
        if sampling.plain or sampling == Sampling():
            base = Blend(BlendRule("weight", 0.0)).sample(pair, request(sampling, legal, number))
            assert base.token == sample(pair[0], legal, sampling, (number, 3)).token


@pytest.mark.parametrize("rule", RULES)
def test_a_token_is_the_best_of_mixture_and_noise_under_the_mask(rule: Any) -> None:
    for number in range(40):
        pair, seed = rows(number), 1000 + number
        ids = [i for i in range(SIZE) if (i * 7 + number) % 3]
        drawn = Blend(BlendRule(rule)).sample(pair, request(Sampling(0.8), mask_of(ids), seed, scored=True))
        base, teacher = pair[0][ids], pair[1][ids]
        alpha = oracle.alpha_of(base, teacher, rule)
        assert drawn.share is not None and drawn.share.alpha == pytest.approx(alpha, abs=1e-4)
        mixed = np.log(oracle.between(base, teacher, drawn.share.alpha))
        key = noise_key(seed, 3)
        scores = [value / 0.8 + noise(token, key) for value, token in zip(mixed, ids, strict=True)]
        assert drawn.token == ids[int(np.argmax(scores))]
        whole = np.log(oracle.between(pair[0], pair[1], drawn.share.alpha))
        assert drawn.logprob == pytest.approx(whole[drawn.token], abs=1e-4)
        q = oracle.between(base, teacher, drawn.share.alpha)
        first, second = oracle.distribution(base), oracle.distribution(teacher)
        ess = min(oracle.effective(first, q), oracle.effective(second, q))
        assert drawn.share.ess == pytest.approx(ess, abs=1e-4)
        if rule == "kl":
            assert drawn.share.chernoff == pytest.approx(oracle.divergence(q, first), abs=1e-4)


def test_limits_leave_what_they_leave_of_the_teacher_to_both() -> None:
    for number in range(30):
        pair = rows(number)
        ids = sorted(np.argsort(-pair[1])[:6].tolist())
        found = Blend(BlendRule("kl")).sample(pair, request(Sampling(1.0, top_k=6), None, number))
        narrow = Blend(BlendRule("kl")).sample(pair, request(Sampling(1.0), mask_of(ids), number))
        assert found.token == narrow.token and found.share == narrow.share
    below = 0
    for number in range(30):
        pair = rows(number)
        least = pair[1].max() + math.log(0.5)
        greedy = Blend(BlendRule("weight", 2.5)).sample(pair, request(Sampling(0.0, min_p=0.5), None, 0))
        assert pair[1][greedy.token] >= least
        free = Blend(BlendRule("weight", 2.5)).sample(pair, request(Sampling(0.0), None, 0))
        below += pair[1][free.token] < least  # what min_p is for
    assert below


def test_a_least_share_holds_where_the_rule_finds_less() -> None:
    held = Blend(BlendRule("kl", at_least=0.9))
    token = held.sample(rows(1), request(Sampling(1.0), None, 1))
    assert token.share is not None and token.share.alpha == 0.9
    found = held.shares()
    assert found is not None and (found.tokens, found.alpha, found.held) == (1, 0.9, 1)
    loose = Blend(BlendRule("kl", at_least=0.01))
    loose.sample(rows(1), request(Sampling(1.0), None, 1))
    assert loose.shares().held == 0  # type: ignore[union-attr]
    assert Blend(BlendRule()).shares() is None


@pytest.mark.parametrize(
    "given",
    [
        {"rule": "weight"},
        {"weight": 0.5},
        {"rule": "weight", "weight": -0.1},
        {"rule": "weight", "weight": 10.1},
        {"rule": "weight", "weight": math.nan},
        {"at_least": 1.5},
    ],
)
def test_rules_that_cannot_be_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        BlendRule(**given)
    assert BlendRule("weight", 10.0).weight == 10.0 and BlendRule("weight", 0).weight == 0


# -- holes -------------------------------------------------------------------------------------------

TEXT = """
const RULES = "Be kind."
pub fn f(x: str) -> str HEAD:
    system: | ${RULES} Be brief.
    user: | A word for ${x}?
    assistant:
        | It is ?{a: str matching /[a-z ]{3,12}/ temp 1 OPTIONS}, and ?{b: int in 0..99 temp 0.8 OPTIONS}
        | {"k": ?{c: one of ["red", "green", "blue"] temp 1 OPTIONS}}
        | ?{d: choose ["yes", "no"] OPTIONS}
    return "${a} ${b} ${c} ${d}"
"""


def program(head: str, options: str = "") -> Program:
    found = compile_source(Source("m.sgl", TEXT.replace("HEAD", head).replace("OPTIONS", options)))
    assert found.program is not None, found.diagnostics
    return found.program


def run(made: Program, engine: Engine, models: dict[str, Engine], **more: Any) -> RunResult:
    return asyncio.run(Session(made, engine, models=models).run("f", {"x": "a cat"}, **more))


def said(result: RunResult) -> tuple[object, ...]:
    return result.value, result.text, [(hole.text, hole.ended, hole.tokens) for hole in result.holes]


def batching(executor: FakeExecutor | None = None) -> BatchingEngine:
    made = executor or FakeExecutor(small_tokenizer())
    return open_engine(made, memory=64 * made.block_bytes)


@pytest.fixture
def models() -> Iterator[dict[str, Engine]]:
    """Two models of one vocabulary, with tokens that the text before and behind a hole can change."""
    made: dict[str, Engine] = {"main": batching(), "big": ReferenceEngine(FickleModel())}
    yield made
    for engine in made.values():
        engine.close()


@pytest.mark.slow
@pytest.mark.parametrize("order", ["main, big", "big, main"])
def test_a_share_of_all_or_nothing_is_the_one_model(models: dict[str, Engine], order: str) -> None:
    main, big = models["main"], models["big"]
    first, second = order.split(", ")
    for seed in range(4):
        for weight, name in ((0, first), (1, second)):
            whole = run(program(f"using blend({order})", f"weight {weight}"), main, {"big": big}, seed=seed)
            alone = run(program(f"using {name}"), main, {"big": big}, seed=seed, decode="local")
            assert said(whole) == said(alone)
            assert all(hole.shares and hole.shares.alpha == weight for hole in whole.holes)


def test_a_model_with_itself_is_itself(models: dict[str, Engine]) -> None:
    main = models["main"]
    for seed in range(4):
        for rule in RULES:
            mixed = run(program("using blend(main, main)", f"by {rule}"), main, {}, seed=seed)
            assert said(mixed) == said(run(program("using main"), main, {}, seed=seed, decode="local"))
            assert all(hole.shares.alpha == pytest.approx(0.5) for hole in mixed.holes if hole.shares)


def test_two_contexts_share_one_step(models: dict[str, Engine]) -> None:
    main = models["main"]
    assert isinstance(main, BatchingEngine)
    heard: list[Event] = []
    found = run(program("using blend(main without RULES, main)"), main, {}, seed=3, on_event=heard.append)
    assert main.measure.largest == 2
    assert found.statistics.forwards == found.statistics.sampled_tokens
    tokens = [event.data for event in heard if event.kind == "token"]
    assert all(
        0 < token["alpha"] < 1 and token["chernoff"] >= 0 and 0 < token["ess"] <= 1 for token in tokens
    )
    ends = [event.data for event in heard if event.kind == "hole_end"]
    drawn = [token["alpha"] for token in tokens if token["hole"] == "f.a"]
    assert ends[0]["alpha"] == pytest.approx(sum(drawn) / len(drawn), abs=1e-3) and ends[0]["held"] == 0
    starts = [event.data["model"] for event in heard if event.kind == "hole_start"]
    assert starts[0] == 'blend(main without "Be kind.", main)'


def test_neither_batches_nor_engines_nor_listeners_change_a_text(models: dict[str, Engine]) -> None:
    main, big = models["main"], models["big"]
    made = program("using blend(main without RULES, big)", "by ess")
    alone = [said(run(made, main, {"big": big}, seed=seed)) for seed in range(6)]
    session = Session(made, main, models={"big": big}, recorder=Collector(weighed=True))

    async def together() -> list[RunResult]:
        runs = [session.run("f", {"x": "a cat"}, seed=seed, detailed=True) for seed in range(6)]
        return list(await asyncio.gather(*runs))

    assert [said(result) for result in asyncio.run(together())] == alone
    reference: Engine = ReferenceEngine(FakeModel(small_tokenizer()))
    drawing: Engine = batching(DrawingFake(small_tokenizer()))
    for other in (reference, drawing):
        assert [said(run(made, other, {"big": big}, seed=seed)) for seed in range(6)] == alone
        other.close()


def test_samples_retries_and_validators_blend_too(models: dict[str, Engine]) -> None:
    text = """
pure fn rising(prefix: str) -> alive | dead | final:
    for i in 1..<len(prefix):
        if prefix[i] <= prefix[i - 1]: return dead
    return final if len(prefix) > 2 else alive
pub fn f(x: str) -> str using blend(main, big) :
    user: | ${x}
    assistant:
        | ?{a: int in 0..99 temp 1 n 3}
        | ?{b: int in 0..9 temp 1}
        ensure b > 4 else "more"
            retry 5 repair
        | ?{c: str max 9 chars matching /[a-e]*/ where rising(c) temp 1}
    return "${a} ${b} ${c}"
"""
    made = compile_source(Source("m.sgl", text)).program
    assert made is not None
    heard: list[float] = []
    for seed in range(3):
        found = run(made, models["main"], {"big": models["big"]}, seed=seed)
        again = run(made, models["main"], {"big": models["big"]}, seed=seed)
        assert said(found) == said(again)
        heard += [hole.shares.alpha for hole in found.holes if hole.shares]
    assert len(heard) >= 12 and all(0 <= alpha <= 1 for alpha in heard)


def test_budgets_and_cancelling_hold(models: dict[str, Engine]) -> None:
    made = program("using blend(main without RULES, big)")
    with pytest.raises(SglError, match="token limit"):
        run(made, models["main"], {"big": models["big"]}, max_tokens=2)
    late = HashedEngine(delays=1)
    session = Session(made, late, models={"big": HashedEngine(seed=1, delays=2)})

    async def stopped() -> None:
        job = asyncio.ensure_future(session.run("f", {"x": "a cat"}))
        for _ in range(30):
            await asyncio.sleep(0)
        job.cancel()
        await asyncio.gather(job, return_exceptions=True)
        assert late.running == 0 and len(asyncio.all_tasks()) == 1

    asyncio.run(stopped())


def test_the_window_of_either_model_ends_a_value_in_time() -> None:
    text = """
pub fn f(x: str) -> str using blend(main, big):
    user: | A story of ${x}.
    assistant: | ?{a: str matching /[a-z]*/ max 300 chars temp 1}
    return a
"""
    made = compile_source(Source("m.sgl", text)).program
    assert made is not None
    for small in ("main", "big"):
        ends = []
        for seed in range(12):
            engines = {name: HashedEngine(seed=number) for number, name in enumerate(("main", "big"))}
            engines[small].model.context_length = 40
            heard: list[Event] = []
            run(made, engines["main"], {"big": engines["big"]}, seed=seed, on_event=heard.append)
            [end] = [event.data for event in heard if event.kind == "hole_end"]
            assert end["prompt"] + end["tokens"] <= 40
            ends.append(end["ended"])
        assert "budget" in ends


def test_a_fault_of_either_model_ends_the_hole() -> None:
    made = program("using blend(main, big)")
    for main, big in ((HashedEngine(faults=900), HashedEngine()), (HashedEngine(), HashedEngine(faults=900))):
        with pytest.raises(SglError) as found:
            run(made, main, {"big": big})
        assert found.value.name == "Backend"


def test_models_that_cannot_be_blended_are_told_before_the_run() -> None:
    made = program("using blend(main, big)")
    with pytest.raises(ArgumentError, match="different vocabularies") as found:
        Session(made, HashedEngine(), models={"big": ReferenceEngine(FickleModel())})
    assert found.value.code == "E0722"
    with pytest.raises(ArgumentError, match=r"`big` of hole `f\.a` cannot be blended"):
        Session(made, HashedEngine(), models={"big": ReferenceEngine(ScriptedModel())})
    with pytest.raises(SglError, match=r"no text 'Be kind\.' to leave out"):
        text = TEXT.replace("HEAD", "using blend(main without RULES, main)").replace("OPTIONS", "")
        bare = compile_source(Source("m.sgl", text.replace("${RULES} ", ""))).program
        assert bare is not None
        run(bare, HashedEngine(), {})
