"""A hole as EBNF, in the notation of the W3C; every character stands for itself, blanks are no layout.

?{x: [int in 1..3; 2..]}   →   root ::= "[" [1-3] (", " [1-3])+ "]"
"""

from __future__ import annotations

from sglc.cfg.model.errors import GrammarError
from sglc.targets.core.target import Loss, Subject, Written
from sglc.targets.grammars.holes import in_grammar, one_hole
from sglc.targets.grammars.print_w3c import to_w3c


def write(subject: Subject) -> Written:
    """The grammar of the one hole that the subject asks for; it starts with `root`."""
    hole, without = one_hole(subject)
    if hole is None:
        assert without is not None
        return without
    writer, losses = in_grammar(hole)
    if writer is None:
        return Written("", losses)
    try:
        text = to_w3c(writer.grammar())
    except GrammarError as fault:
        return Written("", (*losses, Loss(fault.reason, hole.place)))
    said = "".join(f"/* accepts more: {loss.instead}, for {loss.construct} */\n" for loss in losses)
    return Written(said + text, losses)
