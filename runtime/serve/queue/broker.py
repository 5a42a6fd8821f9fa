"""What a broker of messages does for a worker. Whatever it says may be lost on the way, and is said again."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0
"""Seconds between two tries to reach a broker that is not there."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message that was taken. `attempt` counts from 1; `handle` is the broker's own."""

    data: bytes
    attempt: int
    handle: object


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of a message. With a `digest` it has a result: `text`, of the call whose content has the
    digest `content`; a `reply` gets it too. A `letter` is a dead letter."""

    digest: str = ""
    content: str = ""
    text: str = ""
    reply: str = ""
    letter: str = ""


class Broker(Protocol):
    """A queue of a broker. All methods may raise one of `faults`: then it may have done it or not, and is
    asked again. Doing it twice is as doing it once."""

    @property
    def faults(self) -> tuple[type[Exception], ...]:
        """What is raised where the broker is away or refuses."""

    @property
    def largest(self) -> int:
        """Most bytes of a result."""

    async def connect(self) -> None:
        """Reach it, and make what the queue needs there. Raises ArgumentError (E0832) for what waiting does
        not mend, such as a wrong password."""

    async def take(self, most: int, seconds: float) -> Sequence[Delivery]:
        """At most so many messages, those that others have left first; none after some seconds."""

    async def hold(self, delivery: Delivery) -> None:
        """Say that it is still worked on."""

    async def stored(self, digest: str) -> str | None:
        """The result under a digest, None where there is none."""

    async def settle(self, delivery: Delivery, outcome: Outcome) -> bool:
        """Store the result where there is none yet, tell what is stored to whom wants a reply, leave the dead
        letter, and take the message away. False, and nothing of this, where the result that is stored is of
        another content."""

    async def give_back(self, delivery: Delivery, seconds: float, *, counted: bool) -> None:
        """Leave it to whoever takes it next, after some seconds at the earliest. What is not `counted` is, as
        far as the broker can, no attempt."""

    async def close(self) -> None:
        """Leave the broker."""


def pause(failures: int) -> float:
    """Seconds before the next try, after so many failures in a row: more each time, and drawn."""
    most = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(failures, 10))
    return most * random.uniform(0.5, 1.0)
