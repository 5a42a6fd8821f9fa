"""What is enforced, as a constraint of our own mask engine: for models whose logits are at hand."""

from __future__ import annotations

from sglc.cfg.notation.reader import read_grammar
from sglc.runtime.mask import Constraint, compile_constraint
from sglc.targets.projection.core.enforcement import Enforcement


def constraint_of(enforced: Enforcement) -> Constraint:
    """The same texts. Raises ConstraintError or GrammarError where a notation cannot be read."""
    match enforced.notation:
        case "json_schema":
            return compile_constraint(json_schema=enforced.schema)
        case "choice":
            return compile_constraint(choices=enforced.options)
        case "regex":
            return compile_constraint(regex=enforced.text, dialect="python")
    return compile_constraint(grammar=read_grammar(enforced.text, enforced.notation))
