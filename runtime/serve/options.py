"""Limits of a server, and the options that a call may have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from math import isfinite

from sglc.diagnostics.suggest import nearest
from sglc.runtime.serve.problems import refusal

MOST_SEED = 2**63 - 1
MOST_TOP = 20
"""Most of the most probable tokens that are told with each token."""
MOST_ANSWERS = 100_000
"""Most characters of the texts that a call gives to holes: their masks read some hundred thousand a second,
and meanwhile nobody else is answered."""
MOST_PRIORITY = 100
"""How far a call may be put before or behind others."""


@dataclass(frozen=True, slots=True)
class ServeLimits:
    """What a server takes on.

    `body` is the most bytes of a request, `running` the most runs at the same time (None: what the model
    does best), `waiting` the most that wait for their turn, `seconds` the most time of a run with its
    waiting, `grace` the seconds that runs have when the server is told to end, `idle` the seconds after which
    a run ends whose client reads nothing, `keep` the most seconds that a run goes on without a client, `kept`
    the most bytes of runs that may do so, with what they have told, `schemas` the most schemas, tools,
    regexes and grammars a minute of one tenant that are compiled anew.
    """

    body: int = 4 * 1024 * 1024
    running: int | None = None
    waiting: int = 256
    seconds: float = 600.0
    grace: float = 30.0
    idle: float = 60.0
    keep: float = 300.0
    kept: int = 256 * 1024 * 1024
    schemas: int = 120


@dataclass(frozen=True, slots=True)
class CallOptions:
    """Options of one call. `keep` are the seconds that it goes on after its client has left."""

    seed: int = 0
    max_tokens: int | None = None
    timeout: float | None = None
    priority: int = 0
    tokens: bool = False
    """Whether each token is told of, with how many were legal."""
    keep: float = 0.0
    top: int = 0
    """How many of the most probable tokens are told with each token."""
    answers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Texts that holes get instead of asking, in their order, by hole (`function.hole`, with `@branch` in a
    branch of forks)."""
    tenant: str = ""
    """Whose call it is; no client says it."""


_KINDS: Mapping[str, str] = {
    "seed": f"a whole number from 0 to {MOST_SEED}",
    "max_tokens": "a whole number from 1 on",
    "timeout": "seconds above 0",
    "priority": f"a whole number from -{MOST_PRIORITY} to {MOST_PRIORITY}",
    "tokens": "true or false",
    "keep": "seconds from 0 on",
    "top": f"a whole number from 0 to {MOST_TOP}",
    "answers": f"lists of texts, by hole, of at most {MOST_ANSWERS} characters in all",
}
"""Options of a call, and what each is. Null is as if it were not there."""


def call_options(given: object, limits: ServeLimits) -> CallOptions:
    """The options in a request, within the limits of the server. Raises Refusal."""
    if given is None:
        return CallOptions(timeout=limits.seconds)
    if not isinstance(given, Mapping):
        raise refusal(400, "Arguments", "`options` is a JSON object")
    for name in given:
        if name not in _KINDS:
            near = nearest(str(name), _KINDS)
            hint = f"did you mean `{near}`?" if near else "options: " + ", ".join(_KINDS)
            raise refusal(400, "Arguments", f"there is no option `{name}`", hint=hint)
    timeout = _seconds(given, "timeout", 0.0, exclusive=True)
    keep = _seconds(given, "keep", 0.0) or 0.0
    tokens = given.get("tokens")
    tokens = False if tokens is None else tokens
    if not isinstance(tokens, bool):
        raise _wrong("tokens")
    return CallOptions(
        _whole(given, "seed", 0, MOST_SEED) or 0,
        _whole(given, "max_tokens", 1, None),
        limits.seconds if timeout is None else min(timeout, limits.seconds),
        _whole(given, "priority", -MOST_PRIORITY, MOST_PRIORITY) or 0,
        tokens,
        min(keep, limits.keep),
        _whole(given, "top", 0, MOST_TOP) or 0,
        _answers(given),
    )


def _answers(given: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    found = given.get("answers")
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise _wrong("answers")
    texts = {str(hole): tuple(each) if isinstance(each, list | tuple) else () for hole, each in found.items()}
    if not all(each and all(isinstance(text, str) for text in each) for each in texts.values()):
        raise _wrong("answers")
    if sum(len(text) for each in texts.values() for text in each) > MOST_ANSWERS:
        raise _wrong("answers")
    return texts


def _whole(given: Mapping[str, object], name: str, least: int, most: int | None) -> int | None:
    value = given.get(name)
    if value is None:
        return None
    if isinstance(value, Decimal | float) and -MOST_SEED <= value <= MOST_SEED and value == int(value):
        value = int(value)  # 1.0 is a whole number of JSON, and 1e400000000 one without room
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise _wrong(name)
    if most is not None and value > most:
        raise _wrong(name)
    return value


def _seconds(
    given: Mapping[str, object], name: str, least: float, *, exclusive: bool = False
) -> float | None:
    value = given.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise _wrong(name)
    found = float(min(value, 10**9))
    if not isfinite(found) or found < least or (exclusive and found == least):
        raise _wrong(name)
    return found


def _wrong(name: str) -> Exception:
    return refusal(400, "Arguments", f"the option `{name}` is {_KINDS[name]}")
