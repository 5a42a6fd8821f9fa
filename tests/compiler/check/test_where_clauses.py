"""`where`: the narrower type and what is left say together what the condition says, value by value."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.automata.analysis.membership import is_word
from sglc.check.program import check
from sglc.library import Library
from sglc.source import Source
from sglc.types.condition import bind
from sglc.types.language.language import language
from sglc.types.language.narrowing import narrowed_language

NUMBERS = st.integers(-5, 30).map(str) | st.sampled_from(["2.5", "7.0"])
COMPARED = st.builds("{} {} {}".format, st.just("v"), st.sampled_from("< <= > >= == !=".split()), NUMBERS)
TURNED = st.builds("{} {} {}".format, NUMBERS, st.sampled_from("< <= > >= == !=".split()), st.just("v"))
DIVIDED = st.builds(
    "v % {} == {}".format, st.integers(1, 6), st.integers(0, 2).map(str) | st.sampled_from(["0.5", "1.0"])
)
LISTED = st.builds(
    "v {} [{}]".format,
    st.sampled_from(["in", "not in"]),
    st.lists(st.integers(0, 20).map(str), min_size=1, max_size=4).map(", ".join),
)
ABOUT_NUMBERS = COMPARED | TURNED | DIVIDED | LISTED
WORDS = [f"{a}{b}{c}" for a in ("", "a", "b", ".") for b in ("", "a", "b.", "é") for c in ("", "a", "-")]
TEXT = st.sampled_from(["a", "b", ".", "ab", "é", "-", "a-"]).map('"{}"'.format)
ABOUT_TEXTS = (
    st.builds("len(v) {} {}".format, st.sampled_from("< <= > >= ==".split()), st.integers(1, 4))
    | st.builds("v.starts_with({})".format, TEXT)
    | st.builds("v.ends_with({})".format, TEXT)
    | st.builds("{} in v".format, TEXT)
    | st.builds("{} not in v".format, TEXT)
    | st.builds("v == {}".format, TEXT)
    | st.builds("v != {}".format, TEXT)
    | st.builds("v in [{}, {}]".format, TEXT, TEXT)
)


NAMED = (
    st.builds("v {} {}".format, st.sampled_from("< <= > >= == !=".split()), st.sampled_from(["lo", "hi + 1"]))
    | st.builds("lo * 2 {} v".format, st.sampled_from(["<", ">=", "!="]).map(str))
    | st.sampled_from(
        ["v in ns", "v not in ns", "v in lo..hi", "v in lo..<hi", "v % 3 == lo", "flag", "len(words) < v"]
    )
)
NAMED_TEXTS = (
    st.builds("len(v) {} {}".format, st.sampled_from("< <= > >= == !=".split()), st.sampled_from(["lo", "2"]))
    | st.sampled_from(["v in words", "v not in words", "v == word", "word != v", "v.starts_with(word)"])
    | st.sampled_from(["v.ends_with(word)", "v contains word", "word not in v", "flag", "v matches /a*b?/"])
)
ENVIRONMENTS = st.fixed_dictionaries(
    {
        "lo": st.integers(-4, 12),
        "hi": st.integers(-4, 20),
        "ns": st.lists(st.integers(-5, 26), max_size=4),
        "flag": st.booleans(),
        "word": st.sampled_from(["", "a", "b", "ab", "-"]),
        "words": st.lists(st.sampled_from(WORDS), max_size=4),
    }
)


def maybe_not(parts):
    return st.builds(lambda no, part: f"not ({part})" if no else part, st.booleans(), parts)


def combined(parts):
    """Conjunctions of parts, of which some are negated or disjunctions."""
    either = st.lists(maybe_not(parts), min_size=2, max_size=3).map(lambda found: f"({' or '.join(found)})")
    return st.lists(maybe_not(parts) | maybe_not(either), min_size=1, max_size=3).map(" and ".join)


def taken(type: str, condition: str):
    """The hole's facts, the source of what is left of its condition, and the program."""
    source = (
        "pub fn f(lo: int, hi: int, ns: [int], flag: bool, word: str, words: [str]) -> str:\n"
        f'    | ?{{v: {type} where {condition}}}\n    return "${{v}}"\n'
    )
    program, found = check(Source("p.sgl", source), Library())
    codes = {d.code for d in found if d.severity == "error"}
    if codes & {"E0303", "E0304", "E0322"}:
        return None, [], program  # nothing is left, and that is said
    assert not codes, (source, [d.message for d in found])
    assert program is not None
    (facts,) = program.main.holes.values()
    left = [e.condition.span.text for e in facts.where]
    assert len(left) == len([d for d in found if d.code == "W0215"])
    return facts, left, program


def holds(condition: str, environment: dict[str, object]) -> bool:
    text = condition.replace("starts_with", "startswith").replace("ends_with", "endswith")
    text = re.sub(r"(\w+) contains (\w+)", r"(\2 in \1)", text)
    text = re.sub(r"(\w+) matches /(.*?)/", r"bool(fullmatch('\2', \1))", text)
    text = text.replace("v in lo..<hi", "v in range(lo, hi)").replace("v in lo..hi", "v in range(lo, hi + 1)")
    # The conditions above are Python's too.
    return bool(eval(text, {"len": len, "fullmatch": re.fullmatch, **environment}))


def agree(type: str, condition: str, values, environment=None) -> None:
    environment = environment or {}
    facts, left, program = taken(type, condition)
    legal = None
    if facts is not None:
        given = [eval(node.span.text, {"len": len, **environment}) for node in facts.given]
        legal = language(facts.type, program.table)
        if facts.condition is not None:
            legal = narrowed_language(facts.type, program.table, bind(facts.condition, given))
    for value, inside in values:
        here = {**environment, "v": value}
        wanted = inside and holds(condition, here)
        got = legal is not None and is_word(legal, str(value))
        assert (got and all(holds(part, here) for part in left)) == wanted, (condition, here, facts, left)


@pytest.mark.slow
@settings(max_examples=examples(48), deadline=None)
@given(combined(ABOUT_NUMBERS | NAMED), ENVIRONMENTS)
def test_conditions_on_integers(condition, environment):
    agree("int in -3..25", condition, [(v, -3 <= v <= 25) for v in range(-8, 32)], environment)


@pytest.mark.slow
@settings(max_examples=examples(48), deadline=None)
@given(combined(ABOUT_TEXTS | NAMED_TEXTS), ENVIRONMENTS)
def test_conditions_on_texts(condition, environment):
    agree("str max 5 chars", condition, [(word, True) for word in WORDS], environment)


def test_what_the_type_can_say_is_not_left():
    for type, condition in (
        ("int in 0..99", "v > 3 and v < 9 and 5 <= v and not v >= 8 and v % 2 == 0 and v in 1..7"),
        (
            "str max 50 chars",
            'len(v) <= 20 and not v contains "x" and v matches /[a-z]+/ and v.starts_with("a")',
        ),
        ("str max 50 chars", 'v in ["a", "b"]'),
        ("[int in 0..3; ..9]", "len(v) == 2"),
        ("decimal in 0..9", "v >= 1.5 and v <= 2"),
    ):
        assert taken(type, condition)[1] == []
    for type, condition in (
        ("decimal in 0..9", "v > 1.5"),
        ("int in 0..99", "v % 7 == 3 and v > 10 or v == lo"),
        ("str max 9 chars", "v in words and not (v.starts_with(word) or len(v) > hi - lo)"),
        ("[int in 0..3; ..9]", "len(v) > lo or len(v) == 0"),
    ):
        facts, left, _ = taken(type, condition)
        assert facts.condition is not None and left == []


def test_what_is_left():
    for type, condition, left in (
        ("int in 0..99", "v > 10 and v * 2 < hi", ["v * 2 < hi"]),
        ("str max 9 chars", "v.lower() == word and v != word", ["v.lower() == word"]),
        ("float in 0..9", "v > lo", ["v > lo"]),
        # What might fail is not computed before it is due.
        ("int in 0..99", "len(ns) == 0 or v != ns[0]", ["len(ns) == 0 or v != ns[0]"]),
        ("int in 0..99", "len(ns) > 0 and v != ns[0]", ["v != ns[0]"]),
        ("int in 0..99", "v != ns[0] and v > lo", []),
    ):
        assert taken(type, condition)[1] == left


def test_remainders_that_no_mask_can_keep_are_checked_when_the_value_is_complete() -> None:
    for condition in ("v % 10001 == 0", "v % 9999999999999999999 == 0", "v % -20000 != 3"):
        text = (
            f"type even = int in 0..99999 where it % 2 == 0\nfn f() -> even:\n    user: | Say.\n"
            f"    assistant: | ?{{v: even where {condition}}}\n    return v\n"
        )
        _, found = check(Source("m.sgl", text), Library())
        assert [diagnostic.code for diagnostic in found] == ["W0215"], condition
