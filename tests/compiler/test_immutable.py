"""Classes of `sglc.immutable` are dataclasses in all but that nothing guards their fields at run time."""

from __future__ import annotations

import copy
from dataclasses import field, fields, is_dataclass, replace

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


def test_operations_are_compared_by_what_they_do() -> None:
    for cls in (*OPS, *TERMINATORS):
        parts = [f"{each.name}" for each in fields(cls) if each.name != "span"]
        one, other = cls(*parts), cls(*parts, span=object())
        assert one == other and hash(one) == hash(other), cls.__name__
