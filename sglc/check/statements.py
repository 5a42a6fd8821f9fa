"""Statements of functions and tests: scopes, prompt lines, control flow, conditions with their policies.

Role blocks are no scopes: a hole is bound in the block around its role. Bodies of `if`, loops, cases, `try`
and forks are scopes. Each `_…` method checks one form and tells whether the statements after it can be
reached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sglc.check.builtins import ERRORS
from sglc.check.expressions import field_type
from sglc.check.holes import END_OF_LINE, Follow
from sglc.check.patterns import Patterns
from sglc.check.relations import (
    BOOL,
    INT,
    NEVER,
    NULL,
    STR,
    UNKNOWN,
    expand,
    item_of,
    join,
    numeric,
    numeric_rank,
    show,
    widen,
)
from sglc.check.result import (
    BranchOf,
    ErrorOf,
    ErrorSymbol,
    ExpressionType,
    FunctionSymbol,
    ListValue,
    LocalSymbol,
    Never,
    RangeOf,
    Unknown,
)
from sglc.check.state import ForkFrame, Local
from sglc.diagnostics.diagnostic import Label
from sglc.diagnostics.suggest import nearest
from sglc.library import LibraryError
from sglc.source import Span
from sglc.syntax import ast
from sglc.types.type import ListOf, MapOf, Named, RecordType, TupleOf

Body = Sequence[ast.Statement]
ROLES = ("system", "user", "assistant")
MAX_ATTEMPTS = 100


class Statements(Patterns):
    def body(self, statements: Body) -> bool:
        """Check statements in turn; whether their end can be reached."""
        open_ = True
        warned = False
        for place, statement in enumerate(statements):
            if not open_ and not warned:
                self.program.report(
                    "W0203", "this is never run", statement.span, label="unreachable",
                    reason="the statement before always leaves the block",
                )  # fmt: skip
                warned = True
            if isinstance(statement, ast.PipeLine):
                self._pipe(statement, statements[place + 1] if place + 1 < len(statements) else None)
                continue
            ends = _METHODS[statement.__class__](self, statement)
            open_ = open_ and not ends
        return open_

    def block(self, statements: Body, proved: dict[str, ExpressionType] | None = None) -> bool:
        """A body with a scope of its own, whose holes are not met by every run."""
        self.open()
        if proved:
            self.function.scope.narrowed.update(proved)
        costs, self.function.costs = self.function.costs, None
        reached = self.body(statements)
        self.function.costs = costs
        self.close()
        return reached

    def bounded(self, marker: object, action: Callable[[], Any]) -> Any:
        """Do something inside a loop, fork or try: a retry from there cannot go back over its edge."""
        outer = self.function.boundary
        self.function.boundary = (*outer, id(marker))
        found = action()
        self.function.boundary = outer
        return found

    # -- text --------------------------------------------------------------------------------------

    def _pipe(self, node: ast.PipeLine, after: ast.Statement | None) -> None:
        self._text_allowed(node.span, bool(node.parts))
        for place, part in enumerate(node.parts):
            if isinstance(part, ast.Insert):
                self.displayable(part.value, self.infer(part.value))
            elif isinstance(part, ast.Hole):
                rest = node.parts[place + 1 :]
                if not rest and node.glued:
                    rest = after.parts if isinstance(after, ast.PipeLine) else ()
                    self.named_hole(part, _follow(rest) if rest else Follow(open=True))
                else:
                    self.named_hole(part, _follow(rest))

    def _text_allowed(self, span: Span, report: bool) -> None:
        function = self.function
        if function.kind in ("pure", "test", "const"):
            if report:
                what = {"pure": "a pure fn", "test": "a test", "const": "a constant"}[function.kind]
                self.program.report(
                    "E0406", f"prompt text cannot stand in {what}", span, label="belongs to a conversation",
                    hint="make it a `fn` or a `part`" if function.kind == "pure" else "move it to a `fn`",
                )  # fmt: skip
        elif function.role is None and function.has_roles:
            self.program.report(
                "E0407", "this text belongs to no message", span, label="outside the roles",
                reason="the function has role blocks, so all its text stands in one",
                hint="move it under `user:`, or into a `system:` block",
            )  # fmt: skip

    def _include(self, node: ast.Include) -> bool:
        self._text_allowed(node.span, True)
        try:
            text = self.program.library.read_text(node.path, self.module.source)
            reason = "looked for beside this file"
        except LibraryError as error:
            text, reason = None, error.reason
        if text is None:
            self.program.report(
                "E0211", f"there is no file `{node.path}`", node.span, label="not found", reason=reason
            )
        else:
            self.module.constants[id(node)] = text.removesuffix("\n")
        return False

    def _role(self, node: ast.Role) -> bool:
        function = self.function
        if node.tools:
            self._unavailable("E0912", "tools", node.keyword, "ask for a typed request and call the function")
        if node.role == "tool":
            self._unavailable("E0912", "the `tool` role", node.keyword, "put the text under `user:`")
        elif node.role not in ROLES:
            close = nearest(node.role, list(ROLES))
            self.program.report(
                "E0408", f"there is no role `{node.role}`", node.keyword, label="unknown role",
                hint=f"did you mean `{close}`?" if close else "roles are system, user and assistant",
            )  # fmt: skip
        if function.kind in ("pure", "test", "const"):
            self.program.report(
                "E0406", f"a role cannot stand in a {function.kind}", node.keyword, label="belongs to a conversation"
            )
        elif function.kind == "part":
            self.program.report(
                "E0408", "a part has no roles", node.keyword, label="its text joins the caller's message",
                hint="make it a `fn`, or take the role block to the caller",
            )  # fmt: skip
        elif function.role is not None:
            assert function.role_span is not None
            self.program.report(
                "E0408", "a role cannot stand inside another one", node.keyword, label="nested",
                secondary=(Label(function.role_span, f"inside this `{function.role}`"),),
            )  # fmt: skip
        outer = function.role, function.role_span
        function.role, function.role_span = node.role, node.keyword
        reached = self.body(node.body)
        function.role, function.role_span = outer
        return not reached

    # -- variables ---------------------------------------------------------------------------------

    def _let(self, node: ast.Let) -> bool:
        value = node.value
        declared: ExpressionType | None = None if node.type is None else self.resolve(node.type)
        hole = value if isinstance(value, ast.Gen | ast.Choose | ast.Select) else None
        origins, found = self._watched(lambda: self._initial(node, declared))
        if hole is not None:
            self.types[id(hole)] = found
        type = declared if declared is not None else found
        if declared is None:
            type = self._settled(node, found)
        kind = "var" if node.mutable else ("hole" if hole is not None else "let")
        local = self.bind(node, node.name, type, kind, hole=hole, origins=origins)
        if hole is not None:
            self.complete(hole, local)
        elif not node.mutable:
            known, constant = self.fold(value)
            if known:
                self.module.constants[id(value)] = constant
        return False

    def _initial(self, node: ast.Let, declared: ExpressionType | None) -> ExpressionType:
        value = node.value
        if isinstance(value, ast.Gen | ast.Choose | ast.Select):
            found = self.fill(value, node.name.text, node.name.text, node.name.span, END_OF_LINE)
            if declared is not None:
                self.fits(value, found, declared, f"`{node.name.text}`")
            return found
        if declared is not None:
            return self.expect(value, declared, f"`{node.name.text}`")
        return self.infer(value)

    def _watched(self, action: Callable[[], ExpressionType]) -> tuple[tuple[Local, ...], ExpressionType]:
        """Do something and tell from which holes the values that it read were made."""
        seen: set[Local] = set()
        self.function.mentioned.append(seen)
        found = action()
        self.function.mentioned.pop()
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
            self.program.report(
                "E0326", f"the type of `{label}` is not clear", node.value.span, label="an empty list",
                hint=f"write it down: `{'var' if node.mutable else 'let'} {label}: [T] = []`",
            )  # fmt: skip
            return UNKNOWN
        if found == NULL and node.mutable:
            self.program.report(
                "E0326", f"the type of `{label}` is not clear", node.value.span, label="null only",
                hint=f"write it down: `var {label}: T? = null`",
            )  # fmt: skip
            return UNKNOWN
        if isinstance(found, Never):
            return UNKNOWN
        return widen(found, self.table) if node.mutable else found

    def _assign(self, node: ast.Assign) -> bool:
        target = node.target
        root: ast.Expression = target
        while isinstance(root, ast.Attribute | ast.Index):
            root = root.value
        if not isinstance(root, ast.Reference):
            self.infer(node.value)
            self.program.report("E0339", "this cannot be assigned to", target.span, label="no variable")
            return False
        local = self.function.scope.find(root.name)
        if local is None:
            self.infer(node.value)
            self.infer(root)
            return False
        if local.kind != "var":
            kinds = {"let": "a `let`", "parameter": "a parameter", "loop": "a loop variable", "hole": "a hole"}
            self.program.report(
                "E0339", f"`{root.name}` does not change: it is {kinds.get(local.kind, 'bound once')}", target.span,
                label="assigned to", secondary=(Label(local.span, "bound here"),),
                hint=f"declare it with `var {root.name}`" if local.kind == "let" else "copy it into a `var`",
            )  # fmt: skip
        if self.function.forks and not self._bound_inside_fork(local):
            self.program.report(
                "E0340", f"`{root.name}` belongs to the code around the fork", target.span, label="assigned in a branch",
                reason="branches run side by side and share nothing",
                hint="`yield` the value instead",
            )  # fmt: skip
        local_used = local.used
        self.symbols[id(root)] = LocalSymbol(local.name, local.slot)
        if target is root:
            self.types[id(root)] = local.type
            due = local.type
        else:
            self.function.scope.forget(root.name)
            due = self.infer(target)
            local.used = local_used
            self._assignable_parts(target)
        self.function.scope.forget(root.name)
        origins, found = self._watched(lambda: self._assigned(node, due))
        local.origins = tuple(dict.fromkeys((*local.origins, *origins)))
        return False

    def _bound_inside_fork(self, local: Local) -> bool:
        scope = self.function.scope
        while scope is not None:
            if local.name in scope.names:
                return True
            if scope is self.function.forks[-1].scope:
                return False
            scope = scope.parent  # type: ignore[assignment]
        return False

    def _assignable_parts(self, target: ast.Expression) -> None:
        """Fields of records, places of lists and keys of maps can be set; nothing else can."""
        while isinstance(target, ast.Attribute | ast.Index):
            owner = expand(self.types.get(id(target.value), UNKNOWN), self.table)
            fine = isinstance(owner, Unknown)
            if isinstance(target, ast.Index):
                fine = fine or isinstance(owner, ListOf | MapOf | ListValue)
            elif isinstance(owner, Named):
                fine = fine or isinstance(self.table.get(owner.name), RecordType)
            if not fine:
                self.program.report(
                    "E0339", f"parts of {show(owner)} cannot be assigned to", target.span, label="does not change",
                    hint="`match` on it and make a new value" if isinstance(owner, Named) else "make a new value",
                )  # fmt: skip
                return
            target = target.value

    def _assigned(self, node: ast.Assign, due: ExpressionType) -> ExpressionType:
        if node.operator == "=":
            return self.expect(node.value, due, "the value")
        sign: Any = node.operator[0]
        found = self.infer(node.value, due)
        if isinstance(found, Unknown) or isinstance(due, Unknown):
            return found
        ranks = numeric_rank(due, self.table), numeric_rank(found, self.table)
        result: ExpressionType | None = None
        if ranks[0] is not None and ranks[1] is not None:
            rank = max(ranks[0], ranks[1])
            result = numeric(max(rank, 1) if sign == "/" else rank)
            if ranks[0] < (1 if sign == "/" else rank):
                self.mismatch(node.value.span, result, due, "the value")
                return found
        elif sign == "+":
            joined = join(due, found, self.table)
            if joined is not None and (
                item_of(due, self.table) is not None or widen(joined, self.table) == STR
            ):
                result = joined
        if result is None:
            self.program.report(
                "E0319", f"`{node.operator}` does not take {show(due)} and {show(found)}", node.span,
                label="these do not go together",
            )  # fmt: skip
        return found

    def _evaluate(self, node: ast.Evaluate) -> bool:
        value = node.value
        self.infer(value)
        if not isinstance(value, ast.Call | ast.OrElse | ast.Gen | ast.Choose | ast.Select | ast.Fork):
            self.program.report(
                "W0202", "this value is not used", value.span, label="has no effect",
                hint="bind it with `let`, or remove the line",
            )  # fmt: skip
        return False

    # -- control flow ------------------------------------------------------------------------------

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
        item = self.iterated(node.iterable)
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
                self.program.report("E0409", "a limit is at least 1", node.limit.span, label=f"this is {count}")
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
        forms = []
        reached = False
        costs, self.function.costs = self.function.costs, None
        for case in node.cases:
            self.open()
            form = self.pattern(case.pattern, type)
            if case.guard is not None:
                self.condition(case.guard)
                self.function.scope.narrowed.update(self.narrowings(case.guard, True))
            path = None
            if isinstance(node.subject, ast.Reference) and _excludes_null(forms, form):
                path = node.subject.name
            if path is not None:
                plain = expand(type, self.table)
                self.function.scope.narrowed.setdefault(path, self._not_null(plain))
            reached = self.body(case.body) or reached
            self.close()
            forms.append((case, form))
        self.function.costs = costs
        self.cover(node, type, forms)
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
                        "E0301", f"a value of {show(function.result)} must be returned", node.span, label="no value"
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
                    "E0301", "this function declares no result", node.value.span, label=f"this is {show(found)}",
                    hint=f"write `-> {show(found)}` in its header",
                )  # fmt: skip
            return True
        self.expect(node.value, function.result, "the result")
        return True

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
            caught.update(names)
            self.open()
            if handler.binding is not None:
                error = ErrorOf(names[0] if len(names) == 1 else None)
                self.bind(handler, handler.binding, error, "error")
            function.handlers += 1
            before = dict(function.raised)
            reached = self.body(handler.body) or reached
            if any(isinstance(s, ast.Raise) and s.error is None for s in handler.body):
                again = raised if not handler.errors else {n: raised[n] for n in names if n in raised}
                function.raised = {**before, **function.raised, **again}
            function.handlers -= 1
            self.close()
        function.costs = costs
        if not everything:
            for name, span in raised.items():
                if name not in caught:
                    function.raised.setdefault(name, span)
        return not reached

    # -- conditions with policies ------------------------------------------------------------------

    def _ensure(self, node: ast.Ensure) -> bool:
        function = self.function
        word = "ensure" if node.hard else "check"
        seen: set[Local] = set()
        function.mentioned.append(seen)
        if node.each is not None:
            name, iterable = node.each
            item = self.iterated(iterable)
            self.open()
            self.bind(node, name, item, "loop")
        self.condition(node.condition)
        function.mentioned.pop()
        known, value = self.fold(node.condition)
        if known and value is False:
            self.program.report("W0209", f"this `{word}` always fails", node.condition.span, label="always false")
        if node.message is not None:
            self.displayable(node.message, self.infer(node.message))
        if node.each is not None:
            self.close()
        if node.retry is not None:
            self._retry(node, node.retry, seen)
        if node.fallback is not None:
            if not node.hard:
                self.program.report(
                    "E0412", "a `check` does not fail", node.fallback.span, label="never raised",
                    hint="write `ensure` where the condition is needed",
                )  # fmt: skip
            self.raising(node.fallback)
        if node.hard:
            self.function.scope.narrowed.update(self.narrowings(node.condition, True))
        return False

    def _retry(self, node: ast.Ensure, retry: ast.Retry, seen: set[Local]) -> None:
        function = self.function
        if retry.strategy not in ("resample", "repair"):
            close = nearest(retry.strategy, ["resample", "repair"])
            self.program.report(
                "E0412", f"there is no retry `{retry.strategy}`", retry.span, label="unknown policy",
                hint=f"did you mean `{close}`?" if close else "there are `resample` and `repair`",
            )  # fmt: skip
        count = self.needed(retry.count, INT, "the number of retries")
        if count is not None and not 1 <= count <= MAX_ATTEMPTS:
            self.program.report(
                "E0412", f"retries are 1 to {MAX_ATTEMPTS}", retry.count.span, label=f"this is {count}"
            )
        if function.kind in ("pure", "test"):
            self.program.report(
                "E0412", "there is no hole to draw again here", retry.span, label="no model is asked"
            )
            return
        holes: dict[Local, None] = {}
        for local in seen:
            if local.hole is not None:
                holes[local] = None
            holes.update(dict.fromkeys(local.origins))
        near = [hole for hole in holes if function.boundary == hole.boundary]
        if not near:
            far = next(iter(holes), None)
            if far is not None:
                self.program.report(
                    "E0413", f"a retry from here cannot go back to hole `{far.name}`", retry.span,
                    label="a loop, fork or try lies between",
                    secondary=(Label(far.span, "the hole"),),
                    hint="move the condition into the block of the hole, or the hole into this one",
                )  # fmt: skip
            else:
                self.program.report(
                    "E0413", "the condition speaks of no hole", retry.span, label="nothing to draw again",
                    hint="mention the hole whose value the condition is about",
                )  # fmt: skip
            return
        latest = max(near, key=lambda hole: hole.span.start)
        assert latest.hole is not None
        self.module.retries[id(node)] = latest.hole
        if retry.strategy == "repair" and not function.has_roles:
            self.program.report(
                "E0412", "`repair` needs roles", retry.span, label="no conversation to repair in",
                reason="the rejected value and the reason are shown to the model as an extra turn",
                hint="use `resample`, or write the prompt under roles",
            )  # fmt: skip

    # -- forks -------------------------------------------------------------------------------------

    def fork(self, node: ast.Fork) -> ExpressionType:
        function = self.function
        if function.kind in ("pure", "test", "const"):
            self.program.report(
                "E0404", f"a fork cannot stand in a {function.kind}", node.span, label="asks a model"
            )
        item = self.iterated(node.iterable)
        self.open()
        self.bind(node, node.variable, item, "loop")
        for option in node.options:
            if option.kind != "seed":
                self.program.report(
                    "E0330", f"a fork takes `seed`, not `{option.kind}`", option.span, label="not an option of forks"
                )
                continue
            found = self.infer(option.value)
            if not isinstance(found, Unknown) and numeric_rank(found, self.table) != 0:
                self.program.report(
                    "E0330", f"`seed` is an integer, not {show(found)}", option.value.span,
                    label=f"this is {show(found)}",
                )  # fmt: skip
        self.open()
        frame = ForkFrame(scope=function.scope)
        function.forks.append(frame)
        loops, function.loops = function.loops, 0
        costs, function.costs = function.costs, None
        self.bounded(node, lambda: self.body(node.body))
        function.costs = costs
        function.loops = loops
        function.forks.pop()
        self.close()
        self.close()
        value: ExpressionType = NULL if not frame.yields else NEVER
        for found, span in frame.yields:
            whole = join(value, found, self.table)
            if whole is None:
                self.program.report(
                    "E0313", f"branches yield one type, here {show(value)} and {show(found)}", span, label="another type"
                )
                whole = UNKNOWN
            value = whole
        return ListValue(BranchOf(value, tuple(frame.holes)))

    def _yield(self, node: ast.Yield) -> bool:
        found = self.infer(node.value)
        if not self.function.forks:
            self.program.report(
                "E0414", "`yield` stands outside any fork", node.span, label="no branch to give a value",
                hint="write `return`",
            )  # fmt: skip
            return True
        if not isinstance(found, Unknown):
            self.displayable(node.value, found)
        self.function.forks[-1].yields.append((found, node.span))
        return True

    def _adopt(self, node: ast.Adopt) -> bool:
        found = self.infer(node.value)
        if not isinstance(found, BranchOf | Unknown):
            self.program.report(
                "E0414", f"`adopt` takes a branch of a fork, not {show(found)}", node.value.span,
                label=f"this is {show(found)}",
                hint="pick one: `adopt ideas.max(by = value)`" if item_of(found, self.table) is not None else "",
            )  # fmt: skip
        elif self.function.role is not None:
            pass
        return False

    # -- parts -------------------------------------------------------------------------------------

    def _part(self, node: ast.Part) -> bool:
        function = self.function
        if node.kind == "aside":
            for argument in node.call.arguments:
                self.infer(argument.value)
            self._unavailable("E0907", "`aside`", node.span, "call a `fn`, which has its own conversation")
            if node.binding is not None:
                self.bind(node, node.binding, UNKNOWN, "let", used=True)
            return False
        if function.kind in ("pure", "test", "const"):
            self.program.report(
                "E0406", f"a part cannot be used in a {function.kind}", node.span, label="writes text"
            )
        elif function.role is None and function.has_roles and function.kind == "fn":
            self.program.report(
                "E0407", "this text belongs to no message", node.span, label="outside the roles",
                hint="move it under a role",
            )  # fmt: skip
        found: ExpressionType = UNKNOWN
        callee = node.call.function
        if isinstance(callee, ast.Reference):
            entity = self.look_up(callee.name)
            signature = None
            if entity is not None and entity.kind == "function":
                entity.used = True
                signature = self.program.signatures.get(entity.name)
            if signature is None:
                found = self.infer(node.call)
                if entity is None or entity.kind != "broken":
                    if not isinstance(found, Unknown):
                        self.program.report(
                            "E0401", f"`{callee.name}` is no part", node.call.span, label="called like a part"
                        )
            else:
                found = self.call_function(node.call, callee, signature, as_part=True)
                self.types[id(node.call)] = found
                self._part_holes(node, callee.name, signature)
        else:
            self.infer(node.call)
            self.program.report("E0401", "`part` takes the name of a part", node.call.span, label="no part")
        if node.binding is not None:
            self.bind(node, node.binding, found, "let")
        return False

    def _part_holes(self, node: ast.Part, name: str, signature: Any) -> None:
        """A part with holes can be used only where a hole can stand."""
        role = self.function.role
        if role is None or role == "assistant" or signature.kind != "part":
            return
        if self.has_holes(signature, set()):
            assert self.function.role_span is not None
            self.program.report(
                "E0405", f"part `{name}` has holes and cannot stand under `{role}`", node.span,
                label="only the assistant's text is generated",
                secondary=(Label(self.function.role_span, f"inside this `{role}`"),),
            )  # fmt: skip

    def has_holes(self, signature: Any, seen: set[str]) -> bool:
        """Whether the text of a part is in part generated."""
        raise KeyError(signature.name)

    # -- what does not run yet ---------------------------------------------------------------------

    def _forget(self, node: ast.Forget) -> bool:
        self._unavailable("E0908", "`forget`", node.span, "call a `fn`, which has its own conversation")
        return not self.block(node.body)

    def _think(self, node: ast.Think) -> bool:
        for option in node.options:
            self.infer(option.value)
        self._unavailable("E0909", "`think`", node.span, "write a hole: `?{thought: str max 300 chars}`")
        return False

    def _parallel(self, node: ast.Parallel) -> bool:
        self._unavailable("E0910", "`par`", node.span, "write the statements one after the other")
        return not self.body(node.body)

    def _using(self, node: ast.Using) -> bool:
        self._unavailable("E0911", "`using`", node.span, "choose the model with `--model`")
        return not self.body(node.body)

    def _stream(self, node: ast.StreamFor) -> bool:
        self.infer(node.call)
        self._unavailable("E0913", "`stream` in programs", node.span, "call the function and use its result")
        self.open()
        self.bind(node, node.variable, UNKNOWN, "loop", used=True)
        self._loop(node, node.body)
        self.close()
        return False

    def _golden(self, node: ast.Golden | ast.Replay) -> bool:
        if isinstance(node, ast.Golden):
            self.infer(node.call)
        word = "golden" if isinstance(node, ast.Golden) else "replay"
        self._unavailable("E0916", f"`{word}` in tests", node.span, "write `mock` and `expect`")
        return False

    # -- tests -------------------------------------------------------------------------------------

    def _only_in_tests(self, word: str, span: Span) -> None:
        if self.function.kind != "test":
            self.program.report(
                "E0415", f"`{word}` stands outside any test", span, label="belongs to `test` blocks"
            )

    def _mock(self, node: ast.Mock) -> bool:
        self._only_in_tests("mock", node.span)
        entity = self.look_up(node.function.text)
        if entity is None or entity.kind != "function":
            self.infer(node.value)
            if entity is None or entity.kind != "broken":
                pool = [n for n, e in self.module.names.items() if e.kind == "function"]
                close = nearest(node.function.text, pool)
                self.program.report(
                    "E0201", f"there is no function `{node.function.text}`", node.function.span, label="unknown name",
                    hint=f"did you mean `{close}`?" if close else "",
                )  # fmt: skip
            return False
        entity.used = True
        signature = self.program.signatures[entity.name]
        self.symbols[id(node)] = self.symbols[id(node.function)] = FunctionSymbol(entity.name)
        facts = signature.holes.get(node.hole.text)
        if facts is None:
            self.infer(node.value)
            close = nearest(node.hole.text, list(signature.holes))
            listing = ", ".join(f"`{hole}`" for hole in signature.holes) or "none"
            self.program.report(
                "E0212", f"`{node.function.text}` has no hole `{node.hole.text}`", node.hole.span, label="unknown hole",
                hint=f"did you mean `{close}`?" if close else f"its holes: {listing}",
            )  # fmt: skip
            return False
        if facts.type is None:
            self.infer(node.value)
            return False
        before = len(self.program.diagnostics)
        self.infer(node.value, facts.type)
        quiet = len(self.program.diagnostics) > before
        found, value = self.fold(node.value)
        what = f"the value of hole `{node.hole.text}`"
        if not found:
            self.fits(node.value, self.types[id(node.value)], facts.type, what, quiet)
            return False
        if quiet:
            return False
        reason = self.not_a_member(value, facts.type)
        if reason is not None:
            self.program.report(
                "E0302", f"hole `{node.hole.text}` can never have this value", node.value.span,
                label=f"no value of {show(facts.type)}", reason=reason,
            )  # fmt: skip
            return False
        self.module.constants[id(node.value)] = self.convert(value, facts.type)
        return False

    def _fuzz(self, node: ast.Fuzz) -> bool:
        self._only_in_tests("fuzz", node.span)
        result = self.infer(node.call)
        count = self.needed(node.times, INT, "the number of rounds")
        if count is not None and count < 1:
            self.program.report("E0412", "rounds are at least 1", node.times.span, label=f"this is {count}")
        self.open()
        it = ast.Name("it", node.call.span)
        self.bind(node, it, result, "it", used=True)
        self.body(node.body)
        self.close()
        return False

    def _expect(self, node: ast.Expect) -> bool:
        self._only_in_tests("expect", node.span)
        self.condition(node.condition)
        return False

    def _expect_raises(self, node: ast.ExpectRaises) -> bool:
        self._only_in_tests("expect", node.span)
        outer, self.function.raised = self.function.raised, {}
        self.infer(node.call)
        self.function.raised = outer
        found = self.error_named(node.error)
        if found is not None:
            self.symbols[id(node)] = self.symbols[id(node.error)] = ErrorSymbol(found)
        return False


def _follow(parts: Sequence[ast.TextPart]) -> Follow:
    """What stands after a hole on its line."""
    if not parts:
        return END_OF_LINE
    first = parts[0]
    if isinstance(first, ast.Text) and first.text:
        return Follow(first.text, first.span)
    return Follow(open=True)


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


def _excludes_null(before: Sequence[tuple[ast.Case, Any]], form: Any) -> bool:
    """Whether an earlier case took null, or this form cannot match it."""
    from sglc.check.exhaustive import Shape
    from sglc.check.exhaustive import Span as NumberSpan

    for case, earlier in before:
        if case.guard is None and isinstance(earlier, Shape) and earlier.key is None:
            return True
    return isinstance(form, NumberSpan) or (isinstance(form, Shape) and form.key is not None)


_METHODS: dict[type, Any] = {
    ast.Include: Statements._include,
    ast.Role: Statements._role,
    ast.Let: Statements._let,
    ast.Assign: Statements._assign,
    ast.Evaluate: Statements._evaluate,
    ast.If: Statements._if,
    ast.For: Statements._for,
    ast.While: Statements._while,
    ast.Match: Statements._match,
    ast.Return: Statements._return,
    ast.Break: Statements._break,
    ast.Continue: Statements._break,
    ast.Raise: Statements._raise_statement,
    ast.Try: Statements._try,
    ast.Ensure: Statements._ensure,
    ast.Yield: Statements._yield,
    ast.Adopt: Statements._adopt,
    ast.Part: Statements._part,
    ast.Forget: Statements._forget,
    ast.Think: Statements._think,
    ast.Parallel: Statements._parallel,
    ast.Using: Statements._using,
    ast.StreamFor: Statements._stream,
    ast.Mock: Statements._mock,
    ast.Fuzz: Statements._fuzz,
    ast.Expect: Statements._expect,
    ast.ExpectRaises: Statements._expect_raises,
    ast.Golden: Statements._golden,
    ast.Replay: Statements._golden,
}
