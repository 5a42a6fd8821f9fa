"""The classes of both forms."""

from dataclasses import dataclass

COURSES = 3


@dataclass
class Dish:
    name: str
    minutes: int
