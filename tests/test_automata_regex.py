"""The dialects of regular expressions: Python's against `re`, ECMAScript's against its specification."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from sglc.automata import dfa
from sglc.automata.regex import compile_regex

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
