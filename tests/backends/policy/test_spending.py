"""What models elsewhere took, as `--stats` shows it."""

from __future__ import annotations

import json
from decimal import Decimal

from sglc.commands.running.statistics import as_json, as_tables
from sglc.project.prices import Price
from sglc.runtime.backends.exchange import Usage
from sglc.runtime.backends.policy.accounts import Accounts
from sglc.runtime.backends.policy.settings import Policy
from sglc.runtime.metrics.collector import Collector
from sglc.runtime.metrics.report import report


def _accounts() -> Accounts:
    accounts = Accounts()
    priced = Policy(price=Price(Decimal("0.1"), Decimal("0.3"), currency="EUR"))
    for name, policy, usage, told in (
        ("openai:gpt-x", priced, Usage(1_000_000, 500_000, 200), True),
        ("openai:gpt-x", priced, Usage(10, 20), False),
        ("vllm:http://one", Policy(), Usage(1, 5), True),
    ):
        accounts.reserve(name, Usage(5, 5), policy)
        accounts.settle(name, Usage(5, 5), usage, policy, told=told)
    return accounts


def test_costs_are_in_the_statistics() -> None:
    found = report(Collector(), None, None, _accounts().plain())
    shown = as_tables(found, {}).splitlines()
    assert (
        "model openai:gpt-x: 2 requests, 1000010 tokens of prompts (200 of them cached), 500020 of answers, "
        "30 of all estimated; 0.25 EUR"
    ) in shown
    assert "model vllm:http://one: 1 request, 1 token of prompts, 5 of answers" in shown
    data = json.loads(as_json(found, {}))["backends"]
    assert data["openai:gpt-x"]["cost"] == "0.250007" and "cost" not in data["vllm:http://one"]


def test_without_models_elsewhere_nothing_is_said() -> None:
    found = report(Collector(), None, None, Accounts().plain())
    assert "backends" not in found and "requests" not in as_tables(found, {})
