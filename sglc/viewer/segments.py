"""A filled hole as stretches of text, each with what is to be said of it: what both pictures draw."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Literal, NamedTuple

from sglc.viewer.filling import repaired
from sglc.viewer.model import Correction, Fill, Forced, Pruned, Token
from sglc.viewer.reading import number
from sglc.viewer.wording import counted

Kind = Literal["forced", "drawn", "value", "kept", "wrong", "put", "back", "pruned", "whole"]
"""What a stretch is: `forced` could be nothing else, `drawn` the model chose, `value` a mock or an option;
`kept`, `wrong` and `put` are parts of a repair; `back` was taken back, `pruned` refused by a validator;
`whole` repeats the value where the pieces do not add up to it."""
GONE = frozenset({"wrong", "back", "pruned"})
"""Kinds that do not stand in the value."""

LEVELS = (0.1, 0.7, 2.3, 4.6)
"""Borders of the levels of pressure, in nats: a tenth, half, nine tenths, and 99 of 100 of what the model
wanted was illegal."""


class Segment(NamedTuple):
    """A stretch of text. `level` is that of the pressure, 0 where little or nothing is known of it."""

    kind: Kind
    text: str
    token: Token | None = None
    level: int = 0
    note: str = ""


def level(pressure: float | None) -> int:
    """Which level a pressure is of: 0 to 4."""
    return 0 if pressure is None else bisect_right(LEVELS, pressure)


def segments(fill: Fill) -> list[Segment]:
    """The stretches of a filling, in order."""
    corrections = [piece for piece in fill.pieces if isinstance(piece, Correction)]
    found = _merged(_pieces(fill))
    texts = [piece for piece in fill.pieces if isinstance(piece, Token | Forced)]
    if fill.value is None:
        return found
    if corrections and not texts:
        return [Segment(part.kind, part.text, note=part.by) for part in repaired(fill.value, corrections)]
    if "".join(piece.shown for piece in texts if not piece.taken_back) != fill.value:
        found.append(Segment("whole" if texts else "value", fill.value))
    return found


def _merged(parts: Iterable[Segment]) -> list[Segment]:
    """Stretches without details that follow each other and are of one kind and level, as one."""
    found: list[Segment] = []
    for key, group in groupby(parts, lambda part: part._replace(text="")):
        if key.token is None:
            found.append(key._replace(text="".join(part.text for part in group)))
        else:
            found += group
    return found


def _pieces(fill: Fill) -> Iterator[Segment]:
    for piece in fill.pieces:
        if isinstance(piece, Pruned):
            yield Segment("pruned", piece.text, note="a validator refused it")
        elif isinstance(piece, Correction):
            yield Segment("wrong", piece.wrong, note=piece.by)
            yield Segment("put", piece.put, note=piece.by)
        elif isinstance(piece, Forced | Token) and piece.taken_back:
            yield Segment("back", piece.text, note="taken back: nothing could follow")
        elif isinstance(piece, Forced):
            yield Segment("forced", piece.shown)
        elif isinstance(piece, Token):
            told = piece if piece.number else None
            yield Segment("drawn", piece.shown, told, level(piece.pressure))


def line_of(fill: Fill, key: Literal["alpha", "chernoff"]) -> list[float]:
    """A figure over the tokens of a hole, those that have it."""
    found = (getattr(token, key) for token in fill.tokens)
    return [value for value in found if value is not None]


_SHOWN = frozenset(
    ("v", "event", "hole", "branch", "span", "text", "ended", "tokens", "forced", "sampled", "prompt")
    + ("pressure", "logprob", "seconds", "t", "scores")
)
"""Keys of the end of a hole that have a place of their own."""
MOST_ANSWERS = 12
"""Most answers of a repair that are listed, as many as other facts."""


def facts(fill: Fill) -> list[tuple[str, str]]:
    """What was kept of the answers of a repair, and what else the end of a hole tells, by key: `weight`,
    `ess`, `walks`, `bound`, `proved` and the like."""
    found: list[tuple[str, str]] = []
    for place, answer in enumerate(fill.answers[:MOST_ANSWERS], 1):
        of_all = "" if answer.written is None else f" of {counted(answer.written, 'character')}"
        found.append((f"answer {place}", f"{len(answer.kept)}{of_all} kept"))
    if (more := len(fill.answers) - MOST_ANSWERS) > 0:
        found.append(("answers", f"{counted(more, 'answer')} more"))
    return found + ([] if fill.end is None else brief_items(_untold(fill.end)))


def _untold(end: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in end.items() if key not in _SHOWN}


def brief_items(data: Mapping[str, object]) -> list[tuple[str, str]]:
    """Keys and values as short text, at most a dozen."""
    return [(key, brief(value)) for key, value in list(data.items())[:12]]


def brief(value: object) -> str:
    """A value of JSON in at most 200 characters."""
    if isinstance(value, float):
        return f"{value:.4g}"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else text[:199] + "…"


def scores(fill: Fill) -> list[tuple[str, float]]:
    """The options of a `select` and their probabilities, the best first."""
    found = fill.end.get("scores") if fill.end is not None else None
    pairs = [(text, number(value)) for text, value in found.items()] if isinstance(found, dict) else []
    known = [(text, value) for text, value in pairs if value is not None]
    return sorted(known, key=lambda pair: -pair[1])


def spark(values: Sequence[float], width: int) -> str:
    """A line of blocks, one for each value or, where there are more than `width`, for the mean of some."""
    if not values:
        return ""
    width = max(1, min(width, len(values)))
    borders = [at * len(values) // width for at in range(width + 1)]
    means = [sum(values[a:b]) / (b - a) for a, b in pairwise(borders)]
    low, high = min(means), max(means)
    steps = [0 if high == low else round(7 * (mean - low) / (high - low)) for mean in means]
    return "".join("▁▂▃▄▅▆▇█"[step] for step in steps)
