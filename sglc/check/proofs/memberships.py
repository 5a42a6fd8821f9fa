"""Values that are known to be of a type that depends on values of the run, so that nothing is asked of them.

Two types that depend on values are held against each other by what gives these values: a parameter or
another variable that does not change, a field of one, a constant. Anything else, such as a call, may give
another value each time, and proves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sglc.check.core.context import ModuleContext
from sglc.check.core.function_state import Local
from sglc.check.core.result import ConstantSymbol, DefaultArgument, DependentType, HoleNode
from sglc.check.expressions.folding import fold
from sglc.check.names.scopes import Scopes
from sglc.syntax.tree import ast
from sglc.types.dependent import given_types, given_values, renumbered
from sglc.types.type import Applied, ListOf, OneOf, Optional, SpanOf, TupleOf, Type

Giver = tuple[object, ...]
"""What gives a value: equal ones give the same value wherever they stand."""


@dataclass(slots=True, eq=False)
class Memberships:
    """Those of the values of one module."""

    module: ModuleContext
    scopes: Scopes
    _numbers: dict[Giver, int] = field(default_factory=dict)

    def known(self, node: ast.Expression, due: DependentType) -> bool:
        """Whether the value of an expression is one of the type."""
        wanted = self._by_givers(due)
        return wanted is not None and self._is(node, wanted)

    def _is(self, node: ast.Expression, wanted: Type) -> bool:
        if not given_types(wanted):
            return True
        if isinstance(node, ast.Conditional):
            return self._is(node.then, wanted) and self._is(node.otherwise, wanted)
        if isinstance(node, ast.TupleDisplay) and isinstance(wanted, TupleOf):
            return all(self._is(*pair) for pair in zip(node.items, wanted.items, strict=False))
        if isinstance(node, ast.ListDisplay) and isinstance(wanted, ListOf):
            return all(self._is(item, wanted.item) for item in node.items)
        if isinstance(node, ast.Null) and isinstance(wanted, Optional):
            return True
        if isinstance(node, ast.Index) and isinstance(wanted, OneOf):
            giver = self._giver(node.value)
            if giver is not None and self._numbers.get(giver) == wanted.given:
                return True
        found = self._type_of(node)
        return found is not None and _fits(found, wanted)

    def _type_of(self, node: ast.Expression) -> Type | None:
        """The type that depends on values which an expression is known to have."""
        if isinstance(node, ast.Gen):
            return self._of_hole(node)
        if not isinstance(node, ast.Reference):
            return None
        local = self.scopes.function.scope.find(node.name)
        if local is None or local.kind == "var":
            return None
        found = None if local.hole is None else self._of_hole(local.hole)
        if found is None and local.dependent is not None:
            found = self._by_givers(local.dependent)
        return found

    def _of_hole(self, node: HoleNode) -> Type | None:
        facts = self.module.holes.get(id(node))
        if facts is None or facts.type is None or not given_types(facts.type):
            return None
        found = self._by_givers(DependentType(facts.type, facts.given))
        several = any(option.kind == "n" for option in node.options)
        return ListOf(found) if several and found is not None else found

    def _by_givers(self, type: DependentType) -> Type | None:
        """The type with numbers that are equal where the givers are; None where a giver may change."""
        numbers: dict[int, int] = {}
        for number in given_values(type.type):
            giver = self._giver(type.given[number])
            if giver is None:
                return None
            numbers[number] = self._numbers.setdefault(giver, len(self._numbers))
        return renumbered(type.type, numbers)

    def _giver(self, node: ast.Expression | DefaultArgument) -> Giver | None:
        match node:
            case DefaultArgument(value=value):
                return ("value", repr(value))
            case ast.Reference(name=name):
                symbol = self.module.symbols.get(id(node))
                if isinstance(symbol, ConstantSymbol):
                    return ("value", repr(symbol.value))
                local: Local | None = self.scopes.function.scope.find(name)
                return None if local is None or local.kind == "var" else ("variable", local.slot)
            case ast.Attribute(value=value):
                inner = self._giver(value)
                return None if inner is None else (*inner, node.name.text)
        known, constant = fold(self.module, node)
        return ("value", repr(constant)) if known else None


def _fits(found: Type, due: Type) -> bool:
    """Whether values of one type are values of another, as far as these depend on values: what else the
    types say is checked by itself."""
    if not given_types(due):
        return True
    match due:
        case Optional(item=item):
            return _fits(found.item if isinstance(found, Optional) else found, item)
        case SpanOf() if isinstance(found, SpanOf):
            return (
                found.given == due.given
                and found.min_chars >= due.min_chars
                and (due.max_chars is None or (found.max_chars or due.max_chars + 1) <= due.max_chars)
                and set(due.until) <= set(found.until)
            )
        case Applied() if isinstance(found, Applied):
            return (found.name, found.given) == (due.name, due.given)
        case ListOf(item=item) if isinstance(found, ListOf):
            return _fits(found.item, item)
        case TupleOf(items=items) if isinstance(found, TupleOf) and len(found.items) == len(items):
            return all(_fits(one, other) for one, other in zip(found.items, items, strict=True))
    return found == due
