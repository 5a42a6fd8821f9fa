"""Who may come in: a client at a port says the key before anything of it is run; one client at a time."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from dataclasses import dataclass, field

SHORTEST = 16
"""Fewest characters of a key that a user chooses."""
KEY_WAIT = 30.0
"""Seconds after which a client that has not said the key is sent away."""
MOST_WAITING = 16
"""Most clients that are connected at a time, those that wait for their turn among them."""
LARGEST_OUTSIDE = 1024 * 1024
"""Most bytes of a message of a client that is not in yet."""
IDLE = 600.0
"""Seconds without a client that came in, after which nobody listens any more."""


def new_key() -> str:
    """A key that nobody guesses: 24 random bytes."""
    return secrets.token_urlsafe(24)


@dataclass(slots=True)
class Entrance:
    """Lets clients in. Without a `key` whoever can connect may come in: at a file of its user's own."""

    key: str | None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by the client that is served."""
    key_wait: float = KEY_WAIT
    idle: float = IDLE

    def admits(self, given: object) -> bool:
        """Whether a client that gives this may come in. It takes the same time for every wrong key."""
        if self.key is None:
            return True
        text = given if isinstance(given, str) else ""
        return hmac.compare_digest(text.encode("utf-8", "replace"), self.key.encode())
