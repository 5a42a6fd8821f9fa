"""Messages with tools: rounds in which the model names one and writes its arguments, before it answers.

    for each of at most n rounds:
      mark; assistant: <call> ?{tool}            which one, or `answer`; nothing of it stays
      forget
      if it is `answer`: leave
      assistant: <call> NAME <arguments> ?{NAME} <end>
      tool: what the call gives, or its error

What stands in `<…>` is the form of the model (`sglc.ir.ops.CallText`).
"""

from __future__ import annotations

import json

from sglc.check.core.result import HoleFacts, ToolFacts, ToolUse
from sglc.ir import ops, terminators
from sglc.ir.module import HoleInfo
from sglc.lower.context import Context
from sglc.source import Span
from sglc.syntax.tree import ast

ANSWER = "answer"


class Tools:
    """Lowers the rounds of one function."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.build = context.build

    def rounds(self, node: ast.Role) -> None:
        """What comes before the answer of a message with tools."""
        use = self.context.checked.tools[id(node)]
        offered = self.context.program.offered.setdefault(self.context.root, {})
        offered.update({tool.name: tool.schema for tool in use.tools})
        build, span = self.build, node.keyword
        iterator, number = build.fresh_slot("iterator"), build.fresh_slot("round")
        choice, result = build.fresh_slot("tool"), build.fresh_slot("result")
        limits = (build.const(0, span), build.const(use.limit, span))
        rounds = build.value(ops.MakeRange, *limits, False, span=span)
        build.store(iterator, build.value(ops.Iterate, rounds, span=span))
        each, body, done = (build.fresh_label(stem) for stem in ("call", "round", "answer"))
        build.start(each)
        build.end(terminators.Next(iterator, number, body, done, span))
        build.start(body)
        self._choose(use, choice, span)
        self._unless(choice, ANSWER, done, span)
        for tool in use.tools:
            other = build.fresh_label("tool")
            chosen = build.fresh_label("chosen")
            same = build.value(ops.Binary, "==", build.load(choice), build.const(tool.name), span=span)
            build.end(terminators.Branch(same, chosen, other, span))
            build.start(chosen)
            self._call(tool, result, span)
            build.end(terminators.Jump(each))
            build.start(other)
        build.end(terminators.Jump(each))
        build.start(done)

    def _choose(self, use: ToolUse, choice: str, span: Span) -> None:
        """The name of a tool or `answer`, in a message that is forgotten."""
        build = self.build
        build.add(ops.Mark(span))
        self._open("assistant", span)
        build.add(ops.CallText("call", span))
        build.store(choice, self._hole(use.choice, span), span)
        build.add(ops.CloseRole(span))
        build.add(ops.Forget(span))

    def _unless(self, choice: str, name: str, target: str, span: Span) -> None:
        build = self.build
        on = build.fresh_label("tool")
        same = build.value(ops.Binary, "==", build.load(choice), build.const(name), span=span)
        build.end(terminators.Branch(same, target, on, span))
        build.start(on)

    def _call(self, tool: ToolFacts, result: str, span: Span) -> None:
        """The message that calls a tool, the call, and the message with what it gives."""
        build = self.build
        given = build.fresh_slot("arguments")
        self._open("assistant", span)
        build.add(ops.CallText("call", span))
        build.add(ops.Text(tool.name, span))
        build.add(ops.CallText("arguments", span))
        build.store(given, self._hole(tool.hole, span), span)
        build.add(ops.CallText("end", span))
        build.add(ops.CloseRole(span))
        body, failed, told = (build.fresh_label(stem) for stem in ("try", "failed", "told"))
        build.end(terminators.Try(body, failed, False, span))
        build.start(body)
        table = self.context.program.table
        fields = table[tool.record].fields  # type: ignore[union-attr]
        arguments = tuple(
            build.value(ops.GetField, build.load(given), field.name, span=span) for field in fields
        )
        build.store(result, build.value(ops.Call, tool.function, arguments, span=span), span)
        build.add(ops.EndTry(span))
        build.end(terminators.Jump(told))
        build.start(failed)
        error = build.value(ops.HandledError, span=span)
        parts = (
            build.const("error: "),
            build.value(ops.GetField, error, "name", span=span),
            build.const(": "),
            build.value(ops.GetField, error, "message", span=span),
        )
        build.store(result, build.value(ops.Concat, parts, span=span), span)
        build.start(told)
        self._open("tool", span)
        build.add(ops.Insert(build.load(result), span))
        build.add(ops.CloseRole(span))

    def _open(self, role: str, span: Span) -> None:
        self.build.add(ops.OpenRole(role, span))
        self.build.add(ops.Line(span))

    def _hole(self, facts: HoleFacts, span: Span) -> int:
        holes = self.context.program.holes
        holes.append(
            HoleInfo(
                f"{self.context.root}.{facts.name}",
                "gen",
                facts.type,
                stops=facts.stops,
                end_of_message=facts.end_of_message,
            )
        )
        return self.build.value(ops.Generate, len(holes) - 1, (), span=span)


def offer(offered: dict[str, object]) -> ops.OfferTools:
    """The operation that tells a conversation its tools."""
    answer = {
        "type": "function",
        "function": {
            "name": ANSWER,
            "description": "No other function is needed: the answer follows.",
            "parameters": {"type": "object", "properties": {}},
        },
    }
    return ops.OfferTools(json.dumps([*offered.values(), answer], ensure_ascii=False, default=str))
