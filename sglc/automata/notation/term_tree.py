"""A language as a tree of its terms, one a line, for people.

A term of several parts that stands at several places is written once, with a number (`@3`), and meant by it
elsewhere. Rules follow the root, in the order in which they are first asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from sglc.automata import term as t
from sglc.automata.charset import ranges
from sglc.automata.notation.characters import show_bytes, show_class, show_counts, show_dfa, show_words

MOST_RULES = 200
"""Rules of a grammar that are written out; the others are counted."""
MOST_LINES = 2_000
"""Lines of one tree."""
_ENCODED = {"raw": "", "json": " in JSON's canonical spelling", "json-any": " in any spelling of JSON"}


def show_language(language: t.Language) -> str:
    """The tree of the root, then of the rules that it leads to; no more than `MOST_LINES` lines."""
    tree = _Tree(language)
    lines: list[str] = []
    for line in tree.lines():
        if len(lines) == MOST_LINES:
            lines.append("…")
            break
        lines.append(line)
    return "\n".join(lines)


def show_term(term: t.Term) -> str:
    """What a term is, without its parts."""
    match term:
        case t.Nothing():
            return "nothing"
        case t.Anything():
            return "any bytes"
        case t.Bytes(data):
            return show_bytes(data)
        case t.Text(dfa, encoding, least, most):
            return "text " + show_text(dfa, encoding, least, most)
        case t.Pattern(nfa, encoding):
            return "pattern " + show_nfa(nfa) + _ENCODED[encoding]
        case t.NotBefore(forbidden):
            return f"not before {show_class(ranges(forbidden))}"
        case t.Words(words):
            return f"word {show_words(words)}" if len(words) > 1 else show_words(words)
        case t.Listed(texts, encoding):
            return f"one of {show_words(text.encode() for text in texts)}{_ENCODED[encoding]}"
        case t.Rule(name):
            return f"rule {name}"
        case t.Span(text, encoding, least, most):
            return f"piece of {show_bytes(text.encode())}{_chars(least, most)}{_ENCODED[encoding]}"
        case t.Sequence():
            return "sequence"
        case t.Choice():
            return "choice"
        case t.Repeat(_, minimum, maximum, separator):
            between = f", with {show_bytes(separator)} between" if separator else ""
            return f"repeat, {show_counts(minimum, maximum)}{between}"
        case t.Except(_, words):
            return f"not {show_words(words)}"
        case t.Array(minimum=minimum, maximum=maximum, distinct=distinct):
            return f"items, {show_counts(minimum, maximum)}" + (", all different" if distinct else "")
        case t.Object():
            return _object(term)
    raise TypeError(f"not a term: {type(term).__name__}")


def show_text(dfa: t.CharDfa, encoding: t.Encoding, least: int, most: int | None) -> str:
    """The words of an automaton: their pattern, length and spelling, and its size."""
    states = f"{len(dfa.edges):,} state{'' if len(dfa.edges) == 1 else 's'}"
    return f"{show_dfa(dfa)}{_chars(least, most)}{_ENCODED[encoding]}, {states}"


def show_nfa(nfa: t.CharNfa) -> str:
    """How the words of a pattern begin, and its size."""
    first = ranges([(low, high) for state in nfa.groups[0] for low, high, _ in nfa.edges[state]])
    return f"{show_class(first)}…, {len(nfa.edges):,} states, not deterministic"


def _chars(least: int, most: int | None) -> str:
    if least == 0 and most is None:
        return ""
    return f", {show_counts(least, most)} character{'s' if (least, most) != (1, 1) else ''}"


def _object(term: t.Object) -> str:
    order = "in any order" if term.order == "any" else "in order"
    needed = {index for clause in term.clauses if len(clause) == 1 for index, there in clause if there}
    shown = f"entries {order}, {show_counts(term.minimum, term.maximum)}"
    if needed:
        names = ", ".join(show_bytes(term.properties[index].name.encode()) for index in sorted(needed))
        shown += f", with {names}"
    others = len(term.clauses) - len(needed)
    if others:
        shown += f", {others} more condition{'' if others == 1 else 's'} on what is there"
    return shown + (", keys differ" if term.distinct else "")


class _Tree:
    """The lines of one language."""

    def __init__(self, language: t.Language) -> None:
        self._language = language
        self._uses: Counter[int] = Counter()
        self._numbers: dict[int, int] = {}
        self._rules: dict[str, None] = {}

    def lines(self) -> Iterator[str]:
        self._count(self._language.root)
        yield from self._term(self._language.root, "", "")
        shown = 0
        while len(self._rules) > shown:
            if shown == MOST_RULES:
                yield f"… and {len(self._rules) - shown:,} more rules that these ask for"
                return
            name = list(self._rules)[shown]
            shown += 1
            body = self._language.rules.get(name)
            yield f"rule {name}"
            if body is not None:
                self._count(body)
                yield from self._term(body, "  ", "")

    def _count(self, root: t.Term) -> None:
        """How many parents each term has; terms are parts of the language, which keeps them."""
        waiting = [root]
        while waiting:
            term = waiting.pop()
            self._uses[id(term)] += 1
            if self._uses[id(term)] == 1:
                waiting += t.parts(term)

    def _term(self, term: t.Term, indent: str, label: str) -> Iterator[str]:
        if isinstance(term, t.Rule):
            self._rules.setdefault(term.name)
        if not t.parts(term):
            yield f"{indent}{label}{show_term(term)}"
            return
        number = self._numbers.get(id(term))
        if number is not None:
            yield f"{indent}{label}@{number}"
            return
        mark = ""
        if self._uses[id(term)] > 1:
            number = self._numbers[id(term)] = len(self._numbers) + 1
            mark = f"@{number} = "
        yield f"{indent}{label}{mark}{show_term(term)}"
        for name, part in _labelled(term):
            yield from self._term(part, indent + "  ", f"{name}: " if name else "")


def _labelled(term: t.Term) -> Iterable[tuple[str, t.Term]]:
    """The parts of a term with what they are for; what JSON always writes alike is left out."""
    match term:
        case t.Array(places, rest, comma=comma):
            found = [(f"item {at}", arm.term) for at, arms in enumerate(places) for arm in arms]
            found += [("further items" if places else "item", arm.term) for arm in rest]
            return [*found, *_unusual("between", comma, b", ")]
        case t.Object(properties, families, comma=comma, colon=colon):
            found = []
            for prop in properties:
                found += _of_arms(show_bytes(prop.name.encode()), prop.arms)
            for family in families:
                found += _of_arms(f"keys {show_dfa(family.keys)}", family.arms)
            return [*found, *_unusual("between", comma, b", "), *_unusual("behind a key", colon, b": ")]
    return [("", part) for part in t.parts(term)]


def _of_arms(name: str, arms: tuple[t.Arm, ...]) -> list[tuple[str, t.Term]]:
    return [(name, arm.term) for arm in arms] or [(name, t.Nothing())]


def _unusual(name: str, term: t.Term, usual: bytes) -> list[tuple[str, t.Term]]:
    return [] if term == t.Bytes(usual) else [(name, term)]
