"""Configurations that come up again in one search: every node is looked at once, and masks stay exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.automata.term import Bytes, Choice, Language, Repeat, Rule, Sequence
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.search.visited import Visited
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from strategies.mask_cases import mask_of

SIZE = 40
NODES = st.sets(st.integers(0, SIZE - 1), max_size=12)


@pytest.mark.slow
@settings(max_examples=examples(80), deadline=None)
@given(st.lists(st.tuples(st.integers(1, 3), NODES), max_size=12))
def test_nodes_are_fresh_once(visits: list[tuple[int, set[int]]]) -> None:
    naive: dict[int, set[int]] = {}
    seen = Visited()
    for config, nodes in visits:
        expected = sorted(nodes - naive.setdefault(config, set()))
        naive[config] |= nodes
        assert seen.fresh(np.array(sorted(nodes), np.int32), config).tolist() == expected


def piles() -> Language:
    """Piles that can be cut anywhere, also inside of brackets."""
    pile = Rule("pile")
    one = Choice((Bytes(b"a"), Bytes(b"aa"), Sequence((Bytes(b"a"), Rule("one")))))
    part = Choice((Rule("one"), Sequence((Bytes(b"("), pile, Bytes(b")")))))
    arms = (part, Sequence((part, pile)))
    return Language(Repeat(pile, 1, None, b"+"), {"pile": Choice(arms), "one": one})


def goes_on(text: bytes) -> bool:
    """Whether a text of these is one, as far as it goes."""
    depth, before = 0, b"+"
    for byte in text:
        here = bytes([byte])
        if here in b")+" and (before not in b"a)" or (here == b")") != (depth > 0)):
            return False
        depth += {b"(": 1, b")": -1}.get(here, 0)
        before = here
    return True


@pytest.mark.parametrize("prefix", [b"", b"a", b"aa(a", b"a+(aa", b"((a)"])
def test_long_tokens_of_ambiguous_texts(prefix: bytes) -> None:
    runs = [b"a" * length for length in range(1, 30)]
    more = [b"(", b")", b"+", b"(a", b"a)", b"))", b"a+a", b")+", b"a)+", *(run + b")" for run in runs)]
    vocabulary = Vocabulary([*runs, *more])
    matcher = compile_constraint(language=piles()).matcher(vocabulary)
    assert matcher.accept_bytes(prefix)
    legal = {token for token, data in enumerate(vocabulary.token_bytes) if data and goes_on(prefix + data)}
    assert mask_of(matcher, vocabulary) == legal
