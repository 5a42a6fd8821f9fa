"""What is said of levels: errors where less is guaranteed than is required, and a line for a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sglc.diagnostics.diagnostic import Diagnostic
from sglc.targets.projection.core.capabilities import Level
from sglc.targets.projection.core.loss import Loss
from sglc.targets.projection.levels import DOING, HoleLevel

MOST_NAMED = 3
"""Holes that a line names: with what is lost of each, more are no line any more."""


def shortfalls(levels: Sequence[HoleLevel], required: Level) -> list[Diagnostic]:
    """An error for each hole of which less is guaranteed than is required."""
    return [
        Diagnostic(
            "E0827",
            f"hole {each.name} is `{each.level}` at {each.model}, and `{required}` is required",
            None,
            reason="; ".join(losses(each)),
            hint=f"use {' or '.join(each.hints)}" if each.hints else "",
        )
        for each in levels
        if each.is_below(required)
    ]


def refusals(levels: Iterable[HoleLevel]) -> list[Diagnostic]:
    """An error for each hole that cannot be filled at all."""
    return [
        Diagnostic("E0705", unsupported(each), None, hint=f"use {' or '.join(each.hints)}")
        for each in levels
        if each.level == "refused"
    ]


def unsupported(level: HoleLevel) -> str:
    """Why a hole cannot be filled, as a sentence."""
    wanted = " and ".join(loss.construct for loss in level.lost)
    return f"hole `{level.name}` needs {wanted}, and {level.model} cannot do that: nothing was asked"


def losses(level: HoleLevel) -> list[str]:
    """What is lost of a hole, each with what stands in its place."""
    return [shown_loss(loss) for loss in level.lost]


def shown_loss(loss: Loss) -> str:
    """What is lost, with what stands in its place."""
    return f"{loss.construct} → {loss.instead}" if loss.instead else loss.construct


def sampling_of(levels: Sequence[HoleLevel]) -> list[str]:
    """What backends do not take of how holes are drawn: each thing once, with the holes that it is of."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for each in levels:
        for loss in each.sampling:
            found.setdefault((loss.construct, each.model, loss.instead), []).append(each.name)
    return [
        f"{model} does not take {construct} ({_named(holes)}): {instead} stands in its place"
        for (construct, model, instead), holes in found.items()
    ]


def summary(levels: Sequence[HoleLevel]) -> str:
    """A line about the holes that have less than `value`, and about what is left out; empty for none."""
    weak = [each for each in levels if each.is_below("value")]
    parts = []
    if weak:
        told = [f"{each.name} ({each.level}: {', '.join(losses(each))})" for each in weak[:MOST_NAMED]]
        more = f" and {len(weak) - MOST_NAMED} more" if len(weak) > MOST_NAMED else ""
        done = "; ".join(dict.fromkeys(DOING[each.level] for each in weak))
        parts.append(f"less than `value` is guaranteed of {', '.join(told)}{more}: {done}")
    return "; ".join([*parts, *sampling_of(levels)])


def _named(holes: Sequence[str]) -> str:
    more = f", and {len(holes) - MOST_NAMED} more" if len(holes) > MOST_NAMED else ""
    return ", ".join(holes[:MOST_NAMED]) + more
