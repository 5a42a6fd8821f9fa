"""The virtual machine on values: operators, containers, built-in functions, numbers."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from sglc.bytecode.verify import BINARY_OPERATORS, UNARY_OPERATORS
from sglc.runtime.errors import SglError
from sglc.runtime.vm.state.values import Scored, as_value
from sglc.types.type import Dec, Float, Int, ListOf, MapOf, Named, Str, Type
from sglc.types.values import EnumValue, RecordValue
from sglc.values.operators import BINARY, UNARY
from strategies.vm_programs import value


@pytest.mark.parametrize(
    ("left", "operator", "right", "expected"),
    [
        (7, "+", 2, 9),
        (7, "/", 2, Decimal("3.5")),
        (7, "//", 2, 3),
        (-7, "//", 2, -4),
        (-7, "%", 3, 2),
        (Decimal("-7"), "%", 3, Decimal(2)),
        (Decimal("0.1"), "+", Decimal("0.2"), Decimal("0.3")),
        (1, "+", Decimal("0.5"), Decimal("1.5")),
        (Decimal("0.5"), "+", 0.25, 0.75),
        (2, "**", 10, 1024),
        ("ab", "+", "c", "abc"),
        ([1], "+", [2], [1, 2]),
        (1, "<", Decimal("1.5"), True),
        ("b", "in", "abc", True),
        ([1, 2], "contains", 3, False),
        ("a1", "matches", "[a-z][0-9]", True),
        ("a1b", "matches", "[a-z][0-9]", False),
        (EnumValue("Mood", "calm"), "==", EnumValue("Mood", "calm"), True),
        (1, "!=", 2, True),
    ],
)
def test_binary_operators(left: Any, operator: str, right: Any, expected: Any) -> None:
    result = value(("CONSTANT", left), ("CONSTANT", right), ("BINARY", operator))
    assert result == expected and type(result) is type(expected)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([("CONSTANT", 1), ("CONSTANT", 0), ("BINARY", "/")], "division by zero"),
        ([("CONSTANT", 1), ("CONSTANT", 0), ("BINARY", "%")], "division by zero"),
        ([("CONSTANT", 10), ("CONSTANT", 10**9), ("BINARY", "**")], "too large"),
        ([("CONSTANT", "a"), ("CONSTANT", 10**9), ("BINARY", "*")], "too large"),
        ([("LIST", 0), ("CONSTANT", 3), ("INDEX",)], "index 3 is outside of a list of length 0"),
        ([("LIST", 0), ("METHOD", "first", 1)], "no first item"),
        ([("CONSTANT", "x"), ("BUILTIN", "int", 1)], "'x' is no integer"),
        ([("CONSTANT", 44), ("CHECK_TYPE", Int(0, 30))], "outside of its type"),
        ([("CONSTANT", "a"), ("CONSTANT", 1), ("BINARY", "<")], "does not order a text and an integer"),
    ],
)
def test_faults_are_failures_with_a_place(lines: list[Any], message: str) -> None:
    with pytest.raises(SglError, match=message) as caught:
        value(*lines)
    assert caught.value.name == "Failure"
    assert caught.value.place is not None and caught.value.place.line == len(lines)


def test_records_variants_and_copies_with_a_change() -> None:
    pet = value(("CONSTANT", "Rex"), ("CONSTANT", 3), ("RECORD", Named("Pet"), 2))
    assert pet == RecordValue("Pet", {"name": "Rex", "age": 3})
    older = value(("CONSTANT", pet), ("CONSTANT", 4), ("WITH_FIELD", "age"), ("ATTRIBUTE", "age"))
    assert older == 4
    assert value(("CONSTANT", 2), ("VARIANT", "Shape.Square", 1), ("IS_VARIANT", "Shape.Dot")) is False
    assert value(
        ("LIST", 0), ("CONSTANT", 1), ("APPEND",), ("CONSTANT", 0), ("CONSTANT", 5), ("WITH_ITEM",)
    ) == [5]


def test_strings_show_values_as_text_does() -> None:
    shown = value(
        ("CONSTANT", EnumValue("Mood", "calm")),
        ("CONSTANT", Decimal("1.50")),
        ("CONSTANT", True),
        ("CONSTANT", RecordValue("Pet", {"name": 'a"b', "age": 1})),
        ("CONSTANT", None),
        ("STRING", 5),
    )
    assert shown == 'calm1.50true{"name": "a\\"b", "age": 1}null'


def test_numbers_are_widened_where_a_wider_type_is_due() -> None:
    result = value(("CONSTANT", [1, 2]), ("CHECK_TYPE", ListOf(Dec())))
    assert result == [Decimal(1), Decimal(2)] and all(type(n) is Decimal for n in result)


@pytest.mark.parametrize("type", [Dec(), Float(), Int()])
def test_a_truth_value_is_no_number(type: Type) -> None:
    for given, due in ((True, type), ([1, False], ListOf(type)), ({"k": True}, MapOf(Str(), type))):
        with pytest.raises(SglError, match="outside of its type"):
            value(("CONSTANT", given), ("CHECK_TYPE", due))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([("CONSTANT", [3, 1, 2]), ("METHOD", "max", 1)], 3),
        ([("CONSTANT", ["a", "b"]), ("CONSTANT", [1, 9]), ("METHOD", "max", 2)], "b"),
        ([("CONSTANT", ["a", "b"]), ("CONSTANT", [2, 1]), ("METHOD", "sort", 2)], ["b", "a"]),
        ([("CONSTANT", "a b c"), ("METHOD", "words", 1)], ["a", "b", "c"]),
        ([("CONSTANT", {"k": 1}), ("CONSTANT", "x"), ("CONSTANT", 7), ("METHOD", "get", 3)], 7),
        ([("CONSTANT", [1, Decimal("0.5")]), ("BUILTIN", "sum", 1)], Decimal("1.5")),
        ([("CONSTANT", 2.5), ("CONSTANT", None), ("BUILTIN", "round", 2)], 2),
        ([("CONSTANT", ["a"]), ("CONSTANT", [1]), ("BUILTIN", "zip", 2)], [("a", 1)]),
    ],
)
def test_builtins_and_methods(lines: list[Any], expected: Any) -> None:
    assert value(*lines) == expected


@pytest.mark.parametrize(
    "lines",
    [
        [("CONSTANT", 1), ("METHOD", "upper", 1)],
        [("CONSTANT", 1), ("BUILTIN", "keys", 1)],
        [("CONSTANT", 1), ("BUILTIN", "any", 1)],
        [("CONSTANT", "x"), ("BUILTIN", "values", 1)],
        [("CONSTANT", "x"), ("BUILTIN", "abs", 1)],
        [("CONSTANT", [1]), ("BUILTIN", "round", 1)],
        [("CONSTANT", 2.5), ("CONSTANT", "x"), ("BUILTIN", "round", 2)],
        [("CONSTANT", "a"), ("CONSTANT", 1), ("METHOD", "starts_with", 2)],
        [("CONSTANT", "a"), ("CONSTANT", 1), ("CONSTANT", "b"), ("METHOD", "replace", 3)],
        [("CONSTANT", "ab"), ("CONSTANT", "x"), ("CONSTANT", None), ("SLICE",)],
        [("CONSTANT", 1), ("CONSTANT", 2), ("APPEND",)],
        [("CONSTANT", "x"), ("LIMIT", "the loop")],
    ],
)
def test_a_value_of_a_wrong_kind_is_a_fault_that_no_handler_catches(lines: list[Any]) -> None:
    with pytest.raises(SglError, match=r"has no method|met a value that it cannot work on") as caught:
        value(*lines)
    assert caught.value.name == "Failure"


def test_types_depend_on_values_of_the_language_alone() -> None:
    kept = ["a", None, {"k": 1}]
    assert as_value(kept) is kept
    assert as_value(range(2, 4)) == [2, 3]
    with pytest.raises(SglError, match="a type cannot depend on a scored choice"):
        as_value(Scored("a", ("a",), (1.0,)))


def test_the_machine_has_the_operators_that_the_verifier_lets_pass() -> None:
    assert set(BINARY) == BINARY_OPERATORS
    assert set(UNARY) == UNARY_OPERATORS


def test_the_checkers_table_and_the_machines_agree() -> None:
    from sglc.check.core.elements import LOOPS
    from sglc.check.names import builtins as declared
    from sglc.values import builtins as there

    assert set(declared.FUNCTIONS) == set(there.FUNCTIONS)
    # Names that no program can write are the machine's own.
    assert set(declared.STR_METHODS) == {name for name in there.STRING if name.isidentifier()}
    assert set(declared.LIST_METHODS) == set(there.LIST) | LOOPS
    assert set(declared.MAP_METHODS) == set(there.MAP)
    assert set(declared.SCORED_METHODS) == set(Scored.methods)
