"""`[models.NAME]` of `sgl.toml`: policies, prices, and what is wrong with them."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from sglc.diagnostics.render import render
from sglc.project.checks import MOST_FALLBACKS, MOST_RETRIES
from sglc.project.file import read
from sglc.project.models import ModelSettings
from sglc.project.prices import Price, shown
from sglc.runtime.backends.policy.configured import policy_of, timeouts_of
from sglc.runtime.backends.policy.settings import Allowance, Limits, Policy
from sglc.runtime.backends.transport import TIMEOUTS, Timeouts

WHOLE = """[models]
big = "models/big.gguf"

[models.main]
use = "openai:gpt-x"
base_url = "https://api.example.org/v1"
key_variable = "EXAMPLE_KEY"
timeouts = { connect = 5, first = 30.5, between = 20, whole = 120 }
retries = 4
limits = { requests_per_minute = 500, tokens_per_minute = 200_000, at_once = 64 }
budget = { tokens = 2_000_000, cost = 5.10 }
hedge = "p95"
fallback = ["vllm:http://10.0.0.7:8000", "smollm2", "models/small.gguf"]
context_length = 128_000

[models.main.price]
input = 0.15
cached = 0.075
output = 0.6
currency = "EUR"
"""


def test_all_keys_are_read() -> None:
    found, faults = read(Path("/p/sgl.toml"), WHOLE)
    assert faults == [] and found.models == {"big": "/p/models/big.gguf", "main": "openai:gpt-x"}
    price = Price(Decimal("0.15"), Decimal("0.6"), Decimal("0.075"), "EUR")
    main = found.settings["main"]
    assert main == ModelSettings(
        "openai:gpt-x",
        "https://api.example.org/v1",
        "EXAMPLE_KEY",
        {"connect": 5.0, "first": 30.5, "between": 20.0, "whole": 120.0},
        *(4, 500, 200_000, 64, 2_000_000, Decimal("5.1"), "p95"),
        ("vllm:http://10.0.0.7:8000", "smollm2", "/p/models/small.gguf"),
        price,
        128_000,
    )
    assert timeouts_of(main) == Timeouts(5, 30.5, 20, 120)
    assert policy_of(main) == Policy(
        4, Limits(500, 200_000, 64), Allowance(2_000_000, Decimal("5.1")), "p95", price
    )


def test_what_is_not_said_is_as_it_is_without_a_file() -> None:
    found, faults = read(Path("/p/sgl.toml"), '[models.main]\nuse = "smollm2"\nhedge = 2\n')
    main = found.settings["main"]
    assert faults == [] and main == ModelSettings("smollm2", hedge=2.0)
    assert policy_of(main) == Policy(hedge=2.0) and timeouts_of(main) == TIMEOUTS


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("retries = 1", "the model `main` has no `use`", "models.main"),
        ("use = 3", "`use` of `[models.main]` is no text", "use"),
        ("use = 'x'\nretry = 1", "`[models.main]` has no key `retry`", "retry"),
        ("use = 'x'\nretries = 101", "is not between 0 and 100", "retries"),
        ("use = 'x'\nlimits = 3", "`models.main.limits` is a table", "limits"),
        (
            "use = 'x'\nlimits = { at_once = 0 }",
            "`at_once` of `[models.main.limits]` is not between",
            "limits",
        ),
        ("use = 'x'\nlimits.at_once = 0", "is not between 1 and 1024", "at_once"),
        ("use = 'x'\n[models.main.limits]\nat_once = 0", "is not between 1 and 1024", "at_once"),
        ("use = 'x'\ntimeouts = { first = 0 }", "`first` of `[models.main.timeouts]` is not above 0", ""),
        ("use = 'x'\nhedge = 'p99'", '`hedge` of `[models.main]` is neither "p95" nor seconds', "hedge"),
        ("use = 'x'\nhedge = 0", 'is neither "p95" nor seconds', "hedge"),
        ("use = 'x'\nfallback = 'y'", "is no list of models", "fallback"),
        ("use = 'x'\nfallback = ['']", "is no list of models", "fallback"),
        ("use = 'x'\nbudget = { cost = 1 }", "the cost of `main` is not known: it has no price", "budget"),
        ("use = 'x'\nbudget = { cost = -1 }", "is less than 0", "budget"),
        ("use = 'x'\nprice = { input = 1 }", "the price of `main` is not whole", "price"),
        ("use = 'x'\nprice = { input = nan, output = 1 }", "is no number", "price"),
        ("use = 'x'\nprice = { input = '1', output = 1 }", "is no number", "price"),
        ("use = 'x'\nbase_url = 'ftp://x'", "begins with http:// or https://", "base_url"),
        ("use = 'x'\nbase_url = 'http://[x'", "is no address", "base_url"),
        ("use = 'x'\ncontext_length = 0", "is less than 1", "context_length"),
    ],
)
def test_a_mistake_is_told_with_its_place(text: str, message: str, at: str) -> None:
    found, (fault,) = read(Path("/p/sgl.toml"), f"[models.main]\n{text}\n")
    assert fault.code == "E0825" and message in fault.message and found.models == {}
    assert fault.span is not None and (not at or fault.span.text == at)


def test_bounds_of_lists_and_retries_are_good_themselves() -> None:
    models = ", ".join(["'x'"] * MOST_FALLBACKS)
    text = f"[models.main]\nuse = 'x'\nretries = {MOST_RETRIES}\nfallback = [{models}]\n"
    assert read(Path("/p/sgl.toml"), text)[1] == []
    (fault,) = read(Path("/p/sgl.toml"), text.replace("fallback = [", "fallback = ['y', "))[1]
    assert "is longer than 16" in fault.message


def test_a_table_in_a_line_is_found() -> None:
    (fault,) = read(Path("/p/sgl.toml"), "[models]\nmain = { use = 'x', retries = -1 }\n")[1]
    assert fault.span is not None and fault.span.text == "main"
    (fault,) = read(Path("/p/sgl.toml"), "models.main = { use = 'x', retries = -1 }\n")[1]
    assert fault.span is not None and fault.span.text == "main"


@pytest.mark.parametrize(
    "line",
    [
        'key_variable = "sk-canary"',
        'api_key = "sk-canary"',
        "token = 'sk-canary'  # sk-canary",
        'base_url = "https://me:sk-canary@host/v1"',
        'password = { a = "sk-canary" }',
    ],
)
def test_no_message_shows_a_secret(line: str) -> None:
    _, faults = read(Path("/p/sgl.toml"), f"[models.main]\nuse = 'x'\n{line}\n")
    (fault,) = faults
    assert fault.span is not None and fault.span.text == line.split(" ")[0]
    told = render(fault)
    assert "canary" not in told and line.split(" ")[0] in told and "sgl.toml:3:1" in told


def test_a_key_that_there_is_not_leads_to_the_variable() -> None:
    (fault,) = read(Path("/p/sgl.toml"), "[models.main]\nuse = 'x'\npassword = 'y'\n")[1]
    assert "secrets do not belong" in fault.hint and "`key_variable`" in fault.hint


def test_prices_are_exact_and_of_cached_tokens_their_own() -> None:
    price = Price(Decimal("0.1"), Decimal("0.4"), Decimal("0.025"))
    assert price.of(3_000_000, 1_000_000, 1_000_000) == Decimal("0.625")
    assert Price(Decimal("0.1"), Decimal("0.4")).of(10, 0, 4) == Decimal("0.000001")
    assert price.of(5, 0, 9) == Decimal("0.000000125")


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("0", "0.00 USD"),
        ("5", "5.00 USD"),
        ("1234.5", "1234.50 USD"),
        ("0.09300", "0.093 USD"),
        ("0.000123456", "0.000123 USD"),
        ("0.1", "0.10 USD"),
        ("12.3456", "12.35 USD"),
    ],
)
def test_money_is_shown_with_the_digits_that_say_something(amount: str, text: str) -> None:
    assert shown(Decimal(amount), "USD") == text
