"""A hole as EBNF, in the notation of the W3C; every character stands for itself, blanks are no layout.

?{x: [int in 1..3; 2..]}   →   root ::= "[" [1-3] (", " [1-3])+ "]"
"""

from __future__ import annotations

from sglc.targets.core.comments import lost
from sglc.targets.core.target import Subject, Written
from sglc.targets.grammars.holes import written
from sglc.targets.grammars.print_w3c import to_w3c


def write(subject: Subject) -> Written:
    """The grammar of the one hole that the subject asks for; it starts with `root`."""
    return written(subject, lambda grammar, losses: lost(losses, "/*", " */") + to_w3c(grammar))
