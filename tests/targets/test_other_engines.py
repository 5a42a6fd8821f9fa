"""Engines that servers use accept exactly what we accept, by the grammars and patterns that they are sent.

xgrammar is that of vLLM and SGLang, llguidance that of OpenAI's grammars. They are no packages of this
project: `pip install xgrammar==0.2.8 llguidance==1.9.1` (xgrammar needs torch). `SGLC_TEST_EXAMPLES` is the
number of texts of each hole.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from checkout import EXAMPLES
from example_budget import examples
from sglc.automata.analysis.membership import is_word
from sglc.automata.term import Language
from sglc.driver import compile_source
from sglc.source import Source
from sglc.targets.projection.core.capabilities import Capabilities
from sglc.targets.projection.project import project
from sglc.types.dependent import given_types
from sglc.types.language.language import language
from strategies.near_misses import mutated
from strategies.typed_values import word_of

Accepts = Callable[[str], bool]
SOME = 2
"""Texts of a hole where no more are asked for: each is also tried with a mutation."""
PROGRAMS = 16
"""One of so many programs is tried where no more are asked for: each is compiled."""
LONGEST = 400
"""Characters of a text that is tried: our own membership reads longer ones slowly."""


@cache
def holes() -> dict[str, Any]:
    """The holes of examples whose types do not depend on the run: type, texts, declarations."""
    found = {}
    step = 1 if examples(SOME) > SOME else PROGRAMS
    for path in sorted([*EXAMPLES.glob("*.sgl"), *EXAMPLES.glob("cookbook/*.sgl")])[::step]:
        program = compile_source(Source(str(path), path.read_text(encoding="utf-8"))).program
        assert program is not None
        for hole in program.holes:
            if hole.type is None or hole.condition is not None or given_types(program.types[hole.type]):
                continue
            type = program.types[hole.type]
            found[f"{path.stem}:{hole.name}"] = (type, language(type, program.table), program.table)
    return found


def xgrammar(kind: str, text: str) -> Accepts:
    module = pytest.importorskip("xgrammar", reason="pip install xgrammar==0.2.8")
    end = 256
    words = [bytes([byte]) for byte in range(end)] + [b"</s>"]
    compiler = module.GrammarCompiler(
        module.TokenizerInfo(words, vocab_size=len(words), stop_token_ids=[end])
    )
    made = compiler.compile_grammar(text) if kind == "gbnf" else compiler.compile_regex(text)

    def accepts(word: str) -> bool:
        matcher = module.GrammarMatcher(made)
        return matcher.accept_string(word) and matcher.accept_token(end)

    return accepts


def llguidance(kind: str, text: str) -> Accepts:
    module = pytest.importorskip("llguidance", reason="pip install llguidance==1.9.1")
    tokenizer, matchers = module.LLTokenizer("byte"), module.LLMatcher
    grammar = matchers.grammar_from_lark(text) if kind == "lark" else matchers.grammar_from_regex(text)
    first = matchers(tokenizer, grammar, log_level=0)
    assert not first.is_error(), first.get_error()

    def accepts(word: str) -> bool:
        matcher, data = first.deep_copy(), list(word.encode())
        return matcher.try_consume_tokens(data) == len(data) and matcher.is_accepting()

    return accepts


ENGINES: dict[tuple[str, str], Callable[[str, str], Accepts]] = {
    ("xgrammar", "gbnf"): xgrammar,
    ("xgrammar", "regex"): xgrammar,
    ("llguidance", "lark"): llguidance,
    ("llguidance", "regex"): llguidance,
}


def texts(found: Language, seed: int) -> Iterator[str]:
    """Legal texts and others that are near them."""
    dice = random.Random(seed)
    for number in range(examples(SOME)):
        word = word_of(dice, found).decode()
        for text in (word, mutated(word, seed + number)):
            if len(text) <= LONGEST:
                yield text


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "notation"), ENGINES)
def test_an_engine_accepts_what_we_accept(engine: str, notation: Any) -> None:
    pytest.importorskip(engine, reason=f"{engine} is not installed: see the head of the file")
    wrong: dict[str, tuple[str, bool]] = {}
    tried = 0
    for seed, (name, (type, found, table)) in enumerate(holes().items()):
        got = project(type, found, table, Capabilities(frozenset({notation})), place=name)
        if got.level != "exact" or got.enforced is None:
            continue
        try:
            accepts = ENGINES[engine, notation](notation, got.enforced.text)
        except Exception as fault:
            wrong[name] = (f"not read: {str(fault)[:200]}", True)
            continue
        for text in texts(found, seed):
            tried += 1
            ours = is_word(found, text)
            if accepts(text) != ours and (name not in wrong or len(text) < len(wrong[name][0])):
                wrong[name] = (text, ours)
    assert not wrong, (
        f"{len(wrong)} holes of {tried} texts, by name the text and whether we accept it: {wrong}"
    )
    assert tried
    print(f"{tried} texts")
