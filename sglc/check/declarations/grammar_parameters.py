"""Parameters of grammars: what a block may do with them, and the values that a use of it gives them."""

from __future__ import annotations

from sglc.cfg.model.grammar import Expression, Given, Words
from sglc.check.core.context import ModuleContext
from sglc.check.core.result import ExpressionType, Unknown
from sglc.check.expressions.constants import Constants
from sglc.check.types.kinds import expand, is_enum, is_text, said
from sglc.check.types.resolve import TypeResolver
from sglc.syntax.tree import ast
from sglc.types.type import EnumType, ListOf, Named, RecordType


class Parameters:
    """The parameters of one block. `sound` is False once something was reported."""

    def __init__(
        self,
        module: ModuleContext,
        types: TypeResolver,
        constants: Constants,
        node: ast.GrammarDeclaration,
    ) -> None:
        self.module = module
        self.constants = constants
        self.types: dict[str, ExpressionType] = {}
        self.used: set[str] = set()
        self.sound = True
        rules = {rule.name.text for rule in node.rules}
        for parameter in node.parameters:
            label = parameter.name.text
            if label in self.types or label in rules:
                other = "a rule" if label in rules else "declared twice"
                self._report(
                    "E0203", f"parameter `{label}` is {other}", parameter.name.span, label="the name is taken"
                )
            if parameter.default is not None:
                self._report(
                    "E0353",
                    f"parameter `{label}` has a default",
                    parameter.default.span,
                    label="values are given where the grammar is used",
                    hint="leave the default out",
                )
            self.types[label] = types.resolve(parameter.type)
            self.sound = self.sound and not isinstance(self.types[label], Unknown)

    def _report(self, code: str, message: str, span: object, *, label: str = "", hint: str = "") -> None:
        self.sound = False
        self.module.report(code, message, span, label=label, hint=hint)  # type: ignore[arg-type]

    def finish(self, node: ast.GrammarDeclaration) -> None:
        """Report parameters that no rule uses."""
        for parameter in node.parameters:
            if parameter.name.text not in self.used and self.sound:
                self.module.report(
                    "W0201",
                    f"parameter `{parameter.name.text}` is never used",
                    parameter.name.span,
                    label="not used",
                )

    def text(self, node: ast.GrammarSymbol) -> Given | None:
        """A name that is a parameter: the one text that it is."""
        name = node.name.text
        if name not in self.types:
            return None
        self.used.add(name)
        type = self.types[name]
        if not isinstance(type, Unknown) and not self._is_text(type):
            listed = self._is_list(type)
            self._report(
                "E0353",
                f"parameter `{name}` is no text",
                node.span,
                label=f"this is {said(type)}",
                hint=f"write `one of {name}`" if listed else "",
            )
        return Given(name, (), listed=False, at=node.span.start)

    def one_of(self, node: ast.GrammarOneOf) -> Expression | None:
        """`one of xs`: texts of a parameter, of a constant, or the members of an enum."""
        found = self._path(node.values)
        if found is None:
            return self._known(node)
        name, path, type = found
        if isinstance(type, Unknown):
            return None
        if not self._is_list(type):
            self._report(
                "E0353",
                f"`{node.values.span.text}` is no list of texts",
                node.values.span,
                label=f"this is {said(type)}",
                hint=f"write `{name}` alone" if not path and self._is_text(type) else "",
            )
            return None
        return Given(name, path, at=node.span.start)

    def _path(self, node: ast.Expression) -> tuple[str, tuple[str, ...], ExpressionType] | None:
        """(parameter, its fields, type) where an expression begins with a parameter."""
        if isinstance(node, ast.Reference):
            if node.name not in self.types:
                return None
            self.used.add(node.name)
            return node.name, (), self.types[node.name]
        if not isinstance(node, ast.Attribute):
            return None
        found = self._path(node.value)
        if found is None:
            return None
        name, path, type = found
        unknown = name, path, Unknown()
        if isinstance(type, Unknown):
            return unknown
        plain = expand(type, self.module.table)
        record = self.module.table.get(plain.name) if isinstance(plain, Named) else None
        fields = record.fields if isinstance(record, RecordType) else ()
        for field in fields:
            if field.name == node.name.text and not (field.optional and not field.has_default):
                return name, (*path, field.name), field.type
        close = self.module.nearest(node.name.text, [field.name for field in fields])
        self._report(
            "E0353",
            f"{said(type)} has no field `{node.name.text}` of texts",
            node.name.span,
            label="not there, or may be absent",
            hint=f"did you mean `{close}`?" if close else "",
        )
        return unknown

    def _known(self, node: ast.GrammarOneOf) -> Expression | None:
        values = node.values
        if isinstance(values, ast.Reference):
            entity = self.module.look_up(values.name)
            declared = self.module.table.get(entity.name) if entity is not None else None
            if entity is not None and isinstance(declared, EnumType):
                entity.used = True
                return Words(frozenset(declared.members), node.span.start)
        texts = self.constants.constant_texts(values)
        if texts is None:
            self.sound = False
            return None
        return Words(frozenset(texts), node.span.start)

    def _is_text(self, type: ExpressionType) -> bool:
        plain = expand(type, self.module.table)
        return is_text(plain, self.module.table) or is_enum(plain, self.module.table) is not None

    def _is_list(self, type: ExpressionType) -> bool:
        plain = expand(type, self.module.table)
        return isinstance(plain, ListOf) and self._is_text(plain.item)
