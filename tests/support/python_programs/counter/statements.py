from typing import Annotated

import sglc
from python_programs.counter.classes import price, times

TOOLS = [price]


@sglc.sgl_function
def one(s: sglc.State) -> int:
    s += s.user("How much is one tea?")
    s += s.assistant(s.gen("tea", type="int in 0..9999") + " cents.", tools=TOOLS)
    return s["tea"]


@sglc.sgl_function
def cost(s: sglc.State, count: Annotated[int, sglc.SglType("int in 1..9")]) -> int:
    s += s.user(f"How much are {count} jam?")
    with s.assistant(tools=[price, times], limit=3):
        s += s.gen("total", type="int in 0..9999") + " cents."
    return s["total"] + one()
