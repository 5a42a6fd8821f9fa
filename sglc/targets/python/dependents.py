"""Values that are held against types which depend on values of the run."""

from __future__ import annotations

from sglc.check.core.result import DefaultArgument, DependentType, LocalSymbol
from sglc.syntax.tree import ast
from sglc.targets.python.context import Context
from sglc.targets.python.expressions import Expressions
from sglc.types.dependent import given_types
from sglc.types.type import Applied


class Dependents:
    """Writes the checks of one function."""

    def __init__(self, context: Context, expressions: Expressions) -> None:
        self.context = context
        self.checked = context.checked
        self.expressions = expressions
        self.variables: dict[str, str] = {}
        """Of variables that change, by slot: the name of their type."""

    def parameters(self, node: ast.FunctionDeclaration) -> None:
        """Hold the arguments of a function against the types of its parameters."""
        for parameter in node.parameters:
            due = self.checked.dependents.get(id(parameter.type))
            symbol = self.checked.symbols[id(parameter)]
            if due is not None and isinstance(symbol, LocalSymbol):
                self.context.add(self.held(self.expressions.code(symbol), due))

    def first(self, node: ast.Let) -> str | None:
        """The first value of a variable whose type depends on values; None where nothing is asked of it."""
        due = self.checked.dependents.get(id(node.type))
        if due is None or id(node) in self.checked.held:
            return None
        code = self.expressions.code(node.value)
        if not node.mutable:
            return self.held(code, due)
        symbol = self.checked.symbols[id(node)]
        assert isinstance(symbol, LocalSymbol)
        name = self.variables[symbol.slot] = self.context.names.fresh("type")
        self.context.add(f"{name} = {self._type(due)}")
        return f"check({code}, {name})"

    def later(self, slot: str, code: str) -> str:
        """Another value of a variable."""
        return f"check({code}, {self.variables[slot]})" if slot in self.variables else code

    def result(self, node: ast.Return, due: DependentType | None) -> str | None:
        """A result whose type depends on values; None where nothing is asked of it."""
        if due is None or node.value is None or id(node) in self.checked.held:
            return None
        return self.held(self.expressions.code(node.value), due)

    def held(self, code: str, due: DependentType) -> str:
        """The value of an expression, a member of a type."""
        return f"check({code}, {self._type(due)})"

    def _type(self, due: DependentType) -> str:
        program = self.context.program
        if any(isinstance(part, Applied) for part in given_types(due.type)):
            program.lose("the values of a type with parameters", self.context.name, "any of its values")

        def given(number: int) -> str:
            found = due.given[number]
            if isinstance(found, DefaultArgument):
                return program.types.literal(found.value)
            return self.expressions.code(found)

        return program.types.shown(due.type, given)
