"""Families of several processes as those of one: each sample has the label `worker`, and no counter falls.

A process that ends takes its figures along. What it had counted until it last told stays, and what the next
one in its place counts is added to it, so that a counter of a place only grows. Gauges are those of the
processes that live.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from sglc.runtime.metrics.families import Family, Kind

WORKER = "worker"
KINDS: tuple[Kind, ...] = ("counter", "gauge", "histogram")
Samples = dict[tuple[str, ...], tuple[float, ...]]


def sent(families: Iterable[Family]) -> list[object]:
    """Families as JSON has them."""
    return [
        [each.kind, each.name, each.help, each.labels, [[*pair] for pair in each.samples.items()]]
        for each in families
    ]


def received(data: Sequence[object]) -> list[Family]:
    """The families that `sent` was given. Raises ValueError for anything else."""
    found = []
    for each in data:
        kind, name, help, labels, samples = _list(each, 5)
        if kind not in KINDS:
            raise ValueError("a kind of metric that there is not")
        made = Family(cast(Kind, kind), _text(name), _text(help), _texts(labels))
        for row in _list(samples):
            values, numbers = _list(row, 2)
            key = _texts(values)
            if len(key) != len(made.labels):
                raise ValueError("a sample with other labels than its family")
            made.samples[key] = tuple(_number(number) for number in _list(numbers))
        found.append(made)
    return found


class WorkerFigures:
    """The families of all workers, by their places: numbers that a worker has for itself while it lives, and
    that another one gets after it."""

    def __init__(self) -> None:
        self._now: dict[int, list[Family]] = {}
        """What the worker in a place told last."""
        self._past: dict[int, dict[str, Samples]] = {}
        """What those before it in its place counted, by names of families."""
        self._known: dict[str, Family] = {}
        """Each family without samples, in the order in which they were first told."""

    def told(self, place: int, families: list[Family]) -> None:
        """A worker tells all its families as they are now."""
        self._now[place] = families
        for each in families:
            if each.name not in self._known:
                labels = (WORKER, *each.labels)
                self._known[each.name] = Family(each.kind, each.name, each.help, labels)

    def ended(self, place: int) -> None:
        """The worker in a place is no more: what it counted stays."""
        past = self._past.setdefault(place, {})
        for family in self._now.pop(place, ()):
            if family.kind != "gauge":
                _add(past.setdefault(family.name, {}), family.samples)

    def families(self) -> Iterator[Family]:
        """All families as they are now, each with `worker` as the first of its labels."""
        for name, known in self._known.items():
            made = Family(known.kind, name, known.help, known.labels)
            for place in sorted({*self._now, *self._past}):
                whole: Samples = dict(self._past.get(place, {}).get(name, {}))
                for family in self._now.get(place, ()):
                    if family.name == name and len(family.labels) + 1 == len(known.labels):
                        _add(whole, family.samples)
                made.samples |= {(str(place), *labels): numbers for labels, numbers in whole.items()}
            yield made


def _add(whole: Samples, more: Mapping[tuple[str, ...], tuple[float, ...]]) -> None:
    for labels, numbers in more.items():
        before = whole.get(labels)
        if before is None or len(before) != len(numbers):
            whole[labels] = numbers
        else:
            whole[labels] = tuple(a + b for a, b in zip(before, numbers, strict=True))


def _list(value: object, length: int | None = None) -> list[object]:
    if not isinstance(value, list) or length not in (None, len(value)):
        raise ValueError("no list of the right length")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("no text")
    return value


def _texts(value: object) -> tuple[str, ...]:
    return tuple(_text(each) for each in _list(value))


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("no number")
    return value
