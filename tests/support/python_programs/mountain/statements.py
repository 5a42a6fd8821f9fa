import sglc
from python_programs.mountain.classes import Continent, Place
from sglc import gen


@sglc.sgl_function
def mountain(s, name: str = "Mount Fuji") -> Place:
    s += "Mountains of the world\n"
    s += "Ben Nevis stands in Scotland, which is in Europe.\n"
    s += f"{name} stands in {gen('country', min_chars=3, max_chars=20, stop=',')}, which is in "
    s += gen("continent", type=Continent) + "."
    return Place(name, s["country"], s["continent"])
