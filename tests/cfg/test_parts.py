"""Parse trees and values of grammars: against the oracle, against the masks, and in programs."""

from __future__ import annotations

import copy
import random
import re
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from example_budget import examples
from oracles import grammar_oracle
from sglc.cfg.analysis.multiplicity import occurrences
from sglc.cfg.language import GrammarOptions, grammar_language, parser_of
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.grammar import (
    Alternatives,
    Expression,
    Grammar,
    Literal,
    Named,
    Reference,
    Repeat,
    Rule,
    Sequence,
)
from sglc.cfg.notation.reader import read_grammar, shipped_grammar
from sglc.check.program import check
from sglc.driver import compile_source
from sglc.library import Library
from sglc.options import CompileOptions
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.vm.holes.fuzz import random_word
from sglc.source import Source
from sglc.testing import run_tests
from sglc.types.dependent import bind, in_grammar
from sglc.types.grammar_text import part_type, parts_of
from sglc.types.language.language import language
from sglc.types.text.decode import decode
from sglc.types.type import Str
from sglc.types.values import GivenError, NothingLeft, Parsed
from strategies.grammar_strategies import ALPHABET, BYTES, char_grammars, texts, token_grammars, words_of

DYNAMIC = GrammarOptions()
LONGEST = GrammarOptions(lexing="longest")


def replaced(body: Expression, name: str) -> Expression:
    """References to a rule as the text `@`."""
    match body:
        case Reference(used):
            return Literal("@") if used == name else body
        case Sequence(items):
            return Sequence(tuple(replaced(item, name) for item in items))
        case Alternatives(arms):
            return Alternatives(tuple(replaced(arm, name) for arm in arms))
        case Repeat(item, low, high):
            return Repeat(replaced(item, name), low, high)
        case Named(item, other):
            return Named(replaced(item, name), other)
    return body


def marked(text: str, parts: list[str]) -> set[str]:
    """The text with `@` in place of the parts, wherever they may stand in this order."""
    if not parts:
        return {text}
    first, rest = parts[0], parts[1:]
    found = set()
    for at in range(len(text) + 1):
        if text.startswith(first, at):
            found |= {text[:at] + "@" + end for end in marked(text[at + len(first) :], rest)}
    return found


@pytest.mark.slow
@settings(max_examples=examples(6))
@given(char_grammars())
def test_parts_are_those_of_a_tree(grammar: Grammar) -> None:
    """With its parts replaced it is a text of the grammar whose rule is replaced."""
    try:
        parser = parser_of(grammar, DYNAMIC)
    except GrammarError as fault:
        assume("no text at all" not in fault.reason)
        raise
    for rule in grammar.rules:
        rules = {name: Rule(name, replaced(rule_.body, rule)) for name, rule_ in grammar.rules.items()}
        outside = Grammar(rules, {}, (), "start", "gbnf")
        fewest, most = occurrences(parser.graph, rule)
        for text in texts("xyz", 3):
            parts = parser.parts(text, rule)
            assert (parts is not None) == grammar_oracle.accepts(grammar, text)
            if parts is not None:
                assert fewest <= len(parts) and (most >= 2 or len(parts) <= most)
                assert all(grammar_oracle.accepts(replace(grammar, start=rule), part) for part in parts)
                assert any(grammar_oracle.accepts(outside, left) for left in marked(text, parts))


@pytest.mark.slow
@settings(max_examples=examples(15))
@given(token_grammars(), st.booleans())
def test_what_the_mask_allows_has_a_tree(text: str, longest: bool) -> None:
    grammar = read_grammar(text, "lark")
    options = GrammarOptions("longest" if longest else "dynamic", ignore_ends=False)
    try:
        words = words_of(grammar_language(grammar, options), ALPHABET, 4)
    except GrammarError as fault:
        assume("no text at all" not in fault.reason and "further on" not in fault.reason)
        raise
    parser = parser_of(grammar, options)
    for word in words:
        for rule in grammar.rules:
            parts = parser.parts(word, rule)
            assert parts is not None
            place = 0
            for part in parts:
                place = word.index(part, place) + len(part)


@pytest.mark.parametrize(
    ("text", "word", "rule", "parts"),
    [
        ("start: a a\na: /x+/", "xxx", "a", ["xx", "x"]),
        ('start: a | b\na: "x"\nb: "x"', "x", "a", ["x"]),
        ('start: b | a\na: "x"\nb: "x"', "x", "a", []),
        ('start: e\ne: e "+" e | "n"', "n+n+n", "e", ["n+n+n"]),
        ('start: e "+" e\ne: e "+" e | "n"', "n+n+n", "e", ["n+n", "n"]),
        ('start: a\na: a* | "x"', "xx", "a", ["xx"]),
        ('start: a\na: b | "x"\nb: a', "x", "b", []),
        ('start: a~3\na: "x"*', "xx", "a", ["xx", "", ""]),
        ('start: a ~ 1..3\na: "x" | "xx"', "xxxx", "a", ["xx", "xx"]),
        ('start: item ("," item)*\nitem: /[a-z]+/\n%ignore " "', "a , bc  ,d ", "item", ["a", "bc", "d"]),
    ],
)
def test_which_of_several_trees(text: str, word: str, rule: str, parts: list[str]) -> None:
    assert parser_of(read_grammar(text, "lark"), DYNAMIC).parts(word, rule) == parts


def test_long_and_deep_texts_have_trees() -> None:
    deep = parser_of(read_grammar('start: e\ne: "(" e ")" | "x"', "lark"), DYNAMIC)
    assert deep.parts("(" * 2000 + "x" + ")" * 2000, "e") == ["(" * 2000 + "x" + ")" * 2000]
    flat = parser_of(read_grammar('start: e ("," e)*\ne: /[a-z]+/', "lark"), DYNAMIC)
    assert flat.parts(",".join(["ab"] * 1500), "e") == ["ab"] * 1500


@pytest.mark.slow
def test_trees_of_the_library() -> None:
    sql = parser_of(shipped_grammar("sql"), LONGEST)
    text = "SELECT a, b.c  FROM t , u  WHERE a = (SELECT 1 LIMIT 2) LIMIT 5  ;"
    assert sql.parts(text, "result") == ["a", "b.c", "1"]
    assert sql.parts(text, "where") == ["WHERE a = (SELECT 1 LIMIT 2)"]
    assert sql.parts(text + ";", "where") is None


def test_a_part_is_read_as_it_stands_in_the_whole() -> None:
    """Inside of quotes nothing else is tried; alone, `word` would lose to the keyword."""
    grammar = read_grammar('start: "if" word | "(" rest ")"\nword: /[a-z]+/\nrest: word\n%ignore " "', "lark")
    inside = replace(grammar, start="rest", whole="start")
    assert parser_of(inside, LONGEST).parts("if", "word") == ["if"]
    matcher = compile_constraint(language=grammar_language(inside, LONGEST)).matcher(BYTES)
    assert matcher.accept_bytes(b"if") and matcher.is_accepting()
    with pytest.raises(GrammarError, match="is no part of"):
        grammar_language(replace(grammar, start="start", whole="word"))


@settings(max_examples=examples(15))
@given(token_grammars(), st.booleans())
def test_texts_of_a_part_are_those_inside_the_whole(text: str, longest: bool) -> None:
    """What a rule writes of some text is a text of the grammar that is rooted there."""
    grammar = read_grammar(text, "lark")
    options = GrammarOptions("longest" if longest else "dynamic", ignore_ends=False)
    try:
        words = words_of(grammar_language(grammar, options), ALPHABET, 4)
    except GrammarError as fault:
        assume("no text at all" not in fault.reason and "further on" not in fault.reason)
        raise
    parser = parser_of(grammar, options)
    for rule in set(grammar.rules) - {"start"}:
        if not occurrences(parser.graph, rule)[1]:
            continue
        inside = parser_of(replace(grammar, start=rule, whole="start"), options)
        for word in words:
            for part in parser.parts(word, rule) or ():
                assert inside.parts(part, rule) is not None


# Values of parameters

OPEN = """\
grammar G(xs: [str], end: str):
    start: "<" one of xs ("," one of xs){0,2} ">" end
    skip / +/
"""


def open_type(text: str = OPEN) -> Str:
    program, found = check(
        Source(
            "p.sgl",
            f"{text}pub fn f(xs: [str], end: str) -> str:\n"
            "    | ?{g: G(xs, end) max 90 tok}\n    return g\n",
        ),
        Library(),
    )
    assert program is not None and not found, found
    (facts,) = [hole for module in program.modules for hole in module.holes.values()]
    assert isinstance(facts.type, Str) and facts.type.given == (0, 1)
    return facts.type


WORDS = st.lists(st.text(alphabet="ab<,>; é", min_size=1, max_size=3), min_size=1, max_size=4)


@pytest.mark.parametrize("skip", [True, False])
@settings(max_examples=examples(12))
@given(xs=WORDS, end=st.sampled_from(["", ";", "é>"]))
def test_the_mask_of_a_grammar_with_values_writes_its_texts(skip: bool, xs: list[str], end: str) -> None:
    text = OPEN if skip else OPEN.replace("    skip / +/\n", "")
    type = open_type(text)
    try:
        bound = bind(type, [xs, end])
    except GivenError:
        # Longest-first, one value may always take the beginning of what should follow it.
        assert skip
        return
    gap = " *" if skip else ""
    item = "(?:" + "|".join(map(re.escape, xs)) + ")" + gap
    pattern = re.compile(f"<{gap}{item}(?:,{gap}{item}){{0,2}}>{gap}{re.escape(end)}{gap if end else ''}")
    constraint = compile_constraint(language=language(bound, {}))
    draw = random.Random(3)
    for _ in range(10):
        written = random_word(constraint.matcher(BYTES), draw).decode()
        assert pattern.fullmatch(written), written
        assert isinstance(decode(written, bound, {}), Parsed)
    if not skip:
        for word in xs:
            matcher = constraint.matcher(BYTES)
            assert matcher.accept_bytes(f"<{word}>{end}".encode()) and matcher.is_accepting()


def test_values_that_leave_nothing_are_refused() -> None:
    type = open_type()
    with pytest.raises(NothingLeft, match="`xs` of the grammar G is empty"):
        in_grammar(type, [[], ";"])
    with pytest.raises(GivenError, match=r"an entry of a `one of` is no text: .* lone surrogate"):
        in_grammar(type, [["a\ud800"], ";"])


def test_values_have_any_characters() -> None:
    bound = in_grammar(open_type(), [["a\n", "\x00"], "\t"])
    matcher = compile_constraint(language=language(bound, {})).matcher(BYTES)
    assert matcher.accept_bytes(b"<a\n>\t") and matcher.is_accepting()
    assert decode("<\x00>\t", bound, {}) == "<\x00>\t"


EMPTY_LISTS = """\
record Base:
    tables: [str]
    columns: [str]

grammar Query(base: Base):
    start: "SELECT " ("*" | column (", " column)*) " FROM " table order?
    table: one of base.tables
    column: one of base.columns
    order: " BY " column

fn ask(base: Base) -> (str, [str], str?):
    | ?{query: Query(base) max 80 tok}
    return (query.table, query.column, query.order)

test "rules that the values leave nothing of have no parts":
    fuzz ask(Base(["a", "b\\nc"], [])) times 20:
        expect it[0] in ["a", "b\\nc"] and it[1] == [] and it[2] == null
    mock ask.query = "SELECT * FROM b\\nc"
    expect ask(Base(["a", "b\\nc"], []))[0] == "b\\nc"
"""


def test_rules_without_a_text_have_no_parts() -> None:
    found = compile_source(Source("p.sgl", EMPTY_LISTS), CompileOptions())
    assert found.program is not None, found.diagnostics
    (report,) = run_tests(found.program)
    assert report.passed, report.failures


@pytest.mark.parametrize(("end", "fails"), [("", True), (".", False)])
def test_values_with_line_breaks_are_told_from_a_newline_that_ends(end: str, fails: bool) -> None:
    source = f"""\
grammar G(xs: [str]):
    start: x+
    x: one of xs

fn f(xs: [str]) -> str:
    | ?{{g: G(xs) max 9 tok}}{end}
    return g

test "t":
    mock f.g = "a\\n"
    expect f(["a", "\\n"]) == "a\\n"
"""
    found = compile_source(Source("p.sgl", source), CompileOptions())
    assert found.program is not None, found.diagnostics
    (report,) = run_tests(found.program)
    assert report.passed != fails
    assert not fails or "can also be part of its value" in report.failures[0].message


def test_parts_of_a_grammar_with_values_know_them() -> None:
    program, found = check(
        Source("p.sgl", 'pub grammar G:\n    start: a ";" a?\n    a: b+\n    b: "x" | "y"\n'), Library()
    )
    assert program is not None and not found
    type = program.table["G"].type
    assert isinstance(type, Str)
    part, count = part_type(type.grammar, "a") or ("", "")
    assert count == "many" and parts_of("xy;x", type.grammar, "a") == ["xy", "x"]
    assert part_type(part, "b") is not None and parts_of("xy", part, "b") == ["x", "y"]
    assert part_type(type.grammar, "c") is None
    with pytest.raises(GrammarError, match="no text of the grammar G"):
        parts_of("xz", type.grammar, "a")


def test_a_parsed_text_is_a_text() -> None:
    text = Parsed("abc", "{}")
    assert text == "abc" and hash(text) == hash("abc") and {text: 1}["abc"] == 1
    for twin in (copy.copy(text), copy.deepcopy(text)):
        assert twin == text and twin.grammar == "{}"
