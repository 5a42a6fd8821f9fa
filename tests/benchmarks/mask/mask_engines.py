"""Mask engines behind one small interface, so that the benchmarks beside this file can compare them.

An engine lives in a worker process of its own (see mask_worker.py) and serves many constraints, one after
the other. Nothing of sglc is imported unless its adapter is made: the other engines may run in a Python
environment that does not have it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

END_NAMES = ("<|eot_id|>", "<end_of_turn>", "<|im_end|>", "</s>", "<|endoftext|>", "<eos>")
KINDS = ("schema", "regex", "lark")


class Refused(Exception):
    """The engine says that it does not take this constraint."""


class GaveUp(Exception):
    """The engine stopped in the middle of a text."""


class TokenizerFile:
    """A `tokenizer.json`: encoding of text, and the token that ends it."""

    def __init__(self, path: str) -> None:
        from tokenizers import Tokenizer

        self.path = path
        self.encoder = Tokenizer.from_file(path)
        self.encoder.encode_special_tokens = True  # "<|eot_id|>" inside of a text is nothing but text
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        ids = {token["content"]: token["id"] for token in data["added_tokens"]}
        self.size = 1 + max(max(ids.values(), default=0), max(_vocabulary(data).values()))
        self.end_text = next(name for name in END_NAMES if name in ids)
        self.end = ids[self.end_text]

    @property
    def words(self) -> int:
        """Length of a mask in 32-bit words: token t is bit t % 32 of word t // 32."""
        return (self.size + 31) // 32

    def encode(self, text: str) -> list[int]:
        return list(self.encoder.encode(text, add_special_tokens=False).ids)

    def decode(self, tokens: list[int]) -> str:
        return str(self.encoder.decode(tokens, skip_special_tokens=False))

    def transformers(self) -> Any:
        """The tokenizer object that other engines want."""
        from transformers import PreTrainedTokenizerFast

        made = PreTrainedTokenizerFast(tokenizer_file=self.path)
        made.eos_token = self.end_text
        return made


def _vocabulary(data: dict[str, Any]) -> dict[str, int]:
    pieces = data["model"]["vocab"]
    return pieces if isinstance(pieces, dict) else {piece[0]: i for i, piece in enumerate(pieces)}


class Engine:
    """What an adapter offers. The row of masks is `row` (uint32 words); the bit of the end token is set in it
    exactly where the text may end.

    `compile` (raises Refused), `start` and `mask`, `commit` are timed. `start` begins a first text, `again`
    one more text under the same constraint in the cheapest way that the engine has.
    """

    package = ""

    def __init__(self, tokenizer: TokenizerFile) -> None:
        self.tokenizer = tokenizer
        self.array = np.zeros(tokenizer.words, np.int32)
        self.row = self.array.data.cast("B").cast("I")
        self.commit: Callable[[int], bool]

    def version(self) -> str:
        return version(self.package)

    def compile(self, kind: str, constraint: Any, options: dict[str, Any]) -> None:
        raise NotImplementedError

    def start(self) -> None:
        raise NotImplementedError

    def again(self) -> None:
        self.start()

    def mask(self) -> None:
        raise NotImplementedError

    def fault(self) -> str | None:
        """Why the engine cannot go on in this text."""
        return None

    def allows(self, token: int) -> bool:
        return bool(self.row[token >> 5] >> (token & 31) & 1)


def compile_schema(schema: Any, **options: Any) -> Any:
    """A constraint for a JSON Schema; options are those of the schema compiler."""
    from sglc.runtime.mask.constraint import compile_constraint
    from sglc.schema.core.options import SchemaOptions

    return compile_constraint(json_schema=schema, schema_options=SchemaOptions(**options))


def lark_language(text: str, options: dict[str, Any]) -> Any:
    """A grammar in Lark's notation with the options of `GrammarOptions`."""
    from sglc.cfg.language import GrammarOptions, grammar_language
    from sglc.cfg.notation.reader import read_grammar

    return grammar_language(read_grammar(text, "lark"), GrammarOptions(**options))


class Sglc(Engine):
    """This project: keys in any order, strings and numbers in any spelling."""

    package = "sglc"
    options: dict[str, Any] = {"order": "any", "spelling": "any"}  # noqa: RUF012

    def __init__(self, tokenizer: TokenizerFile) -> None:
        super().__init__(tokenizer)
        from sglc.runtime.mask import constraint
        from sglc.runtime.mask.core import errors
        from sglc.runtime.mask.vocabulary import vocabulary

        self._compile = constraint.compile_constraint
        self._refusal: type[Exception] = errors.ConstraintError
        self._vocabulary = vocabulary.Vocabulary.from_tokenizer_json(tokenizer.path)
        self._vocabulary.trie  # noqa: B018  made before the first constraint
        self.array = np.zeros(self._vocabulary.words, np.int32)
        self.row = self.array.data.cast("B").cast("I")
        self._end_word, self._end_bit = tokenizer.end >> 5, 1 << (tokenizer.end & 31)

    def compile(self, kind: str, constraint: Any, options: dict[str, Any]) -> None:
        try:
            if kind == "schema":
                self._constraint = compile_schema(constraint, **self.options | options)
            elif kind == "regex":
                self._constraint = self._compile(regex=constraint)
            elif options:
                self._constraint = self._compile(language=lark_language(constraint, options))
            else:
                self._constraint = self._compile(grammar=constraint)
        except self._refusal as fault:
            raise Refused(str(fault)) from fault

    def start(self) -> None:
        self._matcher = self._constraint.matcher(self._vocabulary)
        self.commit = self._matcher.accept

    def mask(self) -> None:
        try:
            self._matcher.fill_mask(self.array)
            if self._matcher.is_accepting():
                self.row[self._end_word] |= self._end_bit
        except self._refusal as fault:
            raise GaveUp(str(fault)) from fault


class SglcFlexible(Sglc):
    """Also blanks and newlines around every token of the JSON text."""

    options: dict[str, Any] = {"order": "any", "spelling": "any", "spacing": "flexible"}  # noqa: RUF012


class SglcDefault(Sglc):
    """The default settings: one spelling, keys as the schema declares them."""

    options: dict[str, Any] = {}  # noqa: RUF012


class LLGuidance(Engine):
    """llguidance; `lenient` ignores keywords that it does not know."""

    package = "llguidance"
    overrides: dict[str, Any] | None = None

    def __init__(self, tokenizer: TokenizerFile) -> None:
        super().__init__(tokenizer)
        import llguidance
        import llguidance.hf

        self._matchers = llguidance.LLMatcher
        self._tokenizer = llguidance.hf.from_tokenizer(
            tokenizer.transformers(), n_vocab=tokenizer.size, eos_token=tokenizer.end
        )

    def compile(self, kind: str, constraint: Any, options: dict[str, Any]) -> None:
        try:
            if kind == "schema":
                given = {} if self.overrides is None else {"overrides": self.overrides}
                grammar = self._matchers.grammar_from_json_schema(json.dumps(constraint), **given)
            elif kind == "regex":
                grammar = self._matchers.grammar_from_regex(constraint)
            else:
                grammar = self._matchers.grammar_from_lark(constraint)
            self._first = self._matchers(self._tokenizer, grammar, log_level=0)
        except Exception as fault:
            raise Refused(str(fault)) from fault
        if self._first.is_error():
            raise Refused(self._first.get_error())

    def start(self) -> None:
        self._enter(self._first.deep_copy())  # its tables are as they were after compiling

    def again(self) -> None:
        self._matcher.reset()  # keeps the tables it has made

    def _enter(self, matcher: Any) -> None:
        self._matcher = matcher
        self._fill = matcher.unsafe_compute_mask_ptr
        self._address, self._size = self.array.ctypes.data, self.array.nbytes
        self.commit = matcher.consume_token

    def mask(self) -> None:
        self._fill(self._address, self._size)

    def fault(self) -> str | None:
        return self._matcher.get_error() if self._matcher.is_error() else None


class LLGuidanceLenient(LLGuidance):
    overrides = {"lenient": True}  # noqa: RUF012


class XGrammar(Engine):
    """XGrammar as JSON Schema is defined: any white space, objects open unless the schema closes them."""

    package = "xgrammar"
    settings: dict[str, bool] = {"any_whitespace": True, "strict_mode": False}  # noqa: RUF012

    def __init__(self, tokenizer: TokenizerFile) -> None:
        super().__init__(tokenizer)
        import xgrammar

        info = xgrammar.TokenizerInfo.from_huggingface(
            tokenizer.transformers(), vocab_size=tokenizer.size, stop_token_ids=[tokenizer.end]
        )
        self._matchers = xgrammar.GrammarMatcher
        self._compiler = xgrammar.GrammarCompiler(info, max_threads=1)
        self._batch = xgrammar.allocate_token_bitmask(1, tokenizer.size)
        self.array = self._batch.numpy()[0]
        self.row = self.array.data.cast("B").cast("I")

    def compile(self, kind: str, constraint: Any, options: dict[str, Any]) -> None:
        try:
            if kind == "schema":
                self._grammar = self._compiler.compile_json_schema(json.dumps(constraint), **self.settings)
            elif kind == "regex":
                self._grammar = self._compiler.compile_regex(constraint)
            else:
                self._grammar = self._compiler.compile_lark(constraint)
        except Exception as fault:
            raise Refused(str(fault)) from fault

    def start(self) -> None:
        self._matcher = self._matchers(self._grammar)
        inner = self._matcher._handle  # without the checks of the Python layer
        self._fill, self._accept = inner.fill_next_token_bitmask, inner.accept_token
        self.commit = self._take

    def _take(self, token: int) -> bool:
        return bool(self._accept(token, False))

    def mask(self) -> None:
        self._fill(self._batch, 0, False)


class XGrammarDefault(XGrammar):
    """XGrammar with its default settings: one layout, closed objects."""

    settings: dict[str, bool] = {"any_whitespace": False, "strict_mode": True}  # noqa: RUF012


class Outlines(Engine):
    """outlines-core: the schema as a regex, the regex as a table of all states and tokens."""

    package = "outlines-core"

    def __init__(self, tokenizer: TokenizerFile) -> None:
        super().__init__(tokenizer)
        import outlines_core
        from outlines_core.json_schema import build_regex_from_schema

        self._library, self._regex = outlines_core, build_regex_from_schema
        table: dict[str | bytes, list[int]] = {}
        backend = tokenizer.transformers()
        special = set(backend.all_special_ids) | {tokenizer.end}
        for piece, index in backend.get_vocab().items():
            if index not in special:
                table.setdefault(_piece_bytes(piece, tokenizer.encoder), []).append(index)
        self._vocabulary = outlines_core.Vocabulary(tokenizer.end, table)

    def compile(self, kind: str, constraint: Any, options: dict[str, Any]) -> None:
        try:
            if kind == "lark":
                raise Refused("no grammars")
            regex = constraint if kind == "regex" else self._regex(json.dumps(constraint))
            self._index = self._library.Index(regex, self._vocabulary)
        except Exception as fault:
            raise Refused(str(fault)) from fault

    def start(self) -> None:
        self._guide = self._library.Guide(self._index)
        self._place = (self.array.ctypes.data, self.array.size, self.array.itemsize)
        self.commit = self._take

    def _take(self, token: int) -> bool:
        try:
            self._guide.advance(token, False)
        except ValueError:
            return False
        return True

    def mask(self) -> None:
        self._guide.write_mask_into(*self._place)


def _piece_bytes(piece: str, encoder: Any) -> bytes:
    """The bytes of a byte-level piece: each of its characters stands for one byte."""
    table = _byte_characters()
    if all(character in table for character in piece):
        return bytes(table[character] for character in piece)
    return piece.replace("\u2581", " ").encode()


def _byte_characters() -> dict[str, int]:
    """GPT-2's alphabet: printable bytes as themselves, the others from U+0100 on."""
    if not _ALPHABET:
        shown = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
        hidden = [byte for byte in range(256) if byte not in shown]
        _ALPHABET.update({chr(byte): byte for byte in shown})
        _ALPHABET.update({chr(0x100 + n): byte for n, byte in enumerate(hidden)})
    return _ALPHABET


_ALPHABET: dict[str, int] = {}

ENGINES: dict[str, type[Engine]] = {
    "sglc": Sglc,
    "sglc-flexible": SglcFlexible,
    "sglc-default": SglcDefault,
    "llguidance": LLGuidance,
    "llguidance-lenient": LLGuidanceLenient,
    "xgrammar": XGrammar,
    "xgrammar-default": XGrammarDefault,
    "outlines": Outlines,
}
