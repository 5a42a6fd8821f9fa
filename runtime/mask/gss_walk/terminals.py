"""What walks read without opening it: terminals, and rules that are not compiled yet."""

from __future__ import annotations

from typing import Any

from sglc.runtime.mask.automaton.protocol import Node
from sglc.runtime.mask.lexeme.self_loops import is_small as few_characters
from sglc.runtime.mask.lexeme.text_dfa import TextTable
from sglc.runtime.mask.nodes.core import Literal, RuleNode
from sglc.runtime.mask.nodes.dispatch import CaseNode
from sglc.runtime.mask.nodes.text import TextNode
from sglc.runtime.mask.nodes.words import WordNode
from sglc.runtime.mask.product_nodes.lookahead import NotBefore

_MOST_WORDS = 64
"""With so few words left few tokens begin like them, and walks read them byte by byte; the tokens of more are
looked up."""


def is_terminal(node: Node) -> bool:
    """Whether walks read a part that is made of no others."""
    if type(node) is TextNode:
        first = node.first
        return node.table.encoding == "raw" and (first is None or (first[1] <= 0 and first[2] is None))
    if type(node) is WordNode:
        return not node.table.free
    return type(node) in (Literal, NotBefore, CaseNode)


def is_small(node: Node, state: Any) -> bool:
    """Whether few tokens begin like what is left of a terminal, or it has no lexeme to look them up in."""
    if type(node) is TextNode:
        local = state[0]
        if local >= node.table.boundary:
            return True
        return few_characters([(low, high) for low, high, _ in node.table.dfa.edges[local]])
    if type(node) is WordNode:
        first, last, _ = node.table.places[state]
        return bool(last - first <= _MOST_WORDS)
    if type(node) is CaseNode:
        first, last, _ = node.rows.places[state]
        return bool(last - first <= _MOST_WORDS)
    return type(node) is Literal


def is_letter(table: TextTable, local: int) -> bool:
    """Whether few characters go on at a state, such as one letter in either case: no loop is worth looking up
    there."""
    edges = table.dfa.edges[local]
    return bool(edges) and few_characters([edge[:2] for edge in edges])


def is_late(node: Node) -> bool:
    """Whether a part is a rule that is not compiled and of which it is known what it begins with."""
    return type(node) is RuleNode and not node.made and node.begins is not None
