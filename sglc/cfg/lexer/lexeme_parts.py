"""What the leaves of a grammar read; automata of plain texts are made at first use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from sglc.automata.charset import Ranges
from sglc.automata.dfa.operations import first_characters, literal
from sglc.cfg.lexer.match_semantics import Automaton

Beginning = tuple[tuple[Ranges, Ranges], ...]
"""Of each part the characters that it begins with, and those that may not follow it."""


class LexemeParts(Mapping[int, Automaton]):
    """What each leaf reads: an automaton of `made`, or a text that `forbidden_next` may not follow."""

    def __init__(
        self, made: dict[int, Automaton], texts: dict[int, str], forbidden: dict[int, Ranges]
    ) -> None:
        self.made = made
        self.texts = texts
        self.forbidden_next = forbidden
        self._late: dict[int, Automaton] = {}

    def __getitem__(self, node: int) -> Automaton:
        found = self.made.get(node)
        if found is None:
            found = self._late.get(node)
        if found is None:
            found = self._late[node] = ((literal(self.texts[node]), self.forbidden_next[node]),)
        return found

    def __contains__(self, node: object) -> bool:
        return node in self.texts or node in self.made

    def __iter__(self) -> Iterator[int]:
        return chain(self.made, self.texts)

    def __len__(self) -> int:
        return len(self.made) + len(self.texts)

    def ends(self) -> dict[Ranges, None]:
        """All that may not follow some part, each once."""
        made = [forbidden for parts in self.made.values() for _, forbidden in parts]
        return dict.fromkeys(
            [
                *made,
                *{id(forbidden): forbidden for forbidden in self.forbidden_next.values()}.values(),
            ]
        )

    @property
    def hollow(self) -> bool:
        """Whether some leaf reads nothing."""
        return not all(self.made.values())

    def beginnings(self) -> dict[int, Beginning]:
        """By leaf how its parts begin and end."""
        found: dict[int, Beginning] = {}
        same: dict[tuple[str, Ranges], Beginning] = {}
        forbidden = self.forbidden_next
        for node, text in self.texts.items():
            key = text[0], forbidden[node]
            begins = same.get(key)
            if begins is None:
                begins = same[key] = ((((ord(text[0]), ord(text[0])),), key[1]),)
            found[node] = begins
        for node, parts in self.made.items():
            found[node] = tuple([(first_of((part,)), part[1]) for part in parts])
        return found


def first_of(parts: Automaton) -> Ranges:
    """The characters that some parts begin with."""
    return first_characters(dfa for dfa, _ in parts)
