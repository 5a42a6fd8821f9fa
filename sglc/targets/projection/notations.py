"""The ways in which a hole can be asked of a backend, and what each of them loses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sglc.automata.dfa.operations import TooLarge
from sglc.automata.term import Except, Language
from sglc.automata.work import OutOfWork
from sglc.cfg.model import grammar as g
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.notation.print_gbnf import to_gbnf
from sglc.targets.projection.core.capabilities import Capabilities, Level, Notation
from sglc.targets.projection.core.enforcement import Enforcement, Reading
from sglc.targets.projection.core.loss import Loss
from sglc.targets.projection.grammars.few_texts import few_texts
from sglc.targets.projection.grammars.lark_text import lark_text
from sglc.targets.projection.grammars.print_regex import to_regex
from sglc.targets.projection.grammars.repetitions import within_repetitions
from sglc.targets.projection.grammars.term_grammar import Refused, TermGrammar
from sglc.targets.projection.schemas.dialects import DIALECTS
from sglc.targets.projection.schemas.texts import constants
from sglc.targets.projection.schemas.value_schema import ROOT, value_schema
from sglc.types.condition import Condition
from sglc.types.type import LanguageError, Type, TypeTable
from sglc.types.values import GivenError

MOST_OPTIONS = 250
"""Texts of a hole that are given as a list of options: as many as services take without further limits on
their length (`MANY_ENUM_VALUES` of OpenAI's strict mode)."""
LONGEST_GRAMMAR = 1_000_000
"""Characters of a grammar or pattern that is sent with each request."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to ask. A loss without `instead` makes it none."""

    level: Level
    enforced: Enforcement
    lost: tuple[Loss, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for: the texts, and the type whose values they are, None for options of the run.

    `language` has the texts of the values for which `condition` holds, those in `excluded` among them.
    """

    language: Language
    type: Type | None
    table: TypeTable
    condition: Condition | None = None
    excluded: frozenset[bytes] = frozenset()
    place: str = ""

    @property
    def texts(self) -> Language:
        """The texts that may be answered."""
        if not self.excluded:
            return self.language
        return replace(self.language, root=Except(self.language.root, self.excluded))


def ways(asked: Asked, capabilities: Capabilities) -> Iterator[Way]:
    """All ways that a backend knows, those of texts before those of values."""
    options = options_of(asked)
    if options is not None and "choice" in capabilities.notations:
        yield Way("exact", Enforcement("choice", options=options))
    yield from _grammars(asked, capabilities)
    if "json_schema" in capabilities.notations and capabilities.dialect is not None:
        yield from _schemas(asked, capabilities, options)


def options_of(asked: Asked) -> tuple[str, ...] | None:
    """The texts of a hole that lists them, else None."""
    texts = asked.texts
    found = few_texts(texts.root, texts, MOST_OPTIONS)
    return None if found is None else tuple(sorted(word.decode() for word in found))


# -- texts ---------------------------------------------------------------------------------------------


def _grammars(asked: Asked, capabilities: Capabilities) -> Iterator[Way]:
    wanted = [name for name in ("gbnf", "lark", "regex") if name in capabilities.notations]
    if not wanted:
        return
    writer = TermGrammar(asked.texts)
    try:
        writer.write()
    except (Refused, TooLarge, OutOfWork, LanguageError, GrammarError):
        return
    lost = tuple(Loss(construct, asked.place, instead) for construct, instead in writer.lost)
    for notation in wanted:
        try:
            yield _written(writer.grammar(), notation, capabilities, asked.place, lost)
        except GrammarError:
            continue


def _written(
    grammar: g.Grammar, notation: Notation, capabilities: Capabilities, place: str, lost: tuple[Loss, ...]
) -> Way:
    """A grammar in a notation. Raises GrammarError where that cannot say it."""
    if notation == "gbnf":
        if capabilities.repetitions is not None:
            grammar, dropped = within_repetitions(grammar, capabilities.repetitions)
            if dropped:
                most = f"{capabilities.repetitions:,}"
                lost = (*lost, Loss(f"{most} repetitions or more", place, "any number of them"))
        text = to_gbnf(grammar)
    elif notation == "lark":
        text = lark_text(grammar)
    else:
        text = to_regex(grammar)
    if len(text) > LONGEST_GRAMMAR:
        raise GrammarError(f"a grammar of more than {LONGEST_GRAMMAR:,} characters")
    return Way("wider" if lost else "exact", Enforcement(notation, text), lost)


# -- values --------------------------------------------------------------------------------------------


def _schemas(asked: Asked, capabilities: Capabilities, options: tuple[str, ...] | None) -> Iterator[Way]:
    assert capabilities.dialect is not None
    rules = DIALECTS[capabilities.dialect]
    if asked.type is None:
        if options:
            schema = constants(list(options))
            reading: Reading = "wrapped" if rules.only_objects else "json"
            if rules.only_objects:
                fields = {"properties": {ROOT: schema}, "required": [ROOT], "additionalProperties": False}
                schema = {"type": "object", **fields}
            yield Way("value", Enforcement("json_schema", schema=schema, options=options, reading=reading))
        return
    try:
        found = value_schema(asked.type, asked.table, rules, place=asked.place, condition=asked.condition)
    except (GivenError, LanguageError, TooLarge, OutOfWork):
        return
    lost = found.lost
    if asked.excluded:
        lost = (*lost, Loss("answers that were given before", asked.place, "these answers too"))
    enforced = Enforcement(
        "json_schema",
        schema=found.schema,
        reading="wrapped" if found.wrapped else "json",
        absent_as_null=bool(found.absent),
        tuples_as_objects=found.tuples,
    )
    yield Way("wider" if lost else "value", enforced, lost)
