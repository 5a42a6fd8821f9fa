"""What the terms of `sglc.automata.term` mean, in the plainest code: the oracle of mask and automata tests.

Two functions define everything: `Ends.ends`, where a word that begins at a place may end, and `completions`,
some words that begin with the rest of the data. It is slow and shares nothing with the code under test.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from itertools import product
from typing import Any

from hypothesis.errors import UnsatisfiedAssumption

from oracles.entry_oracle import Process, Step
from oracles.term_end_positions import Ends
from oracles.text_oracle import chars, decode, pieces, text_spellings, text_words
from sglc.automata.term import (
    Anything,
    Array,
    Bytes,
    Choice,
    Except,
    Language,
    Listed,
    Nothing,
    Object,
    Repeat,
    Rule,
    Sequence,
    Span,
    Term,
    Text,
    Words,
)

_MOST_OPEN = 400


class Meaning:
    """What was found out about a language whatever the text is, for all texts that are asked about."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.processes: dict[int, Process] = {}
        self.words: dict[tuple[tuple[int, ...], int], list[bytes]] = {}
        self.tails: dict[tuple[int, int, int, int], list[bytes]] = {}
        self.finished: dict[tuple[int, Hashable, int], list[bytes]] = {}
        self.rule_words: dict[int, dict[str, list[bytes]]] = {}
        self.searching = 0
        """How many least fixed points are being looked for: until they are found, words are not kept."""
        self.kept: list[object] = []  # so that no id is used twice


_meanings: list[Meaning] = []


def _meaning(language: Language) -> Meaning:
    """Of one of the languages that were asked about last."""
    for meaning in _meanings:
        if meaning.language is language:
            return meaning
    _meanings.insert(0, Meaning(language))
    del _meanings[4:]
    return _meanings[0]


def accepts(language: Language, data: bytes) -> bool:
    """Whether `data` is a word of the language."""
    return len(data) in _Matcher(_meaning(language), data).ends(language.root, 0)


class OracleLimit(UnsatisfiedAssumption):
    """An answer would take too long: what is asked about is no example of a property."""


def viable(language: Language, prefix: bytes) -> bool:
    """Whether some word of the language begins with `prefix`."""
    return bool(_Matcher(_meaning(language), prefix).completions(language.root, 0, 1))


def some_words(language: Language, count: int) -> list[bytes]:
    """Up to `count` different words; fewer only if the language has fewer."""
    return _Matcher(_meaning(language), b"").completions(language.root, 0, count)


def random_word(
    term: Array | Object,
    rules: Mapping[str, Term],
    choose: Callable[[list[Any]], Any],
    word_of: Callable[[Term], bytes],
    steps: int,
) -> bytes:
    """A word of an array or object, chosen step by step; `word_of` gives words of its parts."""
    matcher = _Matcher(Meaning(Language(term, rules)), b"")
    process = matcher._process(term)
    state, out = process.start, b""
    for _ in range(steps):
        options = [
            (step, key, step.following(decode(key)))
            for step in process.steps(state)
            if all(matcher.words(part, 1) for part in (*step.before, *step.after))
            for key in matcher.words(step.key, 3)
        ]
        options = [option for option in options if matcher._finish(process, option[2], 1)]
        if not options:
            break
        step, key, state = choose(options)
        out += b"".join([*map(word_of, step.before), key, *map(word_of, step.after)])
    return out + choose(matcher._finish(process, state, 3))


class _Matcher(Ends):
    def __init__(self, meaning: Meaning, data: bytes) -> None:
        super().__init__(meaning.language, data, meaning.processes)
        self.meaning = meaning

    def _process_completions(self, process: Process, start: int, count: int) -> Iterator[bytes]:
        data = self.data
        for place, state in self._states(process, start):
            head = data[start:place]
            if place == len(data):
                yield from (head + more for more in self._finish(process, state, count))
                continue
            for step in process.steps(state):
                for first, key in self._step_completions(step, place, count):
                    for more in self._finish(process, step.following(key), count):
                        yield head + first + more

    def _step_completions(self, step: Step, start: int, count: int) -> Iterator[tuple[bytes, str]]:
        """(word that begins with the rest of the data, key) of a step inside which the data runs out."""
        afters = self._products(step.after, count)
        for before in self._sequence_completions(step.before, start, count):
            for word in self.words(step.key, count):
                yield from ((before + word + after, decode(word)) for after in afters)
        for begin in self._sequence_ends(step.before, start):
            head = self.data[start:begin]
            for word in self.completions(step.key, begin, count):
                yield from ((head + word + after, decode(word)) for after in afters)
            for end in self.ends(step.key, begin):
                key = decode(self.data[begin:end])
                for after in self._sequence_completions(step.after, end, count):
                    yield self.data[start:end] + after, key

    def _finish(self, process: Process, state: Hashable, count: int) -> list[bytes]:
        """Up to `count` ways to go on from a state to an end; fewer only if there are fewer."""
        meaning = self.meaning
        key = (id(process), state, count)
        found = meaning.finished.get(key)
        if found is None:
            found = self._find_ends(process, state, count)
            if not meaning.searching:
                meaning.finished[key] = found
        return found

    def _find_ends(self, process: Process, state: Hashable, count: int) -> list[bytes]:
        """Level by level over the number of steps, with up to `count` words for each state.

        Raises OracleLimit where too many states are open at once.
        """
        found: dict[bytes, None] = {}
        level: dict[Hashable, list[bytes]] = {state: [b""]}
        for _ in range(process.enough(count) + 1):
            for here, words in level.items():
                if process.done(here):
                    found.update(dict.fromkeys(words))
            if len(found) >= count:
                break
            if len(level) > _MOST_OPEN:
                raise OracleLimit
            following: dict[Hashable, dict[bytes, None]] = {}
            for here, words in level.items():
                for step in process.steps(here):
                    befores = self._products(step.before, count)
                    afters = self._products(step.after, count)
                    for key in self.words(step.key, count):
                        after = following.setdefault(step.following(decode(key)), {})
                        for parts in product(words, befores, (key,), afters):
                            after[b"".join(parts)] = None
                            if len(after) >= count:
                                break
            level = {here: list(words)[:count] for here, words in following.items() if words}
            if not level:
                break
        return list(found)[:count]

    # Words that begin with the rest of the data.

    def completions(self, term: Term, start: int, count: int) -> list[bytes]:
        """Up to `count` different words that begin with data[start:]; fewer only if there are fewer."""
        if start == len(self.data):
            return self.words(term, count)
        return self._first(term, start, count)

    def _first(self, term: Term, start: int, count: int) -> list[bytes]:
        out: dict[bytes, None] = {}
        for word in self._completions(term, start, count):
            out[word] = None
            if len(out) == count:
                break
        return list(out)

    def _completions(self, term: Term, start: int, count: int) -> Iterator[bytes]:
        rest = self.data[start:]
        match term:
            case Nothing():
                return
            case Anything():
                for size in range(count):
                    yield rest + b"a" * size
            case Bytes(expected):
                if expected.startswith(rest):
                    yield expected
            case Words(words):
                yield from (word for word in sorted(words) if word.startswith(rest))
            case Text():
                yield from self._text_completions(term, start, count)
            case Sequence(items):
                yield from self._sequence_completions(items, start, count)
            case Choice(arms):
                for arm in arms:
                    yield from self.completions(arm, start, count)
            case Repeat():
                yield from self._repeat_completions(term, start, count)
            case Array() | Object():
                yield from self._process_completions(self._process(term), start, count)
            case Span(_, encoding) | Listed(_, encoding):
                for piece in pieces(term):
                    for word in text_spellings(piece, encoding, None):
                        if word.startswith(rest):
                            yield word
            case Except(item, words):
                for word in self.completions(item, start, count + len(words)):
                    if word not in words:
                        yield word
            case Rule(name):
                if rest:
                    yield from self.completions(self.rules[name], start, count)
                else:
                    yield from self._words_of_rules(count)[name]

    def words(self, term: Term, count: int) -> list[bytes]:
        """Up to `count` different words of the term."""
        return self._products((term,), count)

    def _words_of_rules(self, count: int) -> dict[str, list[bytes]]:
        """Least fixed point: what the rules give when every mention gives what was found before."""
        meaning = self.meaning
        if count not in meaning.rule_words:
            found: dict[str, list[bytes]] = {name: [] for name in self.rules}
            meaning.rule_words[count] = found
            meaning.searching += 1
            try:
                self._grow(found, count)
            except OracleLimit:
                del meaning.rule_words[count]
                raise
            finally:
                meaning.searching -= 1
        return meaning.rule_words[count]

    def _grow(self, found: dict[str, list[bytes]], count: int) -> None:
        changed = True
        while changed:
            changed = False
            for name, term in self.rules.items():
                if len(found[name]) < count:
                    words = self.words(term, count)
                    changed |= len(words) > len(found[name])
                    found[name] = words

    def _sequence_completions(self, items: tuple[Term, ...], start: int, count: int) -> Iterator[bytes]:
        places = {start}
        for index, item in enumerate(items):
            for place in sorted(places):
                # The data runs out inside this item (or just before it).
                for word in self.completions(item, place, count):
                    for tail in self._products(items[index + 1 :], count):
                        yield self.data[start:place] + word + tail
            places = {end for place in places for end in self.ends(item, place) if end < len(self.data)}
        if not items and start == len(self.data):
            yield b""

    def _products(self, items: tuple[Term, ...], count: int) -> list[bytes]:
        """Up to `count` words of the sequence of the items; fewer only if there are fewer."""
        meaning = self.meaning
        key = (tuple(map(id, items)), count)
        out = meaning.words.get(key)
        if out is None:
            out = [b""]
            for item in items:
                words = (
                    self._first(item, len(self.data), count) if len(items) == 1 else self.words(item, count)
                )
                out = list(dict.fromkeys(left + right for left in out for right in words))[:count]
            if not meaning.searching:
                meaning.words[key] = out
                meaning.kept.append(items)
        return out

    def _repeat_completions(self, term: Repeat, start: int, count: int) -> Iterator[bytes]:
        if term.maximum is not None and term.maximum < term.minimum:
            return
        data = self.data
        for place, read in self._repeat_places(term, start):
            head = data[start:place]
            if place == len(data) and read >= term.minimum:
                yield head
            if term.maximum is not None and read >= term.maximum:
                continue
            if read and term.separator.startswith(data[place:]):
                firsts = [term.separator + word for word in self.words(term.item, count)]
            else:
                firsts = [
                    data[place:begin] + word
                    for begin in self._after_separator(term, place, read)
                    for word in self.completions(term.item, begin, count)
                ]
            for first in firsts:
                for more in self._more_items(term, read + 1, count):
                    yield head + first + more

    def _more_items(self, term: Repeat, read: int, count: int) -> list[bytes]:
        """Up to `count` ways to go on after `read` items, each item behind its separator."""
        words = [term.separator + word for word in self.words(term.item, count)]
        out = [b""]
        for _ in range(term.minimum - read):
            out = list(dict.fromkeys(left + right for left in out for right in words))[:count]
        read = max(read, term.minimum)
        power = out
        while len(out) < count and power and (term.maximum is None or read < term.maximum):
            power = list(dict.fromkeys(left + right for left in power for right in words))[:count]
            longer = list(dict.fromkeys([*out, *power]))
            if longer == out:
                break
            out, read = longer[:count], read + 1
        return out

    def _text_completions(self, term: Text, start: int, count: int) -> Iterator[bytes]:
        data = self.data
        for at, state, read in self._walk(term, start):
            rest = data[at:]
            if not rest:
                yield from (data[start:] + tail for tail in self._text_words(term, state, read, count))
            elif len(rest) < 12 and read != term.max_chars:
                # Perhaps the data stops inside a character.
                for spelling, target in chars(term, state, rest, count):
                    for tail in self._text_words(term, target, read + 1, count):
                        yield data[start:at] + spelling + tail

    def _text_words(self, term: Text, state: int, read: int, count: int) -> list[bytes]:
        tails = self.meaning.tails
        key = (id(term), state, read, count)
        if key not in tails:
            tails[key] = text_words(term, state, read, count)
            self.meaning.kept.append(term)
        return tails[key]
