"""From a grammar to the language that the mask engine reads.

The language is what Lark's Earley parser with `lexer="dynamic_complete"` accepts (`lexing="dynamic"`): every
terminal may match as much or as little as its pattern can, and ignored text may stand before, between and
after terminals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from sglc.automata.term import Language
from sglc.cfg.emit.emit_terms import Emitter
from sglc.cfg.emit.lookahead_classes import ALL, Contexts
from sglc.cfg.gll_parser import Parser
from sglc.cfg.lexer import lexis as lexing
from sglc.cfg.lexer.conflict_sets import Rivals
from sglc.cfg.lexer.lexis import Lexis, dynamic_lexis, longest_lexis, plain_lexis, rivals_of
from sglc.cfg.lexer.terminals import Tokens
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.grammar import Grammar
from sglc.cfg.model.graph import Graph
from sglc.cfg.model.rule_templates import ShapedRules
from sglc.cfg.model.validate import check_names
from sglc.cfg.transforms.build_graph import build_graph
from sglc.cfg.transforms.left_factoring import Factoring
from sglc.cfg.transforms.left_recursion import remove_left_recursion
from sglc.cfg.transforms.unroll_options import unfold_options

Lexing = OneOf["dynamic", "longest"]


@dataclass(frozen=True, slots=True)
class GrammarOptions:
    """How a grammar becomes a language.

    lexing        `dynamic`: terminals match as their patterns can; `longest`: as a lexer would match them
    ignore_ends   whether ignored text may stand at the very beginning and end
    """

    lexing: Lexing = "dynamic"
    ignore_ends: bool = True


def grammar_language(grammar: Grammar, options: GrammarOptions | None = None) -> Language:
    """The language of a grammar. Raises GrammarError for what cannot be taken over exactly."""
    return _language(grammar, options or GrammarOptions())


def _language(grammar: Grammar, options: GrammarOptions) -> Language:
    graph, tokens, rivals = _read(grammar, options)
    nodes = graph.reached(graph.start) if grammar.whole else []
    lexis = _lexis(graph, nodes, grammar, tokens, rivals) if grammar.whole else None
    graph.start = graph.root
    if not graph.productive[graph.start]:
        raise GrammarError(
            f"the rule {grammar.start} has no text at all", grammar.rules[grammar.start].source,
            grammar.rules[grammar.start].at, "every way to write it needs itself",
        )  # fmt: skip
    if remove_left_recursion(graph):
        graph.analyse()
    factoring = None
    if lexis is None:
        # What follows each part of a whole is known already, so that it is left as it is. For others the
        # lexis comes now: without left recursion less can follow, so that fewer characters matter.
        lexis = plain_lexis(graph, grammar, tokens) if rivals is None else None
        if lexis is not None:
            unfold_options(graph)
        factoring = Factoring(graph)
        if lexis is None:
            nodes = factoring.all(graph.start)
            alike = len(nodes) > lexing.MANY_NODES
            lexis = _lexis(graph, nodes, grammar, tokens, rivals, alike=alike)
    if grammar.whole:
        nodes = graph.reached(graph.start)
    contexts = Contexts(graph, lexis, nodes)
    if contexts.dead(graph.start, ALL):
        raise GrammarError(
            f"the rule {grammar.start} has no text at all", grammar.rules[grammar.start].source,
            grammar.rules[grammar.start].at, "each terminal takes the beginning of what should follow it",
        )  # fmt: skip
    return Emitter(graph, lexis, contexts, factoring).language(options.ignore_ends)


def parser_of(grammar: Grammar, options: GrammarOptions) -> Parser:
    """What finds parse trees of the texts of a grammar."""
    graph, tokens, rivals = _read(grammar, options)
    lexis = _lexis(graph, graph.reached(graph.start), grammar, tokens, rivals)
    graph.start = graph.root
    return Parser(graph, lexis)


def _read(grammar: Grammar, options: GrammarOptions) -> tuple[Graph, Tokens, Rivals | None]:
    """The graph as it was written, its terminals, and which of these are tried together."""
    check_names(grammar)
    tokens = Tokens(grammar)
    longest = options.lexing == "longest"
    rules = grammar.rules
    many = isinstance(rules, ShapedRules) and len(set(rules.texts)) > lexing.MANY_TOKENS
    graph = build_graph(grammar, tokens, share=many or not longest)
    if many and longest and len(tokens.all) <= lexing.MANY_TOKENS:
        # What a lexer tries may differ from one place to the other, and so parts are not shared.
        tokens = Tokens(grammar)
        graph = build_graph(grammar, tokens)
    rivals = None
    if longest:
        rivals = rivals_of(graph, grammar, tokens)
    graph.prune()
    return graph, tokens, rivals


def _lexis(
    graph: Graph, nodes: list[int], grammar: Grammar, tokens: Tokens, rivals: Rivals | None, *,
    alike: bool = False,
) -> Lexis:  # fmt: skip
    if rivals is None:
        return dynamic_lexis(graph, nodes, grammar, tokens, alike=alike)
    return longest_lexis(graph, nodes, grammar, tokens, rivals, alike=alike)
