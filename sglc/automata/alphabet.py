"""The characters that occur in the words of a language."""

from __future__ import annotations

from sglc.automata import term as t

_ESCAPES = frozenset('\\"/bfnrtu0123456789abcdefABCDEF')
"""What escapes in JSON are written with."""
_MOST = 5_000
"""Terms that are looked at."""


def may_write(language: t.Language, character: str) -> bool:
    """Whether some word may contain a character; True as well where that would take long to find."""
    if not character.isascii():
        return True
    seen: dict[int, t.Term] = {}
    # Terms by identity, kept so that none is used twice.
    rules: set[str] = set()
    stack: list[t.Term] = [language.root]
    while stack:
        term = stack.pop()
        if id(term) in seen:
            continue
        seen[id(term)] = term
        if len(seen) > _MOST:
            return True
        match term:
            case t.Sequence(items) | t.Choice(items):
                stack += items
            case t.Repeat():
                stack += (term.item, t.Bytes(term.separator))
            case t.Except():
                stack.append(term.item)
            case t.Rule(name):
                if name not in language.rules:
                    return True
                if name not in rules:
                    rules.add(name)
                    stack.append(language.rules[name])
            case t.Nothing() | t.NotBefore():
                pass
            case _:
                if _leaf_may_write(term, character):
                    return True
    return False


def _leaf_may_write(term: t.Term, character: str) -> bool:
    match term:
        case t.Bytes(data):
            return character.encode() in data
        case t.Words(words):
            return any(character.encode() in word for word in words)
        case t.Text():
            return _spelled(term.encoding, character, _reads(term.dfa, character))
        case t.Pattern(nfa, encoding):
            return _spelled(encoding, character, _reads(nfa, character))
        case t.Listed(texts, encoding):
            return _spelled(encoding, character, any(character in text for text in texts))
        case t.Span():
            return _spelled(term.encoding, character, character in term.text)
    return True


def _reads(automaton: t.CharDfa | t.CharNfa, character: str) -> bool:
    point = ord(character)
    return any(low <= point <= high for row in automaton.edges for low, high, _ in row)


def _spelled(encoding: t.Encoding, character: str, read: bool) -> bool:
    if encoding == "raw":
        return read
    return character in _ESCAPES or (read and character >= " ")
