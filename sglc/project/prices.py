"""Prices of tokens. Money is a decimal: what a run cost is exact."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Money for a million tokens: of prompts, of answers, of prompts that the backend had (`cached`)."""

    input: Decimal
    output: Decimal
    cached: Decimal | None = None
    """None: as `input`."""
    currency: str = "USD"
    """A label; nothing is converted."""

    def of(self, prompt: int, output: int, cached: int = 0) -> Decimal:
        """What some tokens cost; `cached` ones are among those of the prompt."""
        cached = min(cached, prompt)
        held = self.input if self.cached is None else self.cached
        return ((prompt - cached) * self.input + cached * held + output * self.output) / MILLION


def shown(amount: Decimal, currency: str) -> str:
    """Money as people read it: two places, or three digits of an amount that has no cents."""
    places = max(2, 2 - amount.adjusted()) if amount else 2
    digits = f"{amount:.{places}f}".rstrip("0")
    whole, _, cents = digits.partition(".")
    return f"{whole}.{cents.ljust(2, '0')} {currency}".strip()
