"""A model that says what a script tells it to: no weights, one token a byte, the same result every time.

The script is a JSON file. A list gives the answers of a run's holes in the order in which they begin; an
object gives each hole's answers by its name (`crew.member` or `member`): one answer for every time, or a list
that is used up. An answer that is a text is written as it is, anything else as JSON. Where the script has no
answer, or the mask forbids it, the model prefers to come to an end.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from sglc.runtime.chat import SpecialToken
from sglc.runtime.errors import SglError
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

START, END = 256, 257
SIZE = 258
WISH = 100.0
"""What the script adds to the logit of the token it wants."""
FILE_LIMIT = 16_000_000


class ByteChat:
    """A chat template of two special tokens around each message, like ChatML's."""

    roles = ("system", "user", "assistant", "tool")

    def pieces(self, roles: tuple[str, ...]) -> tuple[str | SpecialToken, ...]:
        """What opens the newest message, behind the end of the one before it."""
        opening = (SpecialToken(START), f"{roles[-1]}\n")
        return opening if len(roles) == 1 else (*self.closing(roles), *opening)

    def closing(self, roles: tuple[str, ...]) -> tuple[str | SpecialToken, ...]:
        """The token that ends a message, and a line break."""
        return (SpecialToken(END), "\n")


class ByteTokenizer:
    """One token for each byte, and two special ones."""

    token_bytes: tuple[bytes | None, ...] = (*(bytes((byte,)) for byte in range(256)), None, None)
    end_ids = frozenset({END})
    bos_id: int | None = None
    size = SIZE
    digest = sha256(b"bytes and two special tokens").hexdigest()

    def __init__(self) -> None:
        self.chat = ByteChat()
        self.special = {"<|im_start|>": START, "<|im_end|>": END}
        self._vocabulary: Vocabulary | None = None

    def encode(self, text: str) -> list[int]:
        """The bytes of the text in UTF-8."""
        return list(text.encode())

    def bytes_of(self, ids: Sequence[int]) -> bytes:
        """What tokens write; special tokens write nothing."""
        return b"".join(self.token_bytes[token] or b"" for token in ids)

    def vocabulary(self) -> Vocabulary:
        """The tokens for the mask engine, made at the first call."""
        if self._vocabulary is None:
            self._vocabulary = Vocabulary(self.token_bytes, self.end_ids)
        return self._vocabulary


class ScriptedCache:
    """Tokens are all that a scripted model remembers."""

    def __init__(self, tokens: list[int] | None = None) -> None:
        self.tokens = tokens or []

    @property
    def length(self) -> int:
        """How many tokens were read."""
        return len(self.tokens)

    def clone(self) -> ScriptedCache:
        """A cache of the same tokens that goes its own way."""
        return ScriptedCache(list(self.tokens))

    def truncate(self, length: int) -> None:
        """Forget all but the first `length` tokens."""
        del self.tokens[length:]


def _base_logits() -> np.ndarray:
    """What the model prefers of itself: the end, closing marks, letters, and then anything."""
    logits = np.full(SIZE, -8.0, dtype=np.float32)
    for order, byte in enumerate(b"etaoinshrdlucmfwypvbgkjqxz"):
        logits[byte] = 1.0 - order / 26
        logits[byte - 32] = 0.5 - order / 26
    for order, byte in enumerate(b"1234567890"):
        logits[byte] = -order / 10
    logits[list(b'\n"}]')] = (3.0, 2.5, 0.4, 0.3)
    logits[list(b" .,")] = (0.2, 0.1, 0.0)
    logits[END] = 4.0
    logits[START] = -20.0
    return logits


class ScriptedModel:
    """Holds the answers; each run draws from a script of its own."""

    context_length = 1_000_000

    def __init__(
        self, answers: list[object] | dict[str, object] | None = None, name: str = "scripted"
    ) -> None:
        self.name = name
        self.tokenizer = ByteTokenizer()
        self._answers = answers if answers is not None else []
        self._logits = _base_logits()

    @classmethod
    def from_file(cls, path: str | Path) -> ScriptedModel:
        """The model of a script file. Raises ValueError, with a reason, for what is no script."""
        data = Path(path).read_bytes()
        if len(data) > FILE_LIMIT:
            raise ValueError("the script is larger than 16 MB")
        try:
            answers = json.loads(data)
        except (ValueError, RecursionError) as fault:
            raise ValueError(f"the script is not JSON: {fault}") from None
        if not isinstance(answers, list | dict):
            raise ValueError("the script is neither a list of answers nor an object of holes")
        return cls(answers, f"scripted:{Path(path).name}")

    def new_cache(self) -> ScriptedCache:
        """A cache that has read nothing."""
        return ScriptedCache()

    def forward(self, cache: ScriptedCache, tokens: Sequence[int], every: bool = False) -> np.ndarray:
        """The same preferences after any text; the script is added hole by hole."""
        cache.tokens.extend(tokens)
        return np.tile(self._logits, (len(tokens), 1)) if every else self._logits.copy()

    def script(self) -> Script:
        """The answers from their beginning, for one run."""
        return Script(self._answers)


class Script:
    """The answers of one run, which are used up in their order."""

    in_order = True

    def __init__(self, answers: list[object] | dict[str, object]) -> None:
        self._answers = answers
        self._used: Counter[str] = Counter()
        """How many answers of each list were given; of a list for all holes by the empty name."""

    def _next(self, hole: str) -> str | None:
        name: str = ""
        found: object = self._answers if isinstance(self._answers, list) else None
        if isinstance(self._answers, dict):
            name = hole if hole in self._answers else hole.rpartition(".")[2]
            found = self._answers.get(name)
        if isinstance(found, list):
            at = self._used[name]
            self._used[name] += 1
            found = found[at] if at < len(found) else None
        if found is None or isinstance(found, str):
            return found
        return json.dumps(found, ensure_ascii=False)

    def mark(self) -> Mapping[str, int]:
        """What was given so far, for `restore`."""
        return dict(self._used)

    def restore(self, mark: Mapping[str, int]) -> None:
        """Give again what was given since the mark."""
        self._used = Counter(mark)

    def skip(self, hole: str) -> None:
        """Use up the answer of a hole that is filled otherwise."""
        self._next(hole)

    def answer(self, hole: str, stops: tuple[str, ...]) -> Answer | None:
        """What the hole is to be filled with; None leaves it to the model."""
        text = self._next(hole)
        return None if text is None else Answer(text.encode(), stops[0].encode() if stops else b"")

    def option(self, hole: str, options: list[str]) -> int | None:
        """Which of the options a `select` is to prefer."""
        text = self._next(hole)
        if text is None:
            return None
        if text not in options:
            raise SglError("Backend", f"the script answers `{hole}` with {text!r}, which is not an option")
        return options.index(text)


class Answer:
    """Steers one hole towards its scripted answer and then to its end."""

    def __init__(self, text: bytes, stop: bytes) -> None:
        self._text = text
        self._stop = stop

    def adjust(self, logits: np.ndarray, prefix: bytes, written: bytes) -> np.ndarray:
        """The logits with the next byte of the answer made likely; unchanged once the mask forbade one."""
        wanted = prefix + self._text
        whole = wanted + self._stop
        if not whole.startswith(written):
            return logits
        logits = logits.copy()
        if len(written) < len(whole):
            logits[whole[len(written)]] += WISH
        if len(written) == len(wanted):
            logits[END] += 2 * WISH
        return logits
