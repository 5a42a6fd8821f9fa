"""Pairs of branches: the second has the tokens of the first behind its own, whatever that went through."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import numpy as np
import pytest

from fakes.engine_bench import EngineBench
from fakes.fake_executor import expected_logits
from fakes.small_models import FickleModel
from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.decoding.conversations.conversation_pair import ConversationPair
from sglc.runtime.decoding.conversations.encoder import Encoder
from sglc.runtime.engine.core.errors import EngineError
from sglc.runtime.engine.pairs import BranchPair


def expected(tokens: list[int], bench: EngineBench) -> np.ndarray:
    return expected_logits(tokens, bench.executor.size)


@pytest.mark.parametrize("engines", [1, 2])
def test_the_second_follows_through_cuts_and_new_alignments(engines: int) -> None:
    async def wander(seed: int) -> None:
        rng = random.Random(seed)
        benches = [EngineBench() for _ in range(engines)]
        first, second = benches[0].branch([1, 2, 3]), benches[-1].branch([9, 3])
        pair = BranchPair(first, second)
        own, other, at = [1, 2, 3], [9, 3], 3
        for _ in range(30):
            move = rng.random()
            if move < 0.5:
                added = [rng.randrange(20) for _ in range(rng.randrange(1, 4))]
                pair.append(added)
                own += added
            elif move < 0.7:
                length = rng.randrange(at, len(own) + 1)
                pair.rollback(length)
                del own[length:]
            elif move < 0.8:  # as where text is tokenised anew
                other += own[at:]
                second.rollback(0)
                second.append(other)
                pair.align()
                at = len(own)
            rows = await pair.logits()
            assert pair.tokens == own
            assert np.array_equal(rows[0], expected(own, benches[0]))
            assert np.array_equal(rows[1], expected([*other, *own[at:]], benches[-1]))
        if engines == 1:
            assert benches[0].engine.measure.largest == 2

    for seed in range(5):
        asyncio.run(wander(seed))


def test_tokens_that_both_end_with_can_be_taken_back() -> None:
    async def job() -> None:
        bench = EngineBench()
        pair = BranchPair(bench.branch([1, 2, 5, 6]), bench.branch([8, 5, 6]))
        pair.rollback(2)
        pair.append([7])
        rows = await pair.logits()
        assert np.array_equal(rows[1], expected([8, 7], bench))
        pair.rollback(1)  # 2 is no end of the second
        with pytest.raises(AssertionError, match="cannot follow"):
            await pair.logits()

    asyncio.run(job())


def test_work_for_both_is_counted_once_a_step() -> None:
    async def job() -> None:
        bench = EngineBench()
        pair = BranchPair(bench.branch([1, 2]), bench.branch([3]))
        with pair.apart() as work:
            await pair.logits()
            pair.append([4])
            await pair.logits()
        assert (work.forwards, work.tokens_fed) == (2, 5)

    asyncio.run(job())


def test_a_fault_of_one_gives_up_the_other() -> None:
    async def job() -> None:
        bench = EngineBench()
        long = bench.branch([1] * 5000)
        for pair in (BranchPair(bench.branch([1]), long), BranchPair(long, bench.branch([1]))):
            with pytest.raises(EngineError):
                await pair.logits()
        assert len(asyncio.all_tasks()) <= 2  # this one, and the engine's

    asyncio.run(job())


# -- conversations -----------------------------------------------------------------------------------


def talk(bench: EngineBench, *messages: tuple[str, str]) -> Conversation:
    tokenizer = FickleModel().tokenizer
    made = Conversation(
        encoder=Encoder(tokenizer), chat=tokenizer.chat, open_branch=lambda _: bench.engine.branch()
    )
    for role, text in messages:
        if role:
            made.role(role)
        made.text(text)
    return made


@pytest.mark.parametrize(
    ("first", "second", "most"),
    [
        ([("user", "one"), ("assistant", "the answer ")], [("user", ""), ("assistant", "the answer ")], None),
        ([("assistant", "x the")], [("assistant", "y the")], 1),
        ([("assistant", "same")], [("assistant", "other")], 0),
        ([("", "the end")], [("", "the end")], None),
    ],
)
def test_both_have_what_may_be_taken_back(first: Any, second: Any, most: int | None) -> None:
    bench = EngineBench()
    pair = ConversationPair(talk(bench, *first), talk(bench, *second))
    pair.start()
    pair.sync()
    floor = pair.floor()
    one, two = pair.base.branch.tokens, pair.teacher.branch.tokens
    back = len(one) - floor
    assert floor >= pair.base.floor() and one[floor:] == two[len(two) - back :]
    if most is None:
        assert floor == pair.base.floor()
    else:
        assert back <= most


def test_one_conversation_is_a_pair_with_itself() -> None:
    async def job() -> None:
        bench = EngineBench()
        alone = talk(bench, ("user", "a"), ("assistant", "b"))
        pair = ConversationPair(alone, alone)
        pair.start()
        rows = await pair.sync().logits()
        assert np.array_equal(rows[0], rows[1]) and bench.engine.measure.largest == 1
        pair.text("c")
        assert alone.state.message == "bc" and pair.floor() == alone.floor()

    asyncio.run(job())
