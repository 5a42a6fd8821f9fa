"""Conditions with their policies, forks and branches."""

from __future__ import annotations

from sglc.check.core.result import BranchOf, ExpressionType, ListValue, Unknown
from sglc.check.core.state import ForkFrame, Local
from sglc.check.expressions.range_slips import Rounds
from sglc.check.statements.control_flow import ControlFlow
from sglc.check.statements.prompt_lines import header
from sglc.check.types.assignability import INT, NEVER, NULL, UNKNOWN, item_of, join, numeric_rank, said
from sglc.diagnostics.diagnostic import Label
from sglc.diagnostics.suggest import nearest
from sglc.syntax import ast

MAX_ATTEMPTS = 100


class Policies(ControlFlow):
    """A retry names the one hole it draws again."""

    def _ensure(self, node: ast.Ensure) -> bool:
        function = self.function
        word = "ensure" if node.hard else "check"
        seen: set[Local] = set()
        function.mentioned.append(seen)
        if node.each is not None:
            name, iterable = node.each
            item = self.iterated(iterable, Rounds(name.text, node.condition))
            self.open()
            self.bind(node, name, item, "loop")
        self.condition(node.condition)
        function.mentioned.pop()
        known, value = self.fold(node.condition)
        if known and value is False:
            self.program.report(
                "W0209", f"this `{word}` always fails", node.condition.span, label="always false"
            )
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

    def fork(self, node: ast.Fork) -> ExpressionType:
        function = self.function
        if function.kind in ("pure", "test", "const"):
            self.program.report(
                "E0404", f"a fork cannot stand in {self.place()}", node.span, label="asks a model"
            )
        item = self.iterated(node.iterable, Rounds(node.variable.text, (node.options, node.body), True))
        self.open()
        self.bind(node, node.variable, item, "loop")
        for option in node.options:
            if option.kind != "seed":
                self.program.report(
                    "E0330",
                    f"a fork takes `seed`, not `{option.kind}`",
                    option.span,
                    label="not an option of forks",
                )
                continue
            found = self.infer(option.value)
            if not isinstance(found, Unknown) and numeric_rank(found, self.table) != 0:
                self.program.report(
                    "E0330", f"`seed` is an integer, not {said(found)}", option.value.span,
                    label=f"this is {said(found)}",
                )  # fmt: skip
        self.open()
        frame = ForkFrame(scope=function.scope)
        function.forks.append(frame)
        loops, function.loops = function.loops, 0
        costs, function.costs = function.costs, None
        raised = dict(function.raised)
        reached = self.bounded(node, lambda: self.body(node.body))
        if node.skip:
            # A branch that fails is dropped: nothing that it raises leaves the fork.
            function.raised = raised
        function.costs = costs
        function.loops = loops
        function.forks.pop()
        self.close()
        self.close()
        if reached:
            self.program.report(
                "E0414", "a branch of this fork can end without a value", header(node.span),
                label="not every way through it yields" if frame.yields else "its body never yields",
                secondary=tuple(Label(span, "this way does") for _, span in frame.yields[:1]),
                hint="" if frame.yields else "end the body with `yield …`, the branch's `.value`",
            )  # fmt: skip
        value: ExpressionType = NULL if not frame.yields else NEVER
        for found, span in frame.yields:
            whole = join(value, found, self.table)
            if whole is None:
                self.program.report(
                    "E0313",
                    f"branches yield one type, here {said(value)} and {said(found)}",
                    span,
                    label="another type",
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
                "E0414",
                f"`adopt` takes a branch of a fork, not {said(found)}",
                node.value.span,
                label=f"this is {said(found)}",
                hint="pick one: `adopt ideas.max(by = value)`"
                if item_of(found, self.table) is not None
                else "",
            )
        return False
