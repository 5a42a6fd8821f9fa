"""The LALR driver: shifts tokens, reduces rules, and calls the builder as soon as a node is complete.

The loop is the textbook one over the tables of `sglc.syntax.tables`. Three stacks run in parallel: states,
values, and where each value begins and ends. A keyword that the grammar cannot take is tried as a name, which
is all that makes keywords contextual.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

from sglc.syntax.tables import Rule, Tables
from sglc.syntax.tokens import Tokens

INDENT_MARK = object()
"""Value of an INDENT on the stack, so that open blocks can be counted."""

Reduction = Callable[[list[Any], int, int], Any]
HARD = frozenset(
    "fn let var if elif else for while return break continue raise try except case".split()
    + "and or not in true false null".split()
)
"""Words that are never names, except after a point and before a colon."""


class Machine:
    """Tables joined with the methods of one builder class; the work on one text is a `Run`."""

    def __init__(self, tables: Tables, builder: type) -> None:
        self.rows = tables.rows
        self.starts = tables.starts
        self.literals = tables.literals
        self.rules: list[tuple[int, str, Callable[[Any, list[Any], int, int], Any] | None, int]] = [
            (rule.length, rule.symbol, *_reduction(rule, builder)) for rule in tables.rules
        ]


def _reduction(rule: Rule, builder: type) -> tuple[Callable[[Any, list[Any], int, int], Any] | None, int]:
    """The function (builder, values, start, end) of a rule, or None and the index of the value handed on."""
    steps = rule.steps
    if rule.action == "":
        assert isinstance(steps[0], int)
        return None, steps[0]
    method = _method(builder, rule.action)
    if rule.appends:
        return _appending(steps), 0
    if any(isinstance(step, tuple) for step in steps):
        return _splicing(steps, method), 0
    if method is None:
        return _listing(steps), 0
    indices = tuple(rule.length if step is None else step for step in steps)
    padded = None in steps
    if not indices:
        return (lambda b, values, start, end: method(b, start, end)), 0
    if len(indices) == 1 and not padded:
        (only,) = indices
        return (lambda b, values, start, end: method(b, start, end, values[only])), 0
    if len(indices) == 2 and not padded:
        one, two = indices
        return (lambda b, values, start, end: method(b, start, end, values[one], values[two])), 0
    if len(indices) == 1:
        return (lambda b, values, start, end: method(b, start, end, None)), 0
    pick = itemgetter(*indices)

    def reduce(b: Any, values: list[Any], start: int, end: int) -> Any:
        values.append(None)
        return method(b, start, end, *pick(values))

    return reduce, 0


def _method(builder: type, action: str) -> Callable[..., Any] | None:
    """The builder's method of an action; words of Python have an underscore after them."""
    if action == "_":
        return None
    return getattr(builder, action + "_", None) or getattr(builder, action, None)


def _appending(steps: tuple[Any, ...]) -> Callable[[Any, list[Any], int, int], Any]:
    if len(steps) == 2 and isinstance(steps[1], int):
        only = steps[1]

        def append(b: Any, values: list[Any], start: int, end: int) -> Any:
            values[0].append(values[only])
            return values[0]

        return append

    def extend(b: Any, values: list[Any], start: int, end: int) -> Any:
        target = values[0]
        for step in steps[1:]:
            if isinstance(step, tuple):
                target.extend(values[step[0]])
            else:
                target.append(None if step is None else values[step])
        return target

    return extend


def _splicing(
    steps: tuple[Any, ...], method: Callable[..., Any] | None
) -> Callable[[Any, list[Any], int, int], Any]:
    def splice(b: Any, values: list[Any], start: int, end: int) -> Any:
        parts: list[Any] = []
        for step in steps:
            if isinstance(step, tuple):
                parts.extend(values[step[0]])
            else:
                parts.append(None if step is None else values[step])
        return parts if method is None else method(b, start, end, *parts)

    return splice


def _listing(steps: tuple[Any, ...]) -> Callable[[Any, list[Any], int, int], Any]:
    def listing(b: Any, values: list[Any], start: int, end: int) -> Any:
        return [None if step is None else values[step] for step in steps]

    return listing


class Run:
    """One token list being parsed. `step` stops at the end or at a token that nothing can take."""

    def __init__(self, machine: Machine, text: str, tokens: Tokens, builder: Any, start: str) -> None:
        self.machine = machine
        self.text = text
        self.tokens = tokens
        self.builder = builder
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
        rows, rules, builder = self.machine.rows, self.machine.rules, self.builder
        kinds, token_starts, token_ends = self.tokens.kinds, self.tokens.starts, self.tokens.ends
        states, values, begins, finishes = self.states, self.values, self.begins, self.finishes
        leaves = builder.leaves
        index = self.index
        goal = self.goal
        before = self.before
        while True:
            kind = kinds[index]
            row = rows[states[-1]]
            action = row.get(kind)
            if action is None:
                kind = self._other(kind, index)
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
                before = states[-64:]
                index += 1
                continue
            length, symbol, reduction, only = rules[-action - 1]
            if length == 1:
                # One part: the stacks keep their height, and so do its places.
                if reduction is not None:
                    values[-1] = reduction(builder, [values[-1]], begins[-1], finishes[-1])
                if symbol == goal and len(states) == 2:
                    self.result = values[-1]
                    return True
                states[-1] = rows[states[-2]][symbol] - 1
                continue
            if length:
                parts = values[-length:]
                start, end = begins[-length], finishes[-1]
                value = parts[only] if reduction is None else reduction(builder, parts, start, end)
                del states[-length:], values[-length:], begins[-length:], finishes[-length:]
            else:
                start = end = finishes[-1]
                value = None if reduction is None else reduction(builder, [], start, end)
            if symbol == goal and len(states) == 1:
                self.result = value
                return True
            values.append(value)
            begins.append(start)
            finishes.append(end)
            states.append(rows[states[-1]][symbol] - 1)

    def _other(self, kind: str, index: int) -> str:
        """What else a token can be: an operator its own text, a keyword a name; empty if nothing."""
        if kind == "BINARY":
            text = self.text[self.tokens.starts[index] : self.tokens.ends[index]]
            if text in self.machine.rows[self.states[-1]]:
                return text
        elif kind == "ROLE" or kind[0].islower():
            text = kind
        else:
            return ""
        if text[0].isalpha() and (text not in HARD or self._names_a_part(index)):
            return "NAME"
        return ""

    def _names_a_part(self, index: int) -> bool:
        kinds = self.tokens.kinds
        return (index > 0 and kinds[index - 1] == ".") or kinds[index + 1] in (":", "?")

    def can_take(self, kind: str) -> bool:
        """Whether the token could be taken now, after the reductions it would bring."""
        return self._takes(self.states, kind)

    def could_take(self, kind: str) -> bool:
        """Whether the token could have stood in place of the faulty one."""
        return self._takes(self.before, kind)

    def _takes(self, stack: list[int], kind: str) -> bool:
        rows, rules = self.machine.rows, self.machine.rules
        states = stack[-64:]
        while True:
            action = rows[states[-1]].get(kind)
            if action is None:
                return False
            if action > 0:
                return True
            length, symbol, _, _ = rules[-action - 1]
            if length >= len(states):
                return symbol == self.goal or len(stack) > 64
            if length:
                del states[-length:]
            if symbol == self.goal and len(states) == 1:
                return True
            states.append(rows[states[-1]][symbol] - 1)

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

    def expected(self) -> set[str]:
        """Every terminal that could have stood in place of the faulty one."""
        row = self.machine.rows[self.before[-1]]
        return {name for name in row if not (len(name) > 2 and name[0] == "<") and self.could_take(name)}

    def drop(self, height: int) -> None:
        """Take values off the stack down to `height` entries."""
        del self.states[height:], self.values[height:], self.begins[height:], self.finishes[height:]
