"""The LALR tables of the language."""

from __future__ import annotations

from pathlib import Path

import sglc.grammar
from sglc.lalr import tables
from sglc.lalr.tables import Rule, TableData, Tables

__all__ = ["STARTS", "Rule", "Tables", "build", "grammar_text", "load"]

STARTS = ("module", "block", "expression", "type_only", "hole")


def load() -> Tables:
    """The tables of the grammar that is installed, from the cache where possible."""
    return tables.load("syntax", grammar_text(), lambda grammar: build(grammar))


def grammar_text() -> str:
    """The text of the grammar that is installed, in Lark's notation."""
    return Path(str(sglc.grammar.__file__)).with_name("sgl.lark").read_text(encoding="utf-8")


def build(grammar: str, strict: bool = False) -> TableData:
    """Compile a grammar to plain data. With `strict` a shift/reduce conflict raises lark's GrammarError."""
    return tables.build(grammar, STARTS, strict)
