"""`match`: each case becomes a chain of tests that falls through to the next case."""

from __future__ import annotations

from typing import Any

from sglc.check.core.result import ConstantSymbol, LocalSymbol, RecordSymbol, TypeSymbol, VariantSymbol
from sglc.ir import ops, terminators
from sglc.lower.expressions import Expressions
from sglc.source import Span
from sglc.syntax import ast
from sglc.types.type import Alternatives, Dec, Float, Int, Named, TupleOf, Type

NUMBER = Alternatives((Int(), Dec(), Float()))


class Patterns(Expressions):
    def match(self, node: ast.Match) -> None:
        build = self.build
        known = self.checked.types.get(id(node.subject))
        symbol = self.checked.symbols.get(id(node.subject))
        if isinstance(symbol, LocalSymbol) and id(node.subject) not in self.checked.coercions:
            subject = symbol.slot
        else:
            subject = build.fresh_slot("subject")
            build.store(subject, self.value(node.subject))
        done = build.fresh_label("matched")
        for case in node.cases:
            following = build.fresh_label("case")
            self._pattern(case.pattern, subject, known, following)
            if case.guard is not None:
                guarded = build.fresh_label("guarded")
                self.condition(case.guard, guarded, following)
                build.start(guarded)
            self.body(case.body)
            build.end(terminators.Jump(done))
            build.join(following)
        # The cases are exhaustive; only a value from a damaged file could get here.
        message = build.const("no case matches this value", node.span)
        build.end(terminators.RaiseError("Failure", (message,), node.span))
        build.join(done)

    def body(self, statements: tuple[ast.Statement, ...]) -> None:
        raise AssertionError("statements are lowered by a class further down")

    def _require(self, condition: int, otherwise: str, span: Span) -> None:
        """Go on in a new block if the condition holds."""
        here = self.build.fresh_label("is")
        self.build.end(terminators.Branch(condition, here, otherwise, span))
        self.build.start(here)

    def _pattern(self, node: ast.Pattern, slot: str, known: Any, otherwise: str) -> None:
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
                    self._pattern(part, slot, known, following)
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
        self._pattern(node, slot, None, otherwise)

    def _equal(self, slot: str, value: Any, otherwise: str, span: Span) -> None:
        build = self.build
        pair = (build.load(slot, span), build.const(value, span))
        self._require(build.value(ops.Binary, "==", *pair, span=span), otherwise, span)

    def _differs(self, slot: str, value: Any, otherwise: str, span: Span) -> None:
        build = self.build
        pair = (build.load(slot, span), build.const(value, span))
        self._require(build.value(ops.Binary, "!=", *pair, span=span), otherwise, span)

    def _is_type(self, slot: str, type_: Type, otherwise: str, span: Span) -> None:
        value = self.build.load(slot, span)
        self._require(self.build.value(ops.IsType, value, type_, span=span), otherwise, span)

    def _range_pattern(self, node: ast.RangePattern, slot: str, known: Any, otherwise: str) -> None:
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
        self, node: ast.ConstructorPattern, slot: str, known: Any, otherwise: str
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
