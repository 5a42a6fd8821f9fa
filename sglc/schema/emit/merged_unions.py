"""Unions with fewer parts: objects that differ in one place only, and scalars that are texts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace

from sglc.automata.dfa.operations import TooLarge
from sglc.automata.dfa.product import united
from sglc.automata.term import Term, Text
from sglc.schema.emit.layout import Arms, ObjectLayout

_MOST_STATES = 200
"""Automata with more states in all are left apart."""

_Place = tuple[Hashable, ...]


def joined_objects(layouts: Iterable[ObjectLayout | None]) -> list[ObjectLayout]:
    """The same objects: layouts that are alike but for what the value of one property, or of the keys of one
    family, may be are one layout, where the value may be any of theirs."""
    found = [layout for layout in layouts if layout is not None]
    if len(found) < 2:
        return found
    frames: dict[Hashable, list[ObjectLayout]] = {}
    for layout in found:
        # Counters tell the arms of a place apart.
        key = id(layout) if layout.counters else _frame(layout)
        frames.setdefault(key, []).append(layout)
    return [layout for alike in frames.values() for layout in _joined(alike)]


def _frame(layout: ObjectLayout) -> Hashable:
    """All of a layout but what values may be."""
    return (
        tuple(layout.names),
        tuple([keys for keys, _ in layout.families]),
        layout.clauses,
        layout.low,
        layout.high,
        layout.distinct,
        layout.known,
        layout.keys,
    )


def _joined(layouts: list[ObjectLayout]) -> list[ObjectLayout]:
    """The same for layouts with one frame and without counters, place by place."""
    if len(layouts) < 2:
        return layouts
    places = len(layouts[0].names) + len(layouts[0].families)
    for place in range(places):
        by_others: dict[_Place, list[ObjectLayout]] = {}
        for layout in layouts:
            values = _values(layout)
            by_others.setdefault((*values[:place], *values[place + 1 :]), []).append(layout)
        layouts = [some[0] if len(some) == 1 else _union(some, place) for some in by_others.values()]
    return layouts


def _arms(layout: ObjectLayout) -> list[Arms]:
    return [*layout.names.values(), *[arms for _, arms in layout.families]]


def _values(layout: ObjectLayout) -> _Place:
    return tuple([frozenset(arms) for arms in _arms(layout)])


def _union(layouts: list[ObjectLayout], place: int) -> ObjectLayout:
    """One layout with any of the values of some at one place."""
    first = layouts[0]
    arms = list(dict.fromkeys([arm for layout in layouts for arm in _arms(layout)[place]]))
    names, families = dict(first.names), list(first.families)
    if place < len(names):
        names[list(names)[place]] = arms
    else:
        families[place - len(names)] = families[place - len(names)][0], arms
    return replace(first, names=names, families=families)


def joined_texts(terms: Iterable[Term]) -> list[Term]:
    """The same union: texts without bounds are one text where that stays small."""
    texts: dict[Hashable, list[Text]] = {}
    found: list[Term] = []
    for term in terms:
        if isinstance(term, Text) and not term.min_chars and term.max_chars is None:
            texts.setdefault(term.encoding, []).append(term)
        else:
            found.append(term)
    for some in texts.values():
        if len(some) > 1 and sum([len(text.dfa.edges) for text in some]) <= _MOST_STATES:
            try:
                found.append(replace(some[0], dfa=united([text.dfa for text in some])))
                continue
            except TooLarge:
                pass
        found += some
    return found
