"""What a backend is told of the texts of a hole."""

from __future__ import annotations

import json
from dataclasses import replace

from sglc.automata.analysis.emptiness import few_words
from sglc.automata.term import Language, Words
from sglc.targets.projection.core.capabilities import Capabilities
from sglc.targets.projection.core.enforcement import Projection
from sglc.targets.projection.hole_forms import is_raw, pattern_of, schema_of
from sglc.targets.projection.project import project
from sglc.types.type import Type, TypeTable

MOST_LISTED = 64
"""Texts of a hole that are listed in a prompt: more are shorter as a pattern or a schema."""


def projection_of(
    type: Type | None,
    legal: Language,
    table: TypeTable,
    capabilities: Capabilities,
    *,
    excluded: frozenset[bytes] = frozenset(),
    validators: bool = False,
    place: str = "",
) -> Projection:
    """How a hole is asked for: the strongest way that the backend has. Where it has none, by what a prompt
    says of the texts. `type` is None where the texts are options of the run."""
    found = project(type, legal, table, capabilities, excluded=excluded, validators=validators, place=place)
    return found if found.enforced is not None else replace(found, shown=_shown(type, legal, table, excluded))


def _shown(type: Type | None, legal: Language, table: TypeTable, excluded: frozenset[bytes]) -> str:
    """What a prompt says of the texts: the texts, where they are few, else a pattern or a JSON Schema."""
    words = _listed(legal, type)
    if words:
        options = sorted(word.decode() for word in words if word not in excluded)
        return "one of these texts: " + ", ".join(json.dumps(text, ensure_ascii=False) for text in options)
    if type is None:
        return ""
    if is_raw(type, table):
        pattern = pattern_of(type, table)
        return f"a text that matches /{pattern}/" if pattern else ""
    return f"JSON on one line, of this JSON Schema: {json.dumps(schema_of(type, table), ensure_ascii=False)}"


def _listed(legal: Language, type: Type | None) -> tuple[bytes, ...] | None:
    """The texts of a hole, where they are few or options of the run, which are listed in any case."""
    if type is None and isinstance(legal.root, Words):
        return tuple(sorted(legal.root.words))
    return few_words(legal, MOST_LISTED)
