"""A noted transcript cut into pieces: what is text, which special tokens stand in it, where values belong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from sglc.runtime.decoding.conversations.conversation import Transcript
from sglc.runtime.decoding.conversations.encoder import Encoder


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a conversation.

    `text` is part of what the program writes or the chat template; `special` is a special token by its name,
    with its `id`; `value` is the text of a filled hole, `label` its name. `unknown` stands where a value has
    no text yet, and `label` says which, as a program writes it. `role` and `end` are empty: there the text of
    a message begins and ends, and `label` is its role.
    """

    kind: Literal["text", "special", "value", "unknown", "role", "end"]
    text: str = ""
    label: str = ""
    id: int = -1


def pieces_of(transcript: Transcript, special: Mapping[int, str]) -> list[Piece]:
    """The pieces in their order. `special` has the names of special tokens by their ids."""
    found: list[Piece] = []
    stretches = [*transcript.closed, (transcript.stretch, None)]
    for number, (text, token) in enumerate(stretches):
        at = 0
        for note in (note for note in transcript.notes if note.stretch == number):
            if text[at : note.start]:
                found.append(Piece("text", text[at : note.start]))
            found.append(Piece(note.kind, text[note.start : note.end], note.label))
            at = note.end
        if text[at:]:
            found.append(Piece("text", text[at:]))
        if token is not None:
            found.append(Piece("special", special.get(token, ""), id=token))
    return found


def tokens_of(pieces: list[Piece], encoder: Encoder) -> Iterator[tuple[int | None, Piece]]:
    """The tokens with the piece that each begins in; None for an unknown value, whose tokens nobody knows.

    Text between two special tokens or unknown values is cut into tokens as a whole. Beside an unknown value
    that is a guess: with its value the text may be cut otherwise.
    """
    run: list[Piece] = []
    for piece in [*pieces, None]:
        if piece is not None and piece.kind not in ("special", "unknown"):
            run.append(piece)
            continue
        yield from _cut(run, encoder)
        run = []
        if piece is not None:
            yield (None if piece.kind == "unknown" else piece.id), piece


def _cut(run: list[Piece], encoder: Encoder) -> Iterator[tuple[int, Piece]]:
    """Tokens of pieces of text together."""
    ends: list[tuple[int, Piece]] = []
    size = 0
    for piece in run:
        size += len(piece.text.encode())
        if piece.text:
            ends.append((size, piece))
    token_bytes = encoder.tokenizer.token_bytes
    at, number = 0, 0
    for token in encoder.encode("".join(piece.text for piece in run)):
        while at >= ends[number][0]:
            number += 1
        yield token, ends[number][1]
        at += len(token_bytes[token] or b"")
