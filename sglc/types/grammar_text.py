"""Text in a grammar: the languages behind `Str.grammar`, and whether a text is in one.

A grammar stands in a type as its portable text. Where text is skipped between terminals, these are matched
longest first, as a lexer does, so that two names never run into one; without, a grammar is the set of texts
that its rules spell out. Skipped text may stand between terminals, not before the first.

A grammar with parameters stands in the type of a hole until the hole is reached; then it is `bound`. Before,
it is judged with a name in place of each value.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Literal, TypeVar

from sglc.automata.analysis.membership import MembershipLimit, is_word
from sglc.automata.encoding import encoded
from sglc.automata.term import (
    Bytes,
    Choice,
    Encoding,
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
from sglc.cfg.analysis.multiplicity import occurrences
from sglc.cfg.gll_parser import Parser
from sglc.cfg.language import GrammarOptions, grammar_language, parser_of
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.grammar import Given, Grammar
from sglc.cfg.model.parameters import filled, given_parts, sampled
from sglc.cfg.model.serialize import from_text, to_text
from sglc.cfg.model.validate import check_names
from sglc.cfg.notation.print_ebnf import show_grammar


def _options(grammar: Grammar) -> GrammarOptions:
    """Lark files are read by lexers, and so are blocks that skip text: their terminals are tokens. Other
    blocks, EBNF and GBNF describe characters, exactly as they are written."""
    tokens = grammar.dialect == "lark" or bool(grammar.ignore)
    return GrammarOptions(lexing="longest" if tokens else "dynamic", ignore_ends=False)


MOST = 64
"""Grammars that are kept read, and with their languages."""
MOST_CHARACTERS = 2_000_000
"""Length of their texts together: with lists of values in them they may be large, and used once."""


class NotInJson(ValueError):
    """A grammar whose texts cannot stand inside JSON; carries the reason."""


Count = Literal["one", "optional", "many"]
"""How many parts of a text a rule writes."""

_Known = TypeVar("_Known")
_read: dict[str, tuple[str, Grammar]] = {}
_languages: dict[str, Language] = {}


def _remembered(known: dict[str, _Known], text: str, found: _Known) -> _Known:
    room = MOST_CHARACTERS - len(text)
    while known and (len(known) >= MOST or sum(map(len, known)) > room):
        del known[next(iter(known))]
    known[text] = found
    return found


def read_grammar(text: str) -> tuple[str, Grammar]:
    """Name and grammar of a portable text. Raises GrammarError."""
    found = _read.get(text)
    return _remembered(_read, text, from_text(text)) if found is None else found


def grammar_name(text: str) -> str:
    """The qualified name under which a portable text of a grammar was declared."""
    return read_grammar(text)[0]


@lru_cache(maxsize=16)
def grammar_shown(text: str) -> str:
    """The rules as people and models read them."""
    return show_grammar(read_grammar(text)[1])


def grammar_texts(text: str) -> Language:
    """The raw texts. Raises GrammarError."""
    found = _languages.get(text)
    if found is None:
        found = _remembered(_languages, text, _language(read_grammar(text)[1]))
    return found


def _language(grammar: Grammar) -> Language:
    if grammar.parameters:
        grammar = sampled(grammar)
    return grammar_language(grammar, _options(grammar))


def admitted(name: str, grammar: Grammar) -> str:
    """The portable text of a grammar that can be used. Raises GrammarError, with the place in its source."""
    text = to_text(name, grammar)
    if text not in _languages:
        check_names(grammar)
        _remembered(_languages, text, _language(grammar))
    return text


def parameters_of(text: str) -> tuple[str, ...]:
    """The names of the values that an open grammar depends on, in their order."""
    return read_grammar(text)[1].parameters


@lru_cache(maxsize=64)
def parts_given(text: str) -> tuple[Given, ...]:
    """What of these values an open grammar asks for."""
    return tuple(given_parts(read_grammar(text)[1]))


def bound(text: str, values: Mapping[Given, str | Collection[str]]) -> str:
    """The portable text of an open grammar with its values put in. Raises GrammarError."""
    name, grammar = read_grammar(text)
    return admitted(name, filled(grammar, values))


@lru_cache(maxsize=16)
def grammar_terms(text: str, encoding: Encoding = "raw") -> tuple[Term, dict[str, Term]]:
    """Root and rules for use inside another language: rules are named after the grammar.

    Raises GrammarError, and NotInJson for the encoding `json`.
    """
    name, found = grammar_name(text), grammar_texts(text)
    rules = {f"{name}:{rule}": _renamed(term, name, encoding) for rule, term in found.rules.items()}
    return _renamed(found.root, name, encoding), rules


def json_fault(text: str) -> str | None:
    """Why texts of a grammar cannot stand inside JSON; None if they can."""
    try:
        grammar_terms(text, "json")
    except NotInJson as fault:
        return str(fault)
    return None


@lru_cache(maxsize=8)
def _parser(text: str) -> Parser:
    grammar = read_grammar(text)[1]
    if grammar.parameters:
        grammar = sampled(grammar)
    return parser_of(grammar, _options(grammar))


@lru_cache(maxsize=256)
def part_type(text: str, rule: str) -> tuple[str, Count] | None:
    """The grammar of the parts that a rule writes of a text, and how many there are; None if there are none.

    Parts inside of other parts of the same rule are parts of these.
    """
    name, grammar = read_grammar(text)
    if rule not in grammar.rules:
        return None
    fewest, most = occurrences(_parser(text).graph, rule)
    if not most:
        return None
    whole = grammar.whole or grammar.start
    part = replace(grammar, start=rule, whole="" if rule == whole else whole)
    count: Count = "many" if most > 1 else "one" if fewest else "optional"
    return to_text(f"{name}.{rule}", part), count


def parts_of(value: str, text: str, rule: str) -> list[str]:
    """The parts of a text of the grammar that a rule wrote, the outermost ones in order.

    Raises GrammarError if this is no text of it.
    """
    found = _parser(text).parts(value, rule)
    if found is None:
        raise GrammarError(f"it is no text of the grammar {_short(text)}")
    return found


def grammar_fault(value: str, text: str) -> str | None:
    """Why a value is no text of a grammar; None if it is one, or could be one of an open grammar."""
    if parameters_of(text):
        return None
    try:
        if is_word(grammar_texts(text), value):
            return None
    except MembershipLimit as limit:
        return f"it cannot be read by the grammar {_short(text)}: {limit}"
    return f"it is no text of the grammar {_short(text)}"


def stored_fault(text: str) -> str | None:
    """What is wrong with a grammar of an artefact; None if it is sound."""
    try:
        grammar_texts(text)
    except GrammarError as fault:
        return fault.reason
    return None


def _short(text: str) -> str:
    return grammar_name(text).rsplit(".", 1)[-1]


def _renamed(term: Term, name: str, encoding: Encoding) -> Term:
    """A term with its rules renamed, and its texts written in an encoding."""
    json = encoding == "json"
    match term:
        case Rule(rule):
            return Rule(f"{name}:{rule}")
        case Sequence(items):
            return Sequence(tuple(_renamed(item, name, encoding) for item in items))
        case Choice(arms):
            return Choice(tuple(_renamed(arm, name, encoding) for arm in arms))
        case Repeat(item, minimum, maximum, separator):
            return Repeat(_renamed(item, name, encoding), minimum, maximum, _written(separator, json))
        case Except(item, words):
            return Except(_renamed(item, name, encoding), frozenset(_written(word, json) for word in words))
        case Bytes(data):
            return Bytes(_written(data, json))
        case Words(words):
            return Words(frozenset(_written(word, json) for word in words))
        case Text(dfa, _, low, high):
            return Text(dfa, encoding, low, high)
        case NotBefore(forbidden):
            if json and any(_is_special(low, high) for low, high in forbidden):
                raise NotInJson(
                    "where one of its terminals ends depends on a quote, backslash or control character "
                    "after it, which JSON spells in another way"
                )
            return term
        case Nothing():
            return term
    raise TypeError(f"{type(term).__name__} is no term of a grammar")


def _is_special(low: int, high: int) -> bool:
    """Whether a range has a character that JSON escapes, or the quote that ends a text."""
    return low < 0x20 or low <= 0x22 <= high or low <= 0x5C <= high


def _written(data: bytes, json: bool) -> bytes:
    return b"".join(encoded(ord(char), True) for char in data.decode()) if json else data
