"""Asking about the tokens that a model likes best gives what the whole mask says of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from example_budget import examples
from oracles.term_oracle import viable
from sglc.runtime.adapters.bitmask import Guide, allocate, fill
from sglc.runtime.mask import Vocabulary, compile_constraint
from strategies.mask_cases import prefixes, vocabularies
from strategies.typed_values import languages

SETTINGS = settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
TOKENS = [*(bytes([byte]) for byte in range(256)), b"ab", b"abc", b'{"', b'": ', b"12", b"true"]
WORDS = Vocabulary([*TOKENS, None], end_ids=[len(TOKENS)])


@SETTINGS
@given(st.data())
def test_each_token_is_in_the_mask_or_not(data: st.DataObject) -> None:
    language = data.draw(languages())
    assume(viable(language, b""))
    vocabulary = data.draw(vocabularies(language))
    prefix = data.draw(prefixes(language))
    asked = data.draw(st.lists(st.integers(-2, vocabulary.size + 2), max_size=30))
    # One that has no mask yet, and one that has.
    fresh, known = (compile_constraint(language=language).matcher(vocabulary) for _ in range(2))
    assert fresh.accept_bytes(prefix)
    assert known.accept_bytes(prefix)
    by_asking = fresh.allows_each(asked)
    first = fresh.first_allowed(asked, 3)
    legal = set(vocabulary.unpack(known.mask()).tolist())
    assert by_asking.dtype == bool
    assert by_asking.tolist() == [token in legal for token in asked]
    assert first == [token for token in asked if token in legal][:3]
    assert known.allows_each(asked).tolist() == by_asking.tolist()
    assert known.first_allowed(asked, 3) == first
    assert fresh.text() == prefix


def test_guides_say_what_their_rows_say() -> None:
    constraint = compile_constraint(
        json_schema={"type": "array", "items": {"enum": [1, 12, "ab"]}, "maxItems": 3}
    )
    for text in ([], [b"["], [b"[", b"]"], [b"[", b"12"], [b"[", b"1", b"]", None]):
        guide, twin = Guide(constraint, WORDS), Guide(constraint, WORDS)
        for piece in text:
            token = WORDS.size - 1 if piece is None else TOKENS.index(piece)
            assert guide.accept(token)
            assert twin.accept(token)
        every = np.random.default_rng(3).permutation(WORDS.size)
        rows = allocate(1, WORDS.size)
        fill([twin], rows)
        legal = set(WORDS.unpack(rows[0]).tolist())
        assert guide.allows_each(every).tolist() == [token in legal for token in every.tolist()]
        for count in (1, 2, WORDS.size):
            assert (
                guide.first_allowed(every, count)
                == [token for token in every.tolist() if token in legal][:count]
            )


def test_no_whole_mask_is_made() -> None:
    matcher = compile_constraint(regex="[a-c]{3}x{9}").matcher(WORDS)
    assert matcher.first_allowed([ord("z"), ord("b"), ord("a")]) == [ord("b")]
    assert not matcher.has_mask()
    assert matcher.first_allowed([ord("z")]) == []


@pytest.mark.parametrize("count", [0, -1])
def test_at_least_one_is_asked_for(count: int) -> None:
    constraint = compile_constraint(regex="a")
    for one in (constraint.matcher(WORDS), Guide(constraint, WORDS)):
        with pytest.raises(ValueError, match="at least one"):
            one.first_allowed([1], count)
