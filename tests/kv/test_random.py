"""Random use of the memory of keys and values, against a naive model.

    SGLC_TEST_EXAMPLES=100000 python -m pytest tests/kv/test_random.py

runs as many operations in a row in one cache, per policy, and checks that nothing is lost at the end.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from example_budget import examples
from oracles.kv_model import LIMIT, Model, text
from sglc.runtime.kv.eviction import Policy

INDEX = st.integers(0, 30)
LENGTH = st.integers(0, LIMIT)
END = st.lists(st.integers(0, 2), max_size=4)
TEXT = st.builds(text, st.integers(0, 2), LENGTH, END)


class CacheMachine(RuleBasedStateMachine):
    """Any order of operations: contents, counts and refusals are those of the model."""

    @initialize(blocks=st.integers(1, 24), policy=st.sampled_from(["lru", "lfu"]))
    def start(self, blocks: int, policy: Policy) -> None:
        self.model = Model(blocks, policy)

    @precondition(lambda self: len(self.model.open) < 12)
    @rule(tokens=TEXT)
    def begin(self, tokens: list[int]) -> None:
        self.model.begin(tokens[:LIMIT])

    @precondition(lambda self: self.model.open)
    @rule(which=INDEX, tokens=TEXT, fork=st.booleans())
    def extend(self, which: int, tokens: list[int], fork: bool) -> None:
        known = self.model.open[which % len(self.model.open)][1]
        self.model.extend(which, tokens[len(known) :] or tokens[:3], fork)

    @precondition(lambda self: self.model.open)
    @rule(which=INDEX, token=st.integers(0, 3))
    def decode(self, which: int, token: int) -> None:
        self.model.extend(which, [token])

    @precondition(lambda self: self.model.open)
    @rule(which=INDEX, tokens=TEXT)
    def reuse(self, which: int, tokens: list[int]) -> None:
        known = self.model.open[which % len(self.model.open)][1]
        self.model.reuse(which, tokens[len(known) :])

    @precondition(lambda self: self.model.open)
    @rule(which=INDEX, n=st.integers(0, 40))
    def reserve_only(self, which: int, n: int) -> None:
        self.model.reserve_only(which, n)

    @precondition(lambda self: self.model.open)
    @rule(which=INDEX, length=LENGTH)
    def cut(self, which: int, length: int) -> None:
        self.model.cut(which, length)

    @precondition(lambda self: self.model.open)
    @rule(which=INDEX)
    def fork(self, which: int) -> None:
        self.model.fork(which)

    @precondition(lambda self: self.model.open)
    @rule(which=INDEX)
    def end(self, which: int) -> None:
        self.model.end(which)

    @precondition(lambda self: self.model.open)
    @rule(chosen=st.integers(0, 4095))
    def end_some(self, chosen: int) -> None:
        self.model.end_some(chosen)

    @rule(tokens=TEXT)
    def pin(self, tokens: list[int]) -> None:
        self.model.pin(tokens)

    @precondition(lambda self: self.model.pins)
    @rule(which=INDEX)
    def unpin(self, which: int) -> None:
        self.model.unpin(which)

    @invariant()
    def holds(self) -> None:
        self.model.check()

    def teardown(self) -> None:
        if hasattr(self, "model"):
            self.model.close()


TestCacheMachine = CacheMachine.TestCase
TestCacheMachine.settings = settings(max_examples=examples(40), stateful_step_count=40, deadline=None)


def operate(model: Model, chance: random.Random) -> None:
    """One random operation; the more sequences are open, the more are released."""
    tokens = text(chance.randrange(3), chance.randrange(LIMIT), [chance.randrange(3)] * chance.randrange(3))
    which = chance.randrange(1 << 20)
    if not model.open or chance.random() < 0.15 / (1 + len(model.open) / 8):
        model.begin(tokens, f"program {which % 3}")
        return
    known = len(model.open[which % len(model.open)][1])
    kind = chance.random()
    if kind < 0.45:
        model.extend(which, tokens[known : known + chance.randrange(1, 30)] or [1], chance.random() < 0.05)
    elif kind < 0.6:
        model.extend(which, [chance.randrange(3)])
    elif kind < 0.68:
        model.reuse(which, tokens[known:])
    elif kind < 0.78:
        model.cut(which, max(0, known - chance.randrange(5)) if which % 2 else chance.randrange(LIMIT))
    elif kind < 0.84:
        model.fork(which)
    elif kind < 0.87:
        model.reserve_only(which, chance.randrange(40))
    elif kind < 0.89:
        model.pin(tokens)
    elif kind < 0.91 and model.pins:
        model.unpin(which)
    elif kind < 0.96:
        model.end(which)
    elif kind < 0.965:
        model.end_some(which & chance.randrange(1 << 20))


@pytest.mark.parametrize("policy", ["lru", "lfu"])
def test_long_random_use_loses_no_block(policy: Policy) -> None:
    chance = random.Random(4711)
    model = Model(60, policy)
    for step in range(examples(1000)):
        operate(model, chance)
        if step % 25 == 0:
            model.check()
    assert model.refusals and model.cache.accounts.evictions and model.cache.accounts.adopted
    model.close()
