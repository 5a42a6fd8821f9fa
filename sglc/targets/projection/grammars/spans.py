"""The pieces of a text as an automaton: its suffix automaton, in which every state accepts.

Source: Blumer, Blumer, Haussler, Ehrenfeucht, Chen, Seiferas, "The smallest automaton recognizing the
subwords of a text" (1985). It has fewer than two states a character and is made in one walk.
"""

from __future__ import annotations

from sglc.automata.dfa.operations import build
from sglc.automata.term import CharDfa


def pieces(text: str) -> CharDfa:
    """All pieces of a text, the empty one among them."""
    edges: list[dict[str, int]] = [{}]
    links, sizes, last = [-1], [0], 0
    for char in text:
        here = len(edges)
        edges.append({})
        links.append(0)
        sizes.append(sizes[last] + 1)
        at = last
        while at >= 0 and char not in edges[at]:
            edges[at][char] = here
            at = links[at]
        if at >= 0:
            links[here] = _suffix(edges, links, sizes, at, char)
        last = here
    rows = [[(((ord(char), ord(char)),), target) for char, target in row.items()] for row in edges]
    return build(rows, range(len(rows)))


def _suffix(edges: list[dict[str, int]], links: list[int], sizes: list[int], at: int, char: str) -> int:
    """The state of the longest suffix that was a piece before: where it is not of its own, it becomes so."""
    known = edges[at][char]
    if sizes[known] == sizes[at] + 1:
        return known
    copy = len(edges)
    edges.append({**edges[known]})
    links.append(links[known])
    sizes.append(sizes[at] + 1)
    while at >= 0 and edges[at].get(char) == known:
        edges[at][char] = copy
        at = links[at]
    links[known] = copy
    return copy
