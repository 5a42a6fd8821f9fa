"""What states read, found by kind, against looking at each edge of each state."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.automata.charset import ranges
from sglc.automata.dfa.operations import build
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import CharDfa
from sglc.automata.work import WorkAccount, charged
from sglc.runtime.mask.lexeme.row_kinds import RowKinds
from sglc.runtime.mask.lexeme.table import LexemeState
from sglc.runtime.mask.lexeme.text_dfa import TextTable
from sglc.runtime.mask.lexeme.text_lexeme import TextLexeme

SETS = [ranges([(97, 99), (105, 105)]), ranges([(100, 104)]), ranges([(0xE9, 0x17F), (0x3B1, 0x3C9)])]


@st.composite
def automata(draw: st.DrawFn) -> CharDfa:
    """States that mostly have the same sets at their edges."""
    states = draw(st.integers(1, 6))
    target = st.integers(0, states - 1)
    rows = draw(st.lists(st.dictionaries(st.sampled_from(SETS), target), min_size=states, max_size=states))
    return build([list(row.items()) for row in rows], draw(st.sets(target, min_size=1)))


@settings(max_examples=examples(150), deadline=None)
@given(automata(), st.booleans())
def test_kinds_say_what_the_edges_say(dfa: CharDfa, known: bool) -> None:
    rows = RowKinds(dfa if known else CharDfa(dfa.edges, dfa.accepting))
    assert not dfa.edges or len(dfa.kinds) == len(dfa.edges)
    for state, row in enumerate(dfa.edges):
        firsts = list(dict.fromkeys([target for _, _, target in row]))
        leading = [(to, ranges([(a, b) for a, b, target in row if target == to])) for to in firsts]
        assert rows.covered(state) == ranges([(low, high) for low, high, _ in row])
        assert rows.targets(state) == firsts
        assert [(to, rows.leading(state, to)) for to in firsts] == leading
        sizes = [sum([high - low + 1 for low, high in these]) for _, these in leading]
        assert rows.widest(state) == (leading[sizes.index(max(sizes))] if sizes else (-1, ()))
        assert [tuple(edge) for edge in rows.array(state).tolist()] == list(row)


def test_states_that_read_the_same_are_looked_at_once() -> None:
    dfa = compile_regex(r"[\p{L}\p{Pd}\p{Zs}]{2,40}")
    edges = sum(map(len, dfa.edges))
    lexeme = TextLexeme(TextTable(dfa, "raw"))
    with charged(WorkAccount()) as account:
        found = lexeme.self_loop(LexemeState(lexeme, lexeme.number(0)), 20)
    assert found is not None and found.room is not None
    # Of the 40 states that lead on by all these characters only the first is looked at.
    assert lexeme.table.rows.looked < 5 * edges / 40
    assert account.spent < edges / 40
