"""Terminals of a grammar as automata.

Lark makes one pattern of each terminal, joining the patterns of its parts and trying longer alternatives
first. The same pattern is made here, so that what a terminal matches is what it matches there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from sglc.automata.charset import Ranges
from sglc.automata.dfa.nfa_union import alternation
from sglc.automata.dfa.operations import NONE, first_characters, literal, words
from sglc.automata.regex.portable import quantifier
from sglc.automata.term import CharDfa
from sglc.cfg.lexer import match_semantics as m
from sglc.cfg.model import grammar as g
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.validate import references
from sglc.source import Source

MAX_PATTERN = 200_000
"""Characters of the pattern of one terminal."""
MANY_TEXTS = 200
"""So many alternatives that are texts are a set of texts, which may be large."""


@dataclass(eq=False)
class Token:
    """One terminal, named or written in place. `value` is the pattern without its flags."""

    index: int
    name: str
    value: str
    flags: frozenset[str]
    is_text: bool
    """Whether it is a plain text, not a pattern."""
    priority: int = 0
    source: Source | None = field(default=None, repr=False)
    at: int = field(default=-1, repr=False)
    words: frozenset[str] = frozenset()
    """The texts, where they are data."""

    @property
    def regex(self) -> str:
        """The pattern with its flags written into it; a text is escaped."""
        return _with_flags(m.escaped(self.value) if self.is_text else self.value, self.flags)

    exact: str | None = field(init=False, repr=False)
    """The one text that it matches, if it is that plain."""

    def __post_init__(self) -> None:
        self.exact = self.value if self.is_text and "i" not in self.flags else None
        if self.words or (self.is_text and not self.value.isascii()):
            try:
                for text in self.words or (self.value,):
                    text.encode()
            except UnicodeEncodeError as fault:
                raise GrammarError(
                    f"U+{ord(fault.object[fault.start]):04X} is no character", self.source, self.at
                ) from None

    @cached_property
    def automaton(self) -> m.Automaton:
        """What it reads, with the characters that may not follow. Raises GrammarError if not supported."""
        text = self.exact
        if text is not None:
            return ((literal(text), ()),)
        if self.words:
            return ((words(self.words), ()),)
        try:
            found = m.compile_pattern(self.regex)
        except m.PatternError as fault:
            raise GrammarError(f"{self.shown}: {fault.reason}", self.source, self.at) from None
        return found

    @cached_property
    def whole(self) -> CharDfa:
        """All its texts, whatever may follow them."""
        parts = self.automaton
        return parts[0][0] if len(parts) == 1 else alternation([dfa for dfa, _ in parts])

    @cached_property
    def first(self) -> Ranges:
        """The characters that its texts begin with."""
        return first_characters([self.whole])

    @cached_property
    def found(self) -> tuple[CharDfa, CharDfa]:
        """See `patterns.compile_found`."""
        if self.is_text or self.words:
            return self.automaton[0][0], NONE
        try:
            return m.compile_found(self.regex)
        except m.PatternError as fault:
            raise GrammarError(f"{self.shown}: {fault.reason}", self.source, self.at) from None

    @cached_property
    def nullable(self) -> bool:
        """Whether it matches the empty text."""
        text = self.exact
        if text is not None or self.words:
            return text == ""
        return any(dfa.edges and 0 in dfa.accepting for dfa, _ in self.automaton)

    @property
    def shown(self) -> str:
        """How it is called in messages."""
        if not self.name.startswith("__"):
            return f"the terminal {self.name}"
        return repr(self.value) if self.is_text else f"/{self.value}/"

    @cached_property
    def order(self) -> tuple[int, int, int, str]:
        """Sorts terminals as Lark's lexers try them."""
        if self.words:
            width = max(map(len, self.words))
        else:
            width = len(self.value) if self.is_text else m.pattern_width(self.regex)[1]
        return -self.priority, -width, -len(self.value), self.name


@dataclass(frozen=True, slots=True)
class _Part:
    """A pattern under construction, as Lark's PatternStr and PatternRE."""

    value: str
    flags: frozenset[str]
    is_text: bool

    @property
    def regex(self) -> str:
        return _with_flags(m.escaped(self.value) if self.is_text else self.value, self.flags)


def _with_flags(regex: str, flags: frozenset[str]) -> str:
    for flag in sorted(flags):
        regex = f"(?{flag}:{regex})"
    return regex


class Tokens:
    """The terminals that a grammar uses, each once."""

    def __init__(self, grammar: g.Grammar) -> None:
        self.grammar = grammar
        self.all: list[Token] = []
        self._known: dict[tuple[str, frozenset[str], bool], Token] = {}
        self._named: dict[tuple[str, frozenset[str], bool], str] | None = None
        self._parts: dict[str, _Part] = {}
        self._by_name: dict[str, Token] = {}

    def named(self, name: str) -> Token:
        """The terminal of a name, made at its first use."""
        token = self._by_name.get(name)
        if token is None:
            terminal = self.grammar.terminals[name]
            part = self._part_of(name)
            token = Token(
                len(self.all),
                name,
                part.value,
                part.flags,
                part.is_text,
                terminal.priority,
                terminal.source,
                terminal.at,
                _texts(terminal.body),
            )
            self.all.append(token)
            self._by_name[name] = token
            if token.nullable and self.grammar.dialect == "lark":
                raise GrammarError(
                    f"the terminal {name} may be empty",
                    terminal.source,
                    terminal.at,
                    "Lark refuses that; make it optional where it is used",
                )
        return token

    def text(self, value: str) -> Token:
        """The terminal of a plain text inside a rule, as `written` has it."""
        return self._of((value, _NO_FLAGS, True), None, -1)

    def written(self, item: g.Literal | g.Pattern, source: Source | None) -> Token:
        """The terminal of a text or pattern inside a rule; a defined one of the same pattern is the same."""
        if type(item) is g.Literal:
            key = item.text, _IGNORE_CASE if item.ignore_case else _NO_FLAGS, True
        else:
            assert isinstance(item, g.Pattern)
            key = item.regex, item.flags, False
        return self._of(key, source, item.at)

    def _of(self, key: tuple[str, frozenset[str], bool], source: Source | None, at: int) -> Token:
        """The terminal of (text or regex, flags, whether it is a text)."""
        token = self._known.get(key)
        if token is not None:
            return token
        if self._named is None:
            self._named = self._defined()
        name = self._named.get(key)
        if name is not None:
            token = self._known[key] = self.named(name)
            return token
        number = len(self.all)
        token = Token(number, f"__ANON_{number}", *key, 0, source, at)
        self.all.append(token)
        self._known[key] = token
        if not token.is_text and token.nullable and self.grammar.dialect == "lark":
            raise GrammarError(f"{token.shown} may be empty", source, at, "Lark refuses that")
        return token

    def data(self, texts: frozenset[str], source: Source | None, at: int) -> Token:
        """The terminal of texts that are data, none of them empty."""
        name = f"__ANON_{len(self.all)}"
        value = "|".join(sorted(texts)) if len(texts) < 100 else f"one of {len(texts)} texts"
        token = Token(len(self.all), name, value, _NO_FLAGS, False, 0, source, at, texts)
        self.all.append(token)
        return token

    def _defined(self) -> dict[tuple[str, frozenset[str], bool], str]:
        """Terminals by their pattern, of equal ones the last: written in place it means them, as in Lark.

        Those that only other terminals are made of may be empty: no lexer looks for them by themselves.
        """
        found = {}
        for name, terminal in self.grammar.terminals.items():
            if type(terminal.body) in (g.Literal, g.Pattern):
                part = self._part_of(name)
                found[part.value, part.flags, part.is_text] = name
        return found

    def _part_of(self, name: str) -> _Part:
        # Those that it is made of come first: they may be thousands, one inside the other.
        waiting = [name]
        while waiting:
            here = waiting[-1]
            missing: list[str] = []
            if here not in self._parts:
                body = self.grammar.terminals[here].body
                missing = [use.name for use in references(body) if use.name not in self._parts]
                if not missing:
                    self._parts[here] = self._part_by_itself(here)
            if missing:
                waiting += missing
            else:
                waiting.pop()
        return self._parts[name]

    def _part_by_itself(self, name: str) -> _Part:
        """A terminal of which all that it is made of is known."""
        terminal = self.grammar.terminals[name]
        texts = _texts(terminal.body)
        try:
            return self._part(g.Words(texts)) if texts else self._part(terminal.body)
        except m.PatternError as fault:
            raise GrammarError(f"the terminal {name}: {fault.reason}", terminal.source, terminal.at) from None

    def _part(self, item: g.Expression) -> _Part:
        match item:
            case g.Literal(text, ignore_case):
                return _Part(text, _IGNORE_CASE if ignore_case else _NO_FLAGS, True)
            case g.Pattern(regex, flags):
                return _Part(regex, flags, False)
            case g.Reference(name):
                return self._parts[name]
            case g.Characters(points):
                return _Part(_class(points), _NO_FLAGS, False)
            case g.Words(texts):
                longest = sorted(texts, key=lambda text: (-len(text), text))
                # Sets of texts are not made into automata by their pattern.
                return _Part(f"(?:{'|'.join(map(m.escaped, longest))})", _NO_FLAGS, False)
            case g.Sequence(items):
                parts = [self._part(inner) for inner in items]
                if not parts:
                    return _Part("", _NO_FLAGS, True)
                if len(parts) == 1:
                    return parts[0]
                return self._joined("", "".join([part.regex for part in parts]), "")
            case g.Alternatives(arms):
                parts = [self._part(arm) for arm in arms]
                if len(parts) == 1:
                    return parts[0]
                # Lark's order: what may be longer is tried first.
                parts.sort(key=_preference)
                return self._joined("(?:", "|".join([part.regex for part in parts]), ")")
            case g.Repeat(inner, minimum, maximum):
                part = self._part(inner)
                made = self._joined("(?:", part.regex, ")" + quantifier(minimum, maximum))
                return _Part(made.value, part.flags, False)
            case g.Named():
                raise m.PatternError("an alias has no place in a terminal")
        raise m.PatternError("a difference has no place in a terminal")

    def _joined(self, before: str, middle: str, after: str) -> _Part:
        if len(middle) > MAX_PATTERN:
            raise m.PatternError(f"its pattern has more than {MAX_PATTERN} characters")
        return _Part(before + middle + after, _NO_FLAGS, False)


def _texts(body: g.Expression) -> frozenset[str]:
    """The texts of a terminal that is a choice of very many."""
    if not isinstance(body, g.Alternatives) or len(body.arms) < MANY_TEXTS:
        return frozenset()
    plain = all([isinstance(arm, g.Literal) and not arm.ignore_case and arm.text for arm in body.arms])
    return frozenset([arm.text for arm in body.arms if isinstance(arm, g.Literal)]) if plain else frozenset()


_NO_FLAGS: frozenset[str] = frozenset()
_IGNORE_CASE = frozenset("i")


def _preference(part: _Part) -> tuple[int, int, int]:
    if part.is_text:
        return -len(part.value), -len(part.value), -len(part.value)
    low, high = m.pattern_width(part.regex)
    return -high, -low, -len(part.value)


def _class(points: tuple[tuple[int, int], ...]) -> str:
    def shown(point: int) -> str:
        return f"\\U{point:08x}"

    return "[" + "".join(f"{shown(low)}-{shown(high)}" for low, high in points) + "]"
