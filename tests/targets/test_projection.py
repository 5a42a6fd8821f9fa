"""Projections: what a backend that enforces them may answer is legal, and is written as the language does."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from example_budget import examples
from expression_oracle import is_text
from oracles.json_reading import Validator
from oracles.schema_answers import NoAnswer, answer
from sglc.automata.analysis.membership import is_word
from sglc.cfg.notation.gbnf import read_gbnf
from sglc.targets.projection.canonical import AnswerError, canonical_text
from sglc.targets.projection.capabilities import Capabilities
from sglc.targets.projection.enforcement import Projection
from sglc.targets.projection.project import project
from sglc.types.condition import Condition
from sglc.types.language.language import language
from sglc.types.language.narrowing import narrowed_language
from sglc.types.text.plain_json import dumps, parse_json
from strategies.near_misses import mutated
from strategies.typed_values import SEEDS, types, values_of, words_of

BACKENDS = {
    "vllm": Capabilities(frozenset({"gbnf", "regex", "json_schema", "choice"}), "whole", continues=True),
    "openai": Capabilities(frozenset({"json_schema"}), "openai"),
    "anthropic": Capabilities(frozenset({"json_schema"}), "anthropic"),
    "llama": Capabilities(frozenset({"gbnf", "json_schema"}), "whole", repetitions=2_000),
    "lark": Capabilities(frozenset({"lark"})),
    "regex": Capabilities(frozenset({"regex"})),
    "whole": Capabilities(frozenset({"json_schema"}), "whole"),
    "none": Capabilities(),
}


def projected(type, backend: str, table=None, condition: Condition | None = None, **more) -> Projection:
    table = table or {}
    if condition is None:
        found = language(type, table)
    else:
        found = narrowed_language(type, table, condition)
    return project(type, found, table, BACKENDS[backend], condition=condition, place="hole f.x", **more)


@pytest.mark.slow
@settings(max_examples=examples(25), suppress_health_check=list(HealthCheck))
@given(types(), SEEDS, st.data())
def test_no_answer_of_a_server_that_enforces_is_illegal(case, seed, data) -> None:
    """Of `value` every answer under the schema is read as a text of the hole; of `exact` all texts are."""
    type, table = case
    found = language(type, table)
    word = data.draw(words_of(found)).decode()
    dice = random.Random(seed)
    for name, capabilities in BACKENDS.items():
        got = project(type, found, table, capabilities, place="hole f.x")
        assert got == project(type, found, table, capabilities, place="hole f.x")
        enforced = got.enforced
        assert (got.level == "asked") == (enforced is None)
        assert (got.level in ("exact", "value")) == (not got.lost)
        if got.level == "exact" and enforced.notation == "gbnf" and len(word) < 300:
            for text in (word, *(mutated(word, seed + n) for n in range(3))):
                assert is_text(read_gbnf(enforced.text), text) == is_word(found, text), (name, text)
        if got.level == "exact" and enforced.notation == "choice":
            assert all(is_word(found, text) for text in enforced.options) and word in enforced.options
        if got.level == "value":
            for _ in range(4):
                try:
                    said = answer(enforced.schema, dice)
                except NoAnswer:
                    continue
                text = canonical_text(said, enforced, type, table)
                assert is_word(found, text), (name, said, text)


@pytest.mark.slow
@settings(max_examples=examples(25), suppress_health_check=list(HealthCheck))
@given(types(), st.data())
def test_a_schema_leaves_no_value_out(case, data) -> None:
    type, table = case
    got = project(type, language(type, table), table, BACKENDS["whole"])
    assume(got.enforced is not None)
    value = data.draw(values_of(type, table))
    text = dumps(value, type, table)
    try:
        legal = is_word(language(type, table), canonical_text(text, got.enforced, type, table))
    except AnswerError:
        legal = False
    assume(legal)  # a text of several lines is a value of `str`, but none that a hole writes
    assert Validator(got.enforced.schema).is_valid(parse_json(text)), text
