"""Expressions of a program as expressions of Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from sglc.automata.regex.portable import for_python, looks_back_freely, portable_regex
from sglc.check.core.elements import of_element
from sglc.check.core.result import (
    BuiltinSymbol,
    ConstantSymbol,
    DefaultArgument,
    ElementSymbol,
    FigureSymbol,
    FunctionSymbol,
    LocalSymbol,
    PartSymbol,
    RecordSymbol,
    Symbol,
    VariantSymbol,
)
from sglc.syntax.tree import ast
from sglc.targets.python.context import Context, HoleNode, Text
from sglc.types.decoding import LOCAL, certain_figures
from sglc.types.json_text import json_text
from sglc.types.type import AliasType, Named, RecordType, UnionType
from sglc.types.values import EnumValue, RecordValue

Operand = ast.Expression | DefaultArgument | LocalSymbol | ConstantSymbol
_ORDER = frozenset(("<", "<=", ">", ">="))


class Expressions:
    """Writes the expressions of one function; `from_model` writes those that a model answers, and forks."""

    def __init__(self, context: Context, from_model: Callable[[HoleNode | ast.Fork], Text]) -> None:
        self.context = context
        self.program = context.program
        self.types = context.program.types
        self.checked = context.checked
        self.from_model = from_model

    # -- how a value stands in its place ---------------------------------------------------------------

    def fitting(self, node: Operand, wanted: str | None) -> str:
        """The expression where a value of an annotation is due."""
        found = self.text(node)
        if wanted is None or found.display or found.kind is None or self.types.same(found.kind, wanted):
            return found.code
        return f"cast({wanted!r}, {found.code})"

    def returned(self, node: ast.Expression, wanted: str | None) -> str:
        """The expression behind `return`: what is `Any` is said to be of the annotation."""
        found = self.text(node)
        if wanted is None or found.display or self.types.same(found.kind, wanted):
            return found.code
        return f"cast({wanted!r}, {found.code})"

    def code(self, node: Operand) -> str:
        """The expression where any value is taken."""
        return self.text(node).code

    def inner(self, node: Operand) -> str:
        """The expression inside a display: a part of another annotation than its value's becomes `Any`."""
        found = self.text(node)
        if found.kind is None or found.display or not ("[" in found.kind or " | " in found.kind):
            return found.code
        return f'cast("Any", {found.code})'

    def condition(self, node: ast.Expression) -> str:
        """The expression as a `bool`."""
        found = self.text(node)
        return found.code if found.kind == "bool" else f"truth({found.code})"

    # -- values ----------------------------------------------------------------------------------------

    def text(self, node: Operand) -> Text:
        """An operand in Python with its annotation. A value that is widened at its place is checked there."""
        if isinstance(node, DefaultArgument):
            return self.literal(node.value)
        if isinstance(node, LocalSymbol | ConstantSymbol):
            return self.symbol(node)
        constants = self.checked.constants
        found = self.literal(constants[id(node)]) if id(node) in constants else _WRITE[type(node)](self, node)
        due = self.checked.coercions.get(id(node))
        return found if due is None else Text(f"check({found.code}, {self.program.types.shown(due)})")

    def literal(self, value: object) -> Text:
        """A value that is known at compile time, with its annotation."""
        code = self.program.types.literal(value)
        match value:
            case None:
                return Text(code, "None")
            case str():
                return Text(code, "str")
            case bool() | int() | float() | Decimal():
                return Text(code, value.__class__.__name__)
            case EnumValue(enum=name):
                return Text(code, self.program.types.classes[name,])
            case RecordValue(type=name, variant=variant):
                path = (name,) if variant is None else (name, variant)
                return Text(code, self.program.types.classes[path])
        return Text(code, "list", True)

    def _number(self, node: ast.Number | ast.Boolean) -> Text:
        return self.literal(node.value)

    def _null(self, node: ast.Null) -> Text:
        return Text("None", "None")

    def _regex(self, node: ast.Regex) -> Text:
        return self.literal(node.pattern)

    def _string(self, node: ast.String) -> Text:
        if all(isinstance(part, str) for part in node.parts):
            return self.literal("".join(node.parts))  # type: ignore[arg-type]
        parts = [json_text(part) if isinstance(part, str) else self.code(part) for part in node.parts]
        return Text(f"concat({', '.join(parts)})", "str")

    def _reference(self, node: ast.Reference) -> Text:
        symbol = self.checked.symbols[id(node)]
        if (
            isinstance(symbol, ConstantSymbol)
            and not self.checked.name
            and node.name in self.program.constants
        ):
            name, kind = self.program.constants[node.name]
            return Text(name, kind)
        return self.symbol(symbol)

    def symbol(self, symbol: Symbol) -> Text:
        """The value that a name stands for."""
        match symbol:
            case LocalSymbol(slot=slot):
                return self.context.slots[slot]
            case ConstantSymbol(value=value):
                return self.literal(value)
            case FigureSymbol(slot=slot, name="scores"):
                self.context.lose("the scores of options", "an answer with all probability")
                return Text(f"Scored({self.context.slots[slot].code}, ())")
            case FigureSymbol(name=name, decoding=decoding):
                self.context.lose(f"`.{name}` of a hole", "that of an answer with all probability")
                return self.literal(certain_figures(decoding or LOCAL)[name])
            case ElementSymbol(field=name):
                element = self.context.elements[-1]
                return Text(element if name is None else f"attribute({element}, {json_text(name)})")
        raise AssertionError(f"{symbol} is no value")

    def _attribute(self, node: ast.Attribute) -> Text:
        symbol = self.checked.symbols.get(id(node))
        if isinstance(symbol, ConstantSymbol):
            return self.literal(symbol.value)
        if isinstance(symbol, FigureSymbol):
            return self.symbol(symbol)
        if isinstance(symbol, BuiltinSymbol):
            return Text(f"method({self.code(node.value)}, {json_text(symbol.name.lstrip('.'))})")
        if isinstance(symbol, PartSymbol):
            self.context.lose("the parts of a text of a grammar")
            return Text("None", "None")
        owner = self.text(node.value)
        shape = self.record(node.value)
        if shape is None or owner.kind != self.program.types.classes[shape.name,]:
            return Text(f"attribute({owner.code}, {json_text(node.name.text)})")
        field = next(each for each in shape.fields if each.name == node.name.text)
        kind = self.program.annotation(field.type)
        if kind is not None and field.optional and "None" not in kind.split(" | "):
            kind = f"{kind} | None"
        return Text(f"{owner.code}.{self.program.types.attributes(shape)[field.name]}", kind)

    def record(self, node: ast.Expression) -> RecordType | None:
        """The record that an expression is known to be."""
        type = self.checked.types.get(id(node))
        while isinstance(type, Named):
            declared = self.program.table[type.name]
            if isinstance(declared, RecordType):
                return declared
            if not isinstance(declared, AliasType):
                return None
            type = declared.type
        return None

    def _index(self, node: ast.Index) -> Text:
        return Text(f"item({self.code(node.value)}, {self.code(node.index)})")

    def _slice(self, node: ast.Slice) -> Text:
        ends = [self.code(end) if end is not None else "None" for end in (node.start, node.stop)]
        return Text(f"piece({self.code(node.value)}, {', '.join(ends)})")

    def _list(self, node: ast.ListDisplay) -> Text:
        return Text(f"[{', '.join(map(self.inner, node.items))}]", "list", True)

    def _tuple(self, node: ast.TupleDisplay) -> Text:
        return Text(f"({''.join(f'{self.inner(item)}, ' for item in node.items)})", "tuple", True)

    def _map(self, node: ast.MapDisplay) -> Text:
        entries = [f"{self.inner(key)}: {self.inner(value)}" for key, value in node.entries]
        return Text(f"{{{', '.join(entries)}}}", "dict", True)

    def _range(self, node: ast.Range) -> Text:
        below = "" if node.inclusive else ", below=True"
        return Text(f"numbers({self.code(node.start)}, {self.code(node.stop)}{below})", "list[int]")

    # -- operators -------------------------------------------------------------------------------------

    def _unary(self, node: ast.Unary) -> Text:
        if node.operator == "not":
            return Text(f"(not {self.condition(node.operand)})", "bool")
        return Text(f"negative({self.code(node.operand)})")

    def _binary(self, node: ast.Binary) -> Text:
        operator = node.operator
        if operator in ("and", "or"):
            return Text(f"({self.condition(node.left)} {operator} {self.condition(node.right)})", "bool")
        if operator in ("in", "not in", "contains"):
            return self._contains(node)
        if operator == "matches":
            return self._matches(node)
        left, right = self.code(node.left), self.code(node.right)
        if operator == "==":
            return Text(f"same({left}, {right})", "bool")
        if operator == "!=":
            return Text(f"(not same({left}, {right}))", "bool")
        if operator in _ORDER:
            return Text(f"compare({json_text(operator)}, {left}, {right})", "bool")
        return Text(f"calculate({json_text(operator)}, {left}, {right})")

    def _contains(self, node: ast.Binary) -> Text:
        part, container = (node.right, node.left) if node.operator == "contains" else (node.left, node.right)
        if isinstance(container, ast.Range):
            below = "" if container.inclusive else ", below=True"
            ends = f"{self.code(container.start)}, {self.code(container.stop)}{below}"
            found = f"within({self.code(part)}, {ends})"
        elif node.operator == "contains":
            found = f"contains({self.code(container)}, {self.code(part)})"
        else:
            found = f"among({self.code(part)}, {self.code(container)})"
        return Text(f"(not {found})" if node.operator == "not in" else found, "bool")

    def _matches(self, node: ast.Binary) -> Text:
        pattern = node.right.pattern if isinstance(node.right, ast.Regex) else None
        known = self.checked.constants.get(id(node.right), pattern)
        if not isinstance(known, str) or looks_back_freely(known):
            self.context.lose("a pattern that Python cannot read")
            return Text("False", "bool")
        return Text(f"matches({self.code(node.left)}, {for_python(portable_regex(known))!r})", "bool")

    # -- calls -----------------------------------------------------------------------------------------

    def arguments(self, nodes: Sequence[Operand], kinds: Sequence[str | None] = ()) -> str:
        """Arguments, each fitting the annotation of its parameter where that is known."""
        padded = [*kinds, *([None] * (len(nodes) - len(kinds)))]
        return ", ".join(self.fitting(node, kind) for node, kind in zip(nodes, padded, strict=True))

    def _call(self, node: ast.Call) -> Text:
        symbol = self.checked.symbols[id(node)]
        arguments: Sequence[Operand] = self.checked.arguments[id(node)]
        match symbol:
            case FunctionSymbol(name=name):
                return self.call(name, arguments)
            case RecordSymbol(type=name):
                declared = self.program.table[name]
                assert isinstance(declared, RecordType)
                return self.made(self.program.types.classes[name,], declared, arguments)
            case VariantSymbol(union=union, variant=variant):
                of = self.program.table[union]
                assert isinstance(of, UnionType)
                shape = of.variant(variant)
                assert shape is not None
                return self.made(self.program.types.classes[union, variant], shape, arguments)
            case BuiltinSymbol(name=name) if name.startswith("."):
                assert isinstance(node.function, ast.Attribute)
                receiver = self.code(node.function.value)
                each = of_element(self.checked, node)
                if each is not None:
                    return self._over_elements(name[1:], receiver, each)
                more = "".join(f", {self.code(argument)}" for argument in arguments)
                return Text(f"method({receiver}, {json_text(name[1:])}{more})")
            case BuiltinSymbol(name=name):
                return Text(f"call({json_text(name)}, {self.arguments(arguments)})")
        raise AssertionError(f"{symbol} cannot be called")

    def _over_elements(self, name: str, receiver: str, each: ast.Expression) -> Text:
        """What a method of lists does with each element."""
        node = self.checked.applied.get(id(each), each)
        if isinstance(node, ast.Lambda):
            slot = self.checked.slot_of(node)
            return self._over(name, receiver, self.context.variable(slot, None), node.body)
        element = self.context.names.fresh("each")
        self.context.elements.append(element)
        found = self._over(name, receiver, element, node)
        self.context.elements.pop()
        return found

    def _over(self, name: str, receiver: str, element: str, each: ast.Expression) -> Text:
        loop = f"for {element} in items({receiver})"
        match name:
            case "map":
                return Text(f"[{self.inner(each)} {loop}]", "list", True)
            case "filter":
                return Text(f"[{element} {loop} if {self.condition(each)}]", "list", True)
            case "any" | "all":
                return Text(f"{name}({self.condition(each)} {loop})", "bool")
        return Text(f"ordered({json_text(name)}, {receiver}, lambda {element}: {self.code(each)})")

    def call(self, name: str, arguments: Sequence[Operand], before: str = "", skipped: int = 0) -> Text:
        """A call of a function of the program, with `before` in front of its arguments.

        `before` may stand for the first parameters, as many as are `skipped`.
        """
        if name not in self.program.functions:
            self.context.lose("functions of Python")
            return Text("None")
        self.program.wanted.append(name)
        code = self.arguments(arguments, self.program.parameters[name][skipped:])
        kind = self.program.results[name]
        return Text(
            f"{self.program.functions[name]}({before}{code})", None if kind in ("Any", "None") else kind
        )

    def made(self, here: str, shape: RecordType, arguments: Sequence[Operand]) -> Text:
        """An object of the class `here`, made of the arguments for the fields of its shape."""
        kinds = []
        for field in shape.fields:
            kind = self.program.annotation(field.type)
            absent = kind is not None and field.optional and "None" not in kind.split(" | ")
            kinds.append(f"{kind} | None" if absent else kind)
        return Text(f"{here}({self.arguments(arguments, kinds)})", here)

    # -- expressions that branch -----------------------------------------------------------------------

    def _comprehension(self, node: ast.Comprehension) -> Text:
        iterable, kind = self.iterated(node.iterable)
        name = self.context.variable(self.checked.slot_of(node), kind)
        condition = "" if node.condition is None else f" if {self.condition(node.condition)}"
        return Text(f"[{self.inner(node.element)} for {name} in {iterable}{condition}]", "list", True)

    def iterated(self, node: ast.Expression) -> tuple[str, str | None]:
        """What a loop goes over, and the annotation of its items."""
        found = self.text(node)
        if found.kind is not None and found.kind.startswith("list[") and not found.display:
            item = found.kind[5:-1]
            return found.code, None if item == "Any" else item
        return f"items({found.code})", None

    def _conditional(self, node: ast.Conditional) -> Text:
        then, otherwise = self.text(node.then), self.text(node.otherwise)
        code = f"({then.code} if {self.condition(node.condition)} else {otherwise.code})"
        if then.kind == otherwise.kind and not then.display:
            return Text(code, then.kind)
        return Text(f'cast("Any", {code})')

    def _or_else(self, node: ast.OrElse) -> Text:
        value = self.code(node.value)
        if isinstance(node.fallback, ast.Raise):
            fallback = f"throw({self.error(node.fallback)})"
        else:
            fallback = self.code(node.fallback)
        if self.context.writes:
            return Text(f"either(lambda: {value}, lambda: {fallback}, c.mark())")
        return Text(f"either(lambda: {value}, lambda: {fallback}, lambda: None)")

    def error(self, node: ast.Raise) -> str:
        """The error that a `raise` raises."""
        if node.error is None:
            return self.context.caught[-1]
        name = self.program.errors[self.checked.name_of(node)]
        return f"{name}({', '.join(map(self.code, self.checked.arguments[id(node)]))})"


def _model(self: Expressions, node: HoleNode | ast.Fork) -> Text:
    return self.from_model(node)


_WRITE: dict[type, Callable[[Expressions, Any], Text]] = {
    ast.Number: Expressions._number,
    ast.Boolean: Expressions._number,
    ast.Null: Expressions._null,
    ast.Regex: Expressions._regex,
    ast.String: Expressions._string,
    ast.Reference: Expressions._reference,
    ast.Attribute: Expressions._attribute,
    ast.Index: Expressions._index,
    ast.Slice: Expressions._slice,
    ast.ListDisplay: Expressions._list,
    ast.TupleDisplay: Expressions._tuple,
    ast.MapDisplay: Expressions._map,
    ast.Range: Expressions._range,
    ast.Unary: Expressions._unary,
    ast.Binary: Expressions._binary,
    ast.Call: Expressions._call,
    ast.Comprehension: Expressions._comprehension,
    ast.Conditional: Expressions._conditional,
    ast.OrElse: Expressions._or_else,
    ast.Gen: _model,
    ast.Choose: _model,
    ast.Select: _model,
    ast.Fork: _model,
}
