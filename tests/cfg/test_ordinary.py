"""Ordinary Lark grammars, with Lark itself beside them: what it takes is taken, in both lexings."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import lark
import pytest

from oracles.lark_oracle import lark_accepts
from sglc.cfg.language import GrammarOptions, Lexing, grammar_language
from sglc.cfg.lexer import match_semantics
from sglc.cfg.lexer.match_semantics import parse_pattern
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.notation.reader import read_grammar
from sglc.runtime.mask.constraint import Constraint, compile_constraint
from strategies.grammar_strategies import BYTES

LARK_OF_LARK = (Path(lark.__file__).parent / "grammars" / "lark.lark").read_text(encoding="utf-8")
JSON = """
?start: value
?value: object | array | ESCAPED_STRING | SIGNED_NUMBER | "true" | "false" | "null"
object: "{" [member ("," member)*] "}"
member: ESCAPED_STRING ":" value
array: "[" [value ("," value)*] "]"
%import common (ESCAPED_STRING, SIGNED_NUMBER, WS)
%ignore WS
"""
CALCULATOR = """
start: line*
line: NAME "=" sum ";" | sum ";"
?sum: product | sum "+" product -> add | sum "-" product -> sub
?product: atom | product "*" atom -> mul | product "/" atom -> div
?atom: NUMBER | "-" atom | NAME | "(" sum ")" | NAME "(" [sum ("," sum)*] ")"
%import common.CNAME -> NAME
%import common (NUMBER, WS_INLINE)
%ignore WS_INLINE
"""
INI = """
start: _NL? section+
section: "[" NAME "]" _NL item*
item: NAME "=" VALUE? _NL
NAME: /\\w/+
VALUE: /./+
_NL: (/\\r?\\n[\\t ]*/)+
%ignore /[\\t ]+/
"""
QUOTED = """
start: "<" TEXT ("," TEXT)* ">"
TEXT: "'" INNER "'"
INNER: /[a-z]*/
"""
EMPTY = """
start: nothing "a" nothing tail?
nothing:
tail: "b" nothing // and that is all
"""
ORDINARY = {
    "json": (
        JSON,
        ['{"a": [1, -2.5, true, "x\\"y"]}', "[]", ' "é" ', '""', "[1,]", '{"a" 1}', '"a', "truefalse"],
    ),
    "calculator": (CALCULATOR, ["x=1;", "1+2*(3 - -y);x=x/2;", "f(1, x);g();", "1+;", "(1;", "1 2;", ""]),
    "ini": (INI, ["[a]\nb=c d\n", "\n[a]\n[b]\nc=\n\nd=1=2\n", "[a]b=c\n", "a=b\n", "[a]\n"]),
    "empty": (EMPTY, ["a", "ab", "b", "", "aa"]),
    "quoted": (QUOTED, ["<'a','','bc'>", "<''>", "<a>", "<'A'>"]),
    "lark": (
        LARK_OF_LARK,
        [
            'start: "a" b?\nb: "c"i | [c]\nC.2: "x".."y"\n',
            "%import common.WS\n%ignore WS\n",
            "// nothing\n",
            '?a{x}: x "," x -> list\n',
            "a: b~2..3\n",
            "a: (b\n",
            "a b\n",
            '%ignore "x\n',
        ],
    ),
}


@lru_cache
def constraint_of(text: str, lexing: Lexing) -> Constraint:
    return compile_constraint(language=grammar_language(read_grammar(text, "lark"), GrammarOptions(lexing)))


def takes(text: str, word: str, lexing: Lexing) -> bool:
    matcher = constraint_of(text, lexing).matcher(BYTES)
    return matcher.accept_bytes(word.encode()) and matcher.is_accepting()


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_grammars_are_taken_as_lark_takes_them(name: str) -> None:
    text, words = ORDINARY[name]
    contextual = lark.Lark(text, parser="lalr")
    assert [takes(text, word, "longest") for word in words] == [
        lark_accepts(contextual, word) for word in words
    ]
    scannerless = lark.Lark(text, parser="earley", lexer="dynamic_complete")
    assert [takes(text, word, "dynamic") for word in words] == [
        lark_accepts(scannerless, word) for word in words
    ]


@pytest.mark.parametrize("lexing", ["dynamic", "longest"])
def test_only_terminals_that_are_looked_for_must_not_be_empty(lexing: Lexing) -> None:
    text = 'start: "x" A\nA: "b" PART\nPART: /a*/\n'
    assert takes(text, "xbaa", lexing) and takes(text, "xb", lexing)
    for used in ("b: PART", "b: /a*/", "%ignore PART"):
        wrong = (
            text.replace("A\nA:", "A b?\nb: A\nA:")
            if used.startswith("%")
            else text.replace(" A\n", " A b\n")
        )
        with pytest.raises(GrammarError, match="may be empty"):
            grammar_language(read_grammar(wrong + used + "\n", "lark"), GrammarOptions(lexing))


def test_a_pattern_in_place_is_the_last_terminal_of_that_pattern() -> None:
    """As in Lark, where the priority of the terminal then decides."""
    text = 'start: "ab" "!" | WORD "?"\nONE: "ab"\nTWO.{two}: "ab"\nWORD.1: /[a-z]+/\n'
    for two, expected in (("2", [True, False]), ("0", [False, True])):
        written = text.replace("{two}", two)
        contextual = lark.Lark(written, parser="lalr")
        assert [lark_accepts(contextual, word) for word in ("ab!", "ab?")] == expected
        assert [takes(written, word, "longest") for word in ("ab!", "ab?")] == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            'start: "if" NAME "then" NAME | NAME NAME\nNAME: /[a-z]+/\n%ignore " "',
            ["if a then b", "if if then then", "if then", "a then", "then a", "if a then if", "ifa thenb"],
        ),
        (
            'start: "let" NAME "=" expr ("in" expr)?\n'
            'expr: NAME | "in" ":" NAME\nNAME: /[a-z]+/\n%ignore / /',
            ["let in = in : a", "let let = a in let", "let a = in", "let a = in : b in let", "let in = let"],
        ),
        (
            'start: A ("<" A | "<" "=" A | "[" ("<=" A)+ "]")\nA: "a"',
            ["a<a", "a<=a", "a[<=a]", "a[<=a<=a]", "a[<a]"],
        ),
        (
            'start: (key ":" VALUE ";")+\nkey: KEY\nKEY: /[a-z]+/\nVALUE: /[a-z0-9]+/',
            ["a:b;", "a:1;bc:a1;", "1:a;"],
        ),
    ],
)
def test_a_terminal_is_told_only_from_those_of_its_place(text: str, words: list[str]) -> None:
    contextual = lark.Lark(text, parser="lalr")
    assert [takes(text, word, "longest") for word in words] == [
        lark_accepts(contextual, word) for word in words
    ]


@pytest.mark.parametrize(
    ("text", "left_out", "generated"),
    [
        ('start: "x" "#" "y"\n%ignore " "\n%ignore / *#!.*/', "x #y", "x# y"),
        ('start: "[" NAME "]" VALUE\nNAME: /[a-z]/\nVALUE: /.+/\n%ignore " "', "[ a]b", "[a]b c"),
        (
            'start: "if" NAME "then" NAME | NAME NAME\nNAME: /[a-z]+/\n%ignore " "',
            "if a thenb",
            "if a then b",
        ),
    ],
)
def test_what_the_page_says_is_left_out_is_what_lark_takes(text: str, left_out: str, generated: str) -> None:
    contextual = lark.Lark(text, parser="lalr")
    assert lark_accepts(contextual, left_out) and lark_accepts(contextual, generated)
    assert not takes(text, left_out, "longest") and takes(text, generated, "longest")


@pytest.mark.parametrize(
    ("text", "dialect", "fault"),
    [
        ('start: "x"\nb: "y"\n'.replace("y", "\ud800").replace('"x"', '"x" b'), "lark", "2:4: U+D800 is no"),
        ('start: "\\ud800"', "lark", "1:8: U+D800 is no"),
        ('root ::= "x" |\n  "\ud800"', "gbnf", "2:3: U+D800 is no"),
        ('a ::= b - "x"\nb ::= "x" b | "y"', "ebnf", "1:9: a difference is taken of regular parts only"),
    ],
)
def test_faults_have_their_place(text: str, dialect: str, fault: str) -> None:
    with pytest.raises(GrammarError, match=re.escape(fault)):
        grammar_language(read_grammar(text, dialect))  # type: ignore[arg-type]


def test_terminals_may_be_made_of_thousands_of_others() -> None:
    lines = [f'T{level}: T{level + 1} "a"' for level in range(2_000)]
    text = "\n".join(["start: T0", *lines, 'T2000: "z"'])
    assert takes(text, "z" + "a" * 2_000, "dynamic")
    assert not takes(text, "z" + "a" * 1_999, "dynamic")


@pytest.mark.slow
def test_a_pattern_that_is_refused_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []

    def parse(regex: str) -> object:
        looked.append(regex)
        return parse_pattern(regex)

    monkeypatch.setattr(match_semantics, "parse_pattern", parse)
    for _ in range(3):
        with pytest.raises(GrammarError, match="more than 20000 states"):
            grammar_language(read_grammar("start: A\nA: /(a|b)*a(a|b){17}c/", "lark"), GrammarOptions())
    assert looked == ["(a|b)*a(a|b){17}c"]
