"""Patterns of `match` to chains of tests."""

from __future__ import annotations

from sglc.check.core.result import ConstantSymbol, LocalSymbol, RecordSymbol, TypeSymbol, VariantSymbol
from sglc.ir import ops, terminators
from sglc.lower.context import Context
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.type import Alternatives, Dec, Float, Int, Named, TupleOf, Type
from sglc.types.values import Value

NUMBER = Alternatives((Int(), Dec(), Float()))


class Patterns:
    """Lowers the patterns of one function."""

    def __init__(self, context: Context) -> None:
        self.checked = context.checked
        self.build = context.build

    def test(self, node: ast.Pattern, slot: str, known: object, otherwise: str) -> None:
        """Test the value in a slot, of type `known` (None: any), and bind the pattern's names."""
        build, span = self.build, node.span
        match node:
            case ast.WildcardPattern():
                pass
            case ast.LiteralPattern(value=value):
                self._equal(slot, value, otherwise, span)
            case ast.RangePattern():
                self._range_pattern(node, slot, known, otherwise)
            case ast.NamePattern():
                self._name_pattern(node, slot, otherwise)
            case ast.ConstructorPattern():
                self._constructor_pattern(node, slot, known, otherwise)
            case ast.AlternativesPattern(patterns=patterns):
                found = build.fresh_label("any")
                for part in patterns:
                    following = build.fresh_label("or")
                    self.test(part, slot, known, following)
                    build.end(terminators.Jump(found))
                    build.start(following)
                build.end(terminators.Jump(otherwise))
                build.start(found)
            case ast.SequencePattern(items=items):
                if not isinstance(known, TupleOf):
                    self._differs(slot, None, otherwise, span)
                for index, item in enumerate(items):
                    if not isinstance(item, ast.WildcardPattern):
                        taken = build.value(
                            ops.GetItem, build.load(slot), build.const(index, item.span), span=item.span
                        )
                        self._subpattern(item, taken, otherwise)

    def _subpattern(self, node: ast.Pattern, value: int, otherwise: str) -> None:
        """Match a part of the subject that was just taken out."""
        symbol = self.checked.symbols.get(id(node))
        if isinstance(node, ast.NamePattern) and isinstance(symbol, LocalSymbol):
            self.build.store(symbol.slot, value, node.span)
            return
        slot = self.build.fresh_slot("part")
        self.build.store(slot, value, node.span)
        self.test(node, slot, None, otherwise)

    def _equal(self, slot: str, value: Value, otherwise: str, span: Span) -> None:
        build = self.build
        pair = (build.load(slot, span), build.const(value, span))
        self._require(build.value(ops.Binary, "==", *pair, span=span), otherwise, span)

    def _differs(self, slot: str, value: Value, otherwise: str, span: Span) -> None:
        build = self.build
        pair = (build.load(slot, span), build.const(value, span))
        self._require(build.value(ops.Binary, "!=", *pair, span=span), otherwise, span)

    def _is_type(self, slot: str, type_: Type, otherwise: str, span: Span) -> None:
        value = self.build.load(slot, span)
        self._require(self.build.value(ops.IsType, value, type_, span=span), otherwise, span)

    def _range_pattern(self, node: ast.RangePattern, slot: str, known: object, otherwise: str) -> None:
        build, span = self.build, node.span
        if not isinstance(known, Int | Dec | Float):
            self._is_type(slot, NUMBER, otherwise, span)
        for operator, bound in ((">=", node.minimum), ("<" if node.below else "<=", node.maximum)):
            if bound is not None:
                pair = (build.load(slot, span), build.const(bound, span))
                self._require(build.value(ops.Binary, operator, *pair, span=span), otherwise, span)

    def _name_pattern(self, node: ast.NamePattern, slot: str, otherwise: str) -> None:
        build, span = self.build, node.span
        match self.checked.symbols.get(id(node)):
            case ConstantSymbol(value=value):
                self._equal(slot, value, otherwise, span)
            case VariantSymbol(union=union, variant=variant):
                value = build.load(slot, span)
                test = build.value(ops.IsVariant, value, f"{union}.{variant}", span=span)
                self._require(test, otherwise, span)
            case TypeSymbol(type=type_):
                self._is_type(slot, type_, otherwise, span)
            case RecordSymbol(type=name):
                self._is_type(slot, Named(name), otherwise, span)
            case LocalSymbol(slot=target):
                build.store(target, build.load(slot, span), span)

    def _constructor_pattern(
        self, node: ast.ConstructorPattern, slot: str, known: object, otherwise: str
    ) -> None:
        build, span = self.build, node.span
        match self.checked.symbols[id(node)]:
            case VariantSymbol(union=union, variant=variant):
                value = build.load(slot, span)
                test = build.value(ops.IsVariant, value, f"{union}.{variant}", span=span)
                self._require(test, otherwise, span)
            case RecordSymbol(type=name) if known != Named(name):
                self._is_type(slot, Named(name), otherwise, span)
        for field in node.fields:
            if not isinstance(field.pattern, ast.WildcardPattern):
                part = build.value(
                    ops.GetField, build.load(slot, span), field.name.text, span=field.name.span
                )
                self._subpattern(field.pattern, part, otherwise)

    def _require(self, condition: int, otherwise: str, span: Span) -> None:
        """Go on in a new block if the condition holds."""
        here = self.build.fresh_label("is")
        self.build.end(terminators.Branch(condition, here, otherwise, span))
        self.build.start(here)
