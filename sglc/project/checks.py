"""What the keys of `sgl.toml` are, and what their values must be. `docs/project.md` lists them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, TypeAlias
from urllib.parse import urlsplit

Check = Callable[[Any], str]
"""What is wrong with a value, as the words behind `is`; empty for a good one."""
Keys: TypeAlias = Mapping[str, "Check | Keys"]
"""The keys of a table, with the check of each value, or the keys of a table in it."""
MOST_RETRIES = 100
"""More would keep a query at one backend for a quarter of an hour: a deadline says what is meant."""
MOST_FALLBACKS = 16
"""Models of a chain. One has two or three; each of the file's models may have its own."""


def text(value: object) -> str:
    """A text that is not empty."""
    return "" if isinstance(value, str) and value else "no text"


def whole(least: int, most: int | None = None) -> Check:
    """A whole number within bounds."""

    def check(value: object) -> str:
        if type(value) is not int:
            return "no whole number"
        if most is None:
            return "" if value >= least else f"less than {least}"
        return "" if least <= value <= most else f"not between {least} and {most}"

    return check


def seconds(value: Any) -> str:
    """A number above 0."""
    wrong = amount(value)
    return wrong or ("" if value > 0 else "not above 0")


def amount(value: object) -> str:
    """A number from 0 on."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or not math.isfinite(value):
        return "no number"
    return "" if value >= 0 else "less than 0"


def one_of(*words: str) -> Check:
    """One of some texts."""
    return lambda value: "" if value in words else "none of " + ", ".join(words)


def address(value: object) -> str:
    """An address of HTTP without a password."""
    if not isinstance(value, str) or not value:
        return "no text"
    try:
        parts = urlsplit(value)
    except ValueError:
        return "no address"
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return "no address that begins with http:// or https://"
    return "an address with a password in it" if "@" in parts.netloc else ""


def variable(value: object) -> str:
    """The name of an environment variable."""
    if not isinstance(value, str) or not re.fullmatch(r"[A-Z_][A-Z0-9_]{0,127}", value):
        return "no name of an environment variable, such as `OPENAI_API_KEY`"
    return ""


def hedge(value: object) -> str:
    """Seconds, or the 95th percentile."""
    return "" if value == "p95" else seconds(value) and 'neither "p95" nor seconds'


def chain(value: object) -> str:
    """A list of models."""
    if not isinstance(value, list) or any(text(each) for each in value):
        return "no list of models"
    return "" if len(value) <= MOST_FALLBACKS else f"longer than {MOST_FALLBACKS}"


def truth(value: object) -> str:
    """True or false."""
    return "" if isinstance(value, bool) else "neither true nor false"


def words(*known: str) -> Check:
    """A list of some words; of any where none are known."""

    def check(value: object) -> str:
        if not isinstance(value, list) or any(text(each) for each in value):
            return "no list of words"
        wrong = next((each for each in value if known and each not in known), None)
        return "" if wrong is None else f"a list with `{wrong}`, which is none of " + ", ".join(known)

    return check


KEYS: dict[str, Keys] = {
    "project": {"name": text},
    "run": {
        "seed": whole(0),
        "max_tokens": whole(1),
        "timeout": seconds,
        "concurrency": whole(1, 1024),
        "decode": one_of("local"),
    },
    "engine": {
        "executor": one_of("auto", "torch", "native"),
        "dtype": one_of("float32", "bfloat16", "float16", "q8", "q4"),
        "threads": whole(1, 1024),
        "device": text,
        "draft": text,
        "max_queue": whole(1),
    },
}
"""The keys of each table but `models`."""
MODEL: Keys = {
    "use": text,
    "base_url": address,
    "key_variable": variable,
    "timeouts": {"connect": seconds, "first": seconds, "between": seconds, "whole": seconds},
    "retries": whole(0, MOST_RETRIES),
    "limits": {
        "requests_per_minute": whole(1),
        "tokens_per_minute": whole(1),
        "at_once": whole(1, 1024),
    },
    "budget": {"tokens": whole(1), "cost": amount},
    "hedge": hedge,
    "fallback": chain,
    "price": {"input": amount, "cached": amount, "output": amount, "currency": text},
    "context_length": whole(1),
    "max_tokens": whole(1),
    "notations": words("gbnf", "lark", "regex", "json_schema", "choice"),
    "leave_out": words(),
    "plain_http": truth,
    "complete": truth,
}
"""The keys of `[models.NAME]`."""
