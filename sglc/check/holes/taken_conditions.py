"""Conditions as parts of types: bounds, patterns and sets of words that say exactly the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from math import ceil, floor, lcm
from typing import Any

from sglc.automata.number.decimal import MAX_DIVISOR
from sglc.check.core.context import ModuleContext
from sglc.check.core.result import ExpressionType, Unknown
from sglc.check.core.walk import mentions
from sglc.check.expressions.folding import fold
from sglc.check.expressions.inference import Inference
from sglc.check.holes.mask_predicates import FLIPPED
from sglc.check.types.kinds import expand
from sglc.check.types.regexes import check_regex
from sglc.immutable import node
from sglc.syntax.tree import ast
from sglc.types import type as t
from sglc.types.language.membership import is_member
from sglc.types.values import Value

OPPOSITE = {
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
    "==": "!=",
    "!=": "==",
    "in": "not in",
    "not in": "in",
}

ANY = r"[\s\S]*"


Taken = tuple[t.Type | None, bool]
"""The narrower type, None where the condition could not be taken in; and whether it says all of it."""

NOT_TAKEN: Taken = (None, False)


@node
class Taking:
    """One part of a condition against a type."""

    module: ModuleContext
    inference: Inference
    names: tuple[str, ...]
    """Names of the value in it."""

    def part(self, type: t.Type, node: ast.Expression, holds: bool = True) -> Taken:
        """The type of those values for which a condition holds (`holds`) or does not; NOT_TAKEN if no type
        says so."""
        plain = expand(type, self.module.table)
        if isinstance(plain, t.Str) and plain.grammar:
            return NOT_TAKEN
        arms = _constants(plain)
        if arms:
            return self.chosen(arms, node, holds)
        match node:
            case ast.Unary("not", operand):
                return self.part(type, operand, not holds)
            case ast.Binary("matches", left, ast.Regex(pattern=pattern)) if self.is_value(left):
                if holds and isinstance(plain, t.Str) and check_regex(self.module, pattern, node.span):
                    return replace(plain, patterns=(*plain.patterns, pattern)), True
                return NOT_TAKEN
            case ast.Binary("contains", left, right) if self.is_value(left):
                return self.contains(plain, right, holds)
            case ast.Binary("in" | "not in" as operator, left, right):
                if self.is_value(right):
                    return self.contains(plain, left, holds == (operator == "in"))
                if self.is_value(left) and holds == (operator == "in"):
                    return self.among(plain, right)
                return NOT_TAKEN
            case ast.Binary(operator, left, right) if operator in FLIPPED:
                if not holds:
                    operator = OPPOSITE[operator]  # type: ignore[assignment]
                return self.compared(plain, operator, left, right)
            case ast.Call(ast.Attribute(value=value, name=name), (argument,)) if holds and self.is_value(
                value
            ):
                return self.edge(plain, name.text, argument)
        return NOT_TAKEN

    def is_value(self, node: ast.Expression) -> bool:
        """Whether an expression is the value of the hole itself."""
        return isinstance(node, ast.Reference) and node.name in self.names

    def known(self, node: ast.Expression) -> tuple[bool, Value]:
        """The value of an expression that does not speak of the hole, if it is known now."""
        if mentions(node, self.names):
            return False, None
        mark = len(self.module.diagnostics)
        found = self.inference.infer(node)
        if isinstance(found, Unknown):
            del self.module.diagnostics[mark:]  # it is checked as a whole later
            return False, None
        return fold(self.module, node)

    def text(self, node: ast.Expression) -> str | None:
        """The text that an expression is known to be; None for others."""
        known, value = self.known(node)
        return value if known and isinstance(value, str) else None

    # -- texts -------------------------------------------------------------------------------------

    def contains(self, plain: ExpressionType, node: ast.Expression, holds: bool) -> Taken:
        """Texts that contain a known text, or do not."""
        text = self.text(node) if isinstance(plain, t.Str) else None
        if text is None or not text:
            return NOT_TAKEN
        assert isinstance(plain, t.Str)
        if not holds:
            return replace(plain, excludes=(*plain.excludes, text)), True
        return replace(plain, patterns=(*plain.patterns, f"{ANY}{_escaped(text)}{ANY}")), True

    def edge(self, plain: ExpressionType, method: str, argument: ast.Argument) -> Taken:
        """Texts that start or end with a known text."""
        if method not in ("starts_with", "ends_with") or not isinstance(plain, t.Str):
            return NOT_TAKEN
        text = self.text(argument.value)
        if text is None:
            return NOT_TAKEN
        pattern = _escaped(text) + ANY if method == "starts_with" else ANY + _escaped(text)
        return replace(plain, patterns=(*plain.patterns, pattern)), True

    # -- sets --------------------------------------------------------------------------------------

    def among(self, plain: ExpressionType, node: ast.Expression) -> Taken:
        """Values of a known list or range."""
        if isinstance(node, ast.Range) and isinstance(plain, t.Int):
            low, high = self.known(node.start), self.known(node.stop)
            if low[0] and high[0] and isinstance(low[1], int) and isinstance(high[1], int):
                last = high[1] if node.inclusive else high[1] - 1
                return _bounded(plain, low[1], last), True
            return NOT_TAKEN
        if not isinstance(plain, t.Str | t.Int):
            return NOT_TAKEN
        known, values = self.known(node)
        kind = str if isinstance(plain, t.Str) else int
        if not known or not isinstance(values, list) or not all(type(value) is kind for value in values):
            return NOT_TAKEN
        words = [value for value in values if isinstance(value, str | int)]
        legal = [v for v in dict.fromkeys(words) if is_member(v, plain, self.module.table)]
        if not legal:
            return NOT_TAKEN
        arms = tuple(t.Constant(value) for value in legal)
        return arms[0] if len(arms) == 1 else t.Alternatives(arms), True

    def chosen(self, arms: tuple[t.Constant, ...], node: ast.Expression, holds: bool) -> Taken:
        """Of a few known values, those for which a comparison holds."""
        legal: Callable[[object], bool] | None = None
        match node:
            case ast.Unary("not", operand):
                return self.chosen(arms, operand, not holds)
            case ast.Binary("in" | "not in" as operator, left, ast.Range() as inside) if self.is_value(left):
                (first, low), (last, high) = self.known(inside.start), self.known(inside.stop)
                if first and last and isinstance(low, int) and isinstance(high, int):
                    numbers = range(low, high + inside.inclusive)
                    legal = numbers.__contains__
                wanted = holds == (operator == "in")
            case ast.Binary("==" | "!=" as operator, left, right) if self.is_value(left):
                known, value = self.known(right)
                legal = self._one_of([value]) if known else None
                wanted = holds == (operator == "==")
            case ast.Binary("in" | "not in" as operator, left, right) if self.is_value(left):
                known, value = self.known(right)
                legal = self._one_of(value) if known and isinstance(value, list) else None
                wanted = holds == (operator == "in")
            case _:
                return NOT_TAKEN
        kept = () if legal is None else tuple(arm for arm in arms if legal(arm.value) == wanted)
        if not kept:
            return NOT_TAKEN
        return kept[0] if len(kept) == 1 else t.Alternatives(kept), True

    def _one_of(self, words: list[Value]) -> Callable[[object], bool]:
        return lambda value: any(type(word) is type(value) and word == value for word in words)

    # -- numbers and lengths -----------------------------------------------------------------------

    def compared(
        self, plain: ExpressionType, operator: str, left: ast.Expression, right: ast.Expression
    ) -> Taken:
        """Values, or values of a length, that compare so with a known one."""
        if mentions(right, self.names):
            left, right, operator = right, left, FLIPPED[operator]
        known, bound = self.known(right)
        if not known:
            return NOT_TAKEN
        if isinstance(bound, str) and operator == "==" and isinstance(plain, t.Str) and self.is_value(left):
            fits = is_member(bound, plain, self.module.table)
            return (t.Constant(bound), True) if fits else NOT_TAKEN
        if isinstance(bound, bool) or not isinstance(bound, int | Decimal):
            return NOT_TAKEN
        if self.is_value(left) and isinstance(plain, t.Int | t.Dec | t.Float):
            return _number(plain, operator, bound)
        match left:
            case ast.Call(ast.Reference("len"), (ast.Argument(value=value),)) if self.is_value(value):
                return _length(plain, operator, bound)
            case ast.Binary("%", value, step) if self.is_value(value) and (operator, bound) == ("==", 0):
                known, number = self.known(step)
                if known and isinstance(plain, t.Int) and type(number) is int and number > 0:
                    common = lcm(plain.multiple_of or 1, number)
                    return (replace(plain, multiple_of=common), True) if common <= MAX_DIVISOR else NOT_TAKEN
        return NOT_TAKEN


def _constants(plain: ExpressionType) -> tuple[t.Constant, ...]:
    """The texts or integers of a type that is a few of them by declaration; empty for other types."""
    arms = plain.arms if isinstance(plain, t.Alternatives) else (plain,)
    found = tuple(arm for arm in arms if isinstance(arm, t.Constant) and type(arm.value) in (str, int))
    return found if len(found) == len(arms) else ()


def _escaped(text: str) -> str:
    """A pattern for exactly this text."""
    return "".join(
        char
        if char.isalnum() or char == " "
        else f"\\{char}"
        if char.isascii() and char.isprintable()
        else f"\\u{{{ord(char):x}}}"
        for char in text
    )


def _whole_bounds(operator: str, bound: int | Decimal) -> tuple[int | None, int | None] | None:
    """The smallest and largest integer for which a comparison holds; None where these do not say it."""
    match operator:
        case ">=":
            return ceil(bound), None
        case ">":
            return floor(bound) + 1, None
        case "<=":
            return None, floor(bound)
        case "<":
            return None, ceil(bound) - 1
        case "==" if bound == int(bound):
            return int(bound), int(bound)
    return None


def _number(plain: t.Int | t.Dec | t.Float, operator: str, bound: int | Decimal) -> Taken:
    if isinstance(plain, t.Int):
        whole = _whole_bounds(operator, bound)
        return NOT_TAKEN if whole is None else (_bounded(plain, *whole), True)
    exact = Decimal(bound)
    match operator:
        case ">=" | ">":
            # Bounds of types are part of them: that the bound itself is none is asked at the end.
            return _bounded(plain, exact, None), operator == ">="
        case "<=" | "<":
            return _bounded(plain, None, exact), operator == "<="
        case "==" if isinstance(plain, t.Dec):
            return _bounded(plain, exact, exact), True
    return NOT_TAKEN


def _length(plain: ExpressionType, operator: str, bound: int | Decimal) -> Taken:
    whole = _whole_bounds(operator, bound)
    if whole is None:
        return NOT_TAKEN
    low, high = whole
    match plain:
        case t.Str(min_chars=least, max_chars=most):
            low, high = _within(least, most, low, high)
            return (replace(plain, min_chars=low, max_chars=high), True) if _some(low, high) else NOT_TAKEN
        case t.ListOf(minimum=least, maximum=most) | t.MapOf(minimum=least, maximum=most):
            low, high = _within(least, most, low, high)
            return (replace(plain, minimum=low, maximum=high), True) if _some(low, high) else NOT_TAKEN
    return NOT_TAKEN


def _within(least: int, most: int | None, low: int | None, high: int | None) -> tuple[int, int | None]:
    return max(least, low or 0), most if high is None else high if most is None else min(most, high)


def _some(low: int, high: int | None) -> bool:
    return high is None or 0 <= low <= high


def _bounded(plain: Any, low: Any, high: Any) -> Any:
    least, most = plain.minimum, plain.maximum
    low = least if low is None else low if least is None else max(least, low)
    high = most if high is None else high if most is None else min(most, high)
    return replace(plain, minimum=low, maximum=high)
