"""The dialects of regular expressions: Python's against `re`, ECMAScript's against its specification."""

from __future__ import annotations

import re

import pytest
import term_oracle
from hypothesis import given, settings
from hypothesis import strategies as st

from sglc.automata import dfa
from sglc.automata.regex import RegexError, compile_regex
from sglc.automata.regex_term import regex_term
from sglc.automata.term import Language, Repeat, Sequence, Text
from sglc.automata.unicode_properties import property_set

TEXTS = st.text(st.sampled_from("aabbcAB01_ -\n\r\t.éſK٣İı\u00a0\u2028😀"), max_size=7)

SINGLE = (
    "a", "b", "c", "A", "0", "_", " ", "é", "ſ", "k", "i", "I", r"\n", r"\.", r"\\", r"\-", r"\x41",
    r"\u00e9", r"\t",
)  # fmt: skip
SETS = (
    ".", ".", r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", "[ab]", "[^a]", "[a-c0-1]", r"[\d_.-]", r"[^\s@]",
    r"[\W_]", "[^\\n]", "[a-zé]", "[^K]", "[K-S]",
)  # fmt: skip
PLACES = ("^", "$", r"\b", r"\B")
MANY = ("*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?", "{1,3}?")


@st.composite
def patterns(draw: st.DrawFn, depth: int = 0, fixed: bool = False) -> str:
    """Patterns that Python and ECMAScript write alike; `fixed`: of one width, as Python wants lookbehind."""
    kind = draw(st.integers(0, 8 if depth > 2 else 14))
    if kind <= 2:
        return draw(st.sampled_from(SINGLE))
    if kind <= 5:
        return draw(st.sampled_from(SETS))
    if kind <= 7:
        return draw(st.sampled_from(PLACES))
    if kind == 8 or (kind <= 10 and fixed):
        return "".join(draw(st.lists(patterns(depth + 1, fixed), max_size=3)))
    if kind == 9:
        arms = draw(st.lists(patterns(depth + 1), min_size=1, max_size=3))
        return "(" + draw(st.sampled_from(("", "?:"))) + "|".join(arms) + ")"
    if kind == 10:
        return f"(?:{draw(patterns(depth + 1))}){draw(st.sampled_from(MANY))}"
    if kind == 11:
        return f"(?{draw(st.sampled_from('=!'))}{draw(patterns(depth + 1))})"
    if kind == 12:
        return f"(?<{draw(st.sampled_from('=!'))}{draw(patterns(depth + 1, fixed=True))})"
    return "".join(draw(st.lists(patterns(depth + 1, fixed), min_size=2, max_size=3)))


NOT_WORD = r"(?:\B|\A\Z)"
"""Before its version 3.14, Python did not find `\\B` in an empty text."""


@settings(max_examples=400)
@given(patterns(), TEXTS, st.sampled_from(("", "(?i)", "(?s)", "(?m)", "(?a)", "(?im)", "(?ai)")))
def test_the_python_dialect_matches_what_python_matches(pattern, text, flags):
    pattern = flags + pattern
    compiled = re.compile(pattern.replace(r"\B", NOT_WORD))
    assert dfa.accepts(compile_regex(pattern, dialect="python"), text) == bool(compiled.fullmatch(text))
    found = compile_regex(pattern, dialect="python", anchored=False)
    assert dfa.accepts(found, text) == bool(compiled.search(text))


def as_python(pattern: str, multi_line: bool) -> str:
    """An ECMAScript pattern of ours in Python's words."""
    space = r"\t\n\x0b\f\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
    before, behind = (
        (r"(?:(?<=[\n\r\u2028\u2029])|\A)", r"(?=[\n\r\u2028\u2029]|\Z)") if multi_line else (r"\A", r"\Z")
    )
    out = ""
    inside = False
    at = 0
    while at < len(pattern):
        token = pattern[at : at + 2] if pattern[at] == "\\" else pattern[at]
        at += len(token)
        if token == "[":
            inside = True
        elif token == "]":
            inside = False
        if token == r"\s":
            token = space if inside else f"[{space}]"
        elif token == r"\S" and not inside:
            token = f"[^{space}]"
        elif token == "." and not inside:
            token = r"[^\n\r\u2028\u2029]"
        elif token == "^" and not inside:
            token = before
        elif token == "$" and not inside:
            token = behind
        elif token == r"\B":
            token = NOT_WORD
        out += token
    return "(?a)" + out


@settings(max_examples=400)
@given(patterns(), TEXTS, st.booleans())
def test_the_ecma_dialect_matches_what_its_translation_matches(pattern, text, multi_line):
    compiled = re.compile(as_python(pattern, multi_line))
    flags = "(?m)" if multi_line else ""
    assert dfa.accepts(compile_regex(flags + pattern, dialect="ecma"), text) == bool(compiled.fullmatch(text))
    found = compile_regex(flags + pattern, dialect="ecma", anchored=False)
    assert dfa.accepts(found, text) == bool(compiled.search(text))


# --- terms ----------------------------------------------------------------------------------------------


@st.composite
def counted_patterns(draw: st.DrawFn, depth: int = 0) -> str:
    kind = draw(st.integers(0, 3 if depth > 2 else 6))
    if kind <= 1:
        return draw(st.sampled_from(("a", "b", "[ab]", ".", "(?:a|b)", "")))
    if kind <= 3:
        many = draw(st.sampled_from(("{1,3}", "{2}", "{0,2}", "{2,}", "*", "{3,4}")))
        return draw(st.sampled_from(("a", "[ab]", "(?:a|b|c)", "[^a]"))) + many
    if kind == 4:
        many = draw(st.sampled_from(("{1,3}", "{2}", "{0,2}", "{2,}", "*")))
        return f"(?:{draw(counted_patterns(depth + 1))}){many}"
    if kind == 5:
        return "(?:" + "|".join(draw(st.lists(counted_patterns(depth + 1), min_size=2, max_size=3))) + ")"
    return "".join(draw(st.lists(counted_patterns(depth + 1), min_size=1, max_size=3)))


SHORT = st.text(st.sampled_from("aabbc"), max_size=7)
FRAMES = st.sampled_from(("{}", "^{}$", "^{}", "{}$", "^(?:{})$", "^{}$|^b{{2,3}}$", "(?=^[ab]{{2,3}}$){}$"))


@settings(max_examples=300)
@given(counted_patterns(), FRAMES, SHORT, st.booleans(), st.integers(0, 3))
def test_terms_of_patterns_are_their_automata(pattern, frame, text, anchored, unrolled):
    pattern = frame.format(pattern)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sglc.automata.regex_term.MAX_UNROLLED", unrolled)
        term = regex_term.__wrapped__(pattern, anchored=anchored)
    wanted = dfa.accepts(compile_regex(pattern, anchored=anchored), text)
    assert term_oracle.accepts(Language(term), text.encode()) == wanted


@pytest.mark.parametrize(
    ("pattern", "anchored", "term"),
    [
        ("[a-z ]{1,3000}", True, Text(dfa.all_words(((0x20, 0x20), (0x61, 0x7A))), "raw", 1, 3000)),
        ("^[a-z]{1,64}$", False, Text(dfa.all_words(((0x61, 0x7A),)), "raw", 1, 64)),
        ("(a|b){50,}", True, Text(dfa.all_words(((0x61, 0x62),)), "raw", 50, None)),
        ("(ab|c){2,5000}", True, Repeat(Text(compile_regex("ab|c")), 2, 5000)),
        ("(a?b?){2,5000}", True, Repeat(Text(compile_regex("ab?|b")), 0, 5000)),
        ("^(?=.{1,255}$)(a+b)+$", False, Text(compile_regex("(a+b)+"), "raw", 1, 255)),
        ("x[a-z]{1,3000}", False, Text(compile_regex("x[a-z]", anchored=False))),
        ("[a-z]{3}-[0-9]{4}", True, Text(compile_regex("[a-z]{3}-[0-9]{4}"))),
    ],
)
def test_large_repeats_are_counted(pattern, anchored, term):
    assert regex_term(pattern, anchored=anchored) == term


def test_the_bound_of_a_repeat_costs_nothing():
    for bound in (100, 1_000, 100_000, 1_000_000):
        term = regex_term(f"^id-[a-z]{{1,{bound}}}(/[a-z0-9]{{1,{bound}}}){{0,{bound}}}$", anchored=False)
        assert isinstance(term, Sequence) and len(term.items) == 3
