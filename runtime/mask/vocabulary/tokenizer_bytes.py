"""The bytes that each token of a tokenizer writes.

Two families exist in practice. Byte-level BPE spells every byte as one printable character (the table of
GPT-2). SentencePiece spells a space as `▁` and has `<0xHH>` tokens for bytes without a piece of their own.
The `decoder` of a `tokenizer.json` says which of the two it is; anything else is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NotRequired, TypedDict

from sglc.runtime.byte_level import TokenizerError, byte_alphabet

_BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>\Z")
_MOST_TOKENS = 4_000_000
"""Tokens of a vocabulary, ten times the largest in use: a single huge id in a damaged file must not take all
memory."""


class _Added(TypedDict):
    id: int
    content: str
    special: NotRequired[bool]


class _Definition(TypedDict):
    """What is read of a `tokenizer.json`."""

    model: dict[str, object]
    added_tokens: NotRequired[list[_Added] | None]
    decoder: NotRequired[object]


def token_bytes_of_json(path: Path) -> tuple[list[bytes | None], frozenset[int]]:
    """(bytes by id, end ids) of a `tokenizer.json`; end ids from the configuration files beside it."""
    try:
        data: _Definition = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as fault:
        raise TokenizerError(f"{path}: not a readable tokenizer.json ({fault})") from None
    if not isinstance(data, dict) or not isinstance(data.get("model"), dict):
        raise TokenizerError(f"{path}: not a tokenizer.json")
    return _token_bytes(data), _end_ids(path.parent, data)


def token_bytes_of_pretrained(tokenizer: object) -> tuple[list[bytes | None], frozenset[int]]:
    """(bytes by id, end ids) of a transformers tokenizer with a fast backend."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise TokenizerError(f"{type(tokenizer).__name__} has no `tokenizers` backend to read")
    table = _token_bytes(json.loads(backend.to_str()))
    for index in getattr(tokenizer, "all_special_ids", ()):
        if 0 <= index < len(table):
            table[index] = None
    end = getattr(tokenizer, "eos_token_id", None)
    return table, frozenset() if end is None else frozenset([end])


def _token_bytes(data: _Definition) -> list[bytes | None]:
    pieces = _pieces(data["model"])
    added = data.get("added_tokens") or []
    size = 1 + max([*pieces.values(), *(token["id"] for token in added)], default=-1)
    if size > _MOST_TOKENS:
        raise TokenizerError(f"a token id of {size - 1} is beyond the limit of {_MOST_TOKENS}")
    table: list[bytes | None] = [None] * size
    kinds = _decoder_kinds(data.get("decoder"))
    marked = False
    if "ByteLevel" in kinds:
        alphabet = byte_alphabet()
        for piece, index in pieces.items():
            if all(character in alphabet for character in piece):
                table[index] = bytes(alphabet[character] for character in piece)
    elif kinds & {"ByteFallback", "Metaspace"} or _replaces_underline(data.get("decoder")):
        marked = True
        for piece, index in pieces.items():
            byte = _BYTE_PIECE.match(piece)
            if byte:
                table[index] = bytes([int(byte[1], 16)])
            else:
                table[index] = piece.replace("\u2581", " ").encode("utf-8", "replace")
    else:
        raise TokenizerError(
            f"a tokenizer with the decoder {sorted(kinds) or 'none'} is not byte-level and not SentencePiece"
        )
    unknown = data["model"].get("unk_token")
    if isinstance(unknown, str) and unknown in pieces:
        table[pieces[unknown]] = None
    for token in added:
        # Added text that is not special goes through the decoder as well.
        content = str(token["content"])
        content = content.replace("\u2581", " ") if marked else content
        table[token["id"]] = None if token.get("special") else content.encode()
    return [data or None for data in table]


def _pieces(model: Mapping[str, object]) -> dict[str, int]:
    vocabulary = model.get("vocab")
    if isinstance(vocabulary, dict):
        pieces = dict(vocabulary)
    elif isinstance(vocabulary, list):
        # A unigram model lists [piece, score] pairs in order of id.
        pieces = {piece[0]: index for index, piece in enumerate(vocabulary)}
    else:
        raise TokenizerError("the tokenizer has no vocabulary")
    if not all(isinstance(index, int) and index >= 0 for index in pieces.values()):
        raise TokenizerError("the vocabulary has ids that are not numbers")
    return pieces


def _decoder_kinds(decoder: object) -> set[str]:
    if not isinstance(decoder, dict):
        return set()
    kinds = {str(decoder.get("type"))}
    for part in decoder.get("decoders") or []:
        kinds |= _decoder_kinds(part)
    return kinds


def _replaces_underline(decoder: object) -> bool:
    return "\u2581" in json.dumps(decoder, ensure_ascii=False)


def _end_ids(folder: Path, data: _Definition) -> frozenset[int]:
    """End tokens named by `generation_config.json`, `config.json` or `tokenizer_config.json`, if any."""
    found: set[int] = set()
    for name in ("generation_config.json", "config.json"):
        value = _read_object(folder / name).get("eos_token_id")
        found.update(i for i in (value if isinstance(value, list) else [value]) if isinstance(i, int))
    named = _read_object(folder / "tokenizer_config.json").get("eos_token")
    if isinstance(named, dict):
        named = named.get("content")
    for token in data.get("added_tokens") or []:
        if token["content"] == named:
            found.add(token["id"])
    size = 1 + max(
        [*_pieces(data["model"]).values(), *(t["id"] for t in data.get("added_tokens") or [])], default=-1
    )
    return frozenset(i for i in found if 0 <= i < size)


def _read_object(path: Path) -> Mapping[str, object]:
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
