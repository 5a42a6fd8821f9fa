"""Conditions with their policies: `ensure` and `check`."""

from __future__ import annotations

from sglc.check.core.context import ModuleContext
from sglc.check.core.function_state import Local
from sglc.check.core.range_slips import Rounds
from sglc.check.expressions.constants import Constants
from sglc.check.expressions.folding import fold
from sglc.check.expressions.inference import Inference
from sglc.check.expressions.iteration import Iteration
from sglc.check.expressions.raising import Raising
from sglc.check.names.scopes import Scopes
from sglc.diagnostics.diagnostic import Label
from sglc.immutable import node
from sglc.syntax.tree import ast

MAX_ATTEMPTS = 100


@node
class RetryPolicies:
    """A retry names the one hole it draws again."""

    module: ModuleContext
    scopes: Scopes
    inference: Inference
    constants: Constants
    iteration: Iteration
    raising: Raising

    def ensure(self, node: ast.Ensure) -> bool:
        """A condition, and what is done where it does not hold."""
        function = self.scopes.function
        word = "ensure" if node.hard else "check"
        seen: set[Local] = set()
        function.mentioned.append(seen)
        if node.each is not None:
            name, iterable = node.each
            item = self.iteration.iterated(iterable, Rounds(name.text, node.condition))
            self.scopes.open()
            self.scopes.bind(node, name, item, "loop")
        self.inference.told_condition(node.condition, word)
        function.mentioned.pop()
        known, value = fold(self.module, node.condition)
        if known and value is False:
            self.module.report(
                "W0209", f"this `{word}` always fails", node.condition.span, label="always false"
            )
        if node.message is not None:
            self.inference.displayable(node.message, self.inference.infer(node.message))
        if node.each is not None:
            self.scopes.close()
        if node.retry is not None:
            self._retry(node, node.retry, seen)
        if node.fallback is not None:
            if not node.hard:
                self.module.report(
                    "E0412",
                    "a `check` does not fail",
                    node.fallback.span,
                    label="never raised",
                    hint="write `ensure` where the condition is needed",
                )
            self.raising.raise_(node.fallback)
        if node.hard:
            self.scopes.assume(node.condition)
        return False

    def _retry(self, node: ast.Ensure, retry: ast.Retry, seen: set[Local]) -> None:
        function = self.scopes.function
        if retry.strategy not in ("resample", "repair"):
            close = self.module.nearest(retry.strategy, ["resample", "repair"])
            self.module.report(
                "E0412",
                f"there is no retry `{retry.strategy}`",
                retry.span,
                label="unknown policy",
                hint=f"did you mean `{close}`?" if close else "there are `resample` and `repair`",
            )
        count = self.constants.whole(retry.count, "the number of retries")
        if count is not None and not 1 <= count <= MAX_ATTEMPTS:
            self.module.report(
                "E0412", f"retries are 1 to {MAX_ATTEMPTS}", retry.count.span, label=f"this is {count}"
            )
        if function.kind in ("pure", "test"):
            self.module.report(
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
                self.module.report(
                    "E0413",
                    f"a retry from here cannot go back to hole `{far.name}`",
                    retry.span,
                    label="a loop, fork, try or forget lies between",
                    secondary=(Label(far.span, "the hole"),),
                    hint="move the condition into the block of the hole, or the hole into this one",
                )
            else:
                self.module.report(
                    "E0413",
                    "the condition speaks of no hole",
                    retry.span,
                    label="nothing to draw again",
                    hint="mention the hole whose value the condition is about",
                )
            return
        latest = max(near, key=lambda hole: hole.span.start)
        assert latest.hole is not None
        self.module.retries[id(node)] = latest.hole
        if retry.strategy == "repair" and not function.has_roles:
            self.module.report(
                "E0412",
                "`repair` needs roles",
                retry.span,
                label="no conversation to repair in",
                reason="the rejected value and the reason are shown to the model as an extra turn",
                hint="use `resample`, or write the prompt under roles",
            )
