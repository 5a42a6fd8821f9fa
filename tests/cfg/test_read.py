"""Grammars in each notation are read as written, and what is malformed says where and why."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golden_case import GoldenCase, golden_cases
from sglc.cfg.language import grammar_language
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.grammar import Grammar, Literal, Pattern
from sglc.cfg.notation.lark_cursor import Cursor
from sglc.cfg.notation.print_lark import to_lark
from sglc.cfg.notation.reader import read_grammar


def shown(text: str) -> str:
    dialect, _, rest = text.partition("\n")
    try:
        grammar = read_grammar(rest, dialect)  # type: ignore[arg-type]
        text, start = to_lark(grammar)
        return f"{text}start with {start}"
    except GrammarError as fault:
        assert 0 < fault.line <= rest.count("\n") + 2 and fault.column > 0
        return f"error: {fault}"


@pytest.mark.parametrize("case", golden_cases("grammar/read"), ids=str)
def test_reading(case: GoldenCase, golden: object) -> None:
    golden(case, shown(case.input))  # type: ignore[operator]


def read(text: str, dialect: str = "lark") -> Grammar:
    return read_grammar(text, dialect)  # type: ignore[arg-type]


def test_lark_takes_what_is_read_in_the_same_way() -> None:
    """Escapes come out as Lark's own loader makes them, whatever stands between the quotes."""
    from lark import Lark

    for inner in (r"\n\t\\", r"\"", r"a\/b", r"\d", r"\x41\u00e9\U0001F600", r"\\\\", "'", r"\'", r"\[", "é"):
        lark = Lark(f'start: A B\nA: "{inner}x"\nB: /{inner}y/')
        grammar = read(f'start: A B\nA: "{inner}x"\nB: /{inner}y/')
        patterns = {terminal.name: terminal.pattern.value for terminal in lark.terminals}
        a, b = grammar.terminals["A"].body, grammar.terminals["B"].body
        assert isinstance(a, Literal) and isinstance(b, Pattern)
        assert (a.text, b.regex) == (patterns["A"], patterns["B"])


def test_the_start_may_be_chosen() -> None:
    assert read_grammar('a: "x"\nb: a', "lark", start="b").start == "b"
    assert read_grammar('a = "x" ; b = a ;', "ebnf").start == "a"
    with pytest.raises(GrammarError, match=r"no rule item to start with.*did you mean items"):
        read_grammar('items: "x"', "lark", start="item")


def test_an_unknown_notation_is_refused() -> None:
    with pytest.raises(GrammarError, match="antlr is no notation"):
        read_grammar("a: 'x';", "antlr")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("start: /(/", r"missing \)"),
        (r"start: /(a)\1/", "backreference"),
        ("start: /a++/", "possessive"),
        ("start: /a*/", "may be empty"),
        ("start: A\nA: /a/?", "A may be empty"),
        (r"start: /(?<=x)a/", "looks at the text before it"),
        (r"start: /^a/", "beginning of the text"),
        (r"start: /a(?=b)/", "asks for what follows"),
        ("start: A\nA: B -> c\nB: /b/", "alias"),
        ('start: "a" start', "no text at all"),
        ("start: A\nA: /[a-z]{20000}[a-z]{20000}/", "unrolls|too costly|more than"),
    ],
)
def test_what_cannot_be_taken_over_is_refused(text: str, reason: str) -> None:
    with pytest.raises(GrammarError, match=reason):
        grammar_language(read(text))


def test_nesting_is_bounded_and_chains_are_not() -> None:
    with pytest.raises(GrammarError, match="nested more than"):
        read("start: " + "(" * 500 + '"a"' + ")" * 500)
    with pytest.raises(GrammarError, match="nested more than"):
        read("root ::= " + "(" * 500 + '"a"' + ")" * 500, "gbnf")
    with pytest.raises(GrammarError, match="nested more than"):
        read("a = " + "(" * 500 + '"a"' + ")" * 500, "ebnf")
    chain = "".join(f'r{i}: "a" r{i + 1} "b" | "c"\n' for i in range(2000)) + 'r2000: "a"\n'
    assert len(grammar_language(read("start: r0\n" + chain)).rules) == 2000
    assert sys.getrecursionlimit() <= 1000


@settings(max_examples=150)
@given(st.text(alphabet=st.sampled_from('abAB01 \n:|()[]{}"/*+?~.,%#\\-<>=;^_'), max_size=60), st.data())
def test_any_text_is_read_or_refused_with_its_place(noise: str, data: st.DataObject) -> None:
    dialect = data.draw(st.sampled_from(("lark", "gbnf", "ebnf")))
    before = {"lark": 'start: "a"\n', "gbnf": 'root ::= "a"\n', "ebnf": 'a = "a" ;\n'}[dialect]
    try:
        grammar = read(before + noise, dialect)
    except GrammarError as fault:
        assert fault.line >= 1 and fault.column >= 1 and fault.reason
        return
    try:
        grammar_language(grammar)
    except GrammarError as fault:
        assert fault.reason


PARTS = (
    "\n",
    "\n  | ",
    "\na: ",
    "\n?b.2: ",
    "\nC.3: ",
    "\n// a: b\n",
    ' "a" ',
    ' "b"i ',
    ' "a".."c" ',
    " /x/ ",
    " /x\na: y/x ",
    " a ",
    " C ",
    " d ",
    "(",
    ")",
    "[",
    "]",
    "?",
    "* ",
    "+ ",
    "~2..3 ",
    " | ",
    " -> c ",
    " -> C ",
    "{a}",
    ",",
    "\\\n",
    "\n%ignore C",
    "\n%import common.INT",
    "\n%override a: ",
    "\n%extend C: ",
    "%",
    '"',
    "'",
    ": ",
    "b?a",
    r'"\q"',
)


@settings(max_examples=200)
@given(st.lists(st.sampled_from(PARTS), max_size=20))
def test_names_and_texts_that_are_shared_are_those_that_stand_there(parts: list[str]) -> None:
    """Each name and text is read once; the same comes out where each is read by itself, faults too."""
    text = 'start: "s" a?\na: "a"\nC: "c"' + "".join(parts)

    def outcome(*, placed: bool) -> object:
        with pytest.MonkeyPatch.context() as patch:
            if placed:
                patch.setattr(Cursor, "placed", property(lambda self: True, lambda *_: None), raising=False)
            try:
                grammar = read(text)
            except GrammarError as fault:
                return str(fault), fault.at
            places = [part.at for part in (*grammar.rules.values(), *grammar.terminals.values())]
            return grammar.rules, grammar.terminals, grammar.ignore, places

    assert outcome(placed=False) == outcome(placed=True)


def test_a_fault_has_the_place_of_its_name_and_not_of_another_that_is_written_alike() -> None:
    with pytest.raises(GrammarError, match=r"grammar:5:7: missing is not defined \(used by start\)"):
        read(
            'start: "missing" a\na: "b"\n%override a: "c"\n%override start: "missing" | a a\n   |  missing\n'
        )
    with pytest.raises(GrammarError, match=r"grammar:6:5: a is defined more than once"):
        read('start: A a\na: "x"\nA: /b\n    a: "y"/x\n\n    a: "y"')


def test_a_set_in_a_set_is_read_without_a_warning() -> None:
    """Python warns of it in patterns of its own."""
    program = (
        "from sglc.cfg.lexer.match_semantics import compile_pattern\n"
        "compile_pattern('[[a]')\ncompile_pattern('[+--a]')\n"
    )
    done = subprocess.run([sys.executable, "-W", "default", "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
