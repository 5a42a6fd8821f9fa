"""Branches of a fork run side by side: what a run says of them comes in the order of the branches."""

from __future__ import annotations

import pytest

from fakes.hashed_engine import HashedEngine
from outcomes import compiled
from seen import seen

CHECKED = """\
fn asked(n: int) -> int:
    user: | Number ${n}.
    assistant:
        | ?{a: int in 0..99}
        check a < 0 else "${n}"
    return a

pub fn main(n: int) -> int:
    let outer = fork i in 0..<3 or skip:
        let before = asked(i * 10)
        let inner = fork j in 1..2:
            yield asked(i * 10 + j)
        yield inner[0].value + asked(i * 10 + 3)
    return len(outer)
"""


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("delays", [0, 1, 2])
def test_checks_of_branches_come_in_the_order_of_the_branches(level: int, delays: int) -> None:
    result = seen(compiled(CHECKED, level), {"n": 1}, HashedEngine(seed=3, delays=delays))
    assert [check.reason for check in result.checks] == [str(i * 10 + k) for i in range(3) for k in range(4)]  # type: ignore[attr-defined]


FAILING = """\
fn asked(n: int) -> int:
    user: | Number ${n}.
    assistant:
        | ?{a: int in 0..99}
        check a < 0 else "${n}"
    return a

pub fn main(n: int) -> int:
    let tries = fork i in 0..<3 or skip:
        let a = asked(i)
        let xs = [1, 2]
        let b = xs[i]
        yield a + asked(i + 10) + b
    return len(tries)
"""


def test_checks_of_a_branch_that_failed_stay() -> None:
    result = seen(compiled(FAILING, 2), {"n": 1}, HashedEngine(seed=3, delays=2))
    assert [check.reason for check in result.checks] == ["0", "10", "1", "11", "2"]  # type: ignore[attr-defined]
