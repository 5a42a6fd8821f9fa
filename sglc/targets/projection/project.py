"""How a hole is asked for at a backend: the strongest way that it has.

?{x: int in 1..3}   at vLLM    →   exact: root ::= [1-3]
                    at OpenAI  →   value: {"type": "object", "properties": {"value": {"type": …}}, …}
"""

from __future__ import annotations

import json

from sglc.automata.term import Language
from sglc.targets.projection.core.capabilities import LEVELS, Capabilities
from sglc.targets.projection.core.enforcement import Projection
from sglc.targets.projection.core.loss import Loss
from sglc.targets.projection.hole_forms import is_raw, pattern_of, schema_of
from sglc.targets.projection.notations import Asked, Way, options_of, ways
from sglc.types.condition import Condition
from sglc.types.language.predicates import predicates_of
from sglc.types.text.plain_json import write_json
from sglc.types.type import Type, TypeTable

EVERY = "every value of the type"
MOST_LISTED = 64
"""Texts of a hole that are listed in a prompt: more are shorter as a pattern or a schema."""

_HINTS = {
    "keys that occur once": "a list of records in place of the map",
    "a map": "a list of records in place of the map",
    "any JSON": "a record in place of `json`",
    "a JSON Schema": "a record in place of `json schema`",
    "the number of digits": "bounds of the number, as in `int in 0..150`",
    "the bounds of a number": "bounds of an integer with at most 250 values, or an enum",
    "a number of items": "a record with a field for each item",
    "a type that contains itself": "levels that are written out",
    "a validator": "a condition in `where`, or `ensure` behind the hole",
    "a grammar": "a pattern (`matching`)",
    "a piece of a text": "a model that takes grammars",
    "where a terminal ends": "a pattern (`matching`)",
    "several conditions on a text": "one pattern",
    "answers that were given before": "another way to tell answers apart",
}
"""By construct what a program may say in its place."""


def project(
    type: Type | None,
    language: Language,
    table: TypeTable,
    capabilities: Capabilities,
    *,
    condition: Condition | None = None,
    excluded: frozenset[bytes] = frozenset(),
    validators: bool = False,
    place: str = "",
) -> Projection:
    """The projection of a hole whose texts are `language`.

    type        what the texts are values of, bound to the values of the run; None for options of the run and
                for texts that are no value, as several holes with what stands between them
    language    the texts, those for which `condition` holds
    condition   what `language` keeps beside the type, bound too: schemas say it again
    excluded    texts that were answered before and may not come again
    validators  whether a computation judges the answer too
    place       the hole, as losses name it

    The same arguments give the same projection.
    """
    besides = _besides(type, table, validators, place)
    asked = Asked(language, type, table, condition, excluded, place)
    best: Way | None = None
    for way in ways(asked, capabilities):
        if any(not loss.instead for loss in way.lost):
            continue
        if best is None or _rank(way) < _rank(best):
            best = way
        if best.level == "exact":
            break
    if best is None:
        return Projection(
            "asked",
            lost=(Loss("what an answer may be", place, "any text"), *besides),
            shown=_shown(asked),
            hints=("a model that takes grammars or JSON Schemas", *_hints(type, table, capabilities, asked)),
        )
    lost = (*best.lost, *besides)
    return Projection("wider" if lost else best.level, best.enforced, lost, hints=hints_of(lost))


def hints_of(lost: tuple[Loss, ...]) -> tuple[str, ...]:
    """What a program may say in place of what is lost."""
    return tuple(dict.fromkeys(_HINTS[loss.construct] for loss in lost if loss.construct in _HINTS))


def _hints(type: Type | None, table: TypeTable, capabilities: Capabilities, asked: Asked) -> tuple[str, ...]:
    """What stands in the way of the ways that a backend has."""
    return hints_of(tuple(loss for way in ways(asked, capabilities) for loss in way.lost))


def _rank(way: Way) -> tuple[int, int]:
    return LEVELS.index(way.level), len(way.lost)


def _besides(type: Type | None, table: TypeTable, validators: bool, place: str) -> tuple[Loss, ...]:
    """What no backend can keep."""
    found = [Loss("a validator", place, EVERY)] if validators else []
    if type is not None:
        found += (Loss(f"the condition `{p.text}`", place, EVERY) for p in predicates_of(type, table))
    return tuple(dict.fromkeys(found))


def _shown(asked: Asked) -> str:
    """What a prompt says of the texts, behind "write nothing but": the texts, where they are few or options
    of the run, else a pattern or a JSON Schema; empty where there is none."""
    options = options_of(asked)
    if options and (asked.type is None or len(options) <= MOST_LISTED):
        shown = "one of these texts: " + ", ".join(json.dumps(text, ensure_ascii=False) for text in options)
    elif asked.type is None:
        return ""
    elif is_raw(asked.type, asked.table):
        pattern = pattern_of(asked.type, asked.table)
        shown = f"a text that matches /{pattern}/" if pattern else ""
    else:
        schema = write_json(schema_of(asked.type, asked.table))
        shown = f"JSON on one line, of this JSON Schema: {schema}"
    return shown
