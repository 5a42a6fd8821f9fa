"""Variables: how they get their types, from which holes their values come, what may be assigned."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

from sglc.check.core.context import ModuleContext
from sglc.check.core.edits import insertion, preceded_by
from sglc.check.core.function_state import Local
from sglc.check.core.result import ExpressionType, ListValue, LocalSymbol, Never, Unknown
from sglc.check.declarations.dependent_types import DependentTypes
from sglc.check.expressions.folding import fold
from sglc.check.expressions.inference import Inference
from sglc.check.holes.ends import END_OF_LINE
from sglc.check.holes.holes import Holes
from sglc.check.names.scopes import Scopes
from sglc.check.proofs.memberships import Memberships
from sglc.check.types.assignability import Fit, fit, join
from sglc.check.types.kinds import (
    NULL,
    STR,
    UNKNOWN,
    conditions,
    expand,
    item_of,
    numeric,
    numeric_rank,
    said,
    widen,
)
from sglc.diagnostics.diagnostic import Edit, Label
from sglc.immutable import node
from sglc.syntax.lexer.keywords import ROLES
from sglc.syntax.tree import ast
from sglc.types.type import ListOf, MapOf, Named, RecordType


@node
class Variables:
    """A variable has one type from its first value on."""

    module: ModuleContext
    scopes: Scopes
    dependent: DependentTypes
    inference: Inference
    holes: Holes
    members: Memberships

    def let(self, node: ast.Let) -> bool:
        """Bind a variable to its first value."""
        value = node.value
        declared: ExpressionType | None = (
            None if node.type is None else self.dependent.written_type(node.type)
        )
        hole = value if isinstance(value, ast.Gen | ast.Choose | ast.Select) else None
        origins, found = self._watched(lambda: self._initial(node, declared))
        if hole is not None:
            self.module.types[id(hole)] = found
        type = declared if declared is not None else found
        if declared is None:
            type = self._settled(node, found)
        kind = "var" if node.mutable else ("hole" if hole is not None else "let")
        due = None if node.type is None else self.module.dependents.get(id(node.type))
        if due is not None and not node.mutable and self.members.known(value, due):
            self.module.held.add(id(node))
        local = self.scopes.bind(node, node.name, type, kind, hole=hole, origins=origins, dependent=due)
        if hole is not None:
            self.holes.complete(hole, local)
        elif not node.mutable:
            known, constant = fold(self.module, value)
            if known:
                self.module.constants[id(value)] = constant
        return False

    def _initial(self, node: ast.Let, declared: ExpressionType | None) -> ExpressionType:
        value = node.value
        if isinstance(value, ast.Gen | ast.Choose | ast.Select):
            found = self.holes.fill(value, node.name.text, node.name.text, node.name.span, END_OF_LINE)
            if declared is not None:
                self.inference.fits(value, found, declared, f"`{node.name.text}`")
            return found
        if declared is not None:
            return self.inference.expect(value, declared, f"`{node.name.text}`")
        return self.inference.infer(value)

    def _watched(self, action: Callable[[], ExpressionType]) -> tuple[tuple[Local, ...], ExpressionType]:
        """Do something and tell from which holes the values that it read were made."""
        seen: set[Local] = set()
        self.scopes.function.mentioned.append(seen)
        found = action()
        self.scopes.function.mentioned.pop()
        origins: dict[Local, None] = {}
        for local in seen:
            if local.hole is not None:
                origins[local] = None
            origins.update(dict.fromkeys(local.origins))
        return tuple(origins), found

    def _settled(self, node: ast.Let, found: ExpressionType) -> ExpressionType:
        """The type that a variable gets from its first value."""
        label = node.name.text
        if isinstance(found, ListValue) and isinstance(found.item, Never):
            self.module.report(
                "E0326",
                f"the type of `{label}` is not clear",
                node.value.span,
                label="an empty list",
                hint=f"write it down: `{'var' if node.mutable else 'let'} {label}: [T] = []`",
            )
            return UNKNOWN
        if found == NULL and node.mutable:
            self.module.report(
                "E0326",
                f"the type of `{label}` is not clear",
                node.value.span,
                label="null only",
                hint=f"write it down: `var {label}: T? = null`",
            )
            return UNKNOWN
        if isinstance(found, Never):
            return UNKNOWN
        return widen(found, self.module.table) if node.mutable else found

    def assign(self, node: ast.Assign) -> bool:
        """Give a variable, or a part of its value, another value."""
        target = node.target
        root: ast.Expression = target
        while isinstance(root, ast.Attribute | ast.Index):
            root = root.value
        if not isinstance(root, ast.Reference):
            self.inference.infer(node.value)
            self.module.report("E0339", "this cannot be assigned to", target.span, label="no variable")
            return False
        local = self.scopes.function.scope.find(root.name)
        if local is None and target is root and node.operator == "=" and self._is_new(root.name):
            self._undeclared(node, root)
            return False
        if local is None:
            self.inference.infer(node.value)
            self.inference.infer(root)
            return False
        if local.kind != "var":
            kinds = {
                "let": "a `let`",
                "parameter": "a parameter",
                "loop": "a loop variable",
                "hole": "a hole",
            }
            self.module.report(
                "E0339",
                f"`{root.name}` does not change: it is {kinds.get(local.kind, 'bound once')}",
                target.span,
                label="assigned to",
                secondary=(Label(local.span, "bound here"),),
                hint=f"declare it with `var {root.name}`"
                if local.kind == "let"
                else f"copy it into a variable of another name: `var next = {root.name}`",
                edits=_as_variable(local),
            )
        if self.scopes.function.forks and not self._bound_inside_fork(local):
            self.module.report(
                "E0340",
                f"`{root.name}` belongs to the code around the fork",
                target.span,
                label="assigned in a branch",
                reason="branches run side by side and share nothing",
                hint="`yield` the value instead",
            )
        local_used = local.used
        self.module.symbols[id(root)] = LocalSymbol(local.name, local.slot)
        if target is root:
            self.module.types[id(root)] = local.type
            due = local.type
        else:
            self.scopes.function.scope.forget(root.name)
            due = self.inference.infer(target)
            local.used = local_used
            self._assignable_parts(target)
            self._still_of_type(target, local)
        self.scopes.function.scope.forget(root.name)
        origins, _ = self._watched(lambda: self._assigned(node, due))
        local.origins = tuple(dict.fromkeys((*local.origins, *origins)))
        return False

    def _undeclared(self, node: ast.Assign, root: ast.Reference) -> None:
        """The first assignment to a name that nothing declares: it is taken for the declaration."""
        found = self.inference.infer(node.value)
        message = f"there is no `{root.name}` here"
        role = root.name in ROLES
        read_before = any(d.message == message for d in self.module.diagnostics)
        self.module.report(
            "E0201",
            message,
            root.span,
            label="assigned to, never declared",
            hint=f"a role is a block: `{root.name}: | …`"
            if role
            else f"write `var {root.name} = …` where it begins",
            edits=()
            if role or read_before or self.scopes.function.scope.parent is not None
            else insertion("var ", root.span),
        )
        name = ast.Name(root.name, root.span)
        self.scopes.bind(node, name, widen(found, self.module.table), "var", used=True)

    def _is_new(self, name: str) -> bool:
        """Whether a name that is assigned to can only be a variable that was not declared."""
        known = chain(self.scopes.function.scope.visible(), self.module.names)
        return name not in self.module.names and self.module.nearest(name, known) is None

    def _bound_inside_fork(self, local: Local) -> bool:
        scope = self.scopes.function.scope
        while scope is not None:
            if local.name in scope.names:
                return True
            if scope is self.scopes.function.forks[-1].scope:
                return False
            scope = scope.parent  # type: ignore[assignment]
        return False

    def _assignable_parts(self, target: ast.Expression) -> None:
        """Fields of records, places of lists and keys of maps can be set; nothing else can."""
        while isinstance(target, ast.Attribute | ast.Index):
            owner = expand(self.module.types.get(id(target.value), UNKNOWN), self.module.table)
            fine = isinstance(owner, Unknown)
            indexed = isinstance(target, ast.Index)
            if indexed and isinstance(owner, MapOf) and owner != MapOf(STR, owner.value):
                self.module.report(
                    "E0339",
                    f"entries of {said(owner)} cannot be assigned to",
                    target.span,
                    label="its keys or their number are bounded",
                    hint="declare the variable as `{str: T}`, or make a new map",
                )
                return
            if isinstance(target, ast.Index):
                fine = fine or isinstance(owner, ListOf | MapOf | ListValue)
            elif isinstance(owner, Named):
                fine = fine or isinstance(self.module.table.get(owner.name), RecordType)
            if not fine:
                self.module.report(
                    "E0339",
                    f"parts of {said(owner)} cannot be assigned to",
                    target.span,
                    label="does not change",
                    hint="`match` on it and make a new value"
                    if isinstance(owner, Named)
                    else "make a new value",
                )
                return
            target = target.value

    def _still_of_type(self, target: ast.Expression, local: Local) -> None:
        """Where something around a part has a condition, note that the variable is held against its type."""
        around = [local.type]
        part = target
        while isinstance(part, ast.Attribute | ast.Index):
            part = part.value
            around.append(self.module.types.get(id(part), UNKNOWN))
        if any(conditions(type, self.module.table) for type in around):
            self.module.coercions[id(target)] = local.type  # type: ignore[assignment]

    def _assigned(self, node: ast.Assign, due: ExpressionType) -> ExpressionType:
        if node.operator == "=":
            return self.inference.expect(node.value, due, "the value")
        sign = node.operator[0]
        found = self.inference.infer(node.value, due)
        if isinstance(found, Unknown) or isinstance(due, Unknown):
            return found
        ranks = numeric_rank(due, self.module.table), numeric_rank(found, self.module.table)
        result: ExpressionType | None = None
        if ranks[0] is not None and ranks[1] is not None:
            rank = max(ranks[0], ranks[1])
            result = numeric(max(rank, 1) if sign == "/" else rank)
            if ranks[0] < (1 if sign == "/" else rank):
                self.inference.mismatch(node.value.span, result, due, "the value")
                return found
        elif sign == "+":
            joined = join(due, found, self.module.table)
            if joined is not None and (
                item_of(due, self.module.table) is not None or widen(joined, self.module.table) == STR
            ):
                result = joined
        if result is not None:
            if fit(result, due, self.module.table) is not Fit.ALWAYS:
                self.module.coercions[id(node)] = due  # type: ignore[assignment]
        else:
            self.module.report(
                "E0319",
                f"`{node.operator}` does not take {said(due)} and {said(found)}",
                node.span,
                label="these do not go together",
            )
        return found


def _as_variable(local: Local) -> tuple[Edit, ...]:
    """`var` for the `let` that a variable was bound by."""
    word = preceded_by("let", local.span) if local.kind == "let" else None
    return () if word is None else (Edit(word, "var"),)
