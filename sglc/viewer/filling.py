"""What happens inside of a hole: events become pieces, and pieces are laid over the value."""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from sglc.viewer.model import (
    Answer,
    Beam,
    Correction,
    Fill,
    Forced,
    Pruned,
    SteppedBack,
    Thought,
    Token,
    Walk,
)
from sglc.viewer.reading import Event, number

_BYTE = re.compile(r"\\x([89a-f][0-9a-f])")
"""How a trace writes a byte that is no whole character (`backslashreplace`)."""
_KNOWN = frozenset(
    ("v", "event", "hole", "branch", "span", "token", "text", "logprob", "pressure", "mask", "top")
    + ("alpha", "chernoff", "t")
)


def probability(logprob: float | None) -> float | None:
    """e^logprob, at most 1."""
    return None if logprob is None else math.exp(min(0.0, logprob))


def token_of(event: Event) -> Token:
    """The token that an event tells of."""
    return Token(
        event.text("text"),
        probability(event.number("logprob")),
        event.number("pressure"),
        event.count("mask"),
        tuple(_thoughts(event)),
        event.number("alpha"),
        event.number("chernoff"),
        {key: value for key, value in event.data.items() if key not in _KNOWN},
    )


def _thoughts(event: Event) -> Iterator[Thought]:
    found = event.data.get("top")
    for each in found if isinstance(found, list) else ():
        if isinstance(each, list) and len(each) == 3 and isinstance(each[0], str):
            chance = probability(number(each[1]))
            if chance is not None and isinstance(each[2], bool):
                yield Thought(each[0], chance, each[2])


def add(fill: Fill, event: Event) -> bool:
    """Add what an event tells of a hole that is being filled. False for a kind that is not known."""
    found = _ADDERS.get(event.kind)
    if found is not None:
        found(fill, event)
    return found is not None


def _forced(fill: Fill, event: Event) -> None:
    fill.pieces.append(Forced(event.text("text"), event.text("text")))


def _pruned(fill: Fill, event: Event) -> None:
    fill.pieces.append(Pruned(event.text("text"), event.text("dead")))


def _stepped_back(fill: Fill, event: Event) -> None:
    """The newest pieces whose texts make up the text are taken back."""
    left = event.text("text")
    fill.pieces.append(SteppedBack(left))
    for piece in reversed(fill.pieces):
        if isinstance(piece, Token | Forced) and not piece.taken_back:
            if not left or not piece.text or not left.endswith(piece.text):
                return
            piece.taken_back, left = True, left[: -len(piece.text)]


def _correction(fill: Fill, event: Event) -> None:
    by = event.data.get("by")
    found = Correction(
        event.count("at"), event.text("wrong"), event.text("put"), "" if by is None else str(by)[:100]
    )
    fill.pieces.append(found)


def _answer(fill: Fill, event: Event) -> None:
    fill.answers.append(Answer(event.text("kept"), event.count("written")))


def _walk(fill: Fill, event: Event) -> None:
    walk = Walk(event.count("walk"), event.text("text"), event.number("weight"), event.text("outcome"))
    fill.walks.append(walk)


def _beam(fill: Fill, event: Event) -> None:
    scores = event.data.get("scores")
    numbers = [number(each) for each in scores] if isinstance(scores, list) else []
    fill.beams.append(Beam(event.count("step"), event.texts("texts"), numbers))


_ADDERS: dict[str, Callable[[Fill, Event], None]] = {
    "forced": _forced,
    "pruned": _pruned,
    "stepped_back": _stepped_back,
    "correction": _correction,
    "answer": _answer,
    "walk": _walk,
    "beam": _beam,
}
INSIDE = frozenset(_ADDERS) | {"token"}
"""Kinds of events that belong to the hole that is being filled."""


def settle(fill: Fill) -> None:
    """Say what of each piece stands in the value, once the value is known or the hole has failed."""
    standing = [piece for piece in fill.pieces if isinstance(piece, Token | Forced) and not piece.taken_back]
    texts = [piece.text for piece in standing]
    if fill.value is not None and fill.value not in "".join(texts) and any(map(_BYTE.search, texts)):
        texts = _whole_characters(texts)
    fill.before, shown, fill.behind = _laid(texts, fill.value)
    for piece, text in zip(standing, shown, strict=True):
        piece.shown = text


def _whole_characters(texts: Sequence[str]) -> list[str]:
    """Texts whose escaped bytes are put together; a character stands in the text of its last byte."""
    decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
    found = []
    for text in texts:
        parts = _BYTE.split(text)
        data = b"".join(
            bytes([int(part, 16)]) if at % 2 else part.encode("utf-8", "surrogatepass")
            for at, part in enumerate(parts)
        )
        found.append(decoder.decode(data))
    return found


def _laid(texts: Sequence[str], value: str | None) -> tuple[str, list[str], str]:
    """What stands before the value, what of each text stands in it, and what behind.

    The first token may write text before the hole anew, the last one a stop behind it. Where the value is not
    found in the texts, they are given as they are.
    """
    whole = "".join(texts)
    start = -1 if value is None else whole.find(value)
    if value is None or start < 0:
        return "", list(texts), ""
    end, at, shown = start + len(value), 0, []
    for text in texts:
        shown.append(text[max(0, start - at) : max(0, end - at)])
        at += len(text)
    return whole[:start], shown, whole[end:]


class Part(NamedTuple):
    """A stretch of a repaired value: `kept`, `wrong` (taken out) or `put` (put in), and by what."""

    kind: Literal["kept", "wrong", "put"]
    text: str
    by: str = ""


def repaired(value: str, corrections: Sequence[Correction]) -> list[Part]:
    """The value with what was wrong at its place. A later correction before an earlier one replaces it; one
    whose text does not stand where it says comes at the end."""
    kept: list[tuple[int, Correction]] = []
    loose: list[Correction] = []
    for each in corrections:
        if each.at is None or value[each.at : each.at + len(each.put)] != each.put:
            loose.append(each)
            continue
        while kept and kept[-1][0] >= each.at:
            loose.append(kept.pop()[1])
        kept.append((each.at, each))
    parts: list[Part] = []
    done = 0
    for at, each in kept:
        parts += [Part("kept", value[done:at]), Part("wrong", each.wrong, each.by)]
        parts.append(Part("put", value[max(at, done) : at + len(each.put)], each.by))
        done = max(done, at + len(each.put))
    parts.append(Part("kept", value[done:]))
    parts += [Part("wrong", each.wrong, each.by) for each in loose]
    return [part for part in parts if part.text]
