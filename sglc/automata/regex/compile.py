"""`compile_regex`: a pattern to the canonical automaton of the texts it matches.

The automaton of `regex_nfa` by subsets (Rabin and Scott, 1959). Patterns with lookahead or lookbehind go to
`regex_look`. All work is counted, not timed, so that every machine accepts or refuses the same patterns.
"""

from __future__ import annotations

from sglc.automata import work
from sglc.automata.caches import remembered
from sglc.automata.regex.determinize import DEFAULT_LIMIT, compile_node, compile_small, compile_within
from sglc.automata.regex.dialects import DialectName
from sglc.automata.regex.parse import parse_regex
from sglc.automata.regex.tree import RegexError, costliest
from sglc.automata.term import CharDfa

__all__ = ["DEFAULT_LIMIT", "RegexError", "compile_node", "compile_regex", "compile_small", "compile_within"]


@remembered
def compile_regex(
    pattern: str,
    *,
    anchored: bool = True,
    ignore_case: bool = False,
    limit: int = DEFAULT_LIMIT,
    dialect: DialectName = "sgl",
) -> CharDfa:
    """The texts that match as a whole (or, if not `anchored`, that contain a match, as in JSON Schema).

    `regex_dialect` tells the dialects. Raises RegexError for what is malformed, not regular or not known, and
    where the automaton would pass `limit` states.
    """
    node = parse_regex(pattern, ignore_case=ignore_case, dialect=dialect)
    with work.part(costliest(pattern, node), unless_named=True):
        return compile_node(node, open_left=not anchored, open_right=not anchored, limit=limit)
