"""The nodes that a compiler has made of constraints, one a line, for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sglc.automata.charset import ranges
from sglc.automata.notation.characters import show_bytes, show_class, show_counts, show_words
from sglc.automata.notation.term_tree import show_nfa, show_text
from sglc.automata.term import Language
from sglc.runtime.mask.automaton.limits import ConstraintOptions, compiling
from sglc.runtime.mask.automaton.protocol import Node
from sglc.runtime.mask.nodes import core
from sglc.runtime.mask.nodes.array import ArrayNode
from sglc.runtime.mask.nodes.dispatch import CaseNode
from sglc.runtime.mask.nodes.object import ObjectNode
from sglc.runtime.mask.nodes.pattern import PatternNode
from sglc.runtime.mask.nodes.substring import SpanNode
from sglc.runtime.mask.nodes.text import TextNode
from sglc.runtime.mask.nodes.words import WordNode
from sglc.runtime.mask.product_nodes.difference import Exclusion
from sglc.runtime.mask.product_nodes.lookahead import NotBefore
from sglc.runtime.mask.product_nodes.unique_array import DistinctArray
from sglc.runtime.mask.workspaces import Workspace

MOST_NODES = 500
"""Nodes of one constraint that are listed."""


class NodeFacts(NamedTuple):
    """What a node is: its kind, and what it reads or how its children are put together."""

    kind: str
    reads: str


def facts(node: Node) -> NodeFacts:
    """What a node is, without its children."""
    match node:
        case core.Literal():
            return NodeFacts("literal", show_bytes(node.data))
        case TextNode():
            table = node.table
            return NodeFacts("text", show_text(table.dfa, table.encoding, node.minimum, node.maximum))
        case PatternNode():
            return NodeFacts("pattern", show_nfa(node.table.nfa))
        case WordNode():
            words = node.set.words
            return NodeFacts("words", f"{show_words(words)}, {sum(map(len, words)):,} bytes")
        case CaseNode():
            return NodeFacts("cases", f"{show_words(node.set.words)}, each with what follows it")
        case SpanNode():
            return NodeFacts("piece", f"of {show_bytes(node.table.text.encode())}")
        case core.AnyBytes():
            return NodeFacts("any", "any bytes")
        case NotBefore():
            return NodeFacts("lookahead", f"not before {show_class(ranges(node.forbidden_next))}")
        case Exclusion():
            return NodeFacts("difference", f"all but {show_words(node.set.words)}")
        case core.Series():
            return NodeFacts("series", "one, then the rest")
        case core.Alternatives():
            return (
                NodeFacts("choice", f"of {len(node.arms):,}")
                if node.arms
                else NodeFacts("nothing", "no text")
            )
        case core.RuleNode():
            return NodeFacts("rule", node.name or "what is no word")
        case core.Repetition():
            between = f", with {show_bytes(node.separator.data)} between" if node.separator.data else ""
            return NodeFacts("repeat", show_counts(node.minimum, node.maximum) + between)
        case ArrayNode():
            differ = ", all different" if isinstance(node, DistinctArray) else ""
            return NodeFacts("items", show_counts(node.parts.minimum, node.parts.maximum) + differ)
        case ObjectNode():
            return NodeFacts("object", _keys(node))
    return NodeFacts(type(node).__name__, "")


def _keys(node: ObjectNode) -> str:
    parts = node.parts
    shown = show_words(name.encode() for name in parts.names) if parts.names else ""
    if parts.families:
        shown += f"{' and ' if shown else ''}keys of {len(parts.families):,} pattern"
        shown += "" if len(parts.families) == 1 else "s"
    return shown or "no keys"


def show_nodes(
    languages: Sequence[tuple[str, Language]], options: ConstraintOptions | None = None
) -> list[str]:
    """For each language its nodes, one a line: number, kind, what it reads, children.

    Nodes are numbered in the order in which they are met. Equal parts of the languages are one node, as in
    the masks of a process: where it was listed before it is only named, with what has it first (the name in
    `languages`). Grammars share nodes with grammars only. Raises ConstraintError.
    """
    options = options or ConstraintOptions()
    spaces = {
        of_grammars: Workspace(options, of_grammars=of_grammars)
        for of_grammars in {language.grammar for _, language in languages}
    }
    numbers: dict[Node, int] = {}
    owner: dict[Node, str] = {}
    found: list[str] = []
    for name, language in languages:
        with compiling(options):
            root = spaces[language.grammar].compiler.compile(language)
            nodes, left_out = reached(root)
        for node in nodes:
            numbers.setdefault(node, len(numbers) + 1)
            owner.setdefault(node, name)
        own = [node for node in nodes if owner[node] == name]
        lines = [f"{_count(len(nodes), 'node')}, {len(nodes) - len(own):,} of them shared"]
        if left_out:
            lines[0] += f"; more than {MOST_NODES:,}, the others are not listed"
        lines += [_line(node, numbers) for node in own]
        for other in dict.fromkeys(owner[node] for node in nodes if owner[node] != name):
            shared = [numbers[node] for node in nodes if owner[node] == other]
            lines.append(f"with {other}: {_numbers(shared)}")
        found.append("\n".join(lines))
    return found


def reached(root: Node, *, make: bool = True) -> tuple[list[Node], bool]:
    """The nodes below a root in the order of the text, and whether there are more than `MOST_NODES`.

    `make`: whether to compile what else is compiled when a text first comes to it.
    """
    found: dict[Node, None] = {}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node in found:
            continue
        if make and len(found) == MOST_NODES:
            return list(found), True
        found[node] = None
        if make:
            node.make_children()
        waiting += reversed(node.children())
    return list(found), False


def _line(node: Node, numbers: dict[Node, int]) -> str:
    what = facts(node)
    children = " ".join(f"#{numbers[child]}" for child in node.children() if child in numbers)
    shown = f"#{numbers[node]} {what.kind}"
    return f"{shown:<16} {what.reads}{' -> ' + children if children else ''}"


def _numbers(numbers: Iterable[int]) -> str:
    """`#2-#4 #7`."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return " ".join(f"#{low}" if low == high else f"#{low}-#{high}" for low, high in runs)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
