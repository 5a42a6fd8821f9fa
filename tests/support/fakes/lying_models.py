"""Functions that write text and cannot be trusted: what `repair` has to live with."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field

GARBAGE = (
    "\ud800",
    "\x00",
    "é",
    "€uro",
    '"',
    "}",
    "]",
    "```",
    "Sure! ",
    "None",
    " \n",
    "\\",
    "1e",
    "😀",
    ",",
)


@dataclass
class Liar:
    """Writes parts of legal words, among much else. What it answers to a call depends on the seed, the number
    of the call and the text that it is given, so it lies in the same way however it is asked."""

    words: list[str]
    seed: int
    faults: bool = False
    """Whether it raises, and gives what is no text."""
    calls: int = field(default=0, init=False)
    given: list[str] = field(default_factory=list, init=False)

    def __call__(self, text: str) -> object:
        """The answer behind a text."""
        self.given.append(text)
        dice = random.Random(f"{self.seed} {self.calls} {text!r}")
        self.calls += 1
        if self.faults and not dice.randrange(6):
            if dice.randrange(2):
                raise LookupError("no answer")
            return dice.choice((None, 7, b"bytes", {"text": "x"}, [1], object()))
        return self._lie(text, dice)

    def _lie(self, text: str, dice: random.Random) -> str:
        word = dice.choice(self.words)
        rest = word[len(text) :] if word.startswith(text) else word
        part = rest[: dice.randint(0, len(rest))]
        cut = dice.randint(0, len(text))
        lies: list[Callable[[], str]] = [
            lambda: rest,
            lambda: part,
            lambda: part + dice.choice(GARBAGE),
            lambda: dice.choice(GARBAGE) * dice.randint(1, 3),
            lambda: "",
            lambda: text + rest,
            lambda: text[cut:] + part,
            lambda: text[:cut],
            lambda: "\n " + rest + "\n\n",
            lambda: part + " " * dice.randint(1, 4),
            lambda: word + word,
        ]
        return dice.choice(lies)()

    def pieces(self, text: str) -> Iterator[str]:
        """The same answer, cut anywhere."""
        answer = self(text)
        if not isinstance(answer, str):
            yield answer  # type: ignore[misc]
            return
        dice = random.Random(f"{self.seed} pieces {text!r}")
        while answer:
            size = dice.randint(0, 4)
            yield answer[:size]
            answer = answer[size:]

    async def soon(self, text: str) -> object:
        """The same answer, to be awaited."""
        return self(text)

    async def pieces_soon(self, text: str) -> AsyncIterator[str]:
        """The same pieces, to be awaited."""
        for piece in self.pieces(text):
            yield piece
