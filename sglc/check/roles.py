"""The order of the roles in a conversation."""

from __future__ import annotations

from sglc.check.core.context import ModuleContext
from sglc.check.core.walk import Body, roles
from sglc.diagnostics.diagnostic import Label
from sglc.syntax.tree import ast


def check_roles(module: ModuleContext, body: Body) -> None:
    """`system` comes first and once; the assistant answers somebody."""
    first: ast.Role | None = None
    system: ast.Role | None = None
    for role in roles(body):
        if role.role == "system":
            if system is not None:
                module.report(
                    "E0419",
                    "a conversation has one system message",
                    role.keyword,
                    label="a second one",
                    secondary=(Label(system.keyword, "the first"),),
                    hint="write all of it in the first",
                )
            elif first is not None:
                module.report(
                    "E0419",
                    "the system message comes first",
                    role.keyword,
                    label="after another message",
                    secondary=(Label(first.keyword, "this comes before it"),),
                    hint="move it to the top",
                )
            system = role
        elif first is None and role.role == "assistant":
            module.report(
                "W0211",
                "the assistant speaks before any user",
                role.keyword,
                label="the first message",
                reason="most chat templates expect a user's message first",
                hint="add a `user:` block before it",
            )
        if first is None and role.role != "system":
            first = role
    _adjacent(module, body)


def _adjacent(module: ModuleContext, body: Body) -> None:
    """Two messages of one role in a row would reach the model as two turns."""
    before: ast.Role | None = None
    for statement in body:
        if isinstance(statement, ast.Role):
            if before is not None and before.role == statement.role and statement.role != "system":
                module.report(
                    "W0212",
                    f"two `{statement.role}` messages in a row",
                    statement.keyword,
                    label="the second",
                    secondary=(Label(before.keyword, "the first"),),
                    hint="write both in one block",
                )
            before = statement
        elif not isinstance(statement, ast.Let | ast.Assign | ast.Ensure | ast.Evaluate):
            before = None
        elif isinstance(statement, ast.Let) and isinstance(statement.value, ast.Fork):
            before = None
            _adjacent(module, statement.value.body)
