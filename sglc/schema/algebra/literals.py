"""What a value must satisfy: sets of literals, and how they are made from nodes."""

from __future__ import annotations

from collections.abc import Iterable

from sglc.schema.algebra.forms import FALSE, TRUE, Literals, both
from sglc.schema.core import graph as g
from sglc.schema.core.errors import SchemaError
from sglc.schema.core.graph import Graph


class LiteralTable:
    """Sets of literals over the nodes of a graph, to which nodes are added where a set needs one."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._of_node: dict[int, Literals | None] = {0: TRUE, 1: FALSE}

    def of(self, number: int) -> Literals:
        """A node as a set of literals; nodes that only stand for others are replaced by them."""
        if number in self._of_node:
            found = self._of_node[number]
            if found is None:
                path = self.graph.nodes[number].path
                raise SchemaError("the schema refers to itself without going into a value", path)
            return found
        node = self.graph.nodes[number]
        found = frozenset({2 * number})
        if not node.parts:
            found = TRUE
        elif len(node.parts) == 1:
            self._of_node[number] = None
            match node.parts[0]:
                case g.Ref(key, _):
                    found = self.of(self.graph.references[key])
                case g.All((inner,)) | g.Any_((inner,)) | g.One((inner,)):
                    found = self.of(inner)
                case g.All(nodes):
                    found = TRUE
                    for inner in nodes:
                        found = both(found, self.of(inner))
                case g.Not(inner):
                    found = self.negate(self.of(inner))
                case g.Types(mask) if not mask:
                    found = FALSE
        self._of_node[number] = found
        return found

    def negate(self, these: Literals) -> Literals:
        """Literals that hold where not all of the given ones do."""
        if not these:
            return FALSE
        if these == FALSE:
            return TRUE
        if len(these) == 1:
            return frozenset(literal ^ 1 for literal in these)
        return frozenset({2 * self._node(these) + 1})

    def either(self, options: Iterable[Literals]) -> Literals:
        """The values of at least one."""
        different = [these for these in dict.fromkeys(options) if these != FALSE]
        if TRUE in different:
            return TRUE
        if not different:
            return FALSE
        if len(different) == 1:
            return different[0]
        nodes = tuple(sorted(self._node(these) for these in different))
        return self.of(self.graph.add((g.Any_(nodes),), self.path(different[0])))

    def _node(self, these: Literals) -> int:
        """A node that is the conjunction of literals."""
        nodes = [
            literal >> 1 if not literal & 1 else self.graph.add((g.Not(literal >> 1),), self.path(these))
            for literal in sorted(these)
        ]
        if len(nodes) == 1:
            return nodes[0]
        return self.graph.add((g.All(tuple(nodes)),), self.path(these))

    def constant(self, value: g.Value) -> Literals:
        """Literals that one value satisfies."""
        return self.of(self.graph.add((g.Values((value,)),), "#"))

    def path(self, these: Literals) -> str:
        """Where in the schema the first of the literals stands, for messages."""
        return self.graph.nodes[min(these) >> 1].path if these else "#"

    def mask(self, these: Literals) -> int:
        """Every type that a value of all literals can have, perhaps more."""
        mask = g.EVERY_TYPE
        for literal in these:
            node = self.graph.nodes[literal >> 1]
            if not literal & 1:
                mask &= node.mask
            elif len(node.parts) == 1 and isinstance(node.parts[0], g.Types) and not node.parts[0].integer:
                mask &= ~node.parts[0].mask
        return mask
