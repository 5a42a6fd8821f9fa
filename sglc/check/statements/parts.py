"""`part` and `aside`: functions that write into the message of their caller. The text of an aside, and what
stands under `forget`, does not stay."""

from __future__ import annotations

from sglc.check.core.context import ModuleContext, ProgramState, Signature
from sglc.check.core.result import ExpressionType, Unknown
from sglc.check.core.walk import statements
from sglc.check.expressions.calls import Calls
from sglc.check.expressions.inference import Inference
from sglc.check.names.scopes import Scopes
from sglc.check.statements.blocks import Blocks, header
from sglc.check.types.kinds import UNKNOWN
from sglc.diagnostics.diagnostic import Label
from sglc.immutable import node
from sglc.syntax.tree import ast


@node
class Parts:
    """`part`: the text of another function."""

    module: ModuleContext
    scopes: Scopes
    inference: Inference
    calls: Calls
    blocks: Blocks

    def part(self, node: ast.Part) -> bool:
        """The call of a part, whose text joins the message."""
        function = self.scopes.function
        if function.kind in ("pure", "test", "const"):
            self.module.report(
                "E0406", f"a part cannot be used in {self.scopes.place()}", node.span, label="writes text"
            )
        elif function.role is None and function.has_roles and function.kind == "fn":
            self.module.report(
                "E0407",
                "this text belongs to no message",
                node.span,
                label="outside the roles",
                hint="move it under a role",
            )
        found: ExpressionType = UNKNOWN
        written = node.call.function
        callee = written.value if isinstance(written, ast.Index) else written
        if isinstance(callee, ast.Reference):
            entity = self.module.look_up(callee.name)
            known = self.calls.callee(node.call)
            signature = None if known is None else known[1]
            if signature is None:
                found = self.inference.infer(node.call)
                if entity is None or entity.kind != "broken":
                    if not isinstance(found, Unknown):
                        self.module.report(
                            "E0401", f"`{callee.name}` is no part", node.call.span, label="called like a part"
                        )
            else:
                found = self.calls.call_function(node.call, callee, signature, as_part=True)
                self.module.types[id(node.call)] = found
                self._part_holes(node, callee.name, signature)
                if node.kind == "part" and getattr(signature.declaration, "kind", "") == "aside":
                    self.module.report(
                        "E0401",
                        f"the text of `{callee.name}` does not stay",
                        node.span,
                        label="called like a part",
                        secondary=(Label(signature.declaration.name.span, "declared as an aside"),),
                        hint=f"write `aside {callee.name}(…)`, or declare it as a `part`",
                    )
        else:
            self.inference.infer(node.call)
            self.module.report("E0401", "`part` takes the name of a part", node.call.span, label="no part")
        if node.binding is not None:
            self.scopes.bind(node, node.binding, found, "let")
        return False

    def forget(self, node: ast.Forget) -> bool:
        """`forget`: its text leaves the conversation, what it binds stays."""
        function = self.scopes.function
        if function.kind in ("pure", "test", "const"):
            self.module.report(
                "E0406",
                f"`forget` cannot be used in {self.scopes.place()}",
                header(node.span),
                label="there is no conversation",
            )
        return not self.blocks.bounded(node, lambda: self.blocks.body(node.body))

    def _part_holes(self, node: ast.Part, name: str, signature: Signature) -> None:
        """A part with holes can be used only where a hole can stand."""
        role = self.scopes.function.role
        if role is None or role == "assistant" or signature.kind != "part":
            return
        if has_holes(self.module.program, signature):
            assert self.scopes.function.role_span is not None
            self.module.report(
                "E0405",
                f"part `{name}` has holes and cannot stand under `{role}`",
                node.span,
                label="only the assistant's text is generated",
                secondary=(Label(self.scopes.function.role_span, f"inside this `{role}`"),),
            )


def has_holes(program: ProgramState, signature: Signature) -> bool:
    """Whether a function, or a part that it writes, has a hole."""
    waiting, seen = [signature], {signature.name}
    while waiting:
        here = waiting.pop()
        if not isinstance(here.declaration, ast.FunctionDeclaration):
            continue
        for statement in statements(here.declaration.body):
            if isinstance(statement, ast.Think):
                return True
            if isinstance(statement, ast.PipeLine):
                if any(isinstance(part, ast.Hole) for part in statement.parts):
                    return True
            elif isinstance(statement, ast.Let) and isinstance(
                statement.value, ast.Gen | ast.Choose | ast.Select | ast.Fork
            ):
                return True
            elif isinstance(statement, ast.Part) and isinstance(statement.call.function, ast.Reference):
                entity = here.module.names.get(statement.call.function.name)
                other = None if entity is None else program.signatures.get(entity.name)
                if other is not None and other.name not in seen:
                    seen.add(other.name)
                    waiting.append(other)
    return False
