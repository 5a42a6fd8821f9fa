"""`warm_up` finds the masks that texts would find, and costs nothing but time; nothing is found unasked."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.automata.term import Language, Nothing
from sglc.runtime.mask import warmup as preparation
from sglc.runtime.mask.automaton.limits import ConstraintOptions, LimitTracker
from sglc.runtime.mask.constraint import Constraint, compile_constraint
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.mask_cache import MaskStore
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from strategies.mask_cases import mask_of, prefixes, vocabularies
from strategies.typed_values import languages

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


def apart(made: Constraint, seconds: float = 0.0) -> Constraint:
    """The same constraint on a machine of its own, warmed up for so long."""
    found = Constraint(made.language, replace(made.options, max_terms=next(_alone)))
    if seconds:
        found.warm_up(VOCABULARY, seconds)
    return found


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the clock takes 50 microseconds, whatever the machine does."""
    ticks = itertools.count(1)
    monkeypatch.setattr(preparation, "perf_counter", lambda: next(ticks) * 50e-6)


@pytest.mark.slow
@settings(
    max_examples=examples(24),
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
    made = compile_constraint(language=language)
    vocabulary = data.draw(vocabularies(language))
    warm = apart(made)
    warm.warm_up(vocabulary, seconds)
    prepared, plain = warm.matcher(vocabulary), apart(made).matcher(vocabulary)
    if made.is_empty:
        return
    for end in range(len(prefix := data.draw(prefixes(language)))):
        assert mask_of(prepared, vocabulary) == mask_of(plain, vocabulary)
        assert prepared.accept_bytes(prefix[end : end + 1])
        assert plain.accept_bytes(prefix[end : end + 1])


@pytest.mark.slow
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
    prepared, plain = apart(made, 1.0), apart(made)
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


def test_nothing_is_found_ahead_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither compiling nor a matcher makes a mask."""
    for kind in ("mask", "describe_ahead"):
        monkeypatch.setattr(MaskStore, kind, _never)
    for made in (
        compile_constraint(json_schema={**SCHEMA, "additionalProperties": True}),
        compile_constraint(grammar=GRAMMAR),
    ):
        assert not apart(made).matcher(VOCABULARY).has_mask()


def _never(*arguments: object) -> None:
    raise AssertionError("masks are found ahead")


def test_the_places_in_and_behind_keys_are_known(clock: None) -> None:
    """Tokens end in keys, and behind their colon."""
    schema = {"type": "object", "properties": {"ab": {"type": "integer"}, "cd": {"type": "boolean"}}}
    made = apart(compile_constraint(json_schema=schema), 1.0)
    for text in ('{"', '{"ab', '{"cd', '{"ab":', '{"cd":', '{"cd": '):
        matcher = made.matcher(VOCABULARY)
        assert matcher.accept_bytes(text.encode())
        assert matcher.has_mask(), text


@pytest.mark.parametrize("made", [SCHEMA, {}], ids=["schema", "any value"])
def test_it_ends_in_time(monkeypatch: pytest.MonkeyPatch, made: object) -> None:
    """What is left out for want of time is found by the next call, or by texts."""
    constraint = apart(compile_constraint(json_schema=made))
    ticks = itertools.count()
    found: list[float] = []
    mask = MaskStore.mask

    def counted(store: MaskStore, config: int, account: LimitTracker) -> object:
        found.append(next(ticks))
        return mask(store, config, account)

    monkeypatch.setattr(MaskStore, "mask", counted)
    monkeypatch.setattr(preparation, "perf_counter", lambda: float(next(ticks)))
    constraint.warm_up(VOCABULARY, 60.0)
    assert 0 < len(found) < 60
    few = len(found)
    constraint.warm_up(VOCABULARY, 1_000.0)
    assert len(found) > few


def test_a_limit_ends_it_and_not_the_text(clock: None) -> None:
    pairs = compile_constraint(regex="(a?){40}(ab?c?)*[a-f]{1,90}").language
    constraint = Constraint(pairs, ConstraintOptions(max_states=12, max_terms=next(_alone)))
    constraint.warm_up(VOCABULARY, 1.0)
    matcher = constraint.matcher(VOCABULARY)
    with pytest.raises(ConstraintError, match="more than 12 states"):
        for byte in b"abcabcabc" * 9:
            matcher.fill_mask(VOCABULARY.writable)
            assert matcher.accept(byte)


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

    def reading(self: MaskStore, config: int, data: bytes, account: LimitTracker) -> int:
        read.append(len(data))
        return advance(self, config, data, account)

    monkeypatch.setattr(MaskStore, "advance", reading)
    apart(made, 0.005)
    assert read
    assert max(read) < 1_000


def test_without_any_text_there_is_nothing_to_find() -> None:
    apart(Constraint(Language(Nothing()), ConstraintOptions()), 1.0)
