"""`assistant with tools […] limit n calls`: functions that the model may call before it answers."""

from __future__ import annotations

from collections.abc import Iterator

from sglc.check.core.context import ModuleContext, Signature
from sglc.check.core.result import HoleFacts, ToolFacts, ToolUse
from sglc.check.expressions.constants import Constants
from sglc.check.names.scopes import Scopes
from sglc.check.types.facts import TypeFacts
from sglc.check.types.kinds import said
from sglc.diagnostics.diagnostic import Edit
from sglc.immutable import node
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.dependent import given_types
from sglc.types.type import Alternatives, Constant, FieldType, Named, RecordType, Type

ANSWER = "answer"
"""What the model names where it calls nothing more."""
CHOICE = "tool"
"""The hole in which it names a tool, or ANSWER."""
MOST_CALLS = 100
"""Largest limit: each call is two messages that the model reads again in every later one."""
USUAL_CALLS = 8
"""The limit where none is written; agents of published benchmarks mostly take fewer steps."""
MOST_TOOLS = 64
"""Tools of one message: all of them stand in the prompt."""


@node
class Tools:
    """The tools of a message: what they are called, and the holes of their arguments."""

    module: ModuleContext
    facts: TypeFacts
    scopes: Scopes
    constants: Constants

    def use(self, node: ast.Role) -> None:
        """Check the tools of a message, and note them."""
        limit = USUAL_CALLS
        if node.limit is not None:
            found = self.constants.whole(node.limit, "the limit of calls")
            if found is not None and not 1 <= found <= MOST_CALLS:
                self.module.report(
                    "E0442", f"a limit is 1 to {MOST_CALLS} calls", node.limit.span, label=f"this is {found}"
                )
            limit = found or limit
        function = self.scopes.function
        if function.forks:
            self._refuse(
                "a message with tools cannot stand in a fork",
                node.keyword,
                "call a `fn` that has the message",
                label="in a fork",
            )
        if function.models is not None:
            self._refuse(
                "tools are called by the run's own model",
                node.keyword,
                "leave `using` out around the message",
                label="by another model",
            )
        if len(node.tools) > MOST_TOOLS:
            self._refuse(
                f"a message has at most {MOST_TOOLS} tools",
                node.tools[-1].span,
                "take fewer",
                label=f"these are {len(node.tools)}",
            )
        tools: dict[str, ToolFacts] = {}
        for tool in node.tools:
            found_tool = self._tool(tool)
            if found_tool is None:
                continue
            if found_tool.name in tools or found_tool.name in (ANSWER, CHOICE):
                what = "is there twice" if found_tool.name in tools else "is a word of the calls themselves"
                self._refuse(f"a tool `{found_tool.name}` {what}", tool.span, "give it another name")
                continue
            tools[found_tool.name] = found_tool
        names = tuple(Constant(name) for name in (*tools, ANSWER))
        type: Type = names[0] if len(names) == 1 else Alternatives(names)
        choice = HoleFacts(CHOICE, type, ('"',), False, None)
        for facts in (choice, *(tool.hole for tool in tools.values())):
            self._name(facts, node)
        self.module.tools[id(node)] = ToolUse(tuple(tools.values()), choice, limit)

    def _name(self, facts: HoleFacts, node: ast.Role) -> None:
        """Make a hole known to mocks; its name must not be that of another one."""
        known = self.scopes.function.holes.setdefault(facts.name, facts)
        if known == facts:
            return
        if any(known is use.choice for use in self.module.tools.values()):
            self._refuse(
                "the messages of a function have the same tools",
                node.keyword,
                "name the same tools, in the same order, or call a `fn` that has a message with these",
                label="other tools than before",
            )
            return
        span = next((each.span for each in node.tools if each.span.text == facts.name), node.keyword)
        self._refuse(
            f"`{facts.name}` is a hole of this function already",
            span,
            "rename the hole, for the arguments of a tool are a hole with its name"
            if facts.name != CHOICE
            else "rename the hole, for the model names a tool in a hole `tool`",
            label="the same name",
        )

    def _tool(self, node: ast.Expression) -> ToolFacts | None:
        if not isinstance(node, ast.Reference):
            meant = node.function.span.text if isinstance(node, ast.Call) else node.span.text.strip('"')
            named = meant in self.module.names
            self._refuse(
                "a tool is named by its function",
                node.span,
                f"write `{meant}`" if named else "write the name of a function",
                label="called here" if isinstance(node, ast.Call) else "no name",
                edits=(Edit(node.span, meant),) if named else (),
            )
            return None
        entity = self.module.look_up(node.name)
        signature = None if entity is None else self.module.program.signatures.get(entity.name)
        if entity is None or entity.kind != "function" or signature is None:
            pool = (name for name, each in self.module.names.items() if each.kind == "function")
            close = self.module.nearest(node.name, pool)
            hint = f"did you mean `{close}`?" if close else "declare a `fn`, a `pure fn` or an `extern py`"
            if entity is None or entity.kind != "broken":
                self.module.report(
                    "E0201", f"there is no function `{node.name}`", node.span, label="unknown name", hint=hint
                )
            return None
        entity.used = True
        reason = next(self._unfit(signature), "")
        if reason:
            bound = "give it one in the header, such as `str max 80 chars` or `int in 0..99`"
            self._refuse(
                f"`{node.name}` cannot be a tool: {reason}",
                node.span,
                bound if "has no bound" in reason else "change its header",
            )
            return None
        record = f"{signature.name}.arguments"
        declaration = signature.declaration
        fields = tuple(
            FieldType(name, type, False, default is not None, None if default is None else default.value)
            for name, type, default in signature.parameters
            if isinstance(type, Type)
        )
        self.module.table[record] = RecordType(record, fields, declaration.doc)
        hole = HoleFacts(node.name, Named(record), (), False, None)
        return ToolFacts(node.name, signature.name, record, hole, self._schema(node.name, record))

    def _unfit(self, signature: Signature) -> Iterator[str]:
        """Why a function cannot be called by a model."""
        if signature.kind == "part":
            yield "a part writes into the caller's message"
        if signature.type_parameters:
            yield "a model does not say which types it calls a function with"
        for name, type, _ in signature.parameters:
            if not isinstance(type, Type) or not self.facts.sound(type) or given_types(type):
                yield f"parameter `{name}` has a type that only its caller knows"
            elif (why := self.facts.unbounded(type)) is not None:
                yield f"parameter `{name}`, {said(type)}, has no bound: {why}"

    def _schema(self, name: str, record: str) -> dict[str, object]:
        """A tool as chat templates expect it."""
        from sglc.types.notation.json_schema import json_schema

        schema = dict(json_schema(Named(record), self.module.table))
        schema.pop("$schema", None)
        definitions = schema.pop("$defs", {})
        assert isinstance(definitions, dict)
        own = definitions.pop(record)
        assert isinstance(own, dict)
        description = own.pop("description", "")
        parameters = {**own, **({"$defs": definitions} if definitions else {})}
        return {
            "type": "function",
            "function": {"name": name, "description": description, "parameters": parameters},
        }

    def _refuse(
        self,
        message: str,
        span: Span,
        hint: str,
        *,
        label: str = "not a tool",
        edits: tuple[Edit, ...] = (),
    ) -> None:
        self.module.report("E0442", message, span, label=label, hint=hint, edits=edits)
