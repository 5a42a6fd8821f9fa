"""Kinds of drafts: what a guess was made from, and how likely it was, before anything is measured.

The acceptance rate of each kind is measured. Kinds of one source stand together, so that a kind also names
its source.
"""

from __future__ import annotations

from bisect import bisect_right

from sglc.runtime.engine.drafting.transition_history import LEVELS, WIDTHS

SOURCES = ("look-up", "history", "draft model", "forced")
"""Where drafts come from; the last are tokens of forced text."""

_LENGTHS = (2, 3, 4, 6, 9, 14, 23)
"""Upper ends of the classes of matches by their length; longer ones are a class of their own."""
CLASS = tuple(next((i for i, end in enumerate(_LENGTHS) if n <= end), len(_LENGTHS)) for n in range(64))
FRESH = len(_LENGTHS) + 1
"""The first of the kinds of matches that end in forced text: a value begins, and may be any."""
SINGLE = 2 * FRESH
"""The first of three kinds of matches of one token."""
HISTORY = SINGLE + 3
"""The first of the kinds from the history: ten by their probability, for each key of a position and each
width class."""
MODEL = HISTORY + 10 * LEVELS * WIDTHS
"""The first of the kinds from a draft model: ten by the probability that it gives its token."""
ASKED = MODEL + 10
"""A token of the draft model, before it is known which."""
SIBLING = ASKED + 1
"""The first of the kinds of a draft model's next best tokens: eight by how far they are behind its token, in
halves of a nat. Where two models have the same noise, it takes as much of a difference to turn them round."""
SURE = SIBLING + 8
"""Text that follows from the token before it."""
COVERED = SURE + 1
"""Forced text that longer tokens may cover."""
BELIEFS = (
    *(0.35, 0.45, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9),
    *(0.2, 0.25, 0.3, 0.35, 0.45, 0.55, 0.65, 0.75),
    *(0.15, 0.3, 0.5),
    *[(tenth + 0.5) / 10 for tenth in range(10)] * LEVELS,
    *[(tenth + 2.0) / 11 for tenth in range(10)] * LEVELS,
    *[(tenth + 4.0) / 13.5 for tenth in range(10)] * LEVELS,
    *[0.5 + 0.05 * tenth for tenth in range(10)],
    0.75,
    *(0.25, 0.2, 0.15, 0.1, 0.08, 0.06, 0.04, 0.03),
    0.95,
    0.85,
)
"""By kind: how likely a guess is to come, before anything is known."""


def sibling(lead: float) -> int:
    """The kind of a token that is `lead` nats behind the draft model's own."""
    return SIBLING + min(7, int(2 * max(0.0, lead)))


def source(kind: int) -> int:
    """The number of a kind's source in `SOURCES`."""
    return bisect_right((HISTORY, MODEL, SURE), kind)
