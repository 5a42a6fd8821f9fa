"""What is put into the tables of a grammar with what a walk asks for."""

from __future__ import annotations

import numpy as np
import pytest

from sglc.automata.regex.compile import compile_regex
from sglc.kernels.gss.arrays import Part, TextFlag
from sglc.runtime.mask.automaton.protocol import Node
from sglc.runtime.mask.compile.analysis import analyse
from sglc.runtime.mask.gss.machine import GssMachine
from sglc.runtime.mask.gss_walk.tables import _SHORT, StackTables
from sglc.runtime.mask.lexeme.text_dfa import TextTable
from sglc.runtime.mask.nodes.core import Alternatives, Literal, Repetition, RuleNode, Series
from sglc.runtime.mask.nodes.text import TextNode


def test_parts_are_described_with_the_part_that_opens_them() -> None:
    machine = GssMachine(of_grammars=True)
    a, b, c, d, nothing = (Literal(data) for data in (b"a", b"b", b"c", b"d", b""))
    late = RuleNode("late", lambda: d)
    late.productive, late.begins = True, lambda: 1 << ord("d")
    maybe = Repetition(a, 0, None, nothing)
    later = Series(c, d)
    behind = Series(maybe, Series(b, later))
    made = RuleNode("made")
    made.body = Alternatives((behind, late))
    root = Series(made, c)
    nodes: list[Node] = [a, b, c, d, nothing, late, maybe, later, behind.rest, behind, made.body, made, root]
    for node in nodes:
        machine.register(node)
    analyse(nodes, machine)
    tables = StackTables(machine)
    tables.describe([root.index])
    kinds, firsts = tables.arrays.program[:, 0], tables.arrays.program[:, 3]
    # `maybe` may be empty, so what is behind it is opened as well; nothing is behind `b`, `made` or `late`.
    known = {node.index for node in (root, made, made.body, behind, maybe, a, behind.rest, b)}
    assert set(np.flatnonzero(kinds != Part.UNKNOWN).tolist()) == known
    assert not late.made and firsts[late.index] > 0
    tables.describe([late.index])
    assert late.made and kinds[d.index] == Part.LIST and kinds[c.index] == Part.UNKNOWN


@pytest.mark.parametrize("letters", [2, _SHORT - 1, _SHORT, _SHORT + 5])
def test_rows_at_the_letters_of_a_word_are_made_together(letters: int) -> None:
    word = "".join(f"[{chr(97 + n)}{chr(65 + n)}]" for n in range(letters))
    tables = StackTables(GssMachine(of_grammars=True))
    node = TextNode(TextTable(compile_regex(word + "[0-9]+"), "raw"), 0, None)
    first = tables.place(node, (0, 0, None))
    assert first is not None
    tables.make_rows([first[0]])
    made = [local for local in range(letters + 2) if _known(tables, node.table, local)]
    assert made == list(range(min(letters, _SHORT)))
    # Where digits go on it is no letter, and its row is made alone.
    digits = tables._state(node.table, letters + 1)
    tables.make_rows([digits])
    assert tables.arrays.flags[digits] & TextFlag.KNOWN and tables.arrays.loops[digits].any()
    assert not _known(tables, node.table, letters)
    state = first[0]
    for at in range(min(letters, _SHORT)):
        row = tables.arrays.rows[state]
        assert set(np.flatnonzero(row >= 0).tolist()) == {97 + at, 65 + at}
        assert tables.arrays.begins[state].tobytes() == np.packbits(row >= 0, bitorder="little").tobytes()
        state = int(row[97 + at])


def _known(tables: StackTables, table: TextTable, local: int) -> bool:
    state = tables._states.get((table, local))
    return state is not None and bool(tables.arrays.flags[state] & TextFlag.KNOWN)
