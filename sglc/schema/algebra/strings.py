"""Sets of strings: closed under intersection, union and complement, lengths kept as bounds.

A set is a union of `StringSet`s. Finite sets and finitely many exceptions stay plain sets of words, so that
an enumeration meets another without an automaton.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sglc.automata import work
from sglc.automata.analysis.membership import MembershipLimit, is_word
from sglc.automata.caches import remembered, small_cache
from sglc.automata.dfa import operations as automata
from sglc.automata.dfa import product
from sglc.automata.dfa.product import united
from sglc.automata.formats.terms import format_language
from sglc.automata.regex.compile import DEFAULT_LIMIT, RegexError, compile_regex
from sglc.automata.term import CharDfa
from sglc.schema.algebra.unions import Unions

NO_WORDS: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class StringSet:
    """The strings that are among `words` (None: any), not among `minus`, words of `dfa` (None: any), and of
    `low` to `high` characters. With `words` nothing else is set: they are tested when they are met. Nor with
    `format`, the name of a format that is a grammar: such a set is joined with others, and meets words and
    sets that plainly lie in it. Nor with `pattern`, the texts in which an ECMAScript pattern matches, where
    its automaton would be large: it is made (`regular`) only if something else is asked of these strings too.
    """

    words: frozenset[str] | None = None
    minus: frozenset[str] = NO_WORDS
    dfa: CharDfa | None = None
    low: int = 0
    high: int | None = None
    format: str | None = None
    pattern: str | None = None

    def contains(self, text: str) -> bool:
        """Whether a text is in the set."""
        if self.format is not None:
            right: bool = is_of_format(text, self.format)
            return right
        if self.pattern is not None:
            return regular(self).contains(text)
        if self.words is not None:
            return text in self.words
        return (
            text not in self.minus
            and self.low <= len(text)
            and (self.high is None or len(text) <= self.high)
            and (self.dfa is None or automata.accepts(self.dfa, text))
        )


class NotRegular(ValueError):
    """A format that is no regular set would have to be combined with other requirements; its name."""


ALL = StringSet()
Strings = tuple[StringSet, ...]
"""A union."""
EVERY: Strings = (ALL,)


def finite(words: Iterable[str]) -> Strings:
    """Just these strings."""
    found = frozenset(words)
    return (StringSet(found),) if found else ()


def of_dfa(dfa: CharDfa) -> Strings:
    """The words of an automaton."""
    return (StringSet(dfa=dfa),) if dfa.edges else ()


def contains(these: Strings, text: str) -> bool:
    """Whether a string is in the union. Raises NotRegular."""
    return any(one.contains(text) for one in these)


def union(parts: Iterable[StringSet]) -> Strings:
    """Strings of any part, with parts that others make needless left out."""
    return _tidy(list(parts))


def of_length(low: int, high: int | None) -> Strings:
    """Strings of `low` to `high` characters."""
    if high is not None and low > high:
        return ()
    return EVERY if low <= 0 and high is None else (StringSet(low=max(low, 0), high=high),)


def _tidy(parts: list[StringSet]) -> Strings:
    words: set[str] = set()
    others: dict[StringSet, None] = {}
    for part in parts:
        if part.words is not None:
            words |= part.words
        else:
            others[part] = None
    others = {StringSet() if _is_all(other) else other: None for other in others}
    if ALL in others:
        return EVERY
    if words and others:
        known = [other for other in others if other.format is None and other.pattern is None]
        words = {word for word in words if not any(other.contains(word) for other in known)}
    found = list(others)
    if words:
        found.append(StringSet(frozenset(words)))
    return tuple(found)


def _is_all(one: StringSet) -> bool:
    """Whether the set has no requirement but an automaton of everything."""
    return one.dfa is not None and one.dfa == _ALL_WORDS and replace(one, dfa=None) == ALL


_ALL_WORDS = automata.all_words()


def regular(one: StringSet) -> StringSet:
    """The same set with an automaton in place of a pattern. Raises TooLarge."""
    if one.pattern is None:
        return one
    try:
        dfa = compile_regex(one.pattern, anchored=False, dialect="ecma", limit=_LARGE)
    except RegexError as fault:
        raise automata.TooLarge(f"the pattern meets other requirements, and {fault.reason}") from None
    return StringSet(dfa=dfa)


_LARGE = 4 * DEFAULT_LIMIT


_PLAIN_PATTERNS = compile_regex(r"[^\\()\[\]{}*+?|]*")
"""Strings that are patterns whatever their order of characters."""


@small_cache(4096)
def is_of_format(text: str, name: str) -> bool:
    """Whether a text is of a format that is a grammar. Raises NotRegular where that takes too much work."""
    language = format_language(name)
    assert language is not None
    try:
        return is_word(language, text)
    except MembershipLimit:
        raise NotRegular(name) from None


def _meet(a: StringSet, b: StringSet) -> StringSet | None:
    if a == b:
        return a
    if (a.pattern is not None or b.pattern is not None) and ALL not in (a, b):
        a, b = regular(a), regular(b)
    if ALL in (a, b):
        return b if a == ALL else a
    if a.format is not None or b.format is not None:
        one, other = (a, b) if a.format is not None else (b, a)
        assert one.format is not None
        if other.format is not None:
            raise NotRegular(one.format)
        if other.words is None:
            if other.dfa is None or one.format != "regex" or without(other.dfa, _PLAIN_PATTERNS).edges:
                raise NotRegular(one.format)
            return other
    if a.words is not None or b.words is not None:
        words, other = (a.words, b) if a.words is not None else (b.words, a)
        assert words is not None
        kept = frozenset(word for word in words if other.contains(word))
        return StringSet(kept) if kept else None
    low = max(a.low, b.low)
    high = a.high if b.high is None else b.high if a.high is None else min(a.high, b.high)
    if high is not None and low > high:
        return None
    dfa = a.dfa if b.dfa is None else b.dfa if a.dfa is None else intersection(a.dfa, b.dfa)
    if dfa is not None and not has_length(dfa, low, high):
        return None
    return StringSet(None, a.minus | b.minus, dfa, low, high)


def _complement(one: StringSet) -> Strings:
    if one.format is not None:
        raise NotRegular(one.format)
    one = regular(one)
    if one.words is not None:
        return (StringSet(minus=one.words),)
    parts: list[StringSet] = []
    if one.minus:
        parts.append(
            StringSet(frozenset(word for word in one.minus if replace(one, minus=NO_WORDS).contains(word)))
        )
    if one.dfa is not None:
        parts += of_dfa(negation(one.dfa))
    parts += of_length(0, one.low - 1) if one.low > 0 else ()
    parts += of_length(one.high + 1, None) if one.high is not None else ()
    return _tidy([part for part in parts if part.words is None or part.words])


_UNIONS = Unions(EVERY, _meet, _complement, _tidy)
meet, join, complement, subtract = _UNIONS.meet, _UNIONS.join, _UNIONS.complement, _UNIONS.subtract


@small_cache(4096)
def has_length(dfa: CharDfa, low: int, high: int | None) -> bool:
    """Whether some word has a length in the bounds. Looks at the sets of states after n characters, which
    repeat themselves sooner or later."""
    if not dfa.edges:
        return False
    if not low and high is None:
        return True
    followers = [tuple({target for _, _, target in row}) for row in dfa.edges]
    layers = [frozenset({0})]
    known = {layers[0]: 0}
    while len(layers) <= low:
        following = frozenset(target for state in layers[-1] for target in followers[state])
        if following in known:
            period = len(layers) - known[following]
            start = known[following]
            layers = [layers[start + (low - start + step) % period] for step in range(period)]
            break
        known[following] = len(layers)
        layers.append(following)
        work.spend(1 + len(following))
    else:
        layers = layers[-1:]
    size = low
    seen: set[frozenset[int]] = set()
    layer = layers[0]
    while layer and layer not in seen and (high is None or size <= high):
        if layer & dfa.accepting:
            return True
        seen.add(layer)
        layer = frozenset(target for state in layer for target in followers[state])
        work.spend(1 + len(layer))
        size += 1
    return False


@remembered
def intersection(a: CharDfa, b: CharDfa) -> CharDfa:
    """As `operations.intersect`, remembered: schemas meet the same automata again and again."""
    return a if a is b or a == b else automata.intersect(a, b)


@remembered
def negation(dfa: CharDfa) -> CharDfa:
    """As `operations.complement`, remembered."""
    return automata.complement(dfa)


@remembered
def without(dfa: CharDfa, other: CharDfa) -> CharDfa:
    """As `operations.difference`, remembered."""
    return automata.difference(dfa, other)


@remembered
def but(words: frozenset[str]) -> CharDfa:
    """The automaton of all strings but these words."""
    return automata.complement(automaton_of(words))


@remembered
def automaton_of(words: frozenset[str]) -> CharDfa:
    """The automaton of these words."""
    return automata.words(words)


def minus_words(dfa: CharDfa | None, words: frozenset[str]) -> CharDfa:
    """The words of an automaton (None: all strings) without some."""
    if dfa is None or dfa == automata.all_words():
        return but(words)
    inside = frozenset(word for word in words if automata.accepts(dfa, word))
    return automata.difference(dfa, automaton_of(inside)) if inside else dfa


def key_automaton(these: Strings, limit: int) -> CharDfa | None:
    """One automaton of the whole set, bounds unrolled; None if that would pass `limit` states."""
    result = automata.NONE
    for one in these:
        if one.format is not None:
            raise NotRegular(one.format)
        one = regular(one)
        if one.words is not None:
            part = automaton_of(one.words)
        else:
            part = minus_words(one.dfa, one.minus)
            bound = one.low if one.high is None else one.high
            if one.low or one.high is not None:
                if bound * len(part.edges) > limit:
                    return None
                part = automata.intersect(part, _lengths(one.low, one.high))
        result = part if not result.edges else automata.union(result, part)
    return result


@remembered
def all_words(part: StringSet, limit: int) -> set[str] | None:
    """All strings of a set, None if they are more than about `limit` or cannot be listed."""
    if part.words is not None:
        return set(part.words)
    if part.dfa is None or part.format is not None or not automata.is_finite(part.dfa):
        return None
    found: set[str] = set()
    stack = [(0, "")]
    steps = 0
    while stack:
        state, text = stack.pop()
        if state in part.dfa.accepting and part.contains(text):
            found.add(text)
        for low, high, target in part.dfa.edges[state]:
            steps += high - low + 1
            work.spend(high - low + 1)
            if len(found) > limit or steps > 100 * limit:
                return None
            stack += [(target, text + chr(point)) for point in range(low, high + 1)]
    return found


_FEW = 64
"""Keys that are written out as names; a set of more stays an automaton."""


def few_words(keys: CharDfa) -> list[str] | None:
    """The words of a small finite set of keys, None of others."""
    if not keys.edges:
        return []
    if len(keys.edges) > 2000 or not automata.is_finite(keys):
        return None
    words = all_words(StringSet(dfa=keys), _FEW)
    return None if words is None else sorted(words)


def _lengths(low: int, high: int | None) -> CharDfa:
    """All strings of `low` to `high` characters."""
    size = low if high is None else high
    step = ((0, 0xD7FF), (0xE000, 0x10FFFF))
    edges = [tuple((a, b, state + 1) for a, b in step) for state in range(size)]
    edges.append(tuple((a, b, size) for a, b in step) if high is None else ())
    return CharDfa(tuple(edges), frozenset(range(low, size + 1)))


def _is_term(one: StringSet) -> bool:
    """Whether the set has no automaton, but a term of its own."""
    return one.format is not None or one.pattern is not None


def one_automaton(these: Strings) -> list[StringSet]:
    """The same union with fewer parts: automata without bounds on length joined into one."""
    free = [
        one for one in these if one.words is None and not one.low and one.high is None and not _is_term(one)
    ]
    rest = [one for one in these if one not in free]
    if len(free) > 1:
        free = [StringSet(dfa=united([minus_words(one.dfa, one.minus) for one in free]))]
    return [*rest, *free]


def of_exactly_one(sets: list[Strings]) -> Strings | None:
    """The strings of exactly one of the sets; None if that is not to be had at once."""
    parts = []
    for these in sets:
        if any(one.low or one.high is not None or _is_term(one) for one in these):
            return None
        parts.append(
            united(
                [
                    minus_words(one.dfa, one.minus) if one.words is None else automaton_of(one.words)
                    for one in these
                ]
            )
        )
    try:
        return of_dfa(product.of_exactly_one(parts))
    except automata.TooLarge:
        return None
