"""The fewest tokens from each configuration to the end of a value, whatever a tokenizer would write.

Every legal token is an edge from the configuration before it to the one behind it. The graph is explored
breadth first from the beginning of the value, one layer for each token; tokens that lead to the same
configuration are one edge. Distances in it are *lower bounds*: a tokenizer writes a text in one way, and the
graph has all. They guide the search for the fewest tokens of a tokenizer (`search`), and are what is left to
say where that search takes too long.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sglc.runtime.mask.artifact.token_steps import STEP, TokenSteps
from sglc.runtime.mask.automaton.limits import ConstraintOptions, LimitTracker
from sglc.runtime.mask.automaton.protocol import DEAD
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

EFFORT = 60_000_000
"""Most nodes of the vocabulary's trie that are looked at, a step of the machine counting as a hundred: some
three seconds. Beyond them the distance that was reached is the bound."""
WIDEST = 5_000
"""Most configurations that so many tokens lead to. Where there are more, they tell apart what was written, as
keys of a map that may not come again: following them all would take all of the effort, for one token more."""
FAR = 1 << 40
"""The distance of a configuration from which no end was found."""


class TokenGraph:
    """The configurations of one value's language and their tokens, as far as explored.

    `start` is at the beginning of `prefix`: text before the value whose tokens are written anew with it, and
    do not count. `stops` are what may follow the value in its last token.
    """

    def __init__(self, start: Matcher, vocabulary: Vocabulary, prefix: bytes, stops: Sequence[str]) -> None:
        machine = start.machine
        start = start.clone()
        # What one configuration may cost is no question here, only what all of them cost.
        start._account = LimitTracker(machine, ConstraintOptions(max_effort=None))
        self._steps = TokenSteps(start, vocabulary, EFFORT // STEP)
        self._vocabulary = vocabulary
        self._machine = machine
        self._stops = tuple(stop.encode() for stop in stops if stop)
        self.groups: dict[int, list[tuple[np.ndarray, int]]] = {}
        """By configuration whose tokens were followed: (tokens, the configuration behind them)."""
        self._ends: set[int] = set()
        """Configurations from which one token ends the value."""
        self._layer: list[int] = []
        self.depth = 0
        """Every configuration that fewer tokens than this lead to was followed."""
        self.whole = False
        """Whether nothing is left to follow."""
        self.ended = False
        """Whether a limit ended the exploration."""
        probe = start.clone()
        self._layer.append(probe.config)
        for byte in prefix:
            if not probe.accept_bytes(bytes((byte,))):
                break
            self._layer.append(probe.config)
        self._before = tuple(self._layer)
        """The configurations in the prefix and behind it: its own tokens do not count."""
        self._known = set(self._layer)
        self._rest: dict[int, int] = {}

    def least(self) -> int:
        """The fewest tokens of a value; a lower bound of it where the exploration has `ended` first."""
        while not self._arrived():
            if self.whole or self.ended:
                break
            self.grow()
        return self.depth

    def _arrived(self) -> bool:
        return any(map(self._accepts, self._layer))

    def _accepts(self, config: int) -> bool:
        return config == _FINISHED or self._machine.accepts(config)

    def grow(self) -> None:
        """Follow the tokens of the last layer."""
        behind: list[int] = []
        for config in self._layer:
            if self._steps.effort > EFFORT or len(behind) > WIDEST or not self._follow(config):
                self.ended = True
                break
            for _, to in self.groups[config]:
                if to not in self._known and to != DEAD:
                    self._known.add(to)
                    behind.append(to)
            if config in self._ends and _FINISHED not in self._known:
                self._known.add(_FINISHED)
                behind.append(_FINISHED)
        self._layer = behind
        self.whole = not behind
        self.depth += 1
        self._rest = {}

    def _follow(self, config: int) -> bool:
        """Find the edges of a configuration; False where there are too many steps to look at."""
        if config == _FINISHED or config in self.groups:
            self.groups.setdefault(config, [])
            return True
        start = self._steps.start
        try:
            ids = self._vocabulary.unpack(start._store.mask(config, start._account).row)
            nodes = self._steps.nodes(config)
        except ConstraintError:
            return False
        if nodes is None:
            return False
        self.groups[config] = groups = self._steps.groups(config, ids, nodes)
        self._steps.effort += STEP * len(groups)
        if self._stops and not self._accepts(config) and not any(self._accepts(to) for _, to in groups):
            if self._ends_inside(nodes):
                self._ends.add(config)
        return True

    def _ends_inside(self, nodes: np.ndarray) -> bool:
        """Whether some token goes on behind the end of a value with what may follow it."""
        trie = self._vocabulary.trie
        numbers = np.flatnonzero(np.bincount(nodes))
        ending = [n for n in numbers.tolist() if n and self._accepts(self._steps.config_of(n))]
        for node in np.flatnonzero(np.isin(nodes, ending)).tolist():
            for below in range(node + 1, int(trie.end[node])):
                if trie.ids(below):
                    more = trie.path(below)[int(trie.depth[node]) :]
                    if any(stop.startswith(more) or more.startswith(stop) for stop in self._stops):
                        return True
        return False

    # -- places without a way on ---------------------------------------------------------------------

    def stuck(self) -> bytes | None:
        """The shortest text, in tokens, from which no tokens lead to an end of the value; None where none was
        found. Beyond what was explored an end is taken for possible."""
        texts: dict[int, bytes] = {config: b"" for config in self._before[-1:]}
        layer = list(texts)
        while layer:
            for config in layer:
                if self.rest(config) >= FAR:
                    return texts[config]
            behind = []
            for config in layer:
                for tokens, to in self.groups.get(config, ()):
                    if to not in texts and to != DEAD:
                        written = self._vocabulary.token_bytes[int(tokens[0])] or b""
                        texts[to] = texts[config] + written
                        behind.append(to)
            layer = behind
        return None

    # -- distances to the end ------------------------------------------------------------------------

    def rest(self, config: int) -> int:
        """At least so many tokens are due from a configuration on. 0 for one that was never seen."""
        if not self._rest:
            self._find_rests()
        return self._rest.get(config, 0)

    def _find_rests(self) -> None:
        """Distances to the end, backwards. What lies behind the last layer may end with the next token."""
        before: dict[int, list[int]] = {}
        for config, groups in self.groups.items():
            for _, to in groups:
                before.setdefault(to, []).append(config)
        distance: dict[int, int] = {}
        layers: list[list[int]] = [[], []]
        for config in self._known:
            if self._accepts(config):
                layers[0].append(config)
            elif config in self._ends or config not in self.groups:
                layers[1].append(config)
        size = 0
        while size < len(layers):
            for config in layers[size]:
                if config in distance:
                    continue
                distance[config] = size
                if size + 1 == len(layers):
                    layers.append([])
                layers[size + 1] += before.get(config, ())
            if size + 1 == len(layers) - 1 and not layers[-1]:
                layers.pop()
            size += 1
        self._rest = {config: distance.get(config, FAR) for config in self._known}
        least = min(self._rest[config] for config in self._before)
        self._rest.update(dict.fromkeys(self._before, least))


_FINISHED = -1
"""Stands for the end of a value inside a token."""
