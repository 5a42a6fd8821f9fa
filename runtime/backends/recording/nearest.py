"""What is said where a request was not recorded: the nearest one that was, and what differs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from sglc.runtime.backends.recording.traffic import Exchange
from sglc.runtime.errors import SglError

MOST_COMPARED = 200
"""Recorded requests of an address that are compared with the one that was asked: each is walked whole."""
SHOWN = 60
"""Characters of a value that is shown: two of them and the place fit into a line or two."""
_MISSING = object()


def not_recorded(asked: Exchange, recorded: Sequence[Exchange]) -> SglError:
    """The error, which no handler of a program catches: what follows would not be what was recorded."""
    equal = sum(each.digest == asked.digest for each in recorded)
    if equal:
        times = "once" if equal == 1 else f"{equal} times"
        said = f"this request was recorded {times}, and is sent once more: {asked.method} {asked.url}"
    else:
        said = f"this request was not recorded: {asked.method} {asked.url}; {_nearest(asked, recorded)}"
    return SglError("Backend", said, fatal=True, hint="record the run again (`--record`)")


def _nearest(asked: Exchange, recorded: Sequence[Exchange]) -> str:
    if not recorded:
        return "the recording has none"
    same = [each for each in recorded if (each.method, each.url) == (asked.method, asked.url)]
    if not same:
        urls = sorted({f"{each.method} {each.url}" for each in recorded})
        return f"the recording has {', '.join(urls[:3])}{' …' if len(urls) > 3 else ''}"
    found = [(list(_differences(asked.body, each.body)), each) for each in same[:MOST_COMPARED]]
    differences, nearest = min(found, key=lambda pair: sum(map(_weight, pair[0])))
    place, now, then = differences[0]
    more = len(differences) - 1
    others = f", and {more} more place{'s' if more > 1 else ''}" if more else ""
    return (
        f"the nearest is exchange {nearest.number}: {place} was {_shown(then)} and is {_shown(now)}{others}"
    )


def _differences(asked: bytes, recorded: bytes) -> Iterator[tuple[str, object, object]]:
    """Places of the body, and what stands there in both."""
    try:
        one, other = json.loads(asked), json.loads(recorded)
    except (ValueError, RecursionError):
        one, other = asked.decode("utf-8", "replace"), recorded.decode("utf-8", "replace")
    found = False
    for each in _walk(one, other, "body"):
        found = True
        yield each
    if not found:  # the same data, written in another way
        yield "body", asked.decode("utf-8", "replace"), recorded.decode("utf-8", "replace")


def _walk(one: object, other: object, place: str) -> Iterator[tuple[str, object, object]]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in {**other, **one}:
            yield from _walk(one.get(key, _MISSING), other.get(key, _MISSING), f"{place}.{key}")
    elif isinstance(one, list) and isinstance(other, list):
        for index in range(max(len(one), len(other))):
            pair = [side[index] if index < len(side) else _MISSING for side in (one, other)]
            yield from _walk(pair[0], pair[1], f"{place}[{index}]")
    elif one is not other and (type(one) is not type(other) or one != other):
        yield place, one, other


def _weight(difference: tuple[str, object, object]) -> int:
    """How much differs at a place: the characters of what stands there in both."""
    _, now, then = difference
    return sum(len(json.dumps(each)) for each in (now, then) if each is not _MISSING)


def _shown(value: object) -> str:
    if value is _MISSING:
        return "absent"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
