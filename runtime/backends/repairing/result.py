"""What a repair of remote answers may take, what it tells meanwhile, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sglc.runtime.backends.exchange import Usage
from sglc.runtime.repair.result import Bounds, Correction, Ended

BOUNDS = Bounds(calls=12, corrections=3)
"""Three answers that are not right are the end: a model that was told twice what is wrong and errs again
mostly does so for ever, and each answer is paid for with its whole prompt. Nine requests more for answers
that a length cut and that go on. See `Bounds` for the tokens: here they are those that the backend counts, or
pieces of streams that were closed."""


@dataclass(frozen=True, slots=True)
class Observer:
    """Who hears what happens.

    on_piece       legal text, as soon as it is certain; spelled as the model spells it
    on_again       the pieces so far do not count: the answer is asked for again
    on_correction  a correction
    """

    on_piece: Callable[[str], None] | None = None
    on_again: Callable[[], None] = lambda: None
    on_correction: Callable[[Correction], None] = lambda correction: None


SILENT = Observer()


@dataclass(frozen=True, slots=True)
class Repaired:
    """A legal text and what it took.

    text         in the language's own spelling
    corrections  what was refused and put instead, in order; their places are in the model's spelling
    requests     that were sent
    usage        tokens of all requests whose backend told of them
    uncounted    requests without a count: streams that were closed at an illegal byte, mostly
    ended        see `RepairResult`
    answered_by  the backend that answered last, where others were asked before it
    """

    text: str
    corrections: tuple[Correction, ...]
    requests: int
    usage: Usage
    uncounted: int
    ended: Ended
    answered_by: str = ""
