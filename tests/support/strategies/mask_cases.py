"""Small vocabularies and ways to look at a matcher, shared by the tests of the masks."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import strategies as st

from oracles.term_oracle import some_words, viable
from sglc.automata.term import Language
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from strategies.typed_values import SEEDS, words_of

BYTES = sorted(
    {*b' "\\n,:{}[]()-+.eE0123456789abcdfxyzqgnultrf/AD~', 10, 0, *"é".encode(), *"€😀".encode(), 0x7F, 0xFF}
)
"""Single bytes of test vocabularies: those that decide something in the languages of the tests."""


@st.composite
def vocabularies(draw: st.DrawFn, language: Language) -> Vocabulary:
    """Single bytes and pieces of words: of the language, across its junctions, and of UTF-8 characters."""
    words = some_words(language, 4) or [b"x"]
    dice = random.Random(draw(SEEDS))
    tokens: list[bytes | None] = [bytes([byte]) for byte in BYTES]
    text = b"".join(words) + b"".join(reversed(words))
    for _ in range(dice.randrange(25)):
        start = dice.randrange(max(len(text), 1))
        tokens.append(text[start : start + dice.randint(1, 9)])
    tokens += [dice.randbytes(dice.randint(1, 3)) for _ in range(dice.randrange(5))]
    tokens += [b"aa", b"aaa", "éé".encode(), "é".encode()[:1] + b"a", b'", "', b'"a": ', b'": 1, "a']
    tokens += [None, b""]
    dice.shuffle(tokens)
    return Vocabulary(tokens, frozenset())


@st.composite
def prefixes(draw: st.DrawFn, language: Language) -> bytes:
    """A beginning of some word of the language."""
    word = draw(words_of(language))
    return word[: draw(st.integers(0, len(word)))]


def brute_force(language: Language, prefix: bytes, vocabulary: Vocabulary) -> set[int]:
    """The tokens after which a word can still be completed, token by token."""
    alive: dict[bytes, bool] = {}

    def goes_on(data: bytes) -> bool:
        if data not in alive:
            # What does not go on after a first byte does not after more.
            alive[data] = (len(data) == 1 or goes_on(data[:1])) and viable(language, prefix + data)
        return alive[data]

    return {index for index, data in enumerate(vocabulary.token_bytes) if data and goes_on(data)}


def mask_of(matcher: Matcher, vocabulary: Vocabulary) -> set[int]:
    row = np.full(vocabulary.words, -1, np.int32)
    matcher.fill_mask(row)
    found = set(vocabulary.unpack(row).tolist())
    assert found == set(matcher.allowed().tolist())
    assert len(found) == matcher.mask_size()
    return found


def shortest_by_search(matcher: Matcher, enough: int) -> int:
    """Length of a shortest completion by breadth-first search over bytes, up to a size."""
    level = {matcher.config: matcher}
    for size in range(enough + 1):
        if any(place.is_accepting() for place in level.values()):
            return size
        following: dict[int, Matcher] = {}
        for place in level.values():
            for byte in place.allowed().tolist():
                twin = place.clone()
                assert twin.accept(byte)
                following.setdefault(twin.config, twin)
            if len(following) > 600:
                return enough
        level = following
    raise AssertionError("the completion is not a completion")
