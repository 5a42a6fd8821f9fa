"""Grammar expressions made of each other, and of automata: what targets print a hole's language with.

The expressions are those of `sglc.cfg.model.grammar`, without terminals: every character stands for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from sglc.automata.charset import Ranges
from sglc.cfg.model import grammar as g


def sequence(*items: g.Expression) -> g.Expression:
    """One after the other; sequences inside are opened, neighbouring texts joined."""
    found: list[g.Expression] = []
    for item in items:
        for part in item.items if isinstance(item, g.Sequence) else (item,):
            last = found[-1] if found else None
            if isinstance(part, g.Literal) and isinstance(last, g.Literal):
                found[-1] = g.Literal(last.text + part.text)
            elif part != g.Literal(""):
                found.append(part)
    return found[0] if len(found) == 1 else g.Sequence(tuple(found))


def choice(*arms: g.Expression) -> g.Expression:
    """One of them; choices inside are opened, single characters are one class, an empty arm is an option."""
    points: list[tuple[int, int]] = []
    found: dict[g.Expression, None] = {}
    empty = False
    for arm in arms:
        for part in arm.arms if isinstance(arm, g.Alternatives) else (arm,):
            if isinstance(part, g.Characters):
                points += part.points
            elif isinstance(part, g.Literal) and len(part.text) == 1:
                points.append((ord(part.text), ord(part.text)))
            elif part == g.EMPTY:
                empty = True
            else:
                found[part] = None
    parts = list(found)
    if points:
        parts.append(characters(tuple(points)))
    one = parts[0] if len(parts) == 1 else g.Alternatives(tuple(parts))
    if not empty:
        return one
    return repeat(one, 0, 1) if parts else g.EMPTY


def characters(points: Ranges) -> g.Expression:
    """One character of a set, which may be given in any order."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(points):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(high, joined[-1][1])
        else:
            joined.append((low, high))
    if len(joined) == 1 and joined[0][0] == joined[0][1]:
        return g.Literal(chr(joined[0][0]))
    return g.Characters(tuple(joined))


def repeat(item: g.Expression, minimum: int, maximum: int | None) -> g.Expression:
    """`minimum` to `maximum` times."""
    if maximum == 0 or item == g.EMPTY:
        return g.EMPTY
    if (minimum, maximum) == (1, 1):
        return item
    if isinstance(item, g.Repeat) and (minimum, maximum) == (0, 1) and item.minimum <= 1:
        return g.Repeat(item.item, 0, item.maximum)
    if isinstance(item, g.Repeat) and (item.minimum, item.maximum) == (0, 1) and minimum == 0:
        return repeat(item.item, 0, maximum)
    return g.Repeat(item, minimum, maximum)


def size(item: g.Expression) -> int:
    """Parts that an expression has, itself included."""
    match item:
        case g.Sequence(parts) | g.Alternatives(parts):
            return 1 + sum(map(size, parts))
        case g.Repeat(inner):
            return 1 + size(inner)
    return 1


def rules_of(
    rows: Sequence[Sequence[tuple[Ranges, int]]],
    accepting: Collection[int],
    name: str,
    written: Callable[[Ranges], g.Expression],
) -> dict[str, g.Expression]:
    """An automaton as rules, one a state, the first for state 0.

    `rows` has for each state its edges as (characters, target); it need not be deterministic. `written` says
    how a character of a set is written.
    """

    def rule(state: int) -> str:
        return f"{name}.{state}"

    def onward(state: int) -> g.Expression:
        known = counted.get(state)
        if known is None:
            return g.Reference(rule(state))
        points, low, high = known
        return repeat(written(points), low, high) if points else g.EMPTY

    counted = counted_states(rows, accepting)
    found: dict[str, g.Expression] = {}
    for state, row in enumerate(rows):
        if state and state in counted:
            continue
        arms = [sequence(written(points), onward(target)) for points, target in row]
        if state in accepting:
            arms.append(g.EMPTY)
        found[rule(state)] = choice(*arms)
    return found


def counted_states(
    rows: Sequence[Sequence[tuple[Ranges, int]]], accepting: Collection[int]
) -> dict[int, tuple[Ranges, int, int | None]]:
    """States behind which stands a count of characters of one set: (the set, fewest, most).

    Behind a state without edges stands nothing, which is no character of no set.
    """
    found: dict[int, tuple[Ranges, int, int | None]] = {}
    seen: set[int] = set()
    for start in range(len(rows)):
        path, state = [], start
        while state not in seen and len(rows[state]) == 1:
            seen.add(state)
            path.append(state)
            state = rows[state][0][1]
        if state not in seen:
            seen.add(state)
            if not rows[state]:
                found[state] = ((), 0, 0)
        for here in reversed(path):
            if (made := _counted(here, rows[here][0], found, here in accepting)) is not None:
                found[here] = made
    return found


def _counted(
    state: int, edge: tuple[Ranges, int], found: dict[int, tuple[Ranges, int, int | None]], accepting: bool
) -> tuple[Ranges, int, int | None] | None:
    points, target = edge
    if target == state:
        return (points, 0, None) if accepting else None
    behind, low, high = found.get(target, ((), -1, None))
    if low < 0 or (behind and behind != points) or (accepting and low):
        return None
    return points, 0 if accepting else low + 1, None if high is None else high + 1
