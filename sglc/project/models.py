"""A model of a project: which one it is, where it is asked, and under what policy."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from sglc.project.prices import Price

Notation = Literal["gbnf", "lark", "regex", "json_schema", "choice"]
"""How a server is told what an answer may be."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What `[models.NAME]` says; None and empty where it says nothing. Times are seconds."""

    use: str
    """As `--model` has it; paths are absolute."""
    base_url: str = ""
    key_variable: str = ""
    """The environment variable that has the key."""
    timeouts: Mapping[str, float] = field(default_factory=dict)
    """By `connect`, `first`, `between`, `whole`."""
    retries: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    at_once: int | None = None
    most_tokens: int | None = None
    most_cost: Decimal | None = None
    """In the currency of the price."""
    hedge: float | Literal["p95"] | None = None
    fallback: tuple[str, ...] = ()
    price: Price | None = None
    context_length: int | None = None
    max_tokens: int | None = None
    """The bound on an answer's tokens where the program has none."""
    notations: tuple[Notation, ...] | None = None
    """What the server enforces, where that is not what its kind enforces; empty for nothing."""
    leave_out: tuple[str, ...] = ()
    """Fields of requests that the server refuses."""
    plain_http: bool = False
    """Whether a key may go to a public host without TLS."""
    complete: bool = False
    """Whether a value that no answer made whole is ended along a shortest text, in the place of an error."""


def kind_of(model: str) -> str:
    """The kind that a name has in front, as `openai` of `openai:gpt-x`; empty for a model of this machine and
    for files. A drive of Windows is no kind."""
    found = re.match(r"(?!scripted:)([a-z][a-z0-9_-]+):", model)
    return "" if found is None else found[1]


def is_elsewhere(model: str) -> bool:
    """Whether a model's name is that of one elsewhere, whose tokens nobody here can count."""
    return bool(kind_of(model))


def settings_of(values: Mapping[str, Any], placed: Callable[[str], str]) -> ModelSettings:
    """What a table says whose keys and values are good; `placed` makes the path of a model absolute."""
    limits, budget, price = (values.get(name, {}) for name in ("limits", "budget", "price"))
    hedge = values.get("hedge")
    return ModelSettings(
        placed(values["use"]),
        values.get("base_url", ""),
        values.get("key_variable", ""),
        {name: float(each) for name, each in values.get("timeouts", {}).items()},
        values.get("retries"),
        limits.get("requests_per_minute"),
        limits.get("tokens_per_minute"),
        limits.get("at_once"),
        budget.get("tokens"),
        _money(budget, "cost"),
        hedge if hedge is None or hedge == "p95" else float(hedge),
        tuple(placed(each) for each in values.get("fallback", ())),
        _price(price) if price else None,
        values.get("context_length"),
        values.get("max_tokens"),
        tuple(values["notations"]) if "notations" in values else None,
        tuple(values.get("leave_out", ())),
        values.get("plain_http", False),
        values.get("complete", False),
    )


def _price(values: Mapping[str, Any]) -> Price:
    return Price(
        Decimal(values["input"]),
        Decimal(values["output"]),
        _money(values, "cached"),
        values.get("currency", "USD"),
    )


def _money(values: Mapping[str, Any], name: str) -> Decimal | None:
    found = values.get(name)
    return None if found is None else Decimal(found)
