"""All that is asked of a text as one pattern, made from its automaton."""

from __future__ import annotations

import re

from sglc.automata.dfa.operations import TooLarge
from sglc.automata.work import OutOfWork
from sglc.cfg.model.errors import GrammarError
from sglc.targets.projection.grammars.print_regex import to_regex
from sglc.targets.projection.grammars.term_grammar import Refused, TermGrammar
from sglc.targets.projection.schemas.dialects import Rules
from sglc.targets.projection.schemas.narrowed_types import ALWAYS
from sglc.types.condition import Condition
from sglc.types.language.language import language
from sglc.types.language.narrowing import narrowed_language
from sglc.types.type import LanguageError, SpanOf, Str, TypeTable
from sglc.types.values import GivenError

LONGEST_PATTERN = 4_000
"""Characters of a pattern that several conditions on a text are made into; some engines refuse long ones."""
_COUNT = re.compile(r"\{(\d+)(?:,(\d*))?\}")


def pattern_of_text(type: Str | SpanOf, condition: Condition, table: TypeTable) -> str | None:
    """The raw texts of a type for which a bound condition holds; None where that is long."""
    if isinstance(type, SpanOf) and type.text is None:
        return None
    try:
        if condition == ALWAYS:
            found = language(type, table, surface="hole")
        else:
            found = narrowed_language(type, table, condition)
        writer = TermGrammar(found)
        writer.write()
        pattern = to_regex(writer.grammar(), LONGEST_PATTERN)
    except (LanguageError, GivenError, TooLarge, OutOfWork, Refused, GrammarError):
        return None
    return None if writer.lost else pattern


def in_dialect(pattern: str, rules: Rules) -> str | None:
    """A pattern as a dialect takes it; None where it is too much for it."""
    if rules.counted is None:
        return pattern
    counts = [int(number) for found in _COUNT.findall(pattern) for number in found if number]
    return pattern.replace("(?:", "(") if max(counts, default=0) <= rules.counted else None
