"""Who may call: keys as digests in a file, each with its tenant, rate, tokens a day and priority.

    [keys.billing]                       # a name for logs
    digest = "sha256:9f86d081884c7d65…"  # of the key; `sglc serve --new-key` makes both
    tenant = "billing"                   # whose turn it takes; the name by default
    rate = 120                           # requests a minute
    tokens_a_day = 2_000_000             # tokens that models write, from midnight to midnight UTC
    priority = 0                         # the most that its calls may ask for

A key has 256 random bits, so that its plain digest can be kept: nobody finds it by trying.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sglc.diagnostics.suggest import nearest
from sglc.runtime.errors import ArgumentError
from sglc.runtime.serve.problems import refusal

PREFIX = "sgl-"
DIGEST = "sha256:"
LARGEST_FILE = 4 * 1024 * 1024
DAY = 86_400
MINUTE = 60.0
_KINDS: Mapping[str, type] = {"digest": str, "tenant": str, "rate": int, "tokens_a_day": int, "priority": int}
"""What a table of a key may have."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key as the file has it: its digest, and what its holder may do. None is no bound."""

    name: str
    digest: str = ""
    tenant: str = ""
    rate: int | None = None
    tokens_a_day: int | None = None
    priority: int = 0


ANYONE = Key("", tenant="", priority=100)
"""Whoever calls a server that has no keys."""


def new_key() -> tuple[str, str]:
    """A new key and its digest, as the file has it."""
    key = PREFIX + secrets.token_urlsafe(32)
    return key, digest_of(key)


def digest_of(key: str) -> str:
    """The digest of a key."""
    return DIGEST + hashlib.sha256(key.encode()).hexdigest()


def read_keys(path: Path) -> tuple[Key, ...]:
    """The keys of a file. Raises ArgumentError (E0829), which names the file and the key, never a digest."""
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST_FILE + 1)
        if len(raw) > LARGEST_FILE:
            raise _fault(path, f"it is larger than {LARGEST_FILE // 1024 // 1024} MiB")
        data = tomllib.loads(raw.decode())
    except OSError as problem:
        raise _fault(path, problem.strerror or str(problem)) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise _fault(path, f"it is not TOML: {problem}") from None
    tables = data.pop("keys", {})
    if data or not isinstance(tables, dict) or not tables:
        raise _fault(path, "it has tables `[keys.NAME]` and nothing else")
    found = tuple(_key(path, name, table) for name, table in tables.items())
    digests: dict[str, str] = {}
    for key in found:
        if key.digest in digests:
            raise _fault(path, f"`{digests[key.digest]}` and `{key.name}` are the same key")
        digests[key.digest] = key.name
    return found


def _key(path: Path, name: str, table: object) -> Key:
    if not isinstance(table, dict):
        raise _fault(path, f"`keys.{name}` is no table")
    for word, value in table.items():
        kind = _KINDS.get(word)
        if kind is None:
            near = nearest(word, _KINDS)
            raise _fault(path, f"`keys.{name}` has no `{word}`", f"did you mean `{near}`?" if near else "")
        if not isinstance(value, kind) or isinstance(value, bool):
            wanted = "a text" if kind is str else "a whole number"
            raise _fault(path, f"`{word}` of `keys.{name}` is {wanted}")
    digest = table.get("digest", "")
    if len(digest) != len(DIGEST) + 64 or not digest.startswith(DIGEST):
        raise _fault(
            path, f"`keys.{name}` has no digest", "`sglc serve --new-key NAME` makes a key and its digest"
        )
    for word in ("rate", "tokens_a_day"):
        if table.get(word, 1) < 1:
            raise _fault(path, f"`{word}` of `keys.{name}` is at least 1")
    return Key(
        name,
        digest.lower(),
        table.get("tenant", name),
        table.get("rate"),
        table.get("tokens_a_day"),
        table.get("priority", 0),
    )


def _fault(path: Path, reason: str, hint: str = "") -> ArgumentError:
    return ArgumentError("E0829", f"{path} cannot be used as keys", reason=reason, hint=hint)


@dataclass(slots=True)
class Allowance:
    """So many things a minute. What is not used is kept, up to a minute's worth; `at` is when that was last
    counted, in seconds."""

    rate: int
    left: float
    at: float

    def take(self, now: float) -> float:
        """Use one. Gives 0, or the seconds after which there is one again where there is none."""
        self.left = min(float(self.rate), self.left + (now - self.at) * self.rate / MINUTE)
        self.at = now
        if self.left < 1:
            return (1 - self.left) * MINUTE / self.rate
        self.left -= 1
        return 0.0


@dataclass(slots=True)
class _Spent:
    """What a key has used: requests that it still has of its rate, and tokens of the day."""

    requests: Allowance | None = None
    day: int = 0
    tokens: int = 0


@dataclass(slots=True)
class Access:
    """Lets requests in by their keys, and counts what each key uses.

    Without keys anyone may call; such a server is reached from its own machine alone. `wall` and `clock` give
    seconds, of the calendar and since some moment. Threads may share it.
    """

    keys: tuple[Key, ...] = ()
    wall: Callable[[], float] = time.time
    clock: Callable[[], float] = time.monotonic
    _spent: dict[str, _Spent] = field(default_factory=dict)
    _schemas: dict[str, Allowance] = field(default_factory=dict)
    """By tenant: the schemas that it may still bring."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def admit(self, authorization: str) -> Key:
        """The key of a request, from its header `Authorization`. Raises Refusal: 401 for no key, 429 for one
        that has used what it has."""
        if not self.keys:
            return ANYONE
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise refusal(401, "Access", "this server wants a key", hint="send `Authorization: Bearer KEY`")
        digest = digest_of(token.strip())
        found = None
        for key in self.keys:  # all of them, so that the time does not tell which one it is
            if hmac.compare_digest(key.digest, digest):
                found = key
        if found is None:
            raise refusal(401, "Access", "this key is not known here")
        with self._lock:
            self._take(found)
        return found

    def replace(self, keys: tuple[Key, ...]) -> None:
        """Let in by other keys from now on. What a key of the same name has used stays counted."""
        with self._lock:
            self.keys = keys
            for key in keys:
                spent = self._spent.get(key.name)
                if spent is not None:
                    spent.requests = self._allowance(key.rate, spent.requests)

    def _take(self, key: Key) -> None:
        """Count a request. Raises Refusal where the key has none left."""
        spent = self._of(key)
        if key.tokens_a_day is not None and spent.tokens >= key.tokens_a_day:
            after = DAY - self.wall() % DAY
            raise refusal(
                429, "Rate", f"the key has used its {key.tokens_a_day} tokens of the day", retry_after=after
            )
        after = 0.0 if spent.requests is None else spent.requests.take(self.clock())
        if after:
            raise refusal(429, "Rate", f"the key may call {key.rate} times a minute", retry_after=after)

    def _of(self, key: Key) -> _Spent:
        spent = self._spent.get(key.name)
        if spent is None:
            spent = self._spent[key.name] = _Spent(self._allowance(key.rate))
        today = int(self.wall() // DAY)
        if spent.day != today:
            spent.day, spent.tokens = today, 0
        return spent

    def _allowance(self, rate: int | None, before: Allowance | None = None) -> Allowance | None:
        """Requests at a rate: all of a minute, or what was left before."""
        if rate is None:
            return None
        left = float(rate) if before is None else min(before.left, float(rate))
        return Allowance(rate, left, self.clock())

    def admit_schema(self, key: Key, most: int) -> None:
        """Count a schema that is to be compiled for the first time, for the tenant of a key. Raises Refusal
        where there were `most` of them within a minute."""
        found = self._schemas.get(key.tenant)
        if found is None:
            found = self._schemas[key.tenant] = Allowance(most, float(most), self.clock())
        after = found.take(self.clock())
        if after:
            raise refusal(
                429,
                "Schemas",
                f"{most} schemas that this server has not seen may come in a minute",
                hint="send the same schema again rather than a new one for each request",
                retry_after=after,
            )

    def count(self, key: Key, tokens: int) -> None:
        """Count tokens that models wrote for a key."""
        with self._lock:
            self._of(key).tokens += tokens

    def spent_today(self, key: Key) -> int:
        """Tokens of the day that the key has used."""
        with self._lock:
            return self._of(key).tokens
