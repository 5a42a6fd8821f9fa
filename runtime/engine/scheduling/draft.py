"""A draft: tokens that may well come next, as a chain or as a tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Draft(NamedTuple):
    """Tokens that may follow a branch; a chain is a tree in which each token follows the one before it.

    A token may have siblings: other tokens that may come in its place, with others behind them.
    """

    tokens: Sequence[int] = ()
    parents: Sequence[int] = ()
    """For each token the number of the one that it follows, which is smaller than its own, or -1 for the
    branch. Empty for a chain."""

    def first(self, count: int) -> Draft:
        """The first `count` tokens."""
        if not self.parents:
            return Draft(self.tokens[:count])
        found = Draft(self.tokens[:count], self.parents[:count])
        return found._replace(parents=()) if found.trunk == len(found.tokens) else found

    def path(self, tokens: Sequence[int]) -> list[int]:
        """Numbers of the draft's tokens that `tokens` are, as far as they are."""
        nodes: list[int] = []
        node = -1
        for token in tokens:
            node = self._child(node, token)
            if node < 0:
                break
            nodes.append(node)
        return nodes

    def follows(self, number: int, node: int) -> bool:
        """Whether a token stands behind another one, or behind the branch for -1."""
        return (self.parents[number] if self.parents else number - 1) == node

    def compared(self, tokens: Sequence[int]) -> list[tuple[int, bool]]:
        """The numbers of the tokens at whose places `tokens` have come, and whether they are what came."""
        if not self.parents:
            most, same = min(len(self.tokens), len(tokens)), 0
            while same < most and self.tokens[same] == tokens[same]:
                same += 1
            return [(number, number < same) for number in range(min(same + 1, most))]
        found: list[tuple[int, bool]] = []
        for node, token in zip((-1, *self.path(tokens)), tokens, strict=False):
            places = [place for place, parent in enumerate(self.parents) if parent == node]
            found += [(place, self.tokens[place] == token) for place in places]
        return found

    def _child(self, node: int, token: int) -> int:
        """The number of the token behind `node` that is `token`, -1 where there is none."""
        if not self.parents:
            following = node + 1
            return following if following < len(self.tokens) and self.tokens[following] == token else -1
        for number in range(node + 1, len(self.tokens)):
            if self.parents[number] == node and self.tokens[number] == token:
                return number
        return -1

    @property
    def trunk(self) -> int:
        """How many of the first tokens are a chain."""
        for number, parent in enumerate(self.parents):
            if parent != number - 1:
                return number
        return len(self.tokens)


NO_DRAFT = Draft()
"""Nothing is likely enough."""
