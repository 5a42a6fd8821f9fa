"""Reads what `grammar/sgl.lark` uses of Lark's notation, as the rules of tree-sitter's `grammar.json`."""

from __future__ import annotations

import re

from sglc.immutable import value

Node = dict[str, object]
"""A rule of `grammar.json`."""

_TOKEN = re.compile(r'\s*(?:(//[^\n]*)|("(?:[^"\\]|\\.)*")|(->)|(_?\??[A-Za-z_][A-Za-z_]*)|([()\[\]|*+?:]))')
_RULE = re.compile(r"^\??_?[a-z][a-z_]*:", re.MULTILINE)


@value
class Alternative:
    """One expansion of a rule; `name` is what its node is called, "" where the rule says it."""

    body: Node
    name: str


@value
class LarkRule:
    """A rule; `hidden` ones have no node of their own, `slim` ones none where they have one part."""

    name: str
    hidden: bool
    slim: bool
    alternatives: tuple[Alternative, ...]


def blank() -> Node:
    """Nothing at all."""
    return {"type": "BLANK"}


def symbol(name: str) -> Node:
    """A rule or token by its name."""
    return {"type": "SYMBOL", "name": name}


def string(text: str) -> Node:
    """A literal."""
    return {"type": "STRING", "value": text}


def pattern(regex: str) -> Node:
    """A regular expression."""
    return {"type": "PATTERN", "value": regex}


def sequence(members: list[Node]) -> Node:
    """Parts one after the other."""
    return members[0] if len(members) == 1 else {"type": "SEQ", "members": members}


def choice(members: list[Node]) -> Node:
    """One of several."""
    return members[0] if len(members) == 1 else {"type": "CHOICE", "members": members}


def read(grammar: str) -> list[LarkRule]:
    """The rules of a grammar in their order, without the alternatives that only a repair of faults makes."""
    starts = [match.start() for match in _RULE.finditer(grammar)]
    return [
        _Reader(grammar[start:end]).rule()
        for start, end in zip(starts, [*starts[1:], len(grammar)], strict=True)
    ]


class _Reader:
    """Reads one rule."""

    def __init__(self, text: str) -> None:
        text = re.sub(r"^(?:%|//).*$", "", text, flags=re.MULTILINE).strip()
        self.words: list[str] = []
        place = 0
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None:
                raise ValueError(f"the notation is not understood at {text[place : place + 30]!r}")
            if match[1] is None:
                self.words.append(match[0].strip())
            place = match.end()
        self.words.append("")
        self.place = 0

    def rule(self) -> LarkRule:
        name = self._next()
        slim, name = name[0] == "?", name.lstrip("?")
        self._next()
        alternatives = [self._alternative()]
        while self._take("|"):
            alternatives.append(self._alternative())
        sound = tuple(each for each in alternatives if "BROKEN" not in repr(each.body))
        return LarkRule(name, name[0] == "_", slim, sound)

    def _next(self) -> str:
        self.place += 1
        return self.words[self.place - 1]

    def _take(self, word: str) -> bool:
        if self.words[self.place] == word:
            self.place += 1
            return True
        return False

    def _alternative(self) -> Alternative:
        body = self._sequence()
        return Alternative(body, self._next() if self._take("->") else "")

    def _sequence(self) -> Node:
        members = []
        while self.words[self.place] not in ("", "|", ")", "]", "->"):
            members.append(self._item())
        return sequence(members)

    def _choice(self) -> Node:
        members = [self._sequence()]
        while self._take("|"):
            members.append(self._sequence())
        return choice(members)

    def _item(self) -> Node:
        word = self._next()
        if word in ("(", "["):
            node = self._choice()
            self._next()
            if word == "[":
                return choice([node, blank()])
        elif word[0] == '"':
            node = string(word[1:-1])
        else:
            node = symbol(word)
        for mark, kind in (("*", "REPEAT"), ("+", "REPEAT1")):
            if self._take(mark):
                return {"type": kind, "content": node}
        return choice([node, blank()]) if self._take("?") else node
