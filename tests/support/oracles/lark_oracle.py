"""Lark as the oracle of grammars: which texts it accepts."""

from __future__ import annotations

import io
import logging
from typing import Any

from hypothesis import assume
from lark import Lark, logger
from lark.exceptions import GrammarError, LarkError


def lark_of(text: str, lexer: str = "dynamic_complete", start: str = "start") -> Lark:
    """Lark's Earley parser. Hypothesis tries another example where Lark does not take the grammar."""
    try:
        return Lark(text, start=start, parser="earley", lexer=lexer)  # type: ignore[arg-type]
    except GrammarError as fault:
        assume("Rules defined twice" not in str(fault))
        raise


def lark_accepts(lark: Any, text: str) -> bool:
    try:
        lark.parse(text)
    except LarkError:
        return False
    except RuntimeError as fault:
        # Lark's own complaint about ignored text that could as well belong to the last terminal.
        assert "multiple start symbol" in str(fault)
    return True


def longest_first_parsers(text: str) -> list[Lark]:
    """The parsers that must take what is generated longest-first: LALR too if there is no conflict."""
    parsers = [lark_of(text, "dynamic")]
    messages = io.StringIO()
    handler = logging.StreamHandler(messages)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        parsers.append(Lark(text, parser="lalr", debug=True))
        if "conflict" in messages.getvalue().lower():
            parsers.pop()
    except GrammarError as fault:
        assert "collision" in str(fault)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    return parsers
