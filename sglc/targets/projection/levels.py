"""What a backend guarantees of each hole of a program, known before it runs."""

from __future__ import annotations

from dataclasses import dataclass

from sglc.automata.dfa.operations import TooLarge
from sglc.automata.term import Language, Words
from sglc.automata.work import OutOfWork
from sglc.bytecode.code import HoleSpec, Program
from sglc.cfg.model.errors import GrammarError
from sglc.targets.projection.core.capabilities import LEVELS, Capabilities, Level
from sglc.targets.projection.core.enforcement import Enforcement, Projection
from sglc.targets.projection.core.loss import Loss
from sglc.targets.projection.project import project
from sglc.targets.projection.sample_values import bound_to_samples
from sglc.types.condition import Condition, given_numbers
from sglc.types.dependent import given_types
from sglc.types.language.language import language
from sglc.types.language.narrowing import narrowed_language
from sglc.types.model_use import MAIN
from sglc.types.type import LanguageError, Type, TypeTable
from sglc.types.values import GivenError

DOING: dict[Level, str] = {
    "exact": "taken as it is",
    "value": "written again in the one spelling",
    "wider": "checked, and repaired where it is wrong",
    "asked": "asked for in the prompt, checked, and repaired where it is wrong",
    "refused": "not asked: the run is refused",
}
"""By level what is done with an answer."""
_NOTATIONS = {
    "gbnf": "a grammar (GBNF)",
    "lark": "a grammar (Lark)",
    "regex": "a pattern",
    "json_schema": "a JSON Schema",
    "choice": "a list of options",
}


@dataclass(frozen=True, slots=True)
class HoleLevel:
    """How one hole is asked for.

    carrier   what tells the backend what an answer may be; empty for nothing
    lost      what the backend does not enforce
    hints     what the program may say for a stronger level
    certain   whether the values of the run change nothing
    again     the level of an answer that is drawn again, where earlier ones are left out; None where none is
    requests  requests for an answer that needs no repair
    """

    name: str
    level: Level
    carrier: str = ""
    lost: tuple[Loss, ...] = ()
    hints: tuple[str, ...] = ()
    certain: bool = True
    again: Level | None = None
    requests: int = 1

    @property
    def doing(self) -> str:
        """What is done with an answer."""
        return DOING[self.level]

    def is_below(self, level: Level) -> bool:
        """Whether less is guaranteed than `level` says."""
        return LEVELS.index(self.level) > LEVELS.index(level)


def levels_of(program: Program, capabilities: Capabilities, model: str = MAIN) -> list[HoleLevel]:
    """The holes that a model fills, in the order of the program, each by its name.

    What depends on values of the run is looked at with short texts in their place: at the run a long text or
    list may be too much for the backend, and the level lower (`certain` is false).
    """
    drawn_again = {retry.hole for code in program.codes for retry in code.retries}
    found: dict[str, HoleLevel] = {}
    for number, hole in enumerate(program.holes):
        views = [MAIN] if hole.models is None else [view.name for view in hole.models.views]
        if model in views and hole.name not in found:
            found[hole.name] = _level(program, hole, capabilities, number in drawn_again)
    return list(found.values())


def _level(program: Program, hole: HoleSpec, capabilities: Capabilities, again: bool) -> HoleLevel:
    place = f"hole {hole.name}"
    refused = _refused(hole, capabilities, place)
    if refused is not None:
        loss, hint = refused
        return HoleLevel(hole.name, "refused", lost=(loss,), hints=(hint,))
    asked = _asked(program, hole)
    if asked is None:
        lost = Loss("what depends on values of the run", place, "any text")
        return HoleLevel(hole.name, "asked", lost=(lost,), certain=False)
    type, texts, condition, certain = asked

    def projected(excluded: frozenset[bytes]) -> Projection:
        return project(
            type,
            texts,
            program.table,
            capabilities,
            condition=condition,
            excluded=excluded,
            validators=bool(hole.validators),
            place=place,
        )

    first = projected(frozenset())
    return HoleLevel(
        hole.name,
        first.level,
        carrier_of(first.enforced),
        first.lost,
        first.hints,
        certain,
        projected(frozenset({b"\x01"})).level if again else None,
    )


def _refused(hole: HoleSpec, capabilities: Capabilities, place: str) -> tuple[Loss, str] | None:
    """Why a hole cannot be filled there at all, and what to write in its place."""
    if hole.models is not None and hole.models.teacher is not None:
        return Loss("a blend of two models", place), "one model (`using NAME`)"
    if hole.decoding is not None and hole.decoding.strategy != "local":
        return Loss(f"`decode {hole.decoding}`", place), "a model of your own, which sees all probabilities"
    scored = hole.mode == "select" and hole.by != "greedy"
    if (scored or (hole.told and hole.mode != "gen")) and not capabilities.scores:
        return Loss("the scores of options", place), "`choose`, or a model that scores texts"
    return None


def _asked(program: Program, hole: HoleSpec) -> tuple[Type | None, Language, Condition | None, bool] | None:
    """The type of a hole, its texts, its condition, and whether they are those of every run."""
    if hole.type is None:
        return None, Language(Words(frozenset({b"a", b"b"}))), None, False
    type, certain = program.types[hole.type], True
    if given_types(type):
        bound = bound_to_samples(type)
        if bound is None:
            return None
        type, certain = bound, False
    condition = hole.condition
    if condition is not None and given_numbers(condition):
        condition, certain = None, False
    try:
        return type, _texts(type, program.table, condition), condition, certain
    except (LanguageError, GivenError, TooLarge, OutOfWork, GrammarError):
        return None


def _texts(type: Type, table: TypeTable, condition: Condition | None) -> Language:
    if condition is None:
        return language(type, table)
    return narrowed_language(type, table, condition)


def carrier_of(enforced: Enforcement | None) -> str:
    """What tells a backend what an answer may be, in words."""
    if enforced is None:
        return ""
    found = _NOTATIONS[enforced.notation]
    return f"{found}, around the value" if enforced.reading == "wrapped" else found
