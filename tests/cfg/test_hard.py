"""Grammars that are hard for mask engines, cut down: exact, and the same however they are written."""

from __future__ import annotations

import re
import sys
from itertools import product
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checkout import BENCHMARKS
from example_budget import examples
from oracles.lark_oracle import lark_accepts, lark_of
from sglc.cfg.language import GrammarOptions, Lexing, grammar_language
from sglc.cfg.lexer import terminals as terminals_module
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.grammar import Grammar
from sglc.cfg.notation.reader import read_grammar
from sglc.cfg.transforms.left_factoring import Factoring
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from strategies.grammar_strategies import ALPHABET, BYTES, char_grammars, token_grammars, words_of

sys.path.insert(0, str(BENCHMARKS))
from mask.stress_grammars import SMALL


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_hard_grammars_are_exact(name: str) -> None:
    """Texts, masks of longer tokens against single bytes, and what is written against Lark."""
    case = SMALL[name]()
    constraint = compile_constraint(grammar=case.text)
    lark = lark_of(case.text)
    for text, good in [(text, True) for text in case.legal] + [(text, False) for text in case.illegal]:
        matcher = constraint.matcher(BYTES)
        assert (matcher.accept_bytes(text.encode()) and matcher.is_accepting()) == good, text
        if len(text) < 40:
            assert lark_accepts(lark, text) == good, text
    pieces = sorted(
        {text[at : at + size].encode() for text in case.legal for at in range(12) for size in (2, 4)}
    )
    pieces = [*(bytes([byte]) for byte in range(256)), *(piece for piece in pieces if piece)]
    vocabulary = Vocabulary(pieces)
    dice = Random(5)
    for _ in range(3):
        matcher, single = constraint.matcher(vocabulary), constraint.matcher(BYTES)
        for _ in range(6):
            legal = matcher.allowed().tolist()
            assert legal == [n for n, piece in enumerate(pieces) if single.clone().accept_bytes(piece)]
            if not legal:
                break
            token = dice.choice([token for token in legal if token >= 256] or legal)
            assert matcher.accept(token) and single.accept_bytes(pieces[token])
        assert matcher.accept_bytes(matcher.shortest_completion()) and matcher.is_accepting()
        assert lark_accepts(lark, matcher.text().decode())


def some(count: int) -> settings:
    return settings(
        max_examples=examples(count),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )


WORDS = st.lists(st.text("ab ;", min_size=1, max_size=3), min_size=2, max_size=4, unique=True)


@some(20)
@given(token_grammars(), WORDS, WORDS, st.sampled_from(["dynamic", "longest"]))
def test_terminals_of_many_texts_are_those_of_their_pattern(
    text: str, ones: list[str], others: list[str], lexing: Lexing
) -> None:
    text = text.replace("/[ab]+/", "ONES").replace('"ab"', "OTHERS")
    for name, words in (("ONES", ones), ("OTHERS", others)):
        text += f"{name}: " + " | ".join(f'"{word}"' for word in words) + "\n"

    def words_with(many: int) -> set[str] | str:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(terminals_module, "MANY_TEXTS", many)
            try:
                return words_of(
                    grammar_language(read_grammar(text, "lark"), GrammarOptions(lexing)), ALPHABET, 3
                )
            except GrammarError as fault:
                return fault.reason

    assert words_with(2) == words_with(100)


@some(20)
@given(token_grammars() | char_grammars(), st.booleans())
def test_factored_alternatives_write_the_same(given_grammar: str | Grammar, longest: bool) -> None:
    grammar = read_grammar(given_grammar, "lark") if isinstance(given_grammar, str) else given_grammar
    lexing = "longest" if longest and isinstance(given_grammar, str) else "dynamic"
    alphabet = ALPHABET if isinstance(given_grammar, str) else "xyz"

    def words() -> set[str] | str:
        try:
            return words_of(grammar_language(grammar, GrammarOptions(lexing)), alphabet, 3)
        except GrammarError as fault:
            return fault.reason

    found = words()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Factoring, "_factor", lambda self, node: None)
        assert words() == found


def test_alternatives_that_begin_alike_are_one_place() -> None:
    """Rules too, in rules of rules, as long as they are alike."""
    lines = [f'r{n}: "a" w? ("b" | w)* "c" q{n}' for n in range(50)]
    lines += [f'q{n}: "d" "e"? "{n}"' for n in range(50)]
    text = "start: " + " | ".join(f"r{n}" for n in range(50)) + "\n" + "\n".join(lines) + "\nw: /[0-9]/\n"
    matcher = compile_constraint(grammar=text).matcher(BYTES)
    assert matcher.accept_bytes(b"a1b2bc")
    assert len(matcher.machine.configs[matcher.config]) == 1
    assert matcher.accept_bytes(b"de49") and matcher.is_accepting()


@pytest.mark.parametrize("lexing", ["dynamic", "longest"])
@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ('start: "a" ("a" | start)', "a{2,}"),
        ('start: "a" (start | "a" "b")', "a{2,}b"),
        ('start: "a" x\nx: "a" | start | "b"', "a{2,}|a+b"),
        ('start: ("a" | "b") ("a" | start | "b" start)', "[ab](a|b?[ab])*?a"),
    ],
)
def test_factored_parts_may_be_inside_themselves(text: str, pattern: str, lexing: Lexing) -> None:
    language = grammar_language(read_grammar(text, "lark"), GrammarOptions(lexing))
    words = {word for size in range(6) for word in map("".join, product("ab", repeat=size))}
    matcher = compile_constraint(language=language).matcher(BYTES)
    legal = set()
    for word in words:
        twin = matcher.clone()
        if twin.accept_bytes(word.encode()) and twin.is_accepting():
            legal.add(word)
    assert legal == {word for word in words if re.fullmatch(pattern, word)}
