"""What is done faster for large grammars comes to the same as what it stands for."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from budget import examples
from grammar_strategies import ALPHABET, char_grammars, token_grammars, words_of
from sglc.grammar import emitter, language, left_recursion, lexing, regular_parts
from sglc.grammar.contests import Contest, Contests
from sglc.grammar.errors import GrammarError
from sglc.grammar.graph import LEAF, RULE
from sglc.grammar.language import GrammarOptions, grammar_language
from sglc.grammar.model import Grammar
from sglc.grammar.read import read_grammar
from sglc.runtime.mask import compiler

grammars = token_grammars() | char_grammars()


def some(count: int) -> settings:
    return settings(
        max_examples=examples(count),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def as_read(written: str | Grammar) -> Grammar:
    return read_grammar(written, "lark") if isinstance(written, str) else written


def words(written: str | Grammar, *, longest: bool) -> set[str] | str:
    options = GrammarOptions("longest" if longest and isinstance(written, str) else "dynamic")
    try:
        return words_of(
            grammar_language(as_read(written), options), ALPHABET if isinstance(written, str) else "xyz", 3
        )
    except GrammarError as fault:
        return fault.reason


@some(25)
@given(grammars, st.booleans())
def test_words_apart_from_what_follows_them_write_the_same(written: str | Grammar, longest: bool) -> None:
    found = words(written, longest=longest)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(emitter, "_MANY", 2)
        patch.setattr(compiler, "MANY", 2)
        assert words(written, longest=longest) == found


@some(25)
@given(char_grammars())
def test_parts_that_are_not_merged_write_the_same(written: Grammar) -> None:
    found = words(written, longest=False)
    for name, limit in (("_NESTED", 1), ("_UNROLLED", 6)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(regular_parts, name, limit)
            assert words(written, longest=False) == found


@some(25)
@given(grammars)
def test_recursion_that_is_unwound_writes_the_same(written: str | Grammar) -> None:
    found = words(written, longest=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(left_recursion, "unwound", lambda graph, circle: False)
        assert words(written, longest=False) == found


@pytest.mark.parametrize(
    ("rule", "unwound"),
    [
        ('e: e "x" | "y"', True),
        ('e: e "x" | e "z"? "x" | "y" | "z" e "x"', True),
        ('e: e "x"? | "y"', False),
        ('e: e "x" e | "y"', False),
        ('e: f "x" | "y"\nf: e "z" | "x"', False),
        ('e: e "x" | "y"?', False),
    ],
)
def test_what_is_unwound(rule: str, unwound: bool) -> None:
    graph, *_ = language._read(read_grammar(f"start: e\n{rule}", "lark"), GrammarOptions())
    size = len(graph.kind)
    left_recursion.remove_left_recursion(graph)
    assert (sum(kind == RULE for kind in graph.kind[size:]) == 0) == unwound


@some(60)
@given(grammars)
def test_what_is_known_of_a_rewritten_grammar_is_so(written: str | Grammar) -> None:
    """Emptiness, found as nodes are made, is what it is when everything is looked at anew."""
    try:
        graph, *_ = language._read(as_read(written), GrammarOptions())
    except GrammarError:
        return
    if not graph.productive[graph.start] or left_recursion.remove_left_recursion(graph):
        return
    nodes = graph.reached(graph.start)
    known = [(bool(graph.nullable[node]), True) for node in nodes]
    graph.analyse()
    assert known == [(bool(graph.nullable[node]), bool(graph.productive[node])) for node in nodes]


@some(60)
@given(token_grammars())
def test_texts_among_terminals_read_what_each_reads_by_itself(written: str) -> None:
    try:
        grammar = as_read(written)
        graph, tokens, rivals = language._read(grammar, GrammarOptions("longest"))
    except GrammarError:
        return
    assert rivals is not None
    ignored = lexing._ignored(grammar, tokens)
    used = [about for kind, about in zip(graph.kind, graph.about, strict=True) if kind == LEAF]
    patterns = [token for token in used if ignored and not token.is_text]  # type: ignore[attr-defined]
    contests = Contests(rivals, ignored, patterns)  # type: ignore[arg-type]
    for token in used:
        everything = Contest(token, rivals.of(token), ignored)  # type: ignore[arg-type]
        assert contests.parts(token) == everything.parts(patterns)  # type: ignore[arg-type]


def test_texts_among_terminals_are_told_by_their_ends() -> None:
    grammar = as_read(
        'start: ("if" | "iffy" | "in" | "x1" | "9" | "<" | "<=" | "IF"i | NAME | NUM)*\n'
        'NAME: /[a-z][a-z0-9]*/\nNUM.2: /[0-9]+(\\.[0-9]+)?/\nDOT.3: "9."\n%ignore " "\n'
    )
    graph, tokens, rivals = language._read(grammar, GrammarOptions("longest"))
    assert rivals is not None
    ignored = lexing._ignored(grammar, tokens)
    used = [about for kind, about in zip(graph.kind, graph.about, strict=True) if kind == LEAF]
    patterns = [token for token in used if not token.is_text]  # type: ignore[attr-defined]
    contests = Contests(rivals, ignored, patterns)  # type: ignore[arg-type]
    found = {token.value: contests.parts(token) for token in used}  # type: ignore[attr-defined]
    assert found["9"] == () and found["<"][0][1] == ((0x3D, 0x3D),)
    assert found["in"][0][1] == ((0x30, 0x39), (0x61, 0x7A))
    for token in used:
        everything = Contest(token, rivals.of(token), ignored)  # type: ignore[arg-type]
        assert found[token.value] == everything.parts(patterns)  # type: ignore[attr-defined]
