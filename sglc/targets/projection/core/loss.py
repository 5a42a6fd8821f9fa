"""What a notation cannot say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that a target cannot say.

    `construct` is the part of the language, as a noun (`a grammar`, `matching with (?i)`). `place` names the
    declaration and what is in it (`Crew.name`, `hole crew.member`). `instead` says what the text has in its
    place; it is empty where no wider text exists, and then the construct is refused in any case.
    """

    construct: str
    place: str
    instead: str = ""
