"""Membership: whether a text is a word of a language.

A top-down recogniser with a table of the ends of each term from each position (packrat parsing with all ends
instead of one; Frost, Hafiz and Callaghan 2007, for grammars without left recursion, which terms do not
have). It runs on an explicit stack, so nesting is bounded by memory only, and it counts its work. In JSON the
end of a part is nearly always unique, so JSON texts take linear time. Terms must consist of whole characters:
bytes that are none match nothing.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping

from sglc.automata import term as t
from sglc.automata.analysis.membership_entries import ItemChoices, KeyChoices
from sglc.automata.analysis.membership_text import pattern_ends, string_at, text_ends
from sglc.automata.json.text import Value, canonical

MAX_WORK = 5_000_000
"""Steps: characters read by automata, terms tried at places."""
MAX_STATES = 50_000
"""States of objects that are kept from one text to the next."""

Ends = frozenset[int]
_NONE: Ends = frozenset()
_Run = Generator[tuple[t.Term, int], Ends, Ends]
_Spot = tuple[int, int, frozenset[Value]]
"""(place, state of an array, values that must not come again)."""
_Keys = frozenset[str]
_Spots = dict[tuple[int, int], _Keys]
"""(place, state of an array or object) to the keys that must not come again."""


class MembershipLimit(Exception):
    """The text needs more work than is allowed."""


class Membership:
    """Decides about texts of one language; what is known of its arrays and objects is kept between them."""

    def __init__(self, language: t.Language) -> None:
        self.language = language
        self.choices: dict[int, ItemChoices | KeyChoices] = {}
        self.sizes: dict[int, frozenset[int]] = {}

    def fault(self, text: str) -> tuple[int, bool] | None:
        """How far the text can be read, None if it is a word: a place, and whether a text that is begun
        there cannot end yet. Raises MembershipLimit.
        """
        if sum(choices.size() for choices in self.choices.values()) > MAX_STATES:
            self.choices.clear()
        recogniser = Recogniser(self, text)
        if len(text) in recogniser.ends(self.language.root, 0):
            return None
        place, begun = divmod(recogniser.furthest, 2)
        return min(place, len(text)), bool(begun)

    def orders(self, text: str) -> dict[int, Mapping[str, int]] | None:
        """The properties, with their numbers, of the objects of a word by where their insides begin.

        None if the text is no word. Where one text is an object in several ways, one of them is taken.
        """
        recogniser = Recogniser(self, text)
        whole = len(text) in recogniser.ends(self.language.root, 0)
        return recogniser.orders if whole else None


def is_word(language: t.Language, text: str) -> bool:
    """Raises MembershipLimit."""
    return Membership(language).fault(text) is None


class Recogniser:
    """The work on one text; `work` counts its steps."""

    def __init__(self, membership: Membership, text: str) -> None:
        self.membership = membership
        self.rules = membership.language.rules
        self.choices = membership.choices
        self.text = text
        self.known: dict[tuple[int, int], Ends] = {}
        self.work = 0
        self.furthest = 0
        """Twice the place where no term could go on, one more where a text could not end there either."""
        self.orders: dict[int, Mapping[str, int]] = {}
        self.kept: dict[t.Bytes, t.Bytes] = {}

    def ends(self, root: t.Term, start: int) -> Ends:
        """All places where a match of the term from `start` can end."""
        stack: list[tuple[tuple[int, int], _Run]] = []
        answer: Ends | None = None
        asked: tuple[t.Term, int] | None = (root, start)
        while True:
            if asked is not None:
                term, at = asked
                self.count(1)
                key = (id(term), at)
                answer = self.known.get(key)
                if answer is None:
                    answer = self.leaf(term, at)
                    if answer is None:
                        stack.append((key, self.run(term, at)))
                    else:
                        self.known[key] = answer
            if not stack:
                assert answer is not None
                return answer
            key, run = stack[-1]
            try:
                asked = run.send(answer) if answer is not None else next(run)
                answer = None
            except StopIteration as done:
                stack.pop()
                answer = self.known[key] = done.value
                asked = None

    def count(self, steps: int) -> None:
        """Adds steps to the work. Raises MembershipLimit above MAX_WORK."""
        self.work += steps
        if self.work > MAX_WORK:
            raise MembershipLimit(f"more than {MAX_WORK} steps are needed")

    # Terms without parts.

    def leaf(self, term: t.Term, at: int) -> Ends | None:
        """Of terms without parts; None for others."""
        text = self.text
        match term:
            case t.Bytes(data):
                return self.literal(data, at)
            case t.Text() | t.Pattern():
                read = text_ends(term, text, at) if isinstance(term, t.Text) else pattern_ends(term, text, at)
                ends, reached, steps = read
                self.count(steps)
                open_ = not ends or ends[-1] != reached
                self.furthest = max(self.furthest, 2 * reached + open_)
                return frozenset(ends)
            case t.Words(words):
                found = frozenset(end for word in words for end in self.literal(word, at))
                self.count(len(words))
                return found
            case t.NotBefore(forbidden):
                code = ord(text[at]) if at < len(text) else -1
                return _NONE if any(low <= code <= high for low, high in forbidden) else frozenset((at,))
            case t.Nothing():
                return _NONE
            case t.Anything():
                return frozenset(range(at, len(text) + 1))
            case t.Listed():
                return self.listed(term, at)
            case t.Span():
                return self.span(term, at)
        return None

    def literal(self, data: bytes, at: int) -> Ends:
        """Where the bytes end if they stand at a place; none otherwise."""
        word = _chars(data)
        if self.text.startswith(word, at):
            return frozenset((at + len(word),))
        self.furthest = max(self.furthest, 2 * at)
        return _NONE

    def listed(self, term: t.Listed, at: int) -> Ends:
        """Texts of a list that stand here: what is read is looked up at the lengths that there are."""
        sizes = self.membership.sizes.get(id(term))
        if sizes is None:
            sizes = self.membership.sizes[id(term)] = frozenset(map(len, term.texts))
        most = max(sizes, default=-1)
        found = {at} if "" in term.texts else set()
        read, here = "", at
        while len(read) < most and (step := string_at(self.text, here, term.encoding)) is not None:
            char, here = step
            read += char
            if len(read) in sizes and read in term.texts:
                found.add(here)
        self.count(len(read))
        if not found:
            self.furthest = max(self.furthest, 2 * at)
        return frozenset(found)

    def span(self, term: t.Span, at: int) -> Ends:
        """Pieces of a text that stand here."""
        text = self.text
        found: set[int] = set()
        ends = list(range(len(term.text) + 1))
        size, here = 0, at
        while ends:
            if size >= term.min_chars:
                found.add(here)
            if size == term.max_chars:
                break
            read = string_at(text, here, term.encoding)
            self.count(len(ends))
            if read is None:
                break
            char, here = read
            ends = [end + 1 for end in ends if term.text.startswith(char, end)]
            size += 1
        return frozenset(found)

    # Terms with parts.

    def run(self, term: t.Term, at: int) -> _Run:
        """Where a term may end that begins at `at`. Yields (term, place) to ask for its parts."""
        match term:
            case t.Rule(name):
                return (yield self.rules[name], at)
            case t.Sequence(items):
                places: Ends = frozenset((at,))
                for item in items:
                    places = yield from self.onward(item, places)
                    if not places:
                        break
                return places
            case t.Choice(arms):
                ends: set[int] = set()
                for arm in arms:
                    ends |= yield arm, at
                return frozenset(ends)
            case t.Repeat():
                return (yield from self.repeated(term, at))
            case t.Except(item, words):
                forbidden = {at + len(w) for w in map(_chars, words) if self.text.startswith(w, at)}
                return frozenset((yield item, at)) - forbidden
            case t.Array():
                return (yield from self.items(term, at))
            case t.Object():
                return (yield from self.entries(term, at))
        raise TypeError(f"{type(term).__name__} cannot be recognised")

    def onward(self, item: t.Term, places: Ends) -> _Run:
        """Where an item may end that begins at any of the places."""
        if len(places) > 1 and isinstance(item, t.Bytes):  # the quote behind any of the ends of a text
            self.count(len(places))
            word = _chars(item.data)
            found = frozenset(at + len(word) for at in places if self.text.startswith(word, at))
            if not found:
                self.furthest = max(self.furthest, 2 * max(places))
            return found
        ends: set[int] = set()
        for place in places:
            ends |= yield item, place
        return frozenset(ends)

    def repeated(self, term: t.Repeat, at: int) -> _Run:
        """Where a repetition may end that begins at a place."""
        parting = self.keep(t.Bytes(term.separator))
        ends: set[int] = set()
        places: Ends = frozenset((at,))
        if term.minimum == 0:
            ends.add(at)
        done = 0
        seen: set[int] = set()
        while places and (term.maximum is None or done < term.maximum):
            if done and term.separator:
                places = yield from self.onward(parting, places)
            places = yield from self.onward(term.item, places)
            done += 1
            if done >= term.minimum:
                if term.maximum is None:
                    places = places - seen
                    seen |= places
                ends |= places
            self.count(1)
        return frozenset(ends)

    def items(self, term: t.Array, at: int) -> _Run:
        """The inside of an array: places with the states of the array there."""
        choices = self.choices.get(id(term))
        if choices is None:
            choices = self.choices[id(term)] = ItemChoices(term)
        assert isinstance(choices, ItemChoices)
        ends: set[int] = set()
        spots: set[_Spot] = {(at, 0, frozenset())}
        seen: set[_Spot] = set()
        begun = False
        while spots:
            ends.update(place for place, state, _ in spots if choices.may_end(state))
            following: set[_Spot] = set()
            for place, state, used in spots:
                starts = (yield term.comma, place) if begun else frozenset((place,))
                for option, after in choices.options(state):
                    for start in starts:
                        for end in (yield option, start):
                            value = canonical(self.text[start:end]) if term.distinct else None
                            if value is None:
                                following.add((end, after, used))
                            elif value not in used:
                                following.add((end, after, used | {value}))
            begun = True
            spots = following - seen
            seen |= spots
            self.count(1)
        return frozenset(ends)

    def entries(self, term: t.Object, at: int) -> _Run:
        """The inside of an object: places with the states of the object there."""
        choices = self.choices.get(id(term))
        if choices is None:
            choices = self.choices[id(term)] = KeyChoices(term)
        assert isinstance(choices, KeyChoices)
        ends: set[int] = set()
        spots: _Spots = {(at, 0): frozenset()}
        seen: set[tuple[int, int]] = set()
        begun = False
        while spots:
            ends.update(place for place, state in spots if choices.may_end(state))
            following: _Spots = {}
            for (place, state), taken in spots.items():
                starts = (yield term.comma, place) if begun else frozenset((place,))
                for start in starts:
                    read = self.key(start, choices)
                    if read is None:
                        continue
                    key, behind = read
                    again = key in taken
                    keys = taken | {key} if choices.distinct else taken
                    for value, after in choices.options(state, key, again):
                        self.furthest = max(self.furthest, 2 * behind)
                        for colon in (yield term.colon, behind):
                            for end in (yield value, colon):
                                following.setdefault((end, after), keys)
            begun = True
            spots = {spot: keys for spot, keys in following.items() if spot not in seen}
            seen.update(spots)
            self.count(1 + len(spots))
        if ends:
            self.orders.setdefault(at, choices.numbers)
        return frozenset(ends)

    def key(self, start: int, choices: KeyChoices) -> tuple[str, int] | None:
        """The key that is written here, and the place behind it."""
        self.furthest = max(self.furthest, 2 * start)
        if not self.text.startswith('"', start):
            return None
        chars: list[str] = []
        at = start + 1
        while (read := string_at(self.text, at, choices.encoding)) is not None:
            char, at = read
            chars.append(char)
        self.count(len(chars))
        return ("".join(chars), at + 1) if self.text.startswith('"', at) else None

    def keep(self, term: t.Bytes) -> t.Bytes:
        """Terms are told apart by identity, so those made here must stay alive."""
        return self.kept.setdefault(term, term)


def _chars(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
