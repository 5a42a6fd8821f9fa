"""The page of what is supported is made from examples, and these hold."""

from __future__ import annotations

import pytest

from checkout import DOCS
from sglc.cfg.language import GrammarOptions, grammar_language
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.notation.reader import read_grammar
from sglc.check.program import check
from sglc.library import Library
from sglc.runtime.mask.constraint import compile_constraint
from sglc.source import Source
from sglc.types.language.language import language
from sglc.types.type import Str
from strategies.grammar_strategies import BYTES
from supported.grammars import FEATURES, Feature, page

PAGE = DOCS / "grammars.md"


def test_the_page_is_what_the_code_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


def language_of(feature: Feature) -> object:
    if feature.notation != "sgl":
        grammar = read_grammar(feature.example, feature.notation)
        return grammar_language(grammar, GrammarOptions("longest" if feature.lexer else "dynamic"))
    block = "".join(f"    {line}\n" for line in feature.example.splitlines())
    given = "xs" in feature.example
    head = "grammar G(xs: [str])" if given else "pub grammar G"
    source = f'const NAMES = ["ab", "c"]\n{head}:\n{block}' + ("pub type T = G(NAMES)\n" if given else "")
    program, found = check(Source("p.sgl", source), Library())
    errors = [d for d in found if d.code.startswith("E")]
    if errors:
        raise GrammarError(errors[0].label)
    assert program is not None
    type = program.table["T" if given else "G"].type
    assert isinstance(type, Str)
    return language(type, {})


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: f"{feature.notation} {feature.written}")
def test_a_line_of_the_page_holds(feature: Feature) -> None:
    if not feature.good:
        with pytest.raises(GrammarError) as fault:
            language_of(feature)
        assert feature.refused in str(fault.value)
        return
    constraint = compile_constraint(language=language_of(feature))  # type: ignore[arg-type]
    for text in (*feature.good, *feature.bad):
        matcher = constraint.matcher(BYTES)
        taken = matcher.accept_bytes(text.encode()) and matcher.is_accepting()
        assert taken == (text in feature.good), text
