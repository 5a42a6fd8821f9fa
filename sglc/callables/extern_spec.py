"""What a program says of a function of Python that it calls (`extern py`)."""

from __future__ import annotations

import re
from typing import Literal

from sglc.immutable import value

Effect = Literal["pure", "model", "read", "write"]
EFFECTS: tuple[Effect, ...] = ("pure", "model", "read", "write")
"""What a call does at most; each includes those before it."""
_TARGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:(?!_)[^\W\d]\w*")


@value
class ExternSpec:
    """A function of Python: where it is, what a call does, how long it may take, and what tells writes apart.

    `target` is `module:function`, `timeout` in milliseconds, `key` the number of a parameter: of calls of a
    `write` with equal keys only the first is made in a run.
    """

    target: str
    effect: Effect = "read"
    timeout: int | None = None
    key: int | None = None

    @property
    def module(self) -> str:
        """The module that is imported."""
        return self.target.partition(":")[0]

    @property
    def function(self) -> str:
        """The name in the module."""
        return self.target.partition(":")[2]

    def shown(self, parameters: tuple[str, ...]) -> str:
        """As a program writes it, behind the word `py`."""
        text = f'"{self.target}" effects {self.effect}'
        if self.key is not None:
            text += f" key {parameters[self.key]}"
        return text if self.timeout is None else f"{text} timeout {self.timeout / 1000:g} s"

    def fault(self, parameters: int) -> str:
        """What is wrong with it, as a sentence; empty if nothing is."""
        if _TARGET.fullmatch(self.target) is None:
            return f"{self.target!r} is no `module:function`"
        if self.effect not in EFFECTS:
            return f"there is no effect {self.effect!r}"
        if self.timeout is not None and self.timeout < 1:
            return "a timeout is at least a millisecond"
        if self.key is not None and (self.effect != "write" or not 0 <= self.key < parameters):
            return "a key is a parameter of a `write`"
        return ""


def is_target(text: str) -> bool:
    """Whether a text is `module:function`, dotted before the colon, with a public name behind it."""
    return _TARGET.fullmatch(text) is not None
