"""Types of arithmetic, comparison, membership and choice."""

from __future__ import annotations

import re

from sglc.check.core.context import ModuleContext
from sglc.check.core.result import ExpressionType, RangeOf, Unknown
from sglc.check.expressions.folding import fold
from sglc.check.expressions.inference import Inference, shown
from sglc.check.names.scopes import Scopes
from sglc.check.types.assignability import comparable, fit, join
from sglc.check.types.facts import TypeFacts
from sglc.check.types.kinds import (
    BOOL,
    INT,
    STR,
    UNKNOWN,
    allows_null,
    expand,
    is_enum,
    is_text,
    item_of,
    list_of,
    numeric,
    numeric_rank,
    said,
    without_null,
)
from sglc.check.types.regexes import check_regex
from sglc.diagnostics.diagnostic import Edit, Label
from sglc.immutable import node
from sglc.syntax.tree import ast
from sglc.types.arithmetic import ArithmeticFault, compute, is_number
from sglc.types.type import MapOf

_PLACEHOLDER = re.compile(r"%[sdif]")


@node
class Operators:
    """Numbers widen from int to decimal to float; nothing else is converted."""

    module: ModuleContext
    facts: TypeFacts
    scopes: Scopes
    inference: Inference

    def unary(self, node: ast.Unary, expected: ExpressionType | None) -> ExpressionType:
        """The type of `not x` and `-x`."""
        if node.operator == "not":
            self.inference.condition(node.operand)
            return BOOL
        found = self.inference.infer(node.operand, expected)
        rank = numeric_rank(found, self.module.table)
        if isinstance(found, Unknown):
            return UNKNOWN
        if rank is None:
            self.module.report(
                "E0319",
                f"`-` needs a number, not {said(found)}",
                node.operand.span,
                label=f"this is {said(found)}",
            )
            return UNKNOWN
        return numeric(rank)

    def binary(self, node: ast.Binary, expected: ExpressionType | None) -> ExpressionType:
        """The type of two operands and what stands between them."""
        operator = node.operator
        if operator in ("and", "or"):
            if operator == "or" and self._is_default(node):
                return UNKNOWN
            self.inference.condition(node.left)
            proved = self.scopes.narrowings(node.left, operator == "and")
            if proved:
                self.scopes.inside(proved, lambda: self.inference.condition(node.right))
            else:
                self.inference.condition(node.right)
            return BOOL
        if operator == "matches":
            self.inference.expect(node.left, STR, "what a pattern is matched against")
            if isinstance(node.right, ast.Regex):
                self.module.types[id(node.right)] = STR
                check_regex(self.module, node.right.pattern, node.right.span)
            else:
                self.inference.infer(node.right)
                self.module.report(
                    "E0314", "`matches` needs a pattern", node.right.span, label="write it as `/…/`"
                )
            return BOOL
        if operator in ("==", "!="):
            return self._equality(node)
        if operator in ("in", "not in"):
            return self._membership(node, node.left, node.right)
        if operator == "contains":
            return self._membership(node, node.right, node.left)
        left = self.inference.infer(node.left, expected)
        right = self.inference.infer(node.right, expected)
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return BOOL if operator in ("<", "<=", ">", ">=") else UNKNOWN
        ranks = numeric_rank(left, self.module.table), numeric_rank(right, self.module.table)
        if ranks[0] is not None and ranks[1] is not None:
            rank = max(ranks[0], ranks[1])
            if operator in ("<", "<=", ">", ">="):
                return BOOL
            self._has_result(node, ranks[0])
            if operator in ("/", "//", "%"):
                if operator == "//":
                    return numeric(rank) if rank else INT
                return numeric(max(rank, 1)) if operator == "/" else numeric(rank)
            return numeric(rank)
        texts = is_text(left, self.module.table) and is_text(right, self.module.table)
        if texts and operator in ("<", "<=", ">", ">="):
            return BOOL
        if texts and operator == "+":
            return STR
        items = item_of(left, self.module.table), item_of(right, self.module.table)
        if operator == "+" and items[0] is not None and items[1] is not None:
            whole = join(items[0], items[1], self.module.table)
            if whole is not None:
                return list_of(whole)
        self._refuse_operands(node, left, right)
        return BOOL if operator in ("<", "<=", ">", ">=") else UNKNOWN

    def _has_result(self, node: ast.Binary, rank: int) -> None:
        """Report arithmetic that fails whatever the program does; `rank` is that of the left number."""
        known, right = fold(self.module, node.right)
        if not known or not is_number(right):
            return
        if node.operator in ("/", "//", "%") and right == 0:
            self.module.report("E0321", "division by zero", node.right.span, label="this is zero")
            return
        known, left = fold(self.module, node.left)
        if not known or not is_number(left):
            # Of integers only 1 and -1 have a negative power that is one.
            left = 2 if node.operator == "**" and rank == 0 and isinstance(right, int) and right < 0 else None
        try:
            if left is not None:
                compute(node.operator, left, right)
        except ArithmeticFault as fault:
            self.module.report(
                "E0321",
                f"this `{node.operator}` has no result",
                node.span,
                label="cannot be computed",
                reason=str(fault),
            )

    def _is_default(self, node: ast.Binary) -> bool:
        """`name or "none"` where `name` may be null: told as the default that is meant."""
        if not isinstance(node.left, ast.Reference | ast.Attribute):
            return False
        found = self.inference.infer(node.left)
        if not allows_null(found, self.module.table):
            return False
        left, right = node.left.span.text, node.right.span.text
        made = f"{left} if {left} != null else {right}"
        self.inference.infer(node.right)
        self.module.report(
            "E0320",
            f"`or` joins conditions; {said(found)} is none",
            node.left.span,
            label="may be null",
            hint=f"write `{made}`",
            edits=(Edit(node.span, made),) if not isinstance(node.right, ast.Binary) else (),
        )
        return True

    def _refuse_operands(self, node: ast.Binary, left: ExpressionType, right: ExpressionType) -> None:
        hint = ""
        edits: tuple[Edit, ...] = ()
        if allows_null(left, self.module.table) or allows_null(right, self.module.table):
            hint = "one side may be null: test it first, as in `x if x != null else …`"
        elif node.operator == "+" and (is_text(left, self.module.table) or is_text(right, self.module.table)):
            hint = 'insert it into the text instead: "…${x}"'
            edits = _inserted(node)
        elif node.operator == "%" and is_text(left, self.module.table):
            hint = 'insert values into the text: "…${x}…"'
            edits = _formatted(node)
        elif node.operator == "*" and is_text(left, self.module.table):
            hint = 'write the text out, or join a list: `["a" for _ in 1..n].join("")`'
        elif node.operator in ("<", "<=", ">", ">="):
            hint = "only numbers and texts have an order"
        self.module.report(
            "E0319",
            f"`{node.operator}` does not take {said(left)} and {said(right)}",
            node.span,
            label="these do not go together",
            hint=hint,
            edits=edits,
            secondary=(
                Label(node.left.span, f"this is {said(left)}"),
                Label(node.right.span, f"this is {said(right)}"),
            ),
        )

    def _equality(self, node: ast.Binary) -> ExpressionType:
        if self._is_bare_member(node.left) and not self._is_bare_member(node.right):
            right = self.inference.infer(node.right)
            mark = len(self.module.diagnostics)
            left = self.inference.infer(node.left, right)
        else:
            left = self.inference.infer(node.left)
            mark = len(self.module.diagnostics)
            right = self.inference.infer(node.right, left)
        if isinstance(left, Unknown) and len(self.module.diagnostics) == mark:
            return BOOL
        if not comparable(left, right, self.module.table):
            hidden = self.scopes.hidden_member(node.left, right) or self.scopes.hidden_member(
                node.right, left
            )
            hint, edits = hidden or ("", self._as_member(node, left, right))
            self.module.report(
                "E0322",
                f"{said(left)} and {said(right)} are never equal",
                node.span,
                label="always " + ("false" if node.operator == "==" else "true"),
                hint=hint or self._equal_hint(node, left, right),
                edits=edits,
            )
            return BOOL
        for side, other in ((node.left, right), (node.right, left)):
            known, value = fold(self.module, side)
            if not known or not isinstance(value, str):
                continue
            words = self.facts.words(other)
            if words is not None and is_text(other, self.module.table) and value not in words:
                close = self.module.nearest(value, words)
                self.module.report(
                    "E0322",
                    f"{shown(value)} is none of {said(other)}",
                    side.span,
                    label="always " + ("false" if node.operator == "==" else "true"),
                    hint=f"did you mean {shown(close)}?" if close else "",
                )
        return BOOL

    def _equal_hint(self, node: ast.Binary, left: ExpressionType, right: ExpressionType) -> str:
        """What to compare with, where one side is a text and the other is none."""
        left_text = is_text(left, self.module.table)
        if left_text == is_text(right, self.module.table):
            return ""
        text, other = (node.left, node.right) if left_text else (node.right, node.left)
        if isinstance(text, ast.String) and not isinstance(other, ast.Number):
            return f"members of an enum have no quotes: `{text.span.text[1:-1]}`"
        if isinstance(other, ast.Number):
            return f'compare texts: `"{other.span.text}"`, or numbers: `int({text.span.text})`'
        return f"compare texts: `str({other.span.text})`"

    def _is_bare_member(self, node: ast.Expression) -> bool:
        """Whether an expression is a name that only the type of another one may tell the meaning of."""
        if not isinstance(node, ast.Reference) or self.scopes.function.scope.find(node.name) is not None:
            return False
        return node.name in self.module.members

    def _as_member(self, node: ast.Binary, left: ExpressionType, right: ExpressionType) -> tuple[Edit, ...]:
        """The name of a member for a text that is compared with an enum."""
        for side, other in ((node.left, right), (node.right, left)):
            enum = is_enum(without_null(other, self.module.table), self.module.table)
            name = side.span.text[1:-1]
            if enum is not None and isinstance(side, ast.String) and name in enum.members:
                return (Edit(side.span, name),)
        return ()

    def _membership(self, node: ast.Binary, member: ast.Expression, whole: ast.Expression) -> ExpressionType:
        # The container may need the member's type to read enum names, and the other way round.
        known = isinstance(whole, ast.ListDisplay) and not all(map(self._is_bare_member, whole.items))
        if isinstance(whole, ast.ListDisplay) and not (known and self._is_bare_member(member)):
            found = self.inference.infer(member)
            container = self.inference.infer(whole, list_of(found))
        else:
            container = self.inference.infer(whole)
            found = self.inference.infer(member, item_of(container, self.module.table))
        if isinstance(container, Unknown) or isinstance(found, Unknown):
            return BOOL
        plain = expand(container, self.module.table)
        if isinstance(plain, RangeOf):
            # A range that is kept is the list of its integers; one that is written in place has ends alone.
            rank = numeric_rank(found, self.module.table)
            fine = rank == 0 or (rank is not None and isinstance(whole, ast.Range))
        elif isinstance(plain, MapOf) or is_text(plain, self.module.table):
            fine = is_text(found, self.module.table)
        else:
            item = item_of(plain, self.module.table)
            fine = item is not None and comparable(item, found, self.module.table)
        if not fine:
            self.module.report(
                "E0319",
                f"{said(found)} cannot be in {said(container)}",
                node.span,
                label="never true",
                hint=_container_hint(whole),
                edits=_as_list(whole),
                secondary=(
                    Label(member.span, f"this is {said(found)}"),
                    Label(whole.span, f"this is {said(container)}"),
                ),
            )
        return BOOL

    def conditional(self, node: ast.Conditional, expected: ExpressionType | None) -> ExpressionType:
        """The one type of both sides of `x if c else y`."""
        self.inference.told_condition(node.condition, "if")
        then = self.scopes.inside(
            self.scopes.narrowings(node.condition, True), lambda: self.inference.infer(node.then, expected)
        )
        other = self.scopes.inside(
            self.scopes.narrowings(node.condition, False),
            lambda: self.inference.infer(node.otherwise, expected),
        )
        whole = join(then, other, self.module.table)
        if whole is None and expected is not None:
            if fit(then, expected, self.module.table).value and fit(other, expected, self.module.table).value:
                return expected
        if whole is None:
            self.module.report(
                "E0313",
                f"both sides must have one type, here {said(then)} and {said(other)}",
                node.span,
                label="two types",
                secondary=(
                    Label(node.then.span, f"this is {said(then)}"),
                    Label(node.otherwise.span, f"this is {said(other)}"),
                ),
            )
            return UNKNOWN
        return whole


def _is_plain(node: ast.Expression) -> bool:
    """Whether a string is written out, without escapes and inserts."""
    return isinstance(node, ast.String) and "\\" not in node.span.text and "${" not in node.span.text


def _inserted(node: ast.Binary) -> tuple[Edit, ...]:
    """`"n is " + n` as one text with an insert."""
    left, right = node.left, node.right
    if _is_plain(left) and '"' not in right.span.text:
        return (Edit(node.span, f'{left.span.text[:-1]}${{{right.span.text}}}"'),)
    if _is_plain(right) and '"' not in left.span.text and not isinstance(left, ast.Binary):
        return (Edit(node.span, f'"${{{left.span.text}}}{right.span.text[1:]}'),)
    return ()


def _formatted(node: ast.Binary) -> tuple[Edit, ...]:
    """`"%s has %d" % (name, n)` as one text with inserts."""
    if not _is_plain(node.left):
        return ()
    values = node.right.items if isinstance(node.right, ast.TupleDisplay) else (node.right,)
    parts = _PLACEHOLDER.split(node.left.span.text)
    if len(parts) != len(values) + 1 or "%" in "".join(parts) or any('"' in v.span.text for v in values):
        return ()
    made = parts[0]
    for value, part in zip(values, parts[1:], strict=True):
        made += f"${{{value.span.text}}}{part}"
    return (Edit(node.span, made),)


def _container_hint(whole: ast.Expression) -> str:
    return "write a list: `x in [a, b]`" if isinstance(whole, ast.TupleDisplay) else ""


def _as_list(whole: ast.Expression) -> tuple[Edit, ...]:
    """A tuple as a list of the same items."""
    if not isinstance(whole, ast.TupleDisplay):
        return ()
    inner = ", ".join(item.span.text for item in whole.items)
    return (Edit(whole.span, f"[{inner}]"),)
