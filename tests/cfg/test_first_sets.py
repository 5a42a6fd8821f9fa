"""What a node may begin with, left-recursive or not: against passes over all nodes until nothing changes."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.cfg import language
from sglc.cfg.analysis.first_sets import FirstSets
from sglc.cfg.language import GrammarOptions
from sglc.cfg.model.graph import LEAF, Graph
from sglc.cfg.notation.reader import read_grammar
from strategies.grammar_strategies import char_grammars, token_grammars


def by_passes(graph: Graph) -> list[set[int]]:
    """By node the leaves that it may begin with."""
    found = [{node} if kind == LEAF else set() for node, kind in enumerate(graph.kind)]
    while True:
        before = sum(map(len, found))
        for node, these in enumerate(found):
            for inner in graph.left(node):
                these |= found[inner]
        if sum(map(len, found)) == before:
            return found


@settings(
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(token_grammars() | char_grammars(), st.randoms(use_true_random=False))
def test_nodes_begin_with_what_passes_over_the_graph_find(written, random) -> None:
    grammar = read_grammar(written, "lark") if isinstance(written, str) else written
    graph, *_ = language._read(grammar, GrammarOptions())
    first = FirstSets(graph, lambda leaf: 1 << leaf)
    expected = by_passes(graph)
    nodes = list(range(len(graph.kind)))
    random.shuffle(nodes)
    for node in nodes:
        assert first[node] == sum(1 << leaf for leaf in expected[node])
