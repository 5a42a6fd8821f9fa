"""Limits that a service tells with its replies: until when it takes no more requests.

OpenAI and those that speak its protocol say `x-ratelimit-remaining-requests: 0` with
`x-ratelimit-reset-requests: 1m2.5s`, and the same of tokens. Anthropic says
`anthropic-ratelimit-requests-remaining: 0` with `anthropic-ratelimit-requests-reset: 2026-11-26T17:00:00Z`,
and the same of tokens, input and output tokens. (OpenAI's guide to rate limits; Anthropic's "Rate limits".)
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from sglc.runtime.backends.exchange import Clock

LONGEST_PAUSE = 300.0
"""Seconds that such a header may close a service for: more than windows of a minute need, and as long as
policies wait for `Retry-After`. A header that says more (a quota of a day, a mistake, malice) costs a request
every five minutes."""
_LEFT = re.compile(r"(?:x-ratelimit-remaining-(.{1,40})|anthropic-ratelimit-(.{1,40})-remaining)")
_PART = re.compile(r"(\d{1,12}(?:\.\d{1,12})?)(ms|[hms]|us|µs|ns|d)", re.ASCII)
_UNITS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


class ServiceLimits:
    """What the replies of one service have said of its limits. Times are those of the clock; without one they
    are the event loop's."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock
        self._closed_until = 0.0

    def note(self, headers: Mapping[str, str]) -> None:
        """Read the headers of a reply, whose names are in lower case."""
        resets = [each for each in _resets(headers) if each > 0]
        if resets:
            self._closed_until = max(self._closed_until, self._now() + min(max(resets), LONGEST_PAUSE))

    def closed_for(self) -> float:
        """Seconds before the service takes requests again; 0 where it takes them."""
        return max(0.0, self._closed_until - self._now()) if self._closed_until else 0.0

    def _now(self) -> float:
        return asyncio.get_running_loop().time() if self._clock is None else self._clock.now()


def _resets(headers: Mapping[str, str]) -> Iterator[float]:
    """Seconds to the reset of each limit of which nothing is left."""
    for name, value in headers.items():
        found = _LEFT.fullmatch(name)
        if found is None or value.strip() not in ("0", "0.0"):
            continue
        what = found[1] or found[2]
        reset = f"x-ratelimit-reset-{what}" if found[1] else f"anthropic-ratelimit-{what}-reset"
        yield seconds_of(headers.get(reset, ""), headers.get("date", ""))


def seconds_of(reset: str, now: str = "") -> float:
    """Seconds to a reset: a duration (`6m0s`, `20ms`), a number of seconds, or a time of RFC 3339. `now` is
    the reply's `Date`, so that a clock that goes wrong does no harm. 0 for what is none of them."""
    reset = reset.strip()[:64]
    parts = _PART.findall(reset)
    if parts and "".join(number + unit for number, unit in parts) == reset:
        return sum(float(number) * _UNITS[unit] for number, unit in parts)
    if re.fullmatch(r"\d{1,12}(\.\d{1,12})?", reset, re.ASCII):
        return float(reset)
    try:
        when = datetime.fromisoformat(reset)
        since = parsedate_to_datetime(now) if now else datetime.now(UTC)
        return max(0.0, (when - since).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return 0.0
