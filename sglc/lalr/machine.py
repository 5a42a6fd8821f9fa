"""The LALR(1) parser: shifts tokens, reduces rules, and makes each value as soon as its rule is complete.

The loop is the textbook one over the tables of `sglc.lalr.tables`. Three stacks run in parallel: states,
values, and where each value begins and ends. A run stops at a token that nothing can take; whoever started it
may then ask what could stand there, feed tokens that are not in the text, or drop values, and go on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sglc.lalr.reductions import BuildFunction, Reduction, reduction
from sglc.lalr.tables import Tables

_DEEPEST = 64
"""States at the top of the stack that decide whether a token can be taken."""


@dataclass(slots=True)
class Tokens:
    """Parallel lists: the kind of each token and where it begins and ends. The last kind is `$END`.

    A kind is a terminal of the grammar: a declared name (`NAME`) or the text of a keyword or mark.
    """

    kinds: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def add(self, kind: str, start: int, end: int) -> None:
        """Append a token of a kind: characters `start` to `end`, exclusive."""
        self.kinds.append(kind)
        self.starts.append(start)
        self.ends.append(end)


class LalrMachine:
    """Tables joined with the functions that make the values of their rules; the work on one text is a `Run`.

    `functions` maps the action of a rule to its function. A rule whose action is not in it gives the list of
    its parts.
    """

    def __init__(self, tables: Tables, functions: Mapping[str, BuildFunction]) -> None:
        self.rows = tables.rows
        self.starts = tables.starts
        self.literals = tables.literals
        self.rules: list[tuple[int, str, Reduction | None, int]] = []
        """Of each rule: its length, its symbol, and its reduction, or None and the index of the part that it
        hands on."""
        for rule in tables.rules:
            if rule.action == "":
                (part,) = rule.steps
                assert isinstance(part, int)
                self.rules.append((rule.length, rule.symbol, None, part))
            else:
                made = reduction(rule, functions.get(rule.action))
                self.rules.append((rule.length, rule.symbol, made, 0))


@dataclass(slots=True)
class Semantics:
    """What runs over one text make of it.

    `context` is what the functions of rules get first. `leaves` maps a kind of token to the function that
    makes its value from its extent; the value of any other token is where it starts. `instead` names the kind
    that a token is tried as where its own cannot stand; it gets the run, the kind and the token's index, and
    gives "" if there is none.
    """

    context: object
    leaves: Mapping[str, Callable[[int, int], object]]
    instead: Callable[[Run, str, int], str]


class Run:
    """One token list being parsed. `step` stops at the end or at a token that nothing can take."""

    def __init__(self, machine: LalrMachine, semantics: Semantics, tokens: Tokens, start: str) -> None:
        self.machine = machine
        self.semantics = semantics
        self.tokens = tokens
        self.goal = f"<{start}>"
        self.states = [machine.starts[start]]
        self.values: list[Any] = [None]
        self.begins = [0]
        self.finishes = [0]
        self.index = 0
        self.result: Any = None
        self.before: list[int] = list(self.states)
        """The states right after the last token, before the reductions that the next one brought.

        A table of LALR(1) may still reduce before it finds that a token cannot stand there, so what was
        possible at a fault is asked of these.
        """

    def step(self) -> bool:
        """Go on until the end (True) or a token that cannot stand there (False, `index` points at it)."""
        rows, rules = self.machine.rows, self.machine.rules
        context, leaves = self.semantics.context, self.semantics.leaves
        kinds, token_starts, token_ends = self.tokens.kinds, self.tokens.starts, self.tokens.ends
        states, values, begins, finishes = self.states, self.values, self.begins, self.finishes
        index = self.index
        instead, goal, before = self.semantics.instead, self.goal, self.before
        while True:
            kind = kinds[index]
            row = rows[states[-1]]
            action = row.get(kind)
            if action is None:
                kind = instead(self, kind, index)
                action = row.get(kind)
                if action is None:
                    self.index = index
                    self.before = before
                    return False
            if action > 0:
                start, end = token_starts[index], token_ends[index]
                leaf = leaves.get(kind)
                states.append(action - 1)
                values.append(leaf(start, end) if leaf is not None else start)
                begins.append(start)
                finishes.append(end)
                before = states[-_DEEPEST:]
                index += 1
                continue
            length, symbol, reduce, part = rules[-action - 1]
            if length == 1:
                # One part: the stacks keep their height, and so do its places.
                if reduce is not None:
                    values[-1] = reduce(context, [values[-1]], begins[-1], finishes[-1])
                if symbol == goal and len(states) == 2:
                    self.result = values[-1]
                    return True
                states[-1] = rows[states[-2]][symbol] - 1
                continue
            if length:
                parts = values[-length:]
                start, end = begins[-length], finishes[-1]
                value = parts[part] if reduce is None else reduce(context, parts, start, end)
                del states[-length:], values[-length:], begins[-length:], finishes[-length:]
            else:
                start = end = finishes[-1]
                value = None if reduce is None else reduce(context, [], start, end)
            if symbol == goal and len(states) == 1:
                self.result = value
                return True
            values.append(value)
            begins.append(start)
            finishes.append(end)
            states.append(rows[states[-1]][symbol] - 1)

    # -- what could stand at a fault -------------------------------------------------------------------

    def can_take(self, kind: str) -> bool:
        """Whether the token could be taken now, after the reductions it would bring."""
        return self._takes(self.states, kind)

    def could_take(self, kind: str) -> bool:
        """Whether the token could have stood in place of the faulty one."""
        return self._takes(self.before, kind)

    def _takes(self, stack: list[int], kind: str) -> bool:
        rows, rules = self.machine.rows, self.machine.rules
        states = stack[-_DEEPEST:]
        while True:
            action = rows[states[-1]].get(kind)
            if action is None:
                return False
            if action > 0:
                return True
            length, symbol, _, _ = rules[-action - 1]
            if length >= len(states):
                return symbol == self.goal or len(stack) > _DEEPEST
            if length:
                del states[-length:]
            if symbol == self.goal and len(states) == 1:
                return True
            states.append(rows[states[-1]][symbol] - 1)

    def expected(self) -> set[str]:
        """Every terminal that could have stood in place of the faulty one."""
        row = self.machine.rows[self.before[-1]]
        return {name for name in row if not (len(name) > 2 and name[0] == "<") and self.could_take(name)}

    # -- going on --------------------------------------------------------------------------------------

    def feed(self, kind: str) -> bool:
        """Take a token that is not in the text, at the place where the last one ended."""
        tokens, index, before = self.tokens, self.index, self.before
        place = self.finishes[-1]
        self.tokens = Tokens([kind, "$NOTHING"], [place, place], [place, place])
        self.index = 0
        self.step()
        taken = self.index == 1
        self.tokens, self.index = tokens, index
        if not taken:
            self.before = before
        return taken

    def drop(self, height: int) -> None:
        """Take values off the stack down to `height` entries."""
        del self.states[height:], self.values[height:], self.begins[height:], self.finishes[height:]

    def over(self, tokens: Tokens, start: str) -> Run:
        """A run of the same machine over other tokens of the text, from a start symbol."""
        return Run(self.machine, self.semantics, tokens, start)
