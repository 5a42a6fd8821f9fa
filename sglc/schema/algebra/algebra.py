"""From nodes to forms: logic is eliminated, and what remains are unions of forms by type of value.

`objects(these)` and `arrays(these)` are the forms of a set of literals. The forms of a node depend on
nothing but the node, so they are made once; values inside forms stay sets of literals, which are looked into
only when they are needed. As there are finitely many nodes there are finitely many such sets, so recursive
schemas end.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sglc.automata import work
from sglc.schema.algebra import forms as f
from sglc.schema.algebra.differences import ways_out
from sglc.schema.algebra.forms import FALSE, ArrayForm, Literals, ObjectForm
from sglc.schema.algebra.literals import LiteralTable
from sglc.schema.algebra.parts import PartForms
from sglc.schema.algebra.presence import one_presence
from sglc.schema.algebra.scalars import Scalars
from sglc.schema.algebra.structures import (
    EXACT,
    MARKED,
    PLAIN,
    Form,
    Structure,
    any_object,
    asking,
)
from sglc.schema.core import graph as g
from sglc.schema.core.errors import SchemaError, SchemaTooLarge, TooManyWays
from sglc.schema.core.graph import Graph, Part
from sglc.schema.core.options import SchemaLimits

_DEPTH = 6
"""Requirements inside of each other that are looked into for emptiness; deeper ones are taken to have a
value."""
_MOST_ABSORBED = 100
"""Forms that are compared with each other; of more all stay, though some may lie in others."""
_FEW_FORMS = 3
"""So many forms stay as they are; of more, those that are alike are merged."""
_MOST_ASKED = 60
"""Branches while emptiness is asked for: a question is not worth as many as the schema itself."""


class _Busy(Exception):
    """A question about emptiness has led back to forms that are being made."""


class Algebra:
    def __init__(self, graph: Graph, limits: SchemaLimits) -> None:
        self.graph = graph
        self.limits = limits
        self.literals = LiteralTable(graph)
        self.scalars = Scalars(graph)
        self.parts = parts = PartForms(self.literals, self.scalars, limits.states)
        self.object: Structure[ObjectForm] = Structure(
            g.OBJECT,
            f.ANY_OBJECT,
            f.meet_objects,
            f.negated_object,
            parts.objects,
            self._object_is_void,
            parts.other_entries,
            lambda form, other: ways_out(form, other, self.is_empty, self.literals.negate),
            ObjectForm.size,
            asking,
            f.merged,
            f.absorbed,
            any_object,
            one_presence,
        )
        self.array: Structure[ArrayForm] = Structure(
            g.ARRAY,
            f.ANY_ARRAY,
            f.meet_arrays,
            f.negated_array,
            parts.arrays,
            self._array_is_void,
            parts.other_items,
            lambda form, other: list(f.negated_array(other, self.literals.negate)),
        )
        self.work = 0
        self.parts_met = 0
        self._forms: dict[tuple[int, int, bool, int], list[Any] | None] = {}
        self._of: dict[tuple[int, Literals], list[Any]] = {}
        self._empty: dict[Literals, bool] = {}
        self._open: set[Literals] = set()
        self._since: dict[tuple[int, int, bool, int], int] = {}
        self._atoms: dict[tuple[int, int], list[Any]] = {}

    # Forms

    def objects(self, these: Literals) -> list[ObjectForm]:
        """Forms whose union is the objects that satisfy all literals."""
        return self.forms(self.object, these)

    def arrays(self, these: Literals) -> list[ArrayForm]:
        """Forms whose union is the arrays that satisfy all literals."""
        return self.forms(self.array, these)

    def forms(self, kind: Structure[Form], these: Literals) -> list[Form]:
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
            if len(found) > _FEW_FORMS:
                found = kind.merged(found)
            if len(found) > self.limits.alternatives:
                what = "an object" if kind.bit == g.OBJECT else "an array"
                reason = f"{what} may satisfy the schema in {len(found)} ways, more than "
                raise TooManyWays(f"{reason}{self.limits.alternatives}", self.literals.path(these))
            self._of[key] = found
        return found

    def _most(self) -> int:
        """How many branches there may be; a question about emptiness is not worth many."""
        return min(self.limits.branches, _MOST_ASKED) if self._open else self.limits.branches

    def product(
        self, kind: Structure[Form], left: list[Form], right: list[Form], these: Literals
    ) -> list[Form]:
        """Forms of what is in both unions. Raises TooManyWays or SchemaTooLarge above the limits."""
        if len(left) == 1 and left[0] == kind.every:
            return right
        if len(right) == 1 and right[0] == kind.every:
            return left
        self._count(len(left) * len(right), these)
        if kind.size is not None:
            size = sum(map(kind.size, left)) * len(right)
            self._count_parts(size + sum(map(kind.size, right)) * len(left), these)
        found: dict[Form, None] = {}
        for a in left:
            for b in right:
                one = kind.meet(a, b)
                if (
                    one is not None
                    and one not in found
                    and (one == a or one == b or not kind.is_void(a, b, one))
                ):
                    found[one] = None
                    if len(found) > self._most():
                        raise TooManyWays(f"more than {self._most()} alternatives", self.literals.path(these))
        return list(found)

    def _count(self, pairs: int, these: Literals) -> None:
        self.work += pairs
        work.spend(5 * pairs)
        if self.work > self.limits.work:
            raise SchemaTooLarge("the schema has too many alternatives to combine", self.literals.path(these))

    def _count_parts(self, parts: int, these: Literals) -> None:
        self.parts_met += parts
        work.spend(parts // 4)
        if self.parts_met > self.limits.parts:
            reason = "the alternatives of the schema have too many properties to combine them"
            raise SchemaTooLarge(reason, self.literals.path(these))

    def node_forms(self, kind: Structure[Form], number: int, negated: bool, mode: int) -> list[Form]:
        """Forms of what satisfies a node or, negated, does not. Raises SchemaError for an endless loop."""
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
                with work.part(node.path):
                    if negated:
                        found = self._negated_node(kind, node, here)
                    else:
                        found = self._positive_node(kind, node, mode, here)
            finally:
                del self._forms[key]
        self._forms[key] = found
        return found

    def _positive_node(
        self, kind: Structure[Form], node: g.SchemaNode, mode: int, here: Literals
    ) -> list[Form]:
        unevaluated = [part for part in node.parts if kind.is_unevaluated(part)]
        inner_mode = max(mode, MARKED) if unevaluated else mode
        found = self._conjunction(kind, node, inner_mode, here)
        for part in unevaluated:
            found = [
                one for form in found for one in self.product(kind, [form], [kind.rest(form, part)], here)
            ]
            found = [replace(form, seen=None) for form in found]
        if unevaluated and mode == PLAIN:
            found = list(dict.fromkeys(f.unmarked(form) for form in found))
        return found

    def _negated_node(self, kind: Structure[Form], node: g.SchemaNode, here: Literals) -> list[Form]:
        found: dict[Form, None] = {}
        for part in node.parts:
            if not kind.is_unevaluated(part):
                found.update(dict.fromkeys(self.negated_part(kind, part, here)))
        if any(kind.is_unevaluated(part) for part in node.parts):
            forms = self._conjunction(kind, node, EXACT, here)
            for part in node.parts:
                if kind.is_unevaluated(part):
                    for form in forms:
                        rest = kind.rest(form, part)
                        wrong = list(kind.negated(rest, self.literals.negate))
                        found.update(dict.fromkeys(map(f.unmarked, self.product(kind, [form], wrong, here))))
        return self._union(kind, [list(found)])

    def _conjunction(
        self, kind: Structure[Form], node: g.SchemaNode, mode: int, here: Literals
    ) -> list[Form]:
        """The forms of all parts but those about the unevaluated; `oneOf` last, for within the other parts
        its branches are often disjoint."""
        found = [kind.every]
        for part in node.parts:
            if not isinstance(part, g.One) and not kind.is_unevaluated(part):
                found = self.product(kind, found, self.part_forms(kind, part, mode), here)
        for part in node.parts:
            if isinstance(part, g.One) and found:
                found = self._one(kind, part.nodes, mode, found, here)
        return found

    def part_forms(self, kind: Structure[Form], part: Part, mode: int) -> list[Form]:
        """Forms of the values that satisfy one part of a node."""
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
            case g.If(condition):
                return self._if(kind, part, False, mode, frozenset({2 * condition}))
            case g.Ref(key, _):
                return self.node_forms(kind, self.graph.references[key], False, mode)
            case g.Dependent(name, names, node) if kind.bit == g.OBJECT:
                absent = kind.asks([f.presence(name, False)])
                required = kind.asks(frozenset({(name, False), (other, True)}) for other in names)
                if node is None:
                    return required
                forms = self.node_forms(kind, node, False, mode)
                if mode != PLAIN:
                    present = kind.asks([f.presence(name, True)])
                    forms = self.product(kind, present, forms, frozenset({2 * node}))
                return self._union(kind, [absent, forms])
            case _:
                return self._atom(kind, part, mode)

    def _atom(self, kind: Structure[Form], part: Part, mode: int) -> list[Form]:
        key = (kind.bit + (0 if mode == PLAIN else 64), id(part))  # the graph keeps its parts
        found = self._atoms.get(key)
        if found is None:
            made = kind.part(part, mode != PLAIN)
            found = self._atoms[key] = [kind.every] if made is None else made
        return found

    def negated_part(self, kind: Structure[Form], part: Part, here: Literals) -> list[Form]:
        """Forms of the values that do not satisfy one part of a node."""
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
                pairs = []
                for a, b in ((a, b) for index, a in enumerate(nodes) for b in nodes[:index]):
                    forms = self.node_forms(kind, a, False, PLAIN)
                    pairs.append(self.product(kind, forms, self.node_forms(kind, b, False, PLAIN), here))
                return self._union(kind, [none, *pairs])
            case g.Not(number):
                return self.node_forms(kind, number, False, PLAIN)
            case g.If():
                return self._if(kind, part, True, PLAIN, here)
            case g.Ref(key, _):
                return self.node_forms(kind, self.graph.references[key], True, PLAIN)
            case g.Dependent(name, names, node) if kind.bit == g.OBJECT:
                if node is not None:
                    present = kind.asks([f.presence(name, True)])
                    return self.product(kind, present, self.node_forms(kind, node, True, PLAIN), here)
                return [
                    form
                    for other in names
                    for form in kind.asks([f.presence(name, True), f.presence(other, False)])
                ]
            case _:
                found = [kind.every]
                for form in self._atom(kind, part, PLAIN):
                    found = self.product(kind, found, list(kind.negated(form, self.literals.negate)), here)
                return found

    def _if(self, kind: Structure[Form], part: g.If, negated: bool, mode: int, here: Literals) -> list[Form]:
        """Forms of the values that are of the branch for them, or are not."""
        ways = []
        for unmet, branch in ((False, part.then), (True, part.otherwise)):
            condition = self.node_forms(kind, part.condition, unmet, PLAIN if unmet else mode)
            ways.append(self.product(kind, condition, self.node_forms(kind, branch, negated, mode), here))
        return self._union(kind, ways)

    def _union(self, kind: Structure[Form], lists: list[list[Form]]) -> list[Form]:
        found = dict.fromkeys(form for forms in lists for form in forms)
        if kind.every in found:
            return [kind.every]
        if len(found) > 1:
            found = dict.fromkeys(kind.any_of(found, self.limits.branches))
        if len(found) > self._most():
            raise TooManyWays(f"more than {self._most()} alternatives", "#")
        return list(found)

    def _any(self, kind: Structure[Form], nodes: tuple[int, ...], mode: int) -> list[Form]:
        lists = [self.node_forms(kind, number, False, mode) for number in nodes]
        if mode == PLAIN:
            return self._union(kind, lists)
        here = frozenset({2 * nodes[0]})
        if mode == MARKED:
            found: list[Form] = []
            for forms in lists:
                more = [
                    one
                    for a in found
                    for b in forms
                    for one in self.product(kind, [a], [b], here)
                    if f.marks(one) != f.marks(a) and f.marks(one) != f.marks(b)
                ]
                found = list(dict.fromkeys([*found, *forms, *more]))
            return found
        passed: list[Form] = []
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
        self, kind: Structure[Form], nodes: tuple[int, ...], mode: int, context: list[Form], here: Literals
    ) -> list[Form]:
        """The forms of the context that satisfy exactly one node."""
        lists = [self.node_forms(kind, number, False, mode) for number in nodes]
        lists = [forms for forms in lists if forms]
        if mode == PLAIN:
            one = kind.one_of(lists, self.limits.branches)
            if one is not None:
                return self.product(kind, context, one, here)
        lists = [self.product(kind, context, forms, here) for forms in lists]
        lists = [forms for forms in lists if forms]
        if len(lists) <= 1:
            return lists[0] if lists else []
        found: dict[Form, None] = {}
        for index, forms in enumerate(lists):
            others = [other for place, more in enumerate(lists) if place != index for other in more]
            for form in forms:
                kept = [form]
                for other in others:
                    if mode != PLAIN:
                        other = f.unmarked(other)
                    kept = self._without(kind, kept, other, here)
                    if not kept:
                        break
                found.update(dict.fromkeys(kept))
                if len(found) > self._most():
                    reason = f"the branches of oneOf overlap in more than {self._most()} ways"
                    raise TooManyWays(reason, self.literals.path(here))
        return kind.merged(found) if len(found) > _FEW_FORMS else list(found)

    def _without(self, kind: Structure[Form], forms: list[Form], other: Form, here: Literals) -> list[Form]:
        """The values of the forms that are not of another one."""
        found: list[Form] = []
        for form in forms:
            self._count(1, here)
            if kind.size is not None:
                self._count_parts(kind.size(form) + kind.size(other), here)
            shared = kind.meet(form, other)
            if shared is None or kind.is_void(form, other, shared):
                found.append(form)
            else:
                found += self.product(kind, [form], kind.minus(form, other), here)
        if 1 < len(found) <= _MOST_ABSORBED:
            return kind.absorbed(found)
        return list(dict.fromkeys(found))

    # Emptiness, as far as it can be seen from near

    def is_empty(self, these: Literals) -> bool:
        """Whether plainly no value satisfies all literals; False may mean that it is not plain."""
        if len(these) < 2:
            return these == FALSE
        found = self._empty.get(these)
        if found is None:
            mask = self.literals.mask(these)
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
            except TooManyWays:
                found = False  # not worth more work
            finally:
                self._open.discard(these)
            self._empty[these] = found
        return found

    def _object_is_void(self, left: ObjectForm, right: ObjectForm, form: ObjectForm) -> bool:
        if not form.parts and not form.counts:
            return False
        required = form.required()
        if form.high is not None and len(required) > form.high:
            return True
        if len(left.parts) < len(right.parts):
            left, right = right, left
        # What the larger one asks of a value was looked at when it was made.
        before = set(left.required())
        return any(
            self.is_empty(form.value(name)) for name in required if name not in before or right.value(name)
        )

    def _array_is_void(self, left: ArrayForm, right: ArrayForm, form: ArrayForm) -> bool:
        return any(self.is_empty(form.value(index)) for index in range(min(form.low, form.width() + 1)))
