"""The shortest words of arrays, objects, lists and spans, and whether they have finitely many."""

from __future__ import annotations

import heapq
import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from operator import itemgetter
from typing import TypeVar

from sglc.automata import term as t
from sglc.automata.caches import remembered, small_cache
from sglc.automata.dfa import operations as dfa
from sglc.automata.encoding import encoded, spellings, written
from sglc.automata.graphs import reached
from sglc.automata.json.array_states import ArrayStates
from sglc.automata.json.counters import Counts
from sglc.automata.json.object_plans import cheapest_entries
from sglc.automata.json.object_states import Label, ObjectStates
from sglc.automata.json.text import Value, canonical

Words = tuple[bytes, ...]
Best = Callable[[t.Term, int], Words]
"""The so many shortest words of a term, shortest first; fewer only if there are fewer."""

State = TypeVar("State", bound=Hashable)
_Spot = tuple[int, frozenset[str], bool]
"""(state of an object, keys of families that must not come again, whether there is an entry)."""

_ItemSpot = tuple[int, frozenset[Value], bool]
"""(state of an array, values that must not come again, whether there is an item)."""

_MOST_EXPANDED = 100_000
"""Beginnings of one array or object that are gone on with, where its values must differ."""
_MOST_ASKED = 1_000
"""Words of an item among which new values are looked for."""


def words_of(term: t.Array | t.Object | t.Listed | t.Span, best: Best, count: int) -> Words:
    """The `count` shortest words of a term; `best` tells those of its parts."""
    match term:
        case t.Array():
            return array_words(term, best, count)
        case t.Object():
            return object_words(term, best, count)
        case t.Listed():
            return listed_words(term, count)
        case t.Span():
            return span_words(term, count)


def array_words(term: t.Array, best: Best, count: int) -> Words:
    """The `count` shortest words of an array."""
    if max([term.minimum, *[counter.minimum for counter in term.counters]]) > dfa.MOST_ENTRIES:
        raise dfa.TooLong
    nodes = _Places(term, best, count)
    states = nodes.states
    if not states.feasible(0):
        return ()
    rests: dict[int, int] = {}

    def rest(state: int) -> int:
        if state not in rests:
            found = states.cheapest(
                state, 0, lambda place, option: len(nodes.words[place][option][0]) + between
            )
            assert found is not None
            rests[state] = found[0]
        return rests[state]

    comma = best(term.comma, count)
    between = len(comma[0]) if comma else 0

    def following(state: _ItemSpot) -> Iterator[tuple[Words, _ItemSpot, int]]:
        here, used, begun = state
        for option, after in states.options(here):
            place = states.place(here)
            if not term.distinct:
                words = nodes.words[place][option]
                yield _pairs((comma, words) if begun else (words,), count), (after, used, True), rest(after)
                continue
            for value, words in _new_values(nodes.terms[place][option], best, count, used).items():
                pieces = _pairs((comma, words) if begun else (words,), count)
                yield pieces, (after, used | {value}, True), rest(after)

    start: _ItemSpot = (0, frozenset(), False)
    return _shortest_first(start, following, lambda state: states.may_end(state[0]), count)


def _new_values(
    terms: Iterable[t.Term], best: Best, count: int, used: frozenset[Value]
) -> dict[Value, Words]:
    """`count` values that are not used, or all, each with its words among the shortest."""
    found: dict[Value, Words] = {}
    asked = count + len(used)
    while True:
        words = _take((word for term in terms for word in best(term, asked)), asked)
        found.clear()
        for word in words:
            value = canonical(word)
            if value not in used:
                found[value] = (*found.get(value, ()), word)
        if len(found) >= count or len(words) < asked or (found and asked > _MOST_ASKED):
            return found
        if asked > _MOST_ASKED:
            raise dfa.TooLarge("the shortest words of an array of different items are too many")
        asked *= 2


class _Places:
    """The arms of an array by what they count, with their words."""

    def __init__(self, term: t.Array, best: Best, count: int) -> None:
        counts = Counts(term.counters)
        self.words: list[list[Words]] = []
        self.terms: list[list[tuple[t.Term, ...]]] = []
        vectors = []
        for arms in (*term.places, term.rest):
            some = _by_vector(arms, counts, best, count)
            vectors.append([vector for vector, _, _ in some])
            self.words.append([words for _, _, words in some])
            self.terms.append([terms for _, terms, _ in some])
        most = term.maximum
        if not best(term.comma, 1):
            most = 1 if most is None else min(most, 1)
        self.states = ArrayStates(vectors[:-1], vectors[-1], term.minimum, most, term.counters)


def _by_vector(
    arms: Iterable[t.Arm], counts: Counts, best: Best, count: int
) -> list[tuple[tuple[int, ...], tuple[t.Term, ...], Words]]:
    """(what they count, terms, words) of the arms that have words."""
    found = counts.by_vector([arm for arm in arms if best(arm.term, 1)])
    return [
        (vector, tuple(terms), _take([word for term in terms for word in best(term, count)], count))
        for vector, terms in found.items()
    ]


class _Entries:
    """The options of an object's properties and families that have words."""

    def __init__(self, term: t.Object, best: Best, count: int, declared: bool) -> None:
        counts = Counts(term.counters)
        self.words: list[list[Words]] = []
        self.terms: list[list[tuple[t.Term, ...]]] = []
        labels = []
        number = len(term.properties)
        parts: list[t.Property | t.Family] = [*term.properties, *term.families]
        for label, part in enumerate(parts):
            some = _by_vector(part.arms, counts, best, count) if best(term.colon, 1) else []
            self.words.append([words for _, _, words in some])
            self.terms.append([terms for _, terms, _ in some])
            capacity: int | None = 1
            if label >= number:
                keys = term.families[label - number].keys
                capacity = 0 if not keys.edges else number_of_words(keys) if term.distinct else None
            labels.append(Label(tuple([vector for vector, _, _ in some]), capacity))
        most = term.maximum
        if not best(term.comma, 1):
            most = 1 if most is None else min(most, 1)
        self.states = ObjectStates(labels, number, term.clauses, term.counters, term.minimum, most, declared)


@remembered
def separated(term: t.Object) -> t.Object:
    """The same object with families that have no name of a property."""
    names = dfa.words(frozenset(part.name for part in term.properties))
    families = tuple([replace(part, keys=dfa.difference(part.keys, names)) for part in term.families])
    return term if families == term.families else replace(term, families=families)


def object_words(term: t.Object, best: Best, count: int) -> Words:
    """The `count` shortest words of an object."""
    if max([term.minimum, *[counter.minimum for counter in term.counters]]) > dfa.MOST_ENTRIES:
        raise dfa.TooLong
    term = separated(term)
    entries = _Entries(term, best, count, term.order == "declared")
    states = entries.states
    if not states.feasible(0):
        return ()
    comma, colon = best(term.comma, count), best(term.colon, count)
    between = len(comma[0]) if comma else 0
    number = len(term.properties)

    def cost(label: int, option: int) -> int:
        key = len(_written(term.properties[label].name)) if label < number else 0
        return between + 2 + key + len(colon[0]) + len(entries.words[label][option][0])

    def new_keys(used: frozenset[str], label: int, wanted: int) -> list[str]:
        keys = term.families[label - number].keys
        found = [_text(word) for word in best(t.Text(keys, "json"), wanted + len(used))]
        return [key for key in found if key not in used][:wanted]

    def key_costs(used: frozenset[str]) -> Callable[[int, int], list[int]]:
        def costs(label: int, wanted: int) -> list[int]:
            if term.distinct:
                return [len(_written(key)) for key in new_keys(used, label, wanted)]
            return [len(_written(new_keys(frozenset(), label, 1)[0]))] * wanted

        return costs

    rests: dict[tuple[int, frozenset[str]], int] = {}

    def rest(state: int, used: frozenset[str]) -> int:
        if (state, used) not in rests:
            found = cheapest_entries(states, state, 0, cost, key_costs(used))
            assert found is not None
            rests[state, used] = found[0]
        return rests[state, used]

    def following(state: _Spot) -> Iterator[tuple[Words, _Spot, int]]:
        here, used, begun = state
        before = comma if begun else (b"",)
        for outcome, bits in states.profile(here):
            for label in range(bits.bit_length()):
                if not bits >> label & 1:
                    continue
                names = [term.properties[label].name] if label < number else new_keys(used, label, count)
                for name in names:
                    now = used | {name} if term.distinct and label >= number else used
                    keys = tuple([b'"' + key + b'"' for key in _spelled(name, term.encoding, count)])
                    for option, _, _ in outcome:
                        after = states.advance(here, label, option)
                        words = _pairs((before, keys, colon, entries.words[label][option]), count)
                        yield words, (after, now, True), rest(after, now)

    start: _Spot = (0, frozenset(), False)
    return _shortest_first(start, following, lambda state: states.may_end(state[0]), count)


def _shortest_first(
    start: State,
    following: Callable[[State], Iterable[tuple[Words, State, int]]],
    may_end: Callable[[State], bool],
    count: int,
) -> Words:
    """The shortest words from a state to an end, by best-first search.

    `following` gives (pieces, state behind them, bytes that are still to come at least). Each of `count` ways
    to a state goes on to different words, so a longer way to it than those makes none of the shortest.
    """
    steps: dict[State, list[tuple[int, bytes, State]]] = {}
    """(bytes until an end at least, piece, state behind it), fewest bytes first."""
    visits: Counter[State] = Counter()
    begun: list[tuple[bytes, State]] = []
    heap: list[tuple[int, int, int]] = []
    """(bytes at least, minus the number in `begun`, number of the next of its steps or -1 where it ends).

    Of equals what was begun last comes first, so that ways with equal ends are not all gone at once."""
    found: dict[bytes, None] = {}
    seen: set[tuple[bytes, State]] = set()
    word, state = b"", start
    while True:
        if (word, state) not in seen and visits[state] < count:
            seen.add((word, state))
            visits[state] += 1
            if len(seen) > _MOST_EXPANDED:
                raise dfa.TooLarge("the shortest words of an array or object are too many")
            if state not in steps:
                some = [
                    (len(piece) + least, piece, to)
                    for words, to, least in following(state)
                    for piece in words
                ]
                steps[state] = sorted(some, key=itemgetter(0))
            if may_end(state):
                heapq.heappush(heap, (len(word), -len(begun), -1))
            if steps[state]:
                heapq.heappush(heap, (len(word) + steps[state][0][0], -len(begun), 0))
            begun.append((word, state))
        step = -1
        while heap and step < 0:
            _, number, step = heapq.heappop(heap)
            word, state = begun[-number]
            if step < 0:
                found[word] = None
                if len(found) == count:
                    return tuple(found)
        if step < 0:
            return tuple(found)
        if step + 1 < len(steps[state]):
            heapq.heappush(heap, (len(word) + steps[state][step + 1][0], number, step + 1))
        _, piece, state = steps[state][step]
        word += piece


def _pairs(parts: Iterable[Words], count: int) -> Words:
    out: Words = (b"",)
    for part in parts:
        if len(out) == 1 and len(part) == 1:
            out = (out[0] + part[0],)
        else:
            out = _take((a + b for a in out for b in part), count)
    return out


def _take(words: Iterable[bytes], count: int) -> Words:
    return tuple(sorted(dict.fromkeys(words), key=len)[:count])


def _written(name: str) -> bytes:
    return b"".join([encoded(ord(char), True) for char in name])


def _text(word: bytes) -> str:
    return str(json.loads(b'"' + word + b'"'))


@small_cache(4096)
def _spelled(text: str, encoding: t.Encoding, count: int) -> Words:
    """Spellings of a text: a shortest one first, `count` if there are so many."""
    if encoding != "json-any" or count == 1:
        return (b"".join([encoded(ord(char), encoding != "raw") for char in text]),)
    out: Words = (b"",)
    for char in text:
        ways = [way.encode() for way in islice(spellings(ord(char), encoding), count)]
        out = _take((a + b for a in out for b in ways), count)
    return out


def span_words(term: t.Span, count: int) -> Words:
    """The `count` shortest words of a span."""
    text = term.text
    sizes = [0]
    for char in text:
        sizes.append(sizes[-1] + len(encoded(ord(char), term.encoding != "raw")))
    most = len(text) if term.max_chars is None else min(term.max_chars, len(text))
    found: Words = ()
    for length in range(max(term.min_chars, 0), most + 1):
        if len(found) == count and len(found[-1]) <= length:
            break
        starts = sorted(range(len(text) - length + 1), key=lambda i: (sizes[i + length] - sizes[i], i))
        pieces: dict[str, None] = {}
        for start in starts:
            pieces[text[start : start + length]] = None
            if len(pieces) == count:
                break
        found = _take(
            (*found, *[w for piece in pieces for w in _spelled(piece, term.encoding, count)]), count
        )
    return found


def listed_words(term: t.Listed, count: int) -> Words:
    """The `count` shortest words of a list of texts."""
    found = heapq.nsmallest(count, term.texts, key=lambda text: (len(written(text, term.encoding)), text))
    return _take((w for text in found for w in _spelled(text, term.encoding, count)), count)


@small_cache(256)
def number_of_words(keys: t.CharDfa) -> int | None:
    """How many words an automaton has, None if they are infinitely many."""
    order = dfa.ends_first(keys)
    if len(order) < len(keys.edges):
        return None
    known: dict[int, int] = {}
    for state in order:
        ways = sum([(high - low + 1) * known[target] for low, high, target in keys.edges[state]])
        known[state] = ways + (state in keys.accepting)
    return known.get(0, 0)


# Finitely many


def array_is_finite(term: t.Array, best: Best, finite: Callable[[t.Term], bool]) -> bool:
    """For an array that has a word."""
    nodes = _Places(term, best, 2)
    states = nodes.states
    items: set[tuple[int, int]] = set()
    repeated: set[tuple[int, int]] = set()
    several = False
    for state in reached([0], lambda state: [after for _, after in states.options(state)]):
        for option, after in states.options(state):
            items.add((states.place(state), option))
            several = several or state != 0
            if after == state:
                repeated.add((states.place(state), option))
    if several and not finite(term.comma):
        return False
    if not all(finite(part) for place, option in items for part in nodes.terms[place][option]):
        return False
    comma = best(term.comma, 2)
    return all(nodes.words[place][option] == (b"",) and comma == (b"",) for place, option in repeated)


def object_is_finite(term: t.Object, best: Best, finite: Callable[[t.Term], bool]) -> bool:
    """For an object that has a word."""
    # Which entries there may be does not depend on their order.
    term = separated(term)
    entries = _Entries(term, best, 2, declared=False)
    states = entries.states
    number = len(term.properties)
    some = several = False
    for outcome, bits in states.profile(0):
        for label in range(bits.bit_length()):
            if not bits >> label & 1:
                continue
            for option, _, go in outcome:
                some = True
                several = several or go
                if not all(finite(part) for part in entries.terms[label][option]):
                    return False
                if label >= number:
                    if not dfa.is_finite(term.families[label - number].keys):
                        return False
                    if not term.distinct and not _bounded(states, label, option):
                        return False
    if some and not finite(term.colon):
        return False
    return not several or finite(term.comma)


def _bounded(states: ObjectStates, label: int, option: int) -> bool:
    """Whether a number limits how often an option of a family can be taken."""
    vector = states.labels[label].options[option]
    limited = any(more and most is not None for more, most in zip(vector, states.counts.most, strict=True))
    return limited or states.maximum is not None


def arm_terms(term: t.Array | t.Object) -> list[t.Term]:
    """The terms of all arms."""
    if isinstance(term, t.Array):
        return [arm.term for arms in (*term.places, term.rest) for arm in arms]
    parts: list[t.Property | t.Family] = [*term.properties, *term.families]
    return [arm.term for part in parts for arm in part.arms]


def entry(key: t.Term, colon: t.Term, value: t.Term) -> t.Term:
    """One entry of an object."""
    return t.Sequence((t.Bytes(b'"'), key, t.Bytes(b'"'), colon, value))
