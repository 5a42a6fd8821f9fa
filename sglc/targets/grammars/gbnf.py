"""A hole as a grammar of llama.cpp, in GBNF.

?{x: [int in 1..3; 2..]}   →   root ::= "[" [1-3] (", " [1-3])+ "]"
"""

from __future__ import annotations

from sglc.cfg.notation.print_gbnf import to_gbnf
from sglc.targets.core.comments import lost
from sglc.targets.core.target import Subject, Written
from sglc.targets.grammars.holes import written


def write(subject: Subject) -> Written:
    """The grammar of the one hole that the subject asks for; it starts with `root`."""
    return written(subject, lambda grammar, losses: lost(losses, "#") + to_gbnf(grammar))
