"""Every word and token of the grammar has a class, and every class has a name in every editor."""

from __future__ import annotations

import re

from sglc.highlight.core.classes import CLASSES, KEYWORDS, MARKS, TOKENS, WORDS
from sglc.syntax.lexer.keywords import BINARY, ROLES
from sglc.syntax.tables import grammar_text, load


def test_every_literal_of_the_grammar_has_a_class() -> None:
    literals = load().literals
    words = {each for each in (*literals, *BINARY, *ROLES) if each.isidentifier()}
    assert words - set(WORDS) == set(), "say in sglc/highlight/core/classes.py what these words are"
    assert {each for each in literals if not each.isidentifier()} == set(MARKS)
    # `text` opens a fence; to the grammar that is one token.
    assert set(WORDS) - words == {"text"}


def test_every_declared_token_has_a_class() -> None:
    declared = re.findall(r"^%declare (.*)", grammar_text(), re.MULTILINE)
    assert set(" ".join(declared).split()) == set(TOKENS)


def test_classes_are_known() -> None:
    used = {*WORDS.values(), *MARKS.values(), *filter(None, TOKENS.values())}
    assert used <= set(CLASSES)
    assert set(WORDS.values()) == KEYWORDS
