"""`select`: what is scored, and the probabilities that the ways of scoring make of it."""

from __future__ import annotations

import asyncio
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.small_models import FickleModel, small_tokenizer
from sglc.kernels.bitmask.sampling import masked_log_sum_exp
from sglc.runtime.decoding.conversations.conversation import Conversation, Encoder
from sglc.runtime.decoding.filling.scores import Scores, score, shared_length
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.vm.holes.selection import greedy, softmax


def scores(**options: float) -> Scores:
    """Options spelled as letters, each letter a token; the value is the probability of each of its tokens."""
    return Scores(
        tuple(tuple(map(ord, name)) for name in options),
        tuple(tuple(math.log(p) for _ in name) for name, p in options.items()),
    )


def test_the_walk_takes_the_likelier_branch_at_each_fork() -> None:
    # b alone beats a, though ax and ay together are likelier than b
    found = Scores(
        ((1, 3), (1, 4), (2,)),
        ((math.log(0.4), math.log(0.9)), (math.log(0.4), math.log(0.1)), (math.log(0.5),)),
    )
    top, probabilities = greedy(found)
    assert top == 2
    assert probabilities == pytest.approx([0.4 / 0.9 * 0.9, 0.4 / 0.9 * 0.1, 0.5 / 0.9])


def test_an_option_that_is_the_beginning_of_another_has_what_is_left_over() -> None:
    found = Scores(((1,), (1, 2)), ((math.log(0.5),), (math.log(0.5), math.log(0.2))))
    top, probabilities = greedy(found)
    assert top == 0
    assert probabilities == pytest.approx([0.8, 0.2])


@given(
    st.lists(
        st.tuples(st.text("abc", min_size=1, max_size=4), st.floats(0.01, 0.3)),
        min_size=1,
        max_size=8,
        unique_by=lambda pair: pair[0],
    )
)
def test_probabilities_sum_to_one(options: list[tuple[str, float]]) -> None:
    found = scores(**dict(options))
    top, probabilities = greedy(found)
    assert sum(probabilities) == pytest.approx(1)
    assert 0 <= top < len(options)
    assert sum(softmax(found.sums())) == pytest.approx(1)


def test_options_that_are_impossible_are_equally_likely() -> None:
    assert softmax([-math.inf, -math.inf]) == [0.5, 0.5]


def test_what_all_options_share_is_not_scored() -> None:
    assert shared_length([(1, 2, 3), (1, 2, 4)]) == 2
    assert shared_length([(1, 2), (1, 2, 4)]) == 1
    assert shared_length([(7, 8)]) == 1


@pytest.mark.parametrize("role", ["assistant", ""])
@pytest.mark.parametrize("prompt", ["", "the", "the ", "Answer: ", "t", "an"])
def test_scores_are_those_of_the_jointly_tokenised_text(prompt: str, role: str) -> None:
    tokenizer = small_tokenizer()
    tokenizer.bos_id = None
    engine = ReferenceEngine(FickleModel(5))
    talk = Conversation(
        encoder=Encoder(tokenizer), chat=tokenizer.chat, open_branch=lambda tokens: engine.branch()
    )
    if role:
        talk.role(role)
    talk.text(prompt)
    options = ["answer", "anthem", "another one", "12", "he", "h"]
    try:
        found = asyncio.run(score(talk, options))
    finally:
        engine.close()
    model = FickleModel(5)
    length = len(talk.tokens(options[0])) - len(found.tokens[0])
    assert length >= 1
    for option, tail, logprobs in zip(options, found.tokens, found.logprobs, strict=True):
        whole = talk.tokens(option)
        assert whole[length:] == tail
        rows = model.forward(model.new_cache(), whole, every=True)
        expected = [
            float(rows[length - 1 + i][token]) - masked_log_sum_exp(rows[length - 1 + i], None)
            for i, token in enumerate(tail)
        ]
        assert logprobs == pytest.approx(expected, abs=1e-4)
    assert talk.state.message == prompt


def test_an_option_is_scored_with_the_token_that_the_text_behind_it_makes_of_its_end() -> None:
    engine = ReferenceEngine(FickleModel())
    talk = Conversation(
        encoder=Encoder(small_tokenizer()), open_branch=lambda tokens: engine.branch(), chat=None
    )
    talk.text("the ")
    try:
        found = asyncio.run(score(talk, ["th", "an"], "e x"))
        alike = asyncio.run(score(talk, ["th", "the"], "e"))
    finally:
        engine.close()
    assert [small_tokenizer().bytes_of(tokens) for tokens in found.tokens] == [b" the", b" an"]
    assert alike.tokens[0] != alike.tokens[1]
