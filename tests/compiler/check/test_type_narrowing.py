"""Conditions pushed into a language: exactly the texts of the values for which plain evaluation says yes."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.automata.analysis.emptiness import is_finite
from sglc.automata.analysis.membership import is_word
from sglc.types import type as t
from sglc.types.condition import (
    All,
    Among,
    Compared,
    Divided,
    Either,
    Flag,
    Given,
    Known,
    Listed,
    Matches,
    Not,
    Subject,
    TextAt,
    bind,
)
from sglc.types.language.narrowing import is_expressible, narrowed_language
from sglc.types.text.printer import print_value
from sglc.types.values import EnumValue, RecordValue

HERE = Subject()
LENGTH = Subject(length=True)
OPERATORS = st.sampled_from("< <= > >= == !=".split())
MOOD = t.EnumType("Mood", ("calm", "null", "angry", "an"))
PERSON = t.RecordType(
    "Person",
    (
        t.FieldType("age", t.Int(0, 5)),
        t.FieldType("name", t.Str(0, 1, patterns=("[ab]*",))),
        t.FieldType("mood", t.Named("Mood"), optional=True),
        t.FieldType("rank", t.Int(0, 2), has_default=True, default=1),
    ),
)
PAIR = t.RecordType("Pair", (t.FieldType("left", t.Named("Person")), t.FieldType("ok", t.Bool())))
TABLE = {"Mood": MOOD, "Person": PERSON, "Pair": PAIR, "small": t.AliasType("small", t.Int(-7, 12))}
MOODS = [EnumValue("Mood", name) for name in MOOD.members]


# The oracle: a condition is a pair of the term and a function of the value, written independently of `holds`.


def asked(operator, left, right):
    kinds = [isinstance(x, int | Decimal) and not isinstance(x, bool) for x in (left, right)]
    if operator == "==":
        return left == right and kinds[0] == kinds[1]
    if operator == "!=":
        return not asked("==", left, right)
    if not all(kinds):
        return False
    return bool(eval(f"a {operator} b", {"a": left, "b": right}))


def at(path, length):
    def get(value):
        for name in path:
            value = value.fields[name] if isinstance(value, RecordValue) else None
        if length:
            return len(value) if isinstance(value, str | list | dict) else None
        return value

    return get


class Values:
    """Collects given values, so that every operand goes through binding."""

    def __init__(self):
        self.values = []

    def __call__(self, value, run):
        if not run:
            return Known(Listed(value) if isinstance(value, list) else value)
        self.values.append(value)
        return Given(len(self.values) - 1)


def numbers():
    return st.integers(-9, 14) | st.sampled_from([Decimal("2.5"), Decimal("-1"), Decimal("3.0"), None])


@st.composite
def atom(draw, kinds, values, paths=((),)):
    path = draw(st.sampled_from(paths))
    kind = draw(st.sampled_from(kinds))
    run = draw(st.booleans())
    get = at(path, kind == "length")
    subject = Subject(path, kind == "length")
    match kind:
        case "number":
            op, bound = draw(OPERATORS), draw(numbers())
            return Compared(subject, op, values(bound, run)), lambda v: asked(op, get(v), bound)
        case "length":
            op, bound = draw(OPERATORS), draw(st.integers(-1, 5))
            return Compared(subject, op, values(bound, run)), lambda v: asked(op, get(v), bound)
        case "divided":
            step, rest = draw(st.integers(-6, 6).filter(bool)), draw(st.integers(-3, 3))
            return (
                Divided(subject, values(step, run), Known(rest)),
                lambda v: isinstance(get(v), int) and get(v) % step == rest,
            )
        case "whole":
            found = draw(st.lists(st.integers(-9, 14) | st.just(Decimal("1.5")), max_size=5))
            return Among(subject, values(found, run)), lambda v: any(asked("==", get(v), x) for x in found)
        case "words":
            found = draw(st.lists(st.sampled_from(WORDS + ["x" * 9, "a\n"]), max_size=6))
            return Among(subject, values(found, run)), lambda v: get(v) in found
        case "text":
            op, word = draw(st.sampled_from(["==", "!="])), draw(st.sampled_from(WORDS))
            return Compared(subject, op, values(word, run)), lambda v: (get(v) == word) == (op == "==")
        case "at":
            place, word = draw(st.sampled_from(["start", "end", "inside"])), draw(st.sampled_from(WORDS))

            def check(v):
                text = get(v)
                if not isinstance(text, str):
                    return False
                if place == "inside":
                    return text.count(word) > 0
                return (
                    text[: len(word)] == word if place == "start" else text[len(text) - len(word) :] == word
                )

            return TextAt(subject, place, values(word, run)), check
        case "matches":
            pattern, accepted = draw(
                st.sampled_from([("a+b?", {"a", "aa", "ab", "aab", "aaa"}), ("[^b]{2}", None)])
            )
            if accepted is None:
                return Matches(
                    subject, pattern
                ), lambda v: isinstance(get(v), str) and len(get(v)) == 2 and "b" not in get(v)
            return Matches(subject, pattern), lambda v: get(v) in accepted
        case "mood":
            found = draw(st.lists(st.sampled_from(MOODS), max_size=3))
            return Among(subject, values(found, run)), lambda v: get(v) in found
        case "is mood":
            mood = draw(st.sampled_from([*MOODS, None]))
            return Compared(subject, "==", values(mood, run)), lambda v: get(v) == mood
        case "flag":
            truth = draw(st.booleans())
            return Flag(values(truth, run)), lambda v: truth


@st.composite
def formula(draw, kinds, values, paths=((),), depth=2):
    shape = draw(st.sampled_from(["atom", "atom", "not", "and", "or"])) if depth else "atom"
    if shape == "atom":
        return draw(atom(kinds, values, paths))
    if shape == "not":
        term, test = draw(formula(kinds, values, paths, depth - 1))
        return Not(term), lambda v: not test(v)
    parts = [draw(formula(kinds, values, paths, depth - 1)) for _ in range(draw(st.integers(1, 3)))]
    terms = tuple(term for term, _ in parts)
    if shape == "and":
        return All(terms), lambda v: all(test(v) for _, test in parts)
    return Either(terms), lambda v: any(test(v) for _, test in parts)


def agree(type, values, term, given_values, test):
    assert is_expressible(type, term, TABLE)
    language = narrowed_language(type, TABLE, bind(term, given_values))
    for value in values:
        text = print_value(value, type, TABLE)
        assert is_word(language, text) == test(value), (term, given_values, value)
    return language


LETTERS = ("a", "b", "é")
WORDS = [
    "",
    *LETTERS,
    *(x + y for x in LETTERS for y in LETTERS),
    *(x + y + z for x in LETTERS for y in LETTERS for z in LETTERS),
    "null",
]


@pytest.mark.slow
@settings(max_examples=examples(100), deadline=None)
@given(st.data())
def test_integers(data):
    values = Values()
    term, test = data.draw(formula(("number", "divided", "whole", "flag"), values))
    for type in (t.Int(-7, 12), t.Int(-7, 12, 3), t.Named("small")):
        inside = [n for n in range(-7, 13) if n % (3 if type == t.Int(-7, 12, 3) else 1) == 0]
        language = agree(type, inside, term, values.values, test)
        assert is_finite(language)
        assert not any(is_word(language, str(n)) for n in (-9, -8, 13, 14, 100))


@pytest.mark.slow
@settings(max_examples=examples(48), deadline=None)
@given(st.data())
def test_decimals(data):
    values = Values()
    term, test = data.draw(formula(("number", "whole", "flag"), values))
    inside = [Decimal(n) / 4 for n in range(-12, 20)]
    language = agree(t.Dec(Decimal(-3), Decimal("4.75")), inside, term, values.values, test)
    assert is_word(language, "2.500") == test(Decimal("2.5"))


@pytest.mark.slow
@settings(max_examples=examples(100), deadline=None)
@given(st.data())
def test_texts(data):
    values = Values()
    term, test = data.draw(formula(("length", "words", "text", "at", "matches", "flag"), values))
    agree(t.Str(max_chars=4), WORDS, term, values.values, test)
    short = [word for word in WORDS if 1 <= len(word) <= 2 and "b" not in word]
    type = t.Str(1, 2, excludes=("b",))
    language = agree(type, short, term, values.values, test)
    assert not any(is_word(language, word) for word in WORDS if word not in short)
    # Beside null, the text `null` is none.
    agree(t.Optional(t.Str(max_chars=4)), WORDS[:-1], term, values.values, test)


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.data())
def test_finite_types(data):
    values = Values()
    term, test = data.draw(formula(("mood", "is mood", "flag"), values))
    agree(t.Named("Mood"), MOODS, term, values.values, test)
    agree(
        t.Optional(t.Named("Mood")),
        [None, *(m for m in MOODS if m.name != "null")],
        term,
        values.values,
        test,
    )
    values = Values()
    term, test = data.draw(formula(("words", "text"), values))
    arms = t.Alternatives(tuple(t.Constant(word) for word in WORDS[:9]))
    agree(arms, WORDS[:9], term, values.values, test)
    agree(t.OneOf(0, frozenset(WORDS)), WORDS, term, values.values, test)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_lengths_of_lists(data):
    values = Values()
    term, test = data.draw(formula(("length", "flag"), values))
    lists = [[1] * size for size in range(9)]
    agree(t.ListOf(t.Int(0, 3)), lists, term, values.values, test)
    agree(t.ListOf(t.Int(0, 3), 1, 4), lists[1:5], term, values.values, test)
    maps = [{str(n): n for n in range(size)} for size in range(9)]
    agree(t.MapOf(t.Str(max_chars=2), t.Int(0, 9)), maps, term, values.values, test)


PEOPLE = [
    RecordValue("Person", {"age": age, "name": name, "mood": mood, "rank": rank})
    for age in range(6)
    for name in ("", "a", "b")
    for mood in (None, MOODS[0], MOODS[2])
    for rank in range(3)
]


@pytest.mark.slow
@settings(max_examples=examples(48), deadline=None)
@given(st.data())
def test_fields_of_records(data):
    values = Values()
    parts = []
    for names, kinds in (
        ("age", ("number", "divided")),
        ("name", ("text", "length")),
        ("mood", ("mood",)),
        ("rank", ("number",)),
    ):
        if data.draw(st.booleans()):
            parts.append(data.draw(formula(kinds, values, ((names,),), 1)))
    term = All(tuple(term for term, _ in parts))
    agree(t.Named("Person"), PEOPLE, term, values.values, lambda v: all(test(v) for _, test in parts))
    outer = All(tuple(_below_left(term) for term, _ in parts))
    pairs = [RecordValue("Pair", {"left": person, "ok": True}) for person in PEOPLE]
    agree(t.Named("Pair"), pairs, outer, values.values, lambda v: all(f(v.fields["left"]) for _, f in parts))


def _below_left(term):
    from dataclasses import replace

    from sglc.types.condition import changed, subject

    def put(part):
        found = subject(part)
        return part if found is None else replace(part, subject=replace(found, path=("left", *found.path)))

    return changed(term, put)


def test_what_needs_two_fields_or_an_order_of_texts_is_not_expressible():
    two = Either((Compared(Subject(("age",)), "<", Known(3)), Compared(Subject(("rank",)), "<", Known(1))))
    assert not is_expressible(t.Named("Person"), two, TABLE)
    assert not is_expressible(t.Str(), Compared(HERE, "<", Known("m")), TABLE)
    assert not is_expressible(t.Float(), Compared(HERE, "<", Known(1)), TABLE)
    assert not is_expressible(t.TupleOf((t.Int(),)), Compared(LENGTH, "<", Known(1)), TABLE)


@pytest.mark.slow
def test_many_words():
    many = Listed(f"w{n:05d}" for n in range(100_000))
    language = narrowed_language(t.Str(max_chars=9), {}, Among(HERE, Known(many)))
    assert is_word(language, "w00017") and not is_word(language, "w1")
    language = narrowed_language(t.Str(max_chars=9), {}, Not(Among(HERE, Known(many))))
    assert not is_word(language, "w00017") and is_word(language, "w1")
