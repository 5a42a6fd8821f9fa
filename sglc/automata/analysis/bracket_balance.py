"""Bracket balance: languages whose words end with the bracket that closes the first one, as in JSON.

No such word is a proper prefix of another, so that its end is always clear. The proof follows the terms and
keeps count of brackets outside of strings; what it cannot follow is not proved.
"""

from __future__ import annotations

from sglc.automata import term as t
from sglc.automata.analysis.shortest_words import arm_terms

_SPECIAL = tuple(map(ord, '"[]{}\\'))


class _NotProved(Exception):
    pass


def is_bracketed(language: t.Language) -> bool:
    """Whether every word opens a bracket first and closes it last, and never in between."""
    try:
        _Proof(language).prove()
    except _NotProved:
        return False
    return True


class _Proof:
    def __init__(self, language: t.Language) -> None:
        self.root = language.root
        self.rules = language.rules
        self.assumed: set[tuple[str, bool]] = set()
        """Rules that are proved, or will be: that their words are in brackets, or at least whole values."""
        self.due: list[tuple[str, bool]] = []

    def prove(self) -> None:
        self.whole(self.root)
        while self.due:
            name, bracketed = self.due.pop()
            if bracketed:
                self.whole(self.rules[name])
            else:
                self.unchanged(self.rules[name], 1, False)

    def assume(self, name: str, bracketed: bool) -> None:
        """Take something of a rule for true, which is proved later: its words are found in shorter words."""
        if (name, bracketed) not in self.assumed:
            self.assumed.add((name, bracketed))
            self.due.append((name, bracketed))

    def whole(self, term: t.Term) -> None:
        """The term is a value in brackets."""
        match term:
            case t.Rule(name):
                self.assume(name, True)
            case t.Choice(arms):
                for arm in arms:
                    self.whole(arm)
            case t.Except(item, _):
                self.whole(item)
            case t.Bytes() | t.Words() | t.Sequence():
                if self.after(term, 0, False) != (0, False) or not self.starts(term):
                    raise _NotProved
            case _:
                raise _NotProved

    def starts(self, term: t.Term) -> bool:
        match term:
            case t.Bytes(data):
                return data[:1] in (b"{", b"[")
            case t.Words(words):
                return all(word[:1] in (b"{", b"[") for word in words)
            case t.Sequence(items):
                return bool(items) and self.starts(items[0])
        return False

    def after(self, term: t.Term, depth: int, quoted: bool) -> tuple[int, bool]:
        """Depth and whether inside a string, behind any word of the term that begins at this depth."""
        match term:
            case t.Bytes(data):
                return _scan(data, depth, quoted)
            case t.Words(words):
                return self.same([_scan(word, depth, quoted) for word in words])
            case t.NotBefore():
                return depth, quoted
            case t.Text() | t.Pattern() | t.Listed():
                inert = quoted if term.encoding != "raw" else not quoted and not _has_special(term)
                if not inert or not depth:
                    raise _NotProved
                return depth, quoted
            case t.Sequence(items):
                for index, item in enumerate(items):
                    if index and not depth:
                        raise _NotProved
                    depth, quoted = self.after(item, depth, quoted)
                return depth, quoted
            case t.Choice(arms):
                return self.same([self.after(arm, depth, quoted) for arm in arms])
            case t.Except(item, _):
                return self.after(item, depth, quoted)
            case t.Rule(name) if not quoted:
                # Its words are complete values, though not always in brackets (`null`).
                self.assume(name, False)
                return depth, quoted
            case t.Repeat(item, _, _, separator) if depth:
                self.unchanged(item, depth, quoted)
                self.unchanged(t.Bytes(separator), depth, quoted)
                return depth, quoted
            case t.Array() if depth and not quoted:
                for part in (*arm_terms(term), term.comma):
                    self.unchanged(part, depth, quoted)
                return depth, quoted
            case t.Object() if depth and not quoted and term.encoding != "raw":
                for part in (*arm_terms(term), term.comma, term.colon):
                    self.unchanged(part, depth, quoted)
                return depth, quoted
            case t.Span(text, encoding) if depth:
                if not quoted if encoding != "raw" else quoted or any(ord(c) in _SPECIAL for c in text):
                    raise _NotProved
                return depth, quoted
        raise _NotProved

    def unchanged(self, term: t.Term, depth: int, quoted: bool) -> None:
        if self.after(term, depth, quoted) != (depth, quoted):
            raise _NotProved

    def same(self, states: list[tuple[int, bool]]) -> tuple[int, bool]:
        if len(set(states)) != 1:
            raise _NotProved
        return states[0]


def _scan(data: bytes, depth: int, quoted: bool) -> tuple[int, bool]:
    """Raises _NotProved where the depth returns to zero before the end, or falls below it."""
    escaped = False
    for index, byte in enumerate(data):
        char = chr(byte)
        if quoted:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                quoted = False
        elif char == '"':
            quoted = True
        elif char in "[{":
            depth += 1
        elif char in "]}":
            depth -= 1
        if depth < 0 or (not depth and index < len(data) - 1):
            raise _NotProved
    if escaped:
        raise _NotProved
    return depth, quoted


def _has_special(term: t.Text | t.Pattern | t.Listed) -> bool:
    if isinstance(term, t.Listed):
        return any(char in text for text in term.texts for char in map(chr, _SPECIAL))
    rows = term.dfa.edges if isinstance(term, t.Text) else term.nfa.edges
    return any(low <= point <= high for row in rows for low, high, _ in row for point in _SPECIAL)
