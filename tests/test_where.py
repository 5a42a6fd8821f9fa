"""`where`: the narrower type and what is left say together what the condition says, value by value."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from sglc.check.program import check
from sglc.library import Library
from sglc.source import Source
from sglc.types.member import is_member

NUMBERS = st.integers(-5, 30).map(str) | st.sampled_from(["2.5", "7.0"])
COMPARED = st.builds("{} {} {}".format, st.just("v"), st.sampled_from("< <= > >= == !=".split()), NUMBERS)
TURNED = st.builds("{} {} {}".format, NUMBERS, st.sampled_from("< <= > >= == !=".split()), st.just("v"))
DIVIDED = st.builds("v % {} == {}".format, st.integers(1, 6), st.integers(0, 2))
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


def maybe_not(parts):
    return st.builds(lambda no, part: f"not ({part})" if no else part, st.booleans(), parts)


def taken(type: str, condition: str):
    """Type of the hole, and the source of what is left of its condition."""
    source = f'pub fn f() -> str:\n    | ?{{v: {type} where {condition}}}\n    return "${{v}}"\n'
    program, found = check(Source("p.sgl", source), Library())
    codes = {d.code for d in found if d.severity == "error"}
    if codes & {"E0303", "E0304", "E0322"}:
        return None, [], program  # nothing is left, and that is said
    assert not codes, (source, [d.message for d in found])
    assert program is not None
    (facts,) = program.main.holes.values()
    left = [e.condition.span.text for e in facts.where]
    assert len(left) == len([d for d in found if d.code == "W0215"])
    return facts.type, left, program


def holds(condition: str, value: object) -> bool:
    text = condition.replace("starts_with", "startswith").replace("ends_with", "endswith")
    return bool(eval(text, {"v": value, "len": len}))  # the conditions above are Python's too


def agree(type: str, condition: str, values) -> None:
    narrow, left, program = taken(type, condition)
    for value, inside in values:
        wanted = inside and holds(condition, value)
        got = narrow is not None and is_member(value, narrow, program.table)
        assert (got and all(holds(part, value) for part in left)) == wanted, (condition, value, narrow, left)


@settings(max_examples=150, deadline=None)
@given(st.lists(maybe_not(ABOUT_NUMBERS), min_size=1, max_size=3).map(" and ".join))
def test_conditions_on_integers(condition):
    agree("int in -3..25", condition, [(v, -3 <= v <= 25) for v in range(-8, 32)])


@settings(max_examples=150, deadline=None)
@given(st.lists(maybe_not(ABOUT_TEXTS), min_size=1, max_size=3).map(" and ".join))
def test_conditions_on_texts(condition):
    agree("str max 5 chars", condition, [(word, True) for word in WORDS])


def test_what_the_type_can_say_is_not_left():
    for type, condition in (
        ("int in 0..99", "v > 3 and v < 9 and 5 <= v and not v >= 8 and v % 2 == 0 and v in 1..=7"),
        (
            "str max 50 chars",
            'len(v) <= 20 and not v contains "x" and v matches /[a-z]+/ and v.starts_with("a")',
        ),
        ("str max 50 chars", 'v in ["a", "b"]'),
        ("[int in 0..3; ..9]", "len(v) == 2"),
        ("decimal in 0..9", "v >= 1.5 and v <= 2"),
    ):
        assert taken(type, condition)[1] == []
    assert taken("decimal in 0..9", "v > 1.5")[1] == ["v > 1.5"]
    assert taken("int in 0..99", "v % 7 == 3 and v > 10")[1] == ["v % 7 == 3"]
