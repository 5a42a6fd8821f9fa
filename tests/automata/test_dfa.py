"""Automata over code points: canonical forms, set operations, regular expressions, number ranges."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from functools import reduce
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglc.automata import charset
from sglc.automata.dfa import operations as dfa
from sglc.automata.dfa import product
from sglc.automata.dfa.nfa_union import concatenate
from sglc.automata.number.decimal import NumberError, decimal_range, float_range, integer_range
from sglc.automata.regex.compile import RegexError, compile_regex

TEXTS = st.text(st.sampled_from('abcAB019 .-_@\n"\\é€😀'), max_size=8)


@st.composite
def patterns(draw: st.DrawFn, depth: int = 0) -> str:
    """Patterns that Python and we read alike."""
    kind = draw(st.integers(0, 5 if depth > 2 else 9))
    if kind <= 2:
        return draw(st.sampled_from(("a", "b", "0", "é", r"\.", r"\\", r"\-", " ", r"\x41", r"\u00e9")))
    if kind <= 5:
        classes = (
            ".",
            r"\d",
            r"\w",
            r"\s",
            r"\D",
            r"\W",
            r"\S",
            "[ab]",
            "[^a]",
            "[a-c0-1]",
            r"[\d_.-]",
            r"[^\s@]",
        )
        return draw(st.sampled_from(classes))
    if kind == 6:
        arms = draw(st.lists(patterns(depth + 1), min_size=1, max_size=3))
        return "(" + draw(st.sampled_from(("", "?:"))) + "|".join(arms) + ")"
    if kind == 7:
        many = draw(st.sampled_from(("*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?", "{1,3}?")))
        return f"(?:{draw(patterns(depth + 1))}){many}"
    return "".join(draw(st.lists(patterns(depth + 1), max_size=3)))


@given(patterns(), TEXTS)
def test_a_pattern_accepts_what_python_matches(pattern, text):
    assert dfa.accepts(compile_regex(pattern), text) == bool(re.fullmatch(pattern, text, re.ASCII))


@given(patterns(), TEXTS)
def test_an_unanchored_pattern_accepts_what_python_finds(pattern, text):
    found = dfa.accepts(compile_regex(f"^{pattern}|{pattern}$", anchored=False), text)
    assert found == bool(re.search(rf"\A{pattern}|{pattern}\Z", text, re.ASCII))


@given(patterns(), TEXTS)
def test_case_is_ignored_where_asked(pattern, text):
    text = text.encode("ascii", "ignore").decode()
    if "é" in pattern or "00e9" in pattern:
        return
    ours = dfa.accepts(compile_regex("(?i)" + pattern), text)
    assert ours == bool(re.fullmatch(pattern, text, re.ASCII | re.IGNORECASE))


@given(patterns(), patterns(), TEXTS)
def test_set_operations_are_the_operations_of_sets(p, q, text):
    a, b = compile_regex(p), compile_regex(q)
    in_a, in_b = dfa.accepts(a, text), dfa.accepts(b, text)
    assert dfa.accepts(dfa.union(a, b), text) == (in_a or in_b)
    assert dfa.accepts(dfa.intersect(a, b), text) == (in_a and in_b)
    assert dfa.accepts(dfa.difference(a, b), text) == (in_a and not in_b)
    assert dfa.accepts(dfa.complement(a), text) == (not in_a)
    cuts = range(len(text) + 1)
    joined = any(dfa.accepts(a, text[:cut]) and dfa.accepts(b, text[cut:]) for cut in cuts)
    assert dfa.accepts(concatenate(a, b), text) == joined


@given(patterns(), patterns())
def test_equal_languages_are_equal_automata(p, q):
    a, b = compile_regex(p), compile_regex(q)
    assert dfa.union(a, b) == dfa.union(b, a) == compile_regex(f"(?:{p})|(?:{q})")
    assert (
        dfa.intersect(a, a)
        == a
        == dfa.build(dfa.labelled(a), a.accepting)
        == dfa.complement(dfa.complement(a))
    )
    assert concatenate(a, b) == compile_regex(f"(?:{p})(?:{q})")
    no_difference = dfa.is_empty(dfa.difference(a, b)) and dfa.is_empty(dfa.difference(b, a))
    assert (a == b) == no_difference == (hash(a) == hash(b))


@given(patterns())
def test_automata_are_trimmed_sorted_and_minimal(pattern):
    automaton = compile_regex(pattern)
    assert dfa.build(dfa.labelled(automaton), automaton.accepting) == automaton
    for edges in automaton.edges:
        assert list(edges) == sorted(edges)
        for (_, high, target), (low, _, other) in pairwise(edges):
            assert high < low
            assert not (high + 1 == low and target == other)
        assert all(not (low <= 0xDFFF and high >= 0xD800) for low, high, _ in edges)
    # From every state acceptance can be reached.
    for state in range(len(automaton.edges)):
        rest = [[(((low, high),), target) for low, high, target in row] for row in automaton.edges]
        rest[0], rest[state] = rest[state], rest[0]
        swap = {0: state, state: 0}
        rows = [[(these, swap.get(target, target)) for these, target in row] for row in rest]
        assert not dfa.is_empty(dfa.build(rows, {swap.get(s, s) for s in automaton.accepting}))


@given(patterns(), st.integers(0, 4), st.none() | st.integers(0, 6))
def test_the_shortest_word_is_a_shortest_word(pattern, low, high):
    automaton = compile_regex(pattern)
    word = dfa.shortest_word(automaton, low, high)
    lengths = dfa.char_lengths(automaton, 40)
    fitting = [n for n, some in enumerate(lengths) if some and n >= low and (high is None or n <= high)]
    assert (None if word is None else len(word)) == (fitting[0] if fitting else None)
    assert word is None or dfa.accepts(automaton, word)


def test_a_witness_prefers_letters():
    assert dfa.shortest_word(compile_regex(r"[^/]{3}")) == "aaa"
    assert dfa.shortest_word(compile_regex(r"[A-Z][0-9!]")) == "A0"


@given(
    st.lists(st.text(st.sampled_from("ab<"), max_size=3), max_size=3),
    st.text(st.sampled_from("abc<"), max_size=6),
)
def test_without_keeps_words_in_which_no_text_occurs(texts, word):
    assert dfa.accepts(dfa.without(texts), word) == (not any(text in word for text in texts))


@given(st.text(st.sampled_from("ab<"), min_size=1, max_size=3), st.text(st.sampled_from("abc<"), max_size=6))
def test_a_stop_begins_exactly_where_the_word_ends(stop, word):
    assert dfa.accepts(dfa.without([], [stop]), word) == ((word + stop).find(stop) == len(word))


def test_words_and_lengths():
    automaton = dfa.words(["to", "tea", "ten", ""])
    assert [dfa.accepts(automaton, word) for word in ("", "t", "to", "ten", "tens")] == [
        True,
        False,
        True,
        True,
        False,
    ]
    assert dfa.char_lengths(automaton, 4) == [True, False, True, True, False]
    assert dfa.is_finite(automaton) and not dfa.is_finite(compile_regex("a*"))
    assert dfa.is_empty(dfa.intersect(dfa.literal("a"), dfa.literal("b")))


@pytest.mark.parametrize(
    ("pattern", "position", "reason"),
    [
        (r"a(b*)\1", 1, "a group that is referred to must match finitely many texts by itself"),
        (r"(?>a)", 0, "an atomic group is not available"),
        (r"ab)c", 2, "this ) closes no group"),
        (r"a(bc", 1, "this ( is never closed"),
        (r"x[ab", 1, "this [ is never closed"),
        (r"*a", 0, "a quantifier needs something before it"),
        (r"a**", 2, "a quantifier needs something before it"),
        (r"a{3,2}", 1, "the counts are in the wrong order"),
        (r"[z-a]", 1, "the ends of this range are in the wrong order"),
        (r"\p{Foo}", 0, "Foo is no Unicode property"),
        (r"word\Z", 4, r"the assertion \Z is not available"),
        (r"a{", 1, r"a literal { is written \{, a count {2}, {2,} or {2,4}"),
        (r"\ud800", 0, "U+D800 is no character"),
        ("a\\", 1, "the pattern ends in a lone backslash"),
    ],
)
def test_what_is_not_regular_is_refused_with_its_place(pattern, position, reason):
    with pytest.raises(RegexError) as caught:
        compile_regex(pattern)
    assert (caught.value.position, caught.value.reason) == (position, reason)


@pytest.mark.slow
@pytest.mark.parametrize(
    "pattern", ["(a|b)*a(a|b){18}", "((a{100}){100}){100}", "(" * 200 + ")" * 200, "a" * 30_000]
)
def test_hostile_patterns_are_refused(pattern):
    with pytest.raises(RegexError):
        compile_regex(pattern)


def test_general_categories_are_those_of_unicodedata():
    for name in ("Lu", "L", "Nd", "Zs", "Uppercase_Letter"):
        automaton = compile_regex(rf"\p{{{name}}}")
        short = {"Uppercase_Letter": "Lu"}.get(name, name)
        for point in (*range(0x300), 0x3B1, 0x660, 0x2003, 0x10400):
            wanted = unicodedata.category(chr(point)).startswith(short)
            assert dfa.accepts(automaton, chr(point)) == wanted


def test_printable_is_everything_but_control_characters():
    for point in (*range(0x200), 0xFFFD, 0x10FFFF):
        assert charset.contains(charset.PRINTABLE, point) == (unicodedata.category(chr(point)) != "Cc")


# --- numbers --------------------------------------------------------------------------------------------

BOUNDS = st.none() | st.integers(-130, 130)


@given(BOUNDS, BOUNDS, st.sampled_from((None, 1, 3, 7, 10, 20)))
def test_integer_ranges_are_the_integers_in_range(low, high, step):
    automaton = integer_range(low, high, step)
    for number in (*range(-160, 161), 1000, -999, 10**18 - 1, -(10**18) + 1):
        wanted = (
            (low is None or number >= low) and (high is None or number <= high) and number % (step or 1) == 0
        )
        assert dfa.accepts(automaton, str(number)) == wanted
    assert not any(dfa.accepts(automaton, text) for text in ("", "-", "-0", "00", "01", "-01", "+1", "1.0"))
    assert not dfa.accepts(automaton, str(10**18))


@given(st.integers(-(10**30), 10**30), st.integers(0, 10**30), st.integers(-2, 2))
def test_wide_integer_ranges_hold_at_their_ends(low, width, off):
    automaton = integer_range(low, low + width)
    for number in (low + off, low + width + off):
        assert dfa.accepts(automaton, str(number)) == (low <= number <= low + width)


HUNDREDTHS = st.none() | st.integers(-300, 300).map(lambda n: Decimal(n) / 100)
SPELLINGS = [
    sign + whole + fraction
    for sign in ("", "-")
    for whole in ("0", "1", "2", "10", "01")
    for fraction in (
        "",
        ".",
        ".0",
        ".5",
        ".50",
        ".25",
        ".2501",
        ".05",
        ".001",
        ".99",
        ".1234567890",
        ".12345678901",
    )
]


@given(HUNDREDTHS, HUNDREDTHS, st.sampled_from((None, "1", "0.05", "0.25", "0.5", "0.125", "2", "1.50")))
def test_decimal_ranges_are_the_decimals_in_range(low, high, step):
    automaton = decimal_range(low, high, None if step is None else Decimal(step))
    for text in SPELLINGS:
        wanted = bool(re.fullmatch(r"-?(0|[1-9]\d*)(\.\d{1,10})?", text))
        if wanted:
            value = Decimal(text)
            wanted = (
                not (text.startswith("-") and value == 0)
                and (low is None or value >= low)
                and (high is None or value <= high)
                and (step is None or value % Decimal(step) == 0)
            )
        assert dfa.accepts(automaton, text) == wanted, text


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "1e10", "2.5e-07", "0.5e+3", "-0.001", "0e5"])
def test_floats_may_have_an_exponent(text):
    assert dfa.accepts(float_range(), text)


@pytest.mark.parametrize(
    "text", ["-0", "-0.0", "-0.00e1", "1e100", "01", ".5", "5.", "1E5", "e5", "+1", "inf"]
)
def test_floats_have_no_other_spelling(text):
    assert not dfa.accepts(float_range(), text)


def test_a_step_that_needs_too_large_an_automaton_is_refused():
    for step in (0, -1, 10_007):
        with pytest.raises(NumberError):
            integer_range(0, None, step)


PATTERNS = st.lists(
    st.sampled_from(("a", "ab*", "(a|b)*", "b+a", "a|bb", "[a-c]{1,3}", ".*a.*", "(ab)*", "x*")), max_size=4
)


@given(PATTERNS, PATTERNS)
def test_automata_side_by_side_are_the_operations_two_by_two(some, others):
    parts = [compile_regex(pattern) for pattern in some]
    but = [compile_regex(pattern) for pattern in others]
    whole = reduce(dfa.union, parts, dfa.NONE)
    assert product.united(parts, but) == reduce(dfa.difference, but, whole)
    once = more = dfa.NONE
    for part in parts:
        more = dfa.union(more, dfa.intersect(once, part))
        once = dfa.union(once, part)
    assert product.of_exactly_one(parts) == dfa.difference(once, more)
    pieces = product.divided(parts, 1000)
    assert reduce(dfa.union, (keys for keys, _ in pieces)) == dfa.all_words()
    for keys, inside in pieces:
        assert keys.edges
        for index, part in enumerate(parts):
            assert dfa.is_empty((dfa.difference if index in inside else dfa.intersect)(keys, part))
    with pytest.raises(dfa.TooLarge):
        product.divided([compile_regex(f".*a.{{{size}}}") for size in (5, 6)], 20)
