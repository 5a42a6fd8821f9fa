"""What a planted fault is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """`old`, which stands once in `file`, becomes `new`; `test` is the pytest node that fails then."""

    name: str
    file: str
    old: str
    new: str
    test: str
