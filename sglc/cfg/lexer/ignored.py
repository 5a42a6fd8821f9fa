"""Ignored text: one or more ignored terminals, each matched as long as it goes."""

from __future__ import annotations

from sglc.automata import charset, work
from sglc.automata.charset import Ranges
from sglc.automata.dfa.minimize import minimal_dfa
from sglc.automata.dfa.nfa_union import MAX_STATES
from sglc.automata.dfa.numbering import Numbering
from sglc.automata.dfa.operations import shared_blocks
from sglc.automata.term import CharDfa
from sglc.cfg.lexer.match_semantics import Automaton
from sglc.cfg.lexer.terminals import Token, Tokens
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.grammar import Grammar


def skipped(grammar: Grammar, tokens: Tokens, matched: dict[int, Automaton]) -> Automaton | None:
    """One or more ignored terminals, each as long as it goes."""
    if not grammar.ignore:
        return None
    automata: list[tuple[Token, CharDfa, Ranges]] = []
    for name in dict.fromkeys(grammar.ignore):
        token = tokens.named(name)
        automata += [(token, dfa, forbidden) for dfa, forbidden in matched.get(token.index, token.automaton)]
    return _Skip(automata).parts()


class _Skip:
    """Subsets of (automaton, state) inside ignored text. A new terminal begins only where the one before
    could not have gone on."""

    def __init__(self, automata: list[tuple[Token, CharDfa, Ranges]]) -> None:
        self.automata = automata
        self.blocks, self.rows, self.members = shared_blocks(
            [dfa for _, dfa, _ in automata], [forbidden for _, _, forbidden in automata if forbidden]
        )
        self.begin: dict[int, set[tuple[int, int]]] = {}
        for index, rows in enumerate(self.rows):
            for block, target in rows[0].items() if rows else ():
                self.begin.setdefault(block, set()).add((index, target))

    def closed(self, index: int, state: int) -> set[int]:
        """The blocks that may not come where this automaton ends in this state: with them it goes on."""
        _, dfa, forbidden = self.automata[index]
        found = set(self.members[forbidden]) if forbidden else set()
        for block, target in self.rows[index][state].items():
            if target not in dfa.accepting and block in self.begin and self.begin[block] != {(index, target)}:
                token = self.automata[index][0]
                raise GrammarError(
                    f"{token.shown} is ignored, but only a character further on tells where it ends",
                    token.source,
                    token.at,
                )
            found.add(block)
        return found

    def parts(self) -> Automaton:
        start = frozenset((index, 0) for index, rows in enumerate(self.rows) if rows)
        beyond = GrammarError(f"ignored text needs more than {MAX_STATES} states")
        number = Numbering(start, limit=MAX_STATES, beyond=beyond)
        rows: list[dict[int, int]] = []
        ends: dict[Ranges, set[int]] = {}
        for current in number.order:
            row: dict[int, set[tuple[int, int]]] = {}
            forbidden: set[int] | None = None
            for index, state in current:
                for block, target in self.rows[index][state].items():
                    row.setdefault(block, set()).add((index, target))
                if current is not start and state in self.automata[index][1].accepting:
                    closed = self.closed(index, state)
                    forbidden = closed if forbidden is None else forbidden & closed
                    for block, places in self.begin.items():
                        if block not in closed:
                            row.setdefault(block, set()).update(places)
            if forbidden is not None:
                these = charset.ranges(part for block in forbidden for part in self.blocks[block])
                ends.setdefault(these, set()).add(len(rows))
            numbered: dict[int, int] = {}
            for block, places in row.items():
                work.spend(2 + len(places))
                numbered[block] = number[frozenset(places)]
            rows.append(numbered)
        found = [(minimal_dfa(rows, states, self.blocks), forbidden) for forbidden, states in ends.items()]
        return tuple(part for part in found if part[0].edges)
