"""Whether a text is a word of a language: a recogniser for the terms of grammars.

Top-down over sets of places with a table of what each term matches from each place (packrat, but with all
ends and not only one; Frost, Hafiz and Callaghan 2007 for grammars without left recursion, of which terms
have none). It runs on an explicit stack, so nesting is bounded by memory only, and counts its work.
"""

from __future__ import annotations

from collections.abc import Generator

from sglc.automata.term import (
    Anything,
    Bytes,
    Choice,
    Except,
    Language,
    NotBefore,
    Nothing,
    Repeat,
    Rule,
    Sequence,
    Term,
    Text,
    Words,
)

MAX_WORK = 5_000_000
"""Steps: characters read by automata, terms tried at places."""

Ends = frozenset[int]
_NONE: Ends = frozenset()
_Run = Generator[tuple[Term, int], Ends, Ends]


class MembershipLimit(Exception):
    """The text needs more work than is allowed."""


def is_word(language: Language, text: str) -> bool:
    """Raw texts and terms of types and grammars. Raises MembershipLimit, TypeError for other terms."""
    return len(text) in _Recogniser(language, text).ends(language.root, 0)


class _Recogniser:
    def __init__(self, language: Language, text: str) -> None:
        self.rules = language.rules
        self.text = text
        self.known: dict[tuple[int, int], Ends] = {}
        self.work = 0
        self.kept: dict[Bytes, Bytes] = {}

    def ends(self, root: Term, start: int) -> Ends:
        """All places where a match of the term from `start` can end."""
        stack: list[tuple[tuple[int, int], _Run]] = []
        answer: Ends | None = None
        asked: tuple[Term, int] | None = (root, start)
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
        self.work += steps
        if self.work > MAX_WORK:
            raise MembershipLimit(f"more than {MAX_WORK} steps are needed")

    def leaf(self, term: Term, at: int) -> Ends | None:
        """Of terms without parts; None for others."""
        text = self.text
        match term:
            case Nothing():
                return _NONE
            case Anything():
                return frozenset(range(at, len(text) + 1))
            case Bytes(data):
                word = data.decode()
                return frozenset((at + len(word),)) if text.startswith(word, at) else _NONE
            case Words(words):
                found = (word.decode() for word in words if text.startswith(word.decode(), at))
                self.count(len(words))
                return frozenset(at + len(word) for word in found)
            case NotBefore(barred):
                code = ord(text[at]) if at < len(text) else -1
                return _NONE if any(low <= code <= high for low, high in barred) else frozenset((at,))
            case Text():
                return self.scan(term, at)
        return None

    def scan(self, term: Text, at: int) -> Ends:
        if term.encoding != "raw":
            raise TypeError("only raw texts can be recognised")
        edges, accepting = term.dfa.edges, term.dfa.accepting
        if not edges:
            return _NONE
        state, place, found = 0, at, []
        most = len(self.text) if term.max_chars is None else min(len(self.text), at + term.max_chars)
        while True:
            if state in accepting and place - at >= term.min_chars:
                found.append(place)
            if place >= most:
                break
            code = ord(self.text[place])
            for low, high, target in edges[state]:
                if low <= code <= high:
                    state = target
                    break
            else:
                break
            place += 1
        self.count(place - at)
        if term.greedy:
            # A greedy text cannot end where it could go on.
            found = found[-1:] if found and found[-1] == place else []
        return frozenset(found)

    def run(self, term: Term, at: int) -> _Run:
        match term:
            case Rule(name):
                return (yield self.rules[name], at)
            case Sequence(items):
                places: Ends = frozenset((at,))
                for item in items:
                    places = yield from self.onward(item, places)
                    if not places:
                        break
                return places
            case Choice(arms):
                ends: set[int] = set()
                for arm in arms:
                    ends |= yield arm, at
                return frozenset(ends)
            case Repeat():
                return (yield from self.repeated(term, at))
            case Except(item, words):
                barred = {at + len(w.decode()) for w in words if self.text.startswith(w.decode(), at)}
                return frozenset((yield item, at)) - barred
        raise TypeError(f"{type(term).__name__} cannot be recognised")

    def onward(self, item: Term, places: Ends) -> _Run:
        ends: set[int] = set()
        for place in places:
            ends |= yield item, place
        return frozenset(ends)

    def repeated(self, term: Repeat, at: int) -> _Run:
        parting = Bytes(term.separator)
        known = self.keep(parting)
        ends: set[int] = set()
        places: Ends = frozenset((at,))
        if term.minimum == 0:
            ends.add(at)
        done = 0
        seen: set[int] = set()
        while places and (term.maximum is None or done < term.maximum):
            if done and term.separator:
                places = yield from self.onward(known, places)
            places = yield from self.onward(term.item, places)
            done += 1
            if done >= term.minimum:
                if term.maximum is None:
                    places = places - seen
                    seen |= places
                ends |= places
            self.count(1)
        return frozenset(ends)

    def keep(self, term: Bytes) -> Bytes:
        """Terms are told apart by identity, so those made here must stay alive."""
        return self.kept.setdefault(term, term)
