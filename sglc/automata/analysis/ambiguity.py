"""Ambiguity: words that two languages share, and stop texts inside a value.

Both searches walk pairs of positions in terms, breadth first over the characters of the text, so that the
first answer is a shortest one. What they take for a word is said in `term_walker`. A walk ends after `LIMIT`
pairs; the answer is then that nothing was found.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from sglc.automata import term as t
from sglc.automata import work
from sglc.automata.alphabet import may_write
from sglc.automata.analysis.bracket_balance import is_bracketed
from sglc.automata.analysis.term_walker import LIMIT, Place, Walker
from sglc.automata.dfa.operations import nice_char

_PAIR, _STEP = 2, 2
"""Units of work that a pair and a step take."""


def overlap(a: t.Language, b: t.Language) -> bytes | None:
    """A shortest text of both languages, or None if none was found."""
    left, right = Walker(a), Walker(b)
    for pair in _pairs(left, right):
        if pair.first is None and pair.second is None:
            return pair.text().encode()
    return None


def junction_conflict(language: t.Language, stop: str) -> str | None:
    """A text of the language that the stop behind it could end too early, or None.

    With some shorter word w: the text begins with w + stop, or it is w + p where p + stop begins with the
    stop (`x<` before `<<`). Then it cannot be told from the text alone where the value ended.
    """
    if not stop:
        return None
    if is_bracketed(language) or not may_write(language, stop[0]):
        return None
    walker = Walker(language)
    overlaps = [size for size in range(1, len(stop)) if (stop[:size] + stop).startswith(stop)]
    seen: set[Place] = set()
    for pair in _pairs(walker, walker):
        second = pair.second
        if pair.first is not None or second in seen:
            continue
        seen.add(second)
        endings = [walker.ending(place) for place in walker.after(second, stop)]
        found = [ending for ending in endings if ending is not None]
        if found:
            return pair.text() + stop + min(found, key=len)
        for size in overlaps:
            if None in walker.after(second, stop[:size]):
                return pair.text() + stop[:size]
    return None


class _Pair:
    """Two positions that one text leads to: by the character `point` from the pair `before`."""

    __slots__ = ("before", "first", "point", "second")

    def __init__(self, first: Place, second: Place, before: _Pair | None, point: int) -> None:
        self.first = first
        self.second = second
        self.before = before
        self.point = point

    def text(self) -> str:
        """A shortest text that leads here; takes as long as the text."""
        out = []
        pair = self
        while pair.before is not None:
            out.append(chr(pair.point))
            pair = pair.before
        return "".join(reversed(out))


def _pairs(left: Walker, right: Walker) -> Iterator[_Pair]:
    """Pairs of positions that one text leads to, each once."""
    seen = set()
    queue: list[_Pair] = []
    for both in product(left.open(left.start()), right.open(right.start())):
        if both not in seen:
            seen.add(both)
            queue.append(_Pair(*both, None, 0))
        if len(queue) > LIMIT:
            break
    for pair in queue:
        yield pair
        if len(queue) > LIMIT:
            continue
        work.spend(_PAIR)
        for low, high, after_a in left.steps(pair.first):
            for first, last, after_b in right.sorted_steps(pair.second).meeting(low, high):
                point = nice_char([(max(low, first), min(high, last))])
                opened = left.open(after_a), right.open(after_b)
                work.spend(_STEP + len(opened[0]) * len(opened[1]))
                for both in product(*opened):
                    if both not in seen:
                        seen.add(both)
                        queue.append(_Pair(*both, pair, point))
