"""What repair is given as bounds, and what it gives back: the text, its corrections, what they took."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

By = Literal["forced", "chance", "draft", "ask", "completion", "end", "told", "again"]
Ended = Literal["complete", "stopped", "cut", "completed"]


@dataclass(frozen=True, slots=True)
class Correction:
    """One place at which the text of the model was not legal.

    at     characters of the result before it
    wrong  what the model had written from there on, refused; empty where it had written nothing
    put    what stands there instead, the beginning of a legal text; empty where the text ends there
    by     who said so: `forced` (nothing else was legal), `chance` (the model itself, by the probabilities
           that it told), `draft` (the draft model), `ask` (who was asked to pick a word), `completion` (a
           shortest legal ending), `end` (the text was complete without it), `told` (nobody: the model was
           told what may follow, and asked to go on), `again` (none of the answer was kept, and all of it was
           asked for again)
    """

    at: int
    wrong: str
    put: str
    by: By


@dataclass(frozen=True, slots=True)
class RepairResult:
    """A legal text and what it took.

    text         the whole text
    corrections  what was refused and put instead, in order
    calls        how often the model was called, to write or to pick a word
    tokens       of what the model wrote, refused text included, and what the draft model drew: see `Bounds`
    written      characters that the model wrote, refused ones included
    seconds      of wall time
    ended        `complete`: nothing can follow the text. `stopped`: the model ended it where it may end.
                 `cut`: the model went on behind a text that may end there with something that may not follow.
                 `completed`: a bound was reached, and a shortest ending was put behind the text
    value        the value of the text, where a type or a JSON Schema was given; else None
    """

    text: str
    corrections: tuple[Correction, ...]
    calls: int
    tokens: int
    written: int
    seconds: float
    ended: Ended
    value: Any = None


@dataclass(frozen=True, slots=True)
class Bounds:
    """When repair gives up. None is no bound.

    calls        calls of the model
    corrections  corrections; one that found nothing of the answer legal counts twice
    seconds      wall time
    tokens       of what the model writes and the draft model draws. A local model counts what it draws. Of
                 any other, the tokens of each piece are counted by the draft model's tokenizer; without a
                 draft model the bytes
    """

    calls: int = 64
    corrections: int = 64
    seconds: float | None = None
    tokens: int | None = 65_536

    def __post_init__(self) -> None:
        """Raises ValueError for a bound that lets nothing happen."""
        for name in ("calls", "corrections", "tokens"):
            value = getattr(self, name)
            if value is None and name == "tokens":
                continue
            if type(value) is not int or value < 1:
                raise ValueError(f"the bound on {name} is a whole number from 1 on, not {value!r}")
        seconds = self.seconds
        if seconds is not None and not (isinstance(seconds, int | float) and 0 < seconds < math.inf):
            raise ValueError(f"the bound on seconds is a number above 0, not {seconds!r}")
