"""Vocabularies: bytes of real tokenizer files, tries, and the cache of tries."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from sglc.runtime.byte_level import TokenizerError
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.vocabulary import disk_cache
from sglc.runtime.mask.vocabulary.trie import build_trie
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

TEXTS = ["the cat sat on the mat", "the café is near", "a naïve “quote” 😀", "x = [1, 22, 333]\n\n\tend"]


@pytest.fixture
def byte_level(tmp_path: Path) -> Path:
    """A small byte-level BPE tokenizer with special tokens, as a folder of its files."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<|end|>", "<|pad|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXTS * 4, trainer)
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": [0, 99999]}))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"eos_token": "<|pad|>"}))
    return path


@pytest.fixture
def sentencepiece(tmp_path: Path) -> Path:
    """A small tokenizer in the manner of SentencePiece: `▁` for spaces and byte pieces."""
    pieces = [
        "<unk>",
        "<s>",
        "</s>",
        *(f"<0x{byte:02X}>" for byte in range(256)),
        "▁",
        "a",
        "b",
        "▁a",
        "▁ab",
        "é",
    ]
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(vocabulary, [("▁", "a")], unk_token="<unk>", byte_fallback=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    tokenizer.add_special_tokens(["<s>", "</s>"])
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    return path


def test_byte_level_tokens_spell_the_text(byte_level: Path) -> None:
    tokenizer = Tokenizer.from_file(str(byte_level))
    vocabulary = Vocabulary.from_tokenizer_json(byte_level)
    assert vocabulary.size == tokenizer.get_vocab_size()
    for text in TEXTS:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        assert b"".join(vocabulary.token_bytes[i] or b"" for i in ids) == text.encode()
    assert vocabulary.token_bytes[:2] == (None, None)
    assert vocabulary.end_ids == {0, 1}
    assert not vocabulary.missing_bytes()


def test_sentencepiece_tokens_spell_the_text(sentencepiece: Path) -> None:
    tokenizer = Tokenizer.from_file(str(sentencepiece))
    vocabulary = Vocabulary.from_tokenizer_json(sentencepiece)
    for text in ("a b", " ab", "é ☃"):
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        assert b"".join(vocabulary.token_bytes[i] or b"" for i in ids) == text.encode()
    for special in ("<unk>", "<s>", "</s>"):
        assert vocabulary.token_bytes[tokenizer.token_to_id(special)] is None


def test_a_byte_piece_and_a_letter_may_be_one_text(sentencepiece: Path) -> None:
    vocabulary = Vocabulary.from_tokenizer_json(sentencepiece)
    twins = [index for index, data in enumerate(vocabulary.token_bytes) if data == b"a"]
    assert len(twins) == 2
    node = [n for n in range(vocabulary.trie.size) if vocabulary.trie.path(n) == b"a"]
    assert vocabulary.trie.ids(node[0]) == twins


def test_transformers_tokenizers_are_read(byte_level: Path) -> None:
    class Fast:
        """What a transformers tokenizer with a fast backend shows."""

        backend_tokenizer = Tokenizer.from_file(str(byte_level))
        all_special_ids = (0, 1)
        eos_token_id = 0

    vocabulary = Vocabulary.from_pretrained(Fast())
    assert vocabulary.token_bytes == Vocabulary.from_tokenizer_json(byte_level).token_bytes
    assert vocabulary.end_ids == {0}
    with pytest.raises(TokenizerError):
        Vocabulary.from_pretrained(object())


def test_other_tokenizers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    for text in ("", "[]", "{}", '{"model": {"vocab": {"a": 0}}, "decoder": {"type": "WordPiece"}}'):
        path.write_text(text)
        with pytest.raises(TokenizerError):
            Vocabulary.from_tokenizer_json(path)
    path.write_text('{"model": {"vocab": {"a": 99999999999}}, "decoder": {"type": "ByteLevel"}}')
    with pytest.raises(TokenizerError, match="limit"):
        Vocabulary.from_tokenizer_json(path)


def test_bytes_that_no_token_has_are_named() -> None:
    vocabulary = Vocabulary([bytes([byte]) for byte in range(256) if byte != 7] + [b"ab", None])
    assert vocabulary.missing_bytes() == {7}
    with pytest.raises(ValueError, match="end token"):
        Vocabulary([b"a"], frozenset([1]))


def test_end_tokens_have_no_text() -> None:
    vocabulary = Vocabulary([b"a", b"</s>", b"b"], frozenset([1]))
    assert vocabulary.token_bytes == (b"a", None, b"b")
    matcher = compile_constraint(regex=".*").matcher(vocabulary)
    assert matcher.allowed().tolist() == [0, 2]
    assert not matcher.accept(1)


TOKENS = st.lists(st.none() | st.binary(max_size=4) | st.sampled_from((b"a", b"ab", b"abc")), max_size=40)


@given(TOKENS)
def test_tries_hold_exactly_the_tokens(tokens: list[bytes | None]) -> None:
    trie = build_trie(tokens)
    found: dict[int, bytes] = {}
    for node in range(trie.size):
        for index in trie.ids(node):
            assert index not in found
            found[index] = trie.path(node)
        below = [n for n in range(node + 1, trie.size) if trie.path(n).startswith(trie.path(node))]
        assert below == list(range(node + 1, trie.end[node]))
    assert found == {index: data for index, data in enumerate(tokens) if data}
    paths = [trie.path(node) for node in range(trie.size)]
    assert paths == sorted(set(paths))


def test_digests_tell_vocabularies_apart() -> None:
    digests = {
        Vocabulary(tokens, ends).digest
        for tokens, ends in (
            ([b"ab", b"c"], frozenset()),
            ([b"a", b"bc"], frozenset()),
            ([b"ab", b"c"], frozenset([0])),
            ([b"ab", b"c", None], frozenset()),
            ([b"ab", b"c", b""], frozenset()),
        )
    }
    assert len(digests) == 5


def test_tries_are_kept_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SGLC_CACHE_DIR", str(tmp_path))
    trie = build_trie([b"a", b"ab", b"b", b"a"])
    assert disk_cache.load("d" * 64, 4) is None
    disk_cache.save("d" * 64, trie)
    again = disk_cache.load("d" * 64, 4)
    assert again is not None
    for name in ("byte", "depth", "end", "token", "duplicates"):
        assert (getattr(again, name) == getattr(trie, name)).all()
    assert again.deepest == 2

    # Ids beyond the vocabulary, a flipped byte, a cut file: all as if there were none.
    assert disk_cache.load("d" * 64, 2) is None
    (stored,) = (tmp_path / "tries").iterdir()
    data = bytearray(stored.read_bytes())
    data[100] ^= 1
    stored.write_bytes(data)
    assert disk_cache.load("d" * 64, 4) is None
    stored.write_bytes(data[:10])
    assert disk_cache.load("d" * 64, 4) is None


def test_rows_and_ids_are_the_same_set() -> None:
    vocabulary = Vocabulary([b"a"] * 70)
    flags = np.zeros(70, bool)
    flags[[0, 31, 32, 69]] = True
    row = vocabulary.pack(flags)
    assert row.dtype == np.int32
    assert row.tolist() == [-(2**31) + 1, 1, 32]
    assert vocabulary.unpack(row).tolist() == [0, 31, 32, 69]


def test_a_prefix_is_extended_exactly_if_a_longer_token_begins_with_it() -> None:
    tokens = [b"a", b"ab", b"abcd", b"b", b"\xc3\xa9", b"ca", None, b""]
    trie = build_trie(tokens)
    prefixes = {data[:size] for data in tokens if data for size in range(1, len(data) + 1)} | {
        b"z",
        b"ad",
        b"abcde",
    }
    for prefix in sorted(prefixes):
        longer = any(data and data.startswith(prefix) and len(data) > len(prefix) for data in tokens)
        assert trie.extends(prefix) is longer, prefix
