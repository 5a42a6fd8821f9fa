import sglc
from python_programs.mountain.classes import Continent, Place  # noqa: F401


@sglc.fn
def mountain(name: str = "Mount Fuji") -> Place:
    """| Mountains of the world
    | Ben Nevis stands in Scotland, which is in Europe.
    | ${name} stands in ?{country: str min 3 chars max 20 chars until ","}, which is in ?{continent: Continent}.
    return Place(name, country, continent)"""  # noqa: E501
