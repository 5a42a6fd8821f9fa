"""What a backend guarantees of each hole: the table of `sglc check --model BACKEND`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import click

from sglc.commands.shared.invocation import fault
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.diagnostics.suggest import nearest
from sglc.project.models import kind_of

if TYPE_CHECKING:
    from sglc.targets.projection.core.capabilities import Capabilities, Level
    from sglc.targets.projection.levels import HoleLevel


def capabilities_named(model: str) -> Capabilities:
    """What a backend of this name can do, by its kind; nothing is asked of it and no key is read.

    Raises UsageError for a kind that is none."""
    kinds = import_module("sglc.runtime.backends.kinds").KINDS
    word = kind_of(model) or model
    if word in kinds:
        capabilities: Capabilities = kinds[word].capabilities
        return capabilities
    close = nearest(word, kinds)
    hint = f"did you mean {close}?" if close else f"there are {', '.join(kinds)}"
    raise click.UsageError(f"--model: there is no kind of backends {word}: {hint}")


def below(levels: Sequence[HoleLevel], required: Level, model: str) -> list[Diagnostic]:
    """An error for each hole of which less is guaranteed."""
    return [
        fault(
            "E0827",
            f"hole {each.name} is `{each.level}` at {model}, and `{required}` is required",
            reason="; ".join(_lost(each)),
            hint=f"use {' or '.join(each.hints)}" if each.hints else "",
        )
        for each in levels
        if each.is_below(required)
    ]


def shown(levels: Sequence[HoleLevel]) -> str:
    """The table as text: a line a hole, and below it what is lost."""
    if not levels:
        return "no hole is filled by this model\n"
    wide = max(len(each.name) for each in levels)
    lines = []
    for each in levels:
        carried = f" by {each.carrier}" if each.carrier else ""
        unsure = "" if each.certain else "; values of the run may lower it"
        again = "" if each.again in (None, each.level) else f"; drawn again: {each.again}"
        requests = "1 request" if each.requests == 1 else f"{each.requests} requests"
        lines.append(
            f"{each.name:<{wide}}  {each.level:<7}{carried}; {each.doing}; {requests}{unsure}{again}"
        )
        lines += (f"{'':<{wide}}  lost: {text}" for text in _lost(each))
        if each.hints:
            lines.append(f"{'':<{wide}}  use instead: {'; '.join(each.hints)}")
    return "\n".join(lines) + "\n"


def as_data(levels: Sequence[HoleLevel]) -> list[dict[str, object]]:
    """The table as JSON data."""
    return [
        {
            "hole": each.name,
            "level": each.level,
            "carrier": each.carrier,
            "lost": _lost(each),
            "doing": each.doing,
            "hints": list(each.hints),
            "requests": each.requests,
            "certain": each.certain,
            "again": each.again,
        }
        for each in levels
    ]


def _lost(level: HoleLevel) -> list[str]:
    return [f"{loss.construct} → {loss.instead}" if loss.instead else loss.construct for loss in level.lost]
