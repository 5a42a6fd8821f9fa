"""What a backend is told of the texts of a hole, and which texts an answer may stand for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from sglc.automata.analysis.emptiness import few_words
from sglc.automata.term import Language, Words
from sglc.targets.projection.canonical import AnswerError, canonical_text
from sglc.targets.projection.core.capabilities import Capabilities
from sglc.targets.projection.core.enforcement import Enforcement, Projection
from sglc.targets.projection.hole_forms import is_raw, pattern_of, schema_of
from sglc.targets.projection.project import project
from sglc.types.type import Type, TypeTable

MOST_LISTED = 64
"""Texts of a hole that are listed in a prompt: more are shorter as a pattern or a schema."""
_FENCED = re.compile(r"```[\w-]*\n(.*?)\n?```", re.DOTALL)
"""A block of code, as chat models put around an answer."""
_FREE = Enforcement("json_schema", reading="json")
"""How an answer is read as a value where nothing was enforced."""


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
    return found if found.enforced is not None else replace(found, shown=_shown(type, legal, table))


def _shown(type: Type | None, legal: Language, table: TypeTable) -> str:
    """What a prompt says of the texts: the texts, where they are few, else a pattern or a JSON Schema."""
    words = _listed(legal, type)
    if words:
        options = sorted(word.decode() for word in words)
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


def without(projection: Projection, excluded: frozenset[bytes]) -> Projection:
    """The same without the texts that were rejected, where it lists its texts: others are found again by what
    answers are checked with."""
    enforced = projection.enforced
    if not excluded or enforced is None or enforced.notation != "choice":
        return projection
    options = tuple(text for text in enforced.options if text.encode() not in excluded)
    return replace(projection, enforced=replace(enforced, options=options))


def readings(answer: str, enforced: Enforcement | None, type: Type | None, table: TypeTable) -> Iterator[str]:
    """Texts that an answer may mean: as it is, and, behind that, as a value in the one spelling."""
    reading = "text" if enforced is None else enforced.reading
    if reading == "text":
        yield answer
        yield answer.strip()
        if enforced is not None:
            return
        yield from (match.group(1) for match in _FENCED.finditer(answer))
    read = enforced if enforced is not None and reading != "text" else _FREE
    if type is not None:
        for text in (answer, *(match.group(1) for match in _FENCED.finditer(answer))):
            found = _printed(text, read, type, table)
            if found is not None:
                yield found


def _printed(text: str, enforced: Enforcement, type: Type, table: TypeTable) -> str | None:
    """The text of the value that JSON stands for; None where it stands for none of the type."""
    try:
        return canonical_text(text, enforced, type, table)
    except AnswerError:
        return None
