import sglc
from python_programs.shop.classes import Size, SoldOut, find, order


@sglc.sgl_function
def buy(s, name: str, number: int = 3) -> str:
    item = find(name, size=Size.large)
    if item is None:
        return "none"
    try:
        return f"order {order(sglc.trust(item), number)}"
    except SoldOut as problem:
        return f"no {problem.item}"
