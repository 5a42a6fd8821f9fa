"""Which layouts have values, as far as that is certain without a walk through their texts."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from sglc.automata.term import Term
from sglc.schema.algebra.forms import Literals
from sglc.schema.emit.layout import Arms, ArrayLayout, ObjectLayout, TextsLayout

Productive = Container[Literals]
"""Sets of literals that have values."""

_MOST_MATCHED = 256
"""Items up to which it is found out whether there are different values for all of them."""


@dataclass(slots=True, eq=False)
class ValueLayout:
    """How the values of one set of literals are written: scalars, arrays and objects."""

    scalars: Term | None
    arrays: list[ArrayLayout | TextsLayout]
    objects: list[ObjectLayout]


def possible(arms: Arms, productive: Productive) -> bool:
    """Whether some arm's values are productive."""
    if len(arms) == 1:
        return arms[0][0] in productive
    return any([value in productive for value, _ in arms])


def required(layout: ObjectLayout) -> list[str]:
    """The properties that must be there whatever else is."""
    return [name for clause in layout.clauses if len(clause) == 1 for name, present in clause if present]


def object_has_values(layout: ObjectLayout, productive: Productive) -> bool:
    """False is certain; True may still fall to counters, which the mask engine decides."""
    for clause in layout.clauses:
        if not any([not there or possible(layout.names.get(name, []), productive) for name, there in clause]):
            return False
    if not layout.low and layout.high is None and not layout.counters:
        return True
    able_names = {name for name, arms in layout.names.items() if possible(arms, productive)}
    needed = set(required(layout))
    if layout.high is not None and len(needed) > layout.high:
        return False
    open_ended = any(possible(arms, productive) for _, arms in layout.families)
    if not open_ended and len(able_names) < layout.low:
        return False
    for index, counter in enumerate(layout.counters):
        if counter.minimum and not open_ended:
            able = sum(
                any(index in counts and value in productive for value, counts in layout.names[name])
                for name in able_names
            )
            if able < counter.minimum:
                return False
    return True


def array_has_values(layout: ArrayLayout | TextsLayout, productive: Productive) -> bool:
    """False is certain."""
    if isinstance(layout, TextsLayout):
        return bool(layout.texts.edges) or len(layout.words) >= layout.low
    if layout.high is not None and layout.low > layout.high:
        return False
    for index in range(min(layout.low, len(layout.places) + 1)):
        if not possible(_arms(layout, index), productive):
            return False
    for index, counter in enumerate(layout.counters):
        if counter.minimum:
            able = [
                any(index in counts and value in productive for value, counts in arms)
                for arms in (*layout.places, layout.rest)
            ]
            if not able[-1] and sum(able) < counter.minimum:
                return False
            if layout.high is not None and counter.minimum > layout.high:
                return False
    return has_enough(layout, productive)


def _arms(layout: ArrayLayout, index: int) -> Arms:
    return layout.places[index] if index < len(layout.places) else layout.rest


def has_enough(layout: ArrayLayout, productive: Productive) -> bool:
    """Whether the maxima of counters leave an arm for each item that there must be; False is certain.

    Items are matched with counters by augmenting paths (Berge 1957); each arm goes by one counter only."""
    if not layout.low or not any(counter.maximum is not None for counter in layout.counters):
        return True
    wanted: list[list[int]] = []
    for index in range(min(layout.low, _MOST_MATCHED)):
        choices = []
        for value, counts in _arms(layout, index):
            if value in productive:
                limited = [number for number in counts if layout.counters[number].maximum is not None]
                choices.append(limited[-1] if limited else None)
        if None not in choices:
            wanted.append([choice for choice in choices if choice is not None])
    taken: dict[int, list[int]] = {}

    def place(item: int, tried: set[int]) -> bool:
        for counter in wanted[item]:
            if counter in tried:
                continue
            tried.add(counter)
            most = layout.counters[counter].maximum or 0
            items = taken.setdefault(counter, [])
            if len(items) < most:
                items.append(item)
                return True
            for slot, other in enumerate(items):
                if place(other, tried):
                    items[slot] = item
                    return True
        return False

    return all(place(item, set()) for item in range(len(wanted)))
