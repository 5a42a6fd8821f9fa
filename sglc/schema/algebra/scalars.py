"""The null, booleans, numbers and strings of a node, as sets: whole logic by union, intersection, complement.

Scalars have no parts that other schemas could speak of, so each logical keyword is one operation on sets.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, TypeVar

from sglc.automata import work
from sglc.automata.dfa import operations as automata
from sglc.automata.formats.formats import format_names, format_text
from sglc.automata.formats.terms import GRAMMARS
from sglc.automata.number.number_set import NumberError, NumberSet
from sglc.automata.regex.compile import RegexError, compile_regex
from sglc.automata.regex.to_term import regex_texts
from sglc.automata.term import CharDfa
from sglc.schema.algebra import numbers, strings
from sglc.schema.algebra.forms import Literals
from sglc.schema.core import graph as g
from sglc.schema.core.errors import SchemaError, SchemaFault, SchemaTooLarge, UnsupportedSchema
from sglc.schema.core.graph import Graph, Part

_INTEGERS = NumberSet(integer=True)
Constants = frozenset[bool | None]
"""Of None, False and True, those that are allowed."""
EVERY_CONSTANT: Constants = frozenset({None, False, True})


Set = TypeVar("Set")
"""A set of scalars of one kind; an empty one is false."""


@dataclass(frozen=True, slots=True)
class Kind(Generic[Set]):
    """One kind of scalars with its algebra; `atom` is the set of a part that is about it, None of others."""

    bit: int
    every: Set
    meet: Callable[[Set, Set], Set]
    join: Callable[[Set, Set], Set]
    complement: Callable[[Set], Set]
    atom: Callable[[Part], Set | None]
    exactly_one: Callable[[list[Set]], Set | None] = lambda sets: None
    """What lies in one of several sets alone, where the kind has a way of its own to find it."""


class Scalars:
    """Sets of scalars by node, each made once. Raises UnsupportedSchema for patterns that are not regular."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.constant = Kind(
            g.NULL | g.BOOL,
            EVERY_CONSTANT,
            frozenset.intersection,
            frozenset.union,
            EVERY_CONSTANT.difference,
            _constants,
        )
        self.number = Kind(
            g.NUMBER, numbers.EVERY, numbers.meet, numbers.join, numbers.complement, self._numbers
        )
        self.string = Kind(
            g.STRING,
            strings.EVERY,
            strings.meet,
            strings.join,
            strings.complement,
            self._strings,
            _strings_of_one,
        )
        self._known: dict[tuple[int, int], Any] = {}
        self._sets: dict[tuple[int, Literals], Any] = {}
        """By the bit of the kind first: it says what a set is made of."""

    def of(self, kind: Kind[Set], these: Literals) -> Set:
        """The values that satisfy all literals."""
        key = (kind.bit, these)
        found: Set | None = self._sets.get(key)
        if found is None:
            found = self._sets[key] = self._of(kind, these)
        return found

    def _of(self, kind: Kind[Set], these: Literals) -> Set:
        found = kind.every
        for literal in sorted(these):
            if literal == 1:
                return kind.complement(kind.every)
            try:
                with work.part(self.graph.nodes[literal >> 1].path):
                    value = self.node(kind, literal >> 1)
                    found = kind.meet(found, kind.complement(value) if literal & 1 else value)
            except strings.NotRegular as fault:
                raise _not_regular(fault, self.graph.nodes[literal >> 1].path) from None
            if not found:
                break
        return found

    def step_path(self, these: Literals) -> str | None:
        """Where a `multipleOf` stands that the literals ask about; None if there is none."""
        waiting = [literal >> 1 for literal in sorted(these)]
        seen = set(waiting)
        for number in waiting:
            node = self.graph.nodes[number]
            for part in node.parts:
                if isinstance(part, g.Range) and part.numbers.multiples:
                    return f"{node.path}/multipleOf"
                inner = self._inner(part)
                waiting += [each for each in inner if each not in seen]
                seen.update(inner)
        return None

    def _inner(self, part: Part) -> tuple[int, ...]:
        """The nodes of a part that are about the same value."""
        match part:
            case g.All(nodes) | g.Any_(nodes) | g.One(nodes):
                return nodes
            case g.Not(node):
                return (node,)
            case g.If(condition, then, otherwise):
                return condition, then, otherwise
            case g.Ref(key, _):
                return (self.graph.references[key],)
        return ()

    def node(self, kind: Kind[Set], number: int) -> Set:
        """The scalars of a kind that satisfy a node. Raises SchemaError for a bare self-reference."""
        key = (kind.bit, number)
        if key in self._known:
            known: Set | None = self._known[key]
            if known is None:
                path = self.graph.nodes[number].path
                raise SchemaError("the schema refers to itself without going into a value", path)
            return known
        node = self.graph.nodes[number]
        found = kind.every
        if not node.mask & kind.bit:
            found = kind.complement(found)
        else:
            self._known[key] = None
            try:
                # What a format that is no regular set meets may lie in it once all else has been met.
                for part in sorted(node.parts, key=lambda part: isinstance(part, g.Format)):
                    value = self.part(kind, part)
                    if value is not None:
                        found = kind.meet(found, value)
                        if not found:
                            break
            except strings.NotRegular as fault:
                raise _not_regular(fault, node.path) from None
            except (automata.TooLarge, NumberError) as fault:
                raise SchemaTooLarge(str(fault), node.path) from None
        self._known[key] = found
        return found

    def part(self, kind: Kind[Set], part: Part) -> Set | None:
        """The scalars of one kind that satisfy a part; None where it is not about them."""
        match part:
            case g.All(nodes):
                found = kind.every
                for number in nodes:
                    with work.part(self.graph.nodes[number].path):
                        found = kind.meet(found, self.node(kind, number))
                return found
            case g.Any_(nodes):
                union: Set | None = None
                for number in nodes:
                    with work.part(self.graph.nodes[number].path):
                        value = self.node(kind, number)
                        union = value if union is None else kind.join(union, value)
                return union
            case g.One(nodes):
                return self._one(kind, nodes)
            case g.Not(number):
                return kind.complement(self.node(kind, number))
            case g.If(condition, then, otherwise):
                value = self.node(kind, condition)
                return kind.join(
                    kind.meet(value, self.node(kind, then)),
                    kind.meet(kind.complement(value), self.node(kind, otherwise)),
                )
            case g.Ref(key, _):
                return self.node(kind, self.graph.references[key])
            case _:
                return kind.atom(part)

    def _one(self, kind: Kind[Set], nodes: tuple[int, ...]) -> Set:
        """Values of exactly one node: those seen once so far, and those seen more often."""
        once = more = kind.complement(kind.every)
        values = [value for number in nodes if (value := self.node(kind, number))]
        found = kind.exactly_one(values)
        if found is not None:
            return found
        for value in values:
            if not once and not more:
                once = value
                continue
            shared = kind.meet(once, value)
            once = kind.join(once, value)
            more = kind.join(more, shared)
            if more:
                once = kind.meet(once, kind.complement(more))
        return once

    def _numbers(self, part: Part) -> numbers.Numbers | None:
        match part:
            case g.Types(mask, integer, plain):
                if not mask & g.NUMBER:
                    return ()
                return (numbers.NumberPart(_INTEGERS, None, True if plain else None),) if integer else None
            case g.Values(values):
                return numbers.finite(value for value in values if isinstance(value, Decimal))
            case g.Range(these):
                return numbers.of_set(these)
        return None

    def _strings(self, part: Part) -> strings.Strings | None:
        match part:
            case g.Types(mask):
                return None if mask & g.STRING else ()
            case g.Values(values):
                return strings.finite(value for value in values if isinstance(value, str))
            case g.Length(low, high):
                return strings.of_length(low, high)
            case g.Pattern(pattern, path):
                return pattern_strings(pattern, path)
            case g.Format(name, path):
                return format_strings(name, path)
        return None


def _strings_of_one(sets: list[strings.Strings]) -> strings.Strings | None:
    """The strings of exactly one set, by one automaton for all, where several sets have automata."""
    if len(sets) < 2 or not any(one.dfa for each in sets for one in each):
        return None
    return strings.of_exactly_one(sets)


def _not_regular(fault: strings.NotRegular, path: str) -> UnsupportedSchema:
    reason = f"the format {str(fault)!r} is no regular set, so it stands alone or not at all"
    return UnsupportedSchema("format", path, reason)


def _constants(part: Part) -> Constants | None:
    match part:
        case g.Types(mask):
            found = EVERY_CONSTANT
            if not mask & g.NULL:
                found -= {None}
            if not mask & g.BOOL:
                found -= {False, True}
            return found
        case g.Values(values):
            return frozenset(
                None if value is None else value[1]
                for value in values
                if value is None or (isinstance(value, tuple) and value[0] == "bool")
            )
    return None


_REFERENCE = re.compile(r"(\\[^1-9k])|\\[1-9][0-9]*|\\k<[^>]*>", re.DOTALL)
_LITERAL = re.compile(r"\^([A-Za-z0-9_:@%&=,;<>~!# -]*)\$")
"""Patterns of one string."""


def pattern_strings(pattern: str, path: str) -> strings.Strings:
    """The strings in which an ECMAScript pattern matches somewhere."""
    literal = _LITERAL.fullmatch(pattern)
    if literal is not None:
        return strings.finite((literal[1],))
    try:
        texts = regex_texts(pattern, anchored=False, dialect="ecma")
    except RegexError as fault:
        raise _bad_pattern(fault, pattern, "pattern", path) from None
    if texts is None:
        return (strings.StringSet(pattern=pattern),)
    return strings.union(
        strings.StringSet(dfa=text.dfa, low=text.min_chars, high=text.max_chars) for text in texts
    )


def pattern_automaton(pattern: str, path: str) -> CharDfa:
    """The same as one automaton, for patterns of keys."""
    literal = _LITERAL.fullmatch(pattern)
    if literal is not None:
        return automata.literal(literal[1])
    try:
        return compile_regex(pattern, anchored=False, dialect="ecma")
    except RegexError as fault:
        raise _bad_pattern(fault, pattern, "patternProperties", path) from None


def _bad_pattern(fault: RegexError, pattern: str, keyword: str, path: str) -> SchemaFault:
    """What is no pattern at all is malformed; other patterns are not regular, or too large."""
    # The format has no references to groups; in their place stands what may stand there too.
    plain = _REFERENCE.sub(lambda found: found[1] or "(?:)", pattern)
    try:
        known = strings.is_of_format(plain, "regex")
    except strings.NotRegular:
        known = True
    if known:
        return UnsupportedSchema(keyword, path, str(fault))
    return SchemaError(f"{pattern!r} is no ECMAScript pattern: {fault}", path)


STANDARD_FORMATS = format_names() - {"hostname-ldh"} | GRAMMARS | {"idn-hostname"}
"""All but the last have a language."""


def format_strings(name: str, path: str) -> strings.Strings | None:
    """The strings of a format of the standard; None for other names, which are annotations."""
    if name not in STANDARD_FORMATS and name != "hostname-ldh":
        return None
    found = format_text(name)
    if found is not None:
        return (strings.StringSet(dfa=found.dfa, high=found.max_chars),)
    if name in GRAMMARS:
        return (strings.StringSet(format=name),)
    raise UnsupportedSchema("format", path, f"there is no automaton of the format {name!r}")
