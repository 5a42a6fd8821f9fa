"""Conditions that have one answer, and what the others prove of the values that they speak of.

An answer is found by the sets of `sglc.check.proofs.possible`: the values of types, and of variables and
their fields what the conditions around a place have left of them (`Scope.values_of`). What cannot be told is
None, and nothing is said of it.
"""

from __future__ import annotations

from sglc.check.core import function_state as core
from sglc.check.core.context import ModuleContext
from sglc.check.core.result import BuiltinSymbol, ConstantSymbol, ExpressionType, LocalSymbol, Unknown
from sglc.check.expressions.folding import fold
from sglc.check.names.scopes import Scopes, path_of
from sglc.check.proofs import possible as sets
from sglc.check.proofs.possible import Answer, Numbers, Possible
from sglc.check.types.kinds import UNKNOWN
from sglc.diagnostics.diagnostic import Label
from sglc.immutable import node
from sglc.syntax.tree import ast
from sglc.types.equality import key_of

MOST_TERMS = 30
"""Terms of an `and` or `or` that are judged: each is looked at once for every one behind it."""
ORDERED = frozenset({"<", "<=", ">", ">="})
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}

Proved = dict[str, Possible]
"""What paths (`x`, `x.age`) may be, where a condition holds."""


@node
class Conditions:
    """Asked once an expression has been inferred: its types and symbols are known then."""

    module: ModuleContext
    scopes: Scopes

    # -- what is told ------------------------------------------------------------------------------

    def tell(self, node: ast.Expression, what: str, found: int) -> None:
        """Warn of a condition that always has the same answer. `what` is the word before it; `found` the
        number of findings before it was inferred: one with a fault in it is not judged."""
        if self.module.trusted or len(self.module.diagnostics) > found or _is_long(node):
            return
        answer = self.answer(node)
        if answer is None:
            return
        fails = not answer and what in ("ensure", "check")
        self.module.report(
            "W0209" if fails else "W0240",
            f"this `{what}` always fails" if fails else f"this condition is always {_word(answer)}",
            node.span,
            label=f"always {_word(answer)}",
            reason=self._why(node),
            secondary=tuple(self._bounds_written(node)),
            hint="no value of the run can change the answer: leave the condition out, or correct its bounds"
            if not fails
            else "no value can pass it: correct its bounds, or those of the value",
        )

    def _why(self, node: ast.Expression) -> str:
        """What the values that a condition compares may be."""
        found: dict[str, str] = {}
        for part in _compared_parts(node):
            words = "" if fold(self.module, part)[0] else sets.said(self.possible(part))
            if words:
                found.setdefault(part.span.text, words)
        return ", ".join(f"`{text}` is {words}" for text, words in list(found.items())[:3])

    def _bounds_written(self, node: ast.Expression) -> list[Label]:
        """Where the variables of a condition come from."""
        found: dict[str, Label] = {}
        for part in _compared_parts(node):
            argument = part.arguments[0].value if isinstance(part, ast.Call) and part.arguments else part
            path = path_of(argument)
            local = None if path is None else self.scopes.function.scope.find(path.split(".")[0])
            if local is not None and local.span.source is node.span.source:
                found.setdefault(local.name, Label(local.span, f"`{local.name}` comes from here"))
        return list(found.values())[:2]

    # -- answers -----------------------------------------------------------------------------------

    def answer(self, node: ast.Expression) -> Answer:
        """Whether a condition holds in every run (True), in none (False), or that is not known.

        A condition that is constant by itself counts as not known: it is meant so.
        """
        if fold(self.module, node)[0]:
            return None
        match node:
            case ast.Unary("not", operand):
                inner = self.answer(operand)
                return None if inner is None else not inner
            case ast.Binary("and" | "or" as operator, left, right):
                decided = operator == "or"
                first = self.answer(left)
                if first is decided:
                    return decided
                second = self.scopes.inside(
                    self._beside(self.proved(left, not decided)), lambda: self.answer(right)
                )
                if second is decided:
                    return decided
                return (not decided) if first is (not decided) and second is (not decided) else None
            case ast.Binary("in" | "not in" as operator, left, right):
                inside = self._inside(left, right)
                return inside if operator == "in" or inside is None else not inside
            case ast.Binary(operator, left, right) if operator in OPPOSITE:
                return sets.compared(self.possible(left), operator, self.possible(right), self.module.table)
        values = self.possible(node)
        if values and len(values) == 1 and isinstance(values[0], sets.Few) and len(values[0].keys) == 1:
            return {sets.TRUE: True, sets.FALSE: False}.get(next(iter(values[0].keys)))
        return None

    def _inside(self, left: ast.Expression, right: ast.Expression) -> Answer:
        these = self.possible(left)
        if isinstance(right, ast.Range):
            above = sets.compared(these, ">=", self.possible(right.start), self.module.table)
            operator = "<=" if right.inclusive else "<"
            below = sets.compared(these, operator, self.possible(right.stop), self.module.table)
            if above is False or below is False:
                return False
            return True if above and below else None
        known, items = fold(self.module, right)
        if known and isinstance(items, list):
            return sets.among(these, frozenset(map(key_of, items)), self.module.table)
        return None

    # -- values ------------------------------------------------------------------------------------

    def possible(self, node: ast.Expression) -> Possible:
        """What the value of an expression may be."""
        known, value = fold(self.module, node)
        if known:
            return sets.listed((value,))
        found = sets.values_of_type(self._type(node), self.module.table)
        path = self._path(node)
        if path is not None:
            left = self.scopes.function.scope.values_of(path)
            return found if left is None else sets.meet(found, left, self.module.table)
        match node:
            case ast.Call(_, (argument,)) if self._is_len(node):
                sizes = sets.lengths(self.possible(argument.value))
                return found if sizes is None else sizes
            case ast.Unary("-", operand):
                return self._computed("-", sets.listed((0,)), self.possible(operand)) or found
            case ast.Binary("+" | "-" | "*" | "%" as operator, left, right):
                return self._computed(operator, self.possible(left), self.possible(right)) or found
        return found

    def _type(self, node: ast.Expression) -> ExpressionType:
        found = self.module.types.get(id(node), UNKNOWN)
        return UNKNOWN if isinstance(found, Unknown) else found

    def _path(self, node: ast.Expression) -> str | None:
        """The path of a variable or of a field of one; None for all else."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(self.module.symbols.get(id(root)), LocalSymbol):
            return None
        return None if isinstance(self.module.symbols.get(id(node)), ConstantSymbol) else path_of(node)

    def _is_len(self, node: ast.Call) -> bool:
        symbol = self.module.symbols.get(id(node)) or self.module.symbols.get(id(node.function))
        return symbol == BuiltinSymbol("len")

    def _computed(self, operator: str, left: Possible, right: Possible) -> Possible:
        """The results of integer arithmetic; None where they are not known.

        Decimals and floats are rounded, so that the ends of their results are not those of the numbers.
        """
        a, b = sets.numbers(left), sets.numbers(right)
        if a is None or b is None or not (a.whole and b.whole):
            return None
        if operator == "%":
            if b.low is None or b.high is None or b.low != b.high or b.low <= 0:
                return None
            fits = a.low is not None and a.high is not None and 0 <= a.low and a.high < b.low
            return (a if fits else Numbers(0, b.low - 1, True),)
        if operator == "-":
            b = Numbers(None if b.high is None else -b.high, None if b.low is None else -b.low, True)
        if operator in ("+", "-"):
            low = None if a.low is None or b.low is None else a.low + b.low  # type: ignore[operator]
            high = None if a.high is None or b.high is None else a.high + b.high  # type: ignore[operator]
            return (Numbers(low, high, True),)
        ends = (a.low, a.high), (b.low, b.high)
        if any(end is None for pair in ends for end in pair):
            return None
        products = [x * y for x in ends[0] for y in ends[1]]  # type: ignore[operator]
        return (Numbers(min(products), max(products), True),)

    # -- what conditions prove ---------------------------------------------------------------------

    def left_of_paths(self, node: ast.Expression, holds: bool) -> Proved:
        """`proved` as a scope keeps it."""
        if self.module.trusted or _is_long(node):
            return {}
        return {path: these for path, these in self.proved(node, holds).items() if these is not None}

    def _beside(self, proved: Proved) -> core.Proved:
        return core.Proved({}, {path: these for path, these in proved.items() if these is not None})

    def proved(self, node: ast.Expression, holds: bool) -> Proved:
        """What paths may be where a condition holds (or does not)."""
        match node:
            case ast.Unary("not", operand):
                return self.proved(operand, not holds)
            case ast.Binary("and" | "or" as operator, left, right):
                if (operator == "and") != holds:
                    return {}
                first = self.proved(left, holds)
                second = self.scopes.inside(self._beside(first), lambda: self.proved(right, holds))
                return {**first, **second}
            case ast.Binary("in" | "not in" as operator, left, right):
                return self._proved_inside(left, right, (operator == "in") == holds)
            case ast.Binary(operator, left, right) if operator in OPPOSITE:
                sign: str = operator if holds else OPPOSITE[operator]
                return {
                    **self._proved_of(left, sign, right),
                    **self._proved_of(right, FLIPPED[sign], left),
                }
        path = self._path(node)
        if path is None:
            return {}
        key = sets.TRUE if holds else sets.FALSE
        return {path: sets.only(self.possible(node), frozenset({key}), self.module.table)}

    def _proved_of(self, node: ast.Expression, operator: str, other: ast.Expression) -> Proved:
        """What `node operator other` proves of `node`."""
        measured = None
        if isinstance(node, ast.Call) and node.arguments and self._is_len(node):
            measured, node = node, node.arguments[0].value
        path = self._path(node)
        if path is None:
            return {}
        these, those = self.possible(node), self.possible(other)
        if measured is not None or operator in ORDERED:
            around = sets.numbers(those)
            if around is None:
                return {}
            if measured is None:
                return {path: sets.bounded(these, operator, around)}
            for part in {"==": ("<=", ">="), "!=": ()}.get(operator, (operator,)):
                these = sets.of_length(these, part, around)
            return {path: these}
        if operator == "==":
            return {path: sets.meet(these, those, self.module.table)}
        if those is not None and len(those) == 1 and isinstance(those[0], sets.Few):
            if len(those[0].keys) == 1:
                return {path: sets.without(these, next(iter(those[0].keys)))}
        return {}

    def _proved_inside(self, left: ast.Expression, right: ast.Expression, holds: bool) -> Proved:
        path = self._path(left)
        if path is None:
            return {}
        these = self.possible(left)
        if isinstance(right, ast.Range):
            low, high = sets.numbers(self.possible(right.start)), sets.numbers(self.possible(right.stop))
            if not holds or low is None or high is None:
                return {}
            these = sets.bounded(these, ">=", low)
            return {path: sets.bounded(these, "<=" if right.inclusive else "<", high)}
        known, items = fold(self.module, right)
        if not known or not isinstance(items, list):
            return {}
        keys = frozenset(map(key_of, items))
        if holds:
            return {path: sets.only(these, keys, self.module.table)}
        for key in keys:
            these = sets.without(these, key)
        return {path: these}


def _word(answer: bool) -> str:
    return "true" if answer else "false"


def _is_long(node: ast.Expression) -> bool:
    """Whether a condition has more than `MOST_TERMS` terms in a row."""
    for _ in range(MOST_TERMS):
        if not isinstance(node, ast.Binary) or node.operator not in ("and", "or"):
            return False
        node = node.left
    return True


def _compared_parts(node: ast.Expression) -> list[ast.Expression]:
    """The operands of the comparisons of a condition, in the order of the text."""
    match node:
        case ast.Unary("not", operand):
            return _compared_parts(operand)
        case ast.Binary("and" | "or", left, right):
            return [*_compared_parts(left), *_compared_parts(right)]
        case ast.Binary(_, left, ast.Range(start, stop)):
            return [left, start, stop]
        case ast.Binary(_, left, right):
            return [left, right]
    return [node]
