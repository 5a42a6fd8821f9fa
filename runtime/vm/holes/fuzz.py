"""Random legal values: what a hole answers when the model is replaced by a sampler over its masks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import NamedTuple

import numpy as np

from sglc.runtime.decoding.validated import DEAD, FINAL, Verdicts
from sglc.runtime.errors import SglError
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import BYTES
from sglc.runtime.vm.state.lengths import Lengths, aimed_length, length_class
from sglc.types.decoding import Decoding, Figure

LONG_JUDGED = 15
"""Bytes of the longest values that are drawn where a validator judges every beginning: it runs once a
character."""
TRIES = 4
"""Walks for a value of one length class; the nearest is taken where none is in it."""


def random_word(matcher: Matcher, random: Random, lengths: Lengths | None = None) -> bytes:
    """A random word of a matcher's language, over a vocabulary of single bytes.

    Each class of length (`length_class`) that the language may have is as likely as any other, so that short
    and long values come. A few words are drawn from as a list; of more, a walk takes byte after byte that the
    mask allows, heading for a length of the class, ordinary letters more likely than other characters.
    """
    lengths = lengths or Lengths()
    if lengths.words is not None:
        classes: dict[int, list[bytes]] = {}
        for word in lengths.words:
            twin = matcher.clone()
            if twin.accept_bytes(word) and twin.is_accepting():
                classes.setdefault(length_class(len(word)), []).append(word)
        if classes:
            return random.choice(classes[random.choice(sorted(classes))])
    aim = aimed_length(len(matcher.shortest_completion()), lengths.most, random)
    found = b""
    for attempt in range(TRIES):
        word = _aimed_word(matcher.clone(), random, aim)
        if attempt == 0 or abs(len(word) - aim) < abs(len(found) - aim):
            found = word
        if length_class(len(found)) == length_class(aim):
            break
    return found


def _aimed_word(matcher: Matcher, random: Random, aim: int) -> bytes:
    """A walk to a word of about a length: it ends early only where nothing else is legal, and from the length
    on every other byte leads the shortest way to an end, from twice the length on each."""
    written = bytearray(matcher.forced())
    matcher.accept_bytes(bytes(written))
    while not matcher.is_complete():
        size = len(written)
        if size >= aim and matcher.is_accepting():
            break
        if size >= 2 * aim or (size >= aim and random.random() < 0.5):
            run = matcher.shortest_completion()[: None if size >= 2 * aim else 1]
            matcher.accept_bytes(run)
        else:
            run = _step(matcher, random, aim - size)
        written += run
    return bytes(written)


def _step(matcher: Matcher, random: Random, left: int) -> bytes:
    """Take a random byte, and what can only follow it. Before the length is reached, one behind which the
    value is over is taken only where others are as well."""
    allowed = _choices(matcher.mask().tobytes())
    while True:
        byte = _pick(allowed, random)
        before = matcher.steps
        matcher.accept_bytes(bytes((byte,)))
        run = matcher.forced()
        if run:
            matcher.accept_bytes(run)
        if left <= 1 + len(run) or len(allowed.all) == 1 or not matcher.is_complete():
            return bytes((byte,)) + run
        matcher.rollback(matcher.steps - before)
        allowed = _sorted_out(each for each in allowed.all if each != byte)


def random_figures(decoding: Decoding, random: Random) -> dict[str, Figure]:
    """What a strategy might tell of a random text: any figures that it can come to."""
    log, count = math.log(1 - random.random()), decoding.count
    match decoding.strategy:
        case "exact":
            return {"bound": log, "walks": random.randint(1, count)}
        case "smc":
            return {"weight": log, "ess": random.uniform(1, count), "ancestors": random.randint(1, count)}
        case "beam":
            return {"score": log, "proved": decoding.by == "sum" and random.random() < 0.5}
    return {}


def random_scores(options: Sequence[str], random: Random) -> dict[str, float]:
    """Random probabilities of options, none of them 0."""
    weights = [random.random() + 1e-9 for _ in options]
    return {text: weight / sum(weights) for text, weight in zip(options, weights, strict=True)}


LOST = 1500
"""Bytes that may lead nowhere before a walk begins again."""
RESTARTS = 6


@dataclass(slots=True)
class _Place:
    """A matcher before a byte was chosen, how much was written, and the bytes that led nowhere."""

    matcher: Matcher
    size: int
    excluded: set[int] = field(default_factory=set)


async def random_good_word(matcher: Matcher, random: Random, verdicts: Verdicts, name: str) -> bytes:
    """A random word that a validator accepts. Like `random_word`, with bytes that lead nowhere taken back.

    Where many bytes lead nowhere, the walk begins again and heads for the end earlier. Raises Unsatisfiable
    where there is no word, and Budget where none was found.
    """
    patience = aimed_length(len(matcher.shortest_completion()), None, random, LONG_JUDGED)
    for attempt in range(RESTARTS):
        found = await _walk(matcher, random, verdicts, name, patience >> attempt)
        if found is not None:
            return found
    raise SglError("Budget", f"no value was found that the validator of hole `{name}` accepts")


async def _walk(
    matcher: Matcher, random: Random, verdicts: Verdicts, name: str, patience: int
) -> bytes | None:
    """One walk, character by character; None where it has lost its way."""
    written = bytearray()
    places: list[_Place] = []
    dead, sure, good = 0, True, await verdicts.of(b"") != DEAD
    while dead < LOST:
        if good:
            final = matcher.is_accepting() and await verdicts.of(bytes(written)) == FINAL
            tired = len(written) >= patience
            if final and (matcher.is_complete() or tired):
                return bytes(written)
            places.append(_Place(matcher, len(written)))
        byte = None
        while places and byte is None:
            place = places[-1]
            allowed = [b for b in place.matcher.allowed().tolist() if b not in place.excluded]
            if not allowed:
                places.pop()
                continue
            byte = _pick(_sorted_out(allowed), random)
            if place.size >= patience and random.random() < 0.5:
                first = place.matcher.shortest_completion()[:1]
                byte = first[0] if first and first[0] in allowed else byte
        if byte is None:
            if sure:
                raise SglError("Unsatisfiable", f"the validator of hole `{name}` accepts no value")
            return None
        place = places[-1]
        place.excluded.add(byte)
        del written[place.size :]
        matcher = place.matcher.clone()
        good = False
        if byte < 0x80:
            character = bytes((byte,))
            matcher.accept_bytes(character)
            good = await verdicts.of(bytes(written) + character) != DEAD
        else:
            # A few characters stand for all that begin so.
            sure = False
            for _ in range(4):
                matcher = place.matcher.clone()
                character = _character(matcher, byte, random)
                good = await verdicts.of(bytes(written) + character) != DEAD
                if good:
                    break
        written += character
        dead += not good
    return None


def _character(matcher: Matcher, first: int, random: Random) -> bytes:
    """Take a random character that begins with a byte."""
    data = bytes((first,))
    matcher.accept_bytes(data)
    for _ in range(1 if first < 0xE0 else 2 if first < 0xF0 else 3):
        byte = bytes((random.choice(matcher.allowed().tolist()),))
        matcher.accept_bytes(byte)
        data += byte
    return data


_PLAIN = frozenset(range(0x20, 0x7F))
_LETTERS = frozenset(byte for byte in _PLAIN if chr(byte).isalnum() or byte == 0x20)


class _Choices(NamedTuple):
    """Bytes that may come next, ascending: all, those of ASCII that can be seen, letters with digits and
    blanks."""

    all: tuple[int, ...]
    plain: tuple[int, ...]
    letters: tuple[int, ...]


def _sorted_out(allowed: Iterable[int]) -> _Choices:
    listed = tuple(allowed)
    plain = tuple(byte for byte in listed if byte in _PLAIN)
    return _Choices(listed, plain, tuple(byte for byte in plain if byte in _LETTERS))


@lru_cache(maxsize=4096)
def _choices(row: bytes) -> _Choices:
    """Those of a mask row over single bytes. A program has few different ones, and walks meet them often."""
    return _sorted_out(BYTES.unpack(np.frombuffer(row, np.int32)).tolist())


def _pick(allowed: _Choices, random: Random) -> int:
    if len(allowed.all) > 16:
        if 0x22 in allowed.all and random.random() < 0.1:
            return 0x22
        draw = random.random()
        if allowed.letters and draw < 0.8:
            return random.choice(allowed.letters)
        if allowed.plain and draw < 0.95:
            return random.choice(allowed.plain)
    return random.choice(allowed.all)
