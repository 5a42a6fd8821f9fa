"""The classes of both forms."""

from dataclasses import dataclass
from enum import Enum
from typing import Annotated

from pydantic import Field

from sglc import SglType


class Plan(Enum):
    FREE = "free"
    PRO = "pro"
    TEAM = "team"


@dataclass(frozen=True)
class Address:
    city: Annotated[str, Field(pattern=r"^[A-Z][a-z]{1,14}( [A-Z][a-z]{1,14})?$")]
    country: Annotated[str, Field(pattern=r"^[A-Z][a-z]{3,14}( [A-Z][a-z]{3,14})?$")]


Interest = Annotated[str, Field(pattern=r"^[a-z]{3,12}( [a-z]{2,12}){0,2}$")]


@dataclass(frozen=True)
class Profile:
    """A user of a small web shop."""

    username: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{2,14}$")]
    contact: Annotated[str, SglType("email max 30 chars")]
    age: Annotated[int, Field(ge=13, le=120)]
    verified: bool
    plan: Plan
    address: Address
    interests: Annotated[list[Interest], Field(min_length=1, max_length=3)]


JONAS = Profile(
    "jonas_b",
    "jonas@bergen.example",
    52,
    True,
    Plan.FREE,
    Address("Bergen", "Norway"),
    ["old maps", "long walks"],
)
