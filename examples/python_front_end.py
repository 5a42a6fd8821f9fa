"""A program as Python functions: translated to SGL from their source, compiled, and never run by Python.

`python examples/python_front_end.py` runs it on the small model.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import sglc


class Post(StrEnum):
    engineer = "engineer"
    pilot = "pilot"
    medic = "medic"


@dataclass(frozen=True)
class Crew:
    """One crew member."""

    name: Annotated[str, sglc.SglType("str matching /[A-Z][a-z]{2,8} [A-Z][a-z]{2,9}/")]
    post: Post
    age: Annotated[int, sglc.SglType("int in 18..70")]


SHOWN = [Crew("Maeve Brennan", Post.pilot, 41), Crew("Daniel Okafor", Post.medic, 29)]


@sglc.fn(within=100)
def crew(theme: str) -> Crew:
    """
    system:
        | You invent crew members. Answer with one object shaped like this:
        | ${schema(Crew)}
    for shown in SHOWN:
        user: | Invent one.
        assistant: | ${shown}
    user: | Invent one for ${theme}.
    assistant: | ?{member: Crew temp 0.8}
    return member
    """


@sglc.sgl_function
def character(s: sglc.State, name: str) -> list[str]:
    """A character in one line and three traits."""
    s += "The old sailor Tom is 61 years old.\nHe sleeps late.\nHe sings badly.\nHe hates soup.\n"
    s += f"The young pilot {name} is " + s.gen("age", type="int in 18..40") + " years old.\n"
    for i in range(3):
        s += "He " + s.gen(f"trait_{i}", regex="[a-z]{3,9}( [a-z]{2,9}){1,3}", temperature=0.7) + ".\n"
    s.check(s["age"] < 30, "not so young")
    return s["trait"]


if __name__ == "__main__":
    print(crew("a lighthouse at the end of the world"))
    run = sglc.execute(character, "Ben", profile_tokens=True)
    print(run["age"], run.value, len(run.tokens), "tokens")
