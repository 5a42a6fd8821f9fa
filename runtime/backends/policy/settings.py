"""What policies are set to: plain data, as `[models.NAME]` of `sgl.toml` has it."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from sglc.project.prices import Price

RETRIES = 10
"""Requests after a first one that failed. Where a third of all requests fail (0.35), one query in 100,000
uses up ten; four would lose one in 190."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Most requests and tokens a minute, and most requests at once. None is no bound."""

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    at_once: int | None = None


@dataclass(frozen=True, slots=True)
class Allowance:
    """Most tokens and most money of all queries together. None is no bound."""

    tokens: int | None = None
    cost: Decimal | None = None
    """In the currency of the price; it bounds nothing where no price is known."""


Hedge = float | Literal["p95"] | None
"""When a second request joins one whose first token has not come: after so many seconds, or after the time
in which 95 of 100 first tokens came. None is never."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How one backend is asked."""

    retries: int = RETRIES
    limits: Limits = field(default_factory=Limits)
    budget: Allowance = field(default_factory=Allowance)
    hedge: Hedge = None
    price: Price | None = None
    seed: int = 0
    """Of the random waits between requests."""
