"""JSON answers as values: models write them in any order, spacing and spelling, the language in one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sglc.automata.json.data import JsonData
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.explanation import byte_vocabulary
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.runtime.repair.spelling import FREE
from sglc.targets.projection.canonical import canonical_text
from sglc.targets.projection.core.enforcement import Enforcement
from sglc.targets.projection.hole_forms import is_raw, schema_of
from sglc.types.type import LanguageError, Type, TypeTable
from sglc.types.values import GivenError

CONTAINERS = b"{["
_BLANKS = b" \t\r\n"
_NOTHING = Enforcement("json_schema", reading="json")
"""How an answer is read where nothing was enforced."""


@dataclass(frozen=True, slots=True)
class Values:
    """How answers are read as values.

    matcher    the JSON texts of the values, in any spelling; at the beginning
    canonical  from such a text to the language's own spelling. Raises AnswerError
    """

    matcher: Matcher
    canonical: Callable[[str], str]


def json_values(
    type: Type | None,
    table: TypeTable,
    enforced: Enforcement | None = None,
    vocabulary: Vocabulary | None = None,
) -> Values | None:
    """How answers for a type are read as JSON; None where they are texts.

    type        None for options of the run
    enforced    what the answers are kept to: those to a schema are JSON of that schema, those to a grammar or
                a pattern are texts
    vocabulary  of the local model that drafts, if there is one

    What JSON Schema cannot say of the type, `canonical` checks.
    """
    if enforced is not None and enforced.notation != "json_schema":
        return None
    if enforced is None and (type is None or is_raw(type, table)):
        return None
    read = enforced or _NOTHING
    known = vocabulary or byte_vocabulary()
    return Values(_matcher(read, type, table, known), lambda text: canonical_text(text, read, type, table))


def _matcher(read: Enforcement, type: Type | None, table: TypeTable, vocabulary: Vocabulary) -> Matcher:
    """The JSON texts of a schema; any JSON where that is beyond the limits of schemas."""
    try:
        schema: JsonData = read.schema
        if schema is None:
            assert type is not None
            schema = schema_of(type, table)
        return compile_constraint(json_schema=schema, schema_options=FREE).matcher(vocabulary)
    except (ConstraintError, LanguageError, GivenError):
        return compile_constraint(json_schema={}, schema_options=FREE).matcher(vocabulary)


def begins_with(matcher: Matcher) -> bytes:
    """The marks that a value of JSON begins with, where all begin with `{` or `[`; else nothing."""
    return CONTAINERS if _begins(matcher) else b""


def _begins(matcher: Matcher) -> bool:
    following = set(matcher.next_bytes()) - set(_BLANKS)
    return bool(following) and following <= set(CONTAINERS)
