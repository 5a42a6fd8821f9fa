"""Masks that are found ahead are those that texts would find, and nothing but time is spent on them."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from budget import examples
from mask_cases import mask_of, prefixes, vocabularies
from sglc.automata.term import Bytes, Language
from sglc.runtime.hole import Constraints, HoleRequest
from sglc.runtime.mask import constraint as constraints
from sglc.runtime.mask import preparation
from sglc.runtime.mask.account import Account, ConstraintOptions
from sglc.runtime.mask.constraint import Constraint, compile_constraint
from sglc.runtime.mask.errors import ConstraintError
from sglc.runtime.mask.freeze import freeze
from sglc.runtime.mask.frozen import FrozenConstraint
from sglc.runtime.mask.store import MaskStore
from sglc.runtime.mask.vocabulary import Vocabulary
from strategies import languages

VOCABULARY = Vocabulary(
    [bytes([byte]) for byte in range(256)] + [b'{"', b'": ', b'", "', b"ab", b" + (", b"12"]
)
GRAMMAR = """
start: sum
sum: sum "+" product | product
product: product "*" operand | operand
operand: NAME | /[0-9]+/ | "(" sum ")" | NAME "(" [sum ("," sum)*] ")" | "if" sum "then" sum
NAME: /[a-z]+/
%ignore /[ ]+/
"""
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z]{2,8}$"},
        "of": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"enum": ["a", "b", 3]}}]},
        "more": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["name"],
}
_alone = itertools.count(300_000)


def apart(made: Constraint, seconds: float) -> Constraint:
    """The same constraint on a machine of its own."""
    return Constraint(
        made.language, replace(made.options, max_terms=next(_alone), prepare_seconds=seconds), 1000.0
    )


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the clock takes 50 microseconds, whatever the machine does."""
    ticks = itertools.count(1)
    monkeypatch.setattr(preparation, "perf_counter", lambda: next(ticks) * 50e-6)


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.function_scoped_fixture,
        HealthCheck.data_too_large,
    ],
)
@given(data=st.data(), seconds=st.sampled_from((0.0001, 0.001, 0.02)))
def test_masks_are_the_same(clock: None, data: st.DataObject, seconds: float) -> None:
    language = data.draw(languages())
    made = compile_constraint(language=language, options=ConstraintOptions(prepare_seconds=0))
    vocabulary = data.draw(vocabularies(language))
    prepared, plain = apart(made, seconds).matcher(vocabulary), apart(made, 0).matcher(vocabulary)
    if made.is_empty:
        return
    for end in range(len(prefix := data.draw(prefixes(language)))):
        assert mask_of(prepared, vocabulary) == mask_of(plain, vocabulary)
        assert prepared.accept_bytes(prefix[end : end + 1])
        assert plain.accept_bytes(prefix[end : end + 1])


@pytest.mark.parametrize(
    ("made", "texts"),
    [
        (compile_constraint(grammar=GRAMMAR), ["ab + (12 * if x then f(1, g()))", "f(a)*3"]),
        (compile_constraint(json_schema=SCHEMA), ['{"name": "ab", "of": ["a", 3], "more": {"x": "y"}}']),
        (compile_constraint(regex="(ab|cd)*[x-z]{3}|[0-9]{1,40}!"), ["ababcdxyz", "123!"]),
    ],
    ids=["grammar", "schema", "regex"],
)
def test_texts_are_read_as_without(clock: None, made: Constraint, texts: list[str]) -> None:
    prepared, plain = apart(made, 1.0), apart(made, 0)
    for text in texts:
        one, other = prepared.matcher(VOCABULARY), plain.matcher(VOCABULARY)
        for byte in text.encode():
            assert mask_of(one, VOCABULARY) == mask_of(other, VOCABULARY)
            assert one.accept(byte)
            assert other.accept(byte)
        assert one.is_accepting()


def test_the_places_where_texts_begin_are_known(clock: None) -> None:
    made = compile_constraint(json_schema=SCHEMA)
    matcher = apart(made, 1.0).matcher(VOCABULARY)
    assert matcher.has_mask()
    for piece in (matcher.forced(), b"a"):
        assert matcher.accept_bytes(piece)
        assert matcher.has_mask(), piece
    assert not apart(made, 0).matcher(VOCABULARY).has_mask()


def test_the_places_in_and_behind_keys_are_known(clock: None) -> None:
    """Tokens end in keys, and behind their colon."""
    schema = {"type": "object", "properties": {"ab": {"type": "integer"}, "cd": {"type": "boolean"}}}
    made = apart(compile_constraint(json_schema=schema), 1.0)
    for text in ('{"', '{"ab', '{"cd', '{"ab":', '{"cd":', '{"cd": '):
        matcher = made.matcher(VOCABULARY)
        assert matcher.accept_bytes(text.encode())
        assert matcher.has_mask(), text


def test_once_for_a_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    made = apart(compile_constraint(json_schema=SCHEMA), 1.0)
    given: list[float] = []
    monkeypatch.setattr(constraints, "prepare", lambda *arguments: given.append(arguments[-1]))
    for vocabulary in (VOCABULARY, VOCABULARY, Vocabulary([b"{", b'"', b"}", b"name"]), VOCABULARY):
        made.matcher(vocabulary)
    assert given == [1.0, 1.0]
    matcher = made.matcher(VOCABULARY)
    matcher.fill_mask(VOCABULARY.writable)
    assert Constraint(made.language, made.options).matcher(VOCABULARY).config == matcher.config
    assert given == [1.0, 1.0], "an equal constraint has its masks"
    Constraint(Language(Bytes(b"a")), replace(made.options, prepare_seconds=0)).matcher(VOCABULARY)
    assert len(given) == 2


def test_a_limit_ends_it_and_not_the_text(clock: None) -> None:
    pairs = compile_constraint(regex="(a?){40}(ab?c?)*[a-f]{1,90}").language
    options = ConstraintOptions(max_states=12, max_terms=next(_alone), prepare_seconds=1.0)
    matcher = Constraint(pairs, options, 1000.0).matcher(VOCABULARY)
    with pytest.raises(ConstraintError, match="more than 12 states"):
        for byte in b"abcabcabc" * 9:
            matcher.fill_mask(VOCABULARY.writable)
            assert matcher.accept(byte)


def test_artefacts_do_not_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*arguments: object) -> None:
        raise AssertionError("masks are found ahead")

    monkeypatch.setattr(constraints, "prepare", never)
    language = compile_constraint(json_schema=SCHEMA).language
    tables = freeze(language, VOCABULARY)
    matcher = FrozenConstraint(language, ConstraintOptions(), tables, VOCABULARY).matcher(VOCABULARY)
    for byte in b'{"name": "abcdef", "more": {"k": "':
        assert matcher.accept(byte)
        assert mask_of(matcher, VOCABULARY)


@pytest.mark.parametrize(
    "made",
    [
        compile_constraint(json_schema={"type": "string", "minLength": 90_000}),
        compile_constraint(json_schema={"type": "object", "properties": {"k" * 90_000: {}, "b": {}}}),
        compile_constraint(json_schema={"enum": ["a" * 90_000 + end for end in "bcd"]}),
        compile_constraint(regex="(ab){70000}|c"),
    ],
    ids=["text", "key", "enum", "regex"],
)
def test_long_words_are_not_read_to_their_end(
    clock: None, monkeypatch: pytest.MonkeyPatch, made: Constraint
) -> None:
    read: list[int] = []
    advance = MaskStore.advance

    def reading(self: MaskStore, config: int, data: bytes, account: Account) -> int:
        read.append(len(data))
        return advance(self, config, data, account)

    monkeypatch.setattr(MaskStore, "advance", reading)
    apart(made, 0.005).matcher(VOCABULARY)
    assert read
    assert max(read) < 1_000


def test_holes_do_not_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[object] = []
    monkeypatch.setattr(constraints, "prepare", lambda *arguments: given.append(arguments))
    request = HoleRequest("f.x", "key", compile_constraint(json_schema=SCHEMA).language)
    matcher = Constraints().value(request).matcher(VOCABULARY)
    assert mask_of(matcher, VOCABULARY)
    assert not given
