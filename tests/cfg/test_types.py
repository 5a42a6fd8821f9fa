"""Grammars as types: blocks and imported files, from the source to values, artefacts and schema texts."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lark import Lark

from sglc.automata.analysis.membership import is_word
from sglc.bytecode.serial import HEADER, dumps, loads, sign
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.serialize import from_text, to_text
from sglc.cfg.notation.lark import read_lark
from sglc.cfg.notation.print_ebnf import show_grammar
from sglc.check.program import check
from sglc.driver import compile_file, compile_source
from sglc.library import Library
from sglc.options import CompileOptions
from sglc.runtime.errors import ArgumentError
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.runtime.session import Session
from sglc.runtime.vm.holes.fuzz import random_word
from sglc.source import Source
from sglc.types.grammar_text import grammar_fault, grammar_texts
from sglc.types.language.language import language
from sglc.types.language.membership import is_member
from sglc.types.notation.prompt_text import schema_text
from sglc.types.text.decode import DecodeError, decode
from sglc.types.text.printer import print_value
from sglc.types.type import ListOf, Named, Str

SUM = """\
start: term (("+" | "-") term)*
term: atom (("*" | "/") atom)*
atom: /-?[0-9]{1,3}(\\.[0-9]{1,2})?/ | "(" start ")"
"""
WORDS = """\
start: item ("," item)* tail?
item: name | "if" name | "\\"" /[a-z.]{1,3}/ "\\"" | "é\\n"
name: /[a-z]{1,4}/
tail: ";" (";" | name){1,3}
"""
GRAMMARS = {"sum": SUM, "words": WORDS}
BYTES = Vocabulary([bytes((byte,)) for byte in range(256)])


def in_lark(text: str) -> str:
    """The rules as Lark counts repetitions."""
    return text.replace("){1,3}", ")~1..3")


def block(text: str, name: str = "G") -> str:
    return f"pub grammar {name}:\n" + "".join(f"    {line}\n" for line in text.splitlines())


def grammar_of(text: str) -> Str:
    """The type that a block becomes; the block is also a Lark grammar of the same texts."""
    program, found = check(Source("program.sgl", block(text)), Library())
    assert program is not None and not found, found
    type = program.table["G"].type
    assert isinstance(type, Str) and type.grammar
    return type


@pytest.mark.parametrize("name", GRAMMARS)
def test_a_block_and_a_lark_file_say_the_same_rules(name):
    text = GRAMMARS[name]
    type = grammar_of(text)
    written = read_lark(in_lark(text))
    assert show_grammar(from_text(type.grammar)[1]) == show_grammar(written)


def test_with_skipped_text_terminals_are_tokens():
    plain = grammar_of('start: "x" number number\nnumber: /[0-9]{1,9}/\n').grammar
    tokens = grammar_of('start: "x" number number\nnumber: /[0-9]{1,9}/\nskip / +/\n').grammar
    for text, in_plain, in_tokens in (("x12", True, False), ("x1 2", False, True), ("x 1 2", False, True)):
        assert (grammar_fault(text, plain) is None) == in_plain, text
        assert (grammar_fault(text, tokens) is None) == in_tokens, text


def test_an_argument_that_is_no_text_of_the_grammar_is_refused():
    program = compile_source(
        Source("p.sgl", block(SUM) + "pub fn f(sum: G) -> str:\n    return sum\n"), CompileOptions()
    ).program
    assert program is not None
    session = Session(program)
    assert asyncio.run(session.run("f", {"sum": "1+(2)"})).value == "1+(2)"
    with pytest.raises(ArgumentError, match="outside of its type"):
        asyncio.run(session.run("f", {"sum": "1+"}))


@pytest.mark.parametrize("name", GRAMMARS)
def test_what_is_shown_reads_as_the_same_grammar(name):
    type = grammar_of(GRAMMARS[name])
    assert grammar_of(schema_text(type, {})) == type


@pytest.mark.slow
@pytest.mark.parametrize("name", GRAMMARS)
@pytest.mark.parametrize("surface", ["hole", "json"])
def test_what_the_mask_writes_is_read_back_and_parses_in_lark(name, surface):
    type = grammar_of(GRAMMARS[name])
    lark = Lark(in_lark(GRAMMARS[name]), parser="earley", lexer="dynamic_complete")
    constraint = compile_constraint(language=language(type, {}, surface=surface))
    draw = random.Random(7)
    seen = set()
    for _ in range(40):
        text = random_word(constraint.matcher(BYTES), draw).decode()
        value = decode(text, type, {}, surface=surface)
        assert print_value(value, type, {}, surface=surface) == text
        assert is_member(value, type, {})
        lark.parse(value)
        seen.add(value)
    assert len(seen) > 5


SUMS = Lark(SUM, parser="earley", lexer="basic")


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
@given(st.text(alphabet="01-+*/().", max_size=9))
def test_a_text_is_a_value_where_lark_parses_it(text):
    """Sums have one way to cut a text into terminals or none that matters: both lexers agree."""
    try:
        SUMS.parse(text)
        parses = True
    except Exception:
        parses = False
    type = grammar_of(SUM)
    assert (grammar_fault(text, type.grammar) is None) == parses
    assert is_word(grammar_texts(type.grammar), text) == parses


def test_deep_and_long_values_are_read():
    grammar = grammar_of(SUM).grammar
    assert grammar_fault("(" * 1500 + "1" + ")" * 1500, grammar) is None
    assert grammar_fault("1+" * 2000 + "1", grammar) is None
    assert grammar_fault("1+" * 2000, grammar) == "it is no text of the grammar G"


def test_values_of_another_text_are_refused():
    type = grammar_of(SUM)
    with pytest.raises(DecodeError, match="no text of the grammar G"):
        decode("1+", type, {})
    assert not is_member("2*", type, {})
    assert not is_member(["1", "(1"], ListOf(type), {})


def test_a_program_with_grammars_survives_its_artefact(tmp_path: Path):
    (tmp_path / "sum.lark").write_text(SUM, encoding="utf-8")
    (tmp_path / "hex.gbnf").write_text('root ::= "0x" [0-9a-f]{1,4}\n', encoding="utf-8")
    (tmp_path / "pair.ebnf").write_text('pair = digit, "-", digit ;\ndigit = "1" | "2" ;\n', encoding="utf-8")
    main = tmp_path / "main.sgl"
    main.write_text(
        'import grammar "sum.lark"\nimport grammar "hex.gbnf" as Hex\nimport grammar "pair.ebnf" as Pair\n'
        "pub record Row:\n    sum: Sum\n    hex: Hex\n    pair: Pair\n"
        "pub fn f() -> Row:\n    | ?{row: Row max 90 tok}\n    return row\n",
        encoding="utf-8",
    )
    result = compile_file(main)
    assert result.program is not None, result.diagnostics
    loaded, faults = loads(dumps(result.program))
    assert faults == [] and loaded == result.program
    for file in ("sum.lark", "hex.gbnf", "pair.ebnf"):
        (tmp_path / file).unlink()
    row = decode('{"sum": "1+(2)", "hex": "0xff", "pair": "2-1"}', Named("Row"), loaded.table)
    assert row.fields == {"sum": "1+(2)", "hex": "0xff", "pair": "2-1"}
    with pytest.raises(DecodeError):
        decode('{"sum": "1+(2)", "hex": "0xfg", "pair": "2-1"}', Named("Row"), loaded.table)


def test_a_fault_of_an_imported_file_is_shown_there(tmp_path: Path):
    (tmp_path / "bad.lark").write_text('start: "a"\n  | oops\n', encoding="utf-8")
    main = tmp_path / "main.sgl"
    main.write_text('import grammar "bad.lark" as Bad\n', encoding="utf-8")
    result = compile_file(main)
    assert result.program is None
    (found,) = [d for d in result.diagnostics if d.code == "E0350"]
    assert found.span is not None and found.span.source.name == "bad.lark" and found.span.text == "oops"
    assert found.secondary[0].span.source.name.endswith("main.sgl")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '["G","sgl","start",[],[],[]]',
        '["G","lua","start",[],[["start",["l","a"]]],[]]',
        '["G","sgl","start",[],[["start",["*",["l","a"],2,1]]],[]]',
        '["G","sgl","start",[],[["start",["c",5,4]]],[]]',
        '["G","sgl","start",[],[["start",["r","x"]]],[]]',
        '["G","sgl","start",["S"],[["start",["l","a"]]],[]]',
        '["G","sgl","start",[],[["start",["z"]]],[]]',
        "[" * 5000,
    ],
)
def test_a_stored_grammar_is_not_trusted(text):
    with pytest.raises(GrammarError):
        from_text(text)


def test_an_artefact_with_a_changed_grammar_is_refused():
    source = Source("p.sgl", block(SUM) + "pub fn f() -> str:\n    | ?{x: G max 9 tok}\n    return x\n")
    program = compile_source(source, CompileOptions()).program
    assert program is not None
    good = program.table["G"].type.grammar
    for bad in (good.replace('"atom"', '"atoms"', 1), good.replace("[0-9]", "(?<!x)"), "nothing"):
        assert bad != good
        data = dumps(program).replace(_ascii(good), _ascii(bad))
        loaded, faults = loads(sign(data[HEADER:]))
        assert loaded is None and faults


def _ascii(text: str) -> bytes:
    return json.dumps(text).encode()


def test_equal_grammars_have_equal_texts():
    one, two = read_lark(SUM, name="a"), read_lark("\n" + SUM, name="b")
    assert to_text("G", one) == to_text("G", two)
    assert to_text(*from_text(to_text("G", one))) == to_text("G", one)
