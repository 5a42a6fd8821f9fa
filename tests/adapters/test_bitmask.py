"""Guides and bitmasks: end tokens exactly where a text may end, the same rows for every kind of array."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.small_models import small_tokenizer
from sglc.runtime.adapters.bitmask import DeadEnd, Guide, allocate, fill
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.matcher import fill_masks
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

END = 1
PATTERNS = ["[a-z]{2,6}( the)?", "(yes|no|the answer)", '\\{"age": [0-9]{1,3}\\}', "(ab?)*"]


def vocabulary() -> Vocabulary:
    return small_tokenizer().vocabulary()


def legal(guide: Guide) -> set[int]:
    """The tokens of a guide's row."""
    bitmask = allocate(1, guide.vocabulary.size)
    fill([guide], bitmask)
    return set(guide.vocabulary.unpack(bitmask[0]).tolist())


def by_definition(pattern: str, text: bytes, ended: bool) -> set[int]:
    """The tokens after which some text of the pattern goes on, by matching; texts are short."""
    words = vocabulary()
    constraint = compile_constraint(regex=pattern)
    found = {END} if re.fullmatch(pattern, text.decode()) else set()
    if not ended:
        for token, data in enumerate(words.token_bytes):
            if data and constraint.matcher(words).accept_bytes(text + data):
                found.add(token)
    return found


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("seed", range(3))
def test_a_walk_of_a_guide(pattern: str, seed: int) -> None:
    """Every row is exact, `allows` agrees with it, and rolling back leads through the same rows."""
    draw = random.Random(seed)
    guide = Guide(compile_constraint(regex=pattern), vocabulary())
    assert guide.end_ids == {END}
    rows = []
    while not guide.is_ended and guide.steps < 8:
        row = legal(guide)
        assert row == by_definition(pattern, guide.text(), ended=False)
        assert row == {token for token in range(guide.vocabulary.size) if guide.allows(token)}
        assert (guide.may_end, guide.must_end) == (END in row, row == {END})
        wrong = next(token for token in range(guide.vocabulary.size) if token not in row)
        assert not guide.accept(wrong)
        rows.append((guide.text(), row))
        assert guide.accept(draw.choice(sorted(row)))
    if guide.is_ended:
        assert re.fullmatch(pattern, guide.text().decode())
        assert legal(guide) == {END}
        assert not guide.may_end and not guide.must_end and not any(map(guide.allows, range(60)))
        assert not guide.accept(END)
    for text, row in reversed(rows):
        guide.rollback(1)
        assert (guide.text(), legal(guide)) == (text, row)
    with pytest.raises(ValueError, match="cannot take back"):
        guide.rollback(1)


def test_drafts_are_checked_and_taken_back() -> None:
    words = vocabulary()
    guide = Guide(compile_constraint(regex="abc"), words)
    a, b, c = (words.token_bytes.index(letter) for letter in (b"a", b"b", b"c"))
    assert guide.legal_prefix([a, b, b]) == 2
    assert guide.steps == 0
    assert guide.forced() == b"abc"
    assert guide.accept_all([a, b, c, END, a]) == 4
    assert guide.is_ended and guide.steps == 4 and guide.forced() == b""
    twin = guide.clone()
    guide.rollback(2)
    assert guide.text() == b"ab" and twin.is_ended and twin.text() == b"abc"
    guide.reset()
    assert guide.steps == 0 and guide.accept_all([a, b, c, END]) == 4


@pytest.mark.slow
@given(st.integers(1, 6), st.integers(0, 3), st.data())
def test_rows_of_a_batch(n: int, more: int, data: st.DataObject) -> None:
    """Named rows, wide bitmasks, torch tensors: the words of one guide are the same everywhere."""
    torch = pytest.importorskip("torch")
    guides = [Guide(compile_constraint(regex=PATTERNS[i % len(PATTERNS)]), vocabulary()) for i in range(n)]
    alone = allocate(n, guides[0].vocabulary.size)
    for i, guide in enumerate(guides):
        fill([guide], alone, [i])
    where = data.draw(st.permutations(range(n + 2)))[:n]
    wide = np.full((n + 2, alone.shape[1] + more), 77, np.int32)
    fill(guides, wide, where)
    tensor = torch.full(wide.shape, 77, dtype=torch.int32)
    fill(guides, tensor, where)
    assert tensor.numpy().tolist() == wide.tolist()
    for i, row in enumerate(where):
        assert wide[row].tolist() == [*alone[i].tolist(), *[0] * more]
    for row in set(range(n + 2)) - set(where):
        assert set(wide[row].tolist()) == {77}


@pytest.mark.parametrize("n", [31, 32, 70])
def test_a_large_batch_is_filled_like_a_small_one(n: int) -> None:
    """Also into rows that are not contiguous, and with matchers alone."""
    draw = random.Random(n)
    guides = []
    for i in range(n):
        guide = Guide(compile_constraint(regex=PATTERNS[i % len(PATTERNS)]), vocabulary())
        for _ in range(draw.randrange(5)):
            guide.accept(draw.choice(sorted(legal(guide))))
        guides.append(guide)
    table = np.full((n, vocabulary().words), 77, np.int32)
    fill(guides, table)
    assert [set(vocabulary().unpack(row).tolist()) for row in table] == [legal(guide) for guide in guides]
    matchers = [guide.matcher for guide in guides]
    expected = [matcher.mask().tolist() for matcher in matchers]
    for rows in (table, np.zeros((n, 2 * vocabulary().words), np.int32)[:, : vocabulary().words]):
        fill_masks(matchers, rows)
        assert rows.tolist() == expected
    for fewer in (matchers[1:], matchers[:1]):
        with pytest.raises(ValueError):
            fill_masks(fewer, table)


def test_end_tokens_are_never_text() -> None:
    words = Vocabulary([b"a", b"b", b"ab", b"!"])
    guide = Guide(compile_constraint(regex="ab?!?"), words, end_ids=[3])
    assert legal(guide) == {0, 2}
    assert not guide.accept(3)
    assert guide.accept(0)
    assert legal(guide) == {1, 3}
    assert guide.accept(3) and guide.is_ended and guide.text() == b"a"


def test_what_cannot_be_guided_is_refused() -> None:
    words = vocabulary()
    good = compile_constraint(regex="a")
    with pytest.raises(ConstraintError, match="no text is legal"):
        Guide(compile_constraint(regex="[^\\s\\S]"), words)
    with pytest.raises(ValueError, match="at least one end token"):
        Guide(good, words, end_ids=[])
    with pytest.raises(ValueError, match="outside of the vocabulary"):
        Guide(good, words, end_ids=[words.size])
    with pytest.raises(DeadEnd, match="after 'a'"):
        guide = Guide(compile_constraint(regex="ab"), Vocabulary([b"a", None]), end_ids=[1])
        guide.accept(0)
        fill([guide], allocate(1, 2))


def test_bitmasks_that_do_not_fit_are_refused() -> None:
    words = vocabulary()
    guide = Guide(compile_constraint(regex="a"), words)
    table = allocate(2, words.size)
    for wrong, rows in [
        (table, [0, 1]),
        (table, [2]),
        (table, [-1]),
        (table[:, :-1].copy(), [0]),
        (table.astype(np.int64), [0]),
        (table[:, ::2], [0]),
        (table[0], [0]),
    ]:
        with pytest.raises(ValueError):
            fill([guide], wrong, rows)
