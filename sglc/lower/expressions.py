"""Expressions to operations.

Temporaries live in one block. Where a later operand opens new blocks (`and`, `or`, conditionals, loops over
lists), the earlier ones are kept in slots meanwhile. Conditions are lowered straight to branches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

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
from sglc.ir import ops, terminators
from sglc.lower.context import Context, HoleNode, told_slot
from sglc.lower.splitting import Operand, Splitting
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.type import Named


class Expressions:
    """Lowers the expressions of one function; `from_model` lowers those that a model answers, and forks."""

    def __init__(self, context: Context, from_model: Callable[[HoleNode | ast.Fork], int]) -> None:
        self.context = context
        self.checked = context.checked
        self.build = context.build
        self.from_model = from_model
        self.splitting = Splitting(context.checked)

    # -- values ------------------------------------------------------------------------------------

    def value(self, node: ast.Expression) -> int:
        """The temporary that holds the value of an expression, checked or widened where that is due."""
        constants = self.checked.constants
        if id(node) in constants:
            temp = self.build.const(constants[id(node)], node.span)
        else:
            temp = _LOWER[type(node)](self, node)
        due = self.checked.coercions.get(id(node))
        if due is not None:
            temp = self.build.value(ops.CheckType, temp, due, span=node.span)
        form = self.checked.forms.get(id(node))
        if form is not None:
            temp = self.build.value(ops.WriteAs, temp, form, span=node.span)
        shown = self.context.witnesses.get(id(node)) if self.context.witnesses else None
        if (
            shown is None
            or id(node) in constants
            or isinstance(self.checked.symbols.get(id(node)), ConstantSymbol)
        ):
            return temp
        return self._witness(node, temp, shown)

    def _witness(self, node: ast.Expression, temp: int, shown: str) -> int:
        """The value again, noted for the expectation that it is a part of."""
        build = self.build
        slot = build.fresh_slot("part")
        build.store(slot, temp, node.span)
        build.add(ops.Witness(shown, build.load(slot, node.span), node.span))
        return build.load(slot, node.span)

    def values(self, nodes: Sequence[Operand], span: Span) -> tuple[int, ...]:
        """Operands in order, all in the current block."""
        splitting = [i for i, node in enumerate(nodes) if self.splitting.splits(node)]
        last = splitting[-1] if splitting else -1
        kept: list[str | None] = []
        temps: list[int] = []
        for index, node in enumerate(nodes):
            if isinstance(node, DefaultArgument):
                temp = self.build.const(node.value, span)
            elif isinstance(node, LocalSymbol | ConstantSymbol):
                temp = self.symbol(node, span)
            else:
                temp = self.value(node)
            if index < last:
                slot = self.build.fresh_slot("operand")
                self.build.store(slot, temp)
                kept.append(slot)
            else:
                kept.append(None)
            temps.append(temp)
        if last < 1:
            return tuple(temps)
        # Those after the last split are in this block already, but loads must come in order.
        tail = [(index, temp) for index, temp in enumerate(temps) if kept[index] is None]
        loaded = {index: self.build.load(slot) for index, slot in enumerate(kept) if slot is not None}
        return tuple([loaded[i] for i in sorted(loaded)] + [temp for _, temp in tail])

    def _number(self, node: ast.Number | ast.Boolean) -> int:
        return self.build.const(node.value, node.span)

    def _null(self, node: ast.Null) -> int:
        return self.build.const(None, node.span)

    def _regex(self, node: ast.Regex) -> int:
        return self.build.const(node.pattern, node.span)

    def _schema(self, node: ast.SchemaOf) -> int:
        return self.build.const(self.checked.constants[id(node)], node.span)

    def _string(self, node: ast.String) -> int:
        if all(isinstance(part, str) for part in node.parts):
            return self.build.const("".join(node.parts), node.span)  # type: ignore[arg-type]
        parts: list[Operand] = [DefaultArgument(p) if isinstance(p, str) else p for p in node.parts]
        return self.build.value(ops.Concat, self.values(parts, node.span), span=node.span)

    def _reference(self, node: ast.Reference) -> int:
        return self.symbol(self.checked.symbols[id(node)], node.span)

    def symbol(self, symbol: Symbol, span: Span) -> int:
        """The value that a name stands for."""
        match symbol:
            case LocalSymbol(slot=slot):
                return self.build.load(slot, span)
            case ConstantSymbol(value=value):
                return self.build.const(value, span)
            case FigureSymbol(slot=slot, name=name):
                return self.build.value(ops.GetField, self.build.load(told_slot(slot), span), name, span=span)
            case ElementSymbol(field=field):
                element = self.build.load(self.context.elements[-1], span)
                return element if field is None else self.build.value(ops.GetField, element, field, span=span)
        raise AssertionError(f"{symbol} is no value")

    def _attribute(self, node: ast.Attribute) -> int:
        symbol = self.checked.symbols.get(id(node))
        if isinstance(symbol, ConstantSymbol | FigureSymbol):
            return self.symbol(symbol, node.span)
        value = self.value(node.value)
        if isinstance(symbol, BuiltinSymbol):
            return self.build.value(ops.CallMethod, symbol.name.lstrip("."), (value,), span=node.span)
        if isinstance(symbol, PartSymbol):
            about = (symbol.grammar, symbol.rule, symbol.count)
            items = (value, *(self.build.const(item, node.span) for item in about))
            return self.build.value(ops.CallMethod, "part of", items, span=node.span)
        return self.build.value(ops.GetField, value, node.name.text, span=node.span)

    def _index(self, node: ast.Index) -> int:
        value, index = self.values((node.value, node.index), node.span)
        return self.build.value(ops.GetItem, value, index, span=node.span)

    def _slice(self, node: ast.Slice) -> int:
        nothing = DefaultArgument(None)
        value, start, stop = self.values((node.value, node.start or nothing, node.stop or nothing), node.span)
        return self.build.value(ops.GetSlice, value, start, stop, span=node.span)

    def _list(self, node: ast.ListDisplay) -> int:
        return self.build.value(ops.MakeList, self.values(node.items, node.span), span=node.span)

    def _tuple(self, node: ast.TupleDisplay) -> int:
        return self.build.value(ops.MakeTuple, self.values(node.items, node.span), span=node.span)

    def _map(self, node: ast.MapDisplay) -> int:
        items = [item for entry in node.entries for item in entry]
        return self.build.value(ops.MakeMap, self.values(items, node.span), span=node.span)

    def _range(self, node: ast.Range) -> int:
        start, stop = self.values((node.start, node.stop), node.span)
        return self.build.value(ops.MakeRange, start, stop, node.inclusive, span=node.span)

    def _unary(self, node: ast.Unary) -> int:
        return self.build.value(ops.Unary, node.operator, self.value(node.operand), span=node.span)

    def _binary(self, node: ast.Binary) -> int:
        if node.operator in ("and", "or"):
            return self._by_branches(node)
        if node.operator in ("in", "not in") and isinstance(node.right, ast.Range):
            return self._within(node.left, node.right, node)
        if node.operator == "contains" and isinstance(node.left, ast.Range):
            return self._within(node.right, node.left, node)
        left, right = self.values((node.left, node.right), node.span)
        return self.build.value(ops.Binary, node.operator, left, right, span=node.span)

    def _within(self, number: ast.Expression, range: ast.Range, node: ast.Binary) -> int:
        """Whether a number, of whatever kind, lies between the ends of a range that is written in place."""
        build, span = self.build, node.span
        if node.operator == "contains":
            low, high, value = self.values((range.start, range.stop, number), span)
        else:
            value, low, high = self.values((number, range.start, range.stop), span)
        above = build.value(ops.Binary, ">=", value, low, span=span)
        below = build.value(ops.Binary, "<=" if range.inclusive else "<", value, high, span=span)
        both = build.value(ops.Binary, "both", above, below, span=span)
        return build.value(ops.Unary, "not", both, span=span) if node.operator == "not in" else both

    # -- calls -------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> int:
        symbol = self.checked.symbols[id(node)]
        each = of_element(self.checked, node)
        if each is not None:
            assert isinstance(symbol, BuiltinSymbol) and isinstance(node.function, ast.Attribute)
            return self._over_elements(symbol.name.lstrip("."), node.function.value, each, node.span)
        arguments: Sequence[Operand] = self.checked.arguments[id(node)]
        match symbol:
            case FunctionSymbol(name=name):
                return self.build.value(ops.Call, name, self.values(arguments, node.span), span=node.span)
            case RecordSymbol(type=name):
                items = self.values(arguments, node.span)
                return self.build.value(ops.MakeRecord, Named(name), items, span=node.span)
            case VariantSymbol(union=union, variant=variant):
                items = self.values(arguments, node.span)
                return self.build.value(ops.MakeVariant, f"{union}.{variant}", items, span=node.span)
            case BuiltinSymbol(name=name) if name.startswith("."):
                assert isinstance(node.function, ast.Attribute)
                items = self.values((node.function.value, *arguments), node.span)
                return self.build.value(ops.CallMethod, name[1:], items, span=node.span)
            case BuiltinSymbol(name=name):
                return self.build.value(
                    ops.CallBuiltin, name, self.values(arguments, node.span), span=node.span
                )
        raise AssertionError(f"{symbol} cannot be called")

    def _over_elements(self, name: str, receiver: ast.Expression, each: ast.Expression, span: Span) -> int:
        """`xs.map(e)` and its kin are loops; of `xs.max(by = e)` the list of keys is made first, then the
        method gets both."""
        items = self.build.fresh_slot("items")
        self.build.store(items, self.value(receiver))
        body = self.checked.applied.get(id(each), each)
        if isinstance(body, ast.Lambda):
            return self._over(name, items, self.context.slot_of(body), body.body, span)
        element = self.build.fresh_slot("element")
        self.context.elements.append(element)
        found = self._over(name, items, element, body, span)
        self.context.elements.pop()
        return found

    def _over(self, name: str, items: str, element: str, each: ast.Expression, span: Span) -> int:
        if name in ("any", "all"):
            return self._asked(items, element, each, name == "any", span)
        if name == "filter":
            return self.build.load(self._collect(items, element, None, each, span), span)
        found = self._collect(items, element, each, None, span)
        if name == "map":
            return self.build.load(found, span)
        pair = (self.build.load(items, span), self.build.load(found, span))
        return self.build.value(ops.CallMethod, name, pair, span=span)

    # -- expressions that branch -------------------------------------------------------------------

    def _each(self, items: str, element: str, span: Span) -> tuple[str, str]:
        """Begin a loop over the list in slot `items`: the labels of its next round and its end."""
        build = self.build
        iterator = build.fresh_slot("iterator")
        build.store(iterator, build.value(ops.Iterate, build.load(items), span=span))
        each, body, done = (build.fresh_label(stem) for stem in ("each", "take", "done"))
        build.start(each)
        build.end(terminators.Next(iterator, element, body, done, span))
        build.start(body)
        return each, done

    def _collect(
        self,
        items: str,
        element: str,
        value: ast.Expression | None,
        condition: ast.Expression | None,
        span: Span,
    ) -> str:
        """A slot with the list of values for each element of the list in slot `items`; without a value, of
        the elements themselves."""
        build = self.build
        found = build.fresh_slot("found")
        build.store(found, build.value(ops.MakeList, (), span=span))
        each, done = self._each(items, element, span)
        if condition is not None:
            wanted = build.fresh_label("wanted")
            self.condition(condition, wanted, each)
            build.start(wanted)
        if value is not None and self.splitting.splits(value):
            one = build.fresh_slot("operand")
            build.store(one, self.value(value))
            so_far, item = build.load(found), build.load(one)
        else:
            so_far = build.load(found)
            item = build.load(element, span) if value is None else self.value(value)
        build.store(found, build.value(ops.Append, so_far, item, span=span))
        build.end(terminators.Jump(each))
        build.start(done)
        return found

    def _asked(self, items: str, element: str, test: ast.Expression, one: bool, span: Span) -> int:
        """Whether a test holds for one element of the list in slot `items`, or else for each; those behind
        the first that decides are not asked."""
        build = self.build
        found = build.fresh_slot("found")
        build.store(found, build.const(not one, span))
        each, done = self._each(items, element, span)
        decided = build.fresh_label("decided")
        self.condition(test, *((decided, each) if one else (each, decided)))
        build.start(decided)
        build.store(found, build.const(one, span))
        build.start(done)
        return build.load(found, span)

    def _comprehension(self, node: ast.Comprehension) -> int:
        items = self.build.fresh_slot("items")
        self.build.store(items, self.value(node.iterable))
        found = self._collect(items, self.context.slot_of(node), node.element, node.condition, node.span)
        return self.build.load(found, node.span)

    def _conditional(self, node: ast.Conditional) -> int:
        build = self.build
        chosen = build.fresh_slot("chosen")
        then, otherwise, done = (build.fresh_label(stem) for stem in ("then", "else", "done"))
        self.condition(node.condition, then, otherwise)
        build.start(then)
        build.store(chosen, self.value(node.then))
        build.end(terminators.Jump(done))
        build.start(otherwise)
        build.store(chosen, self.value(node.otherwise))
        build.start(done)
        return build.load(chosen, node.span)

    def _by_branches(self, node: ast.Binary) -> int:
        build = self.build
        truth = build.fresh_slot("truth")
        yes, no, done = (build.fresh_label(stem) for stem in ("true", "false", "done"))
        self.condition(node, yes, no)
        build.start(yes)
        build.store(truth, build.const(True, node.span))
        build.end(terminators.Jump(done))
        build.start(no)
        build.store(truth, build.const(False, node.span))
        build.start(done)
        return build.load(truth, node.span)

    def condition(self, node: ast.Expression, then: str, otherwise: str) -> None:
        """Go to `then` if the condition holds, else to `otherwise`."""
        if id(node) not in self.checked.coercions:
            match node:
                case ast.Unary(operator="not", operand=operand):
                    return self.condition(operand, otherwise, then)
                case ast.Binary(operator="and" | "or" as operator, left=left, right=right):
                    middle = self.build.fresh_label(operator)
                    if operator == "and":
                        self.condition(left, middle, otherwise)
                    else:
                        self.condition(left, then, middle)
                    self.build.start(middle)
                    return self.condition(right, then, otherwise)
        self.build.end(terminators.Branch(self.value(node), then, otherwise, node.span))
        return None

    def _or_else(self, node: ast.OrElse) -> int:
        build = self.build
        outcome = build.fresh_slot("outcome")
        body, failed, done = (build.fresh_label(stem) for stem in ("try", "failed", "done"))
        build.end(terminators.Try(body, failed, False, node.span))
        build.start(body)
        build.store(outcome, self.value(node.value))
        build.add(ops.EndTry())
        build.end(terminators.Jump(done))
        build.start(failed)
        if isinstance(node.fallback, ast.Raise):
            self.raising(node.fallback)
        else:
            build.store(outcome, self.value(node.fallback))
        build.start(done)
        return build.load(outcome, node.span)

    def raising(self, node: ast.Raise) -> None:
        """`raise E(…)`, or a bare `raise` of what the arm around caught; the block ends here."""
        if node.error is None:
            self.build.end(
                terminators.Reraise(self.build.load(self.context.caught[-1], node.span), node.span)
            )
            return
        name = self.checked.name_of(node)
        arguments = self.values(self.checked.arguments[id(node)], node.span)
        self.build.end(terminators.RaiseError(name, arguments, node.span))


_LOWER: dict[type, Callable[[Expressions, Any], int]] = {
    ast.Number: Expressions._number,
    ast.Boolean: Expressions._number,
    ast.Null: Expressions._null,
    ast.Regex: Expressions._regex,
    ast.SchemaOf: Expressions._schema,
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
    ast.Gen: lambda self, node: self.from_model(node),
    ast.Choose: lambda self, node: self.from_model(node),
    ast.Select: lambda self, node: self.from_model(node),
    ast.Fork: lambda self, node: self.from_model(node),
}
