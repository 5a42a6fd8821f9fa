"""Random legal values: what a hole answers when the model is replaced by a sampler over its masks."""

from __future__ import annotations

from random import Random

from sglc.runtime.mask.matcher import Matcher

LONG = 4000
"""Bytes after which a walk always takes the shortest way to its end."""


def random_word(matcher: Matcher, random: Random) -> bytes:
    """A random word of a matcher's language, over a vocabulary of single bytes.

    Walks byte by byte along what the mask allows. Short words are likelier than long ones, ordinary letters
    likelier than others, and each walk has a length of its own after which it heads for the end.
    """
    written = bytearray()
    patience = int(random.expovariate(1 / 300)) + 1
    while not matcher.is_complete():
        if matcher.is_accepting() and random.random() < 0.25:
            break
        run = matcher.forced()
        if not run and len(written) > min(patience, LONG):
            run = matcher.shortest_completion()
            if not run:
                break
        if not run:
            run = bytes((_pick(matcher.allowed().tolist(), random),))
        matcher.accept_bytes(run)
        written += run
    return bytes(written)


def _pick(allowed: list[int], random: Random) -> int:
    if len(allowed) > 8:
        if 0x22 in allowed and random.random() < 0.1:
            return 0x22
        plain = [byte for byte in allowed if 0x20 <= byte < 0x7F]
        letters = [byte for byte in plain if chr(byte).isalnum() or byte == 0x20]
        draw = random.random()
        if letters and draw < 0.8:
            return random.choice(letters)
        if plain and draw < 0.95:
            return random.choice(plain)
    return random.choice(allowed)
