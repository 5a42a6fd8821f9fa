"""What a backend is told of the texts of a hole, and which texts an answer may stand for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from sglc.automata.analysis.emptiness import few_words
from sglc.automata.term import Language, Words
from sglc.targets.grammars.hole_forms import is_raw, pattern_of, schema_of
from sglc.targets.projection.capabilities import Capabilities
from sglc.targets.projection.enforcement import Enforcement, Projection
from sglc.types.language.membership import MemberError
from sglc.types.text.plain_json import from_json, parse_json
from sglc.types.text.printer import print_value
from sglc.types.text.scalar_printer import PrintError
from sglc.types.type import Type, TypeTable

MOST_LISTED = 64
"""Texts of a hole that are listed in a prompt: more are shorter as a pattern or a schema."""
_FENCED = re.compile(r"```[\w-]*\n(.*?)\n?```", re.DOTALL)
"""A block of code, as chat models put around an answer."""


def projection_of(
    type: Type | None, legal: Language, table: TypeTable, capabilities: Capabilities
) -> Projection:
    """How a hole is asked for: by its texts, where they are few, else by a pattern or a JSON Schema that the
    prompt shows. `type` is None where the texts are options of the run."""
    words = _listed(legal, type)
    if words:
        options = tuple(sorted(word.decode() for word in words))
        shown = "one of these texts: " + ", ".join(json.dumps(text, ensure_ascii=False) for text in options)
        if "choice" in capabilities.notations:
            return Projection("exact", Enforcement("choice", options=options), shown=shown)
        return Projection("asked", shown=shown)
    if type is None:
        return Projection("asked")
    if is_raw(type, table):
        pattern = pattern_of(type, table)
        return Projection("asked", shown=f"a text that matches /{pattern}/" if pattern else "")
    schema = json.dumps(schema_of(type, table), ensure_ascii=False)
    return Projection("asked", shown=f"JSON on one line, of this JSON Schema: {schema}")


def _listed(legal: Language, type: Type | None) -> tuple[bytes, ...] | None:
    """The texts of a hole, where they are few or options of the run, which are listed in any case."""
    if type is None and isinstance(legal.root, Words):
        return tuple(sorted(legal.root.words))
    return few_words(legal, MOST_LISTED)


def readings(answer: str, enforced: Enforcement | None, type: Type | None, table: TypeTable) -> Iterator[str]:
    """Texts that an answer may mean: as it is, and, behind that, as a value in the one spelling."""
    reading = "text" if enforced is None else enforced.reading
    if reading == "text":
        yield answer
        yield answer.strip()
        if enforced is not None:
            return
        yield from (match.group(1) for match in _FENCED.finditer(answer))
    if type is not None:
        for text in (answer, *(match.group(1) for match in _FENCED.finditer(answer))):
            found = _printed(text, reading == "wrapped", type, table)
            if found is not None:
                yield found


def _printed(text: str, wrapped: bool, type: Type, table: TypeTable) -> str | None:
    """The text of the value that JSON stands for; None where it stands for none of the type."""
    try:
        data = parse_json(text)
        if wrapped:
            if not isinstance(data, dict) or "value" not in data:
                return None
            data = data["value"]
        return print_value(from_json(data, type, table), type, table)
    except (MemberError, PrintError):
        return None
