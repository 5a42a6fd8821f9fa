"""Control flow: branches, loops, matches, returns and caught errors."""

from __future__ import annotations

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
from sglc.check.core.walk import Body
from sglc.check.expressions.range_slips import Rounds
from sglc.check.names.builtins import ERRORS
from sglc.check.statements.case_forms import Form, Shape
from sglc.check.statements.case_forms import Span as NumberSpan
from sglc.check.statements.variables import Variables
from sglc.check.types.assignability import INT, NULL, UNKNOWN, expand, said, show, widen
from sglc.diagnostics.diagnostic import Edit
from sglc.source import Span
from sglc.syntax import ast


class ControlFlow(Variables):
    """Each method tells whether the statements after it are cut off."""

    def _if(self, node: ast.If) -> bool:
        reached = False
        passed: dict[str, ExpressionType] = {}
        leaving: dict[str, ExpressionType] = {}
        for place, (condition, statements) in enumerate(node.branches):
            self.inside(passed, lambda c=condition: self.condition(c))  # type: ignore[misc]
            found = self.block(statements, {**passed, **self.narrowings(condition, True)})
            reached = reached or found
            passed.update(self.narrowings(condition, False))
            if not found and place == 0 and len(node.branches) == 1 and not node.otherwise:
                leaving = self.narrowings(condition, False)
        if node.otherwise:
            reached = self.block(node.otherwise, passed) or reached
        else:
            reached = True
        # After `if x == null: return`, x is not null.
        self.function.scope.narrowed.update(leaving)
        return not reached

    def _for(self, node: ast.For) -> bool:
        item = self.iterated(node.iterable, Rounds(node.variable.text, node.body))
        self.open()
        self.bind(node, node.variable, item, "loop")
        self._loop(node, node.body, self._rounds(node.iterable))
        self.close()
        return False

    def _rounds(self, node: ast.Expression) -> int:
        """How often a loop surely runs: 0 where that is not known."""
        if isinstance(node, ast.Range):
            (a, low), (b, high) = self.fold(node.start), self.fold(node.stop)
            if a and b and isinstance(low, int) and isinstance(high, int):
                return max(0, high - low + node.inclusive)
        return 0

    def _loop(self, marker: object, statements: Body, rounds: int = 0) -> None:
        function = self.function
        for assigned in _assigned_names(statements):
            function.scope.forget(assigned)
        function.loops += 1
        costs = function.costs
        inner: list[tuple[str, int]] | None = [] if rounds and costs is not None else None
        if inner is not None and any(_leaves(statement) for statement in statements):
            inner = None
        function.costs = inner
        self.open()
        self.bounded(marker, lambda: self.body(statements))
        self.close()
        function.costs = costs
        if inner and costs is not None:
            costs.extend((f"{rounds} × {name}", least * rounds) for name, least in inner)
        function.loops -= 1

    def _while(self, node: ast.While) -> bool:
        proved: dict[str, ExpressionType] = {}
        self.condition(node.condition)
        if node.limit is None:
            self.program.report(
                "E0409", "a `while` needs a limit", node.condition.span, label="may go on for ever",
                hint="write `while … limit 10:`; more rounds raise `Budget`",
            )  # fmt: skip
        else:
            count = self.needed(node.limit, INT, "the limit")
            if count is not None and count < 1:
                self.program.report(
                    "E0409", "a limit is at least 1", node.limit.span, label=f"this is {count}"
                )
        self.open()
        proved = self.narrowings(node.condition, True)
        for assigned in _assigned_names(node.body):
            proved = {path: t for path, t in proved.items() if path.split(".")[0] != assigned}
        self.function.scope.narrowed.update(proved)
        self._loop(node, node.body)
        self.close()
        return False

    def _match(self, node: ast.Match) -> bool:
        type = self.subject(node)
        forms: list[tuple[ast.Case, Form]] = []
        reached = faulty = past_null = False
        costs, self.function.costs = self.function.costs, None
        for case in node.cases:
            self.open()
            before = len(self.program.diagnostics)
            form = self.pattern(case.pattern, type)
            faulty = faulty or len(self.program.diagnostics) > before
            self.note_binding(case.pattern, type)
            if case.guard is not None:
                self.condition(case.guard)
                self.function.scope.narrowed.update(self.narrowings(case.guard, True))
            path = None
            if isinstance(node.subject, ast.Reference) and (past_null or _never_null(form)):
                path = node.subject.name
            if path is not None:
                plain = expand(type, self.table)
                self.function.scope.narrowed.setdefault(path, self._not_null(plain))
            reached = self.body(case.body) or reached
            self.close()
            forms.append((case, form))
            past_null = past_null or (case.guard is None and isinstance(form, Shape) and form.key is None)
        self.function.costs = costs
        if not faulty:
            self.cover(node, type, forms)
        # A value without a case has been reported: what is behind the match is judged as if there were none.
        return not reached and bool(node.cases)

    def _return(self, node: ast.Return) -> bool:
        function = self.function
        if function.kind == "test":
            self.program.report("E0410", "a test returns nothing", node.span, label="`return` in a test")
        elif function.forks:
            self.program.report(
                "E0410", "a branch of a fork cannot return", node.span, label="would leave its siblings",
                hint="`yield` its value, and return after the fork",
            )  # fmt: skip
        if node.value is None:
            if function.kind != "test" and function.result not in (NULL, UNKNOWN):
                if not isinstance(function.result, Unknown):
                    self.program.report(
                        "E0301",
                        f"a value of {said(function.result)} must be returned",
                        node.span,
                        label="no value",
                    )
            return True
        if function.kind == "test" or function.forks:
            self.infer(node.value)
            return True
        declaration = function.signature.declaration if function.signature is not None else None
        if function.result == NULL and declaration is not None and declaration.result is None:
            found = self.infer(node.value)
            if found not in (NULL, UNKNOWN):
                self.program.report(
                    "E0301",
                    "this function declares no result",
                    node.value.span,
                    label=f"this is {said(found)}",
                    hint=f"write `-> {show(widen(found, self.table))}` in its header",
                    edits=self._result_edit(declaration, found),
                )
            return True
        self.expect(node.value, function.result, "the result")
        return True

    def _result_edit(
        self, declaration: ast.FunctionDeclaration | ast.ExternDeclaration, found: ExpressionType
    ) -> tuple[Edit, ...]:
        """The result behind the parameters of a header, where its type can be written there."""
        type = widen(found, self.table)
        header = declaration.span.source.text[declaration.name.span.end : declaration.span.end]
        close = _closing(header)
        if close is None or isinstance(
            type, Unknown | Never | ListValue | RangeOf | ScoredOf | BranchOf | ErrorOf
        ):
            return ()
        place = declaration.name.span.end + close + 1
        return (Edit(Span(declaration.span.source, place, place), f" -> {show(type)}"),)

    def _break(self, node: ast.Break | ast.Continue) -> bool:
        if not self.function.loops:
            word = "break" if isinstance(node, ast.Break) else "continue"
            inside = bool(self.function.forks)
            self.program.report(
                "E0411", f"`{word}` stands outside any loop", node.span, label="no loop to leave",
                reason="a fork is no loop: its branches run side by side" if inside else "",
            )  # fmt: skip
        return True

    def _raise_statement(self, node: ast.Raise) -> bool:
        self.raising(node)
        return True

    def _try(self, node: ast.Try) -> bool:
        function = self.function
        outer, function.raised = function.raised, {}
        costs, function.costs = function.costs, None
        reached = self.bounded(node, lambda: self.block(node.body))
        raised, function.raised = function.raised, outer
        caught: set[str] = set()
        everything = False
        for handler in node.handlers:
            names: list[str] = []
            for name in handler.errors:
                found = self.error_named(name)
                if found is None:
                    continue
                if found in caught or everything:
                    self.program.report(
                        "E0337", f"`{name.text}` is caught before", name.span, label="never reached",
                        hint="remove it, or move it up",
                    )  # fmt: skip
                elif found not in ERRORS and found not in raised:
                    self.program.report(
                        "W0208", f"nothing here raises `{name.text}`", name.span, label="never caught"
                    )
                self.symbols[id(name)] = ErrorSymbol(found)
                names.append(found)
            if not handler.errors:
                everything = True
            here = names if handler.errors else raised
            again = {n: span for n, span in raised.items() if n in here and n not in caught}
            caught.update(names)
            self.open()
            if handler.binding is not None:
                error = ErrorOf(names[0] if len(names) == 1 else None)
                self.bind(handler, handler.binding, error, "error")
            function.handled.append(again)
            reached = self.body(handler.body) or reached
            function.handled.pop()
            self.close()
        function.costs = costs
        if not everything:
            for uncaught, span in raised.items():
                if uncaught not in caught:
                    function.raised.setdefault(uncaught, span)
        return not reached


def _assigned_names(statements: Body) -> set[str]:
    """Variables that statements assign to, at any depth."""
    found: set[str] = set()
    for statement in statements:
        match statement:
            case ast.Assign(target):
                while isinstance(target, ast.Attribute | ast.Index):
                    target = target.value
                if isinstance(target, ast.Reference):
                    found.add(target.name)
            case ast.If(branches, otherwise):
                for _, inner in branches:
                    found |= _assigned_names(inner)
                found |= _assigned_names(otherwise)
            case ast.Match(_, cases):
                for case in cases:
                    found |= _assigned_names(case.body)
            case ast.Try(body, handlers):
                found |= _assigned_names(body)
                for handler in handlers:
                    found |= _assigned_names(handler.body)
            case ast.For() | ast.While() | ast.Role() | ast.Using() | ast.Parallel() | ast.Forget():
                found |= _assigned_names(statement.body)
    return found


def _leaves(statement: ast.Statement) -> bool:
    """Whether a loop's body may end a round or the loop early."""
    match statement:
        case ast.Break() | ast.Continue() | ast.Return() | ast.Raise():
            return True
        case ast.If(branches, otherwise):
            return any(_leaves(s) for _, body in branches for s in body) or any(_leaves(s) for s in otherwise)
        case ast.Match(_, cases):
            return any(_leaves(s) for case in cases for s in case.body)
        case ast.Role(_, body) | ast.Try(body):
            return any(_leaves(s) for s in body)
    return False


def _never_null(form: Form) -> bool:
    return isinstance(form, NumberSpan) or (isinstance(form, Shape) and form.key is not None)


def _closing(text: str) -> int | None:
    """Where the parenthesis that a text begins with is closed."""
    depth = 0
    for place, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if depth == 0:
            return place if char == ")" else None
    return None
