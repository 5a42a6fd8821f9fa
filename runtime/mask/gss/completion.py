"""What follows a configuration: its shortest completion, and the bytes that are the only way on.

Shortest words add up along continuations: the shortest ending of a lexeme, then the rest of each frame. Where
there are lookaheads, a sum may be illegal, since what follows begins with a forbidden character; then it is
still a lower bound, and a best-first search finds a short completion, the shortest where that is not too far.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping

import numpy as np

from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import ACCEPT, DEAD, END
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.gss.machine import MergedContinuation

_LONGEST_FORCED = 1 << 16
"""Bytes of forced text that are looked for: a rule that forces itself has no end."""
_SEARCHES = ((1, 2_000), (2, 2_000), (20, 16_000))
"""How much what is left to write counts against what is written, and how many places are looked at."""

_Link = tuple[int, bytes, int]


def completion(machine: Machine, config: int) -> bytes:
    """A shortest byte string that leads to acceptance, always the same one."""
    found = machine.endings.get(config)
    if found is None:
        found = bound(machine, config)
        if machine.looks_ahead and not _leads_to_end(machine, config, found):
            found = _search(machine, config)
        machine.endings.keep(config, found)
    return found


def bound(machine: Machine, config: int) -> bytes:
    """A byte string as short as any completion; it is one where nothing looks ahead."""
    words = []
    for thread in machine.configs[config]:
        if thread == ACCEPT:
            return b""
        node, state, cont = machine.place(thread)
        words.append(node.shortest_from(machine, state) + rest(machine, cont))
    if not words:
        raise ConstraintError("a dead configuration has no completion")
    return min(words, key=lambda word: (len(word), word))


def _leads_to_end(machine: Machine, config: int, word: bytes) -> bool:
    for byte in word:
        config = machine.step(config, byte)
    return machine.accepts(config)


def _search(machine: Machine, config: int) -> bytes:
    """A short completion: the shortest (Hart, Nilsson and Raphael 1968), else one that is soon found.

    Sums are never too long. Where many of them are too short by a little, the places that seem nearer to an
    end are preferred more and more (weighted search: Pohl 1970).
    """
    for weight, most in _SEARCHES:
        found = _best_first(machine, config, weight, most)
        if found is not None:
            return found
    raise ConstraintError("no short way to complete what looks ahead was found")


def _best_first(machine: Machine, config: int, weight: int, most: int) -> bytes | None:
    """The end that is found first; nothing if more than so many places were looked at."""
    least: dict[int, int] = {}
    heap = [(0, b"", config)]
    seen: set[int] = set()
    while heap and len(seen) <= most:
        _, word, here = heapq.heappop(heap)
        if here in seen:
            continue
        seen.add(here)
        if machine.accepts(here):
            return word
        for byte in np.flatnonzero(machine.row(machine.history_free(here))).tolist():
            after = machine.step(here, byte)
            if after in seen or after == DEAD:
                continue
            size = least.get(after)
            if size is None:
                size = least[after] = len(bound(machine, after))
            heapq.heappush(heap, (len(word) + 1 + weight * size, word + bytes([byte]), after))
    return None


def rest(machine: Machine, cont: int) -> bytes:
    """A shortest byte string from a continuation to acceptance, always the same one."""
    links = machine.rests
    waiting = [cont]
    while waiting:
        here = waiting[-1]
        if here in links:
            waiting.pop()
            continue
        node, state, following = machine.frame(here)
        needs = state if isinstance(node, MergedContinuation) else (following,)
        missing = [each for each in needs if each not in links]
        if missing:
            waiting += missing
        elif isinstance(node, MergedContinuation):
            best = needs[0]
            for each in needs[1:]:
                size, least = links[each][0], links[best][0]
                if size < least or (size == least and _is_smaller(links, each, best)):
                    best = each
            links[here] = (links[best][0], b"", best)
        else:
            word = node.shortest_rest(machine, state)
            links[here] = (len(word) + links[following][0], word, following)
    # Deep texts have as many continuations, so whole words are made only where they are asked for.
    out = []
    while cont != END:
        _, word, cont = links[cont]
        out.append(word)
    return b"".join(out)


def _is_smaller(links: Mapping[int, _Link], one: int, other: int) -> bool:
    """Whether the shortest word from a continuation is smaller than that of another, which is as long."""
    first = second = b""
    while one != other or len(first) != len(second):
        while not first and one != END:
            _, first, one = links[one]
        while not second and other != END:
            _, second, other = links[other]
        size = min(len(first), len(second))
        if not size or first[:size] != second[:size]:
            return first[:size] < second[:size]
        first, second = first[size:], second[size:]
    return first < second


def forced(machine: Machine, config: int) -> bytes:
    """The only way on from a configuration, as far as there is only one and the text may not end."""
    found = machine.forced_runs.get(config)
    if found is None:
        with machine.lock:
            out = bytearray()
            here = config
            while not machine.accepts(here) and here != DEAD and len(out) < _LONGEST_FORCED:
                threads = machine.configs[here]
                if len(threads) == 1:
                    node, state, cont = machine.place(threads[0])
                    run = node.forced_run(state)
                    if run:
                        out += run
                        here = node.behind(machine, state, cont)
                        continue
                legal = np.flatnonzero(machine.first(here))
                if len(legal) != 1:
                    break
                out.append(int(legal[0]))
                here = machine.advance(here, bytes(out[-1:]))
            found = machine.forced_runs.keep(config, bytes(out))
    return found
