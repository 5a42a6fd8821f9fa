"""From the language of a hole to a grammar whose rules read single characters.

Most terms have an equal expression. The others get one that accepts more, and it is noted what was lost.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from sglc.automata import term as t
from sglc.automata.charset import ALL, Ranges, invert, meet
from sglc.automata.dfa.nfa_union import repeated
from sglc.automata.dfa.operations import any_char_class, difference, intersect, labelled, words
from sglc.cfg.model import grammar as g
from sglc.targets.projection.grammars.elimination import TooManyParts, pattern_of
from sglc.targets.projection.grammars.expressions import (
    characters,
    choice,
    repeat,
    rules_of,
    sequence,
    size,
)
from sglc.targets.projection.grammars.few_texts import few_texts
from sglc.targets.projection.grammars.spans import pieces
from sglc.types.json_text import json_text

MOST_STATES = 3_000
"""States of an automaton that is written state by state. A larger one is refused: xgrammar 0.2.8 takes 4 ms
of processor time for each with a vocabulary of 49,000 tokens: 12 s for so many before a first token."""
MOST_RANGES = 16
"""Ranges and escapes of a set of characters that is written where it is used: letters, digits and some marks
are no more. An automaton names larger sets (all letters of Unicode have 700 ranges) at each of its states."""
MOST_LISTED = 1_000
"""Words of a finite language that are listed one by one where some are left out."""
_ESCAPED: Ranges = ((0, 0x1F), (0x22, 0x22), (0x5C, 0x5C))
"""Characters that a JSON string has as escapes."""
_ONE_CHARACTER = any_char_class(ALL)


class Refused(Exception):
    """A term that no expression accepts all of. `construct` names it as in a loss."""

    def __init__(self, construct: str) -> None:
        super().__init__(construct)
        self.construct = construct


class TermGrammar:
    """Writes terms as expressions and collects the rules that they refer to.

    What has no equal expression gets one that accepts more; `lost` lists each once as (construct, what is
    there instead). Where nothing accepts more, it is Refused.
    """

    def __init__(self, language: t.Language) -> None:
        self.language = language
        self.root: g.Expression = g.EMPTY
        self.rules: dict[str, g.Expression] = {}
        self.lost: dict[tuple[str, str], None] = {}
        self._automata: dict[tuple[t.CharDfa, t.Encoding], g.Expression] = {}
        self._characters: dict[tuple[Ranges, t.Encoding], g.Expression] = {}

    def write(self) -> None:
        """Write the whole language, once. Raises Refused."""
        self.root = self.expression(self.language.root)

    def grammar(self) -> g.Grammar:
        """What was written; the grammar starts with the rule `root`."""
        rules = {"root": g.Rule("root", self.root)}
        rules |= {name: g.Rule(name, body) for name, body in self.rules.items()}
        return g.Grammar(rules, {}, (), "root", "gbnf")

    def lose(self, construct: str, instead: str) -> None:
        """Note that something is left out, and what is there instead."""
        self.lost[construct, instead] = None

    def expression(self, term: t.Term) -> g.Expression:
        """The texts of a term. Raises Refused."""
        match term:
            case t.Nothing():
                return g.Alternatives(())
            case t.Bytes(data):
                return _literal(data)
            case t.Text():
                return self.text(term)
            case t.Pattern(nfa=nfa, encoding=encoding):
                return self.nfa(nfa, encoding)
            case t.Sequence(items):
                return sequence(*(self.expression(item) for item in items))
            case t.Choice(arms):
                return choice(*(self.expression(arm) for arm in arms))
            case t.Words(found):
                return choice(*(_literal(word) for word in sorted(found)))
            case t.Listed(texts=texts, encoding=encoding):
                return choice(*(self.written(text, encoding) for text in sorted(texts)))
            case t.Repeat(item, low, high, separator):
                return self.repeated(self.expression(item), low, high, _literal(separator))
            case t.Rule(name):
                return self.rule(name)
            case t.Array():
                return self.array(term)
            case t.Object():
                return self.object(term)
            case t.NotBefore():
                self.lose("where a terminal ends", "any place where its pattern may end")
                return g.EMPTY
            case t.Except(item, left_out):
                return self.without(item, left_out)
            case t.Span():
                return self.piece(term)
            case t.Anything():
                raise Refused("any bytes")
        raise Refused(type(term).__name__)

    def rule(self, name: str) -> g.Expression:
        """A reference to a rule of the language, which is made at its first use."""
        key = f"rule.{name}"
        if key not in self.rules:
            self.rules[key] = g.EMPTY
            self.rules[key] = self.expression(self.language.rules[name])
        return g.Reference(key)

    # -- characters --------------------------------------------------------------------------------

    def text(self, term: t.Text) -> g.Expression:
        """The words of an automaton, counted in characters."""
        dfa, low, high = term.dfa, term.min_chars, term.max_chars
        if (low, high) != (0, None):
            points = _alphabet(dfa)
            if points is not None:
                return repeat(self.encoded(points, term.encoding), low, high)
            dfa = intersect(dfa, self.counted(low, high))
        return self.automaton(dfa, term.encoding)

    def piece(self, term: t.Span) -> g.Expression:
        """The pieces of a text. Raises Refused for a text of more than `MOST_STATES` characters."""
        found = self.pieces_of(term)
        try:
            return self.text(found)
        except Refused:
            self.lose("the length of a piece", "a piece of any length")
            return self.text(replace(found, min_chars=0, max_chars=None))

    def pieces_of(self, term: t.Span) -> t.Text:
        """A piece as a text of an automaton."""
        if len(term.text) > MOST_STATES:
            raise Refused(f"a piece of a text of {len(term.text):,} characters")
        dfa, low = pieces(term.text), term.min_chars
        if low == 1:  # no way leads back to the start, so the automaton can keep this itself
            dfa, low = replace(dfa, accepting=dfa.accepting - {0}), 0
        high = None if term.max_chars is None or term.max_chars >= len(term.text) else term.max_chars
        return t.Text(dfa, term.encoding, low, high)

    def counted(self, low: int, high: int | None) -> t.CharDfa:
        """All texts of `low` to `high` characters. Raises Refused for more than `MOST_STATES`."""
        if max(low, high or 0) > MOST_STATES:
            raise Refused(f"texts of up to {max(low, high or 0):,} characters that match a pattern")
        return repeated(_ONE_CHARACTER, low, high)

    def automaton(self, dfa: t.CharDfa, encoding: t.Encoding) -> g.Expression:
        """An automaton as a pattern, or as rules where the pattern would be long."""
        if len(dfa.edges) > MOST_STATES:  # no short pattern either, and looking for one takes minutes
            raise Refused(f"an automaton of {len(dfa.edges):,} states")
        known = self._automata.get((dfa, encoding))
        if known is None:
            try:
                known = pattern_of(dfa, lambda points: self.encoded(points, encoding))
            except TooManyParts:
                known = self.states(labelled(dfa), dfa.accepting, encoding)
            self._automata[dfa, encoding] = known
        return known

    def nfa(self, nfa: t.CharNfa, encoding: t.Encoding) -> g.Expression:
        """An automaton that is not deterministic: its states are rules. Group 0 are those at the start."""
        rows: list[list[tuple[Ranges, int]]] = [
            [(((low, high),), target) for low, high, group in row for target in nfa.groups[group]]
            for row in nfa.edges
        ]
        first = [edge for state in nfa.groups[0] for edge in rows[state]]
        moved = [[(points, target + 1) for points, target in row] for row in (first, *rows)]
        accepting = {state + 1 for state in nfa.accepting}
        if nfa.accepting & set(nfa.groups[0]):
            accepting.add(0)
        return self.states(moved, accepting, encoding)

    def states(
        self, rows: Sequence[Sequence[tuple[Ranges, int]]], accepting: Collection[int], encoding: t.Encoding
    ) -> g.Expression:
        """An automaton as rules, one a state. Raises Refused for more than `MOST_STATES`."""
        if len(rows) > MOST_STATES:
            raise Refused(f"an automaton of {len(rows):,} states")
        name = f"text.{len(self.rules)}"
        made = rules_of(rows, accepting, name, lambda points: self.encoded(points, encoding))
        self.rules |= made
        return g.Reference(next(iter(made)))

    def encoded(self, points: Ranges, encoding: t.Encoding) -> g.Expression:
        """One character of a set as it is written in an encoding; a large set is a rule, which all share."""
        known = self._characters.get((points, encoding))
        if known is None:
            known = self.one_of(points, encoding)
            if len(points) > MOST_RANGES or size(known) > MOST_RANGES:
                name = f"char.{len(self.rules)}"
                self.rules[name] = known
                known = g.Reference(name)
            self._characters[points, encoding] = known
        return known

    def one_of(self, points: Ranges, encoding: t.Encoding) -> g.Expression:
        """One character of a set, written out."""
        if encoding == "raw":
            return characters(points)
        if encoding == "json-any":
            raise Refused("every spelling of a JSON string")
        plain = meet(points, invert(_ESCAPED))
        escaped = meet(points, _ESCAPED)
        arms = [characters(plain)] if plain else []
        arms += [g.Literal(_escape(point)) for low, high in escaped for point in range(low, high + 1)]
        return choice(*arms)

    def written(self, text: str, encoding: t.Encoding) -> g.Expression:
        """One text as it is written in an encoding."""
        if encoding == "json-any":
            raise Refused("every spelling of a JSON string")
        return g.Literal(text if encoding == "raw" else json.dumps(text, ensure_ascii=False)[1:-1])

    def without(self, item: t.Term, left_out: frozenset[bytes]) -> g.Expression:
        """A term without some words: of a text another automaton, of few words the others."""
        match item:
            case t.Rule(name):
                return self.without(self.language.rules[name], left_out)
            case t.Choice(arms):
                return choice(*(self.without(arm, left_out) for arm in arms))
            case t.Text(encoding="raw"):
                return self.text(_lacking(item, [word.decode() for word in left_out]))
            case t.Span(encoding="raw"):
                return self.text(_lacking(self.pieces_of(item), [word.decode() for word in left_out]))
            case t.Sequence(
                (t.Bytes(b'"'), (t.Text(encoding="json") | t.Span(encoding="json")) as text, t.Bytes(b'"'))
            ):
                inner = text if isinstance(text, t.Text) else self.pieces_of(text)
                quoted = g.Literal('"')
                return sequence(quoted, self.text(_lacking(inner, list(_unquoted(left_out)))), quoted)
        few = few_texts(item, self.language, MOST_LISTED)
        if few is not None:
            return choice(*(_literal(word) for word in sorted(few - left_out)))
        self.lose("words that are left out", "these words too")
        return self.expression(item)

    # -- parts of JSON -----------------------------------------------------------------------------

    def repeated(
        self, item: g.Expression, low: int, high: int | None, separator: g.Expression
    ) -> g.Expression:
        """`low` to `high` items with a separator between them."""
        if high == 0:
            return g.EMPTY
        if separator == g.EMPTY:
            return repeat(item, low, high)
        more = repeat(sequence(separator, item), max(low - 1, 0), None if high is None else high - 1)
        some = sequence(item, more)
        return choice(some, g.EMPTY) if low == 0 else some

    def arms(self, arms: tuple[t.Arm, ...]) -> g.Expression:
        """One of the ways to fill a place; what they count is not kept."""
        return choice(*(self.expression(arm.term) for arm in arms))

    def array(self, term: t.Array) -> g.Expression:
        """Places one by one, and the rest behind them."""
        if term.distinct:
            self.lose("items that differ", "items that may be equal")
        if any(counter != t.Counter() for counter in term.counters):
            self.lose("counted items", "any number of these items")
        comma = self.expression(term.comma)
        if not term.places:
            return (
                self.repeated(self.arms(term.rest), term.minimum, term.maximum, comma)
                if term.rest
                else g.EMPTY
            )
        most = len(term.places) if term.maximum is None else min(len(term.places), term.maximum)
        filled = next((n for n, place in enumerate(term.places[:most]) if not place), most)
        behind: g.Expression = g.EMPTY
        if filled == len(term.places) and term.rest:
            high = None if term.maximum is None else term.maximum - filled
            item = sequence(comma, self.arms(term.rest))
            behind = repeat(item, max(term.minimum - filled, 0), high)
        for number in range(filled - 1, -1, -1):
            here = sequence(comma if number else g.EMPTY, self.arms(term.places[number]), behind)
            behind = choice(here, g.EMPTY) if number >= term.minimum else here
        return behind

    def object(self, term: t.Object) -> g.Expression:
        """Properties in their order, entries of families behind them."""
        if term.order == "any" and len(term.properties) + len(term.families) > 1:
            raise Refused("keys in any order")
        if any(counter != t.Counter() for counter in term.counters):
            self.lose("counted entries", "any number of these entries")
        required = {next(iter(clause))[0] for clause in term.clauses if _requires(clause)}
        if any(not _requires(clause) for clause in term.clauses):
            self.lose("keys that depend on each other", "each of these keys or none")
        comma, colon = self.expression(term.comma), self.expression(term.colon)
        entries = [
            (sequence(self.key(known.name, term.encoding), colon, self.arms(known.arms)), number in required)
            for number, known in enumerate(term.properties)
            if known.arms
        ]
        own = frozenset(known.name for known in term.properties)
        families = [self.family(family, own, term.encoding, colon) for family in term.families]
        return self.entries(term, entries, choice(*families) if families else None, comma)

    def entries(
        self,
        term: t.Object,
        entries: list[tuple[g.Expression, bool]],
        family: g.Expression | None,
        comma: g.Expression,
    ) -> g.Expression:
        """Entries in their order, each (expression, whether it must be there), then those of families."""
        low, high = self.family_counts(term, entries, family is not None)
        if family is not None and term.distinct and (high is None or high > 1):
            self.lose("keys that occur once", "keys that may occur again")
        more = g.EMPTY if family is None else repeat(sequence(comma, family), low, high)
        first = g.EMPTY if family is None else self.repeated(family, low, high, comma)
        for entry, required in reversed(entries):
            begun = sequence(entry, more)
            first = begun if required else choice(begun, first)
            behind = sequence(comma, entry)
            more = sequence(behind, more) if required else self.shared(sequence(repeat(behind, 0, 1), more))
        return first

    def family_counts(
        self, term: t.Object, entries: list[tuple[g.Expression, bool]], families: bool
    ) -> tuple[int, int | None]:
        """How many entries of families there may be, where the number of entries says so."""
        low, high = term.minimum, term.maximum
        required = sum(needed for _, needed in entries)
        if required == len(entries) and families:
            return max(low - required, 0), None if high is None else max(high - required, 0)
        if low > required or (high is not None and (families or high < len(entries))):
            self.lose("the number of entries", "any number of them")
        return 0, None

    def shared(self, item: g.Expression) -> g.Expression:
        """A rule for an expression that is written twice."""
        name = f"entries.{len(self.rules)}"
        self.rules[name] = item
        return g.Reference(name)

    def key(self, name: str, encoding: t.Encoding) -> g.Expression:
        """A key with its quotes."""
        return sequence(g.Literal('"'), self.written(name, encoding), g.Literal('"'))

    def family(
        self, family: t.Family, own: frozenset[str], encoding: t.Encoding, colon: g.Expression
    ) -> g.Expression:
        """The entries of a family: keys that are no property of the object, and their values."""
        keys = difference(family.keys, words(own)) if own else family.keys
        quoted = sequence(g.Literal('"'), self.automaton(keys, encoding), g.Literal('"'))
        return sequence(quoted, colon, self.arms(family.arms))


def _lacking(term: t.Text, texts: list[str]) -> t.Text:
    return replace(term, dfa=difference(term.dfa, words(texts)))


def _unquoted(left_out: frozenset[bytes]) -> Iterator[str]:
    """The texts of those words that are texts of JSON in the one spelling."""
    for word in left_out:
        if len(word) > 1 and word.startswith(b'"'):
            with suppress(ValueError):
                text = json.loads(word)
                if json_text(text).encode() == word:
                    yield text


def _requires(clause: t.Clause) -> bool:
    """Whether a clause says that one property must be there, and nothing else."""
    return len(clause) == 1 and next(iter(clause))[1]


def _literal(data: bytes) -> g.Expression:
    try:
        return g.Literal(data.decode()) if data else g.EMPTY
    except UnicodeDecodeError:
        raise Refused("bytes that are no characters") from None


def _escape(point: int) -> str:
    return json.dumps(chr(point))[1:-1]


def _alphabet(dfa: t.CharDfa) -> Ranges | None:
    """The characters of an automaton that accepts all texts of them; None for any other."""
    if len(dfa.edges) != 1 or not dfa.accepting:
        return None
    return tuple((low, high) for low, high, _ in dfa.edges[0])
