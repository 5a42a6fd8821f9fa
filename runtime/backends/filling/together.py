"""Several holes of one message by one request.

The message is shown as a text with gaps. The answer is an object with a field for each gap.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from sglc.runtime.decoding.filling.filler import FillRequest
from sglc.targets.projection.core.capabilities import LEVELS, Capabilities, Level
from sglc.targets.projection.core.enforcement import Projection
from sglc.targets.projection.project import project
from sglc.types.language.language import language
from sglc.types.language.membership import MemberError
from sglc.types.text.plain_json import from_json, parse_json
from sglc.types.text.printer import print_value
from sglc.types.text.scalar_printer import PrintError
from sglc.types.type import FieldType, LanguageError, Named, RecordType, Type, TypeTable

_NAME = "Gaps"
_KEY = re.compile(r'\{\s*("(?:[^"\\]|\\.)*")\s*:\s*')
"""The beginning of an object, and its first key."""
_STRING = re.compile(r'"(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\["\\/bfnrt])*')
"""A string of JSON as far as its characters are whole."""


class Gaps:
    """The gaps of a message: the hole that is asked for and those that follow it."""

    def __init__(self, asked: FillRequest) -> None:
        assert asked.type is not None
        types: list[Type] = [asked.type, *(each.type for each in asked.following)]
        names = _distinct([asked.request.name, *(each.request.name for each in asked.following)])
        self._texts = ["", *(each.between for each in asked.following)]
        self._fields = tuple(FieldType(name, type) for name, type in zip(names, types, strict=True))
        name = _NAME
        while name in asked.table:
            name += "_"
        self._type = Named(name)
        self._table: TypeTable = {**asked.table, name: RecordType(name, self._fields)}
        keys = (asked.request.key, *(each.request.key for each in asked.following))
        self.key = ("gaps", tuple(names), keys)
        """What the projection depends on."""

    def projection(self, capabilities: Capabilities) -> Projection:
        """How the object is asked for."""
        try:
            legal = language(self._type, self._table, surface="hole")
        except LanguageError:
            return Projection("refused")
        return project(self._type, legal, self._table, capabilities)

    def shown(self, begun: str) -> str:
        """What the last turn says of the message, of which `begun` stands there already."""
        parts = [begun]
        for text, field in zip(self._texts, self._fields, strict=True):
            parts += [text, "{" + field.name + "}"]
        return (
            "Your message is the text below, where names in braces stand for what you write. Answer with an "
            f"object that has each of them as a field.\n{''.join(parts)}"
        )

    def texts(self, answer: str, projection: Projection) -> list[str]:
        """The texts of the gaps in an answer, in their order; fewer where it is no such object."""
        try:
            data = parse_json(answer[answer.index("{") : answer.rindex("}") + 1])
        except (ValueError, MemberError):
            return []
        if projection.enforced is not None and projection.enforced.reading == "wrapped":
            data = data.get("value") if isinstance(data, dict) else None
        found: list[str] = []
        for field in self._fields:
            text = self._printed(data.get(field.name) if isinstance(data, dict) else None, field.type)
            if text is None:
                break
            found.append(text)
        return found

    def begun(self, answer: str, projection: Projection) -> str:
        """What an answer that broke off has of the first gap, as a text that the matcher of its hole may go
        beyond: what a string says, or the JSON of another value up to where it broke off."""
        at = answer.find("{")
        if projection.enforced is not None and projection.enforced.reading == "wrapped":
            at = answer.find("{", at + 1)
        key = _KEY.match(answer, at) if at >= 0 else None
        if key is None or key[1] != json.dumps(self._fields[0].name, ensure_ascii=False):
            return ""
        rest = answer[key.end() :]
        string = _STRING.match(rest)
        return rest if string is None else str(json.loads(string[0] + '"', strict=False))

    def _printed(self, data: object, type: Type) -> str | None:
        try:
            value = from_json(data, type, self._table)  # type: ignore[arg-type]
            return print_value(value, type, self._table)
        except (MemberError, PrintError):
            return None


def is_worth(together: Level, alone: Sequence[Level]) -> bool:
    """Whether holes that are asked for together are guaranteed as much as each by itself. `exact` and `value`
    are alike: of both every answer is a value."""
    value = LEVELS.index("value")
    strongest = min(max(value, LEVELS.index(level)) for level in alone)
    return together != "refused" and LEVELS.index(together) <= strongest


def _distinct(holes: Sequence[str]) -> list[str]:
    """Short names of holes, all different."""
    found: list[str] = []
    for hole in holes:
        name = short = hole.rpartition(".")[2]
        number = 2
        while name in found:
            name, number = f"{short}_{number}", number + 1
        found.append(name)
    return found
