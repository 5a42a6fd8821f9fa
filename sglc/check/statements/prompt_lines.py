"""Blocks of statements, and those that write text: pipe lines, roles, included files, parts.

Role blocks are no scopes: a hole is bound in the block around its role. Bodies of `if`, loops, cases, `try`
and forks are scopes. A method that checks a statement tells whether the ones after it are cut off.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from sglc.check.core.files import file_text
from sglc.check.core.result import ExpressionType, Unknown
from sglc.check.core.walk import Body
from sglc.check.holes.holes import END_OF_LINE, Follow
from sglc.check.statements.patterns import Patterns
from sglc.check.types.assignability import UNKNOWN
from sglc.diagnostics.diagnostic import Label
from sglc.source import Span
from sglc.syntax import ast

_COMMENT = re.compile(r"[ \t]+(#+ .*[^\W\d_]{2})")


class PromptLines(Patterns):
    """Text is checked where it stands: in a role, or in a function without any."""

    STATEMENTS: ClassVar[dict[type, Any]] = {}
    """Class of a statement to the method that checks it."""

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
            ends = self.STATEMENTS[statement.__class__](self, statement)
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

    def _pipe(self, node: ast.PipeLine, after: ast.Statement | None) -> None:
        self._text_allowed(node.span, bool(node.parts))
        for place, part in enumerate(node.parts):
            if isinstance(part, ast.Insert):
                self.displayable(part.value, self.infer(part.value))
            elif isinstance(part, ast.Text):
                self.look_at_text(part.span, in_string=False)
                if place == len(node.parts) - 1 > 0:
                    self._comment_as_text(part)
            elif isinstance(part, ast.Hole):
                rest = node.parts[place + 1 :]
                if not rest and node.glued:
                    follow = _follow(after.parts) if isinstance(after, ast.PipeLine) else Follow(open=True)
                    self.named_hole(part, follow)
                else:
                    self.named_hole(part, _follow(rest))

    def _comment_as_text(self, part: ast.Text) -> None:
        """Warn about `# …` behind the last insert or hole of a line: behind a pipe it is text."""
        match = _COMMENT.match(part.span.text)
        if match is not None:
            start = part.span.start + match.start(1)
            self.program.report(
                "W0226", "`#` begins no comment in prompt text", Span(part.span.source, start, part.span.end),
                label="the model reads this", hint="put the comment on a line of its own, above this one",
            )  # fmt: skip

    def _text_allowed(self, span: Span, report: bool) -> None:
        function = self.function
        if function.kind in ("pure", "test", "const"):
            if report:
                self.program.report(
                    "E0406",
                    f"prompt text cannot stand in {self.place()}",
                    span,
                    label="belongs to a conversation",
                    hint="make it a `fn` or a `part`" if function.kind == "pure" else "move it to a `fn`",
                )
        elif function.role is None and function.has_roles:
            self.program.report(
                "E0407", "this text belongs to no message", span, label="outside the roles",
                reason="the function has role blocks, so all its text stands in one",
                hint="move it under `user:`, or into a `system:` block",
            )  # fmt: skip

    def _include(self, node: ast.Include) -> bool:
        self._text_allowed(node.span, True)
        text = file_text(self.program, self.module, node.path, node.span)
        if text is not None:
            self.module.constants[id(node)] = text.removesuffix("\n")
        return False

    def _role(self, node: ast.Role) -> bool:
        function = self.function
        if node.tools:
            self._unavailable("E0912", "tools", node.keyword, "ask for a typed request and call the function")
        if node.role == "tool":
            self._unavailable("E0912", "the `tool` role", node.keyword, "put the text under `user:`")
        if function.kind in ("pure", "test", "const"):
            self.program.report(
                "E0406",
                f"a role cannot stand in {self.place()}",
                node.keyword,
                label="belongs to a conversation",
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
                "E0406", f"a part cannot be used in {self.place()}", node.span, label="writes text"
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
        if self.has_holes(signature):
            assert self.function.role_span is not None
            self.program.report(
                "E0405", f"part `{name}` has holes and cannot stand under `{role}`", node.span,
                label="only the assistant's text is generated",
                secondary=(Label(self.function.role_span, f"inside this `{role}`"),),
            )  # fmt: skip

    def has_holes(self, signature: Any) -> bool:
        """Whether the text of a part is in part generated."""
        raise KeyError(signature.name)


def _follow(parts: Sequence[ast.TextPart]) -> Follow:
    """What stands after a hole on its line."""
    if not parts:
        return END_OF_LINE
    first = parts[0]
    if isinstance(first, ast.Text) and first.text:
        return Follow(first.text, first.span)
    return Follow(open=True)


def header(span: Span) -> Span:
    """The first line of a block: where to point when all of it is meant."""
    end = span.source.text.find("\n", span.start)
    return span if end < 0 or end >= span.end else Span(span.source, span.start, end)
