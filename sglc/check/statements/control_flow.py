"""Control flow: branches, returns and caught errors."""

from __future__ import annotations

from functools import partial

from sglc.check.core.context import ModuleContext
from sglc.check.core.function_state import Proved
from sglc.check.core.result import (
    BranchOf,
    ErrorOf,
    ErrorSymbol,
    ExpressionType,
    ListValue,
    Never,
    RangeOf,
    ScoredOf,
    Unknown,
)
from sglc.check.expressions.inference import Inference
from sglc.check.holes.models import HoleModels
from sglc.check.names.errors import error_named
from sglc.check.names.scopes import Scopes
from sglc.check.proofs.memberships import Memberships
from sglc.check.statements.blocks import Blocks
from sglc.check.types.kinds import NULL, UNKNOWN, said, show, widen
from sglc.diagnostics.diagnostic import Edit
from sglc.immutable import node
from sglc.source import Span
from sglc.syntax.tree import ast


@node
class ControlFlow:
    """Each method tells whether the statements after it are cut off."""

    module: ModuleContext
    scopes: Scopes
    inference: Inference
    blocks: Blocks
    models: HoleModels
    members: Memberships

    def using(self, node: ast.Using) -> bool:
        """Holes that another model fills. Names that are bound inside stay in sight, as in a role."""
        with self.models.within(node.models):
            return not self.blocks.body(node.body)

    def if_(self, node: ast.If) -> bool:
        """Branches, with what their conditions prove."""
        reached = False
        passed, leaving = Proved(), Proved()
        for place, (condition, statements) in enumerate(node.branches):
            word = "elif" if place else "if"
            taken = self.scopes.inside(passed, partial(self._asked, condition, word))
            found = self.scopes.inside(passed, partial(self.blocks.block, statements, taken))
            reached = reached or found
            last = place == len(node.branches) - 1
            if not last or node.otherwise:
                passed.add(self.scopes.inside(passed, partial(self.scopes.narrowings, condition, False)))
            elif place == 0 and not found:
                leaving = self.scopes.narrowings(condition, False)
        if node.otherwise:
            reached = self.blocks.block(node.otherwise, passed) or reached
        else:
            reached = True
        # After `if x == null: return`, x is not null.
        self.scopes.function.scope.proved.add(leaving)
        return not reached

    def _asked(self, condition: ast.Expression, word: str) -> Proved:
        """Check a condition; what it proves where it holds."""
        self.inference.told_condition(condition, word)
        return self.scopes.narrowings(condition, True)

    def return_(self, node: ast.Return) -> bool:
        """The result of a function."""
        function = self.scopes.function
        if function.kind == "test":
            self.module.report("E0410", "a test returns nothing", node.span, label="`return` in a test")
        elif function.forks:
            self.module.report(
                "E0410",
                "a branch of a fork cannot return",
                node.span,
                label="would leave its siblings",
                hint="`yield` its value, and return after the fork",
            )
        if node.value is None:
            if function.kind != "test" and function.result not in (NULL, UNKNOWN):
                if not isinstance(function.result, Unknown):
                    self.module.report(
                        "E0301",
                        f"a value of {said(function.result)} must be returned",
                        node.span,
                        label="no value",
                    )
            return True
        if function.kind == "test" or function.forks:
            self.inference.infer(node.value)
            return True
        declaration = function.signature.declaration if function.signature is not None else None
        if function.result == NULL and declaration is not None and declaration.result is None:
            found = self.inference.infer(node.value)
            if found not in (NULL, UNKNOWN):
                self.module.report(
                    "E0301",
                    "this function declares no result",
                    node.value.span,
                    label=f"this is {said(found)}",
                    hint=f"write `-> {show(widen(found, self.module.table))}` in its header",
                    edits=self._result_edit(declaration, found),
                )
            return True
        self.inference.expect(node.value, function.result, "the result")
        written = None if declaration is None else declaration.result
        due = None if written is None else self.module.dependents.get(id(written))
        if due is not None and self.members.known(node.value, due):
            self.module.held.add(id(node))
        return True

    def _result_edit(
        self, declaration: ast.FunctionDeclaration | ast.ExternDeclaration, found: ExpressionType
    ) -> tuple[Edit, ...]:
        """The result behind the parameters of a header, where its type can be written there."""
        type = widen(found, self.module.table)
        header = declaration.span.source.text[declaration.name.span.end : declaration.span.end]
        close = _closing(header)
        if close is None or isinstance(
            type, Unknown | Never | ListValue | RangeOf | ScoredOf | BranchOf | ErrorOf
        ):
            return ()
        place = declaration.name.span.end + close + 1
        return (Edit(Span(declaration.span.source, place, place), f" -> {show(type)}"),)

    def break_(self, node: ast.Break | ast.Continue) -> bool:
        """The end of a round or of a loop."""
        if not self.scopes.function.loops:
            word = "break" if isinstance(node, ast.Break) else "continue"
            inside = bool(self.scopes.function.forks)
            self.module.report(
                "E0411",
                f"`{word}` stands outside any loop",
                node.span,
                label="no loop to leave",
                reason="a fork is no loop: its branches run side by side" if inside else "",
            )
        return True

    def try_(self, node: ast.Try) -> bool:
        """What may fail, and what is done then."""
        function = self.scopes.function
        costs, function.costs = function.costs, None
        reached = self.blocks.bounded(node, lambda: self.blocks.block(node.body))
        caught: set[str] = set()
        everything = False
        for handler in node.handlers:
            names: list[str] = []
            for name in handler.errors:
                found = error_named(self.module, name)
                if found is None:
                    continue
                if found in caught or everything:
                    self.module.report(
                        "E0337",
                        f"`{name.text}` is caught before",
                        name.span,
                        label="never reached",
                        hint="remove it, or move it up",
                    )
                self.module.symbols[id(name)] = ErrorSymbol(found)
                names.append(found)
            if not handler.errors:
                everything = True
            caught.update(names)
            self.scopes.open()
            if handler.binding is not None:
                error = ErrorOf(names[0] if len(names) == 1 else None)
                self.scopes.bind(handler, handler.binding, error, "error")
            function.handlers += 1
            reached = self.blocks.body(handler.body) or reached
            function.handlers -= 1
            self.scopes.close()
        function.costs = costs
        return not reached


def _closing(text: str) -> int | None:
    """Where the parenthesis that a text begins with is closed."""
    depth = 0
    for place, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if depth == 0:
            return place if char == ")" else None
    return None
