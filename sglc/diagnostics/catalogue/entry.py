"""One entry of the catalogue of diagnostics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """`bad` is a program that gives exactly this code, `good` the same program put right.

    Both are empty where no program text shows the fault (a damaged file, a missing argument).
    """

    code: str
    title: str
    explanation: str
    bad: str = ""
    good: str = ""
