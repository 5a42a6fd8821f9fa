"""Constant text behind text that varies: each call reads it again, though it is the same in each.

    late_texts(layout(module, function)) -> list[LateText]

What a model has read of a prompt is used again up to the first token that differs. So constant text costs a
call nothing where it stands before all that varies. Only what stands before the first hole counts: what a
model has written varies by itself, and what is behind it belongs there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sglc.analysis.layout_items import (
    Attempt,
    Called,
    Choice,
    Constant,
    Filled,
    Forgotten,
    Forked,
    Inserted,
    Item,
    Layout,
    Leave,
    Loop,
    walk,
)
from sglc.analysis.origins import SAME, Origins
from sglc.source import Span

Place = tuple[Span, ...]
"""Where an item stands: the calls of parts that lead to it, the outermost first, then its own place."""


@dataclass(frozen=True, slots=True)
class ConstantText:
    """One run of constant text; `text` is empty where it is only known to be the same in every call.

    `places` are those of its pieces, and `sizes` how many characters each of them writes.
    """

    text: str
    places: tuple[Place, ...]
    sizes: tuple[int, ...]

    def parts(self) -> Iterator[tuple[Place, str]]:
        """The pieces with what each of them writes."""
        at = 0
        for place, size in zip(self.places, self.sizes, strict=True):
            yield place, self.text[at : at + size]
            at += size


@dataclass(frozen=True, slots=True)
class Varying:
    """Something that differs from call to call, and what it is made from."""

    origins: Origins
    place: Place


@dataclass(frozen=True, slots=True)
class LateText:
    """Constant text between `behind`, the first that varies, and the next that varies or the first hole.

    `first` is the first varying item of the conversation: text before it is shared. `behind` is the one
    directly before the text, `until` the place of what follows.
    """

    texts: tuple[ConstantText, ...]
    first: Varying
    behind: Varying
    until: Place


@dataclass(frozen=True, slots=True)
class _Asked:
    """The first hole."""

    place: Place


def late_texts(found: Layout) -> list[LateText]:
    """The runs of constant text behind varying text, in order; none where the function asks no model."""
    late: list[LateText] = []
    texts: list[ConstantText] = []
    first: Varying | None = None
    behind: Varying | None = None
    for event in _events(found.items, ()):
        if isinstance(event, ConstantText):
            texts.append(event)
            continue
        if first is not None and behind is not None and texts:
            late.append(LateText(tuple(texts), first, behind, event.place))
        if isinstance(event, _Asked):
            return late
        texts = []
        first, behind = first or event, event
    return []


def _events(items: tuple[Item, ...], calls: Place) -> Iterator[ConstantText | Varying | _Asked]:
    """What is written, in order, up to the first hole or to where the function returns."""
    for item in items:
        match item:
            case Constant(text, spans, sizes):
                yield ConstantText(text, tuple((*calls, span) for span in spans), sizes)
            case Inserted(origins, span) if span is not None:
                place = (*calls, span)
                yield Varying(origins, place) if origins else ConstantText("", (place,), (0,))
            case Filled(span=span) if span is not None:
                yield _Asked((*calls, span))
                return
            case Called(kind="part", items=inner, span=span) if span is not None:
                for event in _events(inner, (*calls, span)):
                    yield event
                    if isinstance(event, _Asked):
                        return
            case Choice() | Loop() | Attempt() | Forked():
                one = None if item.span is None else _as_one(item, (*calls, item.span))
                if one is not None:
                    yield one
                if isinstance(one, _Asked):
                    return
            case Forgotten(items=inner):
                events = list(_events(inner, calls))
                if events and isinstance(events[-1], _Asked):
                    yield from events
                    return
            case Leave("return"):
                return


def _as_one(item: Choice | Loop | Attempt | Forked, place: Place) -> ConstantText | Varying | _Asked | None:
    """What text that is not written in a straight line counts as; None for what writes nothing."""
    inside = list(walk((item,)))
    if any(isinstance(placed.item, Filled | Forked) for placed in inside):
        return _Asked(place)
    written = [placed for placed in inside if isinstance(placed.item, Constant | Inserted)]
    if not written:
        return None
    origins: Origins = SAME.union(*(placed.under for placed in written))
    origins |= SAME.union(*(p.item.origins for p in written if isinstance(p.item, Inserted)))
    return Varying(origins, place) if origins else ConstantText("", (place,), (0,))
