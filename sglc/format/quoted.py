"""Expressions as messages quote them: as the formatter writes them on one row.

A condition that fails is named in messages, and a model that tries again reads them. So they must not depend
on the layout of the program.
"""

from __future__ import annotations

import re

from sglc.source import Source, Span
from sglc.syntax.lexer.layout import Layout
from sglc.syntax.parser import Parser

_PLAIN = re.compile(r"\w+(?:\.\w+)*(?: (?:[=!<>]=|[<>]) \w+)?")
"""Expressions that are written in one way, mostly."""


def quoted(span: Span) -> str:
    """The source of an expression on one row. What is no expression of the language (one of a function of
    Python) is given with one blank where it has several or goes on below.
    """
    text = span.text
    if _PLAIN.fullmatch(text):
        return text
    # The formatter is loaded by programs that have other conditions.
    from sglc.format.breaking import Breaker
    from sglc.format.spacing import gaps
    from sglc.format.tokens import noted_kinds, taken_tokens

    parser = Parser(Source(span.source.name, text))
    noted = noted_kinds(parser)
    parser.fragment("expression")
    if parser.reporter.diagnostics:
        return " ".join(text.split())
    tokens = taken_tokens(text, Layout(text, parser.words).fragment().tokens, noted)
    last = len(tokens.kinds) - 1
    return Breaker(tokens, 0, last, gaps(tokens, 0, last), {}, False).flat(0, last)
