"""The holes of a compiled program: where they stand, what they are filled with, what that depends on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sglc.automata.term import Language
from sglc.bytecode.code import HoleSpec, Place, Program
from sglc.bytecode.opcodes import OPCODES
from sglc.types.condition import given_numbers, show_condition
from sglc.types.dependent import given_types, given_values
from sglc.types.language.language import language
from sglc.types.language.narrowing import narrowed_language
from sglc.types.notation.sgl import show_type
from sglc.types.type import Str, Type

_HOLES = frozenset(op for op, code in enumerate(OPCODES) if "hole" in code.operands)
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Hole:
    """One hole. `place` is None where no instruction that is left in the program fills it."""

    spec: HoleSpec
    place: Place | None
    file: str
    written: str
    """As it stands in the source, on one line; empty where the program has no sources."""
    type: Type | None
    """None where its options are values of the run."""
    judges: tuple[str, ...] = ()
    """Functions of the program that judge the text so far."""

    @property
    def where(self) -> str:
        """`file:line:column`."""
        return f"{self.file}:{self.place.line}:{self.place.column}" if self.place is not None else "nowhere"

    @property
    def depends_on(self) -> list[str]:
        """What of it is made from values of the run, one reason each; empty if its language is known now."""
        if self.type is None:
            return ["its options are values of the run"]
        found = []
        numbers = given_values(self.type)
        if numbers:
            kinds = ", ".join(dict.fromkeys(show_type(part) for part in given_types(self.type)))
            found.append(f"its type has {kinds}, made from {_given(numbers)}")
        condition = self.spec.condition
        if condition is not None and given_numbers(condition):
            found.append(f"its condition compares with {_given(sorted(given_numbers(condition)))}")
        return found

    def language(self, program: Program) -> Language | None:
        """The texts of its value; of a condition on values of the run only the type's; None where that is
        not known before the run. Of a grammar with parameters, with a name in `‹…›` where values stand."""
        if self.type is None or any(not isinstance(part, Str) for part in given_types(self.type)):
            return None
        condition = self.spec.condition
        if condition is None or given_numbers(condition):
            return language(self.type, program.table, surface="hole")
        return narrowed_language(self.type, program.table, condition)

    def facts(self) -> Iterator[tuple[str, str]]:
        """(label, text) of what is told of it."""
        spec = self.spec
        if self.written:
            yield "written", self.written
        kind = "" if spec.mode == "gen" else f"{spec.mode} "
        yield "type", kind + ("one of a list" if self.type is None else show_type(self.type))
        if spec.condition is not None:
            yield "condition", show_condition(spec.condition)
        if spec.models is not None:
            yield "model", spec.models.shown()
        for reason in self.depends_on:
            yield "depends", reason
        if self.judges:
            yield "judged by", ", ".join(self.judges)
        ends = [*map(repr, spec.stops), *(["end of message"] if spec.end_of_message else [])]
        if ends:
            yield "ends at", ", ".join(ends)


def holes_of(program: Program) -> list[Hole]:
    """All holes in the order of the program's table."""
    places: dict[int, Place] = {}
    for code in program.codes:
        for (op, a, _), place in zip(code.instructions, code.places, strict=True):
            if op in _HOLES and (a not in places or _order(place) < _order(places[a])):
                places[a] = place
    found = []
    for index, spec in enumerate(program.holes):
        here = places.get(index)
        file = program.files[here.file] if here is not None and here.file < len(program.files) else ""
        written = ""
        if here is not None and here.file < len(program.sources):
            written = " ".join(program.sources[here.file][here.start : here.end].split())
            written = written if len(written) <= _LONGEST else written[: _LONGEST - 1] + "…"
        type_ = None if spec.type is None else program.types[spec.type]
        judges = tuple(program.codes[number].name for number in spec.validators)
        found.append(Hole(spec, here, file, written, type_, judges))
    return found


def find_holes(holes: list[Hole], name: str) -> list[Hole]:
    """Those of a name, `function.hole` or `hole`."""
    return [hole for hole in holes if name in (hole.spec.name, hole.spec.name.rpartition(".")[2])]


def _given(numbers: list[int]) -> str:
    names = ", ".join(f"given{number}" for number in numbers)
    return f"{names} (value{'' if len(numbers) == 1 else 's'} of the run)"


def _order(place: Place) -> tuple[int, int, int]:
    return place.file, place.line, place.column
