"""What a run took, hole by hole: from the figures of `--stats`, or from a recorded trace."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Took:
    """What all fillings of one hole took together. `passes` is None where nobody counted them."""

    times: int = 0
    tokens: int = 0
    drawn: int = 0
    forced: int = 0
    passes: int | None = None


@dataclass(slots=True)
class Measured:
    """One run. `holes` by qualified name; figures of the whole are None where nobody counted them."""

    holes: dict[str, Took] = field(default_factory=dict)
    prompt: int | None = None
    """Tokens of the conversations before their holes, and `reused` of them, which were not computed again."""
    reused: int | None = None
    passes: int | None = None
    drafted: int | None = None
    accepted: int | None = None

    @property
    def tokens(self) -> int:
        """Of all holes."""
        return sum(took.tokens for took in self.holes.values())


class NoTrace(ValueError):
    """A text that is no trace of a run; it says what is wrong."""


def from_report(report: Mapping[str, Any]) -> Measured:
    """The figures of `sglc.runtime.metrics.report.report`."""
    holes: dict[str, dict[str, Any]] = report["holes"]
    found = Measured(prompt=0, reused=0, passes=0, drafted=0, accepted=0)
    for name, hole in holes.items():
        found.holes[name] = Took(
            hole["fillings"], hole["tokens"], hole["sampled"], hole["forced"], hole["forwards"]
        )
        for kind, figure in (
            ("prompt", "prompt"),
            ("reused", "reused"),
            ("passes", "forwards"),
            ("drafted", "drafted"),
            ("accepted", "accepted"),
        ):
            setattr(found, kind, getattr(found, kind) + hole[figure])
    return found


def from_trace(lines: Iterable[str]) -> Measured:
    """The figures of a trace of `sglc run --trace` (docs/trace.md). Raises NoTrace."""
    found = Measured(prompt=0)
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError) as fault:
            raise NoTrace(f"line {number} is not JSON: {fault}") from None
        if not isinstance(event, dict) or not isinstance(event.get("event"), str):
            raise NoTrace(f"line {number} is no event of a trace")
        if event["event"] != "hole_end":
            continue
        name = event.get("hole")
        if not isinstance(name, str):
            raise NoTrace(f"line {number} does not say which hole ended")
        took = found.holes.setdefault(name, Took())
        took.times += 1
        took.tokens += _number(event, "tokens", number)
        took.drawn += _number(event, "sampled", number)
        took.forced += _number(event, "forced", number)
        found.prompt = (found.prompt or 0) + _number(event, "prompt", number)
    return found


def _number(event: Mapping[str, object], name: str, line: int) -> int:
    """A count of an event; 0 where a choice that was scored has none."""
    value = event.get(name, 0)
    if type(value) is not int or value < 0:
        raise NoTrace(f"line {line}: `{name}` is no number of tokens")
    return value
