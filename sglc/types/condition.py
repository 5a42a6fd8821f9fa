"""Conditions on the value of a hole that a mask can keep, as data.

A condition compares the value, its length, or a field of it with values that are known when the hole is
reached: those written in the program (`Known`) and those of the run (`Given`, by the number under which the
hole is given them). `holds` says what a condition means; `sglc.types.language.narrowing` makes its texts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, TypeVar

from sglc.automata.dfa.operations import accepts
from sglc.automata.regex.compile import compile_regex
from sglc.immutable import value
from sglc.types.arithmetic import ArithmeticFault, Number, compute, is_number
from sglc.types.equality import equal, key_of
from sglc.types.json_text import json_text
from sglc.types.values import GivenError, RecordValue, Value


@value
class Given:
    """The hole's given value of that number."""

    number: int


@value
class Known:
    """A value; lists and ranges as tuples."""

    value: Value


Operand = Given | Known


@value
class Subject:
    """The value itself, or the field that `path` leads to; with `length` how long that is."""

    path: tuple[str, ...] = ()
    length: bool = False


_Ordered = TypeVar("_Ordered", Number, str)

Comparison = Literal["<", "<=", ">", ">=", "==", "!="]


@value
class Compared:
    subject: Subject
    operator: Comparison
    bound: Operand


@value
class Divided:
    """The remainder of an integer divided by `step` is `rest`."""

    subject: Subject
    step: Operand
    rest: Operand


@value
class Among:
    """The value is one of a list."""

    subject: Subject
    values: Operand


@value
class TextAt:
    """A text begins with, ends with, or contains another."""

    subject: Subject
    place: Literal["start", "end", "inside"]
    text: Operand


@value
class Matches:
    subject: Subject
    pattern: str


@value
class Flag:
    """A boolean that does not depend on the value."""

    value: Operand


@value
class Not:
    part: Condition


@value
class All:
    parts: tuple[Condition, ...]


@value
class Either:
    """At least one of the parts."""

    parts: tuple[Condition, ...]


Condition = Compared | Divided | Among | TextAt | Matches | Flag | Not | All | Either

CLASSES: tuple[type, ...] = (
    Given,
    Known,
    Subject,
    Compared,
    Divided,
    Among,
    TextAt,
    Matches,
    Flag,
    Not,
    All,
    Either,
)
OPERANDS = ("bound", "step", "rest", "values", "text", "value")


def atoms(condition: Condition) -> Iterator[Condition]:
    """The parts that are no `Not`, `All` or `Either`, in the order in which they are written."""
    match condition:
        case Not(part=part):
            yield from atoms(part)
        case All(parts=parts) | Either(parts=parts):
            for part in parts:
                yield from atoms(part)
        case _:
            yield condition


def subject(atom: Condition) -> Subject | None:
    """What an atom speaks of; None if it does not depend on the value."""
    return getattr(atom, "subject", None)


def operands(condition: Condition) -> Iterator[Operand]:
    """What the atoms compare with, given values and known ones, in the order in which they are written."""
    for atom in atoms(condition):
        for name in OPERANDS:
            found = getattr(atom, name, None)
            if isinstance(found, Given | Known):
                yield found


def given_numbers(condition: Condition) -> set[int]:
    """Numbers of the values of the run that a condition depends on."""
    return {operand.number for operand in operands(condition) if isinstance(operand, Given)}


def changed(condition: Condition, change: Callable[[Condition], Condition]) -> Condition:
    """The condition with every atom changed."""
    match condition:
        case Not(part=part):
            return Not(changed(part, change))
        case All(parts=parts):
            return All(tuple(changed(part, change) for part in parts))
        case Either(parts=parts):
            return Either(tuple(changed(part, change) for part in parts))
    return change(condition)


def bind(condition: Condition, values: Sequence[Value]) -> Condition:
    """The condition with the values of the run put in.

    Raises GivenError for a value of a kind with which the condition says nothing; checked programs have none.
    """

    def put(atom: Condition) -> Condition:
        found: dict[str, Operand] = {}
        for name in OPERANDS:
            operand = getattr(atom, name, None)
            if isinstance(operand, Given):
                value = frozen_value(values[operand.number])
                if not _is_operand(atom, value):
                    raise GivenError("its condition is given a value of another kind than it speaks of")
                found[name] = Known(value)
        return _with(atom, **found) if found else atom

    return changed(condition, put)


def renumbered(condition: Condition, numbers: Mapping[int, int]) -> Condition:
    """The condition with other numbers for the values of the run."""

    def put(atom: Condition) -> Condition:
        found: dict[str, Operand] = {}
        for name in OPERANDS:
            operand = getattr(atom, name, None)
            if isinstance(operand, Given):
                found[name] = Given(numbers[operand.number])
        return _with(atom, **found) if found else atom

    return changed(condition, put)


def _is_operand(atom: Condition, value: object) -> bool:
    """Whether an atom says something with a value of this kind. Any two values can be compared."""
    match atom:
        case Divided():
            return is_number(value)
        case Among():
            return isinstance(value, tuple | str | dict)
        case TextAt():
            return isinstance(value, str)
    return True


def _with(atom: Condition, **parts: Operand | Subject) -> Condition:
    """An atom with other parts; which it has depends on its class."""
    whole: Any = atom
    changed_atom: Condition = replace(whole, **parts)
    return changed_atom


class Listed(tuple[Value, ...]):
    """The values of a list, with a set of what they are known by."""

    @cached_property
    def keys(self) -> frozenset[Hashable]:
        """The items by what equal values have in common (`sglc.types.equality.key_of`)."""
        return frozenset(map(key_of, self))

    def has(self, value: object) -> bool:
        """Whether an item equals the value."""
        return key_of(value) in self.keys


def listed(values: Value) -> Listed:
    """The items of a list or tuple, the characters of a text, the keys of a map."""
    if isinstance(values, Listed):
        return values
    assert isinstance(values, list | tuple | str | dict), "what a checked program looks for values in"
    return Listed(values)


def frozen_value(value: Value | range) -> Value:
    """A value that can stand in a condition: lists and ranges become tuples."""
    return Listed(value) if isinstance(value, list | range) else value


def below(condition: Condition, name: str) -> Condition:
    """A condition on a record that speaks of one field only, as a condition on that field."""

    def put(atom: Condition) -> Condition:
        found = subject(atom)
        if found is None:
            return atom
        assert found.path[0] == name
        return _with(atom, subject=replace(found, path=found.path[1:]))

    return changed(condition, put)


def conjuncts(condition: Condition) -> Iterator[Condition]:
    """Parts that all have to hold."""
    if isinstance(condition, All):
        for part in condition.parts:
            yield from conjuncts(part)
    else:
        yield condition


# -- meaning ---------------------------------------------------------------------------------------


def holds(condition: Condition, value: object) -> bool:
    """Whether a bound condition holds of a value. What compares values of different kinds does not hold."""
    match condition:
        case Not(part=part):
            return not holds(part, value)
        case All(parts=parts):
            return all(holds(part, value) for part in parts)
        case Either(parts=parts):
            return any(holds(part, value) for part in parts)
        case Flag(value=flag):
            return bool(known(flag))
    about = subject(condition)
    assert about is not None
    for name in about.path:
        if not isinstance(value, RecordValue):
            return False
        value = value.fields.get(name)
    if about.length:
        if not isinstance(value, str | list | dict | tuple | range):
            return False
        value = len(value)
    match condition:
        case Compared(operator=operator, bound=bound):
            return compare(value, operator, known(bound))
        case Divided(step=step, rest=rest):
            return _has_rest(value, known(step), known(rest))
        case Among(values=values):
            return listed(known(values)).has(value)
        case TextAt(place=place, text=text):
            wanted = known(text)
            if not isinstance(value, str) or not isinstance(wanted, str):
                return False
            is_there = {"start": value.startswith, "end": value.endswith, "inside": value.__contains__}[place]
            return is_there(wanted)
        case Matches(pattern=pattern):
            return isinstance(value, str) and accepts(compile_regex(pattern), value)
    raise AssertionError(condition)


def known(operand: Operand) -> Value:
    """The value of a bound operand."""
    assert isinstance(operand, Known), "a condition is bound before it is asked"
    return operand.value


def _has_rest(value: object, step: object, rest: object) -> bool:
    if not (is_number(value) and is_number(step)):
        return False
    try:
        return equal(compute("%", value, step), rest)
    except ArithmeticFault:
        return False


def compare(left: object, operator: Comparison, right: object) -> bool:
    """A comparison of two values of the language; values of different kinds have no order."""
    match operator:
        case "==":
            return equal(left, right)
        case "!=":
            return not equal(left, right)
    if is_number(left) and is_number(right):
        return _ordered(left, operator, right)
    return isinstance(left, str) and isinstance(right, str) and _ordered(left, operator, right)


def _ordered(left: _Ordered, operator: Comparison, right: _Ordered) -> bool:
    match operator:
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
    return left >= right


# -- as text ---------------------------------------------------------------------------------------


def show_condition(condition: Condition, within: str = "") -> str:
    """The condition in the notation of the language, for messages; long values are cut short."""
    match condition:
        case Not(part=part):
            return f"not {show_condition(part, 'not')}"
        case All(parts=parts):
            shown = " and ".join(show_condition(part, "and") for part in parts) or "true"
            return f"({shown})" if within == "not" else shown
        case Either(parts=parts):
            shown = " or ".join(show_condition(part, "or") for part in parts) or "false"
            return f"({shown})" if within in ("not", "and") else shown
        case Flag(value=flag):
            return _shown(flag)
    about = subject(condition)
    assert about is not None
    name = ".".join(("it", *about.path))
    name = f"len({name})" if about.length else name
    match condition:
        case Compared(operator=operator, bound=bound):
            return f"{name} {operator} {_shown(bound)}"
        case Divided(step=step, rest=rest):
            return f"{name} % {_shown(step)} == {_shown(rest)}"
        case Among(values=values):
            return f"{name} in {_shown(values)}"
        case TextAt(place="inside", text=text):
            return f"{name} contains {_shown(text)}"
        case TextAt(place=place, text=text):
            return f"{name}.{place}s_with({_shown(text)})"
        case Matches(pattern=pattern):
            return f"{name} matches /{pattern}/"
    raise AssertionError(condition)


def _shown(operand: Operand) -> str:
    if isinstance(operand, Given):
        return f"given{operand.number}"
    value = operand.value
    if isinstance(value, tuple):
        shown = ", ".join(_shown(Known(each)) for each in value[:4])
        return f"[{shown}{', …' if len(value) > 4 else ''}]"
    if isinstance(value, str):
        return json_text(value if len(value) <= 40 else value[:39] + "…")
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
