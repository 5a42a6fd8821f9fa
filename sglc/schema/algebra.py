"""From nodes to forms: logic is eliminated, and what remains are unions of forms by type of value.

`objects(these)` and `arrays(these)` are the forms of a set of literals. The forms of a node depend on
nothing but the node, so they are made once; values inside forms stay sets of literals, which are looked into
only when they are needed. As there are finitely many nodes there are finitely many such sets, so recursive
schemas end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from sglc.automata import dfa as automata
from sglc.schema import forms as f
from sglc.schema import graph as g
from sglc.schema import strings
from sglc.schema.errors import SchemaError, SchemaTooLarge, UnsupportedSchema
from sglc.schema.forms import FALSE, TRUE, ArrayForm, Entries, KeySet, Literals, ObjectForm, both
from sglc.schema.graph import Graph, Part
from sglc.schema.options import SchemaLimits
from sglc.schema.scalars import Scalars, pattern_automaton

PLAIN, MARKED, EXACT = 0, 1, 2
"""What forms say of evaluated keys and items: nothing; at least those of one way to satisfy the schema (more
being evaluated only allows more, so a union over all ways is exact); exactly those."""

_DEPTH = 6
_MOST_ABSORBED = 100
_FEW_WAYS_OUT = 3
_FEW_FORMS = 3
_MOST_ASKED = 60


@dataclass(frozen=True, slots=True)
class Structure:
    """Objects or arrays, with the operations on their forms."""

    bit: int
    every: Any
    meet: Callable[[Any, Any], Any]
    negated: Callable[[Any, f.Negation], Iterable[Any]]
    atom: Callable[[Part, int], list[Any] | None]
    is_void: Callable[[Any], bool]


class _TooMany(SchemaTooLarge):
    """More alternatives than the limits allow; a question about emptiness gives up here."""


class _Busy(Exception):
    """A question about emptiness has led back to forms that are being made."""


class Algebra:
    def __init__(self, graph: Graph, limits: SchemaLimits) -> None:
        self.graph = graph
        self.limits = limits
        self.scalars = Scalars(graph, limits.states)
        self.object = Structure(
            g.OBJECT, f.ANY_OBJECT, f.meet_objects, f.negated_object, self._object_atom, self._object_is_void
        )
        self.array = Structure(
            g.ARRAY, f.ANY_ARRAY, f.meet_arrays, f.negated_array, self._array_atom, self._array_is_void
        )
        self.work = 0
        self._literals: dict[int, Literals | None] = {0: TRUE, 1: FALSE}
        self._forms: dict[tuple[int, int, bool, int], list[Any] | None] = {}
        self._of: dict[tuple[int, Literals], list[Any]] = {}
        self._empty: dict[Literals, bool] = {}
        self._open: set[Literals] = set()
        self._since: dict[tuple[int, int, bool, int], int] = {}
        self._atoms: dict[tuple[int, Part], list[Any]] = {}

    # Literals

    def literals(self, number: int) -> Literals:
        """A node as a set of literals; nodes that only stand for others are replaced by them."""
        if number in self._literals:
            found = self._literals[number]
            if found is None:
                path = self.graph.nodes[number].path
                raise SchemaError("the schema refers to itself without going into a value", path)
            return found
        node = self.graph.nodes[number]
        found = frozenset({2 * number})
        if not node.parts:
            found = TRUE
        elif len(node.parts) == 1:
            self._literals[number] = None
            match node.parts[0]:
                case g.Ref(key, _):
                    found = self.literals(self.graph.references[key])
                case g.All((inner,)) | g.Any_((inner,)) | g.One((inner,)):
                    found = self.literals(inner)
                case g.All(nodes):
                    found = TRUE
                    for inner in nodes:
                        found = both(found, self.literals(inner))
                case g.Not(inner):
                    found = self.negate(self.literals(inner))
                case g.Types(mask) if not mask:
                    found = FALSE
        self._literals[number] = found
        return found

    def negate(self, these: Literals) -> Literals:
        if not these:
            return FALSE
        if these == FALSE:
            return TRUE
        if len(these) == 1:
            return frozenset(literal ^ 1 for literal in these)
        return frozenset({2 * self._node(these) + 1})

    def either(self, options: Iterable[Literals]) -> Literals:
        """The values of at least one."""
        different = [these for these in dict.fromkeys(options) if these != FALSE]
        if TRUE in different:
            return TRUE
        if not different:
            return FALSE
        if len(different) == 1:
            return different[0]
        nodes = tuple(sorted(self._node(these) for these in different))
        return self.literals(self.graph.add((g.Any_(nodes),), self.path(different[0])))

    def _node(self, these: Literals) -> int:
        """A node that is the conjunction of literals."""
        nodes = [
            literal >> 1 if not literal & 1 else self.graph.add((g.Not(literal >> 1),), self.path(these))
            for literal in sorted(these)
        ]
        if len(nodes) == 1:
            return nodes[0]
        return self.graph.add((g.All(tuple(nodes)),), self.path(these))

    def constant(self, value: g.Value) -> Literals:
        return self.literals(self.graph.add((g.Values((value,)),), "#"))

    def path(self, these: Literals) -> str:
        return self.graph.nodes[min(these) >> 1].path if these else "#"

    # Forms

    def objects(self, these: Literals) -> list[ObjectForm]:
        return self.forms(self.object, these)

    def arrays(self, these: Literals) -> list[ArrayForm]:
        return self.forms(self.array, these)

    def forms(self, kind: Structure, these: Literals) -> list[Any]:
        """Forms whose union is what satisfies all literals."""
        key = (kind.bit, these)
        found = self._of.get(key)
        if found is None:
            if these == FALSE:
                return []
            found = [kind.every]
            parts = [self.node_forms(kind, one >> 1, bool(one & 1), PLAIN) for one in sorted(these)]
            parts.sort(key=len)
            for part in parts:
                found = self.product(kind, found, part, these)
            if kind.bit == g.OBJECT and len(found) > _FEW_FORMS:
                found = f.merged(found)
            if len(found) > self.limits.alternatives:
                what = "an object" if kind.bit == g.OBJECT else "an array"
                reason = f"{what} may satisfy the schema in {len(found)} ways, more than "
                raise _TooMany(f"{reason}{self.limits.alternatives}", self.path(these))
            self._of[key] = found
        return found

    def _most(self) -> int:
        """How many branches there may be; a question about emptiness is not worth many."""
        return min(self.limits.branches, _MOST_ASKED) if self._open else self.limits.branches

    def product(self, kind: Structure, left: list[Any], right: list[Any], these: Literals) -> list[Any]:
        if len(left) == 1 and left[0] == kind.every:
            return right
        if len(right) == 1 and right[0] == kind.every:
            return left
        self.work += len(left) * len(right)
        if self.work > self.limits.work:
            raise SchemaTooLarge("the schema has too many alternatives to combine", self.path(these))
        found: dict[Any, None] = {}
        for a in left:
            for b in right:
                one = kind.meet(a, b)
                if one is not None and one not in found and (one == a or one == b or not kind.is_void(one)):
                    found[one] = None
                    if len(found) > self._most():
                        raise _TooMany(f"more than {self._most()} alternatives", self.path(these))
        return list(found)

    def node_forms(self, kind: Structure, number: int, negated: bool, mode: int) -> list[Any]:
        key = (kind.bit, number, negated, mode)
        if key in self._forms:
            found = self._forms[key]
            if found is None:
                if self._since[key] < len(self._open):
                    raise _Busy
                path = self.graph.nodes[number].path
                raise SchemaError("the schema refers to itself without going into a value", path)
            return found
        node = self.graph.nodes[number]
        here = frozenset({2 * number})
        if number == 0:
            found = [] if negated else [kind.every]
        elif not node.mask & kind.bit:
            found = [kind.every] if negated else []
        else:
            self._forms[key] = None
            self._since[key] = len(self._open)
            try:
                if negated:
                    found = self._negated_node(kind, node, here)
                else:
                    found = self._positive_node(kind, node, mode, here)
            finally:
                del self._forms[key]
        self._forms[key] = found
        return found

    def _positive_node(self, kind: Structure, node: g.Node, mode: int, here: Literals) -> list[Any]:
        unevaluated = [part for part in node.parts if _is_unevaluated(kind, part)]
        inner_mode = max(mode, MARKED) if unevaluated else mode
        found = self._conjunction(kind, node, inner_mode, here)
        for part in unevaluated:
            found = [
                one
                for form in found
                for one in self.product(kind, [form], [self._evaluate_rest(form, part)], here)
            ]
            found = [replace(form, seen=None) for form in found]
        if unevaluated and mode == PLAIN:
            found = list(dict.fromkeys(_unmarked(form) for form in found))
        return found

    def _negated_node(self, kind: Structure, node: g.Node, here: Literals) -> list[Any]:
        found: dict[Any, None] = {}
        for part in node.parts:
            if not _is_unevaluated(kind, part):
                found.update(dict.fromkeys(self.negated_part(kind, part, here)))
        if any(_is_unevaluated(kind, part) for part in node.parts):
            forms = self._conjunction(kind, node, EXACT, here)
            for part in node.parts:
                if _is_unevaluated(kind, part):
                    for form in forms:
                        rest = self._evaluate_rest(form, part)
                        wrong = list(kind.negated(rest, self.negate))
                        found.update(dict.fromkeys(map(_unmarked, self.product(kind, [form], wrong, here))))
        return self._union(kind, [list(found)])

    def _conjunction(self, kind: Structure, node: g.Node, mode: int, here: Literals) -> list[Any]:
        """The forms of all parts but those about the unevaluated; `oneOf` last, for within the other parts
        its branches are often disjoint."""
        found = [kind.every]
        for part in node.parts:
            if not isinstance(part, g.One) and not _is_unevaluated(kind, part):
                found = self.product(kind, found, self.part_forms(kind, part, mode), here)
        for part in node.parts:
            if isinstance(part, g.One) and found:
                found = self._one(kind, part.nodes, mode, found, here)
        return found

    def part_forms(self, kind: Structure, part: Part, mode: int) -> list[Any]:
        match part:
            case g.All(nodes):
                found = [kind.every]
                for inner in nodes:
                    forms = self.node_forms(kind, inner, False, mode)
                    found = self.product(kind, found, forms, frozenset({2 * inner}))
                return found
            case g.Any_(nodes):
                return self._any(kind, nodes, mode)
            case g.Not(number):
                return self.node_forms(kind, number, True, PLAIN)
            case g.If(condition, then, otherwise):
                here = frozenset({2 * condition})
                yes = self.product(
                    kind,
                    self.node_forms(kind, condition, False, mode),
                    self.node_forms(kind, then, False, mode),
                    here,
                )
                no = self.product(
                    kind,
                    self.node_forms(kind, condition, True, PLAIN),
                    self.node_forms(kind, otherwise, False, mode),
                    here,
                )
                return self._union(kind, [yes, no])
            case g.Ref(key, _):
                return self.node_forms(kind, self.graph.references[key], False, mode)
            case g.Dependent(name, names, node) if kind.bit == g.OBJECT:
                absent = [f.clauses_form([f.presence(name, False)])]
                required = f.clauses_form(frozenset({(name, False), (other, True)}) for other in names)
                if node is None:
                    return [required]
                forms = self.node_forms(kind, node, False, mode)
                if mode != PLAIN:
                    present = f.clauses_form([f.presence(name, True)])
                    forms = self.product(kind, [present], forms, frozenset({2 * node}))
                return self._union(kind, [absent, forms])
            case _:
                return self._atom(kind, part, mode)

    def _atom(self, kind: Structure, part: Part, mode: int) -> list[Any]:
        key = (kind.bit + (0 if mode == PLAIN else 64), part)
        found = self._atoms.get(key)
        if found is None:
            made = kind.atom(part, mode)
            found = self._atoms[key] = [kind.every] if made is None else made
        return found

    def negated_part(self, kind: Structure, part: Part, here: Literals) -> list[Any]:
        match part:
            case g.All(nodes):
                return self._union(kind, [self.node_forms(kind, number, True, PLAIN) for number in nodes])
            case g.Any_(nodes):
                found = [kind.every]
                for number in nodes:
                    found = self.product(kind, found, self.node_forms(kind, number, True, PLAIN), here)
                return found
            case g.One(nodes):
                none = self.negated_part(kind, g.Any_(nodes), here)
                pairs = [
                    self.product(
                        kind,
                        self.node_forms(kind, a, False, PLAIN),
                        self.node_forms(kind, b, False, PLAIN),
                        here,
                    )
                    for index, a in enumerate(nodes)
                    for b in nodes[:index]
                ]
                return self._union(kind, [none, *pairs])
            case g.Not(number):
                return self.node_forms(kind, number, False, PLAIN)
            case g.If(condition, then, otherwise):
                yes = self.product(
                    kind,
                    self.node_forms(kind, condition, False, PLAIN),
                    self.node_forms(kind, then, True, PLAIN),
                    here,
                )
                no = self.product(
                    kind,
                    self.node_forms(kind, condition, True, PLAIN),
                    self.node_forms(kind, otherwise, True, PLAIN),
                    here,
                )
                return self._union(kind, [yes, no])
            case g.Ref(key, _):
                return self.node_forms(kind, self.graph.references[key], True, PLAIN)
            case g.Dependent(name, names, node) if kind.bit == g.OBJECT:
                present = f.clauses_form([f.presence(name, True)])
                assert present is not None
                if node is not None:
                    return self.product(kind, [present], self.node_forms(kind, node, True, PLAIN), here)
                return [
                    form
                    for other in names
                    if (form := f.clauses_form([f.presence(name, True), f.presence(other, False)]))
                    is not None
                ]
            case _:
                found = [kind.every]
                for form in self._atom(kind, part, PLAIN):
                    found = self.product(kind, found, list(kind.negated(form, self.negate)), here)
                return found

    def _union(self, kind: Structure, lists: list[list[Any]]) -> list[Any]:
        found = dict.fromkeys(form for forms in lists for form in forms)
        if kind.every in found:
            return [kind.every]
        if len(found) > 1 and kind.bit == g.OBJECT:
            alike = [form for form in found if form.is_presence() and form.seen == ()]
            if len(alike) > 1:
                merged = _one_presence(alike, self.limits.branches)
                found = dict.fromkeys([*merged, *(form for form in found if form not in alike)])
        if len(found) > self._most():
            raise _TooMany(f"more than {self._most()} alternatives", "#")
        return list(found)

    def _any(self, kind: Structure, nodes: tuple[int, ...], mode: int) -> list[Any]:
        lists = [self.node_forms(kind, number, False, mode) for number in nodes]
        if mode == PLAIN:
            return self._union(kind, lists)
        here = frozenset({2 * nodes[0]})
        if mode == MARKED:
            found: list[Any] = []
            for forms in lists:
                more = [
                    one
                    for a in found
                    for b in forms
                    for one in self.product(kind, [a], [b], here)
                    if _marks(one) != _marks(a) and _marks(one) != _marks(b)
                ]
                found = list(dict.fromkeys([*found, *forms, *more]))
            return found
        passed: list[Any] = []
        failed = [kind.every]
        for number, forms in zip(nodes, lists, strict=True):
            fails = self.node_forms(kind, number, True, PLAIN)
            passed = [
                *self.product(kind, passed, forms, here),
                *self.product(kind, passed, fails, here),
                *self.product(kind, failed, forms, here),
            ]
            failed = self.product(kind, failed, fails, here)
        return passed

    def _one(
        self, kind: Structure, nodes: tuple[int, ...], mode: int, context: list[Any], here: Literals
    ) -> list[Any]:
        """The forms of the context that satisfy exactly one node."""
        lists = [self.node_forms(kind, number, False, mode) for number in nodes]
        lists = [forms for forms in lists if forms]
        if kind.bit == g.OBJECT and mode == PLAIN:
            one = _exactly_one_presence(lists, self.limits.branches)
            if one is not None:
                return self.product(kind, context, one, here)
        lists = [self.product(kind, context, forms, here) for forms in lists]
        lists = [forms for forms in lists if forms]
        if len(lists) <= 1:
            return lists[0] if lists else []
        found: dict[Any, None] = {}
        for index, forms in enumerate(lists):
            others = [other for place, more in enumerate(lists) if place != index for other in more]
            for form in forms:
                kept = [form]
                for other in others:
                    if mode != PLAIN:
                        other = _unmarked(other)
                    kept = self._without(kind, kept, other, here)
                    if not kept:
                        break
                found.update(dict.fromkeys(kept))
                if len(found) > self._most():
                    reason = f"the branches of oneOf overlap in more than {self._most()} ways"
                    raise _TooMany(reason, self.path(here))
        return f.merged(found) if kind.bit == g.OBJECT and len(found) > _FEW_FORMS else list(found)

    def _without(self, kind: Structure, forms: list[Any], other: Any, here: Literals) -> list[Any]:
        """The values of the forms that are not of another one."""
        found: list[Any] = []
        for form in forms:
            self.work += 1
            shared = kind.meet(form, other)
            if shared is None or kind.is_void(shared):
                found.append(form)
            elif kind.bit == g.OBJECT:
                found += self.product(kind, [form], self._ways_out(form, other), here)
            else:
                found += self.product(kind, [form], list(kind.negated(other, self.negate)), here)
        if kind.bit == g.OBJECT and 1 < len(found) <= _MOST_ABSORBED:
            return f.absorbed(found)
        return list(dict.fromkeys(found))

    def _ways_out(self, form: ObjectForm, other: ObjectForm) -> list[ObjectForm]:
        """Forms that hold the objects of `form` that are not of `other`, and maybe objects of neither."""
        closed = form.closed_names()
        names = dict.fromkeys(name for part in other.parts for name in part.named)
        if closed is not None:
            names = dict.fromkeys(sorted(closed))
        required = set(other.required())
        absent: set[tuple[str, bool]] = {(name, False) for name in required}
        out: list[ObjectForm] = []
        wrong: list[ObjectForm] = []
        for name in names:
            mine, value = form.value(name), other.value(name)
            if value <= mine or self.is_empty(both(mine, self.negate(value))):
                continue
            if self.is_empty(both(mine, value)):
                absent.discard((name, False))
                absent.add((name, True))
                if name in required:
                    return [f.ANY_OBJECT]
            elif name in required:
                # Absent, or there with a wrong value: one requirement on its value.
                absent.discard((name, False))
                out.append(ObjectForm(parts=f.wrong_value(name, self.negate(value)).parts))
            else:
                wrong.append(f.wrong_value(name, self.negate(value)))
        if closed is None:
            for part in other.parts:
                for dfa, value in part.patterns:
                    if value:
                        wrong.append(f.at_least_one(f.only(KeySet(frozenset(), (dfa,)), value)))
                if part.other:
                    wrong.append(f.at_least_one(f.only(part.rest(), part.other)))
        if len(wrong) > _FEW_WAYS_OUT:
            wrong = [ObjectForm(counts=(f.EntryCount(other.parts, 1, None),))]
        out += wrong
        if absent:
            out.append(ObjectForm(clauses=frozenset({frozenset(absent)})))
        kept = frozenset(clause for clause in other.clauses if len(clause) > 1 or not _only(clause)[1])
        rest = replace(other, parts=(), clauses=kept)
        if rest != f.ANY_OBJECT:
            out += f.negated_object(rest, self.negate)
        return out

    # Emptiness, as far as it can be seen from near

    def is_empty(self, these: Literals) -> bool:
        """Whether plainly no value satisfies all literals; False may mean that it is not plain."""
        if len(these) < 2:
            return these == FALSE
        found = self._empty.get(these)
        if found is None:
            mask = self.mask(these)
            of = self.scalars.of
            if (
                (mask & (g.NULL | g.BOOL) and of(self.scalars.constant, these))
                or (mask & g.STRING and of(self.scalars.string, these))
                or (mask & g.NUMBER and of(self.scalars.number, these))
            ):
                self._empty[these] = False
                return False
            if not mask & (g.ARRAY | g.OBJECT):
                self._empty[these] = True
                return True
            if these in self._open or len(self._open) > _DEPTH:
                return False
            self._open.add(these)
            try:
                found = not (mask & g.ARRAY and self.arrays(these)) and not (
                    mask & g.OBJECT and self.objects(these)
                )
            except _Busy:
                return False
            except _TooMany:
                found = False
            finally:
                self._open.discard(these)
            self._empty[these] = found
        return found

    def mask(self, these: Literals) -> int:
        """Every type that a value of all literals can have, perhaps more."""
        mask = g.EVERY_TYPE
        for literal in these:
            node = self.graph.nodes[literal >> 1]
            if not literal & 1:
                mask &= node.mask
            elif len(node.parts) == 1 and isinstance(node.parts[0], g.Types) and not node.parts[0].integer:
                mask &= ~node.parts[0].mask
        return mask

    def _object_is_void(self, form: ObjectForm) -> bool:
        if not form.parts and not form.counts:
            return False
        required = form.required()
        if form.high is not None and len(required) > form.high:
            return True
        return any(self.is_empty(form.value(name)) for name in required)

    def _array_is_void(self, form: ArrayForm) -> bool:
        return any(self.is_empty(form.value(index)) for index in range(min(form.low, form.width() + 1)))

    # Parts about objects

    def _object_atom(self, part: Part, mode: int) -> list[ObjectForm] | None:
        match part:
            case g.Types(mask):
                return None if mask & g.OBJECT else []
            case g.Values(values):
                return [self._constant_object(v) for v in values if g.type_of(v) == g.OBJECT]
            case g.Size(g.OBJECT, low, high):
                return [] if high is not None and low > high else [ObjectForm(low=low, high=high)]
            case g.Required(names):
                return [ObjectForm(clauses=frozenset(f.presence(name, True) for name in names))]
            case g.Properties():
                return [self._properties(part, mode)]
            case g.Names(number, path):
                return self._names(self.literals(number), path)
        return None

    def _constant_object(self, value: g.Value) -> ObjectForm:
        entries = Entries({name: self.constant(inner) for name, inner in value[1]}, (), FALSE, True)
        clauses = frozenset(f.presence(name, True) for name, _ in value[1])
        return ObjectForm(parts=(entries,), clauses=clauses)

    def _properties(self, part: g.Properties, mode: int) -> ObjectForm:
        named = {name: self.literals(number) for name, number in part.named}
        other = TRUE if part.additional is None else self.literals(part.additional)
        patterns: list[tuple[Any, Literals]] = []
        everything: Literals | None = None
        for pattern, number, path in part.patterns:
            dfa = pattern_automaton(pattern, path)
            literals = self.literals(number)
            if dfa == automata.all_words():
                everything = literals if everything is None else both(everything, literals)
            elif dfa.edges:
                patterns.append((dfa, literals))
        seen: tuple[KeySet, ...] | None = ()
        if part.additional is not None or everything is not None:
            seen = None
        elif mode != PLAIN:
            seen = (KeySet(frozenset(named), tuple(dfa for dfa, _ in patterns)),)
        if mode == PLAIN:
            seen = ()
        if everything is not None:
            named = {name: both(literals, everything) for name, literals in named.items()}
            patterns = [(dfa, both(literals, everything)) for dfa, literals in patterns]
            other = everything
        if not patterns and not other and not any(named.values()) and mode == PLAIN and not named:
            return f.ANY_OBJECT
        return ObjectForm(parts=(Entries(named, tuple(patterns), other, True),), seen=seen)

    def _names(self, these: Literals, path: str) -> list[ObjectForm] | None:
        allowed = self.scalars.of(self.scalars.string, these)
        if allowed == strings.EVERY:
            return None
        if not allowed:
            return [ObjectForm(high=0)]
        if all(one.words is not None for one in allowed):
            words = sorted(word for one in allowed for word in one.words or ())
            return [ObjectForm(parts=(Entries(dict.fromkeys(words, TRUE), (), FALSE),))]
        bad = strings.key_automaton(strings.complement(allowed), self.limits.states)
        if bad is None:
            raise UnsupportedSchema("propertyNames", path, "the names are too long to be told apart")
        return [ObjectForm(parts=(Entries({}, ((bad, FALSE),)),))]

    # Parts about arrays

    def _array_atom(self, part: Part, mode: int) -> list[ArrayForm] | None:
        match part:
            case g.Types(mask):
                return None if mask & g.ARRAY else []
            case g.Values(values):
                return [self._constant_array(v) for v in values if g.type_of(v) == g.ARRAY]
            case g.Size(g.ARRAY, low, high):
                return [] if high is not None and low > high else [ArrayForm(low=low, high=high)]
            case g.Items(prefix, rest):
                form = f.places_form(
                    tuple(self.literals(number) for number in prefix),
                    TRUE if rest is None else self.literals(rest),
                )
                if mode != PLAIN:
                    form = replace(form, seen=len(prefix) if rest is None else None)
                return [form]
            case g.Contains(number, low, high, marks):
                return self._contains(self.literals(number), low, high, marks and mode != PLAIN)
            case g.Unique(path):
                return [ArrayForm(unique=path)]
        return None

    def _constant_array(self, value: g.Value) -> ArrayForm:
        items = tuple(self.constant(item) for item in value[1])
        return replace(f.places_form(items, FALSE), low=len(items))

    def _contains(self, these: Literals, low: int, high: int | None, marks: bool) -> list[ArrayForm]:
        if high is not None and low > high:
            return []
        marked = (these,) if marks else ()
        if not these:
            return [ArrayForm(low=low, high=high, marks=marked)]
        if these == FALSE:
            return [] if low else [ArrayForm(marks=marked)]
        if not low and high is None:
            return [ArrayForm(marks=marked)]
        if high == 0:
            return [ArrayForm(parts=(f.Places((), self.negate(these)),), marks=marked)]
        return [ArrayForm(counts=(f.ItemCount(0, these, low, high),), marks=marked)]

    # Unevaluated

    def _evaluate_rest(self, form: Any, part: Part) -> Any:
        """What `unevaluatedProperties` or `unevaluatedItems` asks of a form, as a form."""
        if isinstance(part, g.UnevaluatedProperties):
            if form.seen is None:
                return f.ANY_OBJECT
            names = frozenset(name for keys in form.seen for name in keys.names)
            patterns = tuple(dict.fromkeys(dfa for keys in form.seen for dfa in keys.patterns))
            rest = f.only(KeySet(names, patterns, True), self.literals(part.node))
            return ObjectForm(parts=(rest,)) if rest.other else f.ANY_OBJECT
        assert isinstance(part, g.UnevaluatedItems)
        if form.seen is None:
            return f.ANY_ARRAY
        others = self.either([self.literals(part.node), *form.marks])
        return f.places_form((TRUE,) * form.seen, others)


def _only(clause: f.Clause) -> tuple[str, bool]:
    (one,) = clause
    return one


def _is_unevaluated(kind: Structure, part: Part) -> bool:
    if kind.bit == g.OBJECT:
        return isinstance(part, g.UnevaluatedProperties)
    return isinstance(part, g.UnevaluatedItems)


def _marks(form: Any) -> Any:
    seen = frozenset(form.seen) if isinstance(form.seen, tuple) else form.seen
    return (seen, frozenset(form.marks)) if isinstance(form, ArrayForm) else seen


def _unmarked(form: Any) -> Any:
    if isinstance(form, ObjectForm):
        return form if form.seen == () else replace(form, seen=())
    return form if form.seen == 0 and not form.marks else replace(form, seen=0, marks=())


# Objects of which only the presence of properties is asked


def _one_presence(found: list[ObjectForm], limit: int) -> list[ObjectForm]:
    """A union as one conjunction of clauses, if that is not too large."""
    clauses: set[f.Clause] = set(found[0].clauses)
    for form in found[1:]:
        clauses = {a | b for a in clauses for b in form.clauses}
        clauses = {
            clause for clause in clauses if not any((name, not present) in clause for name, present in clause)
        }
        if len(clauses) > limit:
            return found
        clauses = {clause for clause in clauses if not any(other < clause for other in clauses)}
    if not clauses:
        return [f.ANY_OBJECT]
    one = f.clauses_form(clauses)
    return [] if one is None else [one]


def _exactly_one_presence(lists: list[list[ObjectForm]], limit: int) -> list[ObjectForm] | None:
    """The objects of exactly one list, if all are conjunctions of present and absent; else None."""
    found = []
    for forms in lists:
        if len(forms) != 1 or not forms[0].is_presence():
            return None
        if any(len(clause) != 1 for clause in forms[0].clauses):
            return None
        found.append(forms[0])
    if not found:
        return []
    some = _one_presence(found, limit)
    if len(some) != 1:
        return None
    clauses = set(some[0].clauses)
    units = [frozenset(one for clause in form.clauses for one in clause) for form in found]
    for index, a in enumerate(units):
        for b in units[:index]:
            clauses.add(frozenset((name, not present) for name, present in a | b))
    one = f.clauses_form(clauses)
    return [] if one is None else [one]
