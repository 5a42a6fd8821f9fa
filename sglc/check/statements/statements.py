"""All statements by their form."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sglc.check.core.context import ModuleContext
from sglc.check.expressions.inference import Inference
from sglc.check.expressions.raising import Raising
from sglc.check.names.scopes import Scopes
from sglc.check.proofs.unused_values import UnusedValues
from sglc.check.statements.control_flow import ControlFlow
from sglc.check.statements.forks import Forks
from sglc.check.statements.loops import Loops
from sglc.check.statements.parallel import ParallelCalls
from sglc.check.statements.parts import Parts
from sglc.check.statements.prompt_lines import PromptLines
from sglc.check.statements.retry_policies import RetryPolicies
from sglc.check.statements.streams import Streams
from sglc.check.statements.tests import StatementsOfTests
from sglc.check.statements.variables import Variables
from sglc.diagnostics.diagnostic import Edit
from sglc.immutable import node
from sglc.syntax.tree import ast

if TYPE_CHECKING:
    from sglc.check.statements.matches import Matches


@node
class Statements:
    """Each statement goes to the checker of its concern."""

    module: ModuleContext
    scopes: Scopes
    inference: Inference
    prompt_lines: PromptLines
    parts: Parts
    variables: Variables
    raising: Raising
    control_flow: ControlFlow
    loops: Loops
    matches: Callable[[], Matches]
    policies: RetryPolicies
    forks: Forks
    tests: StatementsOfTests
    parallel_calls: ParallelCalls
    streams: Streams
    unused_values: UnusedValues

    def statement(self, node: ast.Statement, after: ast.Statement | None) -> bool:
        """Check a statement, given the one after it; whether the ones after it are cut off."""
        match node:
            case ast.PipeLine():
                self.prompt_lines.pipe(node, after)
                return False
            case ast.Let():
                return self.variables.let(node)
            case ast.Assign():
                return self.variables.assign(node)
            case ast.Role():
                return self.prompt_lines.role(node)
            case ast.If():
                return self.control_flow.if_(node)
            case ast.Return():
                return self.control_flow.return_(node)
            case ast.For():
                return self.loops.for_(node)
            case ast.Evaluate():
                return self._evaluate(node)
            case ast.Include():
                return self.prompt_lines.include(node)
            case ast.Part():
                return self.parts.part(node)
            case ast.While():
                return self.loops.while_(node)
            case ast.Match():
                return self.matches().match(node)
            case ast.Break() | ast.Continue():
                return self.control_flow.break_(node)
            case ast.Raise():
                self.raising.raise_(node)
                return True
            case ast.Try():
                return self.control_flow.try_(node)
            case ast.Ensure():
                return self.policies.ensure(node)
            case ast.Yield():
                return self.forks.yield_(node)
            case ast.Adopt():
                return self.forks.adopt(node)
            case ast.Mock():
                return self.tests.mock(node)
            case ast.Fuzz():
                return self.tests.fuzz(node)
            case ast.Expect():
                return self.tests.expect(node)
            case ast.ExpectRaises():
                return self.tests.expect_raises(node)
            case ast.Forget():
                return self.parts.forget(node)
            case ast.Think():
                return self.prompt_lines.think(node)
            case ast.Parallel():
                return self.parallel_calls.parallel(node)
            case ast.Using():
                return self.control_flow.using(node)
            case ast.StreamFor():
                return self.streams.stream(node)
            case ast.Golden():
                return self.tests.golden(node)
            case ast.Replay():
                return self.tests.replay(node)

    def _evaluate(self, node: ast.Evaluate) -> bool:
        value = node.value
        found = self.inference.infer(value)
        if isinstance(value, ast.String) and self.scopes.function.role is not None:
            plain = "\\" not in value.span.text and len(value.span.text) > 2 and value.span.text[-1] == '"'
            self.module.report(
                "W0202",
                "this text is not part of the prompt",
                value.span,
                label="has no effect",
                hint="write it on a pipe line, without quotes",
                edits=(Edit(value.span, f"| {value.span.text[1:-1]}"),) if plain else (),
            )
        else:
            self.unused_values.tell(value, found)
        return False
