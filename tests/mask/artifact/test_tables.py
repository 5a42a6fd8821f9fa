"""Constraints expanded ahead of time: the same masks as the machine's, whatever is in the tables or not."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from checkout import SUPPORT
from example_budget import examples
from sglc.automata.regex.to_term import regex_term
from sglc.automata.term import Anything, Bytes, Choice, Language, Nothing, Repeat, Rule, Sequence, Words
from sglc.automata.term_digest import TooDeep, term_digest
from sglc.runtime.mask.artifact import tables as mask_tables
from sglc.runtime.mask.artifact.build import NotShared, TableBudget, tabulate
from sglc.runtime.mask.artifact.places import (
    TabledConstraint,
    constraint_digest,
)
from sglc.runtime.mask.artifact.tables import TableError, from_bytes, to_bytes
from sglc.runtime.mask.automaton.limits import ConstraintOptions
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.matcher import fill_masks
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.schema.compile import compile_schema
from sglc.schema.core.options import SchemaOptions
from strategies.mask_cases import vocabularies
from strategies.tabled_record import RECORD, VOCABULARY, assert_agree, walk
from strategies.typed_values import languages

EXAMPLES = examples(40)
SMALL = TableBudget(states=6, walks=1, walk=4)


def tabled(language: Language, vocabulary: Vocabulary, budget: TableBudget | None = None) -> TabledConstraint:
    """By way of a file's bytes."""
    digest = constraint_digest(language)
    key = bytes.fromhex(vocabulary.digest)
    data = to_bytes(tabulate(language, vocabulary, budget=budget), digest, key)
    tables = from_bytes(data, digest, key)
    tables.verify_all()
    return TabledConstraint(language, ConstraintOptions(), tables, vocabulary)


@pytest.mark.slow
@settings(
    max_examples=EXAMPLES,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.data_too_large,
        HealthCheck.large_base_example,
    ],
)
@given(st.data())
def test_frozen_and_live_agree(data: st.DataObject) -> None:
    language = data.draw(languages())
    live = compile_constraint(language=language)
    assume(not live.is_empty)
    vocabulary = data.draw(vocabularies(language))
    states = data.draw(st.sampled_from([1, 2, 5, 20, 400]))
    branches = data.draw(st.sampled_from([1, 30, 4000]))
    budget = TableBudget(states=states, branches=branches, walks=3, walk=6)
    cold = tabled(language, vocabulary, budget)
    assert cold.is_empty == live.is_empty
    dice = random.Random(data.draw(st.integers(0, 1 << 30)))
    walk(cold.matcher(vocabulary), live.matcher(vocabulary), vocabulary, dice, 14)


@pytest.mark.slow
@settings(
    max_examples=EXAMPLES,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.data_too_large,
        HealthCheck.large_base_example,
    ],
)
@given(st.data())
def test_tables_of_two_constraints_agree_with_both(data: st.DataObject) -> None:
    """Of a value with a stop behind it, and of the value alone."""
    alone = data.draw(languages())
    stop = data.draw(st.sampled_from([(b"\n",), (b"\n", b" - "), (b"a",), (b'"',), (b"}",), (b", ",)]))
    whole = replace(alone, root=Sequence((alone.root, Words(frozenset(stop)), Anything())))
    assume(not compile_constraint(language=whole).is_empty)
    vocabulary = data.draw(vocabularies(alone))
    states = data.draw(st.sampled_from([1, 2, 5, 20, 400]))
    budget = TableBudget(states=states, walks=3, walk=6)
    try:
        tables = tabulate(whole, vocabulary, budget=budget, alone=alone)
    except NotShared:
        return
    key = bytes.fromhex(vocabulary.digest)
    file = to_bytes(tables, constraint_digest(whole), key, constraint_digest(alone))
    dice = random.Random(data.draw(st.integers(0, 1 << 30)))
    for language in (whole, alone):
        found = from_bytes(file, constraint_digest(language), key)
        found.verify_all()
        cold = TabledConstraint(language, ConstraintOptions(), found, vocabulary)
        live = compile_constraint(language=language)
        assert cold.is_empty == live.is_empty
        walk(cold.matcher(vocabulary), live.matcher(vocabulary), vocabulary, dice, 14)


@pytest.mark.parametrize("size", [1, 2, 255, 256, 49_152, 128_256, 1 << 20])
def test_a_token_and_a_state_are_one_number(size: int) -> None:
    most = mask_tables.most_states(size)
    bits = mask_tables.state_bits(most)
    assert (size - 1) << bits | (most - 1) <= np.iinfo(np.int32).max
    assert all(mask_tables.state_bits(n) == len(f"{n - 1:b}") for n in (2, 3, 4, 5, 1002, 1024, 1025))


def test_values_before_a_stop_share_their_states() -> None:
    """As many states as the value with its stop has, and the file is found under both names."""
    whole = replace(RECORD, root=Sequence((RECORD.root, Words(frozenset({b"\n"})), Anything())))
    key = bytes.fromhex(VOCABULARY.digest)
    budget = TableBudget(states=60)
    both = tabulate(whole, VOCABULARY, budget=budget, alone=RECORD)
    one = tabulate(whole, VOCABULARY, budget=budget)
    assert both.n == one.n
    names = constraint_digest(whole), constraint_digest(RECORD)
    file = to_bytes(both, names[0], key, names[1])
    assert len(file) == both.file_size < 1.3 * one.file_size
    assert [from_bytes(file, name, key).alone for name in names] == [False, True]
    with pytest.raises(TableError, match="another constraint"):
        from_bytes(file, bytes(32), key)
    with pytest.raises(TableError, match="another constraint"):
        from_bytes(to_bytes(one, names[0], key), bytes(32), key)


@pytest.mark.parametrize(("pattern", "stop"), [("a*", b"a"), ("(ab)*a", b"b"), ("[ab\n]{0,4}", b"\n")])
def test_states_that_are_not_those_of_the_value_alone_are_not_shared(pattern: str, stop: bytes) -> None:
    """Behind `aa` anything may follow, and what the value alone would be is not kept."""
    alone = Language(regex_term(pattern))
    whole = Language(Sequence((alone.root, Words(frozenset({stop})), Anything())))
    with pytest.raises(NotShared):
        tabulate(whole, VOCABULARY, alone=alone)


@pytest.mark.parametrize("column", range(5), ids=["base", "place", "count", "wide", "tokens"])
@pytest.mark.parametrize("value", [-2, 1 << 20, (1 << 31) - 1])
def test_a_mask_that_points_outside_of_its_tables_is_refused(column: int, value: int) -> None:
    tables = tabulate(RECORD, VOCABULARY, budget=SMALL)
    for number in range(len(tables.masks)):
        masks = tables.masks.copy()
        masks[number, column] = value
        with pytest.raises(TableError, match="a mask points outside of the file"):
            replace(tables, masks=masks).mask(number)


@pytest.mark.parametrize("column", range(mask_tables.MASK, mask_tables.COLUMNS))
@pytest.mark.parametrize("value", [-2, 1 << 20])
def test_a_state_that_points_outside_of_its_tables_is_refused(column: int, value: int) -> None:
    tables = tabulate(RECORD, VOCABULARY, budget=SMALL)
    for state in range(tables.n):
        states = tables.states.copy()
        states[state, column] = value
        with pytest.raises(TableError, match="a state points outside of the file"):
            replace(tables, states=states).accepts(state)


def test_tokens_that_are_none_are_refused_as_by_the_machine() -> None:
    """At every place of a text: the number before the vocabulary's first and those behind its last."""
    size = VOCABULARY.size
    cold, live = (
        made.matcher(VOCABULARY) for made in (tabled(RECORD, VOCABULARY), compile_constraint(language=RECORD))
    )
    for byte in b'{"name": "':
        for token in (-1, -size, size, size + byte, size + ord("}"), 2 * size + byte, 1 << 40):
            assert not cold.allows(token) and not cold.accept(token), token
            assert not live.allows(token) and not live.accept(token), token
        assert cold.accept(byte) and live.accept(byte)
        assert_agree(cold, live)


@pytest.mark.parametrize("budget", [TableBudget(), SMALL, TableBudget(states=1)])
def test_a_record_walks_alike(budget: TableBudget) -> None:
    cold = tabled(RECORD, VOCABULARY, budget)
    live = compile_constraint(language=RECORD)
    for seed in range(12):
        walk(cold.matcher(VOCABULARY), live.matcher(VOCABULARY), VOCABULARY, random.Random(seed), 60)


DIFFERENT: list[dict[str, object]] = [
    {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
    {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}, "uniqueItems": True},
    {
        "type": "array",
        "items": {"type": "object", "additionalProperties": {"type": "integer"}},
        "uniqueItems": True,
        "minItems": 2,
    },
    {"type": "array", "items": {"type": "array", "items": {"type": "boolean"}}, "uniqueItems": True},
]


@pytest.mark.slow
@pytest.mark.parametrize("schema", DIFFERENT)
@pytest.mark.parametrize("budget", [TableBudget(states=30, branches=200, walks=2, walk=8), SMALL])
def test_arrays_of_different_items_walk_alike(schema: dict[str, object], budget: TableBudget) -> None:
    for options in (SchemaOptions(), SchemaOptions(order="any", spelling="any")):
        language = compile_schema(schema, options)
        live = compile_constraint(language=language)
        cold = tabled(language, VOCABULARY, budget)
        for seed in range(3):
            walk(cold.matcher(VOCABULARY), live.matcher(VOCABULARY), VOCABULARY, random.Random(seed), 20)
        for text in (
            b"[1, 2, 1, 3",
            b"[0, 0.0",
            b'["a", "b", "a"',
            b'[{"a": 1, "b": 2}, {"b": 2, "a": 1}',
            b"[[true], [false], [true]",
        ):
            one, other = cold.matcher(VOCABULARY), live.matcher(VOCABULARY)
            for at in range(len(text)):
                accepted = one.accept_bytes(text[at : at + 1])
                assert accepted == other.accept_bytes(text[at : at + 1])
                if not accepted:
                    break
                assert_agree(one, other)
                one.rollback(1)
                other.rollback(1)
                assert one.accept_bytes(text[at : at + 1]) and other.accept_bytes(text[at : at + 1])


def test_where_all_is_tabled_nothing_is_compiled() -> None:
    language = Language(Choice((Bytes(b"yes, indeed"), Bytes(b"no"), regex_term("[0-9]{1,4}"))))
    cold = tabled(language, VOCABULARY)
    live = compile_constraint(language=language)
    for seed in range(10):
        matcher = cold.matcher(VOCABULARY)
        walk(matcher, live.matcher(VOCABULARY), VOCABULARY, random.Random(seed), 30)
        assert not matcher.is_compiled


def test_leaving_the_tables_compiles_the_constraint() -> None:
    cold = tabled(RECORD, VOCABULARY, TableBudget(states=1)).matcher(VOCABULARY)
    cold.mask()
    assert not cold.is_compiled
    assert cold.accept_bytes(b'{"name": "x')
    assert cold.is_compiled


@pytest.mark.parametrize(
    ("term", "start"), [(Nothing(), 0), (Bytes(b""), 1), (Choice((Bytes(b""), Bytes(b"a"))), 2)]
)
def test_constraints_of_almost_nothing(term: object, start: int) -> None:
    cold = tabled(Language(term), VOCABULARY)  # type: ignore[arg-type]
    assert cold.tables.start == start
    assert_agree(cold.matcher(VOCABULARY), compile_constraint(language=cold.language).matcher(VOCABULARY))


def test_another_vocabulary_is_served_by_the_machine() -> None:
    cold = tabled(RECORD, VOCABULARY)
    other = Vocabulary([bytes([byte]) for byte in range(256)])
    live = compile_constraint(language=RECORD).matcher(other)
    assert_agree(cold.matcher(other), live)


def test_matchers_of_both_kinds_fill_one_batch() -> None:
    cold, live = tabled(RECORD, VOCABULARY), compile_constraint(language=RECORD)
    matchers = [made.matcher(VOCABULARY) for made in (cold, live) for _ in range(20)]
    rows = np.full((40, VOCABULARY.words), -1, np.int32)
    fill_masks(matchers, rows)
    assert (rows == live.matcher(VOCABULARY).mask()).all()


def test_vocabularies_beyond_two_bytes() -> None:
    """Gaps of more than 65,535 between ids, and several ids of the same bytes."""
    tokens: list[bytes | None] = [None] * 140_000
    for token, data in {5: b"a", 70_000: b"ab", 139_999: b"b", 139_998: b"a"}.items():
        tokens[token] = data
    vocabulary = Vocabulary(tokens)
    cold = tabled(Language(Repeat(Words(frozenset({b"a", b"b"})))), vocabulary).matcher(vocabulary)
    assert cold.allowed().tolist() == [5, 70_000, 139_998, 139_999]
    assert cold.accept(139_999) and cold.accept(139_998) and not cold.accept(7)
    assert not cold.is_compiled


# -- digests ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(languages(), languages())
def test_digests_are_equal_exactly_for_equal_terms(one: Language, other: Language) -> None:
    same = one.root == other.root and dict(one.rules) == dict(other.rules)
    assert (term_digest(one) == term_digest(other)) == same


def test_digests_do_not_mix_up_fields() -> None:
    terms = [
        Bytes(b"ab"),
        Words(frozenset({b"ab"})),
        Words(frozenset({b"a", b"b"})),
        Anything(),
        Nothing(),
        Rule("ab"),
        Sequence((Bytes(b"a"), Bytes(b"b"))),
        Choice((Bytes(b"a"), Bytes(b"b"))),
        Repeat(Bytes(b"a"), 1, 2),
        Repeat(Bytes(b"a"), 12),
        Repeat(Bytes(b"a"), 1, 2, b","),
        Sequence((Bytes(b"a"), Bytes(b"b"), Bytes(b""))),
        Sequence((Sequence((Bytes(b"a"),)), Bytes(b"b"))),
    ]
    digests = {term_digest(Language(term)) for term in terms}
    assert len(digests) == len(terms)
    rules = [{"a": Bytes(b"x")}, {"b": Bytes(b"x")}, {"a": Bytes(b"y")}, {}]
    assert len({term_digest(Language(Rule("a"), some)) for some in rules}) == 4
    assert constraint_digest(RECORD) != constraint_digest(RECORD, ConstraintOptions(max_depth=7))
    assert constraint_digest(RECORD) == constraint_digest(RECORD, ConstraintOptions(mask_bytes=7))


def test_sharing_does_not_show_and_costs_nothing() -> None:
    shared, apart = Sequence((Bytes(b"a"),)), Sequence((Bytes(b"a"),))
    for _ in range(12):
        shared, apart = Sequence((shared, shared)), Sequence((apart, Sequence(apart.items)))
    assert term_digest(Language(shared)) == term_digest(Language(apart))
    deep = shared
    for _ in range(80):
        deep = Choice((deep, deep))
    assert len(term_digest(Language(deep))) == 32


def test_what_is_nested_too_deeply_is_refused() -> None:
    term = Bytes(b"a")
    for _ in range(5000):
        term = Sequence((term,))  # type: ignore[assignment]
    with pytest.raises(TooDeep):
        term_digest(Language(term))
    with pytest.raises(ConstraintError, match="nested"):
        tabulate(Language(term), VOCABULARY)


@pytest.mark.slow
def test_the_same_bytes_in_every_process() -> None:
    program = (
        "import hashlib, test_tables as t\n"
        "tables = t.tabulate(t.RECORD, t.VOCABULARY, budget=t.TableBudget(states=40))\n"
        "print(hashlib.sha256(t.to_bytes(tables, t.constraint_digest(t.RECORD), bytes(32))).hexdigest())\n"
    )
    path = os.pathsep.join([str(SUPPORT), str(Path(__file__).parent)])
    said = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        said.add(done.stdout)
    assert len(said) == 1
