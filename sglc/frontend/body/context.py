"""The function that is being read: its file, its names, and what it may call."""

from __future__ import annotations

import ast as python
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from sglc.diagnostics.suggest import nearest
from sglc.frontend.core.findings import Findings
from sglc.frontend.core.outside import MISSING, Outside
from sglc.frontend.core.source import FunctionNode, PythonFile
from sglc.frontend.types.annotations import Annotations
from sglc.frontend.types.called import CalledFunctions
from sglc.frontend.types.constraints import NoType
from sglc.frontend.types.declared import Declared
from sglc.source import Span
from sglc.syntax.tree import ast

Binding = Literal["let", "var", "assign"]


class Untranslatable(Exception):
    """Something that has no counterpart in the language, with its place."""

    def __init__(self, code: str, message: str, span: Span, *, label: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.span, self.label, self.hint = code, message, span, label, hint


@dataclass(frozen=True, slots=True, eq=False)
class HoleUse:
    """A hole of the function, found before its body is read.

    `loop` is the loop whose variable stands in the hole's name (`f"step_{i}"`), `index` that variable.
    """

    name: str
    node: python.Call
    word: str
    loop: python.For | None = None
    key: str = ""
    """The name as it is written, for comparison with other places."""


@dataclass(slots=True, eq=False)
class Context:
    """What all parts of reading one function share."""

    file: PythonFile
    node: FunctionNode
    outside: Outside
    declared: Declared
    annotations: Annotations
    findings: Findings
    function_named: Callable[[object, bool], str]
    """The name of a decorated function, declared as a function or as a part."""
    called: CalledFunctions
    """The functions of Python that the program calls."""
    bindings: dict[int, Binding] = field(default_factory=dict)
    """For each place where a variable gets a value, by identity, what that does to it."""
    local: set[str] = field(default_factory=set)
    """Parameters and variables."""
    holes: dict[str, HoleUse] = field(default_factory=dict)
    lists: dict[str, str] = field(default_factory=dict)
    """Holes in loops whose values are kept, and the variable that keeps them."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Holes that are called like the variable that they fill, and parameters of lambdas."""
    states: set[str] = field(default_factory=set)
    """Names that stand for the conversation."""
    branches: set[str] = field(default_factory=set)
    """Names that stand for the conversation of a branch, in the loop that says what branches do."""
    loops: list[python.For] = field(default_factory=list)
    """Loops around the current place."""
    fields_of: str | None = None
    """The parameter of the lambda around, whose fields are meant by their names alone."""

    def span(self, node: python.AST) -> Span:
        """Where a node of the Python tree stands."""
        return self.file.span(node)

    def refuse(
        self, code: str, message: str, node: python.AST, *, label: str = "", hint: str = ""
    ) -> Untranslatable:
        """An error at a node, to be raised."""
        return Untranslatable(code, message, self.span(node), label=label, hint=hint)

    @contextmanager
    def reporting(self) -> Iterator[None]:
        """Go on behind what cannot be translated, which is reported."""
        try:
            yield
        except Untranslatable as fault:
            self.findings.error(fault.code, fault.message, fault.span, label=fault.label, hint=fault.hint)

    # -- names ---------------------------------------------------------------------------------------

    def is_state(self, node: python.AST | None) -> bool:
        """Whether a node is the name of the conversation."""
        return isinstance(node, python.Name) and node.id in self.states

    def meaning(self, node: python.expr) -> object:
        """The object outside of the function that a name or dotted name stands for; else MISSING."""
        if isinstance(node, python.Name):
            return MISSING if node.id in self.local else self.outside.look_up(node.id)
        if isinstance(node, python.Attribute):
            owner = self.meaning(node.value)
            return MISSING if owner is MISSING else self.outside.attribute(owner, node.attr)
        return MISSING

    def word(self, call: python.Call) -> str:
        """The word of the front end that a call is of (`gen`, `user`); empty for any other call."""
        function = call.func
        if isinstance(function, python.Attribute) and self.is_state(function.value):
            return function.attr
        found = self.meaning(function)
        word = getattr(found, "__sgl_word__", "") if callable(found) else ""
        return word if isinstance(word, str) else ""

    def near(self, name: str, known: list[str]) -> str:
        """A hint that names what was probably meant."""
        close = nearest(name, known)
        return f"did you mean `{close}`?" if close else ""

    # -- types ---------------------------------------------------------------------------------------

    def type(self, node: python.expr) -> ast.TypeExpression:
        """The type that an expression of types means."""
        span = self.span(node)
        try:
            return self.annotations.of(self._annotation(node), span)
        except NoType as fault:
            raise Untranslatable("E0506", fault.what, span, label="no type", hint=fault.hint) from None

    def means_type(self, node: python.expr) -> bool:
        """Whether an expression is one of types: a class, `Literal[…]`, `list[str]`."""
        if isinstance(node, python.Subscript):
            return self.means_type(node.value)
        found = self.meaning(node)
        return isinstance(found, type) or hasattr(found, "__origin__") or hasattr(found, "__value__")

    def _annotation(self, node: python.expr) -> Any:
        """The object that an expression of types stands for. Nothing but types and their metadata is made."""
        match node:
            case python.Constant(value=value):
                return value
            case python.Name() | python.Attribute():
                found = self.meaning(node)
                if found is MISSING:
                    name = python.unparse(node)
                    raise NoType(f"`{name}` is not in sight", "name a class of the module")
                return found
            case python.Tuple(elts=items):
                return tuple(self._annotation(item) for item in items)
            case python.List(elts=items):
                return [self._annotation(item) for item in items]
            case python.UnaryOp(op=python.USub(), operand=operand):
                return -self._annotation(operand)
            case python.BinOp(op=python.BitOr(), left=left, right=right):
                return self._annotation(left) | self._annotation(right)
            case python.Subscript(value=value, slice=inside):
                return self._made(lambda: self._annotation(value)[self._annotation(inside)])
            case python.Call(func=function, args=arguments, keywords=keywords) if self._says_metadata(
                self.meaning(function)
            ):
                called: Any = self.meaning(function)
                given = [self._annotation(argument) for argument in arguments]
                named = {each.arg: self._annotation(each.value) for each in keywords if each.arg}
                return self._made(lambda: called(*given, **named))
        raise NoType(f"`{python.unparse(node)}` is no type")

    def _made(self, make: Callable[[], Any]) -> Any:
        try:
            return make()
        except NoType:
            raise
        except Exception as error:  # whatever a type says of arguments that it does not take
            raise NoType(f"this type cannot be made: {error}") from None

    @staticmethod
    def _says_metadata(called: object) -> bool:
        module = str(getattr(called, "__module__", "")).split(".")[0]
        return module in ("pydantic", "annotated_types") or (
            isinstance(called, type) and called.__name__ == "SglType" and module == "sglc"
        )
