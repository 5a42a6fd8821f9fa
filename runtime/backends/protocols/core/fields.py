"""Replies as JSON, read field by field: what is not as the protocol says raises BackendFault."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from sglc.runtime.backends.exchange import BackendFault

Object = Mapping[str, object]


def parsed(data: str | bytes) -> Object:
    """One JSON object."""
    try:
        value = json.loads(data, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise garbled(f"it is no JSON: {shown(data)}") from None
    if not isinstance(value, dict):
        raise garbled(f"it is no object: {shown(data)}")
    return value


def text_in(value: Object, name: str) -> str:
    """A text; absent or null is an empty one."""
    found = value.get(name)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise garbled(f"`{name}` is no text")
    return found


def count_in(value: Object, name: str) -> int:
    """A number of things; absent or null is 0."""
    found = value.get(name)
    if found is None:
        return 0
    if not isinstance(found, int) or isinstance(found, bool) or found < 0:
        raise garbled(f"`{name}` is no count")
    return found


def object_in(value: Object, name: str) -> Object:
    """An object; absent or null is an empty one."""
    found = value.get(name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise garbled(f"`{name}` is no object")
    return found


def list_in(value: Object, name: str) -> list[Any]:
    """A list; absent or null is an empty one. Whoever reads what is in it checks its kind."""
    found = value.get(name)
    if found is None:
        return []
    if not isinstance(found, list):
        raise garbled(f"`{name}` is no list")
    return found


def objects_in(value: Object, name: str) -> list[Object]:
    """A list of objects; absent or null is an empty one."""
    found = list_in(value, name)
    if not all(isinstance(each, dict) for each in found):
        raise garbled(f"`{name}` has something in it that is no object")
    return found


def logprob_of(value: object, name: str = "logprob") -> float:
    """A log-probability. Rounding may bring it a little above 0, and minus infinity is a number that JSON
    cannot write: servers send some large negative one."""
    if (
        not isinstance(value, int | float)
        or isinstance(value, bool)
        or not math.isfinite(value)
        or value > 1e-3
    ):
        raise garbled(f"`{name}` is no log-probability")
    return min(0.0, float(value))


def garbled(what: str) -> BackendFault:
    """The fault of an answer that is not as the protocol says."""
    return BackendFault("protocol", f"the answer is not as the protocol says: {what}", again=True)


def shown(data: str | bytes) -> str:
    """The beginning of a reply, in a message."""
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    text = " ".join(text[:200].split())
    return repr(text if len(text) <= 60 else text[:59] + "…")


def _no_number(word: str) -> float:
    raise ValueError(word)
