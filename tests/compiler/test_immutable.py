"""Classes of `sglc.immutable` are dataclasses in all but that nothing guards their fields at run time."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, fields, is_dataclass, replace
from inspect import signature
from typing import Any

import pytest

from sglc import immutable
from sglc.immutable import node, value
from sglc.ir.shape import OPS
from sglc.ir.terminators import TERMINATORS


@value
class Pair:
    left: int
    right: tuple[int, ...] = ()
    place: str = field(default="", compare=False, repr=False)


@node
class Leaf:
    text: str


def test_values_are_equal_where_their_fields_are() -> None:
    assert Pair(1, (2,), "here") == Pair(1, (2,), "there") != Pair(1, (3,))
    assert hash(Pair(1, (2,), "here")) == hash(Pair(1, (2,), "there"))
    assert len({Pair(1), Pair(1), Pair(2)}) == 2
    assert repr(Pair(1, (2,), "here")) == "Pair(left=1, right=(2,))"


def test_they_are_shown_as_dataclasses_are() -> None:
    assert repr(Pair(1, (Leaf("a"),))) == "Pair(left=1, right=(Leaf(text='a'),))"  # type: ignore[arg-type]
    around = Pair(1)
    around.right = (around,)  # type: ignore
    assert repr(around) == "Pair(left=1, right=(...,))"

    @node
    class Own:
        text: str

        def __repr__(self) -> str:
            return "own"

    assert repr(Own("a")) == "own"


def test_nodes_are_equal_to_themselves_alone() -> None:
    leaf = Leaf("a")
    assert leaf == leaf != Leaf("a")
    assert len({leaf, leaf, Leaf("a")}) == 2


def test_both_are_dataclasses_with_slots() -> None:
    for one in (Pair(1, (2,), "here"), Leaf("a")):
        assert is_dataclass(one) and not hasattr(one, "__dict__")
        assert [getattr(replace(one), each.name) for each in fields(one)] == [
            getattr(one, each.name) for each in fields(one)
        ]
        again = copy.copy(one)
        assert repr(again) == repr(one) and type(again) is type(one)
    match Pair(1, (2,)):
        case Pair(left, right):
            assert (left, right) == (1, (2,))


class Nothing:
    """No field."""


class Plain:
    """Fields without defaults, and one that is neither compared nor shown."""

    left: int
    other: tuple[int, ...] = (1,)
    hash: str = field(default="x", compare=False, repr=False)


class Counted:
    """Fields that are not set to what is given alone."""

    items: list[int] = field(default_factory=list, hash=False)
    length: int = field(init=False)

    def __post_init__(self) -> None:
        self.length = len(self.items)


@pytest.mark.parametrize(
    ("body", "given"),
    [
        (Nothing, [{}]),
        (
            Plain,
            [{"left": 1}, {"left": 1, "hash": "y"}, {"left": 1, "other": ()}, {"left": 2, "other": (1,)}],
        ),
        (Counted, [{}, {"items": [1]}, {"items": [1]}, {"items": [2]}]),
    ],
)
def test_methods_do_what_those_of_a_dataclass_do(body: type[Any], given: list[dict[str, Any]]) -> None:
    def copied() -> type[Any]:
        own = {name: each for name, each in vars(body).items() if name not in ("__dict__", "__weakref__")}
        return type(body.__name__, (), own)

    ours, theirs = value(copied()), dataclass(slots=True, unsafe_hash=True)(copied())
    made = [ours(**each) for each in given]
    expected = [theirs(**each) for each in given]
    assert list(map(hash, made)) == list(map(hash, expected))
    assert [[one == other for other in made] for one in made] == [
        [one == other for other in expected] for one in expected
    ]
    assert all(one != other for one in made for other in (*expected, None))
    assert list(map(repr, made)) == [
        repr(one).replace(theirs.__qualname__, ours.__qualname__) for one in expected
    ]
    assert list(signature(ours).parameters) == list(signature(theirs).parameters)
    with pytest.raises(TypeError, match="unexpected keyword argument 'unknown'"):
        ours(unknown=1)


def test_no_class_has_methods_compiled_where_another_has_as_many_fields() -> None:
    before = immutable._code.cache_info().misses

    @value
    class Triple:
        one: int
        two: int
        three: int

    compiled = immutable._code.cache_info().misses

    @value
    class Other:
        here: int
        there: int
        nowhere: int = 0

    assert compiled - before <= 3 and immutable._code.cache_info().misses == compiled
    assert Triple(1, 2, 3) != Other(1, 2) and Other(1, there=2).nowhere == 0


def test_methods_of_a_class_are_its_own() -> None:
    @value
    class Folded:
        text: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Folded) and other.text.lower() == self.text.lower()

        def __hash__(self) -> int:
            return 7

    assert Folded("A") == Folded("a") and hash(Folded("A")) == 7


def test_operations_are_compared_by_what_they_do() -> None:
    for cls in (*OPS, *TERMINATORS):
        parts = [f"{each.name}" for each in fields(cls) if each.name != "span"]
        one, other = cls(*parts), cls(*parts, span=object())
        assert one == other and hash(one) == hash(other), cls.__name__
