"""The address of a queue: a URL with the broker, and behind `?` the name of the queue and its limits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from sglc.diagnostics.suggest import nearest
from sglc.runtime.errors import ArgumentError

PORTS: Mapping[str, int] = {"redis": 6379, "rediss": 6379, "nats": 4222, "tls": 4222}
"""Schemes, and their ports where none is given."""
ENCRYPTED = ("rediss", "tls")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SECONDS: Mapping[str, tuple[int, int]] = {"attempts": (1, 1000), "idle": (1, 3600), "keep": (60, 31_536_000)}
"""Whole numbers behind `?`: the least and the most."""


@dataclass(frozen=True, slots=True)
class QueueAddress:
    """A broker and a queue of it.

    `name` begins all names that the broker has of the queue; `attempts` is how often a message is taken at
    most; after `idle` seconds without a sign of its worker it goes to another; results and answers are kept
    for `keep` seconds.
    """

    scheme: str
    host: str
    port: int
    database: int = 0
    user: str = ""
    password: str = ""
    name: str = "sglc"
    attempts: int = 5
    idle: int = 30
    keep: int = 86_400

    @property
    def encrypted(self) -> bool:
        """Whether the connection is one of TLS."""
        return self.scheme in ENCRYPTED

    @property
    def redis(self) -> bool:
        """Whether the broker is Redis; else it is NATS."""
        return self.scheme in ("redis", "rediss")

    @property
    def shown(self) -> str:
        """The broker as messages and logs name it, without user and password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}" + (f"/{self.database}" if self.redis else "")


def read_address(url: str) -> QueueAddress:
    """The address that a URL says. Raises ArgumentError (E0832), which never has the password."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise _fault("its host or port cannot be read") from None
    if parts.scheme not in PORTS:
        raise _fault(f"`{parts.scheme}` is no broker", "schemes: " + ", ".join(PORTS))
    if not parts.hostname:
        raise _fault("it names no host")
    if parts.fragment:
        raise _fault("nothing may stand behind `#`", "write `#` in a password as `%23`")
    path = parts.path.strip("/")
    redis = parts.scheme in ("redis", "rediss")
    if path and not (redis and path.isdecimal() and len(path) < 6):
        raise _fault("its path is the number of a database, of Redis alone")
    named: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for word, value in parse_qsl(parts.query, keep_blank_values=True):
        if word in _SECONDS:
            numbers[word] = _number(word, value)
        elif word == "name" and _NAME.fullmatch(value):
            named[word] = value
        elif word == "name":
            raise _fault("`name` has letters, digits, _ and -, at most 64 of them")
        else:
            known = ("name", *_SECONDS)
            near = nearest(word, known)
            raise _fault(f"there is no `{word}`", f"did you mean `{near}`?" if near else ", ".join(known))
    return QueueAddress(
        parts.scheme,
        parts.hostname,
        port or PORTS[parts.scheme],
        int(path or 0),
        unquote(parts.username or ""),
        unquote(parts.password or ""),
        named.get("name", "sglc"),
        numbers.get("attempts", 5),
        numbers.get("idle", 30),
        numbers.get("keep", 86_400),
    )


def _number(word: str, value: str) -> int:
    least, most = _SECONDS[word]
    if not value.isdecimal() or len(value) > 9 or not least <= int(value) <= most:
        raise _fault(f"`{word}` is a whole number from {least} to {most}")
    return int(value)


def _fault(reason: str, hint: str = "") -> ArgumentError:
    return ArgumentError("E0832", "the URL of `--queue` cannot be used", reason=reason, hint=hint)
