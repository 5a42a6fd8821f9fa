"""Random constraints and a model that lies: the text is legal, or an error keeps a legal beginning.

Texts are judged by oracles that share no code with the mask engine: the meaning of terms, jsonschema, `re`.
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sglc
from example_budget import examples
from fakes.lying_models import Liar
from oracles.term_oracle import accepts, some_words, viable
from sglc.automata.analysis.emptiness import is_empty
from sglc.automata.term import Language
from sglc.runtime.mask.constraint import compile_constraint
from strategies.typed_values import SEEDS, languages

SCHEMAS: tuple[dict[str, Any], ...] = (
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "y"]}},
        "required": ["a"],
    },
    {"type": "array", "items": {"type": ["string", "null"]}, "minItems": 1, "maxItems": 3},
    {"anyOf": [{"type": "number", "minimum": 10}, {"const": {"k": [1, 2]}}]},
    {"type": "object", "additionalProperties": {"type": "boolean"}, "minProperties": 2, "maxProperties": 2},
)
VALUES = (
    '{"a": 1, "b": "x"}',
    '["é", null]',
    "12.5",
    '{"k": [1, 2]}',
    '{"p": true, "q": false}',
    "{}",
    "[[1]]",
)
PATTERNS = (
    r"[A-Z][a-z]{0,5}",
    r"\d{2}-\d{2}",
    r"(foo|ba[rz])?",
    r"[^a]{1,3}",
    r"(ab)*c",
    r"\w+@\w+\.(com|org)",
)


def outcome(generate: Any, **options: Any) -> tuple[str | None, str, int, int]:
    """(text, legal beginning, calls, corrections) of a repair; no text for an error."""
    try:
        found = sglc.repair(generate, max_calls=12, max_corrections=9, **options)
    except sglc.RunError as error:
        assert error.name in ("Truncated", "Backend", "Unsupported"), error
        calls, corrections = error.fields.get("calls", 0), error.fields.get("corrections", ())
        return None, error.partial or "", calls, len(corrections)
    return found.text, found.text, found.calls, len(found.corrections)


@st.composite
def liars(draw: st.DrawFn, words: list[str]) -> Liar:
    return Liar(words or ["x"], draw(SEEDS), draw(st.booleans()))


@pytest.mark.slow
@given(st.data())
@settings(max_examples=examples(60))
def test_texts_of_random_languages(data: st.DataObject) -> None:
    language: Language = data.draw(languages().filter(lambda each: not is_empty(each)))
    words = [word.decode("utf-8", "replace") for word in some_words(language, 4)]
    liar: Liar = data.draw(liars(words))
    constraint = compile_constraint(language=language)
    generate = data.draw(st.sampled_from((liar, liar.pieces, liar.soon, liar.pieces_soon)))
    complete = data.draw(st.booleans())
    text, beginning, calls, corrections = outcome(generate, constraint=constraint, complete=complete)
    assert calls <= 12 and corrections <= 9 + complete
    if text is not None:
        assert accepts(language, text.encode())
    else:
        assert viable(language, beginning.encode())


@pytest.mark.slow
@given(st.data())
@settings(max_examples=examples(60))
def test_texts_of_schemas(data: st.DataObject) -> None:
    schema = data.draw(st.sampled_from(SCHEMAS))
    liar: Liar = data.draw(liars(list(VALUES)))
    text, _, _, _ = outcome(data.draw(st.sampled_from((liar, liar.pieces))), json_schema=schema)
    if text is not None:
        jsonschema.validate(json.loads(text), schema)


@pytest.mark.slow
@given(st.data())
@settings(max_examples=examples(60))
def test_texts_of_patterns(data: st.DataObject) -> None:
    pattern = data.draw(st.sampled_from(PATTERNS))
    liar: Liar = data.draw(liars(["Ab", "12-34", "bar", "xyz", "ababc", "me@site.org"]))
    generate = data.draw(st.sampled_from((liar, liar.pieces)))
    text, _, _, _ = outcome(generate, regex=pattern, complete=data.draw(st.booleans()))
    if text is not None:
        assert re.fullmatch(pattern, text, re.ASCII)


@pytest.mark.slow
@given(st.data())
@settings(max_examples=examples(24))
def test_all_kinds_of_functions_agree(data: st.DataObject) -> None:
    """A text at once, pieces, either of them awaited, blocking and in an event loop: the same result."""
    schema = data.draw(st.sampled_from(SCHEMAS))
    seed = data.draw(SEEDS)
    seen = []
    for name in ("__call__", "pieces", "soon", "pieces_soon"):
        for in_loop in (False, True):
            liar = Liar(list(VALUES), seed)
            options: dict[str, Any] = {"json_schema": schema, "max_calls": 12, "complete": True}
            if in_loop:
                found = asyncio.run(sglc.repair_async(getattr(liar, name), **options))
            else:
                found = sglc.repair(getattr(liar, name), **options)
            log = [(each.at, each.put, each.by, each.wrong[:1]) for each in found.corrections]
            seen.append((found.text, found.ended, found.calls, log, liar.given))
    assert all(each == seen[0] for each in seen)


@pytest.mark.parametrize("seed", range(5))
def test_pieces_that_are_told_make_the_text(seed: int) -> None:
    for schema in SCHEMAS:
        told: list[str] = []
        liar = Liar(list(VALUES), seed)
        found = sglc.repair(liar.pieces, json_schema=schema, complete=True, on_piece=told.append)
        assert "".join(told) == found.text and all(told)
