"""From terms to nodes: structurally equal terms become the same node of a machine.

The machine's nodes outlive a constraint, so what constraints share (a string's inside, numbers, whole types)
is analysed, stepped and walked once for all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from sglc.automata import term as t
from sglc.automata.dfa.operations import accepts, is_endless
from sglc.automata.encoding import written
from sglc.automata.json.counters import NO_COUNTS, Counts, Vector
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import Node
from sglc.runtime.mask.compile.analysis import analyse
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.lexeme.text_dfa import TextTable
from sglc.runtime.mask.nodes import core
from sglc.runtime.mask.nodes.array import ArrayNode, ArrayParts
from sglc.runtime.mask.nodes.dispatch import MANY, CaseNode, cases_of
from sglc.runtime.mask.nodes.object import ObjectNode
from sglc.runtime.mask.nodes.object_parts import ObjectParts
from sglc.runtime.mask.nodes.options import Options
from sglc.runtime.mask.nodes.pattern import PatternNode, PatternTable
from sglc.runtime.mask.nodes.substring import SpanNode, SpanTable
from sglc.runtime.mask.nodes.text import TextNode
from sglc.runtime.mask.nodes.words import WordNode
from sglc.runtime.mask.product_nodes.difference import Exclusion
from sglc.runtime.mask.product_nodes.lookahead import NotBefore
from sglc.runtime.mask.product_nodes.unique_array import DistinctArray

_MOST_REMEMBERED = 50_000
"""Terms of rules that are compiled late whose nodes are found by identity, about 10 MB; more begin afresh."""


class Compiler:
    """Makes and remembers the nodes of one machine."""

    def __init__(self, machine: Machine, max_depth: int, max_terms: int) -> None:
        self.machine = machine
        self.max_depth = max_depth
        self.max_terms = max_terms
        self._nodes: dict[Hashable, Node] = {}
        self._tables: dict[tuple[t.CharDfa, str], TextTable] = {}
        self._families: dict[tuple[t.CharDfa, ...], tuple[t.CharDfa, ...]] = {}
        """One of equal lists of automata of keys, so that they have one identity."""
        self._spans: dict[tuple[str, str], SpanTable] = {}
        self._by_identity: dict[tuple[int, int], tuple[object, object, Node]] = {}
        self._serieses: dict[tuple[int, ...], Node] = {}
        self._new: list[Node] = []
        self._made = 0
        self._rules: Mapping[str, t.Term] = {}
        self._waiting: list[tuple[core.RuleNode, t.Term]] = []
        self._entry = self._make_entry
        """One for all objects."""

    def compile(self, language: t.Language, *, once: bool = False) -> Node:
        """The node of a language's root. Raises ConstraintError for what is malformed or too large.

        `once`: nobody keeps the language, so that its rules are not found again.
        """
        rules = language.rules
        try:
            return self._compiled(rules, language.root)
        finally:
            # Terms are not kept: they are many, and hardly ever compiled once more.
            self._by_identity.clear()
            self._serieses.clear()
            for name in rules if once else ():
                node = self._nodes.pop(("rule", id(rules), name), None)
                if node is not None:
                    del node.keeps  # type: ignore[attr-defined]

    def _compiled(self, rules: Mapping[str, t.Term], term: t.Term) -> Node:
        if len(self._by_identity) > _MOST_REMEMBERED:
            self._by_identity.clear()
        self._rules = rules
        self._new = []
        self._made = 0
        self._waiting = []
        try:
            root = self._node(term, 0)
            # Bodies of rules wait for their turn, so that a long chain of rules is not a deep one.
            while self._waiting:
                rule, body = self._waiting.pop()
                rule.body = self._node(body, 0)
        except BaseException:
            self._forget()
            raise
        try:
            analyse(self._new, self.machine)
        except ConstraintError:
            self._forget()
            raise
        self._new = []
        return root

    def _late(self, rules: Mapping[str, t.Term], term: t.Term) -> Node:
        """What is opened for the first time, perhaps while something else is compiled."""
        with self.machine.lock:
            before = self._rules, self._new, self._made, self._waiting
            try:
                return self._compiled(rules, term)
            finally:
                self._rules, self._new, self._made, self._waiting = before

    def _forget(self) -> None:
        """Drop half-made nodes: they were never analysed."""
        fresh = {node.index for node in self._new}
        self._nodes = {key: node for key, node in self._nodes.items() if node.index not in fresh}
        self._by_identity = {k: v for k, v in self._by_identity.items() if v[2].index not in fresh}
        self._serieses.clear()
        self._new = []

    # Interning

    def _node(self, term: t.Term, depth: int) -> Node:
        rules = self._rules
        scope = id(rules) if type(rules) is not dict or rules else 0
        identity = (id(term), scope)
        known = self._by_identity.get(identity)
        if known is not None:
            return known[2]
        self._count(depth)
        node = self._build(term, depth + 1)
        # The term is kept with its node: an identity is only valid while its object lives.
        self._by_identity[identity] = (term, self._rules, node)
        return node

    def _count(self, depth: int) -> None:
        """Count one more term, so deep inside of others. Raises ConstraintError beyond the limits."""
        if depth > self.max_depth:
            raise ConstraintError(f"nested more than {self.max_depth} deep")
        self._made += 1
        if self._made > self.max_terms:
            raise ConstraintError(f"more than {self.max_terms} parts")

    def _intern(self, key: Hashable, make: object) -> Node:
        node = self._nodes.get(key)
        if node is None:
            node = make()  # type: ignore[operator]
            self._register(key, node)
        return node

    def _register(self, key: Hashable, node: Node) -> None:
        self.machine.register(node)
        self._nodes[key] = node
        self._new.append(node)

    def _build(self, term: t.Term, depth: int) -> Node:
        _check_counts(term)
        match term:
            case t.Sequence(items):
                return self._series([node for item in items for node in self._in_row(item, depth)])
            case t.Rule():
                return self._rule(term)
            case t.Bytes(data):
                return self._literal(data)
            case t.Object():
                return self._object(term, depth)
            case t.Choice(arms):
                return self._choice(arms, depth)
            case t.Array():
                return self._array(term, depth)
            case t.Text(dfa, encoding, least, most):
                table = self._table(dfa, encoding)
                return self._intern(("text", id(table), least, most), lambda: TextNode(table, least, most))
            case t.Pattern(nfa, encoding):
                return self._intern(
                    ("pattern", nfa, encoding), lambda: PatternNode(PatternTable(nfa, encoding))
                )
            case t.NotBefore(forbidden):
                self.machine.looks_ahead = True
                return self._intern(("not before", forbidden), lambda: NotBefore(forbidden))
            case t.Repeat(item, minimum, maximum, separator):
                inner = self._node(item, depth)
                between = self._literal(separator)
                return self._intern(
                    ("repeat", inner.index, minimum, maximum, separator),
                    lambda: core.Repetition(inner, minimum, maximum, between),
                )
            case t.Span(text, encoding, minimum, maximum):
                spans = self._span_table(text, encoding)
                return self._intern(
                    ("span", id(spans), minimum, maximum), lambda: SpanNode(spans, minimum, maximum)
                )
            case t.Words(words):
                return self._intern(("words", words), lambda: WordNode(words))
            case t.Listed(texts, encoding):
                free = encoding == "json-any"
                return self._intern(
                    ("listed", texts, encoding),
                    lambda: WordNode([written(text, encoding) for text in texts], free),
                )
            case t.Except(item, words):
                inner = self._node(item, depth)
                if not words:
                    return inner
                return self._intern(("except", inner.index, words), lambda: Exclusion(inner, words))
            case t.Nothing():
                return self._choice((), depth)
            case t.Anything():
                return self._intern(("anything",), core.AnyBytes)
        raise ConstraintError(f"not a term: {type(term).__name__}")

    def _in_row(self, term: t.Term, depth: int) -> list[Node]:
        """The nodes of a term one after the other, of which the caller makes a longer series."""
        if not isinstance(term, t.Sequence):
            return [self._node(term, depth)]
        self._count(depth)
        return [node for item in term.items for node in self._in_row(item, depth + 1)]

    def _literal(self, data: bytes) -> core.Literal:
        node = self._intern(("bytes", data), lambda: core.Literal(data))
        assert isinstance(node, core.Literal)
        return node

    def _table(self, dfa: t.CharDfa, encoding: t.Encoding) -> TextTable:
        key = (dfa, encoding)
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = TextTable(dfa, encoding)
        return table

    def _series(self, items: list[Node]) -> Node:
        key = tuple([item.index for item in items])
        node = self._serieses.get(key)
        if node is None:
            node = self._serieses[key] = self._flat_series(items)
        return node

    def _flat_series(self, items: list[Node]) -> Node:
        flat: list[Node] = []
        for item in items:
            flat += item.items() if isinstance(item, core.Series) else (item,)
        merged: list[Node] = []
        for item in flat:
            if isinstance(item, core.Literal):
                if not item.data:
                    continue
                if merged and isinstance(merged[-1], core.Literal):
                    merged[-1] = self._literal(merged[-1].data + item.data)
                    continue
            merged.append(item)
        if not merged:
            return self._literal(b"")
        node = merged.pop()
        while merged:
            node = self._pair(merged.pop(), node)
        return node

    def _pair(self, first: Node, rest: Node) -> Node:
        return self._intern(("series", first.index, rest.index), lambda: core.Series(first, rest))

    def _cases(self, rules: t.LateRules, arms: tuple[t.Term, ...]) -> Node | None:
        """Arms that begin with words as one node, beside the others; None if that does not pay."""
        # Both live as long as the node.
        key = ("cases", id(rules), id(arms))
        known = self._nodes.get(key)
        if known is not None:
            return known
        cases, others = cases_of(rules, arms)
        if sum(map(len, cases.values())) < MANY:
            return None

        node = CaseNode(cases, rules, lambda term: self._late(rules, term))
        node.keeps = rules, arms  # type: ignore[attr-defined]
        if not others:
            self._register(key, node)
            return node
        self._register((*key, "words"), node)
        # They may come back to this choice, and so wait for their turn.
        rest = core.RuleNode("")
        self._register((*key, "others"), rest)
        self._waiting.append((rest, t.Choice(tuple(others))))
        return self._intern(key, lambda: core.Alternatives((node, rest)))

    def _choice(self, arms: tuple[t.Term, ...], depth: int) -> Node:
        if len(arms) >= MANY and isinstance(self._rules, t.LateRules):
            found = self._cases(self._rules, arms)
            if found is not None:
                return found
        words = {arm.data for arm in arms if isinstance(arm, t.Bytes)}
        parts: dict[int, Node] = {}
        if len(words) > 1:
            distinct = frozenset(words)
            node = self._intern(("words", distinct), lambda: WordNode(distinct))
            parts[node.index] = node
        for arm in arms:
            if len(words) > 1 and isinstance(arm, t.Bytes):
                continue
            node = self._node(arm, depth)
            parts[node.index] = node
        if len(parts) == 1:
            return next(iter(parts.values()))
        nodes = tuple(parts.values())
        return self._intern(("choice", *sorted(parts)), lambda: core.Alternatives(nodes))

    def _span_table(self, text: str, encoding: t.Encoding) -> SpanTable:
        table = self._spans.get((text, encoding))
        if table is None:
            table = self._spans[text, encoding] = SpanTable(text, encoding)
        return table

    # Arrays and objects

    def _options(
        self, arms: tuple[t.Arm, ...], counts: Counts, depth: int, before: Node | None = None
    ) -> list[tuple[Vector, Node]]:
        """The arms by what they add to the counters, each behind another node."""
        if len(arms) == 1 and not counts.kept:
            term = arms[0].term
            node = (
                self._node(term, depth)
                if before is None
                else self._series([before, *self._in_row(term, depth)])
            )
            return [(counts.zero, node)]
        found = [
            (vector, self._choice(tuple(terms), depth)) for vector, terms in counts.by_vector(arms).items()
        ]
        return found if before is None else [(vector, self._series([before, node])) for vector, node in found]

    def _array(self, term: t.Array, depth: int) -> Node:
        counts = _counts(term.counters, [*term.places, term.rest])
        comma = self._node(term.comma, depth)
        places = tuple(tuple(self._options(arms, counts, depth)) for arms in (*term.places, term.rest))
        key = tuple([tuple([(vector, node.index) for vector, node in place]) for place in places])
        parts = ArrayParts(Options(places), term.minimum, term.maximum, term.counters, comma)
        whole = ("array", key, term.minimum, term.maximum, term.counters, comma.index, term.distinct)
        if not term.distinct:
            return self._intern(whole, lambda: ArrayNode(parts))
        if term.counters:
            raise ConstraintError("an array of different items counts them")
        return self._intern(whole, lambda: DistinctArray(parts, lambda text: self._late({}, text)))

    def _object(self, term: t.Object, depth: int) -> Node:
        names = tuple(prop.name for prop in term.properties)
        _check_keys(term, names)
        every = [*[prop.arms for prop in term.properties], *[family.arms for family in term.families]]
        counts = _counts(term.counters, every)
        comma = self._node(term.comma, depth)
        colon = self._node(term.colon, depth)
        options = [self._options(arms, counts, depth, colon) for arms in every]
        families = tuple([family.keys for family in term.families])
        families = self._families.setdefault(families, families)
        clauses = tuple([tuple(sorted(clause)) for clause in term.clauses])
        ways: tuple[object, ...]
        if term.counters or any([len(some) != 1 for some in options]):
            ways = tuple([tuple([(vector, tail.index) for vector, tail in some]) for some in options])
        else:
            ways = tuple([tail.index for ((_, tail),) in options])
        key = (
            "object",
            names,
            id(families),
            ways,
            term.minimum,
            term.maximum,
            clauses,
            term.counters,
            term.order,
            term.distinct,
            term.encoding,
            comma.index,
        )
        parts = ObjectParts(
            names,
            families,
            Options(options),
            term.minimum,
            term.maximum,
            clauses,
            term.counters,
            term.order == "declared",
            term.distinct,
            term.encoding,
            comma,
        )
        return self._intern(key, lambda: ObjectNode(parts, self._entry))

    def _make_entry(self, name: str, tail: Node) -> Node:
        """A name with its quotes and what follows it; called when it is opened."""
        with self.machine.lock:
            before, self._new = self._new, []
            try:
                node = self._flat_series([self._literal(b'"' + written(name, "json") + b'"'), tail])
                analyse(self._new, self.machine)
                return node
            finally:
                self._new = before

    def _rule(self, term: t.Rule) -> Node:
        rules, name = self._rules, term.name
        key: Hashable = ("rule", id(rules), name)
        if term.own:
            key = ("own rule", id(rules.get(name)), name)
        node = self._nodes.get(key)
        if node is None:
            if isinstance(rules, t.LateRules):
                node = core.RuleNode(name, lambda: self._late(rules, rules[name]))
                node.productive, node.nullable = True, rules.may_be_empty(name)
                node.begins = lambda: rules.first_bytes(name)
                self._register(key, node)
            else:
                body = rules.get(name)
                if body is None:
                    raise ConstraintError(f"no rule is called {name!r}")
                node = core.RuleNode(name)
                self._register(key, node)
                self._waiting.append((node, body))
            # What the key is the identity of.
            node.keeps = rules.get(name) if term.own else rules  # type: ignore[attr-defined]
        return node


def _check_counts(term: t.Term) -> None:
    """Refuse a term that asks for more than a text can have."""
    if isinstance(term, t.Text | t.Span):
        asked, what = term.min_chars, "characters"
    elif isinstance(term, t.Repeat):
        asked, what = term.minimum, "items"
    elif isinstance(term, t.Array | t.Object):
        asked, what = max([term.minimum, *[counter.minimum for counter in term.counters]]), "items"
    else:
        return
    if asked > t.MOST_COUNTED:
        raise ConstraintError(
            f"at least {asked:,} {what} are asked for; a text with more than {t.MOST_COUNTED:,} "
            "could never be completed"
        )


def _counts(counters: tuple[t.Counter, ...], places: Sequence[tuple[t.Arm, ...]]) -> Counts:
    if not counters and not any([arm.counts for arms in places for arm in arms]):
        return NO_COUNTS
    if any(not 0 <= index < len(counters) for arms in places for arm in arms for index in arm.counts):
        raise ConstraintError("an arm counts what has no counter")
    return Counts(counters)


def _check_keys(term: t.Object, names: tuple[str, ...]) -> None:
    if term.encoding == "raw":
        raise ConstraintError("keys of an object must be JSON text")
    if len(set(names)) < len(names):
        raise ConstraintError("an object has two properties of one name")
    if any(not name.isascii() and any("\ud800" <= char <= "\udfff" for char in name) for name in names):
        raise ConstraintError("the name of a property contains a lone surrogate")
    if any(not 0 <= index < len(names) for clause in term.clauses for index, _ in clause):
        raise ConstraintError("a clause speaks of no property")
    for family in term.families:
        if not is_endless(family.keys) and any(accepts(family.keys, name) for name in names):
            raise ConstraintError("the name of a property is also a key of a family with few keys")
