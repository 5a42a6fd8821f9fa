"""Regions of a function: blocks of which each runs exactly as often as the others, in order.

    ^entry: … branch ^then ^done            region 1: ^entry, ^done, with ^then in the gap between them
    ^then:  … jump ^done                    region 2: ^then
    ^done:  … return

Two blocks are in one region where the first dominates the second, the second post-dominates the first, and
the same loops are around both (control equivalence; Ferrante, Ottenstein and Warren 1987). Errors are not
expected here: no edge leads from a `try` to its handler, and a block from which every way ends in an error
of the machine (`Rejected`, `Failure`) is left out. An error that the program declares is a way out of it like
a `return`. Dominators are found by the algorithm of Cooper, Harvey and Kennedy (2001).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass

from sglc.ir.module import Block, Function
from sglc.ir.shape import successors
from sglc.ir.terminators import RaiseError, Reraise, Return, Try

MOST_BETWEEN = 100_000
"""Most blocks that are gone through to find the regions of a function and of its loops: each once, once more
for each gap that it is in, and in a loop for each condition that ends a round. Two hundred conditions one in
another have as many, or ten thousand in a row. Each takes some microseconds."""

Graph = dict[str, tuple[str, ...]]
"""Blocks and the blocks that control goes to from each, errors apart. "" stands for every way out."""
OUT = ""


@dataclass(frozen=True, slots=True)
class Region:
    """`gaps[i]` are the blocks that may run between `blocks[i]` and the next, or behind the last of them
    before its loop begins anew, without those that only errors lead to. `faults[i]` are those, as far as
    errors in block i and in its gap lead to them."""

    blocks: tuple[str, ...]
    gaps: tuple[frozenset[str], ...]
    faults: tuple[frozenset[str], ...]


class TooDeep(Exception):
    """A function has conditions so deep in each other that MOST_BETWEEN is passed."""


class Between:
    """Counts the blocks that are gone through for one function."""

    def __init__(self, left: int = MOST_BETWEEN) -> None:
        self.left = left

    def count(self, blocks: int) -> None:
        """Raises TooDeep where the bound is passed."""
        self.left -= blocks
        if self.left < 0:
            raise TooDeep


def expected_flow(function: Function, declared: frozenset[str]) -> Graph:
    """Control flow without errors. `declared` are the errors that the program itself declares.

    Blocks are left out from which no way leads out, and so are the edges to them.
    """
    flow: Graph = {}
    for block in function.blocks:
        match block.end:
            case Return() | Reraise():
                flow[block.label] = (OUT,)
            case RaiseError(name=name):
                flow[block.label] = (OUT,) if name in declared else ()
            case Try(body=body):
                flow[block.label] = (body,)
            case end:
                flow[block.label] = tuple(dict.fromkeys(successors(end)))
    return leading_out(flow)


def leading_out(flow: Graph) -> Graph:
    """The graph without the blocks from which no way leads out."""
    before = _reversed(flow)
    good = {OUT}
    work = [OUT]
    while work:
        for label in before.get(work.pop(), ()):
            if label not in good:
                good.add(label)
                work.append(label)
    return {
        label: tuple(target for target in targets if target in good)
        for label, targets in flow.items()
        if label in good
    }


def _reversed(flow: Graph) -> dict[str, list[str]]:
    before: dict[str, list[str]] = {}
    for label, targets in flow.items():
        for target in targets:
            before.setdefault(target, []).append(label)
    return before


def regions(function: Function, flow: Graph, between: Between) -> list[Region]:
    """The regions of a function: first those of its normal course, then those of each handler.

    Raises TooDeep.
    """
    blocks = {block.label: block for block in function.blocks}
    roots = [function.blocks[0].label]
    roots += [block.end.handler for block in function.blocks if isinstance(block.end, Try)]
    found: list[Region] = []
    taken: set[str] = set()
    for root in roots:
        if root in flow and root not in taken:
            part = _reachable(flow, root, taken)
            found += regions_from(root, part, blocks, between, taken)
            taken |= part.keys()
    return found


def _reachable(flow: Graph, root: str, without: Container[str]) -> Graph:
    """The graph behind a block. Blocks that are without count as ways out."""
    part: Graph = {}
    work = [root]
    while work:
        label = work.pop()
        if label not in part:
            targets = [OUT if target in without else target for target in flow[label]]
            part[label] = tuple(dict.fromkeys(targets))
            work += [target for target in part[label] if target != OUT]
    return part


def regions_from(
    root: str,
    flow: Graph,
    blocks: Mapping[str, Block],
    between: Between,
    without: Container[str] = (),
    only_first: bool = False,
) -> list[Region]:
    """The regions of a graph all of whose blocks control reaches from `root`, which is in the first of them;
    the graph ends before the blocks that are without. Raises TooDeep."""
    between.count(len(flow))
    above = dominators(root, flow)
    behind = dominators(OUT, {label: tuple(ones) for label, ones in _reversed(flow).items()})
    tree, places = _tree_places(above), _tree_places(behind)
    bodies = _loop_bodies(flow, tree)
    loops: dict[str, str] = {}
    """The first block of the innermost loop around each block that is in one."""
    for header, loop in sorted(bodies.items(), key=lambda item: -len(item[1])):
        loops.update(dict.fromkeys(loop, header))
    previous: dict[str, str] = {}
    """The block before each in its region."""
    for label in above:
        other = above[label]
        while other is not None and _is_above(places, label, other):
            if loops.get(other) == loops.get(label):
                previous[label] = other
                break
            other = above[other]
    following = {one: label for label, one in previous.items()}
    found = []
    for label in [root] if only_first else above:
        if label in previous:
            continue
        chain = [label]
        while chain[-1] in following:
            chain.append(following[chain[-1]])
        gaps = [_between(flow, one, between, {following[one]}.__contains__) for one in chain[:-1]]
        last = chain[-1]
        inside = bodies.get(loops.get(last, OUT), flow.keys())

        def is_elsewhere(one: str, last: str = last, inside: Container[str] = inside) -> bool:
            return one == last or one not in inside or not _is_above(tree, last, one)

        gaps.append(_between(flow, last, between, is_elsewhere))
        faults = [_faults({one, *gap}, flow, blocks, without) for one, gap in zip(chain, gaps, strict=True)]
        found.append(Region(tuple(chain), tuple(gaps), tuple(faults)))
    return found


def _between(flow: Graph, label: str, between: Between, is_end: Callable[[str], bool]) -> frozenset[str]:
    """The blocks behind one, up to where control leaves or comes to an end."""
    found: set[str] = set()
    work = list(flow[label])
    while work:
        here = work.pop()
        if here != OUT and here not in found and not is_end(here):
            found.add(here)
            between.count(1)
            work += flow[here]
    return frozenset(found)


def _faults(
    from_: set[str], flow: Graph, blocks: Mapping[str, Block], without: Container[str]
) -> frozenset[str]:
    """Blocks outside of the graph that errors in some blocks lead to."""
    found: set[str] = set()
    work = [target for label in from_ for target in successors(blocks[label].end)]
    while work:
        label = work.pop()
        if label not in flow and label not in without and label not in found:
            found.add(label)
            work += successors(blocks[label].end)
    return frozenset(found)


def dominators(root: str, flow: Mapping[str, tuple[str, ...]]) -> dict[str, str | None]:
    """The immediate dominator of each block that control reaches from `root`, in reverse postorder."""
    order: list[str] = []
    seen = {root}
    work = [(root, iter(flow.get(root, ())))]
    while work:
        label, targets = work[-1]
        for target in targets:
            if target not in seen and (target != OUT or root == OUT):
                seen.add(target)
                work.append((target, iter(flow.get(target, ()))))
                break
        else:
            order.append(label)
            work.pop()
    order.reverse()
    number = {label: index for index, label in enumerate(order)}
    before: dict[str, list[str]] = {label: [] for label in order}
    for label in order:
        for target in flow.get(label, ()):
            if target in number:
                before[target].append(label)
    above: dict[str, str | None] = {root: None}
    changed = True
    while changed:
        changed = False
        for label in order[1:]:
            new: str | None = None
            for other in before[label]:
                if other in above:
                    new = other if new is None else _common(above, number, new, other)
            if above.get(label, OUT) != new or label not in above:
                above[label], changed = new, True
    return {label: above[label] for label in order}


def _common(above: dict[str, str | None], number: dict[str, int], one: str, other: str) -> str:
    while one != other:
        while number[one] > number[other]:
            one = above[one]  # type: ignore[assignment]
        while number[other] > number[one]:
            other = above[other]  # type: ignore[assignment]
    return one


def _tree_places(above: dict[str, str | None]) -> dict[str, tuple[int, int]]:
    """For each block of a dominator tree, its number in preorder and the last number below it."""
    below: dict[str, list[str]] = {}
    root = next(iter(above))
    for label, one in above.items():
        if one is not None:
            below.setdefault(one, []).append(label)
    places: dict[str, tuple[int, int]] = {}
    count = 0
    work: list[tuple[str, bool]] = [(root, False)]
    while work:
        label, leaving = work.pop()
        if leaving:
            places[label] = (places[label][0], count - 1)
            continue
        places[label] = (count, 0)
        count += 1
        work.append((label, True))
        work += [(one, False) for one in below.get(label, ())]
    return places


def _is_above(places: dict[str, tuple[int, int]], label: str, other: str) -> bool:
    """Whether `label` is above `other` in the tree."""
    first, last = places[label]
    return first <= places[other][0] <= last


def _loop_bodies(flow: Graph, tree: dict[str, tuple[int, int]]) -> dict[str, set[str]]:
    """The blocks of each loop, by its first block. `tree` are the places in the tree of dominators."""
    before = _reversed(flow)
    bodies: dict[str, set[str]] = {}
    for label, targets in flow.items():
        for header in targets:
            if header == OUT or not _is_above(tree, header, label):
                continue
            body = bodies.setdefault(header, {header})
            work = [label]
            while work:
                here = work.pop()
                if here not in body:
                    body.add(here)
                    work += before[here]
    return bodies
