"""Holes that are filled with trees of drafts: the texts are those without, and trees grow where they pay."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from fakes.copying_executor import CopyingExecutor
from fakes.draft_bench import DRAFTS, SAMPLINGS, Bench, draft_of, engine_of, plain
from fakes.noisy_executor import NoisyExecutor
from sglc.runtime.decoding.lookahead import HoleLookahead
from sglc.runtime.decoding.requests import Budget, Constraints, HoleRequest
from sglc.runtime.engine.drafting import draft_model
from sglc.runtime.engine.drafting.draft_model import DraftModel
from sglc.runtime.engine.drafting.drafts import Drafts
from sglc.runtime.engine.drafting.kinds import BELIEFS
from sglc.runtime.engine.drafting.prompt_lookup import Lookup
from sglc.runtime.engine.drafting.transition_history import Rates, TransitionHistory
from sglc.runtime.engine.drafting.tree import LONGEST, DraftTree
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.scheduling.draft import Draft
from sglc.runtime.errors import SglError
from sglc.types.language.language import language
from sglc.types.type import ListOf, Named, Str, Type
from strategies.sample_types import TABLE, TYPES

TEXT = Str(min_chars=80, max_chars=110)


@pytest.fixture(autouse=True)
def no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft_model, "OVERHEAD", 2e-5)
    monkeypatch.setattr(DraftModel, "record", lambda self, *_: None)


def free(rows: int) -> float:
    """Nothing of a step but its begin costs anything: trees grow as large as they may."""
    return 0.004


def cheap(rows: int) -> float:
    """A step of the draft model costs next to nothing."""
    return 1e-6


def priced(share: float) -> Any:
    """A row more costs that share of a step."""
    return lambda rows: 0.004 * (1 + share * (rows - 1))


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, Draft]]:
    """What was sent: the matcher of the value where it begins, and the draft."""
    seen: list[tuple[Any, Draft]] = []
    propose, extend = Drafts.propose, Drafts.extend

    def proposed(self: Drafts, tokens: list[int], value: Any, forced: Any = ()) -> Draft:
        found = propose(self, tokens, value, forced)
        seen.append((value.clone(), found))
        return found

    async def extended(self: Drafts, ahead: Any) -> Draft:
        found = await extend(self, ahead)
        seen[-1] = (seen[-1][0], found)
        return found

    monkeypatch.setattr(Drafts, "propose", proposed)
    monkeypatch.setattr(Drafts, "extend", extended)
    return seen


def target(seed: int, bonus: float = 0.0, trees: bool = True) -> CopyingExecutor:
    return CopyingExecutor(seed, bonus, trees)


@pytest.mark.slow
@settings(max_examples=examples(8), deadline=None)
@given(
    seed=st.integers(0, 10**6),
    bonus=st.sampled_from([0.0, 4.0]),
    sampling=SAMPLINGS,
    kind=st.one_of(DRAFTS, st.none()),
    types=st.lists(st.sampled_from(TYPES), min_size=1, max_size=2),
    prompt=st.sampled_from(["", "the an", 'x = {"name": "the", ', "the answer the answer the "]),
    limit=st.sampled_from([100, 30]),
    row=st.sampled_from([0.0, 0.02, 0.3]),
)
def test_trees_leave_no_trace(
    seed: int,
    bonus: float,
    sampling: Sampling,
    kind: str | None,
    types: list[Type],
    prompt: str,
    limit: int,
    row: float,
) -> None:
    """Tokens, pieces, probabilities and ends are those without drafts, whatever is drafted: ends within a
    branch, branches beyond an end, text that is forced behind siblings, budgets that run out."""
    draft = None if kind is None else draft_of(kind, seed, bonus)
    drafted = Bench(engine_of(target(seed, bonus), draft, cheap, priced(row)))
    alone = Bench(engine_of(target(seed, bonus, False), None))
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
    assert drafted.engine.get_cache_stats().held == 0


def paths(draft: Draft) -> list[list[int]]:
    """The tokens from the root to each token of a draft."""
    found: list[list[int]] = []
    for number, token in enumerate(draft.tokens):
        parent = draft.parents[number] if draft.parents else number - 1
        found.append([*(found[parent] if parent >= 0 else ()), token])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("type", [TEXT, ListOf(Named("Pet"), 1, 3)], ids=["text", "list"])
def test_every_path_is_legal_and_none_stands_twice(sent: list[tuple[Any, Draft]], type: Type) -> None:
    bench = Bench(engine_of(target(3), NoisyExecutor(3, 0.0, 1.0), cheap, free))
    for number in range(2):
        bench.fill(type, seed=number, sampling=Sampling(0.8 * (number % 2)), name=f"f.{number % 2}")
    branching = [draft for _, draft in sent if draft.parents]
    assert len(branching) > 1 and max(len(draft.tokens) for _, draft in sent) <= LONGEST
    for value, draft in sent:
        found = paths(draft)
        assert len(set(map(tuple, found))) == len(found)
        assert all(-1 <= parent < number for number, parent in enumerate(draft.parents))
        for path in found:
            twin = value.clone()
            assert all(twin.accept(token) for token in path)
        # The first path stands first, and no beginning of it is the whole draft.
        assert not draft.parents or 0 < draft.trunk < len(draft.tokens)


def test_two_sources_that_guess_one_token_are_no_siblings() -> None:
    """It is drafted once, and both guesses are compared with what comes."""
    tokenizer = CopyingExecutor(1).tokenizer
    tokens = tokenizer.encode("the answer the answer the")
    matcher = Constraints().value(HoleRequest("f.x", "text", language(TEXT, TABLE)))
    value = matcher.matcher(tokenizer.vocabulary())
    lookup, history, rates = Lookup(), TransitionHistory(), Rates(BELIEFS)
    lookup.follow(tokens)
    found = lookup[lookup.find()[0]]
    other = next(token for token in value.allowed().tolist() if token != found)
    for continuation, branches in (((found,), False), ((other,), True)):
        history.learn(value.config, tokens[-2], tokens[-1], continuation)
        prices = [1.0] * 28
        tree = DraftTree(lookup, history, rates, lambda *_: ((), b""), value, prices, 1.0, branches=True)
        tree.go_on()
        draft = tree.draft(len(tree.tokens))[0]
        roots = [token for number, token in enumerate(draft.tokens) if draft.follows(number, -1)]
        assert sorted(roots) == (sorted([found, other]) if branches else [found])
        assert any(node < 0 for node, _, _ in tree.others) is not branches
        history = TransitionHistory()


def counted(row: float, draft_price: float, trees: bool, noise: float = 1.0) -> float:
    """Tokens of a text by steps of the target; a row and a step of the draft model have those shares of a
    step."""
    prices = (lambda rows: 0.004 * draft_price, priced(row))
    bench = Bench(engine_of(target(3, trees=trees), NoisyExecutor(3, 0.0, noise), *prices))
    drawn = 0
    for number in range(3):
        result, _ = bench.fill(TEXT, seed=number, sampling=Sampling(0.8))
        drawn += result.sampled
    return drawn / bench.engine.statistics.forwards


@pytest.mark.slow
def test_where_rows_are_free_a_tree_gives_more_tokens_a_step_than_a_chain() -> None:
    assert counted(0.0, 1e-4, True) > 1.2 * counted(0.0, 1e-4, False)


@pytest.mark.slow
@pytest.mark.parametrize(("row", "branches"), [(0.002, True), (0.35, False)])
def test_prices_decide_whether_a_draft_branches(
    sent: list[tuple[Any, Draft]], row: float, branches: bool
) -> None:
    """No switch: a second token comes in less than a third of places here. Where a row costs less than that
    of a step, drafts branch; where it costs more they are mostly the chains of an executor without trees."""
    found = counted(row, 0.05, True)
    mine = [draft for _, draft in sent if draft.tokens]
    branching = sum(len(draft.parents) > 0 for draft in mine)
    if branches:
        assert branching > 0.9 * len(mine) > 30
    else:
        assert branching < 0.05 * len(mine) > 5
        assert found == pytest.approx(counted(row, 0.05, False), rel=0.03)


@pytest.mark.slow
def test_siblings_are_the_next_best_of_logits_and_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Among the legal tokens the largest sums of logit / temperature and the noise of seed and position; and
    by how much a sibling is behind is the difference of the sums."""
    from sglc.kernels.bitmask.sampling_reference import gumbel
    from sglc.runtime.engine.sampling.sampler import noise_key

    draws: list[tuple[Any, Any, Any, Any]] = []
    original = HoleLookahead.draw

    async def noted(self: HoleLookahead, branch: Any, besides: Any = ()) -> Any:
        found = await original(self, branch, besides)
        state = list(self.tokens), self._legal.matcher.mask().copy(), self._sampling.position
        draws.append((self, state, list(besides), found))
        if besides:
            first = next(each[3] for each in reversed(draws) if not each[2])
            leads.append((self.lead(first, found), first.token, found.token, state))
        return found

    leads: list[tuple[float, int, int, Any]] = []
    ends = set(NoisyExecutor(3).tokenizer.vocabulary().end_ids)
    monkeypatch.setattr(HoleLookahead, "draw", noted)
    model = NoisyExecutor(3, 0.0, 1.0)
    bench = Bench(engine_of(target(3), model, cheap, free))
    for warmth in (0.0, 0.7):
        bench.fill(TEXT, seed=5, sampling=Sampling(warmth))
        siblings = [each for each in draws if each[2]]
        assert len(siblings) > 20
        sums = {}
        for _, (tokens, words, position), besides, found in siblings:
            legal = np.unpackbits(words.view(np.uint8), bitorder="little")[: model.tokenizer.size] > 0
            ids = np.flatnonzero(legal).astype(np.int32)
            scores = model.row(tokens)[ids] / np.float32(warmth or 1.0)
            if warmth:
                scores = scores + gumbel(ids, noise_key(5, position))
            ranked = [int(ids[at]) for at in np.argsort(-scores, kind="stable")]
            # What the tokenizer would not write is left out, of the best ones too. Ends have no mask here.
            known = [ranked.index(each) for each in (*besides, found.token) if each not in ends]
            assert known == sorted(known)
            sums[tuple(tokens)] = dict(zip(ids.tolist(), scores.tolist(), strict=True))
        for lead, first, other, (tokens, _, _) in leads:
            assert lead >= -1e-4
            if {first, other} & ends:
                continue
            assert lead == pytest.approx(sums[tuple(tokens)][first] - sums[tuple(tokens)][other], abs=1e-3)
        draws.clear()
        leads.clear()


@pytest.mark.slow
def test_fills_at_the_same_time_have_trees_of_different_shapes_in_one_step(
    sent: list[tuple[Any, Draft]],
) -> None:
    """Texts are those of each alone; one that is cancelled leaves the others, and no block, behind."""
    alone = Bench(engine_of(target(3, trees=False), None))
    kinds = [TEXT, ListOf(Named("Pet"), 1, 3), Str(max_chars=30), TEXT]
    given = [{"seed": n, "sampling": Sampling(0.8), "name": f"f.{n}"} for n in range(4)]
    expected = [plain(alone.fill(kind, **more)[0]) for kind, more in zip(kinds, given, strict=True)]
    bench = Bench(engine_of(target(3), NoisyExecutor(3, 0.0, 1.0), cheap, free))

    async def together(stop: int) -> list[Any]:
        jobs = [
            asyncio.ensure_future(bench.fill_soon(kind, **more))
            for kind, more in zip(kinds, given, strict=True)
        ]
        for _ in range(stop):
            await asyncio.sleep(0)
        if stop:
            jobs[0].cancel()
        return await asyncio.gather(*jobs, return_exceptions=True)

    for stop in (0, 11, 60):
        found = asyncio.run(together(stop))
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert (stop and not number and isinstance(one, BaseException)) or plain(one[0]) == other
        bench.check()
        assert bench.engine.get_cache_stats().held == bench.engine.draft.get_cache_stats().held == 0
    shapes = {tuple(draft.parents) for _, draft in sent if draft.parents}
    assert len(shapes) > 10 and bench.engine.measure.largest >= 3
