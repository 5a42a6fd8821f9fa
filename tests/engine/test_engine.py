"""The engine: branches, forks and cuts always see the logits of their own tokens, whatever else runs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglc.runtime.engine.core.errors import ContextOverflow, QueueFull
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.engine.scheduling.branch import Branch
from sglc.runtime.tokenizer import Tokenizer

SIZE = 16


class ListCache:
    """Remembers tokens; stands for keys and values."""

    def __init__(self, tokens: list[int] | None = None) -> None:
        self.tokens = tokens or []

    @property
    def length(self) -> int:
        return len(self.tokens)

    def clone(self) -> ListCache:
        return ListCache(list(self.tokens))

    def truncate(self, length: int) -> None:
        del self.tokens[length:]


def expected_logits(tokens: Sequence[int]) -> np.ndarray:
    """Logits that depend on every token and on their order."""
    state = 7
    for token in tokens:
        state = (state * 31 + token + 1) % 1_000_003
    return np.array([(state * (id + 3)) % 101 / 10 for id in range(SIZE)], np.float32)


class ListModel:
    """A model whose logits are a known function of the tokens in the cache."""

    name = "list"
    context_length = 50

    def __init__(self) -> None:
        self.tokenizer = Tokenizer.of_bytes()
        self.fed: list[list[int]] = []
        self.fail_after: int | None = None
        self.gate: threading.Event | None = None

    def new_cache(self) -> ListCache:
        return ListCache()

    def forward(self, cache: ListCache, tokens: Sequence[int], every: bool = False) -> np.ndarray:
        if self.gate is not None:
            assert self.gate.wait(10)
        rows = []
        self.fed.append(list(tokens))
        for count, token in enumerate(tokens):
            if count == self.fail_after:
                raise RuntimeError("out of memory")
            cache.tokens.append(token)
            rows.append(expected_logits(cache.tokens))
        return np.stack(rows) if every else rows[-1]


@pytest.fixture
def model() -> ListModel:
    return ListModel()


@pytest.fixture
def engine(model: ListModel) -> Iterator[ReferenceEngine]:
    engine = ReferenceEngine(model)
    yield engine
    engine.close()


def run(job: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(job)


def branch_of(engine: ReferenceEngine, tokens: Sequence[int]) -> Branch:
    branch = engine.branch()
    branch.append(tokens)
    return branch


def test_pending_tokens_go_in_one_forward_pass(engine: ReferenceEngine, model: ListModel) -> None:
    async def job() -> None:
        branch = branch_of(engine, [1, 2])
        branch.append([3])
        assert (await branch.logits() == expected_logits([1, 2, 3])).all()
        branch.append([4])
        assert (await branch.logits() == expected_logits([1, 2, 3, 4])).all()
        await branch.logits()

    run(job())
    assert model.fed == [[1, 2, 3], [4]]
    assert (engine.statistics.forwards, engine.statistics.tokens_fed) == (2, 4)
    assert engine.statistics.tokens_reused == 3


def test_after_a_cut_only_what_changed_is_fed(engine: ReferenceEngine, model: ListModel) -> None:
    async def job() -> None:
        branch = branch_of(engine, [1, 2, 3, 4])
        await branch.logits()
        branch.rollback(2)
        branch.append([3, 9])
        assert (await branch.logits() == expected_logits([1, 2, 3, 9])).all()
        branch.rollback(3)
        assert (await branch.logits() == expected_logits([1, 2, 3])).all()

    run(job())
    assert model.fed == [[1, 2, 3, 4], [9], [3]]


def test_forks_share_what_the_model_has_seen(engine: ReferenceEngine, model: ListModel) -> None:
    async def job() -> None:
        first = branch_of(engine, [1, 2, 3])
        await first.logits()
        second, third = first.fork(), first.fork()
        second.append([4])
        third.append([5])
        first.append([6])
        for branch in (second, third, first):
            assert (await branch.logits() == expected_logits(branch.tokens)).all()
        assert second.statistics is first.statistics

    run(job())
    assert model.fed == [[1, 2, 3], [4], [5], [6]]
    assert engine.statistics.copies == 2


def test_the_last_branch_needs_no_copy(engine: ReferenceEngine) -> None:
    async def job() -> None:
        first = branch_of(engine, [1, 2])
        await first.logits()
        second = first.fork()
        first.close()
        second.append([3])
        assert (await second.logits() == expected_logits([1, 2, 3])).all()

    run(job())
    assert engine.statistics.copies == 0


def test_scores_are_log_probabilities_and_leave_the_branch_alone(engine: ReferenceEngine) -> None:
    async def job() -> tuple[list[float], list[float]]:
        branch = branch_of(engine, [1, 2])
        other = branch.fork()
        scores = await branch.score([5, 3, 3])
        assert branch.tokens == [1, 2]
        assert (await branch.logits() == expected_logits([1, 2])).all()
        assert (await other.logits() == expected_logits([1, 2])).all()
        return scores, await branch.score([])

    scores, none = run(job())
    expected = []
    for prefix, token in (([1, 2], 5), ([1, 2, 5], 3), ([1, 2, 5, 3], 3)):
        row = expected_logits(prefix).astype(np.float64)
        expected.append(float(row[token] - np.log(np.exp(row).sum())))
    assert scores == pytest.approx(expected, abs=1e-5)
    assert none == []


def test_a_context_that_is_full_is_a_typed_error(engine: ReferenceEngine, model: ListModel) -> None:
    with pytest.raises(ContextOverflow) as found:
        run(branch_of(engine, range(51)).logits())
    assert (found.value.tokens, found.value.limit) == (51, 50)
    with pytest.raises(ContextOverflow):
        run(branch_of(engine, range(50)).score([1, 2]))
    run(branch_of(engine, range(50)).score([1]))
    with pytest.raises(ValueError, match="at least one token"):
        run(engine.branch().logits())
    with pytest.raises(ValueError, match="cannot keep"):
        engine.branch().rollback(1)


def test_a_failed_pass_leaves_no_trace(engine: ReferenceEngine, model: ListModel) -> None:
    async def job() -> None:
        branch = branch_of(engine, [1, 2])
        await branch.logits()
        branch.append([3, 4, 5])
        model.fail_after = 2
        with pytest.raises(RuntimeError):
            await branch.logits()
        model.fail_after = None
        assert (await branch.logits() == expected_logits([1, 2, 3, 4, 5])).all()

    run(job())


def test_giving_up_a_request_harms_nobody(engine: ReferenceEngine, model: ListModel) -> None:
    async def job() -> None:
        model.gate = threading.Event()
        branch, other = branch_of(engine, [1, 2, 3]), branch_of(engine, [4])
        tasks = [asyncio.create_task(found.logits()) for found in (branch, other)]
        await asyncio.sleep(0.01)
        tasks[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await tasks[0]
        branch.rollback(1)
        branch.append([9])
        model.gate.set()
        assert (await tasks[1] == expected_logits([4])).all()
        assert (await branch.logits() == expected_logits([1, 9])).all()

    run(job())


def test_the_event_loop_stays_alive_during_a_pass(engine: ReferenceEngine, model: ListModel) -> None:
    async def job() -> None:
        model.gate = threading.Event()
        task = asyncio.create_task(branch_of(engine, [1]).logits())
        for _ in range(5):
            await asyncio.sleep(0)
        assert not task.done()
        model.gate.set()
        assert (await task == expected_logits([1])).all()

    run(job())


def test_the_queue_has_a_bound_where_one_is_set(model: ListModel) -> None:
    engine = ReferenceEngine(model, max_queue=1)

    async def job() -> None:
        model.gate = threading.Event()
        task = asyncio.create_task(branch_of(engine, [1]).logits())
        await asyncio.sleep(0)
        with pytest.raises(QueueFull):
            await branch_of(engine, [2]).logits()
        model.gate.set()
        await task
        await branch_of(engine, [2]).logits()

    run(job())
    engine.close()


def test_an_engine_serves_one_event_loop_after_another(engine: ReferenceEngine) -> None:
    for token in range(3):
        assert (run(branch_of(engine, [token]).logits()) == expected_logits([token])).all()


def test_logits_are_read_only(engine: ReferenceEngine) -> None:
    row = run(branch_of(engine, [1]).logits())
    with pytest.raises(ValueError, match="read-only"):
        row[0] = 1.0


token_lists = st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=4)
steps = st.one_of(
    st.tuples(st.just("append"), st.integers(0, 5), token_lists),
    st.tuples(st.just("rollback"), st.integers(0, 5), st.integers(1, 5)),
    st.tuples(st.just("fork"), st.integers(0, 5), st.none()),
    st.tuples(st.just("close"), st.integers(0, 5), st.none()),
    st.tuples(st.just("logits"), st.integers(0, 5), st.none()),
    st.tuples(st.just("together"), st.none(), st.none()),
    st.tuples(st.just("score"), st.integers(0, 5), token_lists),
)


@pytest.mark.slow
@given(st.lists(steps, max_size=25))
def test_any_sequence_of_steps_gives_the_logits_of_the_tokens(sequence: list[tuple[str, Any, Any]]) -> None:
    """The oracle is a list of tokens for each branch."""
    model = ListModel()
    model.context_length = 10_000
    engine = ReferenceEngine(model)

    async def check(branch: Branch, tokens: list[int]) -> None:
        if tokens:
            assert (await branch.logits() == expected_logits(tokens)).all()

    async def job() -> None:
        branches: list[tuple[Branch, list[int]]] = [(engine.branch(), [])]
        for action, which, detail in sequence:
            branch, tokens = branches[(which or 0) % len(branches)]
            if action == "append":
                branch.append(detail)
                tokens.extend(detail)
            elif action == "rollback":
                length = max(0, len(tokens) - detail)
                branch.rollback(length)
                del tokens[length:]
            elif action == "fork":
                branches.append((branch.fork(), list(tokens)))
            elif action == "close":
                branch.close()
                tokens.clear()
            elif action == "logits":
                await check(branch, tokens)
            elif action == "together":
                await asyncio.gather(*(check(*found) for found in branches))
            elif tokens:
                await branch.score(detail)
            assert branch.tokens == tokens
        await asyncio.gather(*(check(*found) for found in branches))

    run(job())
    engine.close()
