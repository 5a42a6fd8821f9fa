"""Statements to blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sglc.check.core.result import LocalSymbol
from sglc.format.quoted import quoted
from sglc.ir import ops, terminators
from sglc.lower.assignments import Assignments
from sglc.lower.conditions import Conditions
from sglc.lower.context import Context, Surrounding
from sglc.lower.dependents import Dependents
from sglc.lower.expressions import Expressions
from sglc.lower.holes import Holes
from sglc.lower.patterns import Patterns
from sglc.lower.tests import Tests
from sglc.lower.tools import Tools
from sglc.syntax.tree import ast


class Statements:
    """Lowers the statements of one function."""

    def __init__(
        self,
        context: Context,
        expressions: Expressions,
        conditions: Conditions,
        holes: Holes,
        dependents: Dependents,
    ) -> None:
        self.context = context
        self.checked = context.checked
        self.build = context.build
        self.expressions = expressions
        self.conditions = conditions
        self.holes = holes
        self.dependents = dependents
        self.assignments = Assignments(context, expressions, dependents)
        self.patterns = Patterns(context)
        self.tests = Tests(context, expressions, self.inside)
        self.tools = Tools(context)

    def body(self, statements: tuple[ast.Statement, ...]) -> None:
        """Statements in turn; what control cannot reach is left out."""
        for statement in statements:
            if not self.build.open:
                return
            _LOWER[type(statement)](self, statement)

    def inside(self, surrounding: Surrounding, statements: tuple[ast.Statement, ...]) -> None:
        """Statements with something around them that a `return` or an error has to leave."""
        self.context.surroundings.append(surrounding)
        self.body(statements)
        self.context.surroundings.pop()

    # -- text --------------------------------------------------------------------------------------

    def _pipe(self, node: ast.PipeLine) -> None:
        """One pipe line: a newline if one is due, then its parts."""
        build = self.build
        build.add(ops.Line(node.span))
        for part in node.parts:
            match part:
                case ast.Text(text=text, span=span):
                    build.add(ops.Text(text, span))
                case ast.Insert(value=value, span=span):
                    build.add(ops.Insert(self.expressions.value(value), span))
                case ast.Hole(content=content, span=span):
                    build.store(self.context.slot_of(content), self.holes.value(content), span)
        if node.glued:
            build.add(ops.Glue(node.span))

    def _think(self, node: ast.Think) -> None:
        self.build.add(ops.Line(node.span))
        self.holes.value(node.content)

    def _include(self, node: ast.Include) -> None:
        self.build.add(ops.Line(node.span))
        self.build.add(ops.Text(self.checked.text_of(node), node.span))

    def _role(self, node: ast.Role) -> None:
        if node.tools:
            self.tools.rounds(node)
        self.build.add(ops.OpenRole(node.role, node.keyword))
        self.inside(Surrounding("role"), node.body)
        self.build.add(ops.CloseRole(node.span))

    def _part(self, node: ast.Part) -> None:
        name = self.checked.name_of(node.call)
        arguments = self.expressions.values(self.checked.arguments[id(node.call)], node.span)
        if node.kind == "aside":
            self.build.add(ops.Mark(node.span))
        value = self.build.value(ops.CallPart, name, arguments, span=node.span)
        if node.kind == "aside":
            self.build.add(ops.Forget(node.span))
        if node.binding is not None:
            self.build.store(self.context.slot_of(node), value, node.span)

    def _forget(self, node: ast.Forget) -> None:
        self.build.add(ops.Mark(node.span))
        self.inside(Surrounding("forget"), node.body)
        self.build.add(ops.Forget(node.span))

    # -- variables ---------------------------------------------------------------------------------

    def _let(self, node: ast.Let) -> None:
        due = self.checked.dependents.get(id(node.type))
        if due is not None and id(node) not in self.checked.held:
            self.dependents.variable(node, due)
            return
        self.build.store(self.context.slot_of(node), self.expressions.value(node.value), node.span)

    def _evaluate(self, node: ast.Evaluate) -> None:
        self.expressions.value(node.value)

    # -- control flow ------------------------------------------------------------------------------

    def _if(self, node: ast.If) -> None:
        build = self.build
        done = build.fresh_label("done")
        for condition, statements in node.branches:
            then, following = build.fresh_label("then"), build.fresh_label("else")
            self.expressions.condition(condition, then, following)
            build.start(then)
            self.body(statements)
            build.end(terminators.Jump(done))
            build.start(following)
        self.body(node.otherwise)
        build.end(terminators.Jump(done))
        build.join(done)

    def _for(self, node: ast.For) -> None:
        build = self.build
        iterator = build.fresh_slot("iterator")
        build.store(
            iterator, build.value(ops.Iterate, self.expressions.value(node.iterable), span=node.iterable.span)
        )
        each, body, done = (build.fresh_label(stem) for stem in ("each", "body", "done"))
        build.start(each)
        build.end(terminators.Next(iterator, self.context.slot_of(node), body, done, node.variable.span))
        build.start(body)
        self.inside(Surrounding("loop", done, each), node.body)
        build.end(terminators.Jump(each))
        build.start(done)

    def _stream(self, node: ast.StreamFor) -> None:
        """A loop that reads what is there of a result. However it is left, the stream is closed."""
        build = self.build
        name, hole = self.checked.name_of(node.call), self.checked.text_of(node)
        arguments = self.expressions.values(self.checked.arguments[id(node.call)], node.call.span)
        build.add(ops.OpenStream(name, arguments, node.call.span))
        self.context.surroundings.append(Surrounding("stream"))
        each, body, done = (build.fresh_label(stem) for stem in ("each", "body", "done"))
        build.start(each)
        more = build.value(ops.NextPart, hole, span=node.call.span)
        build.end(terminators.Branch(more, body, done, node.variable.span))
        build.start(body)
        part = build.value(ops.GetPart, self.checked.resolved[id(node)], span=node.variable.span)
        build.store(self.context.slot_of(node), part, node.variable.span)
        self.inside(Surrounding("loop", done, each), node.body)
        build.end(terminators.Jump(each))
        build.start(done)
        self.context.surroundings.pop()
        whole = build.value(ops.CloseStream, span=node.call.span)
        if node.whole is not None:
            build.store(self.context.slot_of(node.whole), whole, node.whole.span)

    def _while(self, node: ast.While) -> None:
        build = self.build
        left = build.fresh_slot("rounds")
        if node.limit is not None:
            build.store(left, self.expressions.value(node.limit), node.limit.span)
        again, body, done = (build.fresh_label(stem) for stem in ("while", "body", "done"))
        build.start(again)
        self.expressions.condition(node.condition, body, done)
        build.start(body)
        if node.limit is not None:
            text = f"`while {quoted(node.condition.span)}`"
            count = build.value(ops.Limit, build.load(left), text, span=node.condition.span)
            build.store(left, count, node.span)
        self.inside(Surrounding("loop", done, again), node.body)
        build.end(terminators.Jump(again))
        build.start(done)

    def _match(self, node: ast.Match) -> None:
        """Each case becomes a chain of tests that falls through to the next case."""
        build = self.build
        known = self.checked.types.get(id(node.subject))
        symbol = self.checked.symbols.get(id(node.subject))
        if isinstance(symbol, LocalSymbol) and id(node.subject) not in self.checked.coercions:
            subject = symbol.slot
        else:
            subject = build.fresh_slot("subject")
            build.store(subject, self.expressions.value(node.subject))
        done = build.fresh_label("matched")
        for case in node.cases:
            following = build.fresh_label("case")
            self.patterns.test(case.pattern, subject, known, following)
            if case.guard is not None:
                guarded = build.fresh_label("guarded")
                self.expressions.condition(case.guard, guarded, following)
                build.start(guarded)
            self.body(case.body)
            build.end(terminators.Jump(done))
            build.join(following)
        # The cases are exhaustive; only a value from a damaged file could get here.
        message = build.const("no case matches this value", node.span)
        build.end(terminators.RaiseError("Failure", (message,), node.span))
        build.join(done)

    def _return(self, node: ast.Return) -> None:
        build = self.build
        due = self.context.result
        if node.value is None:
            value = build.const(None, node.span)
        elif due is not None and id(node) not in self.checked.held:
            value = self.dependents.value(node.value, due, node.value.span)
        else:
            value = self.expressions.value(node.value)
        self.context.leave("function")
        build.end(terminators.Return(value, node.span))

    def _break(self, node: ast.Break) -> None:
        loop = self.context.leave("loop")
        assert loop is not None
        self.build.end(terminators.Jump(loop.done, node.span))

    def _continue(self, node: ast.Continue) -> None:
        loop = self.context.leave("loop")
        assert loop is not None
        self.build.end(terminators.Jump(loop.again, node.span))

    def _raise(self, node: ast.Raise) -> None:
        self.expressions.raising(node)

    def _try(self, node: ast.Try) -> None:
        build = self.build
        body, failed, done = (build.fresh_label(stem) for stem in ("try", "failed", "done"))
        build.end(terminators.Try(body, failed, False, node.span))
        build.start(body)
        self.inside(Surrounding("try"), node.body)
        build.add(ops.EndTry())
        build.end(terminators.Jump(done))
        build.start(failed)
        for handler in node.handlers:
            arm, following = build.fresh_label("except"), build.fresh_label("failed")
            for name in handler.errors:
                other = build.fresh_label("failed")
                caught = build.value(ops.Catch, self.checked.name_of(name), span=name.span)
                build.end(terminators.Branch(caught, arm, other, name.span))
                build.start(other)
            build.end(terminators.Jump(following if handler.errors else arm))
            build.start(arm)
            if handler.binding is not None:
                error = build.value(ops.HandledError, span=handler.binding.span)
                build.store(self.context.slot_of(handler), error, handler.binding.span)
            # The body may catch other errors; a bare `raise` in it is of this one.
            self.context.caught.append(build.fresh_slot("caught"))
            build.store(self.context.caught[-1], build.value(ops.HandledError), node.span)
            self.body(handler.body)
            self.context.caught.pop()
            build.end(terminators.Jump(done))
            build.join(following)
        build.end(terminators.Reraise(build.value(ops.HandledError), node.span))
        build.join(done)

    # -- forks -------------------------------------------------------------------------------------

    def _yield(self, node: ast.Yield) -> None:
        value = self.expressions.value(node.value)
        self.context.leave("function")
        self.build.end(terminators.Return(value, node.span))

    def _adopt(self, node: ast.Adopt) -> None:
        self.build.add(ops.AdoptBranch(self.expressions.value(node.value), node.span))


_LOWER: dict[type, Callable[[Statements, Any], None]] = {
    ast.PipeLine: Statements._pipe,
    ast.Include: Statements._include,
    ast.Role: Statements._role,
    ast.Using: lambda self, node: self.body(node.body),
    ast.Parallel: lambda self, node: self.body(node.body),
    ast.Let: Statements._let,
    ast.Assign: lambda self, node: self.assignments.assign(node),
    ast.Evaluate: Statements._evaluate,
    ast.If: Statements._if,
    ast.For: Statements._for,
    ast.StreamFor: Statements._stream,
    ast.While: Statements._while,
    ast.Match: Statements._match,
    ast.Return: Statements._return,
    ast.Break: Statements._break,
    ast.Continue: Statements._continue,
    ast.Raise: Statements._raise,
    ast.Try: Statements._try,
    ast.Ensure: lambda self, node: self.conditions.ensure(node),
    ast.Yield: Statements._yield,
    ast.Adopt: Statements._adopt,
    ast.Part: Statements._part,
    ast.Forget: Statements._forget,
    ast.Think: Statements._think,
    ast.Mock: lambda self, node: self.tests.mock(node),
    ast.Fuzz: lambda self, node: self.tests.fuzz(node),
    ast.Golden: lambda self, node: self.tests.golden(node),
    ast.Replay: lambda self, node: self.tests.replay(node),
    ast.Expect: lambda self, node: self.tests.expect(node),
    ast.ExpectRaises: lambda self, node: self.tests.expect_raises(node),
}
