import sglc
from python_programs.shop.classes import Size, SoldOut, find, order  # noqa: F401


@sglc.fn
def buy(name: str, number: int = 3) -> str:
    """
    let item = find(name, size = Size.large)
    if item == null: return "none"
    try:
        return "order ${order(trust(item), number)}"
    except SoldOut as problem:
        return "no ${problem.item}"
    """
