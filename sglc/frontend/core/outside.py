"""What a function sees outside of itself: names of the functions and of the module around it."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from types import ModuleType

from sglc.frontend.core.written import WrittenFunction

MISSING = object()
"""There is no such name."""


class Outside:
    """Looks names up as Python would, without running anything."""

    def __init__(self, written: WrittenFunction) -> None:
        function = written.function
        self._places: tuple[Mapping[str, object], ...] = (
            _closure(function),
            written.around,
            function.__globals__,
            vars(builtins),
        )

    def look_up(self, name: str) -> object:
        """What a name stands for; MISSING where it stands for nothing."""
        for place in self._places:
            if name in place:
                return place[name]
        return MISSING

    def attribute(self, owner: object, name: str) -> object:
        """What `owner.name` stands for where the owner is a module or a class; else MISSING."""
        if isinstance(owner, ModuleType | type):
            found = getattr(owner, name, MISSING)
            return MISSING if isinstance(found, property) else found
        return MISSING


def _closure(function: Callable[..., object]) -> dict[str, object]:
    cells = function.__closure__ or ()
    found = {}
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not bound yet
            continue
    return found
