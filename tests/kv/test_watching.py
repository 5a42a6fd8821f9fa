"""Blocks that leave memory are told by names that every process gives them."""

from __future__ import annotations

import random

from oracles.kv_model import Model, evict_all, released, run
from sglc.runtime.kv.blocks import BLOCK_TOKENS
from sglc.runtime.kv.names import block_name, names_of


def test_names_are_of_all_tokens_up_to_the_end_of_a_block() -> None:
    tokens = run(0, 100)
    names = names_of(tokens)
    assert len(names) == len(set(names)) == 100 // BLOCK_TOKENS
    assert names_of(tokens[:-4]) == names and names_of(tokens[:95]) == names[:5]
    assert names_of([7, *tokens[1:]])[-1] != names[-1]
    assert block_name(names[0], tokens[16:32]) == names[1]


def test_what_is_told_is_what_is_not_found_any_more() -> None:
    model = Model(12)
    gone: list[bytes] = []
    model.cache.watch(gone.append)
    draws = random.Random(3)
    texts = [run(1000 * n, 16 * draws.randint(1, 4) + draws.randint(0, 15)) for n in range(8)]
    had: set[bytes] = set()
    for _ in range(200):
        tokens = draws.choice(texts)
        gone.clear()
        released(model, tokens)
        had |= set(names_of(tokens))
        had -= set(gone)
        for each in texts:
            names = names_of(each)
            assert model.cache.computed(each) // BLOCK_TOKENS == sum(name in had for name in names)
    gone.clear()
    evict_all(model)
    assert set(gone) == had
