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
from sglc.automata.analysis.emptiness import shortest_words
from sglc.automata.analysis.term_walker import LIMIT, Place, Walker, apart
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

    A shortest word is tried first, for what may follow a value has mostly been left out of it. Then every
    string of the characters of a text is taken for it: that admits more words and has few pairs, and where it
    has no conflict, the language has none. The exact walk comes last; of long values, its pairs may be too
    many before the first word ends. A grammar is walked exactly at once: its values go on soon, and there are
    far more words of the characters of its texts than of the grammar.
    """
    if not stop:
        return None
    if is_bracketed(language) or not may_write(language, stop[0]):
        return None
    exact = _Junction(Walker(language), stop)
    if language.grammar:
        return exact.conflict()
    if found := exact.behind_shortest(language):
        return found
    wide = _Junction(Walker(language, widen=True), stop)
    found = wide.conflict()
    return exact.conflict() if found and wide.walker.widened else found


class _Junction:
    """The walk through the words of a language whose values a stop text follows."""

    def __init__(self, walker: Walker, stop: str) -> None:
        self.walker = walker
        self.stop = stop
        self.overlaps = [size for size in range(1, len(stop)) if (stop[:size] + stop).startswith(stop)]

    def conflict(self) -> str | None:
        """A word that goes on from a shortest shorter one like the stop text, or None if none was found."""
        seen: set[Place] = set()
        for pair in _pairs(self.walker, self.walker):
            if pair.first is not None or pair.second in seen:
                continue
            seen.add(pair.second)
            if more := self.goes_on(pair.second):
                return pair.text() + more
        return None

    def behind_shortest(self, language: t.Language) -> str | None:
        """As `conflict`, but only from a shortest word of all; no pairs are made."""
        for word in shortest_words(language, 1):
            text = word.decode("utf-8", "replace")
            places = self.walker.after_start(text)
            more = None in places and next(filter(None, map(self.goes_on, places)), None)
            if more:
                return text + more
        return None

    def goes_on(self, place: Place) -> str | None:
        """How a word goes on from an opened place like the stop text; None if none does."""
        endings = [self.walker.ending(after) for after in self.walker.after(place, self.stop)]
        found = [ending for ending in endings if ending is not None]
        if found:
            return self.stop + min(found, key=len)
        for size in self.overlaps:
            if None in self.walker.after(place, self.stop[:size]):
                return self.stop[:size]
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
    """Pairs of positions that one text leads to, each once; not those whose fixed texts differ."""
    seen: set[tuple[Place, Place]] = set()
    entered: set[tuple[Place, Place]] = set()
    queue: list[_Pair] = []

    def enter(after: tuple[Place, Place], before: _Pair | None, low: int, high: int) -> None:
        opened = left.open(after[0]), right.open(after[1])
        work.spend(_STEP + len(opened[0]) * len(opened[1]))
        entered.add(after)
        point = nice_char([(low, high)])
        for both in product(*opened):
            if len(queue) > LIMIT:
                return
            if both not in seen and not apart(*both):
                seen.add(both)
                queue.append(_Pair(*both, before, point))

    enter((left.start(), right.start()), None, 0, 0)
    for pair in queue:
        yield pair
        if len(queue) > LIMIT:
            continue
        work.spend(_PAIR)
        for low, high, after_a in left.steps(pair.first):
            for first, last, after_b in right.sorted_steps(pair.second).meeting(low, high):
                if (after_a, after_b) not in entered:
                    enter((after_a, after_b), pair, max(low, first), min(high, last))
