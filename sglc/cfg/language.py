"""Compiles a grammar to the language that the mask engine reads.

The language is what Lark's Earley parser with `lexer="dynamic_complete"` accepts (`lexing="dynamic"`): every
terminal may match as much or as little as its pattern can, and ignored text may stand before, between and
after terminals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from sglc.automata.term import Language
from sglc.cfg.emit.emit_terms import Emitter
from sglc.cfg.emit.lookahead_classes import ALL, LookaheadRelations
from sglc.cfg.gll_parser import Parser
from sglc.cfg.lexer import lexical_spec
from sglc.cfg.lexer.conflict_sets import ConflictSets
from sglc.cfg.lexer.lexical_spec import LexicalSpec, conflict_sets_of, dynamic_spec, longest_spec, plain_spec
from sglc.cfg.lexer.terminals import Tokens
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.grammar import Grammar
from sglc.cfg.model.graph import Graph
from sglc.cfg.model.validate import check_names
from sglc.cfg.transforms.build_graph import build_graph
from sglc.cfg.transforms.left_factoring import Factoring
from sglc.cfg.transforms.left_recursion import remove_left_recursion
from sglc.cfg.transforms.unroll_options import unroll_options

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
    graph, tokens, conflict_sets = _read(grammar, options)
    nodes = graph.reached(graph.start) if grammar.whole else []
    spec = _lexical_spec(graph, nodes, grammar, tokens, conflict_sets) if grammar.whole else None
    graph.start = graph.root
    if not graph.productive[graph.start]:
        raise GrammarError(
            f"the rule {grammar.start} has no text at all",
            grammar.rules[grammar.start].source,
            grammar.rules[grammar.start].at,
            "every way to write it needs itself",
        )
    if remove_left_recursion(graph):
        graph.analyse()
    factoring = None
    if spec is None:
        # What follows each part of a whole is known already, so that it is left as it is. For others the
        # lexical specification is made now: without left recursion less can follow, and fewer characters
        # matter.
        spec = plain_spec(graph, grammar, tokens) if conflict_sets is None else None
        if spec is not None:
            unroll_options(graph)
        factoring = Factoring(graph)
        if spec is None:
            nodes = factoring.all(graph.start)
            by_class = len(nodes) > lexical_spec.MANY_NODES
            spec = _lexical_spec(graph, nodes, grammar, tokens, conflict_sets, by_class=by_class)
    if grammar.whole:
        nodes = graph.reached(graph.start)
    lookahead = LookaheadRelations(graph, spec, nodes)
    if lookahead.dead(graph.start, ALL):
        raise GrammarError(
            f"the rule {grammar.start} has no text at all",
            grammar.rules[grammar.start].source,
            grammar.rules[grammar.start].at,
            "each terminal takes the beginning of what should follow it",
        )
    return Emitter(graph, spec, lookahead, factoring).language(options.ignore_ends)


def parser_of(grammar: Grammar, options: GrammarOptions) -> Parser:
    """What finds parse trees of the texts of a grammar."""
    graph, tokens, conflict_sets = _read(grammar, options)
    spec = _lexical_spec(graph, graph.reached(graph.start), grammar, tokens, conflict_sets)
    graph.start = graph.root
    return Parser(graph, spec)


def _read(grammar: Grammar, options: GrammarOptions) -> tuple[Graph, Tokens, ConflictSets | None]:
    """The graph as it was written, its terminals, and which of these are tried together."""
    check_names(grammar)
    tokens = Tokens(grammar)
    longest = options.lexing == "longest"
    many = len(grammar.rules) > lexical_spec.MANY_TOKENS
    graph = build_graph(grammar, tokens, share=many or not longest)
    if many and longest and len(tokens.all) <= lexical_spec.MANY_TOKENS:
        # What a lexer tries may differ from one place to the other, and so parts are not shared.
        tokens = Tokens(grammar)
        graph = build_graph(grammar, tokens)
    conflict_sets = None
    if longest:
        conflict_sets = conflict_sets_of(graph, grammar, tokens)
    graph.prune()
    return graph, tokens, conflict_sets


def _lexical_spec(
    graph: Graph,
    nodes: list[int],
    grammar: Grammar,
    tokens: Tokens,
    conflict_sets: ConflictSets | None,
    *,
    by_class: bool = False,
) -> LexicalSpec:
    if conflict_sets is None:
        return dynamic_spec(graph, nodes, grammar, tokens, by_class=by_class)
    return longest_spec(graph, nodes, grammar, tokens, conflict_sets, by_class=by_class)
