"""Building statements and patterns."""

from __future__ import annotations

from typing import Any

from sglc.syntax import ast
from sglc.syntax.expressions import _present
from sglc.syntax.prompt_text import PromptText

Body = tuple[ast.Statement, ...]


class Statements(PromptText):
    def body(self, start: int, end: int, *statements: Any) -> Body:
        """The statements of a block: `text` blocks become their pipe lines, broken lines are gone."""
        if not any(statement is None or statement.__class__ is list for statement in statements):
            return statements
        flat: list[Any] = []
        for statement in statements:
            if isinstance(statement, list):
                flat += statement
            elif statement is not None:
                flat.append(statement)
        return tuple(flat)

    block = body

    # -- simple statements -----------------------------------------------------------------------------

    def include(self, start: int, end: int, path: ast.String) -> ast.Include:
        return ast.Include(self.plain(path, "a path"), self.span(start, end))

    def let(self, start: int, end: int, name: ast.Name, type: Any, value: Any) -> ast.Let:
        return ast.Let(name, False, self.settled(type), value, self.span(start, end))

    def var(self, start: int, end: int, name: ast.Name, type: Any, value: Any) -> ast.Let:
        return ast.Let(name, True, self.settled(type), value, self.span(start, end))

    def let_part(self, start: int, end: int, name: ast.Name, call: Any) -> ast.Part:
        return ast.Part("part", self.called(call, "part"), name, self.span(start, end))

    def let_aside(self, start: int, end: int, name: ast.Name, call: Any) -> ast.Part:
        return ast.Part("aside", self.called(call, "aside"), name, self.span(start, end))

    def part(self, start: int, end: int, call: Any) -> ast.Part:
        return ast.Part("part", self.called(call, "part"), None, self.span(start, end))

    def aside(self, start: int, end: int, call: Any) -> ast.Part:
        return ast.Part("aside", self.called(call, "aside"), None, self.span(start, end))

    def called(self, node: Any, word: str) -> ast.Call:
        """A call after `part`, `fuzz` and their kin."""
        if isinstance(node, ast.Call):
            return node
        self.report(
            "E0127", f"`{word}` needs a call", node.span.start, node.span.end,
            label="not a call", hint=f"write `{word} {node.span.text}(…)`",
        )  # fmt: skip
        return ast.Call(node, (), node.span)

    def assign(self, start: int, end: int, target: Any, value: Any) -> ast.Assign:
        return ast.Assign(self._target(target), "=", value, self.span(start, end))

    def augment(self, start: int, end: int, target: Any, operator: str, value: Any) -> ast.Assign:
        return ast.Assign(self._target(target), operator, value, self.span(start, end))

    def _target(self, target: Any) -> Any:
        if not isinstance(target, ast.Reference | ast.Attribute | ast.Index):
            self.report(
                "E0128", "this cannot be assigned to", target.span.start, target.span.end,
                label="a variable, a field or an element is needed",
                hint="compare with `==`" if isinstance(target, ast.Call | ast.Number | ast.String) else "",
            )  # fmt: skip
        return target

    def evaluate(self, start: int, end: int, value: Any) -> ast.Evaluate:
        return ast.Evaluate(value, self.span(start, end))

    def return_nothing(self, start: int, end: int) -> ast.Return:
        return ast.Return(None, self.span(start, end))

    def return_value(self, start: int, end: int, value: Any) -> ast.Return:
        return ast.Return(value, self.span(start, end))

    def break_(self, start: int, end: int) -> ast.Break:
        return ast.Break(self.span(start, end))

    def continue_(self, start: int, end: int) -> ast.Continue:
        return ast.Continue(self.span(start, end))

    def raise_(self, start: int, end: int, error: ast.Name | None, *arguments: Any) -> ast.Raise:
        return ast.Raise(error, _present(arguments), self.span(start, end))

    def yield_(self, start: int, end: int, value: Any) -> ast.Yield:
        return ast.Yield(value, self.span(start, end))

    def adopt(self, start: int, end: int, value: Any) -> ast.Adopt:
        return ast.Adopt(value, self.span(start, end))

    def think(self, start: int, end: int, *options: Any) -> ast.Think:
        return ast.Think(self.split_by(self._choice_options(options))[0], self.span(start, end))

    # -- tests -----------------------------------------------------------------------------------------

    def expect(self, start: int, end: int, condition: Any) -> ast.Expect:
        return ast.Expect(condition, self.span(start, end))

    def expect_raises(self, start: int, end: int, error: ast.Name, call: Any) -> ast.ExpectRaises:
        return ast.ExpectRaises(error, call, self.span(start, end))

    def mock(self, start: int, end: int, function: ast.Name, hole: ast.Name, value: Any) -> ast.Mock:
        return ast.Mock(function, hole, value, False, self.span(start, end))

    def mock_always(self, start: int, end: int, function: ast.Name, hole: ast.Name, value: Any) -> ast.Mock:
        return ast.Mock(function, hole, value, True, self.span(start, end))

    def fuzz(self, start: int, end: int, call: Any, times: Any, body: Body = ()) -> ast.Fuzz:
        return ast.Fuzz(self.called(call, "fuzz"), times, body, self.span(start, end))

    def golden(self, start: int, end: int, call: Any) -> ast.Golden:
        return ast.Golden(self.called(call, "golden"), self.span(start, end))

    def replay(self, start: int, end: int, path: ast.String) -> ast.Replay:
        return ast.Replay(self.plain(path, "a path"), self.span(start, end))

    # -- blocks ----------------------------------------------------------------------------------------

    def if_(self, start: int, end: int, condition: Any, body: Body, *rest: Any) -> ast.If:
        *branches, otherwise = rest
        return ast.If(((condition, body), *branches), otherwise or (), self.span(start, end))

    def elif_(self, start: int, end: int, condition: Any, body: Body) -> tuple[Any, Body]:
        return condition, body

    def otherwise(self, start: int, end: int, body: Body) -> Body:
        return body

    def for_(self, start: int, end: int, variable: ast.Name, iterable: Any, body: Body) -> ast.For:
        return ast.For(variable, iterable, body, self.span(start, end))

    def stream_for(self, start: int, end: int, variable: ast.Name, call: Any, body: Body) -> ast.StreamFor:
        return ast.StreamFor(variable, self.called(call, "stream"), body, self.span(start, end))

    def while_(self, start: int, end: int, condition: Any, limit: Any, body: Body) -> ast.While:
        return ast.While(condition, limit, body, self.span(start, end))

    def match(self, start: int, end: int, subject: Any, *cases: Any) -> ast.Match:
        return ast.Match(subject, tuple(case for case in cases if case is not None), self.span(start, end))

    def case(self, start: int, end: int, pattern: Any, guard: Any, body: Body) -> ast.Case:
        return ast.Case(pattern, guard, body, self.span(start, end))

    def try_(self, start: int, end: int, body: Body, *handlers: ast.Except) -> ast.Try:
        return ast.Try(body, handlers, self.span(start, end))

    def except_(self, start: int, end: int, errors: Any, binding: ast.Name | None, body: Body) -> ast.Except:
        return ast.Except(tuple(errors or ()), binding, body, self.span(start, end))

    def role(self, start: int, end: int, word: ast.Name, body: Body) -> ast.Role:
        return ast.Role(word.text, body, (), None, self.span(start, end), word.span)

    def role_with_tools(self, start: int, end: int, word: ast.Name, *rest: Any) -> ast.Role:
        *tools, limit, body = rest
        if word.text != "assistant":
            self.report(
                "E0122", f"`{word.text}` has no tools", word.span.start, word.span.end,
                hint="only `assistant` can call tools",
            )  # fmt: skip
        return ast.Role(word.text, body, _present(tuple(tools)), limit, self.span(start, end), word.span)

    def forget(self, start: int, end: int, body: Body) -> ast.Forget:
        return ast.Forget(body, self.span(start, end))

    def parallel(self, start: int, end: int, body: Body) -> ast.Parallel:
        return ast.Parallel(body, self.span(start, end))

    def using_block(self, start: int, end: int, models: tuple[ast.Name, ...], body: Body) -> ast.Using:
        return ast.Using(models, body, self.span(start, end))

    def fork(
        self, start: int, end: int, variable: ast.Name, iterable: Any, options: Any, skip: Any, body: Body
    ) -> ast.Fork:
        kept = self.split_by(self._choice_options(options))[0]
        return ast.Fork(variable, iterable, kept, skip is not None, body, self.span(start, end))

    # -- ensure ----------------------------------------------------------------------------------------

    def ensure(self, start: int, end: int, each: Any, condition: Any, verdict: Any) -> ast.Ensure:
        message, fallback = verdict or (None, None)
        return ast.Ensure(True, each, condition, message, None, fallback, self.span(start, end))

    def check(self, start: int, end: int, each: Any, condition: Any, verdict: Any) -> ast.Ensure:
        message, fallback = verdict or (None, None)
        return ast.Ensure(False, each, condition, message, None, fallback, self.span(start, end))

    def verdict(self, start: int, end: int, message: Any, fallback: Any = None) -> tuple[Any, Any]:
        return message, fallback

    def verdict_raise(self, start: int, end: int, fallback: ast.Raise) -> tuple[Any, Any]:
        return None, fallback

    def each(self, start: int, end: int, variable: ast.Name, iterable: Any) -> tuple[ast.Name, Any]:
        return variable, iterable

    def ensure_policy(self, start: int, end: int, ensure: ast.Ensure, *policies: Any) -> ast.Ensure:
        retry, fallback = ensure.retry, ensure.fallback
        for policy in policies:
            if policy is None:
                continue
            second = retry if isinstance(policy, ast.Retry) else fallback
            if second is not None:
                place = policy.span
                self.report(
                    "E0135", "this policy is given twice", place.start, place.end, label="the second one",
                    hint="write one `retry` and one `else raise`",
                )  # fmt: skip
            elif isinstance(policy, ast.Retry):
                if fallback is not None:
                    self.report(
                        "E0135", "`retry` comes before `else raise`", policy.span.start, policy.span.end,
                        hint="what is raised is decided after the last try",
                    )  # fmt: skip
                retry = policy
            else:
                fallback = policy
        return ast.Ensure(
            ensure.hard, ensure.each, ensure.condition, ensure.message, retry, fallback, self.span(start, end)
        )

    def retry(self, start: int, end: int, count: Any, strategy: ast.Name) -> ast.Retry:
        text = strategy.text
        if text not in ("resample", "repair"):
            self.report(
                "E0115", f"there is no way `{text}` to retry", strategy.span.start, strategy.span.end,
                hint="write `retry n resample` or `retry n repair`",
            )  # fmt: skip
            text = "resample"
        return ast.Retry(count, text, self.span(start, end))

    def policy_raise(self, start: int, end: int, fallback: ast.Raise) -> ast.Raise:
        return fallback

    # -- patterns --------------------------------------------------------------------------------------

    def name_pattern(self, start: int, end: int, name: ast.Name) -> ast.NamePattern | ast.WildcardPattern:
        return ast.WildcardPattern(name.span) if name.text == "_" else ast.NamePattern(name, name.span)

    def constructor_pattern(
        self, start: int, end: int, name: ast.Name, fields: Any
    ) -> ast.ConstructorPattern:
        return ast.ConstructorPattern(name, tuple(f for f in fields or () if f), self.span(start, end))

    def field_pattern(self, start: int, end: int, name: ast.Name, pattern: Any) -> ast.FieldPattern:
        return ast.FieldPattern(name, pattern)

    def positional_pattern(self, start: int, end: int, pattern: Any) -> None:
        self.report(
            "E0126", "a field in a pattern needs its name", start, end,
            hint=f"write `field = {self.text[start:end]}`",
        )  # fmt: skip

    def literal_pattern(self, start: int, end: int, value: ast.String | ast.Number) -> ast.LiteralPattern:
        plain = self.plain(value, "a pattern") if isinstance(value, ast.String) else value.value
        return ast.LiteralPattern(plain, self.span(start, end))

    def true_pattern(self, start: int, end: int) -> ast.LiteralPattern:
        return ast.LiteralPattern(True, self.span(start, end))

    def false_pattern(self, start: int, end: int) -> ast.LiteralPattern:
        return ast.LiteralPattern(False, self.span(start, end))

    def null_pattern(self, start: int, end: int) -> ast.LiteralPattern:
        return ast.LiteralPattern(None, self.span(start, end))

    def range_pattern(self, start: int, end: int, bounds: Any) -> ast.RangePattern:
        low, high, below = bounds
        return ast.RangePattern(low, high, below, self.span(start, end))

    def alternatives(self, start: int, end: int, *patterns: Any) -> ast.AlternativesPattern:
        return ast.AlternativesPattern(patterns, self.span(start, end))

    def sequence_pattern(self, start: int, end: int, *items: Any) -> ast.SequencePattern:
        return ast.SequencePattern(items, self.span(start, end))
