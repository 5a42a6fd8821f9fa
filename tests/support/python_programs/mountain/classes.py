"""The classes of both forms."""

from enum import StrEnum
from typing import NamedTuple

Continent = StrEnum("Continent", {name: name for name in ("Africa", "America", "Asia", "Europe", "Oceania")})


class Place(NamedTuple):
    name: str
    country: str
    continent: Continent
