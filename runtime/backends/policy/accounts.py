"""What was asked of models elsewhere and what it cost, by backend, over all runs of a process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from sglc.project.prices import shown
from sglc.runtime.backends.exchange import BackendFault, Query, Usage
from sglc.runtime.backends.policy.settings import Policy

BYTES_A_TOKEN = 3
"""Bytes of a prompt that are taken for one token until the backend says how many there were. Tokenizers of
language models make a token of 3 to 5 bytes of prose and code; the lower end makes the estimate a cautious
one."""
MESSAGE_TOKENS = 4
"""Tokens that a chat template puts around a message, about."""
ANSWER_TOKENS = 512
"""Tokens that an answer without a bound is expected to have."""


def estimate(query: Query) -> Usage:
    """About what a query will take: its messages by their bytes, and the longest answer."""
    texts = [query.begun, *(message.text for message in query.messages)]
    written = sum(len(text.encode("utf-8", "replace")) for text in texts)
    prompt = -(-written // BYTES_A_TOKEN) + MESSAGE_TOKENS * (len(query.messages) + 1)
    return Usage(prompt, ANSWER_TOKENS if query.max_tokens is None else query.max_tokens)


@dataclass(slots=True)
class Spending:
    """Of one backend: what was asked and what it took. `estimated` are tokens of requests whose usage nobody
    told: they broke off or were closed. They are in `usage` and in `cost`. `kept` are answers that were given
    before, for which no request was sent."""

    requests: int = 0
    usage: Usage = field(default_factory=Usage)
    estimated: int = 0
    cost: Decimal = Decimal(0)
    currency: str = ""
    kept: int = 0

    @property
    def tokens(self) -> int:
        """All tokens, of prompts and answers."""
        return self.usage.prompt + self.usage.output


@dataclass(slots=True)
class _Reserved:
    tokens: int = 0
    cost: Decimal = Decimal(0)


@dataclass(slots=True)
class Accounts:
    """Spendings by the name of the backend. The table grows with backends, not with requests."""

    _spendings: dict[str, Spending] = field(default_factory=dict)
    _reserved: dict[str, _Reserved] = field(default_factory=dict)

    @property
    def spendings(self) -> Mapping[str, Spending]:
        """What each backend was asked so far."""
        return self._spendings

    @property
    def kept(self) -> int:
        """Answers that were given before, of all backends."""
        return sum(spent.kept for spent in self._spendings.values())

    def plain(self) -> dict[str, dict[str, object]]:
        """As JSON has it, by backend; money as a text, so that no reader makes a float of it unasked."""
        found: dict[str, dict[str, object]] = {}
        for name, spent in self._spendings.items():
            usage = spent.usage
            found[name] = {"requests": spent.requests, "prompt": usage.prompt, "cached": usage.cached}
            found[name] |= {"output": usage.output, "estimated": spent.estimated}
            if spent.kept:
                found[name]["kept"] = spent.kept
            if spent.currency:
                found[name] |= {"cost": f"{spent.cost:f}", "currency": spent.currency}
        return found

    def note_kept(self, name: str) -> None:
        """An answer was given again."""
        self._spendings.setdefault(name, Spending()).kept += 1

    def reserve(self, name: str, expected: Usage, policy: Policy) -> None:
        """Put aside what a request may take. Raises BackendFault (`budget`) where it would go beyond what is
        allowed: the request must not be sent then."""
        cost = _cost(expected, policy)
        tokens = expected.prompt + expected.output
        spent = self._spendings.setdefault(name, Spending())
        reserved = self._reserved.setdefault(name, _Reserved())
        allowed = policy.budget
        if allowed.tokens is not None and spent.tokens + reserved.tokens + tokens > allowed.tokens:
            raise BackendFault("budget", _tokens_left(name, spent.tokens, tokens, allowed.tokens))
        if allowed.cost is not None and policy.price is not None:
            if spent.cost + reserved.cost + cost > allowed.cost:
                label = policy.price.currency
                raise BackendFault("budget", _money_left(name, spent.cost, cost, allowed.cost, label))
        reserved.tokens += tokens
        reserved.cost += cost

    def settle(self, name: str, expected: Usage, taken: Usage | None, policy: Policy, *, told: bool) -> None:
        """Put down what a request took in place of what was reserved for it; None where it was not sent."""
        spent, reserved = self._spendings[name], self._reserved[name]
        spent.requests += taken is not None
        taken = taken or Usage()
        reserved.tokens -= expected.prompt + expected.output
        spent.usage += taken
        if not told:
            spent.estimated += taken.prompt + taken.output
        reserved.cost -= _cost(expected, policy)
        spent.cost += _cost(taken, policy)
        if policy.price is not None:
            spent.currency = policy.price.currency


def _tokens_left(name: str, spent: int, wanted: int, allowed: int) -> str:
    return f"{name}: {spent} of {allowed} tokens are used, and a request may take {wanted}"


def _money_left(name: str, spent: Decimal, wanted: Decimal, allowed: Decimal, label: str) -> str:
    sums = [shown(each, label) for each in (spent, allowed, wanted)]
    return f"{name}: {sums[0]} of {sums[1]} are spent, and a request may cost {sums[2]}"


def _cost(usage: Usage, policy: Policy) -> Decimal:
    """What a usage costs; nothing where no price is known."""
    price = policy.price
    return Decimal(0) if price is None else price.of(usage.prompt, usage.output, usage.cached)
