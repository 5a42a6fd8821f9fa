"""Masks that are found before a text asks for them: those at the places where texts begin.

The first visit to a place costs most: parts are compiled, lexemes are walked, rows are made. Who has time
before the first text leads a constraint along short texts (`Constraint.warm_up`), while nobody waits for a
token. All that is found is what texts would find; what is not found in time, they find.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from heapq import heappop, heappush
from time import perf_counter

import numpy as np

from sglc.automata.encoding import written
from sglc.kernels.trie.api import UNBOUNDED
from sglc.runtime.mask.automaton.limits import LimitTracker
from sglc.runtime.mask.automaton.protocol import DEAD, FINAL
from sglc.runtime.mask.automaton.step import Group
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.mask_cache import MaskStore
from sglc.runtime.mask.nodes.dispatch import CaseNode
from sglc.runtime.mask.nodes.object import ObjectNode
from sglc.runtime.mask.nodes.text import TextNode
from sglc.runtime.mask.nodes.words import WordNode

_MOST_TEXTS = 16
"""Of so many keys, words, beginnings of a word and texts of one place the ways on are looked at: one place
with a thousand must not take the time of all others."""
_MOST_BYTES = 256
"""Of a longer key or word only the beginning is read; no shortest word is asked for where it is longer."""
_LETTERS = np.array([chr(byte).isalnum() for byte in range(128)] + [True] * 128)


def prepare(store: MaskStore, start: int, account: LimitTracker, seconds: float) -> None:
    """Find masks from a configuration on, for `seconds` at most; what passes a limit ends it."""
    until = perf_counter() + seconds
    try:
        # Parts of a grammar come up wherever its texts go.
        with store.machine.lock:
            store.describe_ahead(start, until - seconds / 2)
        _lead(store, start, account, until)
    except ConstraintError:
        return


def _lead(store: MaskStore, start: int, account: LimitTracker, until: float) -> None:
    """Find masks while there is time: first along the text that takes the first way on everywhere, then where
    ever more ways differ from that (limited discrepancy: Harvey and Ginsberg 1995). Parts that have been met
    before count as another way."""
    waiting = [(0, 0, start, b"")]
    seen = {DEAD, FINAL}
    parts: set[int] = set()
    places: set[tuple[int, Hashable, tuple[int, ...]]] = set()
    count = 0
    while waiting and perf_counter() < until:
        differs, _, before, text = heappop(waiting)
        # Other constraints of the machine have their turn in between.
        with store.machine.lock:
            config = store.advance(before, text, account)
            if config in seen:
                continue
            seen.add(config)
            store.mask(config, account)
            tried: set[bytes] = set()
            ways = -1
            for group in store.machine.groups(config):
                place = group.node.index, group.state, group.conts
                if place in places or len(tried) > _MOST_TEXTS:
                    continue
                places.add(place)
                known = group.node.index in parts
                parts.add(group.node.index)
                for text, part in _texts(store, group):
                    if text not in tried:
                        ways += not part
                        heappush(waiting, (differs + known + max(ways, 0) + part, count, config, text))
                        tried.add(text)
                        count += 1


def _texts(store: MaskStore, group: Group) -> Iterator[tuple[bytes, bool]]:
    """Short texts that a group reads: to the end of the lexeme, and (a part of the text before) to where
    tokens often end."""
    node, state, place = group.node, group.state, group.lexeme
    if group.run:
        yield group.run, False
        if type(node) is ObjectNode and len(group.run) > 1:
            yield group.run[:1], True
    elif type(node) is ObjectNode:
        _, _, key_place, *_ = state
        if key_place == 0:  # behind the quote
            names = node.parts.names
            needed = [names[label] for label in node.required or () if label < len(names)]
            for name in list(dict.fromkeys([*needed, *names]))[:_MOST_TEXTS] or ["a"]:
                key = written(name[:_MOST_BYTES], node.parts.encoding)
                yield key + b'"', False
                yield key, True
    elif isinstance(node, CaseNode | WordNode):
        places = node.rows.places if isinstance(node, CaseNode) else node.table.places
        low, high, read = places[state]
        for word in node.set.words[low : min(high, low + _MOST_TEXTS)]:
            yield word[read : read + _MOST_BYTES], False
    elif place is not None:
        word = b""
        if type(node) is TextNode and place.least <= _MOST_BYTES:
            word = node.shortest_from(store.machine, state)
            yield word, False
        most = UNBOUNDED if place.most is None else place.most
        first = place.table.first(place.state, place.least, most, place.open)
        letters = first & _LETTERS
        yield bytes([int((letters if letters.any() else first).argmax())]), False
        for size in range(2, min(len(word), _MOST_TEXTS)):
            yield word[:size], True
