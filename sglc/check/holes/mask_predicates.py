"""From a written condition to one that a mask can keep (`sglc.types.condition`).

What a condition compares the value with is computed once, before the hole. So only expressions that cannot
fail, or that would be computed in any case, become part of it: in `i == 0 or it != seen[i - 1]` the item is
looked for only where there is one.
"""

from __future__ import annotations

from sglc.automata.number.decimal import MAX_DIVISOR
from sglc.check.core.context import ModuleContext
from sglc.check.core.result import DefaultArgument, ExpressionType, Unknown
from sglc.check.core.walk import mentions, parts
from sglc.check.expressions.folding import fold
from sglc.check.expressions.inference import Inference
from sglc.check.types.kinds import Table, expand, is_enum
from sglc.check.types.regexes import check_regex
from sglc.immutable import node
from sglc.syntax.tree import ast
from sglc.types import type as t
from sglc.types.condition import (
    All,
    Among,
    Compared,
    Comparison,
    Condition,
    Divided,
    Either,
    Flag,
    Given,
    Known,
    Listed,
    Matches,
    Not,
    Operand,
    Subject,
    TextAt,
)

FLIPPED: dict[str, Comparison] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
ASKS = (ast.Gen, ast.Choose, ast.Select, ast.Fork)
FAILING = (ast.Index, ast.Slice, ast.OrElse, ast.Comprehension, *ASKS)
SAFE = frozenset({"+", "-", "*", "==", "!=", "<", "<=", ">", ">=", "and", "or", "in", "not in", "contains"})


class _NotWritten(Exception):
    """The condition has no such form."""


@node
class ConditionWriter:
    """Writes conditions of one hole, whose value has the names `names`."""

    module: ModuleContext
    inference: Inference
    given: list[ast.Expression | DefaultArgument]
    """Expressions that the hole depends on, by their numbers; those of the condition are added."""
    names: tuple[str, ...]

    def write(self, node: ast.Expression, *, sure: bool) -> Condition | None:
        """The condition, None if it has no such form. `sure`: it is asked of every value."""
        diagnostics = self.module.diagnostics
        marks = len(self.given), len(diagnostics)
        try:
            return self._condition(node, sure)
        except _NotWritten:
            del self.given[marks[0] :]
            del diagnostics[marks[1] :]  # the whole condition is checked later
            return None

    def _condition(self, node: ast.Expression, sure: bool) -> Condition:
        if not mentions(node, self.names):
            return Flag(self._operand(node, sure, (t.Bool,)))
        match node:
            case ast.Unary("not", operand):
                return Not(self._condition(operand, sure))
            case ast.Binary("and", left, right):
                return All((self._condition(left, sure), self._condition(right, False)))
            case ast.Binary("or", left, right):
                return Either((self._condition(left, sure), self._condition(right, False)))
            case ast.Binary("matches", left, ast.Regex(pattern=pattern, span=span)):
                if not check_regex(self.module, pattern, span):
                    raise _NotWritten
                return Matches(self._subject(left), pattern)
            case ast.Binary("contains", left, right):
                return self._contained(right, left, sure)
            case ast.Binary("in", left, right):
                return self._contained(left, right, sure)
            case ast.Binary("not in", left, right):
                return Not(self._contained(left, right, sure))
            case ast.Binary(operator, left, right) if operator in FLIPPED:
                return self._compared(FLIPPED[FLIPPED[operator]], left, right, sure)
            case ast.Call(ast.Attribute(value=value, name=name), (argument,)) if name.text in (
                "starts_with",
                "ends_with",
            ):
                text = self._operand(argument.value, sure, (t.Str,))
                return TextAt(self._subject(value), "start" if name.text == "starts_with" else "end", text)
        raise _NotWritten

    def _contained(self, item: ast.Expression, container: ast.Expression, sure: bool) -> Condition:
        """`item in container`, where one of the two is the value."""
        if mentions(container, self.names):
            return TextAt(self._subject(container), "inside", self._operand(item, sure, (t.Str,)))
        subject = self._subject(item)
        if isinstance(container, ast.Range):
            low = self._operand(container.start, sure, (t.Int,))
            high = self._operand(container.stop, sure, (t.Int,))
            return All(
                (Compared(subject, ">=", low), Compared(subject, "<=" if container.inclusive else "<", high))
            )
        if subject.length:
            raise _NotWritten
        return Among(subject, self._operand(container, sure, SCALARS, listed=True))

    def _compared(
        self, operator: Comparison, left: ast.Expression, right: ast.Expression, sure: bool
    ) -> Condition:
        if mentions(right, self.names):
            left, right, operator = right, left, FLIPPED[operator]
        if mentions(right, self.names):
            raise _NotWritten
        bound = self._operand(right, sure, SCALARS)
        if isinstance(left, ast.Binary) and left.operator == "%" and operator in ("==", "!="):
            step = self._operand(left.right, sure, (t.Int,))
            known = step.value if isinstance(step, Known) else None
            if isinstance(known, int) and not 0 < abs(known) <= MAX_DIVISOR:
                raise _NotWritten
            divided = Divided(self._subject(left.left), step, bound)
            return divided if operator == "==" else Not(divided)
        return Compared(self._subject(left), operator, bound)

    def _subject(self, node: ast.Expression) -> Subject:
        match node:
            case ast.Reference(name=name) if name in self.names:
                return Subject()
            case ast.Attribute(value=value, name=name):
                inner = self._subject(value)
                if not inner.length:
                    return Subject((*inner.path, name.text))
            case ast.Call(ast.Reference("len"), (ast.Argument(value=value),)):
                inner = self._subject(value)
                if not inner.length:
                    return Subject(inner.path, True)
        raise _NotWritten

    def _operand(
        self, node: ast.Expression, sure: bool, kinds: tuple[type, ...], *, listed: bool = False
    ) -> Operand:
        """What the value is compared with: a value known now, or one that the hole is given."""
        if mentions(node, self.names) or asks(self.module, node):
            raise _NotWritten
        mark = len(self.module.diagnostics)
        found = self.inference.infer(node)
        if isinstance(found, Unknown) or len(self.module.diagnostics) > mark:
            raise _NotWritten
        plain = expand(found, self.module.table)
        if listed:
            if not isinstance(plain, t.ListOf):
                raise _NotWritten
            plain = plain.item
        if not _is_one_of(plain, kinds, self.module.table):
            raise _NotWritten
        known, value = fold(self.module, node)
        if known:
            return Known(Listed(value) if isinstance(value, list) else value)
        if not sure and not _cannot_fail(node):
            raise _NotWritten
        self.given.append(node)
        return Given(len(self.given) - 1)


SCALARS = (t.Str, t.Int, t.Dec, t.Float, t.Bool, t.Null, t.EnumType)


def _is_one_of(type: ExpressionType, kinds: tuple[type, ...], table: Table) -> bool:
    """Whether values of a type are of these kinds, null beside them where any scalar is allowed."""
    plain = expand(type, table)
    match plain:
        case t.Optional(item=item):
            return t.Null in kinds and _is_one_of(item, kinds, table)
        case t.Alternatives(arms=arms):
            return all(_is_one_of(arm, kinds, table) for arm in arms)
        case t.Constant(value=value):
            kind = {str: t.Str, bool: t.Bool, int: t.Int}.get(value.__class__, t.Dec)
            return kind in kinds
        case t.Named():
            return t.EnumType in kinds and is_enum(plain, table) is not None
    return isinstance(plain, kinds)


def asks(module: ModuleContext, node: object) -> bool:
    """Whether computing an expression may ask a model."""
    if isinstance(node, tuple):
        return any(asks(module, item) for item in node)
    if isinstance(node, ASKS):
        return True
    if isinstance(node, ast.Call) and isinstance(node.function, ast.Reference):
        entity = module.look_up(node.function.name)
        if entity is not None and entity.kind == "function":
            signature = module.program.signatures.get(entity.name)
            if signature is None or signature.kind != "pure":
                return True
    return any(asks(module, part) for part in parts(node))


def _cannot_fail(node: object) -> bool:
    """Whether computing an expression of sound types always gives a value."""
    if isinstance(node, tuple):
        return all(map(_cannot_fail, node))
    match node:
        case ast.Call(ast.Reference("len"), arguments):
            return all(_cannot_fail(argument.value) for argument in arguments)
        case ast.Call():
            return False
        case ast.Binary(operator=operator) if operator not in SAFE:
            return False
    if isinstance(node, FAILING):
        return False
    return all(map(_cannot_fail, parts(node)))
