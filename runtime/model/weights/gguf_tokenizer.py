"""The tokenizer in a GGUF file, as the contents of a `tokenizer.json`.

A GGUF file names the rule that splits text before byte-pair merging (`tokenizer.ggml.pre`) without giving
it. A wrong rule gives wrong tokens and a model that is quietly worse, so an unknown name is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sglc.runtime.model.weights.errors import ModelError
from sglc.runtime.model.weights.gguf import Metadata
from sglc.runtime.tokenizer import Definition, added_token, byte_level

_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_WORDS = r"|[^\r\n\p{L}\p{N}]?\p{L}+|"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_LLAMA_3 = _CONTRACTIONS + _WORDS + r"\p{N}{1,3}" + _REST
_QWEN_2 = _CONTRACTIONS + _WORDS + r"\p{N}" + _REST

_GPT_2_NAMES = {"gpt-2", "gpt2", "default", "phi-2", "mpt", "olmo", "jina-en", "jina-es", "jina-de"}
_DIGIT_NAMES = {"smollm", "starcoder", "refact", "command-r", "codeshell", "minerva-7b"}
_LLAMA_3_NAMES = {"llama-bpe", "llama3", "llama-v3"}
_QWEN_2_NAMES = {"qwen2", "stablelm2", "deepseek-r1-qwen", "megrez"}

_UNKNOWN, _CONTROL, _USER, _UNUSED, _BYTE = 2, 3, 4, 5, 6
"""Kinds of token in `tokenizer.ggml.token_type`; 1 is ordinary."""


def tokenizer_definition(metadata: Metadata, where: str) -> Definition:
    """The contents of a `tokenizer.json` from GGUF metadata. Raises ModelError for an unknown kind."""
    tokens = metadata.get("tokenizer.ggml.tokens")
    if not isinstance(tokens, list) or not tokens:
        raise ModelError("the GGUF file has no vocabulary", where, "tokenizer.ggml.tokens is missing")
    kinds = metadata.get("tokenizer.ggml.token_type")
    if kinds is not None and (not isinstance(kinds, np.ndarray) or kinds.dtype.kind not in "iu"):
        raise ModelError(
            "the GGUF file is damaged", where, "tokenizer.ggml.token_type holds no whole numbers"
        )
    kinds = [1] * len(tokens) if kinds is None else kinds.tolist()
    if len(kinds) != len(tokens):
        raise ModelError("the GGUF file is damaged", where, f"{len(kinds)} kinds for {len(tokens)} tokens")
    model = metadata.get("tokenizer.ggml.model")
    added = [
        added_token(id, token, special=kind == _CONTROL)
        for id, (token, kind) in enumerate(zip(tokens, kinds, strict=True))
        if kind in (_CONTROL, _USER)
    ]
    if not isinstance(model, str):
        raise ModelError("the GGUF file is damaged", where, "tokenizer.ggml.model is no name")
    if model == "gpt2":
        parts = _byte_level_parts(metadata, tokens, where)
    elif model == "llama":
        parts = _sentencepiece_parts(metadata, tokens, where)
    else:
        raise ModelError(
            "tokenizer of the GGUF file not supported",
            where,
            f"kind {model!r}; known are 'gpt2' (byte-level BPE) and 'llama' (SentencePiece BPE)",
        )
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, **parts}


def _byte_level_parts(metadata: Metadata, tokens: Sequence[str], where: str) -> Definition:
    merges = metadata.get("tokenizer.ggml.merges")
    if not isinstance(merges, list):
        raise ModelError("the GGUF file is damaged", where, "tokenizer.ggml.merges is missing")
    pairs = [merge.split(" ") for merge in merges]
    if any(len(pair) != 2 for pair in pairs):
        raise ModelError("the GGUF file is damaged", where, "a merge is not a pair")
    name = _rule(metadata)
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": name in _LLAMA_3_NAMES,
        "vocab": _numbered(tokens, where),
        "merges": pairs,
    }
    return {
        "normalizer": None,
        "pre_tokenizer": _splitting(name, where),
        "post_processor": None,
        "decoder": byte_level(),
        "model": model,
    }


def _rule(metadata: Metadata) -> str:
    """The name of the rule that splits text."""
    name = metadata.get("tokenizer.ggml.pre", "default")
    return name if isinstance(name, str) else repr(name)


def _splitting(name: str, where: str) -> Definition:
    """The pre-tokeniser that a name of `tokenizer.ggml.pre` stands for."""
    if name in _GPT_2_NAMES:
        return byte_level()
    if name in _DIGIT_NAMES:
        digits = {"type": "Digits", "individual_digits": True}
        return {"type": "Sequence", "pretokenizers": [digits, byte_level()]}
    pattern = _LLAMA_3 if name in _LLAMA_3_NAMES else _QWEN_2 if name in _QWEN_2_NAMES else None
    if pattern is None:
        known = sorted(_GPT_2_NAMES | _DIGIT_NAMES | _LLAMA_3_NAMES | _QWEN_2_NAMES)
        raise ModelError(
            "tokenizer of the GGUF file not supported",
            where,
            f"it splits text by the rule {name!r}, which is not known; known are {', '.join(known)}",
            "use the model's folder with its tokenizer.json",
        )
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return {"type": "Sequence", "pretokenizers": [split, byte_level(use_regex=False)]}


def _sentencepiece_parts(metadata: Metadata, tokens: Sequence[str], where: str) -> Definition:
    """SentencePiece BPE: scores give the order of merges, bytes stand in for unknown characters."""
    scores = metadata.get("tokenizer.ggml.scores")
    if not isinstance(scores, np.ndarray) or len(scores) != len(tokens):
        raise ModelError("the GGUF file is damaged", where, "tokenizer.ggml.scores does not fit its tokens")
    unknown = metadata.get("tokenizer.ggml.unknown_token_id", 0)
    vocabulary = _numbered(tokens, where)
    if not isinstance(unknown, int) or not 0 <= unknown < len(tokens):
        raise ModelError("the GGUF file is damaged", where, f"unknown token {unknown}")
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": tokens[unknown],
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": True,
        "byte_fallback": True,
        "ignore_merges": False,
        "vocab": vocabulary,
        "merges": merges_by_score(vocabulary, [float(score) for score in scores]),
    }
    marking = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    return {
        "normalizer": marking,
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": None,
        "model": model,
    }


def merges_by_score(vocabulary: Mapping[str, int], scores: Sequence[float]) -> list[list[str]]:
    """All pairs of pieces that make a piece, the best score first; then by the ids of the parts."""
    found = []
    for piece, id in vocabulary.items():
        for cut in range(1, len(piece)):
            left, right = vocabulary.get(piece[:cut]), vocabulary.get(piece[cut:])
            if left is not None and right is not None:
                found.append((-scores[id], left, right, piece[:cut], piece[cut:]))
    found.sort()
    return [[left, right] for *_, left, right in found]


def _numbered(tokens: Sequence[str], where: str) -> dict[str, int]:
    vocabulary = {token: id for id, token in enumerate(tokens)}
    if len(vocabulary) != len(tokens):
        raise ModelError("the GGUF file is damaged", where, "two tokens have the same spelling")
    return vocabulary


def special_names(metadata: Metadata) -> dict[str, str]:
    """The names of beginning, end, unknown and padding tokens, as `tokenizer_config.json` calls them."""
    tokens = metadata["tokenizer.ggml.tokens"]
    keys = {"bos_token": "bos", "eos_token": "eos", "unk_token": "unknown", "pad_token": "padding"}
    names = {}
    for name, key in keys.items():
        id = metadata.get(f"tokenizer.ggml.{key}_token_id")
        if isinstance(id, int) and 0 <= id < len(tokens):
            names[name] = tokens[id]
    return names


def end_ids(metadata: Metadata) -> list[int]:
    """Ids that end a text or a turn, by the metadata."""
    ids = (metadata.get(f"tokenizer.ggml.{key}_token_id") for key in ("eos", "eot", "eom"))
    return sorted({id for id in ids if isinstance(id, int)})


def adds_bos(metadata: Metadata) -> bool:
    """Whether a text starts with the beginning token; SentencePiece models do so unless they say no."""
    default = metadata.get("tokenizer.ggml.model") == "llama"
    default = default or _rule(metadata) in _LLAMA_3_NAMES
    said = metadata.get("tokenizer.ggml.add_bos_token", default)
    return said if isinstance(said, bool) else default
