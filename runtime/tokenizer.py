"""Text to tokens and back, byte for byte.

The one idea: a tokenizer of ours never changes text. What `encode` is given comes back from `bytes_of`
unchanged, and the spelling of a special token in it stays ordinary text. So the definition (the contents of
a `tokenizer.json`) is rewritten before use: added special tokens, truncation, padding and the
post-processor are taken out, steps that add a space in front are turned off, Unicode normalisation is left
out, and a tokenizer that loses text by its nature (lower-casing, stripping, words only) is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sglc.runtime.byte_level import TokenizerError, byte_alphabet
from sglc.runtime.chat import ChatTemplate, SpecialMark

if TYPE_CHECKING:
    from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

Definition = dict[str, Any]
"""The contents of a `tokenizer.json`, or a part of them. Whoever reads a value checks its kind, or catches
what a wrong one leads to."""

END_OF_TURN = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end|>",
    "<end_of_turn>",
    "<turn|>",
    "<|end_of_turn|>",
    "<|return|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|endoftext|>",
    "<|end_of_text|>",
)
"""Names of special tokens that end a message or a text in the usual chat formats."""

MAX_DEFINITION = 256 << 20
"""Bytes; a larger tokenizer file is refused."""

MOST_TOKENS = 1 << 22
"""Ids of a vocabulary; those of today's models have up to 262,144. Tables of ids are made by this number."""

_UNICODE_FORMS = {"NFC", "NFD", "NFKC", "NFKD"}
_SPACE_MARK = "\u2581"


@cache
def _byte_translation() -> dict[int, int]:
    """For `str.translate`: an alphabet character to the code point of its byte, other Latin-1 to no byte."""
    table = {point: 0xFFFF for point in range(256)}
    table.update({ord(char): byte for char, byte in byte_alphabet().items()})
    return table


class Tokenizer:
    """A model's tokenizer: vocabulary, exact encoding, and the chat template that belongs to it.

    `definition` is a parsed `tokenizer.json`. `size` is the length of the model's logits where it differs
    from the vocabulary (models pad it); ids without a token have no bytes. `end_ids` are the ids that end a
    text or a message. Raises TokenizerError.
    """

    def __init__(
        self,
        definition: Definition,
        *,
        end_ids: Iterable[int] = (),
        add_bos: bool | None = None,
        bos_token: str | None = None,
        size: int | None = None,
        chat_template: str | None = None,
        template_variables: Mapping[str, object] | None = None,
    ) -> None:
        from tokenizers import Tokenizer as Backend

        text_definition, special, dropped = inert_definition(definition)
        serialised = json.dumps(text_definition)
        try:
            self._backend = Backend.from_str(serialised)
        except Exception as error:  # the library raises bare Exception for every fault of a definition
            raise TokenizerError(f"the tokenizer definition is damaged: {error}") from error
        vocabulary = _vocabulary(definition)
        self.special: Mapping[str, int] = MappingProxyType(special)
        """Special tokens by name, to their ids."""
        known = max(max(vocabulary.values(), default=-1), max(special.values(), default=-1)) + 1
        self.size = known if size is None else size
        """Length of the vocabulary and of the model's logits."""
        if max(known, self.size) > MOST_TOKENS:
            raise TokenizerError(
                f"a vocabulary of {max(known, self.size)} tokens; {MOST_TOKENS} are the most"
            )
        if known > self.size:
            raise TokenizerError(
                f"the tokenizer has ids up to {known - 1}, but the model only {self.size} logits"
            )
        self.token_bytes: tuple[bytes | None, ...] = _token_bytes(
            text_definition, vocabulary, special, dropped, self.size
        )
        """The bytes of each id; None for special and unused ones."""
        inert = set(special.values())
        self.end_ids = frozenset(
            id
            for id in (*end_ids, *(special[name] for name in END_OF_TURN if name in special))
            if type(id) is int and id in inert
        )
        """Ids that end a text or a message."""
        self.bos_id = _bos_id(definition, special, add_bos, bos_token)
        """Id that the tokenizer puts at the start of a text, None if it puts none."""
        by_bytes = _is_byte_level(text_definition["pre_tokenizer"])
        by_bytes = by_bytes or _is_byte_level(text_definition.get("decoder"))
        self._missing = _missing_bytes(self.token_bytes) if by_bytes else frozenset()
        self._never = frozenset(id for id, data in enumerate(self.token_bytes) if data is None)
        self._space_mark = None if by_bytes else _bytes_as_tokens(_SPACE_MARK, vocabulary)
        self._vocabulary: Vocabulary | None = None
        facts = json.dumps([sorted(special.items()), sorted(self.end_ids), self.size, self.bos_id])
        self.digest = hashlib.sha256((serialised + facts).encode()).hexdigest()
        """SHA-256 of all that decides the tokens of a text."""
        self.chat: ChatTemplate | None = None
        if chat_template:
            marks = {
                added["content"]: SpecialMark(
                    added["id"], bool(added.get("lstrip", False)), bool(added.get("rstrip", False))
                )
                for added in definition.get("added_tokens") or ()
                if added["content"] in special
            }
            self.chat = ChatTemplate(chat_template, marks, template_variables)

    def encode(self, text: str) -> list[int]:
        """The canonical tokens of `text`. Special tokens are inert: their spelling is only text.

        Raises TokenizerError for text that the vocabulary cannot write.
        """
        if self._missing and (lost := set(text.encode()) & self._missing):
            raise TokenizerError(f"no token of this model can write the byte 0x{min(lost):02X}")
        if self._space_mark is None or _SPACE_MARK not in text:
            return self._encode(text)
        # Pieces write a space as U+2581, so that character itself has to be written by its bytes.
        if not self._space_mark:
            raise TokenizerError("this model has no tokens for the character U+2581")
        tokens: list[int] = []
        for index, part in enumerate(text.split(_SPACE_MARK)):
            tokens.extend((self._space_mark if index else []) + self._encode(part))
        return tokens

    def _encode(self, text: str) -> list[int]:
        tokens: list[int] = self._backend.encode(text, add_special_tokens=False).ids
        if not self._never.isdisjoint(tokens):
            raise TokenizerError("this model has no tokens for a part of the text")
        return tokens

    def bytes_of(self, ids: Iterable[int]) -> bytes:
        """What the tokens stand for; special and unused ones for nothing."""
        token_bytes = self.token_bytes
        return b"".join(token_bytes[id] or b"" for id in ids)

    def vocabulary(self) -> Vocabulary:
        """The vocabulary as the mask engine wants it, made once."""
        if self._vocabulary is None:
            from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

            self._vocabulary = Vocabulary(self.token_bytes, self.end_ids)
        return self._vocabulary

    @classmethod
    def from_directory(cls, directory: str | Path, *, size: int | None = None) -> Tokenizer:
        """Read `tokenizer.json` and the files beside it. Raises TokenizerError, OSError."""
        try:
            return cls._read(Path(directory), size)
        except TokenizerError:
            raise
        except (TypeError, AttributeError, KeyError, IndexError, ValueError) as error:
            raise TokenizerError(f"its files hold what they must not: {error!r}") from error

    @classmethod
    def _read(cls, folder: Path, size: int | None) -> Tokenizer:
        definition = _read_json(folder / "tokenizer.json")
        settings = _read_json(folder / "tokenizer_config.json", optional=True)
        generation = _read_json(folder / "generation_config.json", optional=True)
        model = _read_json(folder / "config.json", optional=True)
        ids = {added["content"]: added["id"] for added in definition.get("added_tokens") or ()}
        end_ids: set[int] = set()
        for source in (generation, model):
            ends = source.get("eos_token_id")
            end_ids.update(ends if isinstance(ends, list) else [] if ends is None else [ends])
        eos = _token_name(settings.get("eos_token"))
        if eos in ids:
            end_ids.add(ids[eos])
        template_file = folder / "chat_template.jinja"
        template: object = settings.get("chat_template")
        if template_file.is_file():
            template = template_file.read_text(encoding="utf-8")
        if isinstance(template, list):
            named = {entry.get("name"): entry.get("template") for entry in template}
            template = named.get("default")
        names = ("bos_token", "eos_token", "unk_token", "pad_token")
        variables = {name: _token_name(settings.get(name)) for name in names if settings.get(name)}
        return cls(
            definition,
            end_ids=end_ids,
            add_bos=settings.get("add_bos_token"),
            bos_token=_token_name(settings.get("bos_token")),
            size=size,
            chat_template=template if isinstance(template, str) else None,
            template_variables=variables,
        )

    @classmethod
    def of_bytes(
        cls,
        special: Sequence[str] = ("<|im_start|>", "<|im_end|>"),
        *,
        chat_template: str | None = None,
        template_variables: Mapping[str, object] | None = None,
    ) -> Tokenizer:
        """A tokenizer whose token ids 0..255 are the bytes themselves; `special` follow from 256 on."""
        vocabulary = byte_alphabet()
        definition = {
            "version": "1.0",
            "added_tokens": [added_token(256 + rank, name) for rank, name in enumerate(special)],
            "normalizer": None,
            "pre_tokenizer": byte_level(use_regex=False),
            "post_processor": None,
            "decoder": byte_level(),
            "model": {"type": "BPE", "vocab": vocabulary, "merges": []},
        }
        return cls(definition, chat_template=chat_template, template_variables=template_variables)


def added_token(id: int, content: str, *, special: bool = True) -> Definition:
    """An entry of a definition's `added_tokens`."""
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": id, "content": content, **flags, "special": special}


def byte_level(*, use_regex: bool = True) -> Definition:
    """The byte-level step of a definition, as pre-tokeniser (splitting by GPT-2's rule or not) or decoder."""
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}


def inert_definition(definition: Definition) -> tuple[Definition, dict[str, int], set[int]]:
    """The definition that encodes plain text exactly, the special tokens, and ids that text never becomes.

    Added tokens that are ordinary text stay, except those that swallow the white space around them.
    """
    model = dict(definition.get("model") or {})
    kind = model.get("type")
    if kind is None and "merges" in model:
        kind = model["type"] = "BPE"
    if kind not in ("BPE", "Unigram"):
        raise TokenizerError(
            f"tokenizers of kind {kind or 'unknown'} do not keep all text and are not supported"
        )
    added = [dict(token) for token in definition.get("added_tokens") or ()]
    if not all(type(token["id"]) is int and isinstance(token["content"], str) for token in added):
        raise TokenizerError("the tokenizer definition has added tokens without a number or a text")
    special = {token["content"]: int(token["id"]) for token in added if token.get("special")}
    kept, dropped = [], set()
    for token in added:
        if token.get("special"):
            continue
        if token.get("lstrip") or token.get("rstrip") or token.get("single_word"):
            dropped.add(int(token["id"]))
        else:
            kept.append({**token, "normalized": False})
    hidden = set(special.values()) | dropped
    if kind == "Unigram":
        model["vocab"] = [
            [f"\x00special {id}", -1e9] if id in hidden and id != model.get("unk_id") else entry
            for id, entry in enumerate(model["vocab"])
        ]
    elif model.get("ignore_merges"):
        keep = model.get("unk_token")
        model["vocab"] = {
            piece: id for piece, id in model["vocab"].items() if id not in hidden or piece == keep
        }
    model["dropout"] = None
    text_definition = {
        **definition,
        "truncation": None,
        "padding": None,
        "post_processor": None,
        "added_tokens": kept,
        "normalizer": _exact_normalizer(definition.get("normalizer")),
        "pre_tokenizer": _exact_pre_tokenizer(definition.get("pre_tokenizer")),
        "model": model,
    }
    return text_definition, special, dropped


def _exact_normalizer(step: Definition | None) -> Definition | None:
    """The normaliser without what changes text; only marking spaces remains."""
    if step is None:
        return None
    kind = step.get("type")
    if kind == "Sequence":
        steps = [kept for part in step["normalizers"] if (kept := _exact_normalizer(part)) is not None]
        return {"type": "Sequence", "normalizers": steps} if steps else None
    if kind in _UNICODE_FORMS or kind == "Prepend":
        return None
    if kind == "Replace" and step.get("pattern") == {"String": " "} and step.get("content") == _SPACE_MARK:
        return dict(step)
    raise TokenizerError(f"the tokenizer changes text before it splits it (normaliser {kind}): not supported")


def _exact_pre_tokenizer(step: Definition | None) -> Definition | None:
    """The pre-tokeniser without a space put in front of the text."""
    if step is None:
        return None
    kind = step.get("type")
    if kind == "Sequence":
        parts = [_exact_pre_tokenizer(part) for part in step["pretokenizers"]]
        return {"type": "Sequence", "pretokenizers": [part for part in parts if part is not None]}
    if kind == "ByteLevel":
        return {**step, "add_prefix_space": False}
    if kind == "Metaspace":
        rest = {
            key: value for key, value in step.items() if key not in ("add_prefix_space", "prepend_scheme")
        }
        return {**rest, "prepend_scheme": "never"}
    if kind in ("Digits", "UnicodeScripts"):
        return dict(step)
    if kind in ("Split", "Punctuation") and step.get("behavior") != "Removed":
        return dict(step)
    raise TokenizerError(f"the tokenizer drops or changes text as it splits it ({kind}): not supported")


def _vocabulary(definition: Definition) -> dict[str, int]:
    """All pieces of the model and all added tokens, to their ids."""
    pieces = definition["model"].get("vocab")
    if isinstance(pieces, Mapping):
        vocabulary = {str(piece): int(id) for piece, id in pieces.items()}
    elif isinstance(pieces, list):
        vocabulary = {entry[0]: id for id, entry in enumerate(pieces)}
    else:
        raise TokenizerError("the tokenizer definition has no vocabulary")
    for added in definition.get("added_tokens") or ():
        vocabulary[added["content"]] = int(added["id"])
    if vocabulary and min(vocabulary.values()) < 0:
        raise TokenizerError("the tokenizer definition has negative ids")
    return vocabulary


def _is_byte_level(step: Definition | None) -> bool:
    if step is None:
        return False
    if step.get("type") == "Sequence":
        return any(map(_is_byte_level, step.get("pretokenizers") or step.get("decoders") or ()))
    return step.get("type") == "ByteLevel"


def _token_bytes(
    definition: Definition,
    vocabulary: Mapping[str, int],
    special: Mapping[str, int],
    dropped: set[int],
    size: int,
) -> tuple[bytes | None, ...]:
    """Bytes by id: byte-level pieces through the GPT-2 alphabet, others as UTF-8 with marked spaces."""
    by_bytes = _is_byte_level(definition["pre_tokenizer"]) or _is_byte_level(definition.get("decoder"))
    plain = {token["content"] for token in definition["added_tokens"]}
    unknown = definition["model"].get("unk_token"), definition["model"].get("unk_id")
    fallback = bool(definition["model"].get("byte_fallback"))
    result: list[bytes | None] = [None] * size
    table = _byte_translation()
    for piece, id in vocabulary.items():
        if piece in special or id in dropped or piece == unknown[0] or id == unknown[1]:
            continue
        if piece in plain:
            # Added text goes through the decoder like all other pieces.
            result[id] = (piece if by_bytes else piece.replace(_SPACE_MARK, " ")).encode()
        elif by_bytes:
            try:
                result[id] = piece.translate(table).encode("latin-1") or None
            except UnicodeEncodeError:
                continue
        elif fallback and len(piece) == 6 and piece.startswith("<0x") and piece.endswith(">"):
            try:
                result[id] = bytes([int(piece[3:5], 16)])
            except ValueError:
                result[id] = piece.encode()
        else:
            result[id] = piece.replace(_SPACE_MARK, " ").encode("utf-8", "surrogatepass") or None
    return tuple(result)


def _missing_bytes(token_bytes: Sequence[bytes | None]) -> frozenset[int]:
    """Bytes of UTF-8 text that no single-byte token writes; byte-level merging starts from single bytes."""
    single = {data[0] for data in token_bytes if data is not None and len(data) == 1}
    return frozenset({*range(0xF5)} - {0xC0, 0xC1} - single)


def _bytes_as_tokens(text: str, vocabulary: Mapping[str, int]) -> list[int]:
    """The byte tokens that write the text; none where the vocabulary lacks one of them."""
    tokens = [vocabulary.get(f"<0x{byte:02X}>") for byte in text.encode()]
    return [id for id in tokens if id is not None] if None not in tokens else []


def _bos_id(
    definition: Definition, special: Mapping[str, int], add_bos: bool | None, bos_token: str | None
) -> int | None:
    """What the tokenizer puts at the start of a single text, by its post-processor or its settings."""
    named = special.get(bos_token) if bos_token is not None else None
    if add_bos is not None and named is not None:
        return named if add_bos else None
    return _first_of_template(definition.get("post_processor"), special)


def _first_of_template(step: Definition | None, special: Mapping[str, int]) -> int | None:
    if step is None:
        return None
    if step.get("type") == "Sequence":
        found = (_first_of_template(part, special) for part in step.get("processors") or ())
        return next((id for id in found if id is not None), None)
    if step.get("type") == "TemplateProcessing":
        single = step.get("single") or ()
        if single and "SpecialToken" in single[0]:
            return special.get(single[0]["SpecialToken"]["id"])
    return None


def _token_name(value: object) -> str | None:
    """A special token in `tokenizer_config.json` is a string or an object with `content`."""
    if isinstance(value, Mapping):
        value = value.get("content")
    return value if isinstance(value, str) else None


def _read_json(path: Path, *, optional: bool = False) -> Definition:
    if optional and not path.is_file():
        return {}
    if path.stat().st_size > MAX_DEFINITION:
        raise TokenizerError(f"{path.name} is larger than {MAX_DEFINITION >> 20} MiB")
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise TokenizerError(f"{path.name} is not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise TokenizerError(f"{path.name} does not hold a JSON object")
    return value
