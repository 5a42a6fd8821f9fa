"""The compiled kernels do what the reference says, and the door lets nothing else in."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.decoding.noise import score
from sglc.kernels import jit_library
from sglc.kernels.bitmask import operations, sampling, sampling_reference
from sglc.kernels.dsl.array_layouts import LayoutError
from sglc.kernels.trie import column_rows
from sglc.kernels.trie.arrays import TrieArrays
from sglc.runtime.mask.vocabulary.trie import build_trie

pytest.importorskip("llvmlite")


def test_kernels_compile_here() -> None:
    assert sampling.compiled() is not None


def test_the_reference_can_be_asked_for() -> None:
    jit_library.use_reference(True)
    try:
        assert sampling.compiled() is None
        mask = np.array([-1], np.int32)
        assert sampling.masked_argmax(np.array([1, 3, 2], np.float32), mask) == (1, 3.0)
        assert sampling.count_bits(mask) == 32
    finally:
        jit_library.use_reference(False)


# --- tries --------------------------------------------------------------------------------------------


def arrays(tokens: list[bytes | None]) -> TrieArrays:
    trie = build_trie(tokens)
    words = (len(tokens) + 31) // 32
    names = ("byte", "depth", "end", "token", "duplicates", "deepest")
    return TrieArrays(**{name: getattr(trie, name) for name in names}, words=words)


def test_tries_that_would_lead_a_walk_astray_are_refused() -> None:
    good = arrays([b"ab", b"ac", b"b"])
    parts = {name: getattr(good, name) for name in ("byte", "depth", "end", "token", "duplicates")}
    bad = [
        {"depth": good.depth + 1},
        {"end": good.end * 0},
        {"end": good.end + 5},
        {"token": good.token + 64},
        {"token": good.token.astype(np.int64)},
        {"byte": good.byte[:-1]},
        {"token": np.full_like(good.token, -9)},
    ]
    for change in bad:
        with pytest.raises(LayoutError):
            TrieArrays(**{**parts, **change}, deepest=good.deepest, words=1)
    with pytest.raises(LayoutError):
        TrieArrays(**parts, deepest=1, words=1)


# --- reductions over logits -----------------------------------------------------------------------------

SIZES = st.integers(1, 200) | st.sampled_from((31, 32, 33, 64, 1000))
SPECIAL = st.sampled_from((math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, 3e38, -3e38))


@st.composite
def logits_and_masks(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray | None]:
    size = draw(SIZES)
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    logits = (random.normal(size=size) * draw(st.sampled_from((0.0, 1.0, 20.0)))).astype(np.float32)
    for value in draw(st.lists(SPECIAL, max_size=3)):
        logits[draw(st.integers(0, size - 1))] = value
    kind = draw(st.sampled_from(("none", "random", "empty", "full", "one")))
    if kind == "none":
        return logits, None
    mask = np.zeros((size + 31) // 32, np.int32)
    if kind == "random":
        mask = random.integers(-(2**31), 2**31, len(mask)).astype(np.int32)
    elif kind == "full":
        mask[:] = -1
    elif kind == "one":
        mask.view(np.uint32)[draw(st.integers(0, len(mask) - 1))] = 1
    return logits, mask


@given(logits_and_masks())
def test_the_largest_legal_logit_is_found(case: tuple[np.ndarray, np.ndarray | None]) -> None:
    logits, mask = case
    legal = sampling_reference.legal(mask, len(logits)).tolist()
    best = (-1, -math.inf)
    for index in legal:
        if logits[index] > best[1]:
            best = (index, float(logits[index]))
    assert sampling_reference.masked_argmax(logits, mask) == best
    assert sampling.masked_argmax(logits, mask) == best


@given(logits_and_masks(), st.integers(1, 12) | st.sampled_from((100, 5000)))
def test_the_largest_legal_logits_are_found(case: tuple[np.ndarray, np.ndarray | None], k: int) -> None:
    logits, mask = case
    legal = [i for i in sampling_reference.legal(mask, len(logits)).tolist() if logits[i] > -math.inf]
    best = sorted(legal, key=lambda i: (-float(logits[i]), i))[:k]
    for ids, values in (sampling_reference.masked_top(logits, mask, k), sampling.masked_top(logits, mask, k)):
        assert ids.tolist() == best
        assert values.tolist() == logits[best].tolist()
        assert (ids.dtype, values.dtype) == (np.int32, np.float32)


@pytest.mark.parametrize("order", [1, -1], ids=["rising", "falling"])
def test_sorted_logits_are_the_best_case_and_the_worst(order: int) -> None:
    logits = np.repeat(np.arange(500, dtype=np.float32), 2)[::order].copy()
    for k in (1, 7, 1000):
        for found, expected in zip(
            sampling.masked_top(logits, None, k), sampling_reference.masked_top(logits, None, k), strict=True
        ):
            assert found.tolist() == expected.tolist()


@given(logits_and_masks(), st.sampled_from((1.0, 0.1, 2.5)))
def test_log_sums_agree(case: tuple[np.ndarray, np.ndarray | None], scale: float) -> None:
    logits, mask = case
    expected = sampling_reference.masked_log_sum_exp(logits, mask, scale)
    found = sampling.masked_log_sum_exp(logits, mask, scale)
    assert found == expected or math.isclose(found, expected, rel_tol=1e-6, abs_tol=2e-6)


@given(logits_and_masks(), st.sampled_from((1.0, 0.1, 2.5)))
def test_shares_are_differences_of_log_sums(case: tuple[np.ndarray, np.ndarray | None], scale: float) -> None:
    logits, mask = case
    bits = np.full(-(-len(logits) // 32), -1, np.int32) if mask is None else mask
    share, whole = (sampling_reference.masked_log_sum_exp(logits, each, scale) for each in (bits, None))
    expected = min(0.0, share - whole) if share != whole else 0.0
    found = sampling.masked_log_share(logits, bits, scale)
    assert found == expected or math.isclose(found, expected, rel_tol=1e-6, abs_tol=4e-6)


@pytest.mark.parametrize(("far", "wanted"), [(0.0, math.log(0.25)), (200.0, -200.0 - math.log(3.0))])
def test_a_share_may_be_far_below_the_smallest_float(far: float, wanted: float) -> None:
    logits = np.array([-far, 0.0, 0.0, 0.0], np.float32)
    assert sampling.masked_log_share(logits, np.array([1], np.int32)) == pytest.approx(wanted, abs=1e-5)
    assert sampling.masked_log_share(logits, np.array([0], np.int32)) == -math.inf


@given(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=40))
def test_bits_are_counted(words: list[int]) -> None:
    mask = np.array(words, np.int32)
    expected = sum((word & 0xFFFFFFFF).bit_count() for word in words)
    assert sampling.count_bits(mask) == sampling_reference.count_bits(mask) == expected


def test_wrong_arrays_do_not_reach_the_kernels() -> None:
    logits = np.zeros(64, np.float32)
    mask = np.zeros(2, np.int32)
    with pytest.raises(LayoutError):
        sampling.masked_argmax(logits.astype(np.float64), mask)
    with pytest.raises(LayoutError):
        sampling.masked_argmax(logits[::2], mask)
    with pytest.raises(LayoutError):
        sampling.masked_argmax(logits, mask[:1])
    with pytest.raises(LayoutError):
        sampling.masked_top(logits, mask[:1], 3)
    with pytest.raises(ValueError, match="k must"):
        sampling.masked_top(logits, mask, 0)
    with pytest.raises(ValueError, match="scale"):
        sampling.masked_log_sum_exp(logits, mask, 0.0)
    with pytest.raises(ValueError, match="scale"):
        sampling.masked_log_share(logits, mask, 0.0)


# --- object code on disk --------------------------------------------------------------------------------


def test_object_code_belongs_to_a_version_and_a_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another processor, other features or another LLVM: the code is made again, under another name."""
    import llvmlite.binding as llvm

    from sglc.kernels.llvm import jit
    from sglc.kernels.llvm.target import host
    from sglc.kernels.llvm.translate import translate
    from sglc.kernels.trie.walks import walk_literal

    monkeypatch.setenv("SGLC_CACHE_DIR", str(tmp_path))
    ir, names, stored = translate([walk_literal], "one"), ["sglc_walk_literal"], tmp_path / "objects"
    jit.compile_functions(ir, names)
    jit.compile_functions(ir, names)
    assert len(list(stored.iterdir())) == 1
    here = host()
    assert jit.compile_functions(ir, names, replace(here, features=here.features + ",-sse4a"))[names[0]]
    assert len(list(stored.iterdir())) == 2
    version = llvm.llvm_version_info
    monkeypatch.setattr(llvm, "llvm_version_info", (version[0], version[1] + 1, 0))
    assert jit.compile_functions(ir, names, here)[names[0]]
    assert len(list(stored.iterdir())) == 3


@pytest.mark.slow
def test_object_code_belongs_to_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text of a module is written only where its object is not kept, and anew when a source changes."""
    from sglc.kernels.llvm import jit, top_k

    monkeypatch.setenv("SGLC_CACHE_DIR", str(tmp_path))
    written = []

    def build() -> str:
        written.append(1)
        return top_k.build()

    for times in (1, 1):
        assert jit.library_functions(build, top_k.NAMES)[top_k.NAMES[0]]
        assert len(written) == times
    jit.library_functions(build, top_k.NAMES[:1])  # another interface, another object
    assert len(written) == 2
    monkeypatch.setattr(jit, "_sources", lambda: b"other sources")
    jit.library_functions(build, top_k.NAMES)
    assert len(written) == 3
    monkeypatch.setattr(jit, "_sources", lambda: b"")
    jit.library_functions(build, top_k.NAMES)
    assert len(written) == 4


def test_long_calls_run_without_the_interpreter_lock() -> None:
    python_api = 4  # the flag of ctypes for functions that are called with the lock held
    long = operations._ROWS.functions()
    brief = sampling.compiled()
    assert long is not None and brief is not None
    assert not type(long.apply)._flags_ & python_api
    # A call of a few microseconds would take longer to get the lock back from a busy thread.
    assert type(brief.masked_max)._flags_ & python_api


def test_object_code_is_kept_and_damage_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sglc.kernels.llvm import jit
    from sglc.kernels.llvm.translate import translate
    from sglc.kernels.trie.walks import walk_literal

    monkeypatch.setenv("SGLC_CACHE_DIR", str(tmp_path))
    ir, names = translate([walk_literal], "one") + "\n; a comment makes it another\n", ["sglc_walk_literal"]
    assert jit.compile_functions(ir, names)[names[0]]
    (stored,) = (tmp_path / "objects").glob("*.o")
    whole = stored.read_bytes()
    stored.write_bytes(whole[:-20] + bytes(20))
    assert jit.compile_functions(ir, names)[names[0]]
    assert stored.read_bytes() == whole

    # A file that others may write is not trusted; one that cannot be written is no error.
    stored.chmod(0o666)
    stored.write_bytes(b"whose code is this")
    assert jit.compile_functions(ir, names)[names[0]]
    assert stored.read_bytes() == whole and stored.stat().st_mode & 0o777 == 0o600
    # Code is of the key that it is stored under, not of whatever name it is found by.
    assert jit._load(stored, bytes(32)) is None
    monkeypatch.setenv("SGLC_CACHE_DIR", str(tmp_path / "file"))
    (tmp_path / "file").write_text("in the way")
    assert jit.compile_functions(ir, names)[names[0]]


@given(SIZES, st.integers(0, 10_000), st.booleans(), st.sampled_from((0.5, 1.0, 3.0)))
def test_noise_agrees_with_the_reference(size: int, seed: int, masked: bool, scale: float) -> None:
    dice = np.random.default_rng(seed)
    logits = dice.normal(0, dice.choice([0.1, 3, 30]), size).astype(np.float32)
    logits[dice.integers(0, size, size // 9)] = -np.inf
    logits[dice.integers(0, size, size // 9)] = np.nan
    mask = dice.integers(-(2**31), 2**31, (size + 31) // 32).astype(np.int32) if masked else None
    key, top = int(dice.integers(0, 2**64, dtype=np.uint64)), float(np.nanmax(logits, initial=0.0))
    found = sampling.noisiest(logits, mask, top, scale, key)
    legal = [id for id in sampling_reference.legal(mask, size).tolist() if logits[id] > -np.inf]
    assert (found == -1) == (not legal)
    scores = {id: score(float(logits[id]), top, 1 / scale, id, key) for id in legal}
    for drawn in (found, sampling_reference.noisiest(logits, mask, top, scale, key)):
        assert not legal or scores[drawn] >= max(scores.values()) - 1e-4


# --- tokens in rows ---------------------------------------------------------------------------------------


@given(st.integers(1, 40), st.integers(0, 5), st.integers(0, 10_000), st.booleans())
def test_tokens_are_put_into_rows_and_left_out(words: int, count: int, seed: int, present: bool) -> None:
    random = np.random.default_rng(seed)
    whole = random.integers(-(2**31), 2**31, words).astype(np.int32)
    columns = random.integers(-(2**31), 2**31, (6, words)).astype(np.int32)
    places = random.integers(0, 6, count).tolist()
    tokens = random.integers(0, 32 * words, 50).astype(np.int32)
    spans = [tuple(sorted(pair)) for pair in random.integers(0, 51, (count, 2)).tolist()]
    bits = np.unpackbits(whole.view(np.uint8), bitorder="little")
    for place in places:
        bits &= 1 - np.unpackbits(columns[place].view(np.uint8), bitorder="little")
    expected = [bits.copy(), bits]
    for start, stop in spans:
        bits[tokens[start:stop]] = present
    for reference_only in (False, True):
        jit_library.use_reference(reference_only)
        try:
            row = column_rows.leave_out(whole, columns, places)
            assert np.array_equal(np.unpackbits(row.view(np.uint8), bitorder="little"), expected[0])
            column_rows.put(tokens, spans, present, row)
            assert np.array_equal(np.unpackbits(row.view(np.uint8), bitorder="little"), expected[1])
        finally:
            jit_library.use_reference(False)


def test_rows_of_other_lengths_are_refused() -> None:
    with pytest.raises(LayoutError):
        column_rows.leave_out(np.zeros(2, np.int32), np.zeros((1, 3), np.int32), [0])
    with pytest.raises(LayoutError):
        column_rows.put(np.zeros(2, np.int64), [(0, 1)], True, np.zeros(1, np.int32))
