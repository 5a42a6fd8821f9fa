"""Whether a text, and a token behind it, are legal under a constraint, and why not.

Bytes are tried one by one; what is read at a place is what the threads of its configuration read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

from sglc.automata.notation.characters import show_byte_class, show_bytes
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import ACCEPT, Node
from sglc.runtime.mask.gss.machine import MergedContinuation
from sglc.runtime.mask.json_position import Path, json_position, show_path
from sglc.runtime.mask.mask_trace import MaskTrace
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.node_notation import facts, reached
from sglc.runtime.mask.nodes.core import RuleNode
from sglc.runtime.mask.product_nodes.difference import Exclusion
from sglc.runtime.mask.product_nodes.lookahead import NotBefore
from sglc.runtime.mask.product_nodes.unique_array import DistinctArray
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

_JSON_BEGINS = frozenset(b' \t\r\n{["-0123456789tfn')
_MOST_PARTS = 12
"""Parts of a constraint that are listed, a line each; of more it is said how many there are."""
_TAIL = 40
_LABEL = 9

RuleNames = dict[Node, tuple[str, ...]]
"""By node: the rules that it stands in; the empty name is what stands in none."""


@dataclass(frozen=True, slots=True)
class Part:
    """Something of a constraint that may be read at a place. `rules`: the named rules that it stands in,
    several where they share it."""

    reads: str
    rules: tuple[str, ...] = ()

    def __str__(self) -> str:
        rules = " or ".join(self.rules)
        return f"{self.reads}, of rule {rules}" if rules else self.reads


@dataclass(frozen=True, slots=True)
class Place:
    """What a constraint says at one place of a text.

    read        the bytes before it, which are legal so far
    may_end     whether the text may end there
    next_bytes  the bytes that may come next, ascending
    forced      the bytes that must come next; empty where there is a choice, or the text may end
    path        keys and indices of the JSON value that is being read; None where the text is no JSON
    parts       what is open there; no more than a dozen, `more` says how many are left out
    """

    read: bytes
    may_end: bool
    next_bytes: bytes
    forced: bytes
    path: Path | None
    parts: tuple[Part, ...]
    more: int = 0

    def expected(self) -> str:
        """What could come next, the end included."""
        shown = show_byte_class(self.next_bytes) if self.next_bytes else ""
        end = "the end of the text" if self.may_end else ""
        return " or ".join(filter(None, (shown, end))) or "nothing: no text is legal"

    def lines(self) -> Iterable[tuple[str, str]]:
        """(label, text): the place, what is read there, what may follow."""
        if self.path is not None:
            yield "at", show_path(self.path)
        for number, part in enumerate(self.parts):
            yield "" if number else "reads", str(part)
        if self.more:
            yield "", f"… and {self.more:,} more"
        yield "next", self.expected()
        if self.forced:
            yield "forced", show_bytes(self.forced)


@dataclass(frozen=True, slots=True)
class TokenExplanation:
    """Whether a token may follow a text.

    id     its number; None where it was given as bytes that are no token of the vocabulary
    data   its bytes; None for one that has none, which no mask allows
    place  the place behind as much of it as can follow
    at     how many of its bytes can follow: all of them if it is allowed
    """

    id: int | None
    data: bytes | None
    place: Place
    at: int

    @property
    def allowed(self) -> bool:
        """Whether the token has bytes and all of them can follow."""
        return bool(self.data) and self.at == len(self.data or b"")

    def lines(self) -> Iterable[tuple[str, str]]:
        """(label, text) of each line that is shown; a line without a label adds to the one before it."""
        number = "" if self.id is None else f" (id {self.id})"
        if not self.data:
            yield "token", f"id {self.id} has no bytes: no mask has it, and end tokens are the caller's"
            return
        shown = f"{show_bytes(self.data)}{number}"
        if self.allowed:
            yield "token", f"{shown} is allowed"
            return
        byte = show_byte_class(self.data[self.at : self.at + 1])
        behind = f" behind {show_bytes(self.data[: self.at])}" if self.at else ""
        yield "token", f"{shown} is not allowed: its byte {self.at}, {byte}, cannot follow{behind}"
        if self.at:
            yield from ((f"  {label}" if label else "", text) for label, text in self.place.lines())
        else:
            yield "", f"what could: {self.place.expected()}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a constraint says of a text.

    text    the text
    place   the place behind its longest legal beginning
    tokens  how many tokens of the vocabulary may come there; None without one
    sample  (id, bytes) of the first of them
    of      tokens of the vocabulary
    token   the token that was asked about; None where none was, or the text is not legal
    trace   what the mask at the place took, where that was asked for
    """

    text: bytes
    place: Place
    tokens: int | None = None
    sample: tuple[tuple[int, bytes], ...] = ()
    of: int | None = None
    token: TokenExplanation | None = None
    trace: MaskTrace | None = None

    @property
    def legal(self) -> bool:
        """Whether the text can be completed."""
        return self.place.read == self.text and bool(self.place.next_bytes or self.place.may_end)

    def lines(self) -> Iterable[tuple[str, str]]:
        """(label, text), in order; a line without a label belongs to the one before."""
        size = f"{len(self.text):,} byte{'' if len(self.text) == 1 else 's'}"
        yield "text", f"{show_bytes(self.text)}, {size}"
        at = len(self.place.read)
        if self.legal:
            whole = self.place.may_end and not self.place.next_bytes
            end = "complete" if whole else "may end here" if self.place.may_end else "may not end here"
            yield "legal", f"so far; {end}"
        elif at < len(self.text):
            tail = self.place.read[-_TAIL:]
            behind = f" behind {'…' if len(tail) < at else ''}{show_bytes(tail)}" if at else ""
            yield (
                "illegal",
                f"from byte {at:,} on: {show_byte_class(self.text[at : at + 1])} cannot follow{behind}",
            )
        else:
            yield "illegal", "no text at all is legal"
        yield from self.place.lines()
        if self.tokens is not None:
            shown = " ".join(show_bytes(data) for _, data in self.sample)
            more = " …" if self.tokens > len(self.sample) else ""
            yield "tokens", f"{self.tokens:,} of {self.of:,} may come{': ' + shown + more if shown else ''}"
        if self.token is not None:
            yield from self.token.lines()
        if self.trace is not None:
            yield "trace", str(self.trace)

    def __str__(self) -> str:
        return "\n".join(f"{label:<{_LABEL}} {text}".rstrip() for label, text in self.lines())


@cache
def byte_vocabulary() -> Vocabulary:
    """Each byte as a token of its number: its masks are the bytes that may come next."""
    return Vocabulary([bytes([byte]) for byte in range(256)])


def explain(
    matcher: Matcher,
    rules: RuleNames,
    text: bytes,
    token: tuple[int | None, bytes | None] | None,
) -> Explanation:
    """`matcher`: at the beginning, under `byte_vocabulary`; `token`: (id, bytes), see `TokenExplanation`."""
    begins = frozenset(matcher.allowed().tolist())
    json = bool(begins & frozenset(b"{[")) and begins <= _JSON_BEGINS
    count = matcher.accept_prefix(text)
    place = place_of(matcher, text[:count], rules, json=json)
    found = None
    if token is not None and count == len(text):
        number, data = token
        at = matcher.accept_prefix(data or b"")
        there = place_of(matcher, text + (data or b"")[:at], rules, json=json) if at else place
        found = TokenExplanation(number, data, there, at)
    return Explanation(text, place, token=found)


def with_tokens(
    found: Explanation, matcher: Matcher, vocabulary: Vocabulary, top: int, trace: bool
) -> Explanation:
    """The same with the tokens that may come at its place; `matcher`: at the beginning."""
    if not matcher.accept_bytes(found.place.read):
        return replace(found, tokens=0, of=vocabulary.size)  # no text at all is legal
    took = matcher.trace_mask() if trace else None
    tokens = matcher.allowed()
    sample = tuple((int(id), vocabulary.token_bytes[id] or b"") for id in tokens[: max(top, 0)])
    return replace(found, tokens=len(tokens), sample=sample, of=vocabulary.size, trace=took)


def place_of(matcher: Matcher, read: bytes, rules: RuleNames, *, json: bool) -> Place:
    """The place of a matcher under `byte_vocabulary` that has read some bytes."""
    parts = sorted(open_parts(matcher.machine, matcher.config, rules), key=str)
    return Place(
        read,
        matcher.is_accepting(),
        bytes(matcher.allowed().tolist()),
        matcher.forced(),
        json_position(read) if json else None,
        tuple(parts[:_MOST_PARTS]),
        max(0, len(parts) - _MOST_PARTS),
    )


def open_parts(machine: Machine, config: int, rules: RuleNames) -> set[Part]:
    """What the threads of a configuration read. Of one that runs beside another language (all but some words,
    items that differ, a lookahead) it is what runs inside."""
    found: set[Part] = set()
    waiting, seen = [config], {config}
    while waiting:
        for thread in machine.configs[waiting.pop()]:
            if thread == ACCEPT:
                continue
            node, state, cont = machine.place(thread)
            inner = None
            if isinstance(node, Exclusion | NotBefore):
                inner = state[0]
            elif isinstance(node, DistinctArray):
                inner = state[2]
            if inner is None:
                what = facts(node)
                found.add(Part(f"{what.kind} {what.reads}".rstrip(), _rules_of(machine, node, cont, rules)))
            elif inner not in seen:
                seen.add(inner)
                waiting.append(inner)
    return found


def _rules_of(machine: Machine, node: Node, cont: int, rules: RuleNames) -> tuple[str, ...]:
    """The rules that a thread stands in: of those that share its node, the ones that what waits behind it is
    of, if that decides; none where it may stand outside of all rules."""
    mine = rules.get(node, ())
    if len(mine) > 1:
        behind: set[str] = set()
        waiting = [cont]
        while waiting:
            frame, state, _ = machine.frame(waiting.pop())
            if isinstance(frame, MergedContinuation):
                waiting += state
            else:
                behind.update(rules.get(frame, ()))
        mine = tuple(name for name in mine if name in behind) or mine
    return () if "" in mine else mine


def rules_by_node(root: Node) -> RuleNames:
    """The rules that each node below a root stands in, as far as they have been compiled."""
    found: dict[Node, set[str]] = {}
    named = [node for node in reached(root, make=False)[0] if isinstance(node, RuleNode) and node.name]
    for name, tops in [("", [root]), *[(rule.name, rule.children()) for rule in named]]:
        seen: set[Node] = set()
        waiting = list(tops)
        while waiting:
            node = waiting.pop()
            if node in seen or (isinstance(node, RuleNode) and node.name):
                continue
            seen.add(node)
            found.setdefault(node, set()).add(name)
            waiting += node.children()
    return {node: tuple(sorted(names)) for node, names in found.items()}
