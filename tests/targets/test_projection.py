"""Projections: what a backend that enforces them may answer is legal, and is written as the language does."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from example_budget import examples
from expression_oracle import is_text
from judges.json_reading import Validator
from oracles.schema_answers import NoAnswer, answer
from sglc.automata.analysis.membership import is_word
from sglc.automata.term import Language, Words
from sglc.cfg.notation.gbnf import read_gbnf
from sglc.targets.projection.canonical import LONGEST_ANSWER, AnswerError, canonical_text
from sglc.targets.projection.core.capabilities import Capabilities
from sglc.targets.projection.core.enforcement import Projection
from sglc.targets.projection.notations import MOST_OPTIONS
from sglc.targets.projection.project import project
from sglc.types.condition import Among, Compared, Condition, Known, Not, Subject
from sglc.types.language.language import language
from sglc.types.language.membership import is_member
from sglc.types.language.narrowing import narrowed_language
from sglc.types.text.decode import decode
from sglc.types.text.plain_json import dumps, parse_json
from sglc.types.type import (
    Alternatives,
    Bool,
    Dec,
    EnumType,
    FieldType,
    Float,
    InForm,
    Int,
    Json,
    ListOf,
    MapOf,
    Named,
    OneOf,
    Optional,
    RecordType,
    SpanOf,
    Str,
    TupleOf,
    matching,
)
from sglc.types.values import EnumValue
from strategies.near_misses import mutated
from strategies.typed_values import SEEDS, types, values_of, words_of

BACKENDS = {
    "vllm": Capabilities(frozenset({"gbnf", "regex", "json_schema", "choice"}), "whole", scores=True),
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
@settings(max_examples=examples(10), suppress_health_check=list(HealthCheck))
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


def test_decimals_of_an_answer_have_the_places_of_a_hole() -> None:
    """Wherever a decimal stands; floats, plain JSON and steps keep their digits."""
    fields = (
        FieldType("price", Dec()),
        FieldType("rate", Float()),
        FieldType("step", Dec(multiple_of=Decimal("0.000000000001"))),
        FieldType("rest", Optional(Named("Bill")), has_default=True, default=None),
        FieldType("data", Json()),
    )
    table = {"Bill": RecordType("Bill", fields)}
    type = MapOf(Str(), ListOf(TupleOf((Alternatives((Named("Bill"), Dec())),))))
    bill = '{"price": %s, "rate": 0.12345678901234, "step": 0.000000000003, %s"data": 0.12345678901}'
    answer = bill % ("1.00000000005", '"rest": %s, ' % (bill % ("2.12345678905", "")))
    enforced = project(type, language(type, table), table, BACKENDS["whole"]).enforced
    text = canonical_text(f'{{"a": [[{answer}], [-0.00000000001]]}}', enforced, type, table)
    written = bill % ("1", '"rest": %s, ' % (bill % ("2.123456789", '"rest": null, ')))
    assert text == f'{{"a": [[{written}], [0]]}}'


# -- single holes ---------------------------------------------------------------------------------------


def losses(got: Projection) -> list[str]:
    return [loss.construct for loss in got.lost]


@pytest.mark.parametrize(
    ("type", "levels", "lost"),
    [
        (Int(1, 3), "exact value value exact", []),
        (Int(), "exact value wider exact", ["the number of digits"]),
        (Str(), "exact value value exact", []),
        (Str(2, 101), "exact value wider exact", ["several conditions on a text"]),
        (Str(2, 100), "exact value value exact", []),
        (Str(0, 1_999), "exact value wider exact", ["several conditions on a text"]),
        (Optional(Str()), "exact value value exact", []),
        (TupleOf((Int(0, 9), Bool())), "exact value value exact", []),
        (ListOf(Bool(), 1), "exact value value exact", []),
        (ListOf(Bool(), 2, 3), "exact value wider exact", ["a number of items"]),
        (MapOf(Str(max_chars=3), Bool()), "wider asked asked wider", ["what an answer may be"]),
        (Json(), "wider asked asked wider", ["what an answer may be"]),
        (Dec(Decimal(0), Decimal(1)), "exact value wider exact", ["the bounds of a number"]),
        (OneOf(0, frozenset({"a", "b c"})), "exact value value exact", []),
        (SpanOf(0, text="to be or not"), "exact value value exact", []),
        (InForm(ListOf(Str(max_chars=9), 1), "lines"), "exact value value exact", []),
    ],
)
def test_the_level_of_a_type(type, levels: str, lost: list[str]) -> None:
    names = ("vllm", "openai", "anthropic", "llama")
    found = [projected(type, name) for name in names]
    assert [got.level for got in found] == levels.split()
    assert losses(found[2]) == lost and bool(found[2].hints) == bool(lost)


def test_nothing_is_enforced_by_a_backend_without_notations() -> None:
    got = projected(Int(1, 3), "none")
    assert got.level == "asked" and got.enforced is None and got.shown and got.hints


@pytest.mark.parametrize("most", [1_999, 2_000])
def test_repetitions_of_llama_cpp_are_counted(most: int) -> None:
    """Its threshold is the first that is refused, so 1,999 characters are a grammar and 2,000 a schema."""
    got = projected(Str(0, most), "llama")
    assert (got.level, got.enforced.notation) == (
        ("exact", "gbnf") if most < 2_000 else ("value", "json_schema")
    )
    two = InForm(ListOf(Str(max_chars=most // 2), 2, 2), "json")
    assert projected(two, "llama").level == "exact", "one repetition behind the other is no product"
    alone = Capabilities(frozenset({"gbnf"}), repetitions=2_000)
    wide = project(Str(0, most), language(Str(0, most), {}), {}, alone)
    assert losses(wide) == ([] if most < 2_000 else ["2,000 repetitions or more"])
    assert is_text(read_gbnf(wide.enforced.text), "x" * most)


def test_rules_that_are_repeated_count_as_often() -> None:
    pairs = ListOf(TupleOf((Str(max_chars=40), Bool())), 0, 60)
    assert projected(pairs, "llama").level == "value", "41 rules 60 times are more than 2,000"
    assert projected(ListOf(TupleOf((Str(max_chars=40), Bool())), 0, 30), "llama").level == "exact"


CREW = {
    "Post": EnumType("Post", ("pilot", "medic", "cook")),
    "Crew": RecordType(
        "Crew",
        (
            FieldType("post", Named("Post")),
            FieldType("age", Int(18, 70)),
            FieldType("motto", Str(2, 30)),
            FieldType("nick", matching("[a-z]+"), optional=True),
            FieldType("rank", Int(1, 9), has_default=True, default=1),
            FieldType("pair", TupleOf((Named("Post"), Bool()))),
        ),
    ),
}
SAID = '{"pair": {"item_2": true, "item_1": "cook"}, "age": 41.0, "post": "medic", "motto": "\\u0041h", '


def test_what_a_dialect_says_in_another_way_is_undone() -> None:
    got = projected(Named("Crew"), "openai", CREW)
    assert got.level == "value" and got.enforced.absent_as_null and got.enforced.tuples_as_objects
    text = canonical_text(SAID + '"nick": null, "rank": null}', got.enforced, Named("Crew"), CREW)
    assert text == '{"post": "medic", "age": 41, "motto": "Ah", "pair": ["cook", true]}'
    text = canonical_text(SAID + '"nick": "al", "rank": 1}', got.enforced, Named("Crew"), CREW)
    assert '"nick": "al", "rank": 1, "pair"' in text
    wrapped = projected(Named("Post"), "openai", CREW)
    assert canonical_text('{"value":"cook"}', wrapped.enforced, Named("Post"), CREW) == "cook"


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ('{"value": "king"}', "no member of Post"),
        ('{"value": "cook", "why": 1}', "the one key `value`"),
        ('"cook"', "the one key `value`"),
        ('{"value": "cook", "value": "cook"}', "stands twice"),
        ('{"value": NaN}', "NaN is no number"),
        ("__import__('os')", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ('{"value": ' + "[" * 900 + "]" * 900 + "}", "deep"),
        ('{"value": 1e999999999999}', "member"),
        ('{"value": ' + "9" * 5_000 + "}", "no JSON"),
        (" " * (LONGEST_ANSWER + 1), "at most 10,000,000"),
    ],
)
def test_a_wrong_answer_is_told(answer: str, wrong: str) -> None:
    got = projected(Named("Post"), "openai", CREW)
    with pytest.raises(AnswerError, match=wrong):
        canonical_text(answer, got.enforced, Named("Post"), CREW)


def test_hostile_numbers_are_refused_in_no_time() -> None:
    for type in (Int(), Dec(), Float(), Float(Decimal(0), Decimal(1)), ListOf(Int())):
        got = projected(type, "openai")
        for number in ("1e999999999", "-1e-999999999", "1E+400", "123456789012345678901234567890"):
            said = f"[{number}]" if isinstance(type, ListOf) else number
            try:
                text = canonical_text(f'{{"value": {said}}}', got.enforced, type, {})
            except AnswerError:
                continue
            assert is_member(decode(text, type, {}), type, {}) and len(text) < 1_100


PILOT_AND_COOK = (EnumValue("Post", "pilot"), EnumValue("Post", "cook"))
CONDITIONS: list[tuple[Condition, str, str]] = [
    (Compared(Subject(("age",)), ">", Known(40)), '"age": 41', '"age": 40'),
    (
        Not(Among(Subject(("post",)), Known(PILOT_AND_COOK))),
        '"post": "medic"',
        '"post": "cook"',
    ),
    (Not(Among(Subject(("motto",)), Known(("Ah", "Oh")))), '"motto": "Eh"', '"motto": "Ah"'),
    (Compared(Subject(("motto",), length=True), "<", Known(3)), '"motto": "Eh"', '"motto": "Ehh"'),
]


@pytest.mark.parametrize(("condition", "good", "bad"), CONDITIONS)
def test_conditions_are_kept(condition: Condition, good: str, bad: str) -> None:
    whole = '{"post": "medic", "age": 50, "motto": "Ih", "pair": ["cook", true]}'

    def changed(part: str) -> str:
        key = part.partition(":")[0]
        start = whole.index(key)
        return whole[:start] + part + whole[whole.index(", ", start) :]

    grammar = projected(Named("Crew"), "vllm", CREW, condition)
    assert grammar.level == "exact"
    read = read_gbnf(grammar.enforced.text)
    assert is_text(read, changed(good)) and not is_text(read, changed(bad))
    schema = projected(Named("Crew"), "whole", CREW, condition)
    assert schema.level == "value"
    validator = Validator(schema.enforced.schema)
    assert validator.is_valid(parse_json(changed(good))) and not validator.is_valid(parse_json(changed(bad)))


def test_texts_that_were_answered_before() -> None:
    excluded = frozenset({b"pilot"})
    got = projected(Named("Post"), "vllm", CREW, excluded=excluded)
    assert got.level == "exact" and got.enforced.options == ("cook", "medic")
    again = projected(Named("Post"), "openai", CREW, excluded=excluded)
    assert again.level == "wider" and losses(again) == ["answers that were given before"]
    text = projected(Str(max_chars=3), "llama", excluded=frozenset({b"abc"}))
    read = read_gbnf(text.enforced.text)
    assert text.level == "exact" and is_text(read, "abd") and not is_text(read, "abc")


def test_options_of_the_run() -> None:
    for count, notation in ((MOST_OPTIONS, "choice"), (MOST_OPTIONS + 1, "gbnf")):
        words = frozenset(f"o{number}".encode() for number in range(count))
        got = project(None, Language(Words(words)), {}, BACKENDS["vllm"])
        assert (got.level, got.enforced.notation) == ("exact", notation)
    few = Language(Words(frozenset({b"yes", b"no"})))
    got = project(None, few, {}, BACKENDS["openai"])
    assert got.level == "value" and canonical_text('{"value": "no"}', got.enforced, None, {}) == "no"
    with pytest.raises(AnswerError, match="none of the options"):
        canonical_text('{"value": "maybe"}', got.enforced, None, {})


def test_validators_are_no_matter_of_a_backend() -> None:
    got = projected(Int(1, 3), "vllm", validators=True)
    assert got.level == "wider" and got.enforced is not None and losses(got) == ["a validator"]


def test_recursion() -> None:
    tree = {"Tree": RecordType("Tree", (FieldType("parts", ListOf(Named("Tree"))),))}
    levels = {name: projected(Named("Tree"), name, tree).level for name in BACKENDS}
    assert levels == {
        **dict.fromkeys(("vllm", "llama", "lark"), "exact"),
        **dict.fromkeys(("openai", "whole"), "value"),
        **dict.fromkeys(("anthropic", "regex", "none"), "asked"),
    }
