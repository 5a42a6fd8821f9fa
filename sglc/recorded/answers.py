"""What a trace says of answers: of the model at the end of a hole, of Python behind a call."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sglc.bytecode.encoding import EncodingError, decode
from sglc.runtime.errors import SglError
from sglc.runtime.vm.state.run import CallOutcome, Written
from sglc.types.decoding import FIGURES, Figure


def answer_of(event: Mapping[str, object]) -> tuple[str, Written]:
    """The hole that an event `hole_end` fills, as `function.hole@branch`, and its answer.

    Raises TypeError, ValueError or KeyError for what is no such event.
    """
    scores = {str(option): float(score) for option, score in dict(event.get("scores", {})).items()}  # type: ignore[call-overload]
    name = f"{event['hole']}@{event.get('branch', '')}"
    return name, Written(str(event["text"]), scores, _figures(event))


def outcome_of(event: Mapping[str, Any]) -> tuple[str, CallOutcome] | None:
    """The function that an event `python` tells of, as `function@branch`, and what its call came to; None
    where the call was ended from outside.

    Raises TypeError, ValueError or KeyError for what is no such event.
    """
    name = f"{event['function']}@{event.get('branch', '')}"
    try:
        if "error" in event:
            fields = {key: decode(part, classes={}) for key, part in dict(event.get("fields", {})).items()}
            return name, CallOutcome(
                error=SglError(str(event["error"]), str(event.get("message", "")), fields=fields)
            )
        if "value" in event:
            return name, CallOutcome(decode(event["value"], classes={}))
        return (name, CallOutcome(str(event["result"]))) if "result" in event else None
    except EncodingError as fault:
        raise ValueError(str(fault)) from None


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
