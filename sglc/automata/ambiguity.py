"""Where two readings of one text meet: words that two languages share, and stops inside a value.

Both questions walk pairs of positions in terms, breadth first over the characters of the text, so that the
first answer is a shortest one. A position is the chain of what is still to be read. Terms are followed exactly
but for two things that are read as more than they are: distinct keys as any keys, and `Except` over anything
but one text as its item. The walk ends after `LIMIT` pairs; then the answer is that nothing was found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sglc.automata import dfa
from sglc.automata.charset import ALL
from sglc.automata.dfa import nice_char
from sglc.automata.encoding import ESCAPED, spelled
from sglc.automata.term import (
    Anything,
    Bytes,
    CharDfa,
    Choice,
    Except,
    Language,
    Nothing,
    Repeat,
    Rule,
    Sequence,
    Text,
    UniqueKeys,
    Words,
)

LIMIT = 20_000

Chain = tuple[Any, ...] | None
"""(what is to be read, the chain behind it); None when the word is complete."""


@dataclass(frozen=True, slots=True)
class _Chars:
    """Characters still to come."""

    text: str


@dataclass(frozen=True, slots=True)
class _InText:
    """A text term after some characters; the count stops mattering where there are no bounds to meet."""

    term: Text
    state: int
    count: int


@dataclass(frozen=True, slots=True)
class _Items:
    term: Repeat
    done: int


def overlap(a: Language, b: Language) -> bytes | None:
    """A shortest text of both languages, or None if none was found."""
    left, right = _Walker(a), _Walker(b)
    for first, second, text in _pairs(left, right):
        if left.may_end(first) and right.may_end(second):
            return text.encode()
    return None


def junction_conflict(language: Language, stop: str) -> str | None:
    """A text of the language that the stop behind it could end too early, or None.

    With some shorter word w: the text begins with w + stop, or it is w + p where p + stop begins with the
    stop (`x<` before `<<`). Then it cannot be told from the text alone where the value ended.
    """
    if not stop:
        return None
    walker = _Walker(language)
    overlaps = [size for size in range(1, len(stop)) if (stop[:size] + stop).startswith(stop)]
    seen: set[tuple[Chain, ...]] = set()
    for first, second, text in _pairs(walker, walker):
        if not walker.may_end(first):
            continue
        # Where many positions belong to one text, each is a second of its own.
        if (second,) in seen:
            continue
        seen.add((second,))
        for position in walker.after(second, stop):
            ending = walker.ending(position)
            if ending is not None:
                return text + stop + ending
        for size in overlaps:
            if any(walker.may_end(position) for position in walker.after(second, stop[:size])):
                return text + stop[:size]
    return None


def _pairs(left: _Walker, right: _Walker) -> Iterator[tuple[Chain, Chain, str]]:
    """Pairs of positions that one text leads to, each once, with a shortest such text."""
    start = (left.start(), right.start())
    seen = set()
    queue: list[tuple[Chain, Chain, int, int]] = []
    for a in left.open(start[0]):
        for b in right.open(start[1]):
            if (a, b) not in seen:
                seen.add((a, b))
                queue.append((a, b, -1, 0))
    for index, (a, b, _, _) in enumerate(queue):
        yield a, b, _text_to(queue, index)
        if len(queue) > LIMIT:
            continue
        for low, high, after_a in left.steps(a):
            for first, last, after_b in right.steps(b):
                begin, end = max(low, first), min(high, last)
                if begin <= end:
                    for next_a in left.open(after_a):
                        for next_b in right.open(after_b):
                            if (next_a, next_b) not in seen:
                                seen.add((next_a, next_b))
                                queue.append((next_a, next_b, index, nice_char([(begin, end)])))


def _text_to(queue: list[tuple[Chain, Chain, int, int]], index: int) -> str:
    out = []
    while index >= 0:
        _, _, before, point = queue[index]
        if before >= 0:
            out.append(chr(point))
        index = before
    return "".join(reversed(out))


class _Walker:
    """Steps through the words of a language, one character of the written text at a time."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.opened: dict[Chain, tuple[Chain, ...]] = {}
        self.endings: dict[Chain, str | None] = {}

    def start(self) -> Chain:
        return (self.language.root, None)

    def open(self, chain: Chain) -> tuple[Chain, ...]:
        """The same position as chains that begin with a character (or are complete), made of no term."""
        if chain not in self.opened:
            found: dict[Chain, None] = {}
            self._open(chain, found, set())
            self.opened[chain] = tuple(found)
        return self.opened[chain]

    def _open(self, chain: Chain, found: dict[Chain, None], seen: set[Chain]) -> None:
        if chain in seen:
            return
        seen.add(chain)
        if chain is None:
            found[None] = None
            return
        head, rest = chain
        for replaced in self._unfold(head, rest):
            if replaced == chain:
                found[chain] = None
            else:
                self._open(replaced, found, seen)

    def _unfold(self, head: Any, rest: Chain) -> Iterator[Chain]:
        """The ways to begin a head; the unchanged chain where a character comes next."""
        match head:
            case Bytes(data):
                yield _literal(data.decode("utf-8", "replace"), rest)
            case _Chars(text):
                yield (head, rest) if text else rest
            case Words(words):
                for word in sorted(words):
                    yield _literal(word.decode("utf-8", "replace"), rest)
            case Text():
                if head.dfa.edges:
                    yield (_InText(head, 0, 0), rest)
            case _InText(term, state, count):
                if state in term.dfa.accepting and count >= term.min_chars:
                    yield rest
                if term.max_chars is None or count < term.max_chars:
                    yield (head, rest)
            case Sequence(items):
                for item in reversed(items):
                    rest = (item, rest)
                yield rest
            case Choice(arms):
                for arm in arms:
                    yield (arm, rest)
            case Rule(name):
                yield (self.language.rules[name], rest)
            case Except(item, words):
                yield (_without(item, words) if isinstance(item, Text) else item, rest)
            case Repeat():
                yield (_Items(head, 0), rest)
            case _Items(term, done):
                if done >= term.minimum:
                    yield rest
                if term.maximum is None or done < term.maximum:
                    more = min(done + 1, term.minimum) if term.maximum is None else done + 1
                    item: Chain = (term.item, (_Items(term, max(more, 1)), rest))
                    yield (Bytes(term.separator), item) if done and term.separator else item
            case UniqueKeys(key, value, low, high):
                entry = Sequence((Bytes(b'"'), key, Bytes(b'": '), value))
                yield (Repeat(entry, low, high, b", "), rest)
            case Anything():
                yield rest
                yield (head, rest)
            case Nothing():
                return
            case _:
                raise TypeError(f"no term: {head!r}")

    def may_end(self, chain: Chain) -> bool:
        """For a chain that `open` gave."""
        return chain is None

    def steps(self, chain: Chain) -> Iterator[tuple[int, int, Chain]]:
        """(low, high, position after) for the characters that may come next; of an opened chain."""
        if chain is None:
            return
        head, rest = chain
        match head:
            case _Chars(text):
                yield ord(text[0]), ord(text[0]), (_Chars(text[1:]), rest)
            case Anything():
                for low, high in ALL:
                    yield low, high, chain
            case _InText(term, state, count):
                bounded = term.max_chars is not None
                for low, high, target in term.dfa.edges[state]:
                    more = count + 1 if bounded else min(count + 1, term.min_chars)
                    after: Chain = (_InText(term, target, more), rest)
                    if term.encoding == "raw":
                        yield low, high, after
                    else:
                        yield from _escaped(low, high, after)

    def after(self, chain: Chain, text: str) -> list[Chain]:
        """Opened positions after a text."""
        current = {chain: None}
        for char in text:
            point = ord(char)
            current = {
                opened: None
                for position in current
                for low, high, target in self.steps(position)
                if low <= point <= high
                for opened in self.open(target)
            }
        return list(current)

    def ending(self, chain: Chain) -> str | None:
        """A shortest text that completes an opened position, None if there is none."""
        if chain not in self.endings:
            self.endings[chain] = self._ending(chain)
        return self.endings[chain]

    def _ending(self, chain: Chain) -> str | None:
        queue = [(chain, "")]
        seen = {chain}
        for position, text in queue:
            if position is None:
                return text
            if len(queue) > LIMIT:
                return None
            for low, high, target in self.steps(position):
                for opened in self.open(target):
                    if opened not in seen:
                        seen.add(opened)
                        queue.append((opened, text + chr(nice_char([(low, high)]))))
        return None


def _literal(text: str, rest: Chain) -> Chain:
    return (_Chars(text), rest) if text else rest


def _escaped(low: int, high: int, after: Chain) -> Iterator[tuple[int, int, Chain]]:
    """An edge over characters as one over what is written of them inside a JSON string."""
    begin = low
    for point in sorted(point for point in ESCAPED if low <= point <= high):
        if begin < point:
            yield begin, point - 1, after
        begin = point + 1
        text = spelled(point, True)
        yield ord(text[0]), ord(text[0]), (_Chars(text[1:]), after)
    if begin <= high:
        yield begin, high, after


@lru_cache(maxsize=256)
def _without(term: Text, words: frozenset[bytes]) -> Text:
    """A raw text term without some words; as it is if it is encoded."""
    if term.encoding != "raw":
        return term
    texts = [word.decode("utf-8", "replace") for word in words]
    rest: CharDfa = dfa.difference(term.dfa, dfa.words(texts))
    return Text(rest, term.encoding, term.min_chars, term.max_chars)
