"""Drafts: found where they are likely, always legal, sent where they pay, and without a trace in results."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from fakes.copying_executor import CopyingExecutor
from fakes.priced_cost import PricedCost, flat, steep
from fakes.small_models import small_tokenizer
from sglc.driver import compile_source
from sglc.runtime.decoding.conversations.conversation import Conversation, Encoder
from sglc.runtime.decoding.hole_decoder import HoleDecoder
from sglc.runtime.decoding.requests import Budget, Constraints, HoleRequest, HoleResult, Silent, Timing
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.core.cost import StepCost
from sglc.runtime.engine.drafting.drafts import MOST_HOLES, Drafting, Drafts
from sglc.runtime.engine.drafting.prompt_lookup import Lookup
from sglc.runtime.engine.drafting.transition_history import TransitionHistory
from sglc.runtime.engine.drafting.tree import AHEAD, LONGEST
from sglc.runtime.engine.open import open_engine
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.engine.scheduling.draft import Draft
from sglc.runtime.errors import SglError
from sglc.runtime.kv.cache import KVCache
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.session import Session
from sglc.source import Source
from sglc.types.language.language import language
from sglc.types.type import Bool, Int, ListOf, Named, Str, Type
from strategies.sample_types import TABLE, TYPES

# -- whole fills -------------------------------------------------------------------------------------


class Recorder(Silent):
    detailed = True

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def piece(self, text: str, forced: bool) -> None:
        self.seen.append((text, forced))

    def token(self, drawn: Sampled, data: bytes, allowed: int, draft: object = None) -> None:
        self.seen.append((*drawn[:2], data, allowed))


class Bench:
    """A model with an engine and what the fills of a process share."""

    def __init__(
        self,
        model: CopyingExecutor,
        price: Callable[[int], float] = flat,
        drafts: bool = True,
        among: int = 1,
    ) -> None:
        model.reserve(256)
        self.model = model
        cache = KVCache(256, model.block_bytes, copy_block=model.copy_block)
        self.engine = BatchingEngine(model, cache)
        self.cost = self.engine.cost = PricedCost(price, among)
        self.vocabulary = model.tokenizer.vocabulary()
        self.constraints = Constraints()
        self.drafting = Drafting(self.cost, self.vocabulary, model.tokenizer.encode) if drafts else None

    def fill(self, type: Type, prompt: str = "", name: str = "f.x", **more: Any) -> tuple[HoleResult, Any]:
        """The result and all that could be seen of the way to it."""
        talk = Conversation(
            encoder=Encoder(self.model.tokenizer),
            chat=self.model.tokenizer.chat,
            open_branch=self.engine.open,
        )
        talk.role("user")
        talk.text("the question")
        talk.end_role()
        talk.role("assistant")
        talk.text(prompt)
        recorder = Recorder()
        more.setdefault("stops", ("\n",))
        more.setdefault("budget", Budget(200, "test"))
        request = HoleRequest(name, str(type), language(type, TABLE), **more)
        shared = (self.vocabulary, self.constraints, request, recorder, Timing(), 4096, int, self.drafting)
        result = asyncio.run(HoleDecoder(talk, *shared).run())
        seen = recorder.seen, talk.tokens(), tuple(talk.branch.tokens)
        talk.close()
        self.engine.cache.check()
        return result, seen

    @property
    def forwards(self) -> int:
        return self.engine.statistics.forwards


def plain(result: HoleResult) -> tuple[Any, ...]:
    """The parts of a result that drafts must not change."""
    return (result.text, result.tokens, result.sampled, result.forced, result.logprob, result.ended)


@pytest.mark.slow
@settings(max_examples=examples(8), deadline=None)
@given(
    seed=st.integers(0, 10**6),
    bonus=st.sampled_from([0.0, 4.0, 15.0]),
    temperature=st.sampled_from([0.0, 0.7, 1.5]),
    types=st.lists(st.sampled_from(TYPES), min_size=1, max_size=2),
    prompt=st.sampled_from(["", "the an", 'x = {"name": "the", ', "the answer the answer the "]),
    limit=st.sampled_from([100, 30]),
)
def test_drafts_leave_no_trace(
    seed: int, bonus: float, temperature: float, types: list[Type], prompt: str, limit: int
) -> None:
    """Tokens, pieces, probabilities and ends are those without drafts; drafts are legal; no step is added."""
    drafted, alone = (Bench(CopyingExecutor(seed, bonus), drafts=drafts) for drafts in (True, False))
    for number, type in enumerate([*types, *types]):
        outcome = []
        for bench in (drafted, alone):
            try:
                result, seen = bench.fill(
                    type,
                    prompt,
                    sampling=Sampling(temperature),
                    seed=seed + number,
                    budget=Budget(limit, "test"),
                )
            except Exception as error:
                outcome.append((repr(error), None, None))
            else:
                outcome.append((plain(result), seen, result))
        assert outcome[0][:2] == outcome[1][:2]
        result = outcome[0][2]
        if result is not None:
            work = result.work
            assert 0 <= work.accepted <= work.drafted
            assert 0 <= result.saved <= result.sampled
            forced = outcome[1][2]  # what forced text becomes is sent in any case
            assert forced.work.drafted <= work.drafted and forced.saved <= result.saved
    assert drafted.forwards <= alone.forwards


def test_saved_requests_are_steps_that_were_not_taken() -> None:
    drafted, alone = (Bench(CopyingExecutor(5), drafts=drafts) for drafts in (True, False))
    saved = 0
    for number in range(12):
        for bench, sign in ((drafted, 1), (alone, -1)):
            result, _ = bench.fill(Named("Pet"), "the answer: ", seed=number, sampling=Sampling(0.3))
            saved += sign * result.saved
    assert saved == alone.forwards - drafted.forwards > 0


def test_drafts_are_led_through_the_constraint() -> None:
    bench = Bench(CopyingExecutor(3, bonus=6.0))
    drafting = bench.drafting
    assert drafting is not None
    seen: list[tuple[Any, Sequence[int]]] = []
    original = drafting.hole

    def hole(name: str, constraint: Any, lookup: Lookup) -> Any:
        drafts = original(name, constraint, lookup)

        class Watched:
            def __getattr__(self, attribute: str) -> Any:
                return getattr(drafts, attribute)

            def propose(self, tokens: list[int], masks: Any, forced: Any) -> Draft:
                found = drafts.propose(tokens, masks, forced)
                seen.append((masks.clone(), found.tokens))
                return found

        return Watched()

    drafting.hole = hole  # type: ignore[assignment]
    for number in range(8):
        bench.fill(ListOf(Named("Pet"), 1, 3), seed=number, sampling=Sampling(0.8))
    assert any(found for _, found in seen)
    for masks, found in seen:
        assert len(found) <= LONGEST
        for token in found:
            assert masks.accept(token)


def test_what_was_written_in_earlier_fills_is_drafted() -> None:
    """A model without memory of other texts fills a hole the same way each time."""
    bench = Bench(CopyingExecutor(2, bonus=0.0))
    steps = []
    for _ in range(4):
        before = bench.forwards
        first, _ = bench.fill(Named("Pet"))
        steps.append(bench.forwards - before)
    assert first.sampled >= 4
    assert steps[0] == first.sampled and steps[-1] <= steps[0] // 2


def test_forced_text_behind_a_guess_is_paid_for_by_the_step_that_it_saves() -> None:
    """Rows are dear, but those of forced text have to be computed in any case."""
    bench = Bench(CopyingExecutor(2, bonus=0.0), lambda rows: 0.008 + 0.0013 * rows)
    steps = []
    for _ in range(12):
        before = bench.forwards
        result, _ = bench.fill(Named("Long"))
        steps.append(bench.forwards - before)
    assert steps[0] == result.sampled == 5 and steps[-1] == 2


def test_nothing_is_drafted_where_a_value_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that is complete after its next token needs no step after it: drafts would be for nothing."""
    sent: list[Draft] = []
    original = Drafts.propose

    def noted(self: Drafts, *given: Any) -> Draft:
        sent.append(original(self, *given))
        return sent[-1]

    monkeypatch.setattr(Drafts, "propose", noted)
    bench = Bench(CopyingExecutor(2, bonus=0.0))
    for _ in range(4):
        sent.clear()
        result, _ = bench.fill(ListOf(Bool(), 1, 1), stops=("!",))
    assert result.ended == "complete" and result.sampled == 1 and [list(each.tokens) for each in sent] == [[]]


@pytest.mark.parametrize(
    ("type", "width"), [(Str(max_chars=9), 0), (Int(1, 99), 1), (Named("Pet"), 2), (Bool(), 2)]
)
def test_places_are_told_apart_by_how_many_bytes_may_come(type: Type, width: int) -> None:
    matcher = compile_constraint(language=language(type, TABLE)).matcher(small_tokenizer().vocabulary())
    assert TransitionHistory().narrowness(matcher) == width


def test_prices_are_those_of_steps_in_which_all_sequences_draft() -> None:
    cost = StepCost()
    for rows in (1, 2, 4, 8, 16, 64):
        cost.record(rows, 0.01 + 0.001 * rows)
    assert cost.prices(3, 5)[:3] == [cost.estimate(3 + 4), cost.estimate(6 + 4), cost.estimate(9 + 4)]
    assert len(cost.prices(1, 1)) > LONGEST + AHEAD
    cost.record(8, 0.001)
    assert cost.prices(3, 5)[0] == cost.estimate(7)


def test_a_text_that_repeats_is_drafted_from_itself() -> None:
    bench = Bench(CopyingExecutor(1, bonus=40.0))
    result, _ = bench.fill(Str(min_chars=150, max_chars=200), "the answer is there, the an")
    assert result.sampled > 30 and bench.forwards < result.sampled / 3


def test_hardly_anything_is_drafted_where_every_row_costs_a_step() -> None:
    bench = Bench(CopyingExecutor(1, bonus=40.0), steep)
    sampled = 0
    for _ in range(4):
        result, _ = bench.fill(Str(min_chars=150, max_chars=200), "the answer is there, the an")
        sampled += result.sampled
    assert sampled > 200
    assert bench.engine.statistics.drafted <= sampled // 5  # to learn, now and then, what rows cost


def test_hardly_anything_is_drafted_in_batches_that_use_all_rows() -> None:
    """The price is flat up to eight rows: alone a text is drafted, among eight others it is not."""
    counts = []
    for sequences in (1, 8):
        bench = Bench(CopyingExecutor(1, bonus=40.0), lambda rows: 0.001 * max(8, rows), among=sequences)
        result, _ = bench.fill(Str(min_chars=150, max_chars=200), "the answer is there, the an")
        counts.append(result.work.drafted)
    assert counts[0] > 20 and counts[1] < 8  # a few, to learn what more rows cost


@pytest.mark.slow
def test_where_drafts_are_not_worth_it_nothing_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a large batch few requests are guessed for; alone, the hole is drafted again, with equal texts."""
    guesses = [0]
    original = Drafts._guess

    def counted(self: Drafts, *given: Any) -> None:
        guesses[0] += 1
        original(self, *given)

    monkeypatch.setattr(Drafts, "_guess", counted)
    bench, alone = (Bench(CopyingExecutor(1, bonus=5.0), among=among) for among in (32, 1))
    monkeypatch.setattr(bench.cost, "estimate", lambda rows: 0.009 + 0.0016 * rows)

    def fill(times: int) -> tuple[float, float]:
        """The share of requests with guesses, and that of requests that no step was needed for."""
        before, sampled, saved = guesses[0], 0, 0
        for number in range(times):
            given = {"seed": number, "sampling": Sampling(0.9)}
            result, _ = bench.fill(Str(min_chars=150, max_chars=200), "the answer is there, the an", **given)
            sampled += result.sampled
            saved += result.saved
        return (guesses[0] - before) / sampled, saved / sampled

    fill(8)
    guessed, _ = fill(16)
    assert 0 < guessed < 0.25
    bench.cost.among = 1
    fill(4)
    guessed, saved = fill(4)
    assert guessed + saved > 0.8 and saved > 0.2
    assert bench.fill(Str(), "the answer", seed=3)[1] == alone.fill(Str(), "the answer", seed=3)[1]


@pytest.mark.slow
def test_drafts_that_fail_are_given_up() -> None:
    """The text repeats in the prompt, but the model never goes on as before."""
    bench = Bench(CopyingExecutor(4, bonus=-40.0), lambda rows: 0.004 + 0.0008 * rows)
    share = []
    for number in range(8):
        result, _ = bench.fill(
            Str(min_chars=60, max_chars=200),
            "the answer is there, the answer is",
            seed=number,
            sampling=Sampling(1.0),
        )
        share.append(result.work.drafted / result.sampled)
    assert sum(share[4:]) / 4 < 0.15


def test_histories_of_few_holes_are_kept() -> None:
    bench = Bench(CopyingExecutor(2, bonus=0.0))
    assert bench.drafting is not None
    bench.fill(Named("Mood"), name="first")
    lookup, constraint = Lookup(), compile_constraint(language=language(Bool(), TABLE))
    for number in range(MOST_HOLES - 1):
        bench.drafting.hole(f"hole {number}", constraint, lookup)
    kept = bench.drafting.hole("hole 0", constraint, lookup)._history
    bench.drafting.hole("one more", constraint, lookup)
    bench.drafting.hole("and one more", constraint, lookup)
    assert len(bench.drafting._holes) == MOST_HOLES
    assert bench.drafting.hole("hole 0", constraint, lookup)._history is kept
    assert not any(name == "first" for _, name in bench.drafting._holes)


# -- whole programs ----------------------------------------------------------------------------------

PROGRAMS = """
enum Mood: calm, cheerful, worried

record Note:
    who: str matching /[a-z]{2,6}( [a-z]{2,6}){0,2}/
    mood: Mood
    pages: [int in 1..40; 1..3]

pure fn short(text: str) -> alive | dead | final:
    return dead if len(text) > 24 else final

## Several holes, a choice, a validator and a retry.
pub fn notes(text: str) -> str:
    user: | ${text} ${text}
    assistant:
        | The first: ?{first: Note}
        | The second: ?{second: Note}
        | In short: ?{line: str max 40 chars where short(line)}
        | It is ?{kind: "a letter" | "a list" | "a lament"}
        | ?{number: int in 1..99}
        ensure number > 60 else "too small"
            retry 2 resample
    return "${first} ${second} ${line} ${kind} ${number}"
"""


@pytest.mark.slow
def test_programs_write_the_same_with_drafts() -> None:
    program = compile_source(Source("notes.sgl", PROGRAMS)).program
    assert program is not None
    outcomes, drafted = [], 0
    for speculate in (True, False):
        model = CopyingExecutor(3, bonus=9.0)
        engine = open_engine(model, memory=400 * model.block_bytes, speculate=speculate)
        if speculate:
            engine.cost = PricedCost(flat)
        assert (engine.cost is not None) is speculate
        session = Session(program, engine)

        async def run(session: Session, seed: int) -> Any:
            try:
                result = await session.run("notes", {"text": "the answer is there"}, seed=seed)
            except SglError as error:
                return error.name, error.partial
            return result.value, result.text, result.statistics.output_tokens

        outcomes.append([asyncio.run(run(session, seed)) for seed in range(6)])
        drafted += engine.statistics.accepted
        engine.cache.check()
        engine.close()
    assert outcomes[0] == outcomes[1]
    assert drafted > 0


def test_drafts_are_asked_for_where_results_stay_the_same_to_the_bit() -> None:
    model = CopyingExecutor()
    assert open_engine(model, memory=1 << 20).cost is not None
    assert open_engine(model, memory=1 << 20, speculate=False).cost is None
    model.invariant = False
    assert open_engine(model, memory=1 << 20).cost is None
    assert open_engine(model, memory=1 << 20, speculate=True).cost is not None
