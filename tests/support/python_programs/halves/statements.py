from dataclasses import dataclass

import sglc
from sglc import Rejected, Truncated


@dataclass
class Stuck(Exception):
    step: int


@sglc.sgl_function(raises=(Stuck,))
def half(s, x: int) -> int:
    s += f"Half of {x} is " + s.gen("n", type="int in 0..999") + "."
    if s["n"] * 2 != x:
        raise Stuck(x)
    return s["n"]


@sglc.sgl_function
def halves(s, x: int) -> int:
    found = x
    try:
        for _ in range(2):
            found = half(found)
        return found
    except Stuck as problem:
        return problem.step
    except (Truncated, Rejected):
        return -1
