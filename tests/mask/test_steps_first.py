"""Texts are read before any mask is asked for: walks begin at states that only steps have led to."""

from __future__ import annotations

from sglc.automata.term import Language, Span
from sglc.kernels import jit_library
from sglc.runtime.mask.constraint import Constraint, compile_constraint
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary


def test_places_that_only_steps_have_led_to() -> None:
    """By plain kernels, which read no place behind an array."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    keys = {f"^{alphabet[: 1 + number]}.*{number}$": {"type": "integer"} for number in range(26)}
    cases: list[tuple[Constraint, str, str]] = [
        (
            compile_constraint(regex=f"[a-z ]*({alphabet}{alphabet}|yes|when)[0-9a-f]*"),
            alphabet * 2,
            "a0xyz!",
        ),
        (
            compile_constraint(json_schema={"patternProperties": keys, "additionalProperties": False}),
            '{"' + alphabet,
            'a2"5:',
        ),
        (compile_constraint(language=Language(Span(alphabet * 3, "raw"))), alphabet * 2, "ab!"),
    ]
    jit_library.use_reference(True)
    try:
        for constraint, text, tokens in cases:
            vocabulary = Vocabulary([char.encode() for char in tokens])
            matcher = constraint.matcher(vocabulary)
            assert matcher.accept_bytes(text.encode())
            found = set(matcher.allowed().tolist())
            for token, char in enumerate(tokens):
                twin = matcher.clone()
                assert (token in found) == twin.accept_bytes(char.encode()), (text, char)
    finally:
        jit_library.use_reference(False)
