"""Statements to blocks."""

from __future__ import annotations

from typing import Any

from sglc.check.core.result import FunctionSymbol
from sglc.ir import ops, terminators
from sglc.lower.context import Surrounding
from sglc.lower.expressions import Operand
from sglc.lower.holes import Holes
from sglc.lower.witnesses import shown_text, witnesses
from sglc.syntax import ast


class Statements(Holes):
    def body(self, statements: tuple[ast.Statement, ...]) -> None:
        """Statements in turn; what control cannot reach is left out."""
        for statement in statements:
            if not self.build.open:
                return
            _LOWER[type(statement)](self, statement)

    def inside(self, surrounding: Surrounding, statements: tuple[ast.Statement, ...]) -> None:
        self.surroundings.append(surrounding)
        self.body(statements)
        self.surroundings.pop()

    # -- text --------------------------------------------------------------------------------------

    def _include(self, node: ast.Include) -> None:
        text: Any = self.checked.constants[id(node)]
        self.build.add(ops.Line(node.span))
        self.build.add(ops.Text(text, node.span))

    def _role(self, node: ast.Role) -> None:
        self.build.add(ops.OpenRole(node.role, node.keyword))
        self.inside(Surrounding("role"), node.body)
        self.build.add(ops.CloseRole(node.span))

    def _part(self, node: ast.Part) -> None:
        symbol: Any = self.checked.symbols[id(node.call)]
        arguments = self.values(self.checked.arguments[id(node.call)], node.span)
        value = self.build.value(ops.CallPart, symbol.name, arguments, span=node.span)
        if node.binding is not None:
            self.build.store(self.slot_of(node), value, node.span)

    # -- variables ---------------------------------------------------------------------------------

    def _let(self, node: ast.Let) -> None:
        self.build.store(self.slot_of(node), self.value(node.value), node.span)

    def _assign(self, node: ast.Assign) -> None:
        """`a.b[i] = e`: the parts on the way are changed in copies, from the inside out."""
        build = self.build
        path: list[tuple[str, str]] = []
        """Field names, and slots of index values, from the outside in."""
        steps: list[ast.Attribute | ast.Index] = []
        root: ast.Expression = node.target
        while isinstance(root, ast.Attribute | ast.Index):
            steps.append(root)
            root = root.value
        for step in reversed(steps):
            if isinstance(step, ast.Attribute):
                path.append(("field", step.name.text))
            else:
                slot = build.fresh_slot("index")
                build.store(slot, self.value(step.index), step.span)
                path.append(("item", slot))
        variable = self.slot_of(root)
        new = build.fresh_slot("new")
        if node.operator == "=":
            value = self.value(node.value)
        else:
            # The old value is read first, as it stands first.
            if self.splits(node.value):
                build.store(new, self._read(variable, path, node), node.span)
                right = self.value(node.value)
                kept = build.fresh_slot("operand")
                build.store(kept, right)
                left, right = build.load(new), build.load(kept)
            else:
                left = self._read(variable, path, node)
                right = self.value(node.value)
            value = build.value(ops.Binary, node.operator[0], left, right, span=node.span)
            due = self.checked.coercions.get(id(node))
            if due is not None:
                value = build.value(ops.CheckType, value, due, span=node.span)
        if not path:
            build.store(variable, value, node.span)
            return
        build.store(new, value, node.span)
        for depth in range(len(path) - 1, -1, -1):
            owner = self._read(variable, path[:depth], node)
            kind, name = path[depth]
            if kind == "field":
                changed = build.value(ops.WithField, owner, build.load(new), name, span=node.span)
            else:
                changed = build.value(ops.WithItem, owner, build.load(name), build.load(new), span=node.span)
            build.store(new if depth else variable, changed, node.span)

    def _read(self, variable: str, path: list[tuple[str, str]], node: ast.Assign) -> int:
        value = self.build.load(variable, node.span)
        for kind, name in path:
            if kind == "field":
                value = self.build.value(ops.GetField, value, name, span=node.span)
            else:
                value = self.build.value(ops.GetItem, value, self.build.load(name), span=node.span)
        return value

    def _evaluate(self, node: ast.Evaluate) -> None:
        self.value(node.value)

    # -- control flow ------------------------------------------------------------------------------

    def _if(self, node: ast.If) -> None:
        build = self.build
        done = build.fresh_label("done")
        for condition, statements in node.branches:
            then, following = build.fresh_label("then"), build.fresh_label("else")
            self.condition(condition, then, following)
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
        build.store(iterator, build.value(ops.Iterate, self.value(node.iterable), span=node.iterable.span))
        each, body, done = (build.fresh_label(stem) for stem in ("each", "body", "done"))
        build.start(each)
        build.end(terminators.Next(iterator, self.slot_of(node), body, done, node.variable.span))
        build.start(body)
        self.inside(Surrounding("loop", done, each), node.body)
        build.end(terminators.Jump(each))
        build.start(done)

    def _while(self, node: ast.While) -> None:
        build = self.build
        left = build.fresh_slot("rounds")
        if node.limit is not None:
            build.store(left, self.value(node.limit), node.limit.span)
        again, body, done = (build.fresh_label(stem) for stem in ("while", "body", "done"))
        build.start(again)
        self.condition(node.condition, body, done)
        build.start(body)
        if node.limit is not None:
            text = f"`while {node.condition.span.text}`"
            count = build.value(ops.Limit, build.load(left), text, span=node.condition.span)
            build.store(left, count, node.span)
        self.inside(Surrounding("loop", done, again), node.body)
        build.end(terminators.Jump(again))
        build.start(done)

    def _return(self, node: ast.Return) -> None:
        build = self.build
        value = build.const(None, node.span) if node.value is None else self.value(node.value)
        self.leave("function")
        build.end(terminators.Return(value, node.span))

    def _break(self, node: ast.Break) -> None:
        loop = self.leave("loop")
        assert loop is not None
        self.build.end(terminators.Jump(loop.done, node.span))

    def _continue(self, node: ast.Continue) -> None:
        loop = self.leave("loop")
        assert loop is not None
        self.build.end(terminators.Jump(loop.again, node.span))

    def _raise(self, node: ast.Raise) -> None:
        self.raising(node)

    def _try(self, node: ast.Try) -> None:
        build = self.build
        body, failed, done = (build.fresh_label(stem) for stem in ("try", "failed", "done"))
        build.end(terminators.Try(body, failed, node.span))
        build.start(body)
        self.inside(Surrounding("try"), node.body)
        build.add(ops.EndTry())
        build.end(terminators.Jump(done))
        build.start(failed)
        for handler in node.handlers:
            arm, following = build.fresh_label("except"), build.fresh_label("failed")
            for name in handler.errors:
                symbol: Any = self.checked.symbols[id(name)]
                other = build.fresh_label("failed")
                caught = build.value(ops.Catch, symbol.name, span=name.span)
                build.end(terminators.Branch(caught, arm, other, name.span))
                build.start(other)
            build.end(terminators.Jump(following if handler.errors else arm))
            build.start(arm)
            if handler.binding is not None:
                error = build.value(ops.HandledError, span=handler.binding.span)
                build.store(self.slot_of(handler), error, handler.binding.span)
            # The body may catch other errors; a bare `raise` in it is of this one.
            self.caught.append(build.fresh_slot("caught"))
            build.store(self.caught[-1], build.value(ops.HandledError), node.span)
            self.body(handler.body)
            self.caught.pop()
            build.end(terminators.Jump(done))
            build.join(following)
        build.end(terminators.Reraise(build.value(ops.HandledError), node.span))
        build.join(done)

    # -- conditions with policies ------------------------------------------------------------------

    def _ensure(self, node: ast.Ensure) -> None:
        build = self.build
        if node.each is None:
            self._one_condition(node)
            return
        iterator = build.fresh_slot("iterator")
        _, items = node.each
        build.store(iterator, build.value(ops.Iterate, self.value(items), span=items.span))
        each, body, done = (build.fresh_label(stem) for stem in ("each", "body", "done"))
        build.start(each)
        build.end(terminators.Next(iterator, self.slot_of(node), body, done, node.span))
        build.start(body)
        self._one_condition(node)
        build.end(terminators.Jump(each))
        build.start(done)

    def _one_condition(self, node: ast.Ensure) -> None:
        build, span = self.build, node.condition.span
        holds, fails = build.fresh_label("holds"), build.fresh_label("fails")
        done = holds if node.hard else build.fresh_label("done")
        self.condition(node.condition, holds, fails)
        build.start(fails)
        reason = build.fresh_slot("reason")
        if node.message is not None:
            build.store(reason, self.value(node.message), span)
        else:
            build.store(reason, build.const(f"`{span.text}` does not hold", span), span)
        retry = self.policy(node)
        if retry is not None:
            build.add(ops.TryAgain(retry, build.load(reason, span), node.span))
        if not node.hard:
            build.add(ops.RecordCheck(False, build.load(reason, span), node.span))
            build.end(terminators.Jump(done))
            build.start(holds)
            build.add(ops.RecordCheck(True, build.const(None, span), node.span))
        elif node.fallback is not None:
            self.raising(node.fallback)
        else:
            build.end(terminators.RaiseError("Rejected", (build.load(reason, span),), node.span))
        build.start(done)

    # -- forks -------------------------------------------------------------------------------------

    def _yield(self, node: ast.Yield) -> None:
        value = self.value(node.value)
        self.leave("function")
        self.build.end(terminators.Return(value, node.span))

    def _adopt(self, node: ast.Adopt) -> None:
        self.build.add(ops.AdoptBranch(self.value(node.value), node.span))

    # -- tests -------------------------------------------------------------------------------------

    def _mock(self, node: ast.Mock) -> None:
        symbol: Any = self.checked.symbols[id(node)]
        assert isinstance(symbol, FunctionSymbol)
        value = self.value(node.value)
        self.build.add(ops.MockHole(f"{symbol.name}.{node.hole.text}", value, node.always, node.span))

    def _fuzz(self, node: ast.Fuzz) -> None:
        build = self.build
        iterator, number = build.fresh_slot("iterator"), build.fresh_slot("round")
        rounds: Operand = node.times
        build.add(ops.SetFuzz(True, node.span))
        span = build.value(ops.MakeRange, build.const(0), self.values((rounds,), node.span)[0], False)
        build.store(iterator, build.value(ops.Iterate, span, span=node.times.span))
        each, body, done = (build.fresh_label(stem) for stem in ("each", "body", "done"))
        build.start(each)
        build.end(terminators.Next(iterator, number, body, done, node.span))
        build.start(body)
        build.store(self.slot_of(node), self.value(node.call), node.span)
        self.inside(Surrounding("loop", done, each), node.body)
        build.end(terminators.Jump(each))
        build.start(done)
        build.add(ops.SetFuzz(False, node.span))

    def _expect(self, node: ast.Expect) -> None:
        self.witnesses = {id(part): shown_text(part.span) for part in witnesses(node.condition)}
        value = self.value(node.condition)
        self.witnesses = {}
        self.build.add(ops.ExpectTrue(value, node.span))

    def _expect_raises(self, node: ast.ExpectRaises) -> None:
        build = self.build
        symbol: Any = self.checked.symbols[id(node)]
        body, failed, came, other, done = (
            build.fresh_label(stem) for stem in ("try", "failed", "came", "other", "done")
        )
        build.end(terminators.Try(body, failed, node.span))
        build.start(body)
        self.value(node.call)
        build.add(ops.EndTry())
        build.add(ops.ExpectError(symbol.name, True, node.span))
        build.end(terminators.Jump(done))
        build.start(failed)
        build.end(
            terminators.Branch(build.value(ops.Catch, symbol.name, span=node.span), came, other, node.span)
        )
        build.start(other)
        build.end(terminators.Reraise(build.value(ops.HandledError), node.span))
        build.start(came)
        build.add(ops.ExpectError(symbol.name, False, node.span))
        build.start(done)


_LOWER: dict[type, Any] = {
    ast.PipeLine: Statements.pipe,
    ast.Include: Statements._include,
    ast.Role: Statements._role,
    ast.Let: Statements._let,
    ast.Assign: Statements._assign,
    ast.Evaluate: Statements._evaluate,
    ast.If: Statements._if,
    ast.For: Statements._for,
    ast.While: Statements._while,
    ast.Match: Statements.match,
    ast.Return: Statements._return,
    ast.Break: Statements._break,
    ast.Continue: Statements._continue,
    ast.Raise: Statements._raise,
    ast.Try: Statements._try,
    ast.Ensure: Statements._ensure,
    ast.Yield: Statements._yield,
    ast.Adopt: Statements._adopt,
    ast.Part: Statements._part,
    ast.Mock: Statements._mock,
    ast.Fuzz: Statements._fuzz,
    ast.Expect: Statements._expect,
    ast.ExpectRaises: Statements._expect_raises,
}
