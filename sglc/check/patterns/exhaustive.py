"""Is every value met by a case, and is every case met by a value?

After Maranget, "Warnings for pattern matching" (JFP 17, 2007): a matrix with a row for each case and a column
for each part of the subject that a pattern looks at is split by the constructors of one column. Each
constructor leaves the rows that match it, specialised; those that no row names share one default matrix, and
what the default leaves out is left out by each of them. All cases are judged in one walk: a row is reached
where it is the first that is left, and the values of a matrix without a row that takes what it matches (only
with guards, or none at all) are missing.

The column is the first one in which the first row looks at anything. So every step brings this row nearer to
taking all that is left, and patterns that look at different columns do not multiply.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sglc.check.core.result import ExpressionType
from sglc.check.patterns.case_forms import WILD, AnyOf, Form, Wild, plain_forms
from sglc.check.patterns.constructors import Column, Constructor, Looks, Place, Slot, exact, looks
from sglc.check.types.kinds import Table
from sglc.immutable import value

MAX_WORK = 400_000
"""Rows that are put into matrices for one match, some 0.6 s. Cases over one column need one for each, while
the question is NP-hard in the number of columns."""


class TooComplex(Exception):
    """The search was given up; a case for any other value always helps."""


@value
class Judgement:
    """`unreached`: places of the cases that no value comes to. `missing`: a value without a case. `work`: the
    rows that were put into matrices."""

    unreached: tuple[int, ...]
    missing: str | None
    work: int


@value
class _Row:
    """What a case still asks of a value. `looks`: a part and its form, then other parts; None for nothing."""

    looks: _Looks | None
    case: int
    firm: bool
    """Whether it takes what it matches: no guard may pass it on."""
    wanted: bool
    """Whether being reached here says what is not said elsewhere."""


_Looks = tuple[int, Form, "_Looks | None"]
_Facts = tuple[int, Slot, Constructor, "_Facts | None"]
"""What is known of the values of a matrix: the constructor of a part, then the other facts."""


@value
class _Matrix:
    rows: Sequence[_Row]
    facts: _Facts | None
    known: int
    """Number of the facts."""
    open: bool
    """Whether a value that is missing here need be looked for."""


def judge(cases: Sequence[tuple[Form, bool]], type: ExpressionType, table: Table) -> Judgement:
    """Judge cases in their order, each with whether it takes all that it matches (it has no guard).

    Raises TooComplex.
    """
    return _Search(type, table, len(cases)).run(cases)


class _Search:
    def __init__(self, type: ExpressionType, table: Table, cases: int) -> None:
        self.table = table
        self.types: list[ExpressionType] = [type]
        """Types of the parts that were looked at; the subject is part 0."""
        self.looks: dict[int, Looks] = {}
        self.parts: dict[tuple[int, Slot], tuple[int, ...]] = {}
        self.reached = [False] * cases
        self.missing: _Matrix | None = None
        """The matrix without rows of which the fewest facts are known."""
        self.work = 0

    def run(self, cases: Sequence[tuple[Form, bool]]) -> Judgement:
        rows = [
            _Row(_before((0,), (form,), None), place, firm, True) for place, (form, firm) in enumerate(cases)
        ]
        waiting = [_Matrix(rows, None, 0, True)]
        while waiting:
            waiting.extend(reversed(self.step(waiting.pop())))
        unreached = tuple(place for place, reached in enumerate(self.reached) if not reached)
        missing = None if self.missing is None else self.witness(self.missing.facts)
        return Judgement(unreached, missing, self.work)

    def step(self, matrix: _Matrix) -> list[_Matrix]:
        """Judge the first rows as far as they look at nothing more; the matrices of the rest."""
        rows = matrix.rows
        first = 0
        while first < len(rows) and rows[first].looks is None:
            self.reached[rows[first].case] = True
            if rows[first].firm:
                return []
            first += 1
        if self.missing is not None and matrix.known >= self.missing.known:
            matrix = _Matrix(matrix.rows, matrix.facts, matrix.known, False)
        if matrix.open and not any(row.firm for row in rows):
            self.missing = matrix
            matrix = _Matrix(matrix.rows, matrix.facts, matrix.known, False)
        if not matrix.open and not any(row.wanted and not self.reached[row.case] for row in rows[first:]):
            return []
        return self.split(matrix, rows[first:] if first else rows)

    def split(self, matrix: _Matrix, rows: Sequence[_Row]) -> list[_Matrix]:
        """The matrices by the constructors of the part that the first row looks at first."""
        assert rows[0].looks is not None
        part = rows[0].looks[0]
        known = self.looks.get(part)
        if known is None:
            known = self.looks[part] = looks(self.types[part], self.table)
        passing: list[tuple[int, _Row]] = []
        asking: list[tuple[int, _Row, _Looks | None, list[Form]]] = []
        for place, row in enumerate(rows):
            form, rest = _without(row.looks, part)
            if form is None:
                passing.append((place, row))
            else:
                asking.append((place, row, rest, plain_forms(form)))
        column = Column(known, [form for _, _, _, forms in asking for form in forms])
        matching: dict[Slot, list[tuple[int, _Row]]] = {}
        for place, row, rest, forms in asking:
            for slot, inner in _places(column, forms):
                self.spend()
                below = _before(self.below(part, slot, column) if inner else (), inner, rest)
                matching.setdefault(slot, []).append((place, _Row(below, row.case, row.firm, row.wanted)))
        left_out = column.left_out(set(matching))
        made: list[_Matrix] = []
        if left_out is not None:
            facts = (part, exact(left_out.key), left_out, matrix.facts)
            made.append(_Matrix([row for _, row in passing], facts, matrix.known + 1, matrix.open))
            passing = [(place, _Row(r.looks, r.case, r.firm, False)) for place, r in passing]
        for slot, named in matching.items():
            merged = self.merged(named, passing)
            facts = (part, slot, column.constructor(slot), matrix.facts)
            made.append(_Matrix(merged, facts, matrix.known + 1, matrix.open and left_out is None))
        return made

    def spend(self) -> None:
        self.work += 1
        if self.work > MAX_WORK:
            raise TooComplex

    def below(self, part: int, slot: Slot, column: Column) -> tuple[int, ...]:
        """Numbers of the parts of a part that has one constructor."""
        numbers = self.parts.get((part, slot))
        if numbers is None:
            types = column.constructor(slot).types
            numbers = tuple(range(len(self.types), len(self.types) + len(types)))
            self.types.extend(types)
            self.parts[part, slot] = numbers
        return numbers

    def merged(self, named: list[tuple[int, _Row]], passing: list[tuple[int, _Row]]) -> list[_Row]:
        """Rows of both in their order, up to the first that takes all that is left."""
        rows: list[_Row] = []
        i = j = 0
        while i < len(named) or j < len(passing):
            if j == len(passing) or (i < len(named) and named[i][0] <= passing[j][0]):
                row = named[i][1]
                i += 1
            else:
                row = passing[j][1]
                j += 1
                self.spend()
            rows.append(row)
            if row.firm and row.looks is None:
                break
        return rows

    def witness(self, facts: _Facts | None) -> str:
        """The values of which these facts are known, as a pattern."""
        known: dict[int, tuple[Slot, Constructor]] = {}
        while facts is not None:
            part, slot, constructor, facts = facts
            known[part] = (slot, constructor)
        return self._write(0, known)

    def _write(self, part: int, known: dict[int, tuple[Slot, Constructor]]) -> str:
        if part not in known:
            return "_"
        slot, constructor = known[part]
        below = self.parts.get((part, slot), ())
        if not below:
            return constructor.write(["_"] * len(constructor.types))
        return constructor.write([self._write(inner, known) for inner in below])


def _before(parts: Iterable[int], forms: Sequence[Form], rest: _Looks | None) -> _Looks | None:
    """What is asked of parts, before the rest; of a part that may be anything, nothing is asked."""
    for part, form in reversed(list(zip(parts, forms, strict=True))):
        if not isinstance(form, Wild) and not (isinstance(form, AnyOf) and plain_forms(form) == [WILD]):
            rest = (part, form, rest)
    return rest


def _without(looks: _Looks | None, part: int) -> tuple[Form | None, _Looks | None]:
    """The form of one part, None where it may be anything, and what is asked beside it."""
    passed: list[tuple[int, Form]] = []
    at = looks
    while at is not None and at[0] != part:
        passed.append((at[0], at[1]))
        at = at[2]
    if at is None:
        return None, looks
    rest = at[2]
    for other, form in reversed(passed):
        rest = (other, form, rest)
    return at[1], rest


def _places(column: Column, forms: list[Form]) -> Iterable[Place]:
    if len(forms) == 1:
        return column.places(forms[0])
    return dict.fromkeys(place for form in forms for place in column.places(form))
