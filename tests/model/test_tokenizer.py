"""Tokenizers: text comes back byte for byte, special tokens stay inert, ids are those of the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sglc.runtime.byte_level import TokenizerError, byte_alphabet
from sglc.runtime.chat import SpecialToken
from sglc.runtime.tokenizer import Tokenizer, added_token, byte_level

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)


def byte_level_definition(**changes: Any) -> dict[str, Any]:
    """A byte-level BPE with a few merges, one special token within its vocabulary and one behind it."""
    pieces = [*byte_alphabet(), "th", "the", "Ġt", "Ġthe", "<|", "|>", "im", "<|im_end|>"]
    merges = [["t", "h"], ["th", "e"], ["Ġ", "t"], ["Ġt", "he"], ["<", "|"], ["|", ">"], ["i", "m"]]
    merges[3:4] = [["Ġ", "the"]]
    size = len(pieces)
    return {
        "version": "1.0",
        "added_tokens": [added_token(size - 1, "<|im_end|>"), added_token(size, "<|im_start|>")],
        "normalizer": None,
        "pre_tokenizer": {**byte_level(), "add_prefix_space": True},
        "post_processor": None,
        "decoder": byte_level(),
        "model": {"type": "BPE", "vocab": {piece: id for id, piece in enumerate(pieces)}, "merges": merges},
        **changes,
    }


def sentencepiece_definition(kind: str) -> dict[str, Any]:
    """A SentencePiece-like tokenizer with byte fallback; `kind` is BPE or Unigram."""
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    pieces += ["▁", "a", "b", "c", "▁a", "ab", "▁ab", "é"]
    marking = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    prepend = {"type": "Prepend", "prepend": "▁"}
    common = {"byte_fallback": True}
    if kind == "BPE":
        model = {
            "type": "BPE",
            "unk_token": "<unk>",
            "fuse_unk": True,
            "vocab": {piece: id for id, piece in enumerate(pieces)},
            "merges": [["▁", "a"], ["a", "b"], ["▁a", "b"]],
            **common,
        }
    else:
        model = {"type": "Unigram", "unk_id": 0, "vocab": [[piece, -1.0] for piece in pieces], **common}
    return {
        "version": "1.0",
        "added_tokens": [added_token(id, pieces[id]) for id in range(3)],
        "normalizer": {"type": "Sequence", "normalizers": [prepend, marking]},
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": None,
        "model": model,
    }


BYTE_LEVEL = Tokenizer(byte_level_definition())
BYTES = Tokenizer.of_bytes()


@given(texts)
@pytest.mark.parametrize("tokenizer", [BYTE_LEVEL, BYTES], ids=["byte-level", "bytes"])
def test_text_comes_back_byte_for_byte(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.bytes_of(tokenizer.encode(text)) == text.encode()


@given(text=st.text("ab c<>/s▁é日\n", max_size=20))
@pytest.mark.parametrize("kind", ["BPE", "Unigram"])
def test_sentencepiece_text_comes_back_byte_for_byte(kind: str, text: str) -> None:
    tokenizer = SENTENCEPIECE[kind]
    assert tokenizer.bytes_of(tokenizer.encode(text)) == text.encode()


SENTENCEPIECE = {kind: Tokenizer(sentencepiece_definition(kind)) for kind in ("BPE", "Unigram")}


@given(st.lists(st.sampled_from(["<|im_end|>", "<|im_start|>", " the ", "<|", "im"]), max_size=6))
def test_the_spelling_of_a_special_token_never_becomes_that_token(parts: list[str]) -> None:
    tokens = BYTE_LEVEL.encode("".join(parts))
    assert not set(tokens) & set(BYTE_LEVEL.special.values())


@pytest.mark.parametrize("kind", ["BPE", "Unigram"])
def test_sentencepiece_special_tokens_are_inert(kind: str) -> None:
    tokens = SENTENCEPIECE[kind].encode("a</s>b<s><unk>")
    assert not set(tokens) & {0, 1, 2}
    assert SENTENCEPIECE[kind].token_bytes[:3] == (None, None, None)


def test_whole_words_that_are_special_stay_inert_where_merges_are_ignored() -> None:
    definition = byte_level_definition()
    definition["model"] = {**definition["model"], "ignore_merges": True}
    definition["pre_tokenizer"] = byte_level(use_regex=False)
    tokenizer = Tokenizer(definition)
    assert tokenizer.bytes_of(tokenizer.encode("<|im_end|>")) == b"<|im_end|>"


def test_merges_apply_and_no_space_is_put_in_front() -> None:
    vocabulary = byte_level_definition()["model"]["vocab"]
    assert BYTE_LEVEL.encode("the the") == [vocabulary["the"], vocabulary["Ġthe"]]


def test_ids_beyond_the_vocabulary_have_no_bytes() -> None:
    tokenizer = Tokenizer(byte_level_definition(), size=300)
    assert tokenizer.size == len(tokenizer.token_bytes) == 300
    assert tokenizer.token_bytes[299] is None
    with pytest.raises(TokenizerError, match="logits"):
        Tokenizer(byte_level_definition(), size=200)


def test_end_tokens_are_known_by_name_and_by_setting() -> None:
    assert BYTE_LEVEL.end_ids == {BYTE_LEVEL.special["<|im_end|>"]}
    start = BYTE_LEVEL.special["<|im_start|>"]
    assert Tokenizer(byte_level_definition(), end_ids=[start, 5]).end_ids == BYTE_LEVEL.end_ids | {start}


def test_the_beginning_token_is_the_one_that_the_tokenizer_adds() -> None:
    single = [
        {"SpecialToken": {"id": "<|im_start|>", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
    ]
    step = {"type": "TemplateProcessing", "single": single, "pair": [], "special_tokens": {}}
    adding = byte_level_definition(post_processor=step)
    assert BYTE_LEVEL.bos_id is None
    assert Tokenizer(adding).bos_id == BYTE_LEVEL.special["<|im_start|>"]
    assert Tokenizer(adding, add_bos=False, bos_token="<|im_start|>").bos_id is None


def test_unicode_normalisation_is_left_out() -> None:
    tokenizer = Tokenizer(byte_level_definition(normalizer={"type": "NFC"}))
    assert tokenizer.bytes_of(tokenizer.encode("e\u0301")) == "e\u0301".encode()


@pytest.mark.parametrize(
    "changes",
    [
        {"normalizer": {"type": "Lowercase"}},
        {"pre_tokenizer": {"type": "Whitespace"}},
        {"model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}},
        {"model": {}},
    ],
    ids=["lower-case", "white space", "words", "nothing"],
)
def test_a_tokenizer_that_loses_text_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(TokenizerError):
        Tokenizer(byte_level_definition(**changes))


def test_text_that_no_token_writes_is_refused_not_lost() -> None:
    definition = byte_level_definition()
    pieces = {piece: id for piece, id in definition["model"]["vocab"].items() if piece != "Z"}
    tokenizer = Tokenizer({**definition, "model": {**definition["model"], "vocab": pieces}})
    assert tokenizer.encode("A")
    with pytest.raises(TokenizerError, match="0x5A"):
        tokenizer.encode("AZ")


def test_added_tokens_that_swallow_white_space_are_left_out() -> None:
    greedy = {**added_token(265, "<sep>", special=False), "lstrip": True}
    definition = byte_level_definition()
    tokenizer = Tokenizer({**definition, "added_tokens": [*definition["added_tokens"], greedy]})
    assert tokenizer.bytes_of(tokenizer.encode("a  <sep>b")) == b"a  <sep>b"
    assert tokenizer.token_bytes[265] is None


def test_the_digest_tells_tokenizers_apart() -> None:
    same, other = Tokenizer(byte_level_definition()), Tokenizer(byte_level_definition(), size=300)
    assert same.digest == BYTE_LEVEL.digest != other.digest


def test_a_folder_is_read_with_the_files_beside_it(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(byte_level_definition()))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"eos_token": {"content": "<|im_start|>"}}))
    (tmp_path / "chat_template.jinja").write_text(CHATML)
    tokenizer = Tokenizer.from_directory(tmp_path)
    start, end = tokenizer.special["<|im_start|>"], tokenizer.special["<|im_end|>"]
    assert tokenizer.end_ids == {start, end}
    assert tokenizer.chat is not None
    assert tokenizer.chat.pieces(("user",)) == (SpecialToken(start), "user\n")


def test_a_damaged_file_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(TokenizerError, match=r"tokenizer\.json is not valid JSON"):
        Tokenizer.from_directory(tmp_path)


@settings(max_examples=20)
@given(st.lists(st.integers(0, 270), max_size=8))
def test_bytes_of_tokens_are_the_bytes_of_each(tokens: list[int]) -> None:
    known = [token for token in tokens if token < BYTE_LEVEL.size]
    joined = b"".join(BYTE_LEVEL.token_bytes[token] or b"" for token in known)
    assert BYTE_LEVEL.bytes_of(known) == joined


def test_the_vocabulary_is_made_once() -> None:
    assert BYTES.vocabulary() is BYTES.vocabulary()
    assert BYTES.vocabulary().size == 258
