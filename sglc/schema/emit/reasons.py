"""Why no value satisfies a schema, where that can be told from near."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sglc.automata.number.number_set import NumberSet
from sglc.schema.algebra.algebra import Algebra
from sglc.schema.algebra.forms import FALSE, Literals, both
from sglc.schema.core import graph as g
from sglc.schema.core.errors import SchemaFault
from sglc.schema.core.graph import Part
from sglc.schema.emit.layout import ArrayLayout
from sglc.schema.emit.productive import Productive, ValueLayout, has_enough, possible, required

_NAMES = {
    g.NULL: "null",
    g.BOOL: "boolean",
    g.NUMBER: "number",
    g.STRING: "string",
    g.ARRAY: "array",
    g.OBJECT: "object",
}
_PART_WORDS = {g.Any_: "anyOf", g.One: "oneOf", g.Not: "not", g.If: "if"}


def unsatisfiable(
    algebra: Algebra, shapes: Mapping[Literals, ValueLayout], productive: Productive, root: Literals
) -> tuple[str, str]:
    """What is to be said of a set of literals without values, and the path it is about."""
    these, seen, why = root, {root}, ""
    while these in shapes:
        shape = shapes[these]
        needed = [
            (f"the property {name!r} is required and cannot have a value", layout.names.get(name, []))
            for layout in shape.objects
            for name in required(layout)
            if not possible(layout.names.get(name, []), productive)
        ]
        for layout in shape.arrays:
            if isinstance(layout, ArrayLayout) and layout.low:
                arms = layout.places[0] if layout.places else layout.rest
                if possible(arms, productive) and not has_enough(layout, productive):
                    needed.append(
                        (f"there must be {layout.low} items, for which there are too few values", [])
                    )
                else:
                    needed.append(("there must be items and cannot have a value", arms))
        if len(shape.objects) + len(shape.arrays) != 1 or len(needed) != 1:
            break
        ((why, arms),) = needed
        if len(arms) != 1 or arms[0][0] in seen or arms[0][0] in productive:
            break
        these = arms[0][0]
        seen.add(these)
    shape = shapes[these]
    path = algebra.literals.path(these)
    if not shape.objects and not shape.arrays:
        try:
            found, deeper = _Conflict(algebra, these, frozenset()).reason()
        except SchemaFault:
            found, deeper = "", None  # to look for a reason is not worth a fault of its own
        why, path = found or why, deeper or path
    because = f", because {why}" if why else ""
    return f"no JSON value satisfies the schema{because}", path


class _Conflict:
    """The parts of a set of literals that no value satisfies, and which of them exclude each other."""

    def __init__(self, algebra: Algebra, these: Literals, before: frozenset[Literals]) -> None:
        self.algebra = algebra
        self.before = before | {these}
        self.parts: list[Part] = []
        self.negated = [literal >> 1 for literal in sorted(these) if literal & 1]
        self._gather([literal >> 1 for literal in sorted(these) if not literal & 1])
        self.mask = g.EVERY_TYPE
        for part in self.parts:
            if isinstance(part, g.Types):
                self.mask &= part.mask

    def _gather(self, stack: list[int]) -> None:
        seen: set[int] = set()
        while stack:
            number = stack.pop(0)
            if number in seen:
                continue
            seen.add(number)
            for part in self.algebra.graph.nodes[number].parts:
                if isinstance(part, g.All):
                    stack += part.nodes
                elif isinstance(part, g.Ref):
                    stack.append(self.algebra.graph.references[part.key])
                else:
                    self.parts.append(part)

    def _of(self, kind: type) -> Iterator[Part]:
        return (part for part in self.parts if isinstance(part, kind))

    def reason(self) -> tuple[str, str | None]:
        """In words, empty if it is not known; and the path of another schema that it is about."""
        if 0 in self.negated or any(part == g.Types(0) for part in self.parts):
            return "it is false", None
        if not self.mask:
            masks = dict.fromkeys(part.mask for part in self.parts if isinstance(part, g.Types))
            return f"no value is of {' and of '.join(map(_types, masks))}", None
        for part in self.parts:
            if isinstance(part, g.Values):
                return self._values(part), None
        found = {kind: self._of_type(kind) for kind in _NAMES if self.mask & kind}
        if all(text for text, _ in found.values()):
            paths = [path for _, path in found.values()]
            return ", and ".join(text for text, _ in found.values()), paths[0] if len(paths) == 1 else None
        words = [_PART_WORDS[type(part)] for part in self.parts if type(part) in _PART_WORDS]
        words += ["not"] if self.negated else []
        if words:
            return f"'{words[-1]}' leaves nothing of what else is asked", None
        return "", None

    def _values(self, part: g.Values) -> str:
        single = len(part.values) == 1
        if not part.values:
            return "enum has no values"
        if not any(g.type_of(value) & self.mask for value in part.values):
            subject = "the one value of const or enum is not" if single else "no value of enum is"
            return f"{subject} of {_types(self.mask)}"
        if single:
            return "the one value of const or enum does not satisfy what else is asked"
        return "no value of enum satisfies what else is asked"

    def _of_type(self, kind: int) -> tuple[str, str | None]:
        if kind == g.NUMBER:
            return self._numbers(), None
        if kind == g.STRING:
            low, high = self._bounds(part for part in self.parts if isinstance(part, g.Length))
            if high is not None and low > high:
                return f"minLength {low} is above maxLength {high}", None
            if any(isinstance(part, g.Pattern | g.Format | g.Length) for part in self.parts):
                return "no string satisfies all that is asked of strings", None
        if kind in (g.ARRAY, g.OBJECT):
            low, high = self._bounds(
                part for part in self.parts if isinstance(part, g.Size) and part.type == kind
            )
            noun = "Items" if kind == g.ARRAY else "Properties"
            if high is not None and low > high:
                return f"min{noun} {low} is above max{noun} {high}", None
            return self._items(low) if kind == g.ARRAY else self._properties(low, high)
        return "", None

    def _bounds(self, parts: Iterator[g.Length] | Iterator[g.Size]) -> tuple[int, int | None]:
        low, high = 0, None
        for part in parts:
            low = max(low, part.low)
            if part.high is not None:
                high = part.high if high is None else min(high, part.high)
        return low, high

    def _numbers(self) -> str:
        these = NumberSet(integer=any(isinstance(part, g.Types) and part.integer for part in self.parts))
        for part in self.parts:
            if isinstance(part, g.Range):
                these = these.intersect(part.numbers)
        if not these.is_empty():
            return ""
        low, high = these.low, these.high
        if low is not None and high is not None and low > high:
            return f"the minimum {low} is above the maximum {high}"
        if low is not None and high is not None:
            return f"no such number lies between {low} and {high}"
        return "no number satisfies all that is asked of numbers"

    def _items(self, low: int) -> tuple[str, str | None]:
        for part in self.parts:
            if isinstance(part, g.Items):
                for index in range(min(low, len(part.prefix) + 1)):
                    node = part.prefix[index] if index < len(part.prefix) else part.rest
                    value = self.algebra.literals.of(node) if node is not None else frozenset()
                    if self.algebra.is_empty(value):
                        return self._inner(f"there must be {low} items, and item {index} cannot be", value)
        return "", None

    def _properties(self, low: int, high: int | None) -> tuple[str, str | None]:
        names = [name for part in self.parts if isinstance(part, g.Required) for name in part.names]
        names = list(dict.fromkeys(names))
        forms = [
            form
            for part in self.parts
            if isinstance(part, g.Properties)
            for form in self.algebra.parts.objects(part, False) or ()
        ]
        for name in names:
            value: Literals = frozenset()
            for form in forms:
                value = both(value, form.value(name))
            if self.algebra.is_empty(value):
                return self._inner(f"the property {name!r} is required and cannot have a value", value)
        if high is not None and len(names) > high:
            return f"{len(names)} properties are required, and maxProperties is {high}", None
        return "", None

    def _inner(self, text: str, value: Literals) -> tuple[str, str | None]:
        if value == FALSE or value in self.before:
            return text, None
        found, path = _Conflict(self.algebra, value, self.before).reason()
        path = path or self.algebra.literals.path(value)
        return (f"{text}: {found}" if found else text), path


def _types(mask: int) -> str:
    names = [name for bit, name in _NAMES.items() if mask & bit]
    return f"type {' or '.join(names)}"
