"""The language of a grammar is that of its notation: against an oracle, and against Lark."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from example_budget import examples
from oracles import grammar_oracle
from oracles.lark_oracle import lark_accepts, lark_of, longest_first_parsers
from sglc.automata.term import Language, LateRules, Rule
from sglc.cfg.language import GrammarOptions, grammar_language
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.grammar import Grammar
from sglc.cfg.notation.print_lark import to_lark
from sglc.cfg.notation.reader import read_grammar
from sglc.runtime.mask.compile import compiler as compiler_module
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from strategies.grammar_strategies import ALPHABET, BYTES, char_grammars, texts, token_grammars, words_of

EXAMPLES = 15
"""Of the smallest property."""


def some(count: int) -> settings:
    return settings(
        max_examples=examples(count),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )


def language_of(grammar: Grammar, **options: object):
    """The language, or nothing to test where there is none."""
    try:
        return grammar_language(grammar, GrammarOptions(**options))  # type: ignore[arg-type]
    except GrammarError as fault:
        assume("no text at all" not in fault.reason and "further on" not in fault.reason)
        raise


@some(3 * EXAMPLES)
@given(char_grammars())
def test_words_are_those_of_the_oracle(grammar: Grammar) -> None:
    words = {text for text in texts("xyz", 3) if grammar_oracle.accepts(grammar, text)}
    try:
        language = grammar_language(grammar)
    except GrammarError as fault:
        assert "no text at all" in fault.reason and not words
        return
    assert words_of(language, "xyz", 3) == words


@pytest.mark.slow
@some(EXAMPLES)
@given(char_grammars())
def test_words_are_those_that_lark_accepts(grammar: Grammar) -> None:
    language = language_of(grammar)
    text, start = to_lark(grammar)
    lark = lark_of(text, start=start)
    assert words_of(language, "xyz", 3) == {word for word in texts("xyz", 3) if lark_accepts(lark, word)}


@some(2 * EXAMPLES)
@given(token_grammars())
def test_terminals_match_as_in_larks_dynamic_lexer(text: str) -> None:
    language = language_of(read_grammar(text, "lark"))
    lark = lark_of(text)
    expected = {word for word in texts(ALPHABET, 3) if lark_accepts(lark, word)}
    assert words_of(language, ALPHABET, 3) == expected


@some(2 * EXAMPLES)
@given(token_grammars())
def test_what_is_generated_longest_first_parses_with_lark(text: str) -> None:
    language = language_of(read_grammar(text, "lark"), lexing="longest")
    words = words_of(language, ALPHABET, 4)
    for lark in longest_first_parsers(text):
        assert [word for word in words if not lark_accepts(lark, word)] == []


@some(2 * EXAMPLES)
@given(token_grammars() | char_grammars(), st.randoms(use_true_random=False), st.booleans())
def test_there_are_no_dead_ends(given_grammar: str | Grammar, dice: object, longest: bool) -> None:
    if isinstance(given_grammar, str):
        lexing = "longest" if longest else "dynamic"
        language = language_of(read_grammar(given_grammar, "lark"), lexing=lexing)
    else:
        language = language_of(given_grammar)
    matcher = compile_constraint(language=language).matcher(BYTES)
    for _ in range(12):
        twin = matcher.clone()
        try:
            ending = matcher.shortest_completion()
        except ConstraintError as fault:
            # The search for the shortest is bounded; that there is one is shown by the walk itself.
            assert "no short way" in str(fault)
        else:
            assert twin.accept_bytes(ending) and twin.is_accepting()
        legal = matcher.allowed().tolist()
        if not legal:
            assert matcher.is_accepting()
            break
        assert matcher.accept(dice.choice(legal))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('start: e\ne: e "+" e | e "*" e | "n"', "n+n*" * 50 + "n"),
        ('start: e\n?e: add | mul | "n"\nadd: e "+" e\nmul: e "*" e', "n+n*" * 50 + "n"),
        ('start: e\ne: "(" e ")" | "(" t ")" | "n"\nt: e "," t | e', "(" * 60 + "n" + ")" * 60),
        ('start: e\ne: e "+" t | t\nt: "-" e | "n"', "-n+" * 50 + "n"),
        ('start: s\ns: s s | "a" | "b" s "c"', "ab" * 40 + "a" + "c" * 40),
        ('start: a\na: "x" a "x" | "x"', "x" * 61),
        ('start: b\nb: s*\ns: "i" b | "x"', "ix" * 60),
        ('start: l\nl: "x" l | "x"', "x" * 100),
        ("start: a\na: b*\nb: a | /[xy]/", "xy" * 40),
    ],
)
def test_ambiguity_and_recursion_leave_few_places_open(text: str, word: str) -> None:
    matcher = compile_constraint(grammar=text).matcher(BYTES)
    most = 0
    for byte in word.encode():
        assert matcher.accept(byte)
        most = max(most, len(matcher.machine.configs[matcher.config]))
    assert matcher.is_accepting()
    assert most <= 6


def accepted(text: str, *words: str, dialect: str = "lark", **options: object) -> list[bool]:
    grammar = read_grammar(text, dialect)  # type: ignore[arg-type]
    language = grammar_language(grammar, GrammarOptions(**options))  # type: ignore[arg-type]
    constraint = compile_constraint(language=language)
    found = []
    for word in words:
        matcher = constraint.matcher(BYTES)
        found.append(matcher.accept_bytes(word.encode()) and matcher.is_accepting())
    return found


def test_a_pattern_matches_what_pythons_matcher_prefers() -> None:
    assert accepted("start: /a|ab/", "a", "ab") == [True, False]
    assert accepted('start: /".*?"/', '""', '"x"', '"x"y"') == [True, True, False]
    text = "start: ESCAPED_STRING\n%import common.ESCAPED_STRING"
    assert accepted(text, r'"a\"b\\"', r'"a\"', '"a"b"', '"é"') == [True, False, False, True]


def test_ignored_text_is_matched_as_long_as_it_goes() -> None:
    text = 'start: NAME "=" NAME\nNAME: /[a-z]+/\n%ignore " "\n%ignore /#[^\\n]*/\n%ignore "\\n"'
    assert accepted(text, "a=b", " a = b ", "a=#x\nb", "a=#b", "a=b#c", "a=#x b") == [
        True,
        True,
        True,
        False,
        True,
        False,
    ]
    assert accepted(text, " a=b", "a=b", ignore_ends=False) == [False, True]


def test_keywords_and_names_are_told_apart_longest_first() -> None:
    text = 'start: "if" term "then" term\nterm: "not" NAME | NAME\nNAME: /[a-z]+/\n%ignore " "'
    words = ("if a then b", "if not a then b", "if not then b", "ifa then b", "if nota then b", "ifathenb")
    assert accepted(text, *words, lexing="longest") == [True, True, False, False, True, False]
    assert accepted(text, *words) == [True, True, True, True, True, True]
    # Where no keyword can come, its text is a name, as for Lark's contextual lexer.
    assert accepted(text, "if not then then if", lexing="longest") == [True]


def test_longer_operators_are_preferred_longest_first() -> None:
    text = 'start: N ("<" | "<=" | "=") "="? N\nN: /[0-9]+/'
    assert accepted(text, "1<2", "1<=2", "1<==2", "1==2", lexing="longest") == [True, True, True, True]
    text = 'start: N "<" "=" N | N "<=" N "!"\nN: /[0-9]+/'
    assert accepted(text, "1<=2", "1<=2!", lexing="longest") == [False, True]


def test_one_context_does_not_disturb_another() -> None:
    """Inside of quotes nothing else is tried, although it would match there."""
    text = 'start: value (" AND " value)*\nvalue: "\'" /[^\'\\n]{1,40}/ "\'" | /[0-9]+/'
    assert accepted(text, "'a AND b' AND 7 AND '0'", lexing="longest") == [True]


def test_what_is_never_read_back_is_refused() -> None:
    grammar = read_grammar('start: "x" A A\nA: /a+/', "lark")
    assert accepted('start: "x" A A\nA: /a+/', "xaa") == [True]
    with pytest.raises(GrammarError, match="takes the beginning of what should follow"):
        grammar_language(grammar, GrammarOptions(lexing="longest"))


@pytest.mark.parametrize(
    ("text", "legal", "illegal"),
    [
        ('start: "b" | /(?!a)a+/ | /[ab]+/\n', (b"b", b"ab"), (b"", b"c")),
        ('start: "b" /(?!a)a+x?/ | "b"\n', (b"b",), (b"ba", b"bax")),
    ],
)
def test_lookaheads_may_leave_a_terminal_without_a_word(
    text: str, legal: tuple[bytes, ...], illegal: tuple[bytes, ...]
) -> None:
    for lexing in ("longest", "dynamic"):
        language = grammar_language(read_grammar(text, "lark"), GrammarOptions(lexing=lexing))
        constraint = compile_constraint(language=language)
        for word in (*legal, *illegal):
            matcher = constraint.matcher(BYTES)
            taken = all(matcher.accept_bytes(word[at : at + 1]) for at in range(len(word)))
            assert (taken and matcher.is_accepting()) == (word in legal)


def test_counts_may_be_large() -> None:
    text = 'root ::= "<" [a-z]{3,5000} ">"'
    words = ("<ab>", "<abc>", "<" + "a" * 5000 + ">", "<" + "a" * 5001 + ">")
    assert accepted(text, *words, dialect="gbnf") == [False, True, True, False]


def test_differences_are_taken_of_regular_parts() -> None:
    text = "name ::= word - ('if' | 'in')\nword ::= [a-z]+"
    assert accepted(text, "i", "if", "in", "ins", dialect="ebnf") == [True, False, False, True]
    with pytest.raises(GrammarError, match="recursive"):
        grammar_language(read_grammar('a ::= b - "x"\nb ::= "x" b | "y"', "ebnf"))


def test_grammars_are_constraints_with_a_place_for_faults() -> None:
    with pytest.raises(ConstraintError) as fault:
        compile_constraint(grammar='start: "a"\n  | b')
    assert fault.value.position == "line 2 column 5"
    assert "b is not defined" in fault.value.message
    assert not compile_constraint(grammar=read_grammar('root ::= "a"', "gbnf")).is_empty


@some(2 * EXAMPLES)
@given(token_grammars() | char_grammars(), st.booleans())
def test_what_is_known_of_rules_is_so(given_grammar: str | Grammar, longest: bool) -> None:
    """Rules that are made when they are asked for: the machine finds the same of their terms."""
    if isinstance(given_grammar, str):
        language = language_of(
            read_grammar(given_grammar, "lark"), lexing="longest" if longest else "dynamic"
        )
    else:
        language = language_of(given_grammar)
    rules = language.rules
    assert isinstance(rules, LateRules)
    # A plain mapping is analysed by the machine, which refuses rules that call themselves at once.
    plain = dict(rules)
    for name in plain:
        constraint = compile_constraint(language=Language(Rule(name), plain))
        assert not constraint.is_empty
        assert constraint.machine.accepts(constraint.start) == rules.may_be_empty(name)


@some(3 * EXAMPLES)
@given(token_grammars() | char_grammars(), st.randoms(use_true_random=False))
def test_choices_by_their_words_allow_the_same(given_grammar: str | Grammar, dice: object) -> None:
    """Alternatives that begin with words are one place: with it and without it masks are equal."""
    if isinstance(given_grammar, str):
        language, alphabet = language_of(read_grammar(given_grammar, "lark")), ALPHABET
    else:
        language, alphabet = language_of(given_grammar), "xyz"
    vocabulary = Vocabulary([text.encode() for text in texts(alphabet, 3)][1:])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler_module, "MANY", 1)
        one = compile_constraint(language=language).matcher(vocabulary)
        other = compile_constraint(language=Language(language.root, dict(language.rules))).matcher(vocabulary)
        for _ in range(8):
            assert one.is_accepting() == other.is_accepting()
            assert one.forced() == other.forced()
            legal = other.allowed().tolist()
            assert one.allowed().tolist() == legal
            assert len(one.shortest_completion()) == len(other.shortest_completion())
            if not legal:
                break
            token = dice.choice(legal)  # type: ignore[attr-defined]
            assert one.accept(token) and other.accept(token)
            twin = one.clone()
            assert twin.accept_bytes(one.shortest_completion()) and twin.is_accepting()


def test_thousands_of_alternatives_are_one_place() -> None:
    lines = [f's{n}: "{oct(n)[2:]}k" NAME ("=" NAME)? ";"' for n in range(2_500)]
    text = "\n".join(
        [
            "start: (" + " | ".join(f"s{n}" for n in range(2_500)) + ")*",
            *lines,
            "NAME: /[a-z]+/",
            '%ignore " "',
        ]
    )
    matcher = compile_constraint(grammar=text).matcher(BYTES)
    assert matcher.accept_bytes(b"777k name = x; 0k a;5k")
    assert len(matcher.machine.configs[matcher.config]) < 5
    assert not matcher.clone().accept_bytes(b"=") and not matcher.clone().accept_bytes(b"; 8")
    assert matcher.accept_bytes(b"b;") and matcher.is_accepting()


@pytest.mark.parametrize(
    "text",
    [
        'root ::= "x" | (a{2,})? | ""\na ::= "x" | a | root "x"\n',
        'root ::= root "x" | "x" | c | ""\na ::= (b "x"){2,} | ""\nb ::= "y"{2} | a | root{2,}\nc ::= a\n',
    ],
)
def test_counted_parts_of_a_circle_are_free_of_left_recursion_too(text: str) -> None:
    grammar = read_grammar(text, "gbnf")
    language = grammar_language(grammar)
    # The machine looks at the rules of a plain mapping, and refuses those that call themselves at once.
    assert not compile_constraint(language=Language(language.root, dict(language.rules))).is_empty
    expected = {word for word in texts("xy", 5) if grammar_oracle.accepts(grammar, word)}
    assert words_of(language, "xy", 5) == expected


def test_a_constraint_of_a_grammar_makes_only_the_rules_that_its_beginning_needs() -> None:
    rules = "\n".join(f'r{n}: "a" r{n + 1} "z"? | "c"' for n in range(200))
    language = grammar_language(read_grammar(f'start: r0\n{rules}\nr200: "b"', "lark"))
    constraint = compile_constraint(language=language)
    assert constraint.matcher(BYTES).accept_bytes(b"aa")
    assert len(language.rules._made) < 10  # type: ignore[attr-defined]


def test_long_ambiguous_texts_are_read_at_once_as_byte_by_byte() -> None:
    text = (
        'root ::= a | "x" b "x" ("xy"){2,} "y" | root "xy" | root{2,} | "yxy"\na ::= "xy" | a [xyz] | "y" b\n'
    )
    grammar = read_grammar(text + "b ::= root | b\n", "gbnf")
    matcher = compile_constraint(grammar=grammar).matcher(BYTES)
    assert matcher.accept_bytes(b"x" * 8)
    ending = matcher.shortest_completion()
    assert len(ending) > 30
    before = matcher.machine.effort
    twin = matcher.clone()
    assert twin.accept_bytes(ending) and twin.is_accepting()
    assert matcher.machine.effort - before < 10_000
    assert all([matcher.accept(byte) for byte in ending]) and matcher.is_accepting()
