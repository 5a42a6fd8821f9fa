from dataclasses import dataclass

import sglc


@dataclass
class Stuck(Exception):
    step: int


@sglc.fn(raises=(Stuck,))
def half(x: int) -> int:
    """| Half of ${x} is ?{n: int in 0..999}.
    if n * 2 != x: raise Stuck(x)
    return n
    """


@sglc.fn
def halves(x: int) -> int:
    """
    var found = x
    try:
        for _ in 0..<2:
            found = half(found)
        return found
    except Stuck as problem:
        return problem.step
    except Truncated, Rejected:
        return -1
    """
