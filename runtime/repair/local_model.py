"""A model of this process as one that writes text, and as a draft model that writes a word under the mask.

Every call begins with text alone. The engine finds the keys and values of what earlier calls have computed in
its tree of prefixes, so that only the end of the text is new to it.

A text may end within a token of the model. So its last token is given back: the first token that is drawn
has to begin with the same bytes, and what it has more is new text. A model that writes freely gives back only
what ends with a blank, a letter or a digit. Tokenizers join these with what follows. A mark is mostly drawn
once more as it was, which is a step for nothing; under a mask it may be another token that is legal.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from itertools import islice

import numpy as np

from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.decoding.conversations.encoder import Encoder
from sglc.runtime.decoding.seams import beginnings
from sglc.runtime.engine.base import Engine
from sglc.runtime.engine.core.errors import EngineError, language_error
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampler import NothingAllowed, sample
from sglc.runtime.engine.scheduling.branch import Branch
from sglc.runtime.errors import SglError
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.repair.loop import Draft, Drafted

MOST_DRAFTED = 32
"""Tokens of a word that a draft model writes: a word has few, so more are blanks without an end."""


class LocalModel:
    """The model of an engine.

    `chat`: the prompt is a user's message and the text the beginning of the answer, as the model's chat
    template writes them; else both are plain text. `sampling` and `seed`: how it draws, greedily by default.
    """

    def __init__(
        self, engine: Engine, *, chat: bool = False, sampling: Sampling | None = None, seed: int = 0
    ) -> None:
        self.engine = engine
        self.sampling = sampling or Sampling()
        self.seed = seed
        self._chat = chat
        self._encoder = Encoder(engine.model.tokenizer)
        self._counting = Encoder(engine.model.tokenizer)
        """Another one, for pieces are counted in the thread of who asks."""
        self.vocabulary = engine.model.tokenizer.vocabulary()

    def count(self, piece: str) -> int:
        """Tokens of a piece of text by itself; of what the tokenizer cannot write, bytes."""
        try:
            return len(self._counting.encode(piece))
        except (SglError, UnicodeEncodeError):
            return len(piece.encode("utf-8", "surrogatepass"))

    def __call__(self, prompt: str, prefix: str, max_tokens: int | None = None) -> LocalStream:
        """The answer behind `prompt` and the text `prefix`, as an asynchronous iterator of pieces."""
        return LocalStream(self, prompt, prefix, max_tokens)

    async def draft(self, request: Draft) -> Drafted:
        """A word that may come next: more than blanks, in whole characters. Raises SglError."""
        writer = _Writer(self, request.prompt, request.text)
        try:
            return await self._word(writer, request.matcher)
        except EngineError as fault:
            raise language_error(fault, request.text) from fault
        finally:
            writer.close()

    async def _word(self, writer: _Writer, matcher: Matcher) -> Drafted:
        written = b""
        while writer.tokens < MOST_DRAFTED:
            try:
                data = await writer.next(matcher)
            except NothingAllowed:
                break
            if data is None:
                return Drafted("", writer.tokens, ended=not written.strip())
            matcher.accept_bytes(data)
            written += data
            if written.strip() and _is_whole(written):
                return Drafted(written.decode(), writer.tokens)
        return Drafted("", writer.tokens)

    def open(self, prompt: str, text: str) -> Conversation:
        """The conversation that ends with the text so far."""
        made = Conversation(
            encoder=self._encoder,
            chat=self.engine.model.tokenizer.chat,
            open_branch=lambda tokens: self.engine.open(tokens, "repair"),
            release=self.engine.put_back,
        )
        if self._chat:
            made.role("user")
        made.text(prompt)
        if self._chat:
            made.end_role()
            made.role("assistant")
        made.text(text)
        made.start()
        return made


class LocalStream:
    """One answer of a local model. `tokens` were drawn so far; `ended` is `length` where the bound on tokens
    ended it, `stop` where the model did."""

    def __init__(self, model: LocalModel, prompt: str, prefix: str, most: int | None) -> None:
        self._writer = _Writer(model, prompt, prefix)
        self._most = most
        self._decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
        self.ended = ""

    @property
    def tokens(self) -> int:
        """Tokens that were drawn, the end of the text included."""
        return self._writer.tokens

    def __aiter__(self) -> LocalStream:
        return self

    async def __anext__(self) -> str:
        while not self.ended:
            if self._most is not None and self.tokens >= self._most:
                self.ended = "length"
                break
            try:
                data = await self._writer.next(None)
            except EngineError as fault:
                raise language_error(fault) from fault
            if data is None:
                self.ended = "stop"
            elif piece := self._decode(data):
                return piece
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Stop writing and give the branch back."""
        self.ended = self.ended or "stop"
        self._writer.close()


class _Writer:
    """Draws tokens behind a text."""

    def __init__(self, model: LocalModel, prompt: str, text: str) -> None:
        self._model = model
        self._conversation = model.open(prompt, text)
        self._branch: Branch | None = None
        self._healed = b""
        """Bytes of the last token, given back and not written again yet."""
        self._token_bytes = model.vocabulary.token_bytes
        self._ends = sorted(model.vocabulary.end_ids)
        self.tokens = 0

    async def next(self, matcher: Matcher | None) -> bytes | None:
        """The bytes of the next token, under a mask if there is one, behind what was given back; None for the
        end. Raises EngineError, and NothingAllowed."""
        branch = self._branch or self._begin(matcher)
        logits = await branch.logits()
        model = self._model
        row = self._begun(logits, matcher) if self._healed else self._legal(matcher)
        drawn = sample(logits, row, model.sampling, (model.seed, len(branch.tokens)), scored=False)
        self.tokens += 1
        if not self._token_bytes[drawn.token]:
            return None
        branch.append([drawn.token])
        data = (self._token_bytes[drawn.token] or b"")[len(self._healed) :]
        self._healed = b""
        return data

    def close(self) -> None:
        """Give the branch back."""
        self._conversation.close()
        self._branch = None

    def _begin(self, matcher: Matcher | None) -> Branch:
        """The branch, its last token given back where it is text behind other tokens, and a longer token may
        stand there."""
        branch = self._branch = self._conversation.sync()
        last = len(branch.tokens) - 1
        if last >= max(1, self._conversation.floor()):
            data = self._token_bytes[branch.tokens[last]] or b""
            joins = matcher is not None or data[-1:].isspace() or data[-1:].isalnum() or data[-1:] >= b"\x80"
            if data and joins and any(rest for _, rest in self._longer(data, matcher)):
                self._healed = data
                branch.rollback(last)
        return branch

    def _longer(
        self, data: bytes, matcher: Matcher | None, order: np.ndarray | None = None
    ) -> Iterator[tuple[int, bytes]]:
        """Tokens that begin with some bytes and go on legally, each with its rest; in an order of all that
        begin so, else ascending."""
        tokens = beginnings(self._model.vocabulary).tokens(data)
        for token in (tokens if order is None else tokens[order]).tolist():
            rest = (self._token_bytes[token] or b"")[len(data) :]
            if matcher is None or not rest or matcher.clone().accept_bytes(rest):
                yield token, rest

    def _begun(self, logits: np.ndarray, matcher: Matcher | None) -> np.ndarray:
        """Mask of the tokens that begin with what was given back, and go on legally; of the best one alone
        where the best is drawn."""
        vocabulary = self._model.vocabulary
        tokens = beginnings(vocabulary).tokens(self._healed)
        if matcher is not None:
            greedy = not self._model.sampling.temperature
            legal = self._longer(self._healed, matcher, np.argsort(-logits[tokens], kind="stable"))
            found = (token for token, _ in legal)
            tokens = np.fromiter(islice(found, 1) if greedy else found, np.int64)
        bits = np.zeros(32 * vocabulary.words, bool)
        bits[tokens] = True
        return np.packbits(bits, bitorder="little").view(np.int32)

    def _legal(self, matcher: Matcher | None) -> np.ndarray | None:
        """Mask of the legal tokens, with the ends where the text may end; None where all are."""
        if matcher is None:
            return None
        row = matcher.mask().copy()
        if matcher.is_accepting():
            for end in self._ends:
                row.view(np.uint32)[end >> 5] |= np.uint32(1 << (end & 31))
        return row


def _is_whole(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
