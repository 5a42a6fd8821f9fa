"""The ways to fill the entries of objects and the places of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter

from sglc.automata.json.counters import Vector
from sglc.runtime.mask.automaton.protocol import Node


class Options:
    """By label and number: what each way adds to the counters, and its node. A label is a property or family
    of an object, whose nodes begin behind the key's closing quote, or a place of an array.

    They are the most of what constraints are made of: all of one object or array are in three tuples.
    """

    __slots__ = ("_starts", "_vectors", "tails")

    def __init__(self, labels: Iterable[Sequence[tuple[Vector, Node]]]) -> None:
        vectors: list[Vector] = []
        tails: list[Node] = []
        starts = [0]
        for some in labels:
            for vector, tail in some:
                vectors.append(vector)
                tails.append(tail)
            starts.append(len(tails))
        self.tails = tuple(tails)
        """The nodes of all labels in order."""
        self._vectors = tuple(vectors)
        self._starts = tuple(starts)

    def __len__(self) -> int:
        """The number of labels."""
        return len(self._starts) - 1

    def count(self, label: int) -> int:
        """How many a label has."""
        return self._starts[label + 1] - self._starts[label]

    def tail(self, label: int, option: int) -> Node:
        """The node of one way to fill a label, by the number of the way."""
        return self.tails[self._starts[label] + option]

    def tails_of(self, label: int) -> tuple[Node, ...]:
        """The nodes of all ways to fill a label, by the number of the way."""
        return self.tails[self._starts[label] : self._starts[label + 1]]

    def vectors_of(self, label: int) -> tuple[Vector, ...]:
        """What each way to fill a label adds to the counters, by the number of the way."""
        return self._vectors[self._starts[label] : self._starts[label + 1]]

    def only(self, wanted: Callable[[Node], bool]) -> Options:
        """Those whose nodes are wanted; the same if all are."""
        if all(map(wanted, self.tails)):
            return self
        return Options(
            [
                [
                    (vector, tail)
                    for vector, tail in zip(self.vectors_of(label), self.tails_of(label), strict=True)
                    if wanted(tail)
                ]
                for label in range(len(self))
            ]
        )


PRODUCTIVE: Callable[[Node], bool] = attrgetter("productive")
NULLABLE: Callable[[Node], bool] = attrgetter("nullable")
