"""Values that stand in for those of the run, so that a hole can be looked at before it."""

from __future__ import annotations

from collections.abc import Sequence

from sglc.types.dependent import bind, given_types
from sglc.types.type import Applied, OneOf, OpenType, SpanOf, Str, Type, types_in
from sglc.types.values import GivenError, NothingLeft, RecordValue, Value

TEXT = "The crew was here before the storm."
LIST: list[Value] = ["a", "b"]

_Shape = dict[tuple[str, ...], Value]
"""What a value has at the ends of paths of fields; the empty path is the value itself."""


def bound_to_samples(type: Type) -> Type | None:
    """A type bound to short texts and lists; None where none of these will do."""
    try:
        shapes: dict[int, _Shape] = {}
        for part in given_types(type):
            _needs(part, shapes, ())
        values = [_made(shapes.get(number, {})) for number in range(max(shapes, default=-1) + 1)]
        return bind(type, values)
    except (GivenError, NothingLeft, ValueError, KeyError, IndexError):
        return None


def _needs(part: Type, shapes: dict[int, _Shape], open: tuple[str, ...]) -> None:
    """Add what a part needs of the given values."""
    match part:
        case OneOf(given=number):
            shapes.setdefault(number, {})[()] = LIST
        case SpanOf(given=number, min_chars=low):
            shapes.setdefault(number, {})[()] = TEXT + " It left." * (low // 8)
        case Str(grammar=grammar, given=given):
            from sglc.types.grammar_text import parameters_of, parts_given

            numbers = dict(zip(parameters_of(grammar), given, strict=True))
            for place in parts_given(grammar):
                shape = shapes.setdefault(numbers[place.parameter], {})
                shape[tuple(place.path)] = LIST if place.listed else TEXT
        case Applied(name=name, given=given, declarations=declarations):
            opened = next(each for each in declarations if each.declared.name == name)
            for number, path, value in _of_declaration(opened, declarations, open):
                shapes.setdefault(given[number], {})[path] = value


def _of_declaration(
    opened: OpenType, declarations: Sequence[OpenType], open: tuple[str, ...]
) -> list[tuple[int, tuple[str, ...], Value]]:
    """What a declaration needs of its parameters: (parameter, path, value)."""
    name = opened.declared.name
    if name in open:
        return []
    inner: dict[int, _Shape] = {}
    for type in types_in(opened.declared):
        for part in given_types(type):
            if isinstance(part, Applied) and not part.declarations:
                part = Applied(part.name, part.given, tuple(declarations))
            _needs(part, inner, (*open, name))
    found = []
    for number, shape in inner.items():
        source = opened.sources[number]
        if source.parameter >= 0:
            found += [(source.parameter, (*source.path, *path), value) for path, value in shape.items()]
    return found


def _made(shape: _Shape) -> Value:
    """A value with these ends."""
    if not shape:
        return TEXT
    if () in shape:
        return shape[()]
    names = dict.fromkeys(path[0] for path in shape)
    fields = {
        name: _made({path[1:]: value for path, value in shape.items() if path[0] == name}) for name in names
    }
    return RecordValue("", fields)
