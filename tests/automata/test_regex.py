"""The dialects of regular expressions: Python's against `re`, ECMAScript's against its specification."""

from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from checkout import DOCS
from example_budget import examples
from oracles import term_oracle
from sglc.automata.caches import clear_caches
from sglc.automata.dfa import operations as dfa
from sglc.automata.regex.compile import RegexError, compile_regex
from sglc.automata.regex.parse import parse_regex
from sglc.automata.regex.to_term import regex_term, regex_texts
from sglc.automata.regex.tree import has_places, longest_word
from sglc.automata.term import CharDfa, Choice, Language, Repeat, Sequence, Text
from sglc.automata.unicode.properties import property_set
from sglc.automata.work import WorkAccount, charged
from strategies.regex_patterns import patterns
from supported.patterns import FEATURES, page, refusal

TEXTS = st.text(st.sampled_from("aabbcAB01_ -\n\r\t.éſK٣İı\u00a0\u2028😀"), max_size=7)


NOT_WORD = r"(?:\B|\A\Z)"
"""Before its version 3.14, Python did not find `\\B` in an empty text."""


@pytest.mark.slow
@settings(max_examples=examples(120))
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


@pytest.mark.slow
@settings(max_examples=examples(120))
@given(patterns(), TEXTS, st.booleans())
def test_the_ecma_dialect_matches_what_its_translation_matches(pattern, text, multi_line):
    compiled = re.compile(as_python(pattern, multi_line))
    flags = "(?m)" if multi_line else ""
    assert dfa.accepts(compile_regex(flags + pattern, dialect="ecma"), text) == bool(compiled.fullmatch(text))
    found = compile_regex(flags + pattern, dialect="ecma", anchored=False)
    assert dfa.accepts(found, text) == bool(compiled.search(text))


MORE_SINGLE = st.sampled_from(("a", "b", "c", "ab", "[ab]", "aa", "(?=a)", r"\b", ""))


@st.composite
def giving_nothing_back(draw: st.DrawFn, depth: int = 0) -> str:
    """Python's patterns with atomic groups, possessive quantifiers and backreferences."""
    kind = draw(st.integers(0, 2 if depth > 2 else 9))
    if kind <= 2:
        return draw(MORE_SINGLE)
    inner = giving_nothing_back(depth + 1)
    if kind == 3:
        return f"(?>{draw(inner)})"
    if kind == 4:
        many = draw(st.sampled_from(("*", "+", "?", "{2}", "{0,2}", "{1,}", "{1,3}")))
        return f"(?:{draw(inner)}){many}{draw(st.sampled_from(('+', '+', '?', '')))}"
    if kind == 5:
        return "(?:" + "|".join(draw(st.lists(inner, min_size=2, max_size=3))) + ")"
    if kind == 6:
        return f"({draw(inner)}){draw(inner)}\\{draw(st.integers(1, 3))}"
    if kind == 7:
        return f"({draw(inner)})"
    return draw(inner) + draw(inner)


@pytest.mark.slow
@settings(max_examples=examples(120))
@given(giving_nothing_back(), st.lists(st.text("abc", max_size=7), min_size=1, max_size=5))
def test_what_gives_nothing_back_matches_what_python_matches(pattern, texts):
    try:
        expected = re.compile(pattern)
    except re.error:
        # Python has no reference to a group that is still open, nor to one that does not exist.
        with pytest.raises(RegexError):
            compile_regex(pattern, dialect="python")
        return
    try:
        found = compile_regex(pattern, dialect="python")
    except RegexError as fault:
        assert any(word in fault.reason for word in ("give back", "referred to", "backreference", "empty"))
        return
    for text in texts:
        assert dfa.accepts(found, text) == bool(expected.fullmatch(text)), text


# --- terms ----------------------------------------------------------------------------------------------


@st.composite
def counted_patterns(draw: st.DrawFn, depth: int = 0) -> str:
    kind = draw(st.integers(0, 3 if depth > 2 else 6))
    if kind <= 1:
        return draw(st.sampled_from(("a", "b", "[ab]", ".", "(?:a|b)", "", r"\b", r"\B", "-")))
    if kind <= 3:
        many = draw(st.sampled_from(("{1,3}", "{2}", "{0,2}", "{2,}", "*", "{3,4}")))
        return draw(st.sampled_from(("a", "[ab]", "(?:a|b|c)", "[^a]"))) + many
    if kind == 4:
        many = draw(st.sampled_from(("{1,3}", "{2}", "{0,2}", "{2,}", "*")))
        return f"(?:{draw(counted_patterns(depth + 1))}){many}"
    if kind == 5:
        return "(?:" + "|".join(draw(st.lists(counted_patterns(depth + 1), min_size=2, max_size=3))) + ")"
    return "".join(draw(st.lists(counted_patterns(depth + 1), min_size=1, max_size=3)))


SHORT = st.text(st.sampled_from("aabbc-"), max_size=7)
FRAMES = st.sampled_from(("{}", "^{}$", "^{}", "{}$", "^(?:{})$", "^{}$|^b{{2,3}}$", "(?=^[ab]{{2,3}}$){}$"))


@pytest.mark.slow
@settings(max_examples=examples(80))
@given(counted_patterns() | patterns())
def test_what_cannot_match_changes_no_automaton(pattern):
    """Patterns that ask for no neighbours, and that stand between anchors, are made in shorter ways."""
    never = r"a\b\Bb"
    try:
        whole = compile_regex(pattern, dialect="ecma")
        assert compile_regex(f"(?:{pattern})|{never}", dialect="ecma") == whole
        for between in (f"^(?:{pattern})$", f"^(?:{pattern})$|{never}"):
            assert compile_regex(between, anchored=False, dialect="ecma") == whole
        openly = compile_regex(pattern, anchored=False, dialect="ecma")
        assert compile_regex(f"(?:{pattern})|{never}", anchored=False, dialect="ecma") == openly
    except RegexError as fault:
        assume("too costly" not in fault.reason)
        raise


@pytest.mark.slow
@settings(max_examples=examples(80))
@given(counted_patterns(), FRAMES, SHORT, st.booleans(), st.integers(0, 3))
def test_terms_of_patterns_are_their_automata(pattern, frame, text, anchored, unrolled):
    pattern = frame.format(pattern)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sglc.automata.regex.to_term.MAX_UNROLLED", unrolled)
        clear_caches()
        term = regex_term(pattern, anchored=anchored)
        texts = regex_texts.__wrapped__(pattern, anchored=anchored)
        clear_caches()
    try:
        wanted = dfa.accepts(compile_regex(pattern, anchored=anchored), text)
    except RegexError as fault:
        assume("too costly" not in fault.reason)
        raise
    assert term_oracle.accepts(Language(term), text.encode()) == wanted
    if texts is not None:
        assert term_oracle.accepts(Language(Choice(texts)), text.encode()) == wanted


@pytest.mark.parametrize(
    ("pattern", "anchored", "term"),
    [
        ("[a-z ]{1,3000}", True, Text(dfa.all_words(((0x20, 0x20), (0x61, 0x7A))), "raw", 1, 3000)),
        ("^[a-z]{1,64}$", False, Text(dfa.all_words(((0x61, 0x7A),)), "raw", 1, 64)),
        ("(a|b){50,}", True, Text(dfa.all_words(((0x61, 0x62),)), "raw", 50, None)),
        ("^id-[a-z]{1,64}[0-9]$", False, Text(compile_regex("id-[a-z]*[0-9]"), "raw", 5, 68)),
        ("(ab|cd){20,}x", True, Text(compile_regex("(ab|cd)*x"), "raw", 41, None)),
        ("(ab|c){2,5000}", True, Repeat(Text(compile_regex("ab|c")), 2, 5000)),
        ("(a?b?){2,5000}", True, Repeat(Text(compile_regex("ab?|b")), 0, 5000)),
        ("^(?=.{1,255}$)(a+b)+$", False, Text(compile_regex("(a+b)+"), "raw", 1, 255)),
        ("x[a-z]{1,3000}", False, Text(compile_regex("x[a-z]", anchored=False))),
        ("[a-z]{3}-[0-9]{4}", True, Text(compile_regex("[a-z]{3}-[0-9]{4}"))),
    ],
)
def test_large_repeats_are_counted(pattern, anchored, term):
    assert regex_term(pattern, anchored=anchored) == term


@pytest.mark.parametrize(
    ("dialect", "pattern", "matches", "fails"),
    [
        # ECMA-262, 2024: sections 22.2.2 and B.1.2.
        ("ecma", r"[\w-.]+", ["a-.", "-"], [",", "x/"]),
        ("ecma", r"a{b}\-\_{2}", ["a{b}-__"], ["ab-_"]),
        ("ecma", r"[^]", ["\n", "😀"], ["", "ab"]),
        ("ecma", r"a[]|b", ["b"], ["a", ""]),
        ("ecma", r".", ["\x85", "\v"], ["\n", "\r", "\u2028", "\u2029"]),
        ("ecma", r"\s", ["\ufeff", "\xa0", "\u2029"], ["\x85", "\x1c", "\u200b"]),
        ("ecma", r"\d\w", ["1a"], ["٣a", "1é"]),
        ("ecma", r"(?i)\w", ["ſ", "\u212a", "k"], ["é", "ı"]),
        ("ecma", r"(?i)ß", ["ß", "ẞ"], ["ss", "SS"]),
        ("ecma", r"(?i)[^x]", ["y"], ["x", "X"]),
        ("ecma", r"\u{1F600}\ud83d\ude00", ["😀😀"], ["😀"]),
        ("ecma", r"[\ud83d\ude00-\u{1F610}]", ["😀", "😅"], ["a"]),
        ("ecma", r"\cJ\0\x0a", ["\n\0\n"], ["cJ"]),
        ("ecma", r"(?<year>\d{4})-(?:x)", ["2024-x"], ["2024-"]),
        ("ecma", r"\p{Script=Greek}\p{Lu}\P{L}", ["αA1"], ["aA1", "αa1", "αAb"]),
        ("ecma", r"\p{Emoji_Presentation}|\p{sc=Han}|\p{L}", ["😀", "漢", "é"], ["1", "-"]),
        ("ecma", r"(?=.*\d)(?=.*[a-z]).{3,5}", ["a1-", "--1a-"], ["a1", "abc", "a1----"]),
        ("ecma", r"(?!a|b$).*", ["", "bc", "c"], ["a", "ab", "b"]),
        ("ecma", r"(?:(?!--).)*", ["a-b", "-"], ["a--b", "--"]),
        ("ecma", r".*(?<!\.tmp)", ["a.txt", ""], ["a.tmp"]),
        ("ecma", r"(?<=^|,)a(?=,|$)", ["a"], [",a"]),
        ("ecma", r"(?s).", ["\n"], [""]),
        ("ecma", r"(?m)^a$\n^b$", ["a\nb"], ["ab"]),
        ("python", r"\d\w\s", ["٣é\x1c"], ["aaa"]),
        ("python", r"(?a)\d\w\s", ["1a "], ["٣a ", "1é "]),
        ("python", r"a$", ["a"], ["a\n"]),
        ("python", r"a$\n", ["a\n"], ["a"]),
        ("python", r"\Aa{,2}\Z", ["", "a", "aa"], ["aaa"]),
        ("python", r"[]a]+[^]]", ["]a", "aa"], ["a]", "]"]),
        ("python", r"(?x) a \  b # comment", ["a b"], ["a  b"]),
        ("python", r"(?P<n>a)(?#remark)(?i:b)c", ["aBc"], ["ABc", "aBC"]),
        ("python", r"\101\x41\N{DIGIT ONE}\U0001F600\a", ["AA1😀\x07"], [""]),
        ("python", r"(?i)i", ["i", "I", "İ", "ı"], ["1"]),
        ("python", r"a{b", ["a{b"], ["a"]),
        ("ecma", r"([\"'])a*\1", ["'a'", '""'], ["'a\""]),
        ("ecma", r"(?<q>a|b)(c\k<q>)*", ["a", "bcbcb"], ["acb"]),
        ("python", r"(?P<q>a|b)((c|d)\3|(?P=q)){2}", ["accdd", "bbb"], ["acdd", "aab"]),
        ("sgl", r"(?i:a)b\b.*", ["Ab", "ab c"], ["aB", "abc"]),
        ("sgl", r"(?i)\W[\W][^\w]", ["-é ", "!!!"], ["s  ", " K ", "  k", "\u212a  "]),
        ("ecma", r"(?i)\W[\W][^\w]", ["-é ", "!!!"], ["s  ", " K ", "  k", "\u212a  "]),
    ],
)
def test_dialects_read_what_is_theirs(dialect, pattern, matches, fails):
    automaton = compile_regex(pattern, dialect=dialect)
    for text in matches:
        assert dfa.accepts(automaton, text), text
    for text in fails:
        assert not dfa.accepts(automaton, text), text


WHERE_REGULAR = "a backreference is regular only where its group comes before it in the same sequence"


@pytest.mark.parametrize(
    ("dialect", "pattern", "position", "reason"),
    [
        ("ecma", r"(a+)\1", 0, "a group that is referred to must match finitely many texts by itself"),
        ("ecma", r"x\Z", 1, r"the assertion \Z is not available"),
        ("ecma", r"\a", 0, r"the escape \a is not known"),
        ("ecma", r"a{,3}", 1, r"a count needs its minimum, {0,4}; a literal { is written \{"),
        ("ecma", r"(?<=a)*b", 0, "an anchor cannot be repeated"),
        ("ecma", r"\p{Klingon}", 0, "Klingon is no Unicode property"),
        ("ecma", r"\ud83d", 0, "U+D83D is no character"),
        ("ecma", r"[\ud800-\udfff]", 0, "surrogates are no characters"),
        ("python", r"a(?i)b", 1, "(?i) may stand at the start of the pattern only"),
        ("ecma", r"a++", 2, "possessive quantifiers are not available"),
        ("python", r"(?>a*b)", 0, "this atomic group would have to give back inside itself"),
        ("python", r"(?:(a)|b)\1", 9, WHERE_REGULAR),
        ("python", r"(a*)\1", 0, "a group that is referred to must match finitely many texts by itself"),
        ("python", r"(.)\1", 0, "a group that is referred to has more than 200 words"),
        ("python", r"(?i)(a)\1", 7, "a backreference where case is ignored is not available"),
        ("python", r"(\1)", 1, "there is no group 1 before it"),
        ("python", r"(?P=n)", 0, "no group is called 'n'"),
        ("ecma", r"\k<n>(?<n>a)", 0, "no group before it is called 'n'"),
        ("ecma", r"(?>a)", 0, "an atomic group is not available"),
        ("ecma", r"(?P<n>a)(?P=n)", 8, "this kind of group is not known"),
        ("python", r"b(?P<n>a)(?P<n>b)", 9, "there is another group that is called 'n'"),
        ("python", r"(?P<n>a)|(?P<n>b)", 9, "there is another group that is called 'n'"),
        ("ecma", r"(?<n>a)(?:b|(?<n>b))", 12, "there is another group that is called 'n'"),
        ("sgl", r"(?:(?<n>a)|(?<n>b))(?<n>c)", 19, "there is another group that is called 'n'"),
        ("python", r"a(?<n>a)", 1, "this kind of group is not known"),
        ("python", r"(?P<n>a)\k<n>", 8, r"the escape \k is not known"),
        ("python", r"(a)(?(1)b|c)", 3, "a conditional group is not regular"),
        ("python", r"\p{L}", 0, r"the escape \p is not known"),
        ("python", r"\N{NO SUCH NAME}", 0, r"a character is named \N{DIGIT ONE}"),
        ("python", r"[\w-z]", 1, "a range needs a single character at both ends"),
        ("python", r"\400", 0, r"an octal escape above \377"),
        ("sgl", r"(?=a)*", 0, "an anchor cannot be repeated"),
    ],
)
def test_what_is_not_regular_or_not_known_is_refused_with_its_place(dialect, pattern, position, reason):
    with pytest.raises(RegexError) as caught:
        compile_regex(pattern, dialect=dialect)
    assert (caught.value.position, caught.value.reason) == (position, reason)


@pytest.mark.slow
@pytest.mark.parametrize(
    "pattern",
    [
        "(?=.*a.{18}b)(?=.*c.{18}d).*",
        "(?!(?:a|b)*a(?:a|b){20}$).*",
        "(?<=a.{19})b.{19}(?=c)",
        "".join(f"(?=.*{chr(0x61 + at)})" for at in range(26)),
        "^((a{1,300}){1,300}){1,300}$",
    ],
)
def test_work_is_bounded(pattern):
    with pytest.raises(RegexError):
        compile_regex(pattern, anchored=False, limit=2_000)


def test_places_between_large_repeats_are_matched_where_they_are():
    for pattern, texts in (
        (r"[a-z.]{1,60}\.[a-z]{1,6}\b(-[a-z]*)*", ("ab.c", "ab.c-", "ab.c-d", "a.", "a.b.c-")),
        (r"\bx?[ab]{1,60}\B-", ("a-", "xa-", "ab", "b--")),
        (r"(?m)[a\n]{0,60}^b[a\n]{0,60}", ("b", "ab", "a\nb\na", "\nba", "ba\n")),
        (r"[ab]{0,60}$|[ab]{0,50}c\b[cd ]{0,50}\bd", ("ab", "c d", "cd", "acc d", "bc  d")),
    ):
        term = regex_term(pattern)
        whole = compile_regex(pattern)
        for text in texts:
            assert term_oracle.accepts(Language(term), text.encode()) == dfa.accepts(whole, text), text
    assert isinstance(regex_term(r"[a-z.]{1,60}\.[a-z]{1,6}\b(-[a-z]*)*"), Sequence)


def test_the_page_of_patterns_is_that_of_the_code():
    written = DOCS / "patterns.md"
    assert written.read_text("utf-8") == page()


PROBES = ("", "a", "A", "b", "ab", "aa", "aac", "abc", "a\n", "]", "a]", "'a'", "é", "1", "q")


def test_the_page_says_where_python_differs():
    more, fewer = set(), set()
    for features in FEATURES.values():
        for _, example in features:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", FutureWarning)
                    expected = re.compile(example)
            except re.error:
                expected = None
            refused = refusal(example, "python")
            if expected is None and refused is None:
                more.add(example)
            elif expected is not None and refused is not None:
                fewer.add(example)
            elif expected is not None:
                found = compile_regex(example, dialect="python")
                for text in PROBES:
                    assert dfa.accepts(found, text) == bool(expected.fullmatch(text)), (example, text)
    assert more == {"(?<=a+)b"}
    # Two halves of a pair are two characters in Python, and in no text.
    assert fewer == {"(a*)b\\1", "(a)?(?(1)b|c)", "(?i)(a|b)\\1", r"\ud83d\ude00"}


def test_properties_go_by_all_their_names():
    for names in (
        ("Lu", "Uppercase_Letter", "gc=Lu", "General_Category=Uppercase_Letter", "uppercase letter"),
        ("Greek", "Script=Greek", "sc=Grek", "Script=Grek"),
        ("Alpha", "Alphabetic"),
        ("L", "Letter", "gc=L"),
    ):
        assert len({property_set(name) for name in names}) == 1 and property_set(names[0])
    assert property_set("Any") != property_set("Assigned") != property_set("ASCII")
    assert property_set("scx=Deva") != property_set("sc=Deva")
    assert property_set("Foo") is property_set("Script=Foo") is property_set("Foo=L") is None


def test_patterns_are_unions_of_texts_with_bounds():
    assert regex_texts("^$|^[a-z]{1,300}$", anchored=False) == (
        Text(dfa.all_words(((0x61, 0x7A),)), "raw", 1, 300),
        Text(dfa.EMPTY_WORD),
    )
    assert regex_texts("a{1,100}b{1,100}") == (Text(compile_regex("a{1,100}b{1,100}")),)
    assert regex_texts("[^\\s\\S]") == ()


def test_a_finite_pattern_of_long_words_is_not_made_deterministic_in_vain():
    # Its longest text has 10,879 characters, so that its automaton has more states than are made at once.
    counted = "([A-Z]{2,4}-([0-9]{1,4}(\\.[0-9]{1,3}){0,4}){1,3}(/[a-z0-9]{1,12}){0,8}[;,]?){1,64}"
    clear_caches()
    account = WorkAccount()
    with charged(account):
        assert regex_texts(f"^{counted}$", anchored=False, dialect="ecma") is None
    assert account.spent < 5_000


@pytest.mark.slow
@settings(max_examples=examples(100))
@given(counted_patterns())
def test_the_longest_word_of_a_tree(pattern):
    node = parse_regex(pattern)
    assume(not has_places(node))
    found = compile_regex(pattern)
    longest = longest_word(node)
    if longest is None:
        assert not dfa.is_finite(found)
    else:
        assert longest == (longest_path(found) if found.edges else -1)


def longest_path(found: CharDfa) -> int:
    """The characters of the longest word of a finite automaton."""
    count, level = -1, {0}
    while level:
        count += 1
        level = {target for state in level for _, _, target in found.edges[state]}
    return count


def test_the_bound_of_a_repeat_costs_nothing():
    for bound in (100, 1_000, 100_000, 1_000_000):
        term = regex_term(f"^id-[a-z]{{1,{bound}}}(/[a-z0-9]{{1,{bound}}}){{0,{bound}}}$", anchored=False)
        assert isinstance(term, Sequence) and len(term.items) == 3
