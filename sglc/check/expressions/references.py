"""Names as expressions: variables, members, constants."""

from __future__ import annotations

from sglc.check.core.context import WORDS, Entity, ModuleContext
from sglc.check.core.function_state import Local
from sglc.check.core.result import ConstantSymbol, ElementSymbol, ExpressionType, LocalSymbol
from sglc.check.names.scopes import Scopes
from sglc.check.names.unknown_names import unbound
from sglc.check.types.kinds import UNKNOWN, is_enum, without_null
from sglc.immutable import node
from sglc.syntax.tree import ast
from sglc.types.type import Named
from sglc.types.values import EnumValue


@node
class References:
    """Reads mark a variable as used and tell the collectors that are open."""

    module: ModuleContext
    scopes: Scopes

    def reference(self, node: ast.Reference, expected: ExpressionType | None) -> ExpressionType:
        """The type of a name; `expected` may tell which member of an enum is meant."""
        name = node.name
        function = self.scopes.function
        if function.element is not None:
            element, fields = function.element
            if name == "it":
                self.module.symbols[id(node)] = ElementSymbol(None)
                return function.scope.narrowing(name) or element
            if name in fields:
                self.module.symbols[id(node)] = ElementSymbol(name)
                return function.scope.narrowing(name) or fields[name]
        local = function.scope.find(name)
        if local is not None:
            return self._read(node, local)
        if expected is not None:
            enum = is_enum(without_null(expected, self.module.table), self.module.table)
            if enum is not None and self.scopes.is_member(enum, name):
                return self.member(node, enum.name, name)
        entity = self.module.look_up(name)
        owners = self.module.members.get(name)
        if entity is not None and (owners is None or entity.kind == "const"):
            entity.used = True
            return self._entity(node, name, entity)
        if owners is not None:
            if len(owners) > 1:
                self.module.report(
                    "E0208",
                    f"`{name}` is a member of {len(owners)} enums",
                    node.span,
                    label="which one?",
                    hint="write " + " or ".join(f"`{o.rsplit('.', 1)[-1]}.{name}`" for o in owners),
                )
                return UNKNOWN
            return self.member(node, owners[0], name)
        if name in self.module.variants:
            return self._variant(node, name)
        return unbound(self.scopes, node, name)

    def _variant(self, node: ast.Reference, name: str) -> ExpressionType:
        """A variant named without parentheses."""
        self.module.report(
            "E0315",
            f"`{name}` makes a value only when called",
            node.span,
            label="a variant",
            hint=f"write `{name}(…)` with its fields, `{name}()` if it has none",
        )
        return UNKNOWN

    def _read(self, node: ast.Reference, local: Local) -> ExpressionType:
        local.used = True
        for collector in self.scopes.function.mentioned:
            collector.add(local)
        self.module.symbols[id(node)] = LocalSymbol(local.name, local.slot)
        return self.scopes.function.scope.narrowing(local.name) or local.type

    def member(self, node: ast.Expression, enum: str, member: str) -> ExpressionType:
        """The type of a member of an enum, which is used by it."""
        value = EnumValue(enum, member)
        self.module.symbols[id(node)] = ConstantSymbol(value)
        self.module.use(enum)
        return Named(enum)

    def _entity(self, node: ast.Reference, name: str, entity: Entity) -> ExpressionType:
        if entity.kind == "const":
            found = self.module.program.reader_of(entity).constant(entity)
            if found is None:
                return UNKNOWN
            type, value = found
            self.module.symbols[id(node)] = ConstantSymbol(value)
            return type
        if entity.kind == "broken":
            return UNKNOWN
        hint = f"call it: `{name}(…)`" if entity.kind == "function" else ""
        if entity.kind == "type":
            hint = f"make a value of it: `{name}(…)`"
        self.module.report(
            "E0315",
            f"`{name}` is {WORDS[entity.kind]}, not a value",
            node.span,
            label="a value is due here",
            hint=hint,
        )
        return UNKNOWN
