"""Emptiness, shortest words and finiteness of a language.

All answers come from one table: the n shortest words of every term, found as a least fixed point over the
rules (Knuth 1977, for n = 1). Counts, distinct keys and excluded words are exact: to know that a word remains
when k words are excluded, it is enough to know k + 1 words.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from itertools import islice

from sglc.automata import term as t
from sglc.automata import work
from sglc.automata.caches import remembered, small_cache
from sglc.automata.dfa import operations as dfa
from sglc.automata.dfa.operations import char_rank
from sglc.automata.dfa.subset_construction import has_cycle
from sglc.automata.encoding import spellings
from sglc.automata.graphs import successors_first

Known = Mapping[str, tuple[bytes, ...]]
_MOST_WRITTEN = 1 << 28
"""Bytes of the beginnings of words that are looked at for one term."""
_MOST_TRIES = 8
"""With ever more words of the rules, where terms leave out the shortest ones."""


def is_empty(language: t.Language) -> bool:
    """Whether there is no word; False too where the shortest is too long to be found."""
    try:
        return shortest(language) is None
    except dfa.TooLong:
        return False


def shortest(language: t.Language) -> bytes | None:
    """A word with the fewest bytes (readable characters first), or None if there is no word.

    Raises TooLong.
    """
    found = shortest_words(language, 1)
    return found[0] if found else None


def shortest_words(language: t.Language, count: int) -> tuple[bytes, ...]:
    """The `count` shortest words, fewer only if the language has fewer."""
    return _language_words(language, count)[0]


def _language_words(language: t.Language, count: int) -> tuple[tuple[bytes, ...], _RuleWords]:
    """The `count` shortest words, and the words of the rules that they were found with."""
    limit = count
    for _ in range(_MOST_TRIES):
        known = _rule_words(language.rules, limit)
        found = _best(language.root, known, count)
        if len(found) >= count or not known.more_asked():
            break
        limit += known.asked
    return found, known


def empty_rules(rules: Mapping[str, t.Term]) -> list[str]:
    """Rules without any word; none where that takes words that are too long."""
    if not rules:
        return []
    limit = 1
    for _ in range(_MOST_TRIES):
        try:
            known = _rule_words(rules, limit)
        except dfa.TooLong:
            return []
        empty = [name for name in rules if not known[name]]
        if not empty or not known.more_asked():
            break
        limit += known.asked
    return empty


class _RuleWords(dict[str, tuple[bytes, ...]]):
    """The `limit` shortest words of rules; `asked` is for how many of a rule's some term has asked.

    Terms that leave words out ask for more than they give. `readers` are the rules in whose terms a rule has
    been asked for while they were `reader`.
    """

    def __init__(self, names: Iterable[str], limit: int) -> None:
        super().__init__({name: () for name in names})
        self.limit = limit
        self.asked = limit
        self.reader = ""
        self.readers: dict[str, set[str]] = {}

    def words(self, name: str, count: int) -> tuple[bytes, ...]:
        self.asked = max(self.asked, count)
        self.readers.setdefault(name, set()).add(self.reader)
        return self.get(name, ())

    def more_asked(self) -> bool:
        """Whether more words of a rule have been asked for, of one that may have more."""
        return self.asked > self.limit and any([len(words) >= self.limit for words in self.values()])


def _rule_words(rules: Mapping[str, t.Term], count: int) -> _RuleWords:
    """The least fixed point: a rule is looked at again where one that it asks for has got other words."""
    known = _RuleWords(rules, count)
    waiting = deque(_lower_rules_first(rules))
    due = set(rules)
    while waiting:
        name = known.reader = waiting.popleft()
        due.remove(name)
        words = _best(rules[name], known, count)
        if words != known[name]:
            known[name] = words
            again = sorted(known.readers.get(name, set()) - due)
            waiting.extend(again)
            due.update(again)
    return known


def _lower_rules_first(rules: Mapping[str, t.Term]) -> list[str]:
    """Rules behind those that they ask for; where rules ask for each other, one of them is first."""
    order: dict[str, None] = {}
    seen: set[str] = set()
    stack = [(name, False) for name in reversed(list(rules))]
    while stack:
        name, left = stack.pop()
        if left:
            order[name] = None
        elif name not in seen and name in rules:
            seen.add(name)
            stack.append((name, True))
            stack += [(asked, False) for asked in _asked_rules(rules[name]) if asked not in seen]
    return list(order)


def _asked_rules(root: t.Term) -> list[str]:
    """The rules that a term asks for, each once."""
    found: dict[str, None] = {}
    seen: set[int] = set()
    stack = [root]
    while stack:
        term = stack.pop()
        if isinstance(term, t.Rule):
            found[term.name] = None
            continue
        below = t.parts(term)
        if below and id(term) not in seen:
            seen.add(id(term))
            stack += below
    return list(found)


def _take(words: Iterable[bytes], count: int) -> tuple[bytes, ...]:
    """The `count` shortest of the words without repeats; the first come first among equals."""
    distinct = dict.fromkeys(words)
    return tuple(sorted(distinct, key=len)[:count])


def _best(term: t.Term, known: Known, count: int) -> tuple[bytes, ...]:
    match term:
        case t.Nothing():
            return ()
        case t.Anything():
            return tuple(b"a" * size for size in range(count))
        case t.Bytes(data):
            return (data,)
        case t.NotBefore():
            # What may follow is for the makers of such terms to see to.
            return (b"",)
        case t.Text():
            return _text_words(term, count)
        case t.Pattern():
            return _pattern_words(term, count)
        case t.Words(words):
            return _take(sorted(words), count)
        case t.Rule(name):
            return known.words(name, count) if isinstance(known, _RuleWords) else known.get(name, ())
        case t.Choice(arms):
            return _take((word for arm in arms for word in _best(arm, known, count)), count)
        case t.Sequence(items):
            out: tuple[bytes, ...] = (b"",)
            for item in items:
                if not out:
                    return ()
                out = _pairs(out, _best(item, known, count), count)
            return out
        case t.Except(item, excluded):
            candidates = _best(item, known, count + len(excluded))
            return tuple(word for word in candidates if word not in excluded)[:count]
        case t.Repeat():
            return _repeat_words(term, known, count)
        case t.Array() | t.Object() | t.Listed() | t.Span():
            from sglc.automata.analysis.shortest_words import words_of

            return words_of(term, _best_of(known), count)


def _best_of(known: Known) -> Callable[[t.Term, int], tuple[bytes, ...]]:
    """The words of the parts of one term, each asked for once: else nested terms would multiply."""
    found: dict[tuple[int, int], tuple[t.Term, tuple[bytes, ...]]] = {}

    def best(term: t.Term, count: int) -> tuple[bytes, ...]:
        key = (id(term), count)
        if key not in found:
            # The term is kept too, so that no other one gets its identity.
            found[key] = (term, _best(term, known, count))
        return found[key][1]

    return best


def _pairs(left: tuple[bytes, ...], right: tuple[bytes, ...], count: int) -> tuple[bytes, ...]:
    """The `count` shortest words of one of `left` and one of `right`, both the shortest first."""
    if len(left) == 1 and len(right) == 1:
        return (left[0] + right[0],)
    lefts, rights = _by_size(left), _by_size(right)
    found: dict[bytes, None] = {}
    for size in sorted({a + b for a in lefts for b in rights}):
        for first, words in lefts.items():
            ends = rights.get(size - first, ())
            for word in words if ends else ():
                found.update(dict.fromkeys([word + end for end in ends]))
                if len(found) >= count:
                    return tuple(found)[:count]
    return tuple(found)


def _by_size(words: tuple[bytes, ...]) -> dict[int, list[bytes]]:
    """Words by their number of bytes."""
    found: dict[int, list[bytes]] = {}
    for word in words:
        found.setdefault(len(word), []).append(word)
    return found


def _repeat_words(term: t.Repeat, known: Known, count: int) -> tuple[bytes, ...]:
    if term.maximum is not None and term.maximum < term.minimum:
        return ()
    item = _best(term.item, known, count)
    if not item:
        return (b"",) if term.minimum == 0 else ()
    if term.minimum * (len(item[0]) + len(term.separator)) > dfa.LONGEST_WORD:
        raise dfa.TooLong
    if len(item) == 1 or count == 1:
        most = term.minimum + count - 1
        times = range(term.minimum, (most if term.maximum is None else min(most, term.maximum)) + 1)
        return _take((term.separator.join(item[:1] * size) for size in times), count)
    found: tuple[bytes, ...] = ()
    power: tuple[bytes, ...] = (b"",)
    done = 0
    while True:
        if done >= term.minimum:
            found = _take((*found, *power), count)
            full = len(found) == count and done and len(power[0]) >= len(found[-1])
            if full or done == term.maximum:
                return found
        separated = tuple(term.separator + word for word in item) if done else item
        longer = _pairs(power, separated, count)
        if longer == power and done:
            return found if done >= term.minimum else _take((*found, *power), count)
        power = longer
        done += 1


_Rows = list[list[tuple[int, int, tuple[int, ...]]]]


@remembered
def _text_words(term: t.Text, count: int) -> tuple[bytes, ...]:
    rows: _Rows = [[(low, high, (target,)) for low, high, target in row] for row in term.dfa.edges]
    start: tuple[int, ...] = (0,) if rows else ()
    return _words_of(term, (rows, start, term.dfa.accepting), term.min_chars, term.max_chars, count)


@remembered
def _pattern_words(term: t.Pattern, count: int) -> tuple[bytes, ...]:
    nfa = term.nfa
    rows = [[(low, high, nfa.groups[group]) for low, high, group in row] for row in nfa.edges]
    return _words_of(term, (rows, nfa.groups[0], nfa.accepting), 0, None, count)


def _words_of(
    term: t.Text | t.Pattern,
    automaton: tuple[_Rows, tuple[int, ...], frozenset[int]],
    least: int,
    most: int | None,
    count: int,
) -> tuple[bytes, ...]:
    """Layer by layer over the number of characters, with the best words that reach each state.

    `automaton`: by state (lowest, highest character, targets); the states at the start; those that accept.
    """
    edges, start, accepting = automaton
    if not start or (most is not None and most < least):
        return ()
    # In a trimmed automaton a word is never further away than there are states; count of them, than that
    # many times the states.
    limit = least + len(edges) * count
    if most is not None:
        limit = min(limit, most)
    found: tuple[bytes, ...] = ()
    layer: dict[int, tuple[bytes, ...]] = dict.fromkeys(start, (b"",))
    written = 0
    size = -1
    while size < limit:
        size += 1
        if size >= least:
            ends = [word for state in layer if state in accepting for word in layer[state]]
            found = _take((*found, *ends), count)
            if len(found) == count and all(
                len(words[0]) >= len(found[-1]) for words in layer.values() if words
            ):
                break
        if count == 1 and len(layer) == 1:
            # A state that is never left gives the same character again and again.
            ((state, words),) = layer.items()
            if {target for _, _, targets in edges[state] for target in targets} == {state}:
                spelling = _take(
                    (way for low, high, _ in edges[state] for way in cheapest(low, high, term.encoding, 1)), 1
                )[0]
                missing = max(0, least - size - 1)
                if len(words[0]) + missing * len(spelling) > dfa.LONGEST_WORD:
                    raise dfa.TooLong
                layer, size = {state: (words[0] + missing * spelling,)}, size + missing
        written += sum([len(words) * len(words[-1]) for words in layer.values()])
        if written > _MOST_WRITTEN:
            raise dfa.TooLong
        following: dict[int, list[bytes]] = {}
        for state, words in layer.items():
            for low, high, targets in edges[state]:
                for number, spelling in enumerate(cheapest(low, high, term.encoding, count), 1):
                    # With an earlier word or spelling there is always one that comes before.
                    longer = [word + spelling for word in words[: count // number]]
                    work.spend(1 + len(longer) // 2)
                    for target in targets:
                        following.setdefault(target, []).extend(longer)
        work.spend(sum(map(len, following.values())))
        layer = {state: _take(words, count) for state, words in following.items()}
        if not layer:
            break
    return found


_REGIONS = (
    (0x61, 0x7A),
    (0x41, 0x5A),
    (0x30, 0x39),
    (0x21, 0x21),
    (0x23, 0x2F),
    (0x3A, 0x40),
    (0x5B, 0x5B),
    (0x5D, 0x60),
    (0x7B, 0x7E),
    (0x20, 0x20),
    (0x22, 0x22),
    (0x5C, 0x5C),
    (0x7F, 0x7F),
    (0, 0x1F),
    (0xA1, 0x7FF),
    (0x80, 0xA0),
    (0x800, 0xFFFF),
    (0x10000, 0x10FFFF),
)
"""Code points that are spelled with equally many bytes, most readable first."""


@small_cache(4096)
def cheapest(low: int, high: int, encoding: t.Encoding, count: int) -> tuple[bytes, ...]:
    """Spellings of characters of a range, shortest first: `count` if there are so many."""
    points: list[int] = []
    for first, last in _REGIONS:
        start, end = max(low, first), min(high, last)
        points += range(start, min(end, start + count - 1) + 1)
    points.sort(key=char_rank)
    return _take(
        (way.encode() for point in points for way in islice(spellings(point, encoding), count)), count
    )


def is_finite(language: t.Language) -> bool:
    """Whether there are finitely many words; an empty language is finite."""
    found, known = _language_words(language, 2)
    if not found:
        return True
    asked: dict[str, set[str]] = {}
    here: set[str] = set()
    if not _finite(language.root, known, here.add):
        return False
    waiting = list(here)
    while waiting:
        name = waiting.pop()
        if name not in asked:
            asked[name] = here = set()
            if not _finite(language.rules[name], known, here.add):
                return False
            waiting.extend(here)
    # A rule that asks for itself, through others or not, adds bytes each time round.
    return len(successors_first(asked)) == len(asked)


def few_words(language: t.Language, most: int) -> tuple[bytes, ...] | None:
    """All words where there are at most `most`; None where there are more, or one is too long to be found."""
    try:
        found = shortest_words(language, most + 1) if is_finite(language) else None
    except dfa.TooLong:
        return None
    return found if found is not None and len(found) <= most else None


def _finite(term: t.Term, known: Known, ask: Callable[[str], None]) -> bool:
    """Whether a term that has a word has finitely many, if the rules that it asks for have."""

    def has_words(part: t.Term) -> bool:
        return bool(_best(part, known, 1))

    match term:
        case t.Nothing() | t.Bytes() | t.Words() | t.Listed() | t.NotBefore():
            return True
        case t.Anything():
            return False
        case t.Text():
            return term.max_chars is not None or dfa.is_finite(term.dfa)
        case t.Pattern(nfa):
            return not has_cycle(nfa)
        case t.Rule(name):
            ask(name)
            return True
        case t.Choice(arms):
            return all(_finite(arm, known, ask) for arm in arms if has_words(arm))
        case t.Sequence(items):
            return all(_finite(item, known, ask) for item in items)
        case t.Except(item, _):
            return _finite(item, known, ask)
        case t.Repeat(item, _, maximum, separator):
            if maximum == 0 or not has_words(item):
                return True
            only_empty = _best(item, known, 2) == (b"",) and not separator
            return (maximum is not None or only_empty) and _finite(item, known, ask)
        case t.Array() | t.Object():
            best = _best_of(known)

            def finite(part: t.Term) -> bool:
                return _finite(part, known, ask)

            from sglc.automata.analysis.shortest_words import array_is_finite, object_is_finite

            if isinstance(term, t.Array):
                return array_is_finite(term, best, finite)
            return object_is_finite(term, best, finite)
        case t.Span():
            return True
