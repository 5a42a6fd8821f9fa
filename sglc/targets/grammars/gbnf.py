"""A hole as a grammar of llama.cpp, in GBNF.

?{x: [int in 1..3; 2..]}   →   root ::= "[" [1-3] (", " [1-3])+ "]"
"""

from __future__ import annotations

from sglc.cfg.notation.print_gbnf import to_gbnf
from sglc.targets.core.target import Subject, Written
from sglc.targets.grammars.holes import in_grammar, one_hole, remarks


def write(subject: Subject) -> Written:
    """The grammar of the one hole that the subject asks for."""
    hole, without = one_hole(subject)
    if hole is None:
        assert without is not None
        return without
    writer, losses = in_grammar(hole)
    if writer is None:
        return Written("", losses)
    return Written(remarks(losses, "#") + to_gbnf(writer.grammar()), losses)
