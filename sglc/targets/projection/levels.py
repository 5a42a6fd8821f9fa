"""What a backend guarantees of each hole of a program, known before it runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from sglc.automata.dfa.operations import TooLarge
from sglc.automata.term import Language, Words
from sglc.automata.work import OutOfWork
from sglc.bytecode.code import HoleSpec, Program
from sglc.cfg.model.errors import GrammarError
from sglc.targets.projection.core.candidate import Candidate, Candidates
from sglc.targets.projection.core.capabilities import LEVELS, Capabilities, Level
from sglc.targets.projection.core.enforcement import Enforcement, Projection
from sglc.targets.projection.core.loss import Loss
from sglc.targets.projection.project import project
from sglc.targets.projection.refusals import RunOptions, refusal, sampling_losses
from sglc.targets.projection.sample_values import bound_to_samples
from sglc.types.condition import Condition, given_numbers
from sglc.types.dependent import given_types
from sglc.types.language.language import language
from sglc.types.language.narrowing import narrowed_language
from sglc.types.model_use import MAIN
from sglc.types.type import LanguageError, Type, TypeTable
from sglc.types.values import GivenError

PLAIN = RunOptions()
"""A run that changes nothing of its program."""
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
    """How one hole is asked for, at the weakest of the models that may fill it.

    carrier   what tells the backend what an answer may be; empty for nothing
    lost      what the backend does not enforce
    hints     what the program may say for a stronger level
    certain   whether the values of the run change nothing
    again     the level of an answer that is drawn again, where earlier ones are left out; None where none is
    requests  requests for an answer that needs no repair
    model     the name of the model, as `--model` has it
    sampling  what the backend does not take of how the hole is drawn; the answer is legal without
    """

    name: str
    level: Level
    carrier: str = ""
    lost: tuple[Loss, ...] = ()
    hints: tuple[str, ...] = ()
    certain: bool = True
    again: Level | None = None
    requests: int = 1
    model: str = ""
    sampling: tuple[Loss, ...] = ()

    @property
    def doing(self) -> str:
        """What is done with an answer."""
        return DOING[self.level]

    def is_below(self, level: Level) -> bool:
        """Whether less is guaranteed than `level` says."""
        return LEVELS.index(self.level) > LEVELS.index(level)


def levels_of(
    program: Program,
    models: Candidates,
    holes: Collection[int] | None = None,
    options: RunOptions = PLAIN,
) -> list[HoleLevel]:
    """The holes that models elsewhere may fill, in the order of the program, each by its name. `holes` are
    the indices of those that matter; None for all.

    Of a chain (`using a or b`, fallbacks of a project) the weakest model counts, of those that can fill the
    hole at all. What depends on values of the run is looked at with short texts in their place: at the run a
    long text or list may be too much for the backend, and the level lower (`certain` is false).
    """
    drawn_again = {retry.hole for code in program.codes for retry in code.retries}
    found: dict[str, HoleLevel] = {}
    for number, hole in enumerate(program.holes):
        if hole.name in found or (holes is not None and number not in holes):
            continue
        asked = _candidates(hole, models)
        away = [
            _level(program, hole, each, each.able, number in drawn_again, options)
            for each in asked
            if each.able is not None
        ]
        if away:
            found[hole.name] = _weakest(away, at_hand=len(away) < len(asked) and not _is_blend(hole))
    return list(found.values())


def refused_holes(
    program: Program, models: Candidates, holes: Collection[int], options: RunOptions = PLAIN
) -> list[HoleLevel]:
    """The holes among `holes` that none of their models can fill. Nothing is projected for it."""
    found: list[HoleLevel] = []
    for number in sorted(holes):
        hole = program.holes[number]
        asked = _candidates(hole, models)
        away = [
            _refused(hole, each.name, each.able, options) if each.able is not None else None for each in asked
        ]
        if away and (all(away) or (_is_blend(hole) and any(away))):
            found.append(next(each for each in away if each is not None))
    return found


def _is_blend(hole: HoleSpec) -> bool:
    return hole.models is not None and hole.models.teacher is not None


def _candidates(hole: HoleSpec, models: Candidates) -> list[Candidate]:
    """The models that a hole may be asked of."""
    views = [MAIN] if hole.models is None else [view.name for view in hole.models.views]
    return [each for view in views for each in models.get(view, ())]


def _weakest(levels: Sequence[HoleLevel], *, at_hand: bool) -> HoleLevel:
    """The level of a chain; `at_hand` says that a model of this machine stands in it. A model that cannot
    fill the hole is passed over where another one can."""
    able = [each for each in levels if each.level != "refused"]
    if not able and not at_hand:
        return levels[0]
    refused = [each for each in levels if each.level == "refused"]
    passed = tuple(
        Loss(f"{loss.construct} at {each.model}", loss.place, "the other models of its chain")
        for each in refused
        for loss in each.lost
    )
    weakest = max(able, key=lambda each: LEVELS.index(each.level), default=None)
    if weakest is None:
        return HoleLevel(refused[0].name, "exact", lost=passed)
    sampling = tuple(dict.fromkeys(loss for each in able for loss in each.sampling))
    return replace(weakest, lost=(*weakest.lost, *passed), sampling=sampling)


def _refused(hole: HoleSpec, model: str, able: Capabilities, options: RunOptions) -> HoleLevel | None:
    found = refusal(hole, able, options, f"hole {hole.name}")
    if found is None:
        return None
    loss, hint = found
    return HoleLevel(hole.name, "refused", lost=(loss,), hints=(hint,), model=model)


def _level(
    program: Program, hole: HoleSpec, who: Candidate, able: Capabilities, again: bool, options: RunOptions
) -> HoleLevel:
    place, model = f"hole {hole.name}", who.name
    refused = _refused(hole, model, able, options)
    if refused is not None:
        return refused
    sampling = sampling_losses(hole, able, place)
    asked = _asked(program, hole)
    if asked is None:
        lost = Loss("what depends on values of the run", place, "any text")
        return HoleLevel(hole.name, "asked", lost=(lost,), certain=False, model=model, sampling=sampling)
    type, texts, condition, certain = asked

    def projected(excluded: frozenset[bytes]) -> Projection:
        return project(
            type,
            texts,
            program.table,
            able,
            condition=condition,
            excluded=excluded,
            validators=bool(hole.validators),
            place=place,
        )

    key = (hole.type, frozenset[bytes](), bool(hole.validators))
    first = None if who.projections is None else who.projections.get(key)
    if first is None or hole.condition is not None or not certain:
        first = projected(frozenset())
        if who.projections is not None and certain and hole.condition is None:
            who.projections[key] = first
    return HoleLevel(
        hole.name,
        first.level,
        carrier_of(first.enforced),
        first.lost,
        first.hints,
        certain,
        projected(frozenset({b"\x01"})).level if again else None,
        model=model,
        sampling=sampling,
    )


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
