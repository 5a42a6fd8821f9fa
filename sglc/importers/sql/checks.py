"""What the CHECKs of a table ask of each column, as far as a type can say it; the rest is refused.

A CHECK holds where its condition is not false, so a column that is NULL passes nearly all of them; what is
collected here is asked of values that are there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from sglc.importers.core.fault import SourceFault
from sglc.importers.sql.patterns import glob_regex, like_regex
from sglc.importers.sql.tokens import name_of, string_of
from sglc.lalr.parse import ParseNode, Part, Token
from sglc.types.equality import equal

Value = str | int | Decimal | bool
_LENGTHS = ("LENGTH", "CHAR_LENGTH", "CHARACTER_LENGTH", "LEN")
_FLIPPED = {"less": "more", "more": "less", "at_most": "at_least", "at_least": "at_most"}
_NEGATED = {
    "less": "at_least",
    "at_least": "less",
    "more": "at_most",
    "at_most": "more",
    "equal": "other",
    "other": "equal",
}


@dataclass(slots=True)
class Bound:
    """A number that values do not pass; `strict`: nor reach."""

    number: Decimal
    strict: bool
    node: ParseNode


@dataclass(slots=True)
class Limits:
    """What is asked of one column. `sort` is the sort of its values: number, text, bool, other."""

    name: str
    sort: str
    collated: bool = False
    least: list[Bound] = field(default_factory=list)
    most: list[Bound] = field(default_factory=list)
    allowed: list[Value] | None = None
    allowed_at: ParseNode | None = None
    excluded: list[tuple[Value, ParseNode]] = field(default_factory=list)
    min_chars: int = 0
    max_chars: int | None = None
    patterns: list[str] = field(default_factory=list)
    excludes: list[str] = field(default_factory=list)
    steps: list[tuple[int, ParseNode]] = field(default_factory=list)
    not_null: bool = False


@dataclass(frozen=True, slots=True)
class _Measure:
    """Something of one column that a constant is compared with: its `value`, `length` or `remainder`."""

    what: str
    of: Limits
    divisor: int = 0


def take_check(node: Part, columns: Mapping[str, Limits]) -> None:
    """Adds what a condition asks to the limits of columns (by name in small letters). Raises SourceFault."""
    assert isinstance(node, ParseNode)
    _Check(columns).take(node)


def literal(node: Part) -> Value | None:
    """The value of a literal, None for NULL and for what is none."""
    if not isinstance(node, ParseNode):
        return None
    match node.kind:
        case "number":
            return _number(node.parts[0])
        case "negative":
            return -_number(node.parts[0])
        case "string":
            assert isinstance(node.parts[0], Token)
            return string_of(node.parts[0])
        case "true" | "false":
            return node.kind == "true"
        case "group":
            return literal(node.parts[0])
    return None


def _number(part: Part) -> int | Decimal:
    assert isinstance(part, Token)
    return int(part.text) if part.text.isdigit() and len(part.text) < 40 else Decimal(part.text)


class _Check:
    def __init__(self, columns: Mapping[str, Limits]) -> None:
        self.columns = columns

    def take(self, node: ParseNode) -> None:
        parts = [part for part in node.parts if isinstance(part, ParseNode)]
        match node.kind:
            case "and":
                for part in parts:
                    self.take(part)
            case "group":
                self.take(parts[0])
            case "or":
                self.either(node, parts)
            case "not":
                self.opposite(node, parts[0])
            case "compare":
                self.compare(node, parts[0], parts[1].kind, parts[2])
            case "in":
                found = self.values(node)
                assert found is not None
                self.allow(found[0], found[1], node)
            case "not_in":
                measure = self.measure(parts[0])
                self.plain(measure, node)
                for part in parts[1:]:
                    measure.of.excluded.append((self.constant(measure.of, part), node))
            case "between":
                self.compare(node, parts[0], "at_least", parts[1])
                self.compare(node, parts[0], "at_most", parts[2])
            case "like":
                limits = self.text(parts[0], node)
                escape = literal(parts[2]) if len(parts) > 2 else None
                limits.patterns.append(like_regex(self.pattern(parts[1]), escape, node))
            case "glob":
                limits = self.text(parts[0], node)
                limits.patterns.append(glob_regex(self.pattern(parts[1]), node))
            case "is_not_null":
                measure = self.measure(parts[0])
                self.plain(measure, node)
                measure.of.not_null = True
            case _:
                raise self.refused(node)

    # -- one condition -----------------------------------------------------------------------------

    def compare(self, node: ParseNode, left: ParseNode, operator: str, right: ParseNode) -> None:
        if literal(left) is not None:
            left, right, operator = right, left, _FLIPPED.get(operator, operator)
        measure = self.measure(left)
        value = literal(right)
        if value is None:
            raise self.refused(right if self.constant_like(right) else node)
        limits = measure.of
        if measure.what == "length":
            self.length(node, limits, operator, value)
        elif measure.what == "remainder":
            if operator != "equal" or value != 0 or isinstance(value, bool):
                raise self.refused(node)
            limits.steps.append((measure.divisor, node))
        elif operator == "equal":
            self.allow(limits, [self.constant(limits, right)], node)
        elif operator == "other":
            limits.excluded.append((self.constant(limits, right), node))
        else:
            if limits.sort != "number" or isinstance(value, str | bool):
                raise SourceFault(node.start, node.end, "only numbers are compared by size")
            bound = Bound(Decimal(value), operator in ("less", "more"), node)
            (limits.most if operator in ("less", "at_most") else limits.least).append(bound)

    def length(self, node: ParseNode, limits: Limits, operator: str, value: Value) -> None:
        if limits.sort != "text" or not isinstance(value, int) or isinstance(value, bool):
            raise self.refused(node)
        low = {"equal": value, "at_least": value, "more": value + 1}.get(operator)
        high = {"equal": value, "at_most": value, "less": value - 1}.get(operator)
        if low is None and high is None:
            raise self.refused(node)
        if low is not None:
            limits.min_chars = max(limits.min_chars, low)
        if high is not None:
            if high < 0:
                raise SourceFault(node.start, node.end, "no text is that short")
            limits.max_chars = high if limits.max_chars is None else min(limits.max_chars, high)

    def allow(self, limits: Limits, values: Sequence[Value], node: ParseNode) -> None:
        if limits.allowed is None:
            limits.allowed = list(values)
        else:
            limits.allowed = [one for one in limits.allowed if any(equal(one, other) for other in values)]
        limits.allowed_at = node

    def either(self, node: ParseNode, arms: list[ParseNode]) -> None:
        """Arms that are equalities of one column; `x IS NULL` beside them says nothing new."""
        nulls = [arm for arm in map(_inner, arms) if arm.kind == "is_null"]
        rest = [arm for arm in map(_inner, arms) if arm.kind != "is_null"]
        missing = {self.measure(arm.parts[0]).of.name for arm in nulls}
        if len(missing) > 1 or not rest:
            raise self.refused(node)
        if missing and len(rest) == 1:
            if self.mentioned(rest[0]) != missing:
                raise self.refused(node)
            self.take(rest[0])
            return
        found = [self.values(arm) for arm in rest]
        known = [one for one in found if one is not None]
        if len(known) < len(found) or len({one[0].name for one in known} | missing) != 1:
            raise self.refused(node)
        self.allow(known[0][0], [value for _, values in known for value in values], node)

    def opposite(self, node: ParseNode, inner: ParseNode) -> None:
        inner = _inner(inner)
        parts = [part for part in inner.parts if isinstance(part, ParseNode)]
        if inner.kind == "compare":
            self.compare(node, parts[0], _NEGATED[parts[1].kind], parts[2])
        elif inner.kind == "in":
            self.take(ParseNode("not_in", inner.parts, inner.start, inner.end))
        elif inner.kind == "is_null":
            self.take(ParseNode("is_not_null", inner.parts, inner.start, inner.end))
        elif inner.kind == "not":
            self.take(parts[0])
        else:
            raise self.refused(node)

    def values(self, node: ParseNode) -> tuple[Limits, list[Value]] | None:
        """The column and the values of an equality, `IN`, or several of them; None for others."""
        node = _inner(node)
        parts = [part for part in node.parts if isinstance(part, ParseNode)]
        if node.kind == "in":
            measure = self.measure(parts[0])
            self.plain(measure, node)
            return measure.of, [self.constant(measure.of, part) for part in parts[1:]]
        if node.kind == "compare" and parts[1].kind == "equal":
            left, right = (parts[2], parts[0]) if literal(parts[0]) is not None else (parts[0], parts[2])
            measure = self.measure(left)
            if measure.what == "value":
                return measure.of, [self.constant(measure.of, right)]
        if node.kind == "or":
            found = [self.values(part) for part in parts]
            known = [one for one in found if one is not None]
            if len(known) == len(found) and len({one[0].name for one in known}) == 1:
                return known[0][0], [value for _, values in known for value in values]
        return None

    # -- parts -------------------------------------------------------------------------------------

    def measure(self, part: Part) -> _Measure:
        assert isinstance(part, ParseNode)
        node = _inner(part)
        if node.kind == "column_name":
            return _Measure("value", self.column(node))
        inside = [one for one in node.parts if isinstance(one, ParseNode)]
        if node.kind == "call" and isinstance(node.parts[0], Token):
            called = node.parts[0].text.upper()
            if called in _LENGTHS and len(inside) == 1 and _inner(inside[0]).kind == "column_name":
                return _Measure("length", self.column(_inner(inside[0])))
            if called == "MOD" and len(inside) == 2:
                return self.remainder(node, inside)
        if node.kind == "remainder":
            return self.remainder(node, inside)
        raise self.refused(node)

    def remainder(self, node: ParseNode, inside: list[ParseNode]) -> _Measure:
        divisor = literal(inside[1])
        dividend = _inner(inside[0])
        if dividend.kind != "column_name" or not isinstance(divisor, int) or divisor <= 0:
            raise self.refused(node)
        return _Measure("remainder", self.column(dividend), int(divisor))

    def column(self, node: ParseNode) -> Limits:
        dotted = node.parts[0]
        assert isinstance(dotted, ParseNode) and isinstance(dotted.parts[-1], Token)
        name = name_of(dotted.parts[-1])
        found = self.columns.get(name.lower())
        if found is None:
            raise SourceFault(node.start, node.end, f"there is no column {name} that a row holds")
        return found

    def plain(self, measure: _Measure, node: ParseNode) -> None:
        if measure.what != "value":
            raise self.refused(node)

    def text(self, part: ParseNode, node: ParseNode) -> Limits:
        """The text column that is matched with a pattern."""
        measure = self.measure(part)
        self.plain(measure, node)
        if measure.of.sort != "text":
            raise SourceFault(node.start, node.end, "only texts are matched with patterns")
        if measure.of.collated:
            raise SourceFault(node.start, node.end, "texts of this column are compared in another order")
        return measure.of

    def pattern(self, part: ParseNode) -> str:
        value = literal(part)
        if not isinstance(value, str):
            raise self.refused(part)
        return value

    def constant(self, limits: Limits, part: Part) -> Value:
        """A literal as a value of the column."""
        assert isinstance(part, ParseNode)
        value = literal(part)
        if value is None:
            raise self.refused(part)
        if limits.sort == "bool" and value in (0, 1) and not isinstance(value, str):
            return bool(value)
        kind = "text" if isinstance(value, str) else "bool" if isinstance(value, bool) else "number"
        sort = "text" if limits.sort == "moment" else limits.sort
        if kind != sort:
            raise SourceFault(part.start, part.end, f"column {limits.name} does not hold such a value")
        if limits.collated:
            raise SourceFault(part.start, part.end, "texts of this column are compared in another order")
        return value

    def constant_like(self, node: ParseNode) -> bool:
        return _inner(node).kind in ("null", "number", "string")

    def mentioned(self, node: ParseNode) -> set[str]:
        """Names of the columns in a condition."""
        if node.kind == "column_name":
            return {self.column(node).name}
        return {name for part in node.parts if isinstance(part, ParseNode) for name in self.mentioned(part)}

    def refused(self, node: ParseNode) -> SourceFault:
        names = {self.column(part).name for part in _columns_in(node)}
        reason = "this condition cannot be said by a type"
        if len(names) > 1:
            reason = f"a type cannot relate columns ({', '.join(sorted(names))})"
        return SourceFault(
            node.start,
            node.end,
            reason,
            "a type says `x IN (…)`, `x BETWEEN a AND b`, comparisons with a number, `length(x) <= n`, "
            "`x LIKE '…'`, `x % n = 0`, and several of these with AND",
        )


def _inner(node: ParseNode) -> ParseNode:
    """A condition without parentheses around it."""
    while node.kind == "group" and isinstance(node.parts[0], ParseNode):
        node = node.parts[0]
    return node


def _columns_in(node: ParseNode) -> list[ParseNode]:
    if node.kind == "column_name":
        return [node]
    return [found for part in node.parts if isinstance(part, ParseNode) for found in _columns_in(part)]
