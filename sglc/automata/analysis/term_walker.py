"""Walks through the words of a language, one character of the written text at a time.

A position is the chain of what is still to be read. Two things are over-approximated: distinct keys are
read as any keys, and `Except` over anything but one text as its item.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from typing import TypeVar, cast

from sglc.automata import term as t
from sglc.automata import work
from sglc.automata.analysis.membership_entries import ItemChoices, KeyChoices
from sglc.automata.analysis.positions import Chars, InListed, InPattern, InSpan, InText, Items, Parts, Units
from sglc.automata.analysis.shortest_words import entry, separated
from sglc.automata.charset import ALL, ranges
from sglc.automata.dfa import operations as dfa
from sglc.automata.dfa import trie as word_trie
from sglc.automata.dfa.operations import nice_char
from sglc.automata.encoding import ESCAPED, Digits, short_escapes, spelled, unit_escapes
from sglc.automata.json.unit_propagation import bits_of

LIMIT = 20_000
"""Pairs of places, or places of one text, that are looked at; beyond, nothing has been found."""

_STEP, _PLACE = 2, 3
"""Units of work that a step and a place take."""
_LOOKED_AT = 20
"""Steps that are looked at in one unit."""
M = TypeVar("M")


class _Place:
    """A position in a word: what is to be read, and the position behind it. Hash-consed in a walker."""

    __slots__ = ("head", "opened", "rest", "sorted", "steps")

    def __init__(self, head: object, rest: _Place | None) -> None:
        self.head = head
        self.rest = rest
        self.opened: tuple[_Place | None, ...] | None = None
        self.steps: list[Step] | None = None
        self.sorted: _SortedSteps | None = None


Place = _Place | None
"""None when the word is complete."""
Step = tuple[int, int, Place]
"""The lowest and highest character, and the place after."""


class _SortedSteps:
    """The steps from a place, found by characters: those by one character are told from those by a range."""

    def __init__(self, steps: list[Step]) -> None:
        self.steps = steps
        self.single: dict[int, list[int]] = {}
        self.wide: list[int] = []
        for index, (low, high, _) in enumerate(steps):
            if low == high:
                self.single.setdefault(low, []).append(index)
            else:
                self.wide.append(index)
        self.points = sorted(self.single)

    def meeting(self, low: int, high: int) -> list[Step]:
        """The steps by characters from `low` to `high`, in their order."""
        work.spend(1 + len(self.wide) // _LOOKED_AT)
        found = [i for i in self.wide if self.steps[i][0] <= high and low <= self.steps[i][1]]
        if low == high:
            found += self.single.get(low, ())
        else:
            for point in self.points[bisect_left(self.points, low) : bisect_right(self.points, high)]:
                found += self.single[point]
        found.sort()
        return [self.steps[i] for i in found]


class Walker:
    """Steps through the words of a language, one character of the written text at a time.

    Terms are told apart by identity, which is exact enough: equal terms at different places only make more
    places. `made` holds what is made on the way, so that no identity is used twice. With `widen`, every
    string of the characters of a text stands for it, and `widened` says whether there was such a text.
    """

    def __init__(self, language: t.Language, *, widen: bool = False) -> None:
        self.language = language
        self.widen = widen
        self.widened = False
        self.places: dict[tuple[object, ...], _Place] = {}
        self.made: dict[tuple[object, ...], object] = {}
        self.endings: dict[Place, str | None] = {}

    def start(self) -> Place:
        """The place before the first character of the root."""
        return self.place(self.language.root, None)

    def place(self, head: object, rest: Place) -> Place:
        """The place where `head` comes next and `rest` follows; equal ones are the same object."""
        match head:
            case Chars(text):
                if not text:
                    return rest
                key: tuple[object, ...] = (text, id(rest))
            case Units(sets):
                if not sets:
                    return rest
                key = (sets, id(rest))
            case InSpan(term, ends, count):
                key = (id(term), ends, count, id(rest))
            case InPattern(term, state):
                key = (id(term), state, id(rest), 2)
            case InListed(term, _, at):
                key = (id(term), at, id(rest), 3)
            case InText() | Items() | Parts():
                key = (id(head), id(rest), 1)
            case _:
                key = (id(head), id(rest))
        found = self.places.get(key)
        if found is None:
            found = self.places[key] = _Place(head, rest)
        return found

    def make(self, key: tuple[object, ...], build: Callable[[], M]) -> M:
        """What `build` makes, once for each key."""
        if key not in self.made:
            self.made[key] = build()
        return cast(M, self.made[key])

    def in_text(self, term: t.Text, state: int, count: int) -> InText:
        """Inside a text, in a state after `count` characters; more than matter are not told apart."""
        if term.max_chars is None:
            count = min(count, term.min_chars)
        return self.make((id(term), state, count), lambda: InText(term, state, count))

    def items(self, term: t.Repeat, done: int) -> Items:
        """Inside a repetition after `done` items; more than matter are not told apart."""
        if term.maximum is None:
            done = min(done, max(term.minimum, 1))
        return self.make((id(term), done), lambda: Items(term, done))

    def array(self, term: t.Array) -> Parts:
        """Before the first item of an array."""
        return self.make((id(term), "parts"), lambda: Parts(term, ItemChoices(term), 0, False))

    def object(self, term: t.Object) -> Parts:
        """Before the first entry of an object."""
        return self.make((id(term), "parts"), lambda: Parts(term, KeyChoices(term), 0, False))

    def behind(self, parts: Parts, state: int) -> Parts:
        """Behind an item or entry that led to a state."""
        key = (id(parts.term), "parts", state)
        return self.make(key, lambda: Parts(parts.term, parts.choices, state, True))

    def items_of(self, parts: Parts, rest: Place) -> Iterator[Place]:
        """The places at which an array or object may go on, and `rest` if it may end."""
        choices, state = parts.choices, parts.state
        if choices.may_end(state):
            yield rest
        found = choices.options(state) if isinstance(choices, ItemChoices) else self.entries(parts, choices)
        for term, after in found:
            item = self.place(term, self.place(self.behind(parts, after), rest))
            yield self.place(parts.term.comma, item) if parts.begun else item

    def entries(self, parts: Parts, choices: KeyChoices) -> Iterator[tuple[t.Term, int]]:
        """(an entry with its key, the state behind it) of those that may come next in an object."""
        term, states = parts.term, choices.states
        assert isinstance(term, t.Object)
        keyed: list[t.Property | t.Family] = [*term.properties, *term.families]
        for outcome, bits in states.profile(parts.state):
            for label in bits_of(bits):
                part = keyed[label]
                key = dfa.literal(part.name) if isinstance(part, t.Property) else part.keys
                for option, _, _ in outcome:
                    value = choices.terms[label][option]
                    whole = entry(t.Text(key, term.encoding), term.colon, value)
                    kept = self.make((id(term), "entry", label, option), lambda whole=whole: whole)  # type: ignore[misc]
                    yield kept, states.advance(parts.state, label, option)

    def open(self, place: Place) -> tuple[Place, ...]:
        """The same position as places where a character comes next, or None where the word may end."""
        if place is None:
            return (None,)
        if place.opened is None:
            found: dict[Place, None] = {}
            stack: list[Place] = [place]
            seen: set[Place] = set()
            while stack:
                here = stack.pop()
                if here in seen:
                    continue
                seen.add(here)
                if here is None:
                    found[None] = None
                    continue
                for replaced in self.unfold(here):
                    if replaced is here:
                        found[here] = None
                    else:
                        stack.append(replaced)
            place.opened = tuple(found)
            work.spend(_PLACE * len(seen))
        return place.opened

    def unfold(self, place: _Place) -> Iterator[Place]:
        """The ways to begin a place; itself where a character comes next."""
        head, rest = place.head, place.rest
        match head:
            case Chars() | Units():
                yield place
            case t.Array():
                yield self.place(self.array(head), rest)
            case t.Object():
                yield self.place(self.object(separated(head)), rest)
            case Parts():
                yield from self.items_of(head, rest)
            case t.Span():
                if head.max_chars is None or head.min_chars <= head.max_chars:
                    yield self.place(InSpan(head, tuple(range(len(head.text) + 1)), 0), rest)
            case InSpan(term, _, count):
                if count >= term.min_chars:
                    yield rest
                if term.max_chars is None or count < term.max_chars:
                    yield place
            case t.Pattern(nfa):
                for state in nfa.groups[0]:
                    yield self.place(InPattern(head, state), rest)
            case InPattern(term, state):
                if state in term.nfa.accepting:
                    yield rest
                yield place
            case t.Bytes(data):
                yield self.place(Chars(data.decode("utf-8", "replace")), rest)
            case t.Words(words):
                texts = frozenset(word.decode("utf-8", "replace") for word in words)
                yield self.place(self.make((id(head), "texts"), lambda: t.Listed(texts)), rest)
            case t.Listed(texts):
                words = self.make((id(head), "sorted"), lambda: sorted(texts))
                yield self.place(InListed(head, words, (0, len(words), 0)), rest)
            case InListed(_, words, at):
                if word_trie.ends(words, at):
                    yield rest
                yield place
            case t.Text():
                if head.dfa.edges:
                    text = self.make((id(head), "wide"), lambda: _wide(head)) if self.widen else head
                    self.widened = self.widened or text is not head
                    yield self.place(self.in_text(text, 0, 0), rest)
            case InText(term, state, count):
                if state in term.dfa.accepting and count >= term.min_chars:
                    yield rest
                if term.max_chars is None or count < term.max_chars:
                    yield place
            case t.Sequence(parts):
                for part in reversed(parts):
                    rest = self.place(part, rest)
                yield rest
            case t.Choice(arms):
                for arm in arms:
                    yield self.place(arm, rest)
            case t.Rule(name):
                yield self.place(self.language.rules[name], rest)
            case t.Except(item, words):
                if isinstance(item, t.Text):
                    text = item
                    item = self.make((id(head), "without"), lambda: _without(text, words))
                yield self.place(item, rest)
            case t.Repeat():
                yield self.place(self.items(head, 0), rest)
            case Items(term, done):
                if done >= term.minimum:
                    yield rest
                if term.maximum is None or done < term.maximum:
                    behind = self.place(self.items(term, done + 1), rest)
                    item_place = self.place(term.item, behind)
                    separator = term.separator.decode("utf-8", "replace") if done else ""
                    yield self.place(Chars(separator), item_place)
            case t.Anything():
                yield rest
                yield place
            case t.NotBefore():
                # Left out of account: texts may then seem to overlap that do not, never the reverse.
                yield rest
            case t.Nothing():
                return
            case _:
                raise TypeError(f"no term: {head!r}")

    def steps(self, place: Place) -> list[Step]:
        """(low, high, place after) for the characters that may come next; of an opened place."""
        if place is None:
            return []
        if place.steps is None:
            place.steps = list(self._steps(place))
            work.spend(_STEP * len(place.steps))
        return place.steps

    def sorted_steps(self, place: Place) -> _SortedSteps:
        """The steps of a place in the order of their characters, sorted once."""
        if place is None:
            return _SortedSteps([])
        if place.sorted is None:
            place.sorted = _SortedSteps(self.steps(place))
        return place.sorted

    def _steps(self, place: _Place) -> Iterator[tuple[int, int, Place]]:
        head, rest = place.head, place.rest
        match head:
            case Chars(text):
                yield ord(text[0]), ord(text[0]), self.place(Chars(text[1:]), rest)
            case t.Anything():
                for low, high in ALL:
                    yield low, high, place
            case InText(term, state, count):
                for low, high, target in term.dfa.edges[state]:
                    after = self.place(self.in_text(term, target, count + 1), rest)
                    yield from self.written(low, high, term.encoding, after)
            case InListed(term, words, at):
                for char, below in word_trie.children(words, at).items():
                    after = self.place(InListed(term, words, below), rest)
                    yield from self.written(ord(char), ord(char), term.encoding, after)
            case InPattern(term, state):
                for low, high, group in term.nfa.edges[state]:
                    for target in term.nfa.groups[group]:
                        after = self.place(InPattern(term, target), rest)
                        yield from self.written(low, high, term.encoding, after)
            case InSpan(term, ends, count):
                by_char: dict[str, list[int]] = {}
                for end in ends:
                    if end < len(term.text):
                        by_char.setdefault(term.text[end], []).append(end + 1)
                for char, places in sorted(by_char.items()):
                    after = self.place(InSpan(term, tuple(places), self.counted(term, count + 1)), rest)
                    yield from self.written(ord(char), ord(char), term.encoding, after)
            case Units(sets):
                for low, high in sets[0]:
                    yield low, high, self.place(Units(sets[1:]), rest)

    @staticmethod
    def counted(term: t.Span, count: int) -> int:
        """A count of characters as far as the bounds of the span tell counts apart."""
        return min(count, term.min_chars) if term.max_chars is None else count

    def written(self, low: int, high: int, encoding: str, after: Place) -> Iterator[tuple[int, int, Place]]:
        """An edge over characters as edges over what is written of them."""
        if encoding == "raw":
            yield low, high, after
            return
        begin = low
        for point in sorted(point for point in ESCAPED if low <= point <= high):
            if begin < point:
                yield begin, point - 1, after
            begin = point + 1
            if encoding == "json":
                text = spelled(point, True)
                yield ord(text[0]), ord(text[0]), self.place(Chars(text[1:]), after)
        if begin <= high:
            yield begin, high, after
        if encoding == "json-any":
            for _, text in short_escapes(low, high):
                yield ord(text[0]), ord(text[0]), self.place(Chars(text[1:]), after)
            for units in unit_escapes(low, high):
                sets = [
                    part for unit in units for part in (((92, 92),), ((117, 117),), *map(_hexadecimal, unit))
                ]
                yield 92, 92, self.place(Units(tuple(sets[1:])), after)

    def after_start(self, text: str) -> list[Place]:
        """Opened places after a text that begins a word."""
        return self._after(self.open(self.start()), text)

    def after(self, place: Place, text: str) -> list[Place]:
        """Opened places after a text that goes on from an opened place."""
        return self._after((place,), text)

    def _after(self, places: tuple[Place, ...], text: str) -> list[Place]:
        current = dict.fromkeys(places)
        for char in text:
            point = ord(char)
            work.spend(sum([1 + len(self.steps(position)) // _LOOKED_AT for position in current]))
            current = {
                opened: None
                for position in current
                for low, high, target in self.steps(position)
                if low <= point <= high
                for opened in self.open(target)
            }
        return list(current)

    def ending(self, place: Place) -> str | None:
        """A shortest text that completes an opened place, None if there is none."""
        if place not in self.endings:
            self.endings[place] = self._ending(place)
        return self.endings[place]

    def _ending(self, place: Place) -> str | None:
        queue = [(place, "")]
        seen = {place}
        for position, text in queue:
            if position is None:
                return text
            if len(queue) > LIMIT:
                return None
            work.spend(1 + len(self.steps(position)))
            for low, high, target in self.steps(position):
                for opened in self.open(target):
                    if opened not in seen:
                        seen.add(opened)
                        queue.append((opened, text + chr(nice_char([(low, high)]))))
        return None


def apart(one: Place, other: Place) -> bool:
    """Whether fixed texts follow that differ, as two escapes do: no text leads on from both."""
    if one is None or other is None or not (isinstance(one.head, Chars) and isinstance(other.head, Chars)):
        return False
    size = min(len(one.head.text), len(other.head.text))
    return one.head.text[:size] != other.head.text[:size]


def _hexadecimal(digits: Digits) -> tuple[tuple[int, int], ...]:
    """The characters of a range of digits."""
    low, high = digits
    found = [(0x30 + low, 0x30 + min(high, 9))] if low <= 9 else []
    if high >= 10:
        low = max(low, 10) - 10
        found += [(0x41 + low, 0x41 + high - 10), (0x61 + low, 0x61 + high - 10)]
    return tuple(found)


def _wide(term: t.Text) -> t.Text:
    """All strings of the characters of a text term; the term itself if it has no others."""
    these = ranges((low, high) for edges in term.dfa.edges for low, high, _ in edges)
    wide = dfa.all_words(these)
    same = term.dfa == wide and not term.min_chars and term.max_chars is None
    return term if same else t.Text(wide, term.encoding)


def _without(term: t.Text, words: frozenset[bytes]) -> t.Text:
    """A raw text term without some words; as it is if it is encoded."""
    if term.encoding != "raw":
        return term
    texts = [word.decode("utf-8", "replace") for word in words]
    rest: t.CharDfa = dfa.difference(term.dfa, dfa.words(texts))
    return t.Text(rest, term.encoding, term.min_chars, term.max_chars)
