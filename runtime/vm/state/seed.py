"""Seeds that are derived from other seeds, by the place of what draws from them."""

from __future__ import annotations

from dataclasses import dataclass, field

from sglc.bytecode.code import Code
from sglc.runtime.engine.sampling.seeds import mix


def known_name(code: Code) -> str:
    """The name by which seeds, events, errors and accounts know a function."""
    return code.copy_of or code.name


@dataclass(slots=True)
class Seeds:
    """What the holes, calls and forks of one conversation draw from.

    A seed comes from the seed of the conversation and from how many of its kind the conversation had before.
    What a called function draws changes no seed of its caller. The counts only grow: what a retry or a loop
    does once more gets another seed.
    """

    seed: int
    holes: int = 0
    forks: int = 0
    calls: dict[str, int] = field(default_factory=dict)
    """How often each function was called, by its name."""

    def hole(self, given: int | None, attempt: int, behind: bytes) -> int:
        """The seed of the next hole, which stands behind a text with this digest: behind other texts it draws
        other values. With a written seed only the attempt and the text vary it."""
        self.holes += 1
        if given is not None:
            return mix("hole", given, attempt, behind)
        return mix("hole", self.seed, self.holes, attempt, behind)

    def coming(self, function: str, ahead: int = 0) -> int:
        """The seed that a call of a function will get which has `ahead` other calls of it before it."""
        return mix("call", self.seed, function, self.calls.get(function, 0) + ahead + 1)

    def call(self, function: str) -> int:
        """The seed of the next call of a function."""
        seed = self.coming(function)
        self.calls[function] = self.calls.get(function, 0) + 1
        return seed

    def fork(self) -> int:
        """What the branches of the next fork derive their seeds from."""
        self.forks += 1
        return mix("fork", self.seed, self.forks)

    def begin(self, seed: int) -> None:
        """Draw from another seed from here on."""
        self.seed, self.holes, self.forks, self.calls = seed, 0, 0, {}
