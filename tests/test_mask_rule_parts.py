"""Rules that many constraints share: what tokens do in them is found once, and masks stay as they are."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from budget import examples
from mask_cases import mask_of
from sglc.automata.term import Rule
from sglc.automata.term_digest import term_digest
from sglc.runtime.mask import workspaces
from sglc.runtime.mask.automaton.limits import ConstraintOptions
from sglc.runtime.mask.automaton.protocol import DEAD, END
from sglc.runtime.mask.constraint import Constraint, compile_constraint
from sglc.runtime.mask.gss.machine import JoiningMachine
from sglc.runtime.mask.mask_cache import MaskStore
from sglc.runtime.mask.search.rule_summaries import RuleGroup, Summary
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.schema.compile import compile_schema
from sglc.schema.core.options import SchemaOptions

PIECES: list[bytes | None] = [
    *(bytes([byte]) for byte in b'{}[]":, 0123456789-.truefalsnxyab\\\n'),
    b'": ', b'":', b'": "', b'", "', b'"}', b'{"', b'{"a', b'": [', b"]}", b"1, ", b'"a": ', b'"}, ', b"[[",
    b'["', b'{"a": "', b'"b": 1', b"12", b"true", b'": {"', b"}}", b'"x"}', b' "', b" [", b" {", b' "x", "',
    b" 1", b"[1", b"1]", b"1}", b'": 1.5, "', b' {"b": [1, 2], "x": {}}', b"[[]], ", b'"a": 1, "a',
    b'{"a":1}', b'1, "', b"1,", b'1, "b', b'1,"', b"-1, ", b"],[", b"[ ", b"{}", b"[]",
    b'{"a": 1, "a": 2', b"null, ",
]  # fmt: skip
OPTIONS = [
    SchemaOptions(order="any", spelling="any"), SchemaOptions(), SchemaOptions(spacing="flexible", blanks=1),
    SchemaOptions(order="any", spacing="compact", distinct=True),
]  # fmt: skip
VALUES: tuple[Any, ...] = (
    {}, {"type": "number"}, {"type": "array"}, {"type": "object"}, {"type": "string"},
    {"type": "array", "prefixItems": [{"type": "integer"}], "minItems": 1}, {"enum": ["a", 1, None]},
    {"type": "object", "properties": {"a": {}}, "required": ["a"]},
)  # fmt: skip


@st.composite
def schemas(draw: st.DrawFn) -> dict[str, Any]:
    """Objects, alone and in unions, where values of every kind may stand at the same places."""
    arms = []
    values = st.sampled_from(({}, {"type": "number"})) | st.sampled_from(VALUES)
    for _ in range(draw(st.integers(1, 3))):
        names = ["a", *draw(st.lists(st.sampled_from("bx"), max_size=1))]
        arms.append(
            {
                "type": "object",
                "properties": {name: draw(values) for name in names},
                "required": draw(st.lists(st.sampled_from(names), unique=True)),
                "additionalProperties": draw(st.integers(0, 3)) == 0,
            }
        )
    return arms[0] if len(arms) == 1 else {"anyOf": arms}


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(schemas(), st.sampled_from(OPTIONS), st.data())
def test_masks_around_any_value_are_exact(
    schema: dict[str, Any], options: SchemaOptions, data: st.DataObject
) -> None:
    vocabulary = Vocabulary(PIECES)
    matcher = compile_constraint(json_schema=schema, schema_options=options).matcher(vocabulary)
    # Mostly to the first value at once, where the arms differ.
    if data.draw(st.booleans()):
        matcher.accept_bytes(b'{"a": ')
    for _ in range(10):
        found = mask_of(matcher, vocabulary)
        legal = {token for token, piece in enumerate(PIECES) if matcher.clone().accept_bytes(piece or b"")}
        assert found == legal
        if not found:
            break
        assert matcher.accept(data.draw(st.sampled_from(sorted(found))))


def _any_value(options: SchemaOptions) -> tuple[JoiningMachine, Constraint, MaskStore]:
    workspaces.clear()
    found = compile_constraint(json_schema={}, schema_options=options)
    store = found._seat.workspace.store(Vocabulary(PIECES))
    store.prepare(math.inf)
    assert isinstance(found.machine, JoiningMachine)
    return found.machine, found, store


@pytest.mark.parametrize(("options", "before"), list(product(OPTIONS[:3], [None, b" ", b"[", b'": ', b"1"])))
def test_what_tokens_do_in_a_rule(options: SchemaOptions, before: bytes | None) -> None:
    """Tokens by themselves, or behind some bytes of theirs, against reading each of them."""
    machine, _, store = _any_value(options)
    (rule,) = machine.shared_rules
    walk, trie = store._walks.whole, store.vocabulary.trie
    paths = [walk.path(node) for node in range(trie.size)]
    entries = None
    if before is not None:
        above = [node for node, path in enumerate(paths) if path[:-1] == before]
        entries = np.array(above, np.int32)
    known: Summary = store._search._summaries.find(rule, entries)
    start = machine.begin(rule, END)
    skipped = len(before or b"")
    inside = [(node, path[skipped:]) for node, path in enumerate(paths) if path.startswith(before or b"")]
    row = store.vocabulary.writable * 0
    row[known.words] = known.bits
    assert not known.unknown
    legal = {
        token
        for node, rest in inside
        if rest and machine.advance(start, rest) != DEAD
        for token in trie.ids(node)
    }
    assert set(store.vocabulary.unpack(row).tolist()) == legal
    ended = [
        node for node, rest in inside if rest[:-1] and machine.accepts(machine.advance(start, rest[:-1]))
    ]
    assert known.exits.tolist() == sorted(ended)


def test_schemas_share_any_value() -> None:
    machine, found, _ = _any_value(OPTIONS[0])
    rules = list(machine.shared_rules)
    other = compile_constraint(json_schema={"type": "array"}, schema_options=OPTIONS[0])
    assert other.machine is machine and machine.shared_rules == rules
    compile_constraint(json_schema={"type": "array"}, schema_options=OPTIONS[1])
    assert len(machine.shared_rules) == 2
    groups = found._seat.workspace.store(Vocabulary(PIECES))._shapes.merging.groups
    (only,) = groups(machine.advance(other.start, b"[1, "))
    assert isinstance(only, RuleGroup) and only.node is rules[0]
    # Where an array may also end, its first value is still one group.
    first, end = groups(machine.advance(other.start, b"["))
    assert isinstance(first, RuleGroup) and end.run == b"]"


def test_a_value_that_shares_a_place_with_another_is_taken_apart() -> None:
    """Two arms read one number: what follows it is not what follows any value."""
    any_value = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
    number = any_value | {"properties": {"a": {"type": "number"}, "b": {}}, "required": ["b"]}
    schema = {"anyOf": [any_value, number]}
    workspaces.clear()
    found = compile_constraint(json_schema=schema, schema_options=OPTIONS[0])
    matcher = found.matcher(vocabulary := Vocabulary(PIECES))
    assert matcher.accept_bytes(b'{"a": ')
    groups = found._seat.workspace.store(vocabulary)._shapes.merging.groups(matcher.config)
    assert not any(isinstance(group, RuleGroup) for group in groups)
    legal = {token for token, piece in enumerate(PIECES) if matcher.clone().accept_bytes(piece or b"")}
    assert mask_of(matcher, vocabulary) == legal
    assert matcher.accept_bytes(b"1")
    assert {PIECES[token] for token in mask_of(matcher, vocabulary)} >= {b"}", b"0", b","}


def test_what_is_made_ready_is_on_no_account() -> None:
    workspaces.clear()
    strict = ConstraintOptions(max_states=10)
    found = compile_constraint(json_schema={}, options=strict)
    found._seat.workspace.store(Vocabulary(PIECES)).prepare(math.inf)
    assert len(found.machine.configs) > 20


def test_a_rule_of_its_own_is_the_same_rule() -> None:
    language = compile_schema({"type": "array"}, OPTIONS[0])
    (name,) = language.rules
    assert Rule(name) == Rule(name, own=True)
    assert compile_schema({"type": "array"}, OPTIONS[0]).rules[name] is language.rules[name]
    assert term_digest(language) == term_digest(compile_schema({"type": "array"}, OPTIONS[0]))
