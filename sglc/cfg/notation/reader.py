"""`read_grammar` reads a grammar in any notation, `shipped_grammar` one of the library."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Literal as OneOf

from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.grammar import Grammar
from sglc.cfg.notation.ebnf import read_ebnf
from sglc.cfg.notation.gbnf import read_gbnf
from sglc.cfg.notation.lark import read_lark

Written = OneOf["lark", "ebnf", "gbnf"]
ENDINGS: dict[str, Written] = {"lark": "lark", "ebnf": "ebnf", "bnf": "ebnf", "gbnf": "gbnf"}
"""Ending of a file to what it is written in."""
MAX_TEXT = 5_000_000
"""Characters of a grammar, which are read at once."""
"""Characters of a grammar."""


def read_grammar(text: str, dialect: Written, start: str | None = None, name: str = "grammar") -> Grammar:
    """The grammar that a text says.

    `start` is the rule to begin with: by default `start` (Lark), `root` (GBNF), the first one (EBNF). `name`
    is how messages call the text. Raises GrammarError with line and column.
    """
    if len(text) > MAX_TEXT:
        raise GrammarError(f"a grammar may have at most {MAX_TEXT} characters")
    readers = {"lark": read_lark, "ebnf": read_ebnf, "gbnf": read_gbnf}
    if dialect not in readers:
        raise GrammarError(f"{dialect} is no notation of grammars", hint=", ".join(readers))
    return readers[dialect](text, start, name)


SHIPPED = ("arithmetic", "csv", "date", "email", "json", "python", "sql", "url", "xml")
"""Grammars of the standard library. SQL is meant to be matched longest-first, the others either way."""


@lru_cache(maxsize=len(SHIPPED))
def shipped_grammar(name: str) -> Grammar:
    """A grammar of the standard library. Raises GrammarError for a name that is not in it."""
    if name not in SHIPPED:
        raise GrammarError(f"the library has no grammar {name}", hint=", ".join(SHIPPED))
    file = files("sglc.stdlib") / "grammars" / f"{name}.lark"
    return read_grammar(file.read_text(encoding="utf-8"), "lark", name=f"{name}.lark")
