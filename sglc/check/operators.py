"""Types of arithmetic, comparison, membership and choice."""

from __future__ import annotations

from sglc.check.fitting import shown
from sglc.check.names import Names
from sglc.check.relations import (
    BOOL,
    INT,
    STR,
    UNKNOWN,
    allows_null,
    comparable,
    expand,
    fit,
    is_text,
    item_of,
    join,
    list_of,
    numeric,
    numeric_rank,
    said,
)
from sglc.check.result import ExpressionType, RangeOf, Unknown
from sglc.diagnostics.diagnostic import Label
from sglc.diagnostics.suggest import nearest
from sglc.syntax import ast
from sglc.types.type import MapOf


class Operators(Names):
    """Numbers widen from int to decimal to float; nothing else is converted."""

    def _unary(self, node: ast.Unary, expected: ExpressionType | None) -> ExpressionType:
        if node.operator == "not":
            self.condition(node.operand)
            return BOOL
        found = self.infer(node.operand, expected)
        rank = numeric_rank(found, self.table)
        if isinstance(found, Unknown):
            return UNKNOWN
        if rank is None:
            self.program.report(
                "E0319",
                f"`-` needs a number, not {said(found)}",
                node.operand.span,
                label=f"this is {said(found)}",
            )
            return UNKNOWN
        return numeric(rank)

    def _binary(self, node: ast.Binary, expected: ExpressionType | None) -> ExpressionType:
        operator = node.operator
        if operator in ("and", "or"):
            self.condition(node.left)
            proved = self.narrowings(node.left, operator == "and")
            if proved:
                self.inside(proved, lambda: self.condition(node.right))
            else:
                self.condition(node.right)
            return BOOL
        if operator == "matches":
            self.expect(node.left, STR, "what a pattern is matched against")
            if isinstance(node.right, ast.Regex):
                self.types[id(node.right)] = STR
                self.check_regex(node.right.pattern, node.right.span)
            else:
                self.infer(node.right)
                self.program.report(
                    "E0314", "`matches` needs a pattern", node.right.span, label="write it as `/…/`"
                )
            return BOOL
        if operator in ("==", "!="):
            return self._equality(node)
        if operator in ("in", "not in"):
            return self._membership(node, node.left, node.right)
        if operator == "contains":
            return self._membership(node, node.right, node.left)
        left = self.infer(node.left, expected)
        right = self.infer(node.right, expected)
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return BOOL if operator in ("<", "<=", ">", ">=") else UNKNOWN
        ranks = numeric_rank(left, self.table), numeric_rank(right, self.table)
        if ranks[0] is not None and ranks[1] is not None:
            rank = max(ranks[0], ranks[1])
            if operator in ("<", "<=", ">", ">="):
                return BOOL
            if operator in ("/", "//", "%"):
                known, value = self.fold(node.right)
                if known and value == 0:
                    self.program.report("E0321", "division by zero", node.right.span, label="this is zero")
                if operator == "//":
                    return numeric(rank) if rank else INT
                return numeric(max(rank, 1)) if operator == "/" else numeric(rank)
            return numeric(rank)
        texts = is_text(left, self.table) and is_text(right, self.table)
        if texts and operator in ("<", "<=", ">", ">="):
            return BOOL
        if texts and operator == "+":
            return STR
        items = item_of(left, self.table), item_of(right, self.table)
        if operator == "+" and items[0] is not None and items[1] is not None:
            whole = join(items[0], items[1], self.table)
            if whole is not None:
                return list_of(whole)
        self._refuse_operands(node, left, right)
        return BOOL if operator in ("<", "<=", ">", ">=") else UNKNOWN

    def _refuse_operands(self, node: ast.Binary, left: ExpressionType, right: ExpressionType) -> None:
        hint = ""
        if allows_null(left, self.table) or allows_null(right, self.table):
            hint = "one side may be null: test it first, as in `x if x != null else …`"
        elif node.operator == "+" and (is_text(left, self.table) or is_text(right, self.table)):
            hint = 'insert it into the text instead: "…${x}"'
        elif node.operator in ("<", "<=", ">", ">="):
            hint = "only numbers and texts have an order"
        self.program.report(
            "E0319",
            f"`{node.operator}` does not take {said(left)} and {said(right)}",
            node.span,
            label="these do not go together",
            hint=hint,
            secondary=(
                Label(node.left.span, f"this is {said(left)}"),
                Label(node.right.span, f"this is {said(right)}"),
            ),
        )

    def _equality(self, node: ast.Binary) -> ExpressionType:
        left = self.infer(node.left)
        mark = len(self.program.diagnostics)
        right = self.infer(node.right, left)
        if isinstance(left, Unknown) and len(self.program.diagnostics) == mark:
            return BOOL
        if not comparable(left, right, self.table):
            self.program.report(
                "E0322", f"{said(left)} and {said(right)} are never equal", node.span,
                label="always " + ("false" if node.operator == "==" else "true"),
            )  # fmt: skip
            return BOOL
        for side, other in ((node.left, right), (node.right, left)):
            known, value = self.fold(side)
            words = self.facts.words(other) if known and isinstance(value, str) else None
            if words is not None and is_text(other, self.table) and value not in words:
                close = nearest(value, words)
                self.program.report(
                    "E0322", f"{shown(value)} is none of {said(other)}", side.span,
                    label="always " + ("false" if node.operator == "==" else "true"),
                    hint=f"did you mean {shown(close)}?" if close else "",
                )  # fmt: skip
        return BOOL

    def _membership(self, node: ast.Binary, member: ast.Expression, whole: ast.Expression) -> ExpressionType:
        # The container may need the member's type to read enum names, and the other way round.
        if isinstance(whole, ast.ListDisplay):
            found = self.infer(member)
            container = self.infer(whole, list_of(found))
        else:
            container = self.infer(whole)
            found = self.infer(member, item_of(container, self.table))
        if isinstance(container, Unknown) or isinstance(found, Unknown):
            return BOOL
        plain = expand(container, self.table)
        if isinstance(plain, RangeOf):
            fine = numeric_rank(found, self.table) is not None
        elif isinstance(plain, MapOf) or is_text(plain, self.table):
            fine = is_text(found, self.table)
        else:
            item = item_of(plain, self.table)
            fine = item is not None and comparable(item, found, self.table)
        if not fine:
            self.program.report(
                "E0319",
                f"{said(found)} cannot be in {said(container)}",
                node.span,
                label="never true",
                secondary=(
                    Label(member.span, f"this is {said(found)}"),
                    Label(whole.span, f"this is {said(container)}"),
                ),
            )
        return BOOL

    def _conditional(self, node: ast.Conditional, expected: ExpressionType | None) -> ExpressionType:
        self.condition(node.condition)
        then = self.inside(self.narrowings(node.condition, True), lambda: self.infer(node.then, expected))
        other = self.inside(
            self.narrowings(node.condition, False), lambda: self.infer(node.otherwise, expected)
        )
        whole = join(then, other, self.table)
        if whole is None and expected is not None:
            if fit(then, expected, self.table).value and fit(other, expected, self.table).value:
                return expected
        if whole is None:
            self.program.report(
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
