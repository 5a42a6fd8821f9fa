"""Statements that write text: pipe lines, roles, included files."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sglc.check.core.context import ModuleContext
from sglc.check.core.files import file_text
from sglc.check.expressions.inference import Inference
from sglc.check.holes.ends import END_OF_LINE, Follow
from sglc.check.holes.holes import Holes
from sglc.check.names.scopes import Scopes
from sglc.check.names.unknown_names import look_at_text
from sglc.check.statements.blocks import Blocks
from sglc.check.statements.tools import Tools
from sglc.diagnostics.diagnostic import Label
from sglc.immutable import node
from sglc.source import Span
from sglc.syntax.tree import ast

_COMMENT = re.compile(r"[ \t]+(#+ .*[^\W\d_]{2})")


@node
class PromptLines:
    """Text is checked where it stands: in a role, or in a function without any."""

    module: ModuleContext
    scopes: Scopes
    inference: Inference
    holes: Holes
    blocks: Blocks
    tools: Tools

    def pipe(self, node: ast.PipeLine, after: ast.Statement | None) -> None:
        """A line of text, with its inserts and holes; `after` is the statement that follows."""
        self._text_allowed(node.span, bool(node.parts))
        for place, part in enumerate(node.parts):
            if isinstance(part, ast.Insert):
                self.inference.inserted(part.value)
            elif isinstance(part, ast.Text):
                look_at_text(self.scopes, part.span, in_string=False)
                if place == len(node.parts) - 1 > 0:
                    self._comment_as_text(part)
            elif isinstance(part, ast.Hole):
                rest = node.parts[place + 1 :]
                if not rest and node.glued:
                    follow = _follow(after.parts) if isinstance(after, ast.PipeLine) else Follow(open=True)
                    self.holes.named(part, follow)
                else:
                    self.holes.named(part, _follow(rest))
                    if not rest and isinstance(after, ast.PipeLine):
                        self.holes.ends.note_text_below(part.content, after.span)

    def think(self, node: ast.Think) -> bool:
        """A line that the model writes for itself."""
        self._text_allowed(node.span, False)
        self.holes.thought(node.content)
        return False

    def _comment_as_text(self, part: ast.Text) -> None:
        """Warn about `# …` behind the last insert or hole of a line: behind a pipe it is text."""
        match = _COMMENT.match(part.span.text)
        if match is not None:
            start = part.span.start + match.start(1)
            self.module.report(
                "W0226",
                "`#` begins no comment in prompt text",
                Span(part.span.source, start, part.span.end),
                label="the model reads this",
                hint="put the comment on a line of its own, above this one",
            )

    def _text_allowed(self, span: Span, report: bool) -> None:
        function = self.scopes.function
        if function.kind in ("pure", "test", "const"):
            if report:
                self.module.report(
                    "E0406",
                    f"prompt text cannot stand in {self.scopes.place()}",
                    span,
                    label="belongs to a conversation",
                    hint="make it a `fn` or a `part`" if function.kind == "pure" else "move it to a `fn`",
                )
        elif function.role is None and function.has_roles:
            self.module.report(
                "E0407",
                "this text belongs to no message",
                span,
                label="outside the roles",
                reason="the function has role blocks, so all its text stands in one",
                hint="move it under `user:`, or into a `system:` block",
            )

    def include(self, node: ast.Include) -> bool:
        """The text of a file."""
        self._text_allowed(node.span, True)
        text = file_text(self.module, node.path, node.span)
        if text is not None:
            self.module.constants[id(node)] = text.removesuffix("\n")
        return False

    def role(self, node: ast.Role) -> bool:
        """A message of the conversation."""
        function = self.scopes.function
        if function.kind in ("pure", "test", "const"):
            self.module.report(
                "E0406",
                f"a role cannot stand in {self.scopes.place()}",
                node.keyword,
                label="belongs to a conversation",
            )
        elif function.kind == "part":
            self.module.report(
                "E0408",
                "a part has no roles",
                node.keyword,
                label="its text joins the caller's message",
                hint="make it a `fn`, or take the role block to the caller",
            )
        elif function.role is not None:
            assert function.role_span is not None
            self.module.report(
                "E0408",
                "a role cannot stand inside another one",
                node.keyword,
                label="nested",
                secondary=(Label(function.role_span, f"inside this `{function.role}`"),),
            )
        elif node.tools:
            self.tools.use(node)
        outer = function.role, function.role_span
        function.role, function.role_span = node.role, node.keyword
        reached = self.blocks.body(node.body)
        function.role, function.role_span = outer
        return not reached


def _follow(parts: Sequence[ast.TextPart]) -> Follow:
    """What stands after a hole on its line."""
    if not parts:
        return END_OF_LINE
    first = parts[0]
    if isinstance(first, ast.Text) and first.text:
        return Follow(first.text, first.span)
    return Follow(open=True)
