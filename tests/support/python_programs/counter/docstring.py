from typing import Annotated

import sglc
from python_programs.counter.classes import price, times  # noqa: F401


@sglc.fn
def one() -> int:
    """
    user: | How much is one tea?
    assistant with tools [price]: | ?{tea: int in 0..9999} cents.
    return tea
    """


@sglc.fn
def cost(count: Annotated[int, sglc.SglType("int in 1..9")]) -> int:
    """
    user: | How much are ${count} jam?
    assistant with tools [price, times] limit 3 calls:
        | ?{total: int in 0..9999} cents.
    return total + one()
    """
