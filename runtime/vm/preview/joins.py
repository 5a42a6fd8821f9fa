"""Where the arms of a branch meet again, and whether the conversation can tell which of them was taken.

A condition on an unknown value does not end a preview where nothing is written in either arm: it goes on
where the arms meet, and what they store is unknown from there on. An arm that only raises or draws a hole
again is left out: a preview shows a run in which nothing fails.
"""

from __future__ import annotations

from dataclasses import dataclass

from sglc.bytecode.code import Code, Program
from sglc.bytecode.opcodes import BY_NAME, OPCODES

_JUMPS = frozenset(BY_NAME[name].number for name in ("JUMP", "JUMP_IF_FALSE", "JUMP_IF_TRUE", "NEXT"))
_JUMP, _STORE, _NEXT, _CALL, _RETURN = (
    BY_NAME[name].number for name in ("JUMP", "STORE", "NEXT", "CALL", "RETURN")
)
_FAILS = frozenset(BY_NAME[name].number for name in ("RAISE", "RERAISE", "RETRY"))
_LOUD = frozenset(
    BY_NAME[name].number
    for name in (
        *("ROLE", "END_ROLE", "LINE", "GLUE", "TEXT", "INSERT", "GEN", "SELECT"),
        *(
            "STREAM",
            "END_STREAM",
            "CALL_PART",
            "FORK",
            "ADOPT",
            "SNAPSHOT",
            "TRY",
            "END_TRY",
            "MARK",
            "FORGET",
        ),
    )
)
"""What the conversation shows, and what must not be left out: handlers and marks."""


@dataclass(frozen=True, slots=True)
class Join:
    """Where a branch's arms meet. `target` None is the function's end: each arm returns.

    `stored` are slots that an arm may write, `pushed` the items that each arm leaves on the stack. `fails`
    says that an arm was left out because it only fails.
    """

    target: int | None
    stored: frozenset[int]
    pushed: int
    fails: bool


def quiet_join(program: Program, code: Code, branch: int) -> Join | None:
    """Where the arms of the jump at instruction `branch` meet; None if what they do can be seen before.

    It is the nearest instruction that every way from the branch to the function's end passes
    (the immediate postdominator).
    """
    ways = _ways(code, branch)
    alive = _alive(code, ways)
    if branch not in alive:
        return None
    end = len(code.instructions)
    passed = _passed(ways, alive, end)
    target = max(passed[branch] - {branch}, key=lambda place: len(passed.get(place, ())), default=None)
    if target is None:
        return None
    between = _between(ways, alive, branch, target)
    if any(_is_loud(program, code, place) for place in between):
        return None
    pushed = 0 if target == end else _depth(code, ways, alive, branch, target)
    stored = frozenset(slot for place in between for slot in _stored(code, place))
    fails = any(step not in alive for place in (branch, *between) for step in ways[place])
    return Join(None if target == end else target, stored, pushed, fails)


def _ways(code: Code, start: int) -> dict[int, tuple[int, ...]]:
    """The instructions that are reached from one, with what may follow each; the end is their number."""
    end = len(code.instructions)
    ways: dict[int, tuple[int, ...]] = {end: ()}
    todo = [start]
    while todo:
        place = todo.pop()
        if place in ways:
            continue
        op, a, _ = code.instructions[place]
        if op in _FAILS:
            found: tuple[int, ...] = ()
        elif op == _RETURN:
            found = (end,)
        elif op == _JUMP:
            found = (a,)
        elif op in _JUMPS:
            found = (place + 1, a)
        else:
            found = (place + 1,)
        ways[place] = found
        todo += found
    return ways


def _alive(code: Code, ways: dict[int, tuple[int, ...]]) -> set[int]:
    """Those from which the function's end can be reached without a failure."""
    before: dict[int, list[int]] = {}
    for place, steps in ways.items():
        for step in steps:
            before.setdefault(step, []).append(place)
    alive: set[int] = set()
    todo = [len(code.instructions)]
    while todo:
        place = todo.pop()
        if place not in alive:
            alive.add(place)
            todo += before.get(place, ())
    return alive


def _passed(ways: dict[int, tuple[int, ...]], alive: set[int], end: int) -> dict[int, set[int]]:
    """Of each instruction those that every way from it to the end passes, itself among them."""
    passed = {place: set(alive) for place in alive}
    passed[end] = {end}
    changed = True
    while changed:
        changed = False
        for place in sorted(alive - {end}, reverse=True):
            behind = [passed[step] for step in ways[place] if step in alive]
            found = {place}.union(set.intersection(*behind))
            if found != passed[place]:
                passed[place] = found
                changed = True
    return passed


def _between(ways: dict[int, tuple[int, ...]], alive: set[int], branch: int, target: int) -> set[int]:
    """Instructions on ways from the branch to the target, without both."""
    found: set[int] = set()
    todo = [step for step in ways[branch] if step in alive]
    while todo:
        place = todo.pop()
        if place != target and place not in found:
            found.add(place)
            todo += [step for step in ways[place] if step in alive]
    return found


def _is_loud(program: Program, code: Code, place: int) -> bool:
    op, a, _ = code.instructions[place]
    return op in _LOUD or (op == _CALL and program.codes[a].kind != "pure")


def _stored(code: Code, place: int) -> tuple[int, ...]:
    op, a, b = code.instructions[place]
    return (a,) if op == _STORE else (b,) if op == _NEXT else ()


def _depth(code: Code, ways: dict[int, tuple[int, ...]], alive: set[int], branch: int, target: int) -> int:
    """Items on the stack at the target more than behind the branch: by the verifier the same on each way."""
    todo = [(step, 0) for step in ways[branch] if step in alive]
    seen: set[int] = set()
    while todo:
        place, depth = todo.pop()
        if place == target:
            return depth
        if place not in seen:
            seen.add(place)
            after = depth + effect(code, place)
            todo += [(step, after) for step in ways[place] if step in alive]
    raise AssertionError("a join that no way leads to")


def pops(code: Code, place: int) -> int:
    """How many items an instruction takes from the stack."""
    op, *operands = code.instructions[place]
    opcode = OPCODES[op]
    if opcode.pops is not None:
        return opcode.pops
    return operands[opcode.operands.index("count")]


def effect(code: Code, place: int) -> int:
    """How many items more an instruction leaves on the stack than it found."""
    return OPCODES[code.instructions[place].op].pushes - pops(code, place)
