"""What the end of a hole in a trace says of its answer."""

from __future__ import annotations

import math
from collections.abc import Mapping

from sglc.runtime.vm.state.run import Written
from sglc.types.decoding import FIGURES, Figure


def answer_of(event: Mapping[str, object]) -> tuple[str, Written]:
    """The hole that an event `hole_end` fills, as `function.hole@branch`, and its answer.

    Raises TypeError, ValueError or KeyError for what is no such event.
    """
    scores = {str(option): float(score) for option, score in dict(event.get("scores", {})).items()}  # type: ignore[call-overload]
    name = f"{event['hole']}@{event.get('branch', '')}"
    return name, Written(str(event["text"]), scores, _figures(event))


def _figures(event: Mapping[str, object]) -> dict[str, Figure]:
    """What a strategy found, as the end of its hole tells it. Raises TypeError for what is no such figure."""
    found: dict[str, Figure] = {}
    for name, kind in (each for figures in FIGURES.values() for each in figures.items()):
        figure = event.get(name)
        if figure is None:
            continue
        if isinstance(figure, bool) != (kind == "bool") or not isinstance(figure, int | float):
            raise TypeError(name)
        if kind == "int" and not isinstance(figure, int):
            raise TypeError(name)
        found[name] = float(figure) if kind == "float" else figure
    if "ess" in found:
        found.setdefault("weight", -math.inf)  # JSON has no infinity, so traces leave it out
    return found
