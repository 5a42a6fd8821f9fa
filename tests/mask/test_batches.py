"""Masks of batches: written as differences to a few rows, they are the masks."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sglc.kernels import jit_library
from sglc.kernels.bitmask.operations import fill_rows
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.matcher import Matcher, fill_masks
from sglc.runtime.mask.vocabulary import row_deltas as bases
from sglc.runtime.mask.vocabulary.row_deltas import BaseRows
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

WORDS = 300
LETTERS = [bytes([byte]) for byte in range(256)]
PAIRS = [bytes([a, b]) for a in range(0x20, 0x7F) for b in range(0x20, 0x7F)]
LARGE = Vocabulary([*LETTERS, *PAIRS, b"abc", b'": "', None, b""], frozenset({258}))
SMALL = Vocabulary(LETTERS)


@st.composite
def families(draw: st.DrawFn) -> list[np.ndarray]:
    """Rows that are near to some others, sparse ones and others."""
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    roots = random.integers(-(2**31), 2**31, (draw(st.integers(1, 20)), WORDS)).astype(np.int32)
    rows = []
    for kind in draw(st.lists(st.integers(0, 3), min_size=1, max_size=40)):
        row = roots[random.integers(len(roots))].copy() if kind else np.zeros(WORDS, np.int32)
        places = random.permutation(WORDS)[: (0, 3, WORDS // 8, WORDS // 7)[random.integers(4)]]
        row[places] = random.integers(-(2**31), 2**31, len(places))
        rows.append(row)
    return rows


@given(families(), st.booleans())
def test_sources_are_the_rows_that_they_were_made_of(rows: list[np.ndarray], plain: bool) -> None:
    pool = BaseRows(WORDS)
    sources = [pool.source(row) for row in rows]
    assert len(pool._rows) <= bases._MOST_BASES
    out = np.full((len(rows), WORDS), 77, np.int32)
    jit_library.use_reference(plain)
    try:
        fill_rows(sources, out)
    finally:
        jit_library.use_reference(False)
    assert np.array_equal(out, np.stack(rows))


def test_what_is_near_to_a_base_is_a_difference() -> None:
    pool = BaseRows(WORDS)
    base = np.arange(1, WORDS + 1, dtype=np.int32)
    assert pool.source(base).base is base
    near = base.copy()
    near[[3, 5]] = 0
    found = pool.source(near)
    assert found.base is base and found.changes is not None
    assert found.changes.tolist() == [[3, 0], [5, 0]]
    few = np.zeros(WORDS, np.int32)
    few[7] = 9
    found = pool.source(few)
    assert found.base is None and found.changes is not None and found.changes.tolist() == [[7, 9]]
    for number in range(bases._MOST_BASES):
        other = np.full(WORDS, number + 1000, np.int32)
        assert pool.source(other).base is other
    assert pool.source(near).base is near  # the first base has made room


def at_random(vocabulary: Vocabulary, draw: random.Random, count: int) -> list[Matcher]:
    """Matchers of several constraints after some legal tokens."""
    made = [
        compile_constraint(regex="[a-z ]{1,40}(!|\\?)"),
        compile_constraint(json_schema={"properties": {"ab": {"type": "string"}, "n": {"type": "integer"}}}),
        compile_constraint(choices=["abc", "abd", "x"]),
    ]
    matchers = []
    for _ in range(count):
        matcher = draw.choice(made).matcher(vocabulary)
        for _ in range(draw.randrange(8)):
            legal = matcher.allowed()
            if not len(legal):
                break
            assert matcher.accept(int(legal[draw.randrange(len(legal))]))
        matchers.append(matcher)
    return matchers


@settings(max_examples=15)
@given(st.integers(0, 1000), st.sampled_from([1, 5, 6, 40]), st.integers(0, 2), st.booleans())
def test_rows_are_masks_however_often_they_were_asked_for(
    seed: int, count: int, more: int, small: bool
) -> None:
    """New masks, masks for which a source is made, sources that are known; in order and in some rows."""
    vocabulary = SMALL if small else LARGE
    draw = random.Random(seed)
    matchers = at_random(vocabulary, draw, count)
    expected = [matcher.clone() for matcher in matchers]
    at = np.array(draw.sample(range(count + 2), count), np.int64)
    for turn in range(4):
        rows = np.full((count, vocabulary.words + more), 77, np.int32)
        table = np.full((count + 2, vocabulary.words + more), 78, np.int32)
        masks = fill_masks(matchers, rows)
        fill_masks(matchers, table, at)
        if turn == 0:
            known = [matcher.mask() for matcher in expected]
        for place in range(count):
            assert np.array_equal(masks[place].row, known[place])
            assert np.array_equal(rows[place], [*known[place], *[77] * more])
            assert np.array_equal(table[at[place]], [*known[place], *[78] * more])
        left = set(range(count + 2)) - set(at.tolist())
        assert all((table[place] == 78).all() for place in left)


def test_matchers_that_do_not_fit_their_rows_are_refused() -> None:
    large, small = (compile_constraint(regex="[a-z]*").matcher(words) for words in (LARGE, SMALL))
    for matchers in ([large] * 2, [large] * 8, [small] * 8):
        for rows in (len(matchers) - 1, len(matchers) + 1):
            with pytest.raises(ValueError):
                fill_masks(matchers, np.zeros((rows, LARGE.words), np.int32))
        with pytest.raises(ValueError):
            fill_masks(matchers, np.zeros((len(matchers), matchers[0].mask().size - 1), np.int32))
        with pytest.raises(ValueError):
            places = np.arange(1, len(matchers) + 1)
            fill_masks(matchers, np.zeros((len(matchers), LARGE.words), np.int32), places)
    with pytest.raises(ValueError):
        fill_masks([large, small] * 4, np.zeros((8, LARGE.words), np.int32))
