"""The functions of Python and the classes of both forms."""

from dataclasses import dataclass
from enum import Enum

import sglc


class Size(Enum):
    small = "small"
    large = "large"


@dataclass
class Item:
    name: str
    size: Size


@dataclass
class SoldOut(Exception):
    item: str


ORDERS: list[Item] = []


def find(name: str, size: Size = Size.small) -> Item | None:
    """Looks an item up by its name."""
    return Item(name, size) if name != "salt" else None


@sglc.extern(effects="write", key="number", timeout=5, raises=(SoldOut,))
def order(item: Item, number: int) -> int:
    if item.name == "tea":
        raise SoldOut(item.name)
    ORDERS.append(item)
    return number
