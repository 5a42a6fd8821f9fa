"""The format `regex` as a term: cases, and its words over some characters as one automaton."""

from __future__ import annotations

import re
from itertools import product

import pytest

from oracles import term_oracle
from sglc.automata.charset import ranges
from sglc.automata.dfa import operations as dfa
from sglc.automata.dfa.nfa_union import alternation, joined, repeated
from sglc.automata.formats.terms import define_flat, format_language
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import CharDfa, Choice, Language, Repeat, Rule, Sequence, Term, Text, parts


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "a|b||c",
        "^[a-z0-9-_.]+$",
        "(?:a(b|c){2,3}?)*",
        "(?<year>[0-9]{4})-(x)",
        r"\\\x41\u{1F600}\cJ\/",
        "[]",
        "[^]",
        "[-a]",
        "[a-]",
        r"[\w.-]",
        "[А-Яа-яё]",
        "[À-ÿ]",
        r"[\u0400-\u04FF]",
        r"[\x00-\x1F\n-a]",
        r"\p{Lu}\P{Script=Greek}[\p{L}_]",
        "(?=a)(?!b)(?<=c)(?<!d)",
        "a{0,10}b{99,100}c{100,}",
        "[一-龥]",
    ],
)
def test_patterns_are_of_the_format_regex(pattern):
    assert term_oracle.accepts(format_language("regex"), pattern.encode())
    assert compile_regex(pattern, dialect="ecma", anchored=False)


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        ")",
        "a**",
        "*",
        "a{2,1}",
        "a{12,9}",
        "[z-a]",
        "[a",
        "]",
        "{",
        r"\a",
        r"\Z",
        "(?P<n>a)",
        r"[\w-a]",
        "(?i)a",
        "(?<n>a)(?<n>b)",
        r"\p{letter}",
        r"\u{110000}",
        "^*",
        "(?<=a)*",
        "[ÿ-À]",
        "\\",
        "[b-a-z]",
        r"\x4",
        r"[\c]",
        "(?#a)",
        "a{,2}",
        r"[\x7f-a]",
        r"[\u00FF-\u00FE]",
    ],
)
def test_no_other_text_is(pattern):
    assert not term_oracle.accepts(format_language("regex"), pattern.encode())


@pytest.mark.slow
def test_most_of_a_pattern_is_one_lexeme():
    """Plain characters lead back to the state before, so that masks need not follow each of them."""
    flat = define_flat()
    behind = dfa.walk(flat, "a")
    assert behind is not None
    assert all(dfa.walk(flat, text, behind) == behind for text in ("b", "é", ":", r"\d", r"\p{Lu}", "|x"))


@pytest.mark.parametrize(
    "text",
    [
        ")+ab|c",
        ")ab|c",
        "]{1,2}ab|c",
        "-]ab",
        "?:ab|c",
        "?=ab|c",
        "?<name>ab|c",
        r"\dabc",
        "a-z-abc",
        "[^-abc",
    ],
)
def test_what_opens_or_closes_is_one_lexeme_with_what_is_behind_it(text):
    language = format_language("regex")
    assert language is not None
    waiting, lexemes = [language.root, *language.rules.values()], []
    while waiting:
        term = waiting.pop()
        waiting += parts(term)
        if isinstance(term, Text):
            lexemes.append(term.dfa)
    assert any(dfa.accepts(lexeme, text) for lexeme in lexemes)


# --- all words over some characters ---------------------------------------------------------------------

CHARACTERS = "()[]^-?:=!<>{}1,|*\\abd"
NO_WORD = CharDfa((), frozenset())
ALONE, ESCAPED, SETS = "-:=!<>1,abd", r"^\*?()[]{}|", ("d",)
COUNTS = r"[*?]|\{(?:1+,?|1,1{1,6}|11,1{2,6})\}"
"""Counts with digits 1 alone: 1 to 999,999, or 11 to 999,999, or any number by itself."""


def written_out() -> tuple[str, str, str]:
    """Regexes of what has no groups, of a quantifier, and of a class, over `CHARACTERS`."""
    quantifier = rf"(?:(?:{COUNTS})\??)?"
    escape = "|".join(re.escape("\\" + char) for char in (*ESCAPED, *SETS))
    alone = "|".join(map(re.escape, ALONE))
    places = r"\^|\||\\b"
    in_class = [char for char in CHARACTERS if char not in r"]\-"]
    ends = [(char, ord(char)) for char in in_class]
    ends += [("\\" + char, 8 if char == "b" else ord(char)) for char in ESCAPED + "-b"]
    spans = [f"{low}-{high}" for (low, a), (high, b) in product(ends, ends) if a <= b]
    single = [*in_class, *[text for text, _ in ends[len(in_class) :]], r"\d"]
    member = "|".join(map(re.escape, single)) + "|(?:" + "|".join(map(re.escape, spans)) + ")-?"
    one_class = rf"\[\^?-?(?:{member})*-?\]"
    return rf"(?:{places}|(?:{alone}|{escape}){quantifier})*", quantifier, one_class


def described(depth: int) -> CharDfa:
    """Patterns with no more brackets inside one another, by the rules of ECMA-262 that the format has."""
    flat, quantifier, one_class = map(compile_regex, written_out())
    group, look = (compile_regex(text) for text in (r"\((?:\?:)?", r"\(\?<?[=!]"))
    name, close = compile_regex(r"\(\?<[abd][abd1]*>"), dfa.literal(")")
    item = joined([one_class, quantifier])
    inside, naming = NO_WORD, NO_WORD
    for level in range(depth + 1):
        items, named = [item], []
        if level:
            items += [joined([group, inside, close, quantifier]), joined([look, inside, close])]
            named += [joined([name, inside, close, quantifier])]
        if level > 1:
            named += [joined([group, naming, close, quantifier]), joined([look, naming, close])]
        inside = joined([flat, repeated(joined([alternation(items), flat]), 0, None)])
        naming = joined([inside, alternation(named), inside]) if named else NO_WORD
    return alternation([inside, naming]) if naming.edges else inside


def unrolled(language: Language, depth: int) -> CharDfa:
    """The words of a term over `CHARACTERS` with no more brackets inside one another."""
    alphabet = dfa.all_words(ranges([(ord(char), ord(char)) for char in CHARACTERS]))
    known: dict[tuple[str, int], CharDfa] = {}

    def words(term: Term, left: int) -> CharDfa:
        match term:
            case Text(automaton):
                return dfa.intersect(automaton, alphabet)
            case Sequence(items):
                opens = isinstance(items[0], Text) and dfa.accepts(items[0].dfa, "(")
                if opens and not left:
                    return NO_WORD
                each = [words(item, left - opens) for item in items]
                return joined(each) if all(part.edges for part in each) else NO_WORD
            case Choice(arms):
                some = [part for part in (words(arm, left) for arm in arms) if part.edges]
                return alternation(some) if some else NO_WORD
            case Repeat(item, 0, None, b""):
                part = words(item, left)
                return repeated(part, 0, None) if part.edges else dfa.literal("")
            case Rule(name):
                if (name, left) not in known:
                    known[name, left] = words(language.rules[name], left)
                return known[name, left]
        raise TypeError(term)

    return words(language.root, depth)


@pytest.mark.slow
def test_words_over_some_characters_are_those_of_the_rules():
    language = format_language("regex")
    assert language is not None
    assert unrolled(language, 2) == described(2)
