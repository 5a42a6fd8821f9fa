"""A model for stubs of servers: it writes from a script, or any legal text, and knows tokens and scores."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sglc.cfg.model import grammar as g
from sglc.cfg.notation.reader import read_grammar
from sglc.runtime.mask import Vocabulary, compile_constraint
from sglc.runtime.mask.constraint import Constraint

NOTHING = (g.Literal(""), g.Sequence(()))
"""The empty text in a grammar, as it may be read."""
_BYTES = Vocabulary([bytes([byte]) for byte in range(256)])


@dataclass
class StubModel:
    """`script` are answers, in order; behind them answers are drawn. `follow` has None for no limit."""

    script: list[str] = field(default_factory=list)
    seed: int = 0
    longest: int = 60
    ids: dict[str, int] = field(default_factory=dict)

    def write(self, constraint: Constraint | None) -> str:
        """The next answer. One of the script has to be legal, as a mask would have it."""
        if self.script:
            text = self.script.pop(0)
            if constraint is not None:
                matcher = constraint.matcher(_BYTES)
                assert matcher.accept_bytes(text.encode()) and matcher.is_accepting(), text
            return text
        if constraint is None:
            return "some words"
        return self._drawn(constraint)

    def _drawn(self, constraint: Constraint) -> str:
        draw = random.Random(self.seed)
        self.seed += 1
        matcher = constraint.matcher(_BYTES)
        written = bytearray()
        while len(written) < self.longest and not matcher.is_complete():
            if matcher.is_accepting() and draw.random() < 0.2:
                break
            legal = matcher.allowed()
            byte = int(legal[draw.randrange(len(legal))])
            assert matcher.accept(byte)
            written.append(byte)
        if not matcher.is_accepting():
            written += matcher.shortest_completion()
        return written.decode("utf-8")

    def tokens(self, text: str) -> list[str]:
        """Words with the blank before them, and single characters."""
        return re.findall(r" ?\w+|.", text, re.DOTALL)

    def encode(self, text: str) -> list[int]:
        """Numbers of tokens, as they came up."""
        return [self.ids.setdefault(token, len(self.ids)) for token in self.tokens(text)]

    def token(self, number: int) -> str:
        return next(text for text, each in self.ids.items() if each == number)

    def logprob(self, token: str) -> float:
        """The same for a token wherever it stands."""
        return -len(token) / 4

    def top(self, token: str, count: int) -> list[tuple[str, float]]:
        """Chances: the token itself, then others that are less likely."""
        return [(token, self.logprob(token)), *((f"x{i}", -9.0 - i) for i in range(count))][:count]


def prompt_of(messages: Sequence[Mapping[str, Any]], *, open_end: bool = False) -> str:
    """Messages by the stubs' chat template."""
    texts = [f"<{each['role']}>{each['content']}</>" for each in messages]
    if open_end:
        return "".join(texts).removesuffix("</>")
    return "".join(texts) + "<assistant>"


def constraint_from(kind: str, value: Any) -> Constraint:
    """A constraint of a server, by our own engine."""
    match kind:
        case "json_schema":
            return compile_constraint(json_schema=value)
        case "choice":
            return compile_constraint(choices=value)
        case "regex":
            return compile_constraint(regex=value, dialect="python")
    assert kind in ("gbnf", "lark"), kind
    grammar = read_grammar(value, kind)  # type: ignore[arg-type]
    return _of_one_terminal(grammar) if kind == "lark" and _is_one_terminal(grammar) else _of(grammar)


def _is_one_terminal(grammar: g.Grammar) -> bool:
    """Whether the start is the only rule, and a terminal or nothing."""
    arms = _arms(grammar.rules[grammar.start].body)
    named = all(not isinstance(each, g.Reference) or each.name in grammar.terminals for each in arms)
    return (
        len(grammar.rules) == 1
        and named
        and all(isinstance(each, g.Reference | g.Pattern) or each in NOTHING for each in arms)
    )


def _of(grammar: g.Grammar) -> Constraint:
    return compile_constraint(grammar=grammar)


def _of_one_terminal(grammar: g.Grammar) -> Constraint:
    """Of a grammar whose text is one terminal, or empty. llguidance makes states of terminals as they are
    reached; ours are made at once, so it is read as a pattern, or terminals as rules."""
    start = grammar.rules[grammar.start].body
    match start:
        case g.Pattern(regex):
            return compile_constraint(regex=regex, dialect="python")
        case g.Alternatives((g.Pattern(regex), nothing)) if nothing in NOTHING:
            return compile_constraint(regex=f"(?:{regex})?", dialect="python")
    rules = {name: g.Rule(name, terminal.body) for name, terminal in grammar.terminals.items()}
    return _of(replace(grammar, rules={**rules, grammar.start: g.Rule(grammar.start, start)}, terminals={}))


def _arms(body: g.Expression) -> tuple[g.Expression, ...]:
    return body.arms if isinstance(body, g.Alternatives) else (body,)
