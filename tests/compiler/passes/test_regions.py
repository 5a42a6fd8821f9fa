"""Regions of random flow graphs, against the definition: blocks are taken away, and what is still reached is
looked at."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.analysis.regions import OUT, Between, Graph, Region, TooDeep, expected_flow, regions, regions_from
from sglc.ir.module import Block, Function
from sglc.ir.terminators import Branch, Jump, RaiseError, Reraise, Return, Try


@st.composite
def functions(draw: Any) -> Function:
    """Functions of empty blocks with any jumps between them, errors and handlers among them."""
    count = draw(st.integers(1, 9))
    label = st.integers(0, count - 1).map(lambda number: f"b{number}")
    end = st.one_of(
        st.builds(Jump, label),
        st.builds(Branch, st.just(0), label, label),
        st.builds(Branch, st.just(0), label, label),
        st.builds(Try, label, label, st.just(False)),
        st.just(Return(0)),
        st.sampled_from([RaiseError("Odd", ()), RaiseError("Rejected", ()), Reraise(0)]),
    )
    blocks = tuple(Block(f"b{number}", (), draw(end)) for number in range(count))
    return Function("f", "fn", (), blocks)


def reached(flow: Graph, root: str, without: str = "nothing") -> set[str]:
    """All that control comes to from a block if it cannot go through another."""
    found: set[str] = set()
    work = [root]
    while work:
        label = work.pop()
        if label != without and label not in found:
            found.add(label)
            work += flow.get(label, ())
    return found


def loops_around(flow: Graph, root: str, label: str) -> set[str]:
    """The first blocks of all loops that a block is in."""
    found = set()
    for tail, targets in flow.items():
        for header in targets:
            is_back = header in flow and tail not in reached(flow, root, header)
            if is_back and (label == header or tail in reached(flow, label, header)):
                if label not in reached(flow, root, header):
                    found.add(header)
    return found


def one_after_the_other(flow: Graph, root: str, one: str, other: str) -> bool:
    """Whether every way to `other` leads through `one`, every way out from `one` through `other`, and the
    same loops are around both."""
    return (
        other not in reached(flow, root, one)
        and OUT not in reached(flow, one, other)
        and loops_around(flow, root, one) == loops_around(flow, root, other)
    )


def check(found: list[Region], flow: Graph, root: str) -> None:
    assert sorted(label for region in found for label in region.blocks) == sorted(flow)
    for region in found:
        for index, one in enumerate(region.blocks):
            for other in region.blocks[index + 1 :]:
                assert one_after_the_other(flow, root, one, other)
        for one, following, gap in zip(region.blocks, region.blocks[1:], region.gaps, strict=False):
            behind = {label for target in flow[one] for label in reached(flow, target, following)}
            assert gap == behind - {OUT}
    for region in found:
        for other in found:
            if region is not other:
                assert not one_after_the_other(flow, root, region.blocks[-1], other.blocks[0])


@pytest.mark.slow
@given(functions())
@settings(max_examples=examples(60))
def test_regions_are_those_of_the_definition(function: Function) -> None:
    blocks = {block.label: block for block in function.blocks}
    flow = expected_flow(function, frozenset({"Odd"}))
    assert all(targets and {*targets} <= {*flow, OUT} for targets in flow.values())
    root = function.blocks[0].label
    if root in flow:
        part = {label: flow[label] for label in reached(flow, root) - {OUT}}
        check(regions_from(root, part, blocks, Between()), part, root)
    # Every expected block is in a region once, those of handlers included, if control reaches it at all.
    every = [label for region in regions(function, flow, Between()) for label in region.blocks]
    assert len(every) == len(set(every)) and set(every) <= flow.keys()


def test_errors_of_the_machine_are_not_expected_and_declared_ones_are_ways_out() -> None:
    function = Function(
        "f",
        "fn",
        (),
        (
            Block("a", (), Branch(0, "b", "c")),
            Block("b", (), RaiseError("Rejected", ())),
            Block("c", (), Branch(0, "d", "e")),
            Block("d", (), RaiseError("Odd", ())),
            Block("e", (), Return(0)),
        ),
    )
    flow = expected_flow(function, frozenset({"Odd"}))
    assert [region.blocks for region in regions(function, flow, Between())] == [("a", "c"), ("e",), ("d",)]
    assert regions(function, flow, Between())[0].faults == (frozenset({"b"}), frozenset())
    undeclared = expected_flow(function, frozenset())
    assert [region.blocks for region in regions(function, undeclared, Between())] == [("a", "c", "e")]


def test_at_most_so_many_blocks_are_gone_through() -> None:
    # Each of five once; "b" in the gap behind "a", "d" in that behind "c".
    blocks = (
        Block("a", (), Branch(0, "b", "c")),
        Block("b", (), Jump("c")),
        Block("c", (), Branch(0, "d", "e")),
        Block("d", (), Jump("e")),
        Block("e", (), Return(0)),
    )
    function = Function("f", "fn", (), blocks)
    flow = expected_flow(function, frozenset())
    assert regions(function, flow, Between(7))[0].gaps == (frozenset("b"), frozenset("d"), frozenset())
    with pytest.raises(TooDeep):
        regions(function, flow, Between(6))
