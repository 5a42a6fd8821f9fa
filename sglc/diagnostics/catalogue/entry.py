"""One entry of the catalogue of diagnostics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """`bad` is a program that gives exactly this code, `good` the same program put right.

    Both are empty where no program text shows the fault (a damaged file, a missing argument). `bad_python`
    and `good_python` are modules of Python that show faults of functions under a decorator.
    """

    code: str
    title: str
    explanation: str
    bad: str = ""
    good: str = ""
    bad_python: str = ""
    good_python: str = ""
