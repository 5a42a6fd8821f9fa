"""A draft model proposes, the target draws: texts are equal with any draft model, and drafts pay or stop."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from fakes.copying_executor import CopyingExecutor
from fakes.draft_bench import DRAFTS, SAMPLINGS, Bench, draft_of, draft_price, engine_of, plain, target_price
from fakes.noisy_executor import NoisyExecutor
from sglc.runtime.decoding.lookahead import HoleLookahead
from sglc.runtime.decoding.requests import Budget, Constraints, HoleRequest
from sglc.runtime.engine.drafting import draft_model
from sglc.runtime.engine.drafting.balance import FIRST_FILL
from sglc.runtime.engine.drafting.draft_model import DraftModel
from sglc.runtime.engine.drafting.kinds import BELIEFS
from sglc.runtime.engine.drafting.prompt_lookup import Lookup
from sglc.runtime.engine.drafting.transition_history import Rates, TransitionHistory
from sglc.runtime.engine.drafting.tree import AHEAD, DraftTree
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.errors import SglError
from sglc.types.language.language import language
from sglc.types.type import Int, Named, Str, Type
from strategies.sample_types import TABLE, TYPES

MODEL = "draft model"


@pytest.fixture(autouse=True)
def no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prices are those of the functions above, whatever anything takes."""
    monkeypatch.setattr(draft_model, "OVERHEAD", 0.0)
    monkeypatch.setattr(DraftModel, "record", lambda self, *_: None)


@pytest.mark.slow
@settings(max_examples=examples(12), deadline=None)
@given(
    seed=st.integers(0, 10**6),
    bonus=st.sampled_from([0.0, 4.0]),
    sampling=SAMPLINGS,
    kind=DRAFTS,
    types=st.lists(st.sampled_from(TYPES), min_size=1, max_size=2),
    prompt=st.sampled_from(["", "the an", 'x = {"name": "the", ', "the answer the answer the "]),
    limit=st.sampled_from([100, 30]),
)
def test_a_draft_model_leaves_no_trace(
    seed: int, bonus: float, sampling: Sampling, kind: str, types: list[Type], prompt: str, limit: int
) -> None:
    """Tokens, pieces, probabilities and ends are those without drafts, whatever is drafted."""
    target = CopyingExecutor(seed, bonus)
    drafted = Bench(engine_of(target, draft_of(kind, seed, bonus)))
    alone = Bench(engine_of(CopyingExecutor(seed, bonus), None))
    for number, type in enumerate([*types, *types]):
        outcome = []
        for bench in (drafted, alone):
            given = {"sampling": sampling, "seed": seed + number, "budget": Budget(limit, "test")}
            try:
                result, seen = bench.fill(type, prompt, **given)
            except SglError as error:
                outcome.append((repr(error), None))
            else:
                outcome.append((plain(result), seen))
                assert 0 <= result.work.accepted <= result.work.drafted
                assert all(result.drafts.came[each] <= sent for each, sent in result.drafts.sent.items())
        assert outcome[0] == outcome[1]


@pytest.mark.slow
@settings(max_examples=examples(12), deadline=None)
@given(seed=st.integers(0, 10**6), sampling=SAMPLINGS, type=st.sampled_from(TYPES))
def test_the_model_itself_drafts_what_comes(seed: int, sampling: Sampling, type: Type) -> None:
    """Masks, noise, positions, forced text and ends of the draft's chain are those of the hole: a draft model
    with the target's own logits is right at every place."""
    bench = Bench(engine_of(CopyingExecutor(seed, 0.0), NoisyExecutor(seed, 0.0)))
    for number in range(3):
        try:
            bench.fill(type, sampling=sampling, seed=seed + number, budget=Budget(300, "test"))
        except SglError:
            continue
        found = [(token, draft) for token, draft in bench.observed.drafts if draft and draft[0] == MODEL]
        assert [token for token, _ in found] == [draft[1] for _, draft in found if draft]


# -- prices --------------------------------------------------------------------------------------------

TEXT = Str(min_chars=150, max_chars=200)


def written(bench: Bench, fills: int = 4, prompt: str = "", **more: Any) -> tuple[int, int]:
    """Tokens that were drawn and steps of the target, of some fills."""
    before, drawn = bench.engine.statistics.forwards, 0
    for number in range(fills):
        result, _ = bench.fill(TEXT, prompt, seed=number, sampling=Sampling(0.8), **more)
        drawn += result.sampled
    return drawn, bench.engine.statistics.forwards - before


@pytest.mark.slow
def test_a_cheap_draft_model_that_is_right_saves_most_steps() -> None:
    bench = Bench(engine_of(CopyingExecutor(3, 0.0), NoisyExecutor(3, 0.0, 0.3)))
    drawn, steps = written(bench)
    assert drawn > 300 and steps < drawn / 2.5


@pytest.mark.slow
@pytest.mark.parametrize("why", ["dear", "wrong"])
def test_a_draft_model_that_does_not_pay_is_hardly_asked(why: str) -> None:
    """As dear as the target, or never right: what is spent on it is what may be spent to learn."""
    noise, price = (0.3, target_price) if why == "dear" else (40.0, draft_price)
    bench = Bench(engine_of(CopyingExecutor(3, 0.0), NoisyExecutor(3, 0.0, noise), price))
    written(bench, 4)  # a wrong one is found out by asking it
    asked = bench.engine.draft.measure
    before = asked.steps, asked.tokens
    drawn, steps = written(bench, 4)
    spent = price(0) * (asked.steps - before[0]) + (price(1) - price(0)) * (asked.tokens - before[1])
    assert drawn > 300 and spent <= 1.5 * draft_model.EXPLORED * steps * target_price(1)


@pytest.mark.slow
def test_a_draft_model_that_becomes_right_is_asked_again() -> None:
    draft = NoisyExecutor(3, 0.0, 40.0)
    bench = Bench(engine_of(CopyingExecutor(3, 0.0), draft))
    written(bench, 6)
    draft.noise = 0.0
    for _ in range(12):
        written(bench, 2)
    drawn, steps = written(bench, 2)
    assert steps < drawn / 2


def test_a_long_prompt_is_read_where_the_hole_is_worth_it() -> None:
    """Prices of reading: a hole of one token is not worth it, a long text is, from its first token on once
    it is known to be long."""
    prompt = "".join(f"{number} is the answer, " for number in range(100, 180))
    draft = NoisyExecutor(3, 0.0, 0.0)
    bench = Bench(engine_of(CopyingExecutor(3, 0.0), draft, lambda rows: 0.0004 * rows))
    for number in range(6):
        bench.fill(Named("Mood"), prompt, seed=number, sampling=Sampling(0.8), name="f.short")
    assert bench.engine.draft.measure.tokens == 0
    bench.fill(TEXT, prompt, seed=1, sampling=Sampling(0.8), name="f.long")
    first = next(
        place for place, (_, draft) in enumerate(bench.observed.drafts) if draft and draft[0] == MODEL
    )
    assert first > 4
    fresh = "and so on: " + prompt
    for number in range(2):
        bench.fill(TEXT, fresh[number:], seed=number, sampling=Sampling(0.8), name="f.long")
    first = next(
        place for place, (_, draft) in enumerate(bench.observed.drafts) if draft and draft[0] == MODEL
    )
    assert first <= 2


def test_what_may_be_spent_to_learn_is_saved_first() -> None:
    model = DraftModel(*[engine_of(CopyingExecutor(1), None)] * 2)
    model.save(1.0)
    assert not model.may_explore(1.01 * draft_model.EXPLORED)
    assert model.may_explore(draft_model.EXPLORED)
    assert not model.may_explore(1e-9)


@pytest.mark.parametrize(("lacking", "waits"), [(draft_model.MOST_BEHIND, True), (17, False)])
def test_steps_wait_for_drafts_and_not_for_the_reading_of_prompts(lacking: int, waits: bool) -> None:
    engine = engine_of(CopyingExecutor(1), CopyingExecutor(1))
    branch = DraftModel(engine.draft, engine).fill()
    assert branch.pending([7] * lacking) == lacking
    with branch.hold():
        assert bool(engine._gathering.holds) is waits
    assert not engine._gathering.holds


# -- what a draft follows ------------------------------------------------------------------------------


class Ahead:
    """A place ahead whose draw tells the logits that the draft model has there."""

    ended = False

    def __init__(self, tokens: list[int]) -> None:
        self.tokens = tokens

    async def draw(self, branch: Any, besides: Any = ()) -> Any:
        return (await branch.logits()).copy()


@settings(max_examples=40, deadline=None)
@given(
    moves=st.lists(
        st.tuples(st.integers(0, 40), st.lists(st.integers(10, 40), min_size=1, max_size=20)), max_size=8
    )
)
def test_the_draft_model_follows_tokens_cut_back_to_any_prefix(
    moves: list[tuple[int, list[int]]],
) -> None:
    engine = engine_of(CopyingExecutor(1), CopyingExecutor(2))
    branch = DraftModel(engine.draft, engine).fill()
    fresh = CopyingExecutor(2)

    async def follow() -> None:
        tokens = [11, 12, 13]
        for kept, added in moves:
            tokens = tokens[:kept] + added
            pending = branch.pending(tokens)
            assert 1 <= pending <= len(tokens)
            found: Any = await branch.draw(Ahead(tokens))
            assert (found == fresh.row(tokens)).all()
            assert branch.pending(tokens) == 1

    asyncio.run(follow())
    branch.close()
    engine.draft.cache.check()
    assert not engine.draft._handles


def test_a_draft_model_that_fails_ends_its_drafts_only() -> None:
    draft = NoisyExecutor(3, 0.0)
    draft.context_length = 60
    bench = Bench(engine_of(CopyingExecutor(3, 0.0), draft))
    alone = Bench(engine_of(CopyingExecutor(3, 0.0), None))
    given = {"seed": 1, "sampling": Sampling(0.8)}
    assert bench.fill(TEXT, **given)[1] == alone.fill(TEXT, **given)[1]
    assert bench.engine.draft.statistics.unanswered == 1
    assert any(draft and draft[0] == MODEL for _, draft in bench.observed.drafts)


# -- distributions -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_drawn_values_have_the_distribution_of_the_model() -> None:
    """Of a number of two digits, enumerated over the tokens of each value, against 1,500 draws (χ²)."""
    target = CopyingExecutor(5, 0.0)
    bench = Bench(engine_of(target, NoisyExecutor(5, 0.0, 1.0)))
    tokenizer = target.tokenizer
    _, (_, _, tokens) = bench.fill(Int(10, 31), stops=(), sampling=Sampling(1.0))
    talk = list(tokens)
    values = {str(value): tuple(tokenizer.encode(str(value))) for value in range(10, 32)}
    last = next(ids for ids in values.values() if tuple(talk[-len(ids) :]) == ids)
    before = talk[: len(talk) - len(last)]
    wanted = {}
    for text, ids in values.items():
        chance = 1.0
        for place, token in enumerate(ids):
            row = target.row(before + list(ids[:place])).astype(np.float64)
            legal = {each[place] for each in values.values() if each[:place] == ids[:place]}
            chance *= np.exp(row[token]) / sum(np.exp(row[each]) for each in legal)
        wanted[text] = chance
    assert abs(sum(wanted.values()) - 1.0) < 1e-9
    counts = dict.fromkeys(values, 0)
    sent = 0
    draws = 1500

    async def draw() -> None:
        nonlocal sent
        for seed in range(draws):
            result, _ = await bench.fill_soon(Int(10, 31), stops=(), sampling=Sampling(1.0), seed=seed)
            counts[result.text] += 1
            sent += result.drafts.sent.get(MODEL, 0)

    asyncio.run(draw())
    assert sent > draws / 10
    rare = sum(wanted[text] for text in wanted if wanted[text] * draws < 5)
    common = [text for text in wanted if wanted[text] * draws >= 5]
    square = sum((counts[text] - draws * wanted[text]) ** 2 / (draws * wanted[text]) for text in common)
    freedom = len(common) - (rare == 0)
    assert square < freedom + 4 * np.sqrt(2 * freedom)


@pytest.mark.slow
def test_shared_noise_agrees_nearly_as_often_as_any_coupling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of tokens that were drafted, as many come as 0.92 of what rejection sampling accepts: the sum of
    min(p, q) over the legal tokens, 1 less the distance in total variation (Leviathan et al. 2023)."""
    seen: list[tuple[list[int], np.ndarray]] = []
    original = HoleLookahead.draw

    async def noted(self: HoleLookahead, branch: Any, besides: Any = ()) -> Sampled:
        found = await original(self, branch, besides)
        seen.append((list(self.tokens), self._legal.row().copy()))
        return found

    monkeypatch.setattr(HoleLookahead, "draw", noted)
    target, draft = CopyingExecutor(3, 0.0), NoisyExecutor(3, 0.0, 0.25)
    bench = Bench(engine_of(target, draft))

    def rows(tokens: list[int]) -> list[np.ndarray]:
        return [each.row(tokens) for each in (target, draft)]

    drafted: list[bool] = []
    shares: list[float] = []
    for number in range(8):
        seen.clear()
        _, (_, _, tokens) = bench.fill(TEXT, seed=number, sampling=Sampling(1.0), name=f"f.{number}")
        drafted += [
            token == draft[1] for token, draft in bench.observed.drafts if draft and draft[0] == MODEL
        ]
        for before, words in seen:
            if list(tokens[: len(before)]) != before:
                continue  # behind a draft that was refused: nothing is drawn there
            legal = np.unpackbits(words.view(np.uint8), bitorder="little")[: target.tokenizer.size] > 0
            p, q = (np.where(legal, np.exp(row.astype(np.float64)), 0.0) for row in rows(before))
            shares.append(float(np.minimum(p / p.sum(), q / q.sum()).sum()))
    assert len(shares) >= len(drafted) > 400
    assert np.mean(drafted) >= 0.92 * np.mean(shares)


# -- thresholds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prices", "row"),
    [
        ([1.0, 1.1, 3.0, 3.1], 0.1),  # the next row is cheap, those behind it are dear
        ([1.0, 4.0, 4.0, 4.0], 1.0),  # the next one brings two more
    ],
)
def test_a_row_is_priced_with_those_that_come_with_it(prices: list[float], row: float) -> None:
    lookup = Lookup()
    lookup.follow([1, 2])
    value = Constraints().value(HoleRequest("f.x", "text", language(TEXT, TABLE)))
    matcher = value.matcher(CopyingExecutor(1).tokenizer.vocabulary())
    tree = DraftTree(lookup, TransitionHistory(), Rates(BELIEFS), lambda *_: ((), b""), matcher, prices, 1.0)
    assert len(prices) == 1 + AHEAD and tree.row == pytest.approx(row)


@pytest.mark.parametrize(("words", "soon"), [(15, True), (75, False)])
def test_a_hole_that_was_never_filled_is_taken_for_a_sentence(words: int, soon: bool) -> None:
    """`FIRST_FILL` tokens gain some 23 times 2.5 ms; a row of the draft model takes 0.4 ms."""
    prompt = "".join(f"{number} is the " for number in range(100, 100 + words))
    draft = NoisyExecutor(3, 0.0, 0.0)
    bench = Bench(engine_of(CopyingExecutor(3, 0.0), draft, lambda rows: 0.0004 * rows))
    bench.fill(TEXT, prompt, seed=1, sampling=Sampling(0.8))
    first = next(
        place for place, (_, draft) in enumerate(bench.observed.drafts) if draft and draft[0] == MODEL
    )
    gain = FIRST_FILL * (0.75 * 0.0042 - 0.0002 - 0.0004)
    read = 0.0004 * len(bench.engine.model.tokenizer.encode(prompt))
    assert (read < 0.8 * gain) is soon and (read > 1.25 * gain) is not soon
    assert (first == 1) is soon  # sent with the first request
