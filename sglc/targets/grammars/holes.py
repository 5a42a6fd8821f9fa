"""The holes of a program and their languages, as far as they are known before the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sglc.automata.dfa.operations import TooLarge
from sglc.automata.term import Language
from sglc.automata.work import OutOfWork
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.grammar import Grammar
from sglc.ir.module import HoleInfo
from sglc.targets.core.places import PROGRAM
from sglc.targets.core.target import Subject, Written
from sglc.targets.projection.core.loss import Loss
from sglc.targets.projection.grammars.term_grammar import Refused, TermGrammar
from sglc.types.condition import given_numbers
from sglc.types.dependent import given_types, given_values
from sglc.types.language.language import language
from sglc.types.language.narrowing import narrowed_language
from sglc.types.language.predicates import predicates_of
from sglc.types.notation.sgl import show_type
from sglc.types.type import LanguageError
from sglc.types.values import GivenError


@dataclass(frozen=True, slots=True)
class HoleLanguage:
    """A hole with the texts of its value. `language` is None where only `losses` tell of it."""

    name: str
    language: Language | None
    losses: tuple[Loss, ...] = ()

    @property
    def place(self) -> str:
        """As losses name it."""
        return f"hole {self.name}"


def holes_of(subject: Subject) -> Iterator[HoleLanguage]:
    """All holes in the order of the program, or the one that the subject asks for."""
    for hole in subject.module.holes:
        if subject.hole in ("", hole.name, hole.name.rpartition(".")[2]):
            yield _of_hole(hole, subject)


def _of_hole(hole: HoleInfo, subject: Subject) -> HoleLanguage:
    place = f"hole {hole.name}"
    if hole.type is None:
        return HoleLanguage(hole.name, None, (Loss("options that are values of the run", place),))
    if given_values(hole.type):
        kinds = ", ".join(dict.fromkeys(show_type(part) for part in given_types(hole.type)))
        return HoleLanguage(hole.name, None, (Loss(f"what depends on values of the run ({kinds})", place),))
    losses = []
    condition = hole.condition
    if condition is not None and given_numbers(condition):
        losses.append(Loss("a condition on values of the run", place, "every value of the type"))
        condition = None
    if hole.validators:
        losses.append(Loss("a validator", place, "every value of the type"))
    table = subject.checked.table
    for predicate in predicates_of(hole.type, table):
        losses.append(Loss(f"the condition `{predicate.text}`", place, "every value of the type"))
    try:
        if condition is None:
            found = language(hole.type, table, surface="hole")
        else:
            found = narrowed_language(hole.type, table, condition)
    except (LanguageError, GivenError, TooLarge, OutOfWork) as fault:
        return HoleLanguage(hole.name, None, (*losses, Loss(f"this type ({fault})", place)))
    return HoleLanguage(hole.name, found, tuple(losses))


def in_grammar(hole: HoleLanguage) -> tuple[TermGrammar | None, tuple[Loss, ...]]:
    """A hole's language as a grammar over characters, and what that could not say."""
    if hole.language is None:
        return None, hole.losses
    writer = TermGrammar(hole.language)
    try:
        writer.write()
    except Refused as refused:
        return None, (*hole.losses, Loss(refused.construct, hole.place))
    lost = tuple(Loss(construct, hole.place, instead) for construct, instead in writer.lost)
    return writer, (*hole.losses, *lost)


def _not_one(holes: list[HoleLanguage], subject: Subject) -> str:
    """What is asked for, where that is not one hole."""
    known = ", ".join(hole.name for hole in holes or subject.module.holes)
    if holes:
        return f"several holes at once ({known}: --hole says which)"
    return f"the hole `{subject.hole}` (the program has {known})" if known else "a program without holes"


def written(subject: Subject, show: Callable[[Grammar, tuple[Loss, ...]], str]) -> Written:
    """The one hole that the subject asks for. `show` writes its grammar, told what that lost.

    A GrammarError of `show` is a loss, too: the notation has no words for the grammar.
    """
    holes = list(holes_of(subject))
    if len(holes) != 1:
        return Written("", (Loss(_not_one(holes, subject), PROGRAM),))
    (hole,) = holes
    writer, losses = in_grammar(hole)
    if writer is None:
        return Written("", losses)
    try:
        return Written(show(writer.grammar(), losses), losses)
    except GrammarError as fault:
        return Written("", (*losses, Loss(fault.reason, hole.place)))
