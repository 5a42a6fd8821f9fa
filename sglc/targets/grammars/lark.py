"""A hole as a grammar of Lark, for its Earley parser with `lexer="dynamic_complete"`.

    ?{x: [int in 1..3; 2..]}   →   root: "[" /[1-3]/ (", " /[1-3]/)+ "]"

Terminals are single characters and texts. A lexer that takes the longest match reads other texts.
"""

from __future__ import annotations

from sglc.cfg.notation.print_lark import to_lark
from sglc.targets.core.target import Subject, Written
from sglc.targets.grammars.holes import in_grammar, one_hole, remarks


def write(subject: Subject) -> Written:
    """The grammar of the one hole that the subject asks for; it starts with `root`."""
    hole, without = one_hole(subject)
    if hole is None:
        assert without is not None
        return without
    writer, losses = in_grammar(hole)
    if writer is None:
        return Written("", losses)
    text, _ = to_lark(writer.grammar())
    return Written(remarks(losses, "//") + text, losses)
