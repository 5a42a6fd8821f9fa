"""A record and a vocabulary for tables of masks, and walks that compare matchers with tables and without."""

from __future__ import annotations

import random

import numpy as np

from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.types.language.language import language as type_language
from sglc.types.type import FieldType, Int, ListOf, Named, RecordType, Str

PAIRS = [bytes([byte]) for byte in range(256)] + [
    a.encode() + b.encode() for a in ' "{}[],:aeinst019' for b in ' "{}[],:aeinst019'
]
VOCABULARY = Vocabulary([*PAIRS, b'", "', b'": ', b'"}', b"null", None, b"", "é".encode()], frozenset({549}))
PERSON = {
    "Person": RecordType(
        "Person",
        (FieldType("name", Str(1, 6)), FieldType("age", Int(18, 99)), FieldType("pets", ListOf(Str()))),
    )
}
RECORD = type_language(Named("Person"), PERSON)


def assert_agree(cold: Matcher, live: Matcher) -> None:
    """All that can be asked of a text is answered alike."""
    row = np.full(len(live.mask()), -1, np.int32)
    cold.fill_mask(row)
    assert row.tolist() == live.mask().tolist() == cold.mask().tolist()
    assert cold.mask_size() == live.mask_size()
    assert cold.is_accepting() == live.is_accepting()
    assert cold.is_complete() == live.is_complete()
    assert cold.is_dead() == live.is_dead()
    assert cold.forced() == live.forced()
    assert cold.following() == live.following()
    if not live.is_dead():
        assert cold.shortest_completion() == live.shortest_completion()
    assert cold.next_bytes() == live.next_bytes()
    assert len(live.next_bytes()) == live.following()
    if getattr(cold, "is_compiled", True):  # words are the machine's, which is not made for this
        assert cold.words(4, 12) == live.words(4, 12)
    assert cold.text() == live.text()


def walk(cold: Matcher, live: Matcher, vocabulary: Vocabulary, random: random.Random, steps: int) -> None:
    """Steps of both at random: tokens legal and illegal, bytes, ways back, copies."""
    for _ in range(steps):
        assert_agree(cold, live)
        kind = random.random()
        if kind < 0.1:
            token = random.randrange(-1, vocabulary.size + 1)
            assert cold.allows(token) == live.allows(token)
            assert cold.accept(token) == live.accept(token)
        elif kind < 0.2 and live.steps:
            back = random.randrange(live.steps + 1)
            cold.rollback(back)
            live.rollback(back)
        elif kind < 0.3:
            data = live.forced() if random.random() < 0.5 else live.shortest_completion()
            data = data[: random.randrange(len(data) + 1)] + random.choice([b"", b"", b"q"])
            assert cold.accept_bytes(data) == live.accept_bytes(data)
        elif kind < 0.4:
            cold, live = cold.clone(), live.clone()
        else:
            legal = live.allowed().tolist()
            if not legal:
                break
            token = random.choice(legal)
            assert cold.accept(token) and live.accept(token)
    assert_agree(cold, live)
