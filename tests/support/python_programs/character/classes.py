"""The classes of both forms."""

from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

COUNTRIES = "Brazil Canada Egypt France Greece India Ireland Japan Kenya"
Country = StrEnum("Country", {name: name for name in COUNTRIES.split()})


class Post(StrEnum):
    engineer = "engineer"
    pilot = "pilot"
    medic = "medic"
    biologist = "biologist"


class Craft(StrEnum):
    navigation = "navigation"
    repairs = "repairs"
    radio = "radio"
    carpentry = "carpentry"


class Talent(StrEnum):
    cooking = "cooking"
    singing = "singing"
    climbing = "climbing"
    chess = "chess"


class Crew(BaseModel):
    """One crew member."""

    model_config = ConfigDict(regex_engine="python-re")
    home: Country = Field(description="where they come from")
    name: str = Field(pattern="^(?!The )[A-Z][a-z]{2,8} [A-Z][a-z]{2,9}$", description="first and last name")
    post: Post = Field(description="job on board")
    age: int = Field(ge=18, le=70)
    skills: tuple[Craft, Talent]
    motto: str = Field(min_length=10, max_length=90)


@dataclass
class Shown:
    theme: str
    member: Crew


MAEVE = Crew(
    home=Country.Ireland,
    name="Maeve Brennan",
    post=Post.pilot,
    age=41,
    skills=(Craft.navigation, Talent.singing),
    motto="Keep warm, keep calm, keep going.",
)
DANIEL = Crew(
    home=Country.Kenya,
    name="Daniel Okafor",
    post=Post.biologist,
    age=29,
    skills=(Craft.repairs, Talent.cooking),
    motto="Every leaf up here is a small victory.",
)
SHOWN = [Shown("a ship in the ice", MAEVE), Shown("a farm on the moon", DANIEL)]
