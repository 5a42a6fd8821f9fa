"""Targets that write holes: what they write has the texts of the hole, no more and no fewer."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from checkout import EXAMPLES
from example_budget import examples
from expression_oracle import is_text
from oracles.lark_oracle import lark_accepts, lark_of
from sglc.automata import term as t
from sglc.automata.analysis.membership import is_word
from sglc.automata.dfa.operations import all_words, words
from sglc.cfg.model import grammar as g
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.notation.ebnf import read_ebnf
from sglc.cfg.notation.gbnf import read_gbnf
from sglc.cfg.notation.lark import read_lark
from sglc.cfg.notation.print_gbnf import to_gbnf
from sglc.cfg.notation.print_lark import to_lark
from sglc.diagnostics.diagnostic import has_errors
from sglc.driver import write_target
from sglc.source import Source
from sglc.targets.grammars.print_w3c import MOST_NESTED, to_w3c
from sglc.targets.projection.grammars import lark_text as lark_texts
from sglc.targets.projection.grammars.lark_text import (
    DEEPEST,
    FEW,
    INSIDE,
    LONGEST_PATTERN,
    MOST_COUNTED,
    MOST_SYMBOLS,
    lark_text,
    symbols,
)
from sglc.targets.projection.grammars.print_regex import to_regex
from sglc.targets.projection.grammars.term_grammar import MOST_RANGES, MOST_STATES, Refused, TermGrammar
from sglc.types.language.language import language
from sglc.types.type import matching
from strategies.near_misses import mutated
from strategies.typed_values import has_words, types, words_of

SMALL = 300
"""Characters of a grammar that Lark reads and parses with in a moment."""


@pytest.mark.slow
@given(st.data())
@settings(max_examples=examples(10))
def test_a_grammar_has_the_texts_of_its_type(data: st.DataObject) -> None:
    type_, table = data.draw(types())
    assume(has_words(type_, table))
    found = language(type_, table, surface=data.draw(st.sampled_from(["hole", "json"])))
    writer = TermGrammar(found)
    try:
        writer.write()
    except Refused:
        assume(False)
    written = writer.grammar()
    grammars = [read_gbnf(to_gbnf(written))]
    for read, as_text in ((read_ebnf, to_w3c), (read_lark, lark_text)):
        with suppress(GrammarError):
            grammars.append(read(as_text(written)))
    # Lark multiplies options out when it reads a grammar, so it judges the small ones.
    lark = lark_of(to_lark(written)[0], start="root") if len(to_lark(written)[0]) < SMALL else None
    pattern = None
    with suppress(GrammarError):
        pattern = re.compile(to_regex(written))
    for seed in range(4):
        text = data.draw(words_of(found)).decode()
        assume(len(text) < 400)
        for tried in (text, mutated(text, seed)):
            legal = is_word(found, tried)
            if writer.lost and not legal:
                continue
            assert all(is_text(grammar, tried) == legal for grammar in grammars), tried
            assert pattern is None or (pattern.fullmatch(tried) is not None) == legal, tried
            assert lark is None or lark_accepts(lark, tried) == legal, tried


HOLES = {
    "int in 1..3": r"root ::= [1-3]",
    "[int in 1..3; 2..4]": r'root ::= "[" [1-3] (", " [1-3]){1,3} "]"',
    "str matching /[a-z]+(-[a-z]+)*/ max 9 tok": r'root ::= [a-z] ("-"? [a-z])*',
    '"yes" | "no"': r'root ::= "no" | "yes"',
    "bool": r'root ::= "false" | "true"',
}


@pytest.mark.parametrize("written", HOLES)
def test_a_hole_as_gbnf(written: str) -> None:
    source = Source("p.sgl", f"pub fn f() -> int:\n    assistant: | ?{{x: {written}}}\n    return 1\n")
    text, found = write_target(source, "gbnf")
    assert [d for d in found if d.severity == "error"] == []
    assert text == HOLES[written] + "\n"


def test_what_differs_is_told() -> None:
    program = "pub fn f() -> int:\n    assistant: | ?{x: {str max 3 chars: int in 0..9; ..3}}\n    return 1\n"
    text, found = write_target(Source("p.sgl", program), "gbnf")
    (error,) = [d for d in found if d.severity == "error"]
    assert text == "" and error.message == "gbnf cannot say keys that occur once, at hole f.x"
    text, _ = write_target(Source("p.sgl", program), "gbnf", allow_wider=True)
    assert text.startswith(
        "# Lost: keys that occur once, at hole f.x; instead: keys that may occur again\nroot ::= "
    )
    assert is_text(read_gbnf(text), '{"a": 1, "a": 2}') and not is_text(read_gbnf(text), '{"a": 10}')


def test_one_hole_of_several_is_named() -> None:
    source = Source(str(EXAMPLES / "orders.sgl"), (EXAMPLES / "orders.sgl").read_text(encoding="utf-8"))
    _, found = write_target(source, "gbnf")
    assert "several holes at once (order.row, answer.said: --hole says which)" in found[-1].message
    _, found = write_target(source, "gbnf", hole="nope")
    assert "cannot say the hole `nope` (the program has order.row, answer.said)" in found[-1].message
    _, found = write_target(Source("p.sgl", "pub pure fn f() -> int:\n    return 1\n"), "gbnf")
    assert "cannot say a program without holes" in found[-1].message
    for name in ("order.row", "row"):
        text, found = write_target(source, "gbnf", hole=name)
        assert not has_errors(found) and text.startswith("root ::= ")


def test_names_of_rules_stay_apart() -> None:
    rules = {"a.b": t.Bytes(b"x"), "a-b": t.Bytes(b"y")}
    found = t.Language(t.Sequence((t.Rule("a.b"), t.Rule("a-b"))), rules)
    writer = TermGrammar(found)
    writer.write()
    text = to_gbnf(writer.grammar())
    assert len(re.findall(r"^\S+ ::=", text, re.MULTILINE)) == 3
    assert is_text(read_gbnf(text), "xy") and not is_text(read_gbnf(text), "xx")


def test_a_digit_behind_a_code_is_none_of_its_digits() -> None:
    found = language(matching("[-0-9A-F]+"), {}, surface="hole")
    writer = TermGrammar(found)
    writer.write()
    read = read_ebnf(to_w3c(writer.grammar()))
    for text in ("-", "0", "9A-", "F"):
        assert is_text(read, text)
    assert not is_text(read, "\u02d0") and not is_text(read, "g")


def grammar(**bodies: g.Expression) -> g.Grammar:
    return g.Grammar({name: g.Rule(name, body) for name, body in bodies.items()}, {}, (), "root", "gbnf")


def test_codes_have_one_length() -> None:
    """xgrammar reads all hexadecimal digits behind `\\x`, llama.cpp two: `\\u` has four for all."""
    written = grammar(root=g.Sequence((g.Characters(((0x2D, 0x2D), (0x30, 0x39))), g.Literal("\x7f0"))))
    assert to_gbnf(written) == 'root ::= [\\u002D0-9] "\\u007F0"\n'
    assert to_regex(written) == r"[\-0-9]\u007f0"
    assert to_regex(grammar(root=g.Characters(((0, 0x1F), (0x30, 0x30))))) == r"[\u0000-\u001f0]"


@pytest.mark.parametrize("inside", [1, INSIDE, INSIDE + 2])
def test_lark_has_no_terminal_that_may_be_empty(inside: int) -> None:
    """Lark refuses one. So many rules inside each other are looked into."""
    rules: dict[str, g.Expression] = {f"r{n}": g.Reference(f"r{n + 1}") for n in range(inside)}
    rules[f"r{inside}"] = g.Repeat(g.Characters(((97, 122),)), 0, 3)
    found = lark_text(grammar(root=g.Reference("r0"), **rules))
    assert found == ("start: /[a-z]{0,3}/\n" if inside > INSIDE else "start: /[a-z]{1,3}/ | ()\n")


LETTERS = g.Characters(((97, 122),))
EMPTY = {
    "all parts may be empty": g.Sequence((g.Repeat(LETTERS, 0, 2), g.Repeat(g.Literal("1"), 0, 1))),
    "an option": g.Alternatives((g.Literal(""), g.Literal("ab"), g.Reference("more"))),
    "some of what may be empty": g.Repeat(g.Repeat(LETTERS, 0, 2), 0, 2),
    "at least two of what may be empty": g.Repeat(g.Alternatives((LETTERS, g.Literal(""))), 2, None),
}


@pytest.mark.parametrize("name", EMPTY)
def test_lark_of_what_may_be_empty_has_the_same_texts(name: str) -> None:
    written = grammar(root=EMPTY[name], more=g.Repeat(g.Literal("x"), 0, 2))
    pattern, found = re.compile(to_regex(written)), read_lark(lark_text(written))
    texts = ["", "a", "ab", "1", "ab1", "x", "xx", "xxx", "abcde", "b1a", "11"]
    assert [is_text(found, text) for text in texts] == [bool(pattern.fullmatch(text)) for text in texts]


def test_many_options_in_ebnf_are_not_all_inside_each_other() -> None:
    most = 2 + 5 * MOST_NESTED
    body = g.Repeat(g.Literal("ab", False), 2, most)
    read = read_ebnf(to_w3c(g.Grammar({"root": g.Rule("root", body)}, {}, start="root")))
    for count in (1, 2, 3, MOST_NESTED + 3, most, most + 1):
        assert is_text(read, "ab" * count) == (2 <= count <= most), count


@pytest.mark.parametrize("more", [0, 1])
def test_a_terminal_with_a_long_pattern_is_made_of_others(more: int) -> None:
    """Rules that are used twice are written once then; the lexer still sees one terminal."""
    half = "a" * (LONGEST_PATTERN // 2 - 1)
    rules = {"part": g.Sequence((g.Literal(half), g.Literal("b" + "c" * more)))}
    found = lark_text(grammar(root=g.Sequence((g.Reference("part"), g.Reference("part"))), **rules))
    assert (
        found.startswith("start: WHOLE\n" if more else "start: /aaa")
        and len(found.splitlines()) == 1 + 2 * more
    )


def test_a_terminal_made_of_others_has_the_same_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lark_texts, "LONGEST_PATTERN", 10)
    part = g.Sequence((g.Repeat(LETTERS, 1, 2), g.Literal("-")))
    found = lark_text(grammar(root=g.Repeat(g.Reference("part"), 0, 2), part=part))
    assert found == 'start: WHOLE | ()\nWHOLE: X_PART~1..2\nX_PART: /[a-z]/~1..2 "-"\n'
    for text, legal in (
        ("", True),
        ("ab-", True),
        ("a-bc-", True),
        ("abc-", False),
        ("a-b-c-", False),
        ("-", False),
    ):
        assert lark_accepts(lark_of(found), text) == is_text(read_lark(found), text) == legal


@pytest.mark.parametrize(
    ("letters", "count", "is_read"),
    [(FEW, None, True), (FEW + 1, None, False), (26, MOST_COUNTED, True), (26, MOST_COUNTED + 1, False)],
)
def test_free_text_in_what_contains_itself_is_short(letters: int, count: int | None, is_read: bool) -> None:
    """Its characters are read one by one, which takes more of llguidance's parser than it gives."""
    text = g.Repeat(g.Characters(((97, 96 + letters),)), 1, count)
    written = grammar(root=g.Alternatives((text, g.Sequence((g.Literal("("), g.Reference("root"))))))
    if is_read:
        assert lark_text(written).startswith("start: /[a-")
    else:
        with pytest.raises(GrammarError, match="contains itself"):
            lark_text(written)


def test_lark_of_what_contains_itself_reads_single_characters() -> None:
    """A lexer that takes the longest match would take `ab` where a rule means `a` and another `b`."""
    arms = g.Alternatives(
        (g.Literal("ab"), g.Sequence((g.Literal("("), g.Reference("root"), g.Literal(")"))))
    )
    found = lark_text(grammar(root=g.Sequence((arms, g.Repeat(g.Characters(((97, 122),)), 0, 3)))))
    assert found == 'start: ("a" "b" | "(" start ")") /[a-z]/~0..3\n'
    assert lark_accepts(lark_of(found), "(abc)abc") and not lark_accepts(lark_of(found), "(abc)abcd")
    assert lark_text(grammar(root=g.Sequence((g.Literal("ab"), arms.arms[0])))) == "start: /abab/\n"


def _quoted(opening: str = "'", closing: str = "'", inside: int = 40) -> g.Expression:
    return g.Sequence(
        (g.Literal(f"={opening}"), g.Repeat(g.Characters(((97, 122),)), 1, inside), g.Literal(f"{closing};"))
    )


def test_quoted_text_in_what_contains_itself_is_a_terminal() -> None:
    itself = g.Sequence((g.Literal("("), g.Reference("root"), g.Literal(")")))
    found = lark_text(grammar(root=g.Alternatives((itself, _quoted()))))
    assert found == 'start: "(" start ")" | "=" QUOTED_0 ";"\nQUOTED_0: "\'" /[a-z]/~1..40 "\'"\n'


@pytest.mark.parametrize(
    "others",
    [
        (g.Literal("it's"),),
        (g.Characters(((0x20, 0x2F),)),),
        (_quoted(inside=41),),
        (_quoted(closing="x"),),
    ],
    ids=["its opening stands elsewhere", "in a set", "two with one opening", "its end may stand inside"],
)
def test_quoted_text_without_one_match_is_no_terminal(others: tuple[g.Expression, ...]) -> None:
    itself = g.Sequence((g.Literal("("), g.Reference("root"), g.Literal(")")))
    with pytest.raises(GrammarError, match="contains itself"):
        lark_text(grammar(root=g.Alternatives((itself, _quoted(), *others))))


@pytest.mark.slow
@settings(max_examples=examples(100), deadline=None)
@given(st.data())
def test_quoted_terminals_have_the_same_texts(data: st.DataObject) -> None:
    """Random parts around quoted ones: the grammar with terminals against the one without."""
    literals = st.sampled_from(["a", "'", "<", ">", "b'", "ab"]).map(g.Literal)
    inside = st.sampled_from([((97, 98),), ((60, 62), (97, 98))]).map(g.Characters)
    parts = st.one_of(literals, st.builds(g.Repeat, inside, st.integers(0, 1), st.integers(1, 2)))
    rows = st.lists(parts, min_size=2, max_size=4).map(lambda row: g.Sequence(tuple(row)))
    itself = g.Sequence((g.Literal("("), g.Reference("root"), g.Literal(")")))
    written = grammar(root=g.Alternatives((itself, *data.draw(st.lists(rows, min_size=1, max_size=3)))))
    plain = read_lark(to_lark(lark_texts._in_characters(written))[0])
    quoted = read_lark(lark_text(written))
    for text in data.draw(st.lists(st.text("ab'<>()", max_size=7), min_size=10, max_size=10)):
        assert (
            is_text(plain, text) == is_text(quoted, text) == lark_accepts(lark_of(lark_text(written)), text)
        )


def test_lark_of_a_backslash_before_a_quote() -> None:
    """Lark takes a backslash before a quote out of a pattern, also the second of an escaped one."""
    found = lark_text(
        grammar(root=g.Sequence((g.Literal('\\"'), g.Characters(((0x22, 0x22), (0x5C, 0x5C))))))
    )
    assert found == 'start: /\\\\\\x22["\\\\]/\n'
    for text in ('\\""', '\\"\\', '""', "\\\\\\"):
        legal = text.startswith('\\"')
        assert lark_accepts(lark_of(found), text) == is_text(read_lark(found), text) == legal


@pytest.mark.parametrize("more", [0, 1])
def test_how_much_lark_may_be(more: int) -> None:
    """Rules inside each other, and symbols: as many as a reader takes, and one more."""
    itself = g.Sequence((g.Literal("("), g.Reference("root"), g.Literal(")")))
    deep: dict[str, g.Expression] = {"root": g.Alternatives((itself, g.Reference("r1")))}
    for number in range(1, DEEPEST - 1 + more):
        deep[f"r{number}"] = g.Sequence((g.Literal("a"), g.Reference(f"r{number + 1}")))
    deep[f"r{DEEPEST - 1 + more}"] = g.Literal("b")
    wide = g.Alternatives((itself, *(g.Literal("a") for _ in range(MOST_SYMBOLS - 5 + more))))
    for written, reason in ((grammar(**deep), "inside each other"), (grammar(root=wide), "symbols")):
        if more:
            with pytest.raises(GrammarError, match=reason):
                lark_text(written)
        else:
            assert lark_text(written).startswith("start: ")
    assert symbols(g.Repeat(g.Literal("a"), 2, 3000)) == 26


@pytest.mark.parametrize(
    ("pattern", "written"),
    [
        ("[0-9]{4}-[0-9]{2}", r"[0-9]{4}-[0-9]{2}"),
        ("[A-Z][a-z]{2,9} x?", r"[A-Z][a-z]{2,9} x?"),
        ("(?!w)[a-z]{3,5}", r"[a-vx-z][a-z]{2,4}"),
        ("(?!ac)[a-c]{3,4}", r"(?:a[a-b]|[b-c][a-c])[a-c]{1,2}"),
    ],
)
def test_what_arms_of_a_pattern_share_is_written_once(pattern: str, written: str) -> None:
    writer = TermGrammar(language(matching(pattern), {}, surface="hole"))
    writer.write()
    assert to_regex(writer.grammar()) == written


@pytest.mark.parametrize("more", [0, 1])
def test_states_of_an_automaton_that_is_written(more: int) -> None:
    writer = TermGrammar(t.Language(t.Text(words(["a" * (MOST_STATES - 1 + more)]))))
    if more:
        with pytest.raises(Refused, match="an automaton of 3,001 states"):
            writer.write()
    else:
        writer.write()
        assert writer.root == g.Literal("a" * (MOST_STATES - 1))


@pytest.mark.parametrize("more", [0, 1])
def test_a_large_set_of_characters_is_written_once(more: int) -> None:
    ranges = tuple((100 * number, 100 * number + 1) for number in range(1, MOST_RANGES + 1 + more))
    char = t.Text(all_words(ranges), "raw", 2, 2)
    writer = TermGrammar(t.Language(t.Sequence((char, t.Bytes(b"-"), char))))
    writer.write()
    written = to_gbnf(writer.grammar())
    assert written.count("[") == (1 if more else 2)
    assert is_text(read_gbnf(written), "de-\u00c8e") and not is_text(read_gbnf(written), "de-\u00cae")
