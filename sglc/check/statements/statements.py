"""The table of all statements, with those of tests and those that do not run yet."""

from __future__ import annotations

from sglc.check.core.result import ErrorSymbol, FunctionSymbol
from sglc.check.statements.prompt_lines import header
from sglc.check.statements.retry_policies import Policies
from sglc.check.types.assignability import INT, UNKNOWN, said
from sglc.diagnostics.diagnostic import Edit
from sglc.diagnostics.suggest import nearest
from sglc.source import Span
from sglc.syntax import ast


class Statements(Policies):
    """All forms of statements by class."""

    def _evaluate(self, node: ast.Evaluate) -> bool:
        value = node.value
        found = self.infer(value)
        if isinstance(value, ast.String) and self.function.role is not None:
            plain = "\\" not in value.span.text and len(value.span.text) > 2 and value.span.text[-1] == '"'
            self.program.report(
                "W0202", "this text is not part of the prompt", value.span, label="has no effect",
                hint="write it on a pipe line, without quotes",
                edits=(Edit(value.span, f"| {value.span.text[1:-1]}"),) if plain else (),
            )  # fmt: skip
        elif found != UNKNOWN and not isinstance(value, _EFFECTS):
            self.program.report(
                "W0202", "this value is not used", value.span, label="has no effect",
                hint="bind it with `let`, or remove the line",
            )  # fmt: skip
        return False

    def _forget(self, node: ast.Forget) -> bool:
        self._unavailable(
            "E0908", "`forget`", header(node.span), "call a `fn`, which has its own conversation"
        )
        return not self.block(node.body)

    def _think(self, node: ast.Think) -> bool:
        for option in node.options:
            self.infer(option.value)
        self._unavailable("E0909", "`think`", node.span, "write a hole: `?{thought: str max 300 chars}`")
        return False

    def _parallel(self, node: ast.Parallel) -> bool:
        self._unavailable("E0910", "`par`", header(node.span), "write the statements one after the other")
        return not self.body(node.body)

    def _using(self, node: ast.Using) -> bool:
        self._unavailable("E0911", "`using`", header(node.span), "choose the model with `--model`")
        return not self.body(node.body)

    def _stream(self, node: ast.StreamFor) -> bool:
        self.infer(node.call)
        self._unavailable(
            "E0913", "`stream` in programs", header(node.span), "call the function and use its result"
        )
        self.open()
        self.bind(node, node.variable, UNKNOWN, "loop", used=True)
        self._loop(node, node.body)
        self.close()
        return False

    def _golden(self, node: ast.Golden | ast.Replay) -> bool:
        if isinstance(node, ast.Golden):
            self.infer(node.call)
        word = "golden" if isinstance(node, ast.Golden) else "replay"
        self._unavailable("E0916", f"`{word}` in tests", node.span, "write `mock` and `expect`")
        return False

    def _only_in_tests(self, word: str, span: Span) -> None:
        if self.function.kind != "test":
            self.program.report(
                "E0415", f"`{word}` stands outside any test", span, label="belongs to `test` blocks"
            )

    def _mock(self, node: ast.Mock) -> bool:
        self._only_in_tests("mock", node.span)
        entity = self.look_up(node.function.text)
        if entity is None or entity.kind != "function":
            self.infer(node.value)
            if entity is None or entity.kind != "broken":
                pool = [n for n, e in self.module.names.items() if e.kind == "function"]
                close = nearest(node.function.text, pool)
                self.program.report(
                    "E0201",
                    f"there is no function `{node.function.text}`",
                    node.function.span,
                    label="unknown name",
                    hint=f"did you mean `{close}`?" if close else "",
                )
            return False
        entity.used = True
        signature = self.program.signatures[entity.name]
        self.symbols[id(node)] = self.symbols[id(node.function)] = FunctionSymbol(entity.name)
        facts = signature.holes.get(node.hole.text)
        if facts is None:
            self.infer(node.value)
            close = nearest(node.hole.text, list(signature.holes))
            listing = ", ".join(f"`{hole}`" for hole in signature.holes) or "none"
            self.program.report(
                "E0212",
                f"`{node.function.text}` has no hole `{node.hole.text}`",
                node.hole.span,
                label="unknown hole",
                hint=f"did you mean `{close}`?" if close else f"its holes: {listing}",
            )
            return False
        if facts.type is None:
            self.infer(node.value)
            return False
        before = len(self.program.diagnostics)
        self.infer(node.value, facts.type)
        quiet = len(self.program.diagnostics) > before
        found, value = self.fold(node.value)
        what = f"the value of hole `{node.hole.text}`"
        if not found:
            self.fits(node.value, self.types[id(node.value)], facts.type, what, quiet)
            return False
        if quiet:
            return False
        reason = self.not_a_member(value, facts.type)
        if reason is not None:
            self.program.report(
                "E0302", f"hole `{node.hole.text}` can never have this value", node.value.span,
                label=f"no value of {said(facts.type)}", reason=reason,
            )  # fmt: skip
            return False
        self.module.constants[id(node.value)] = self.convert(value, facts.type)
        return False

    def _fuzz(self, node: ast.Fuzz) -> bool:
        self._only_in_tests("fuzz", node.span)
        result = self.infer(node.call)
        count = self.needed(node.times, INT, "the number of rounds")
        if count is not None and count < 1:
            self.program.report("E0412", "rounds are at least 1", node.times.span, label=f"this is {count}")
        self.open()
        it = ast.Name("it", node.call.span)
        self.bind(node, it, result, "it", used=True)
        self.body(node.body)
        self.close()
        return False

    def _expect(self, node: ast.Expect) -> bool:
        self._only_in_tests("expect", node.span)
        self.condition(node.condition)
        return False

    def _expect_raises(self, node: ast.ExpectRaises) -> bool:
        self._only_in_tests("expect", node.span)
        outer, self.function.raised = self.function.raised, {}
        self.infer(node.call)
        self.function.raised = outer
        found = self.error_named(node.error)
        if found is not None:
            self.symbols[id(node)] = self.symbols[id(node.error)] = ErrorSymbol(found)
        return False


_EFFECTS = (ast.Call, ast.OrElse, ast.Gen, ast.Choose, ast.Select, ast.Fork)
"""Expressions that do something besides having a value."""

Statements.STATEMENTS = {
    ast.Include: Statements._include,
    ast.Role: Statements._role,
    ast.Let: Statements._let,
    ast.Assign: Statements._assign,
    ast.Evaluate: Statements._evaluate,
    ast.If: Statements._if,
    ast.For: Statements._for,
    ast.While: Statements._while,
    ast.Match: Statements._match,
    ast.Return: Statements._return,
    ast.Break: Statements._break,
    ast.Continue: Statements._break,
    ast.Raise: Statements._raise_statement,
    ast.Try: Statements._try,
    ast.Ensure: Statements._ensure,
    ast.Yield: Statements._yield,
    ast.Adopt: Statements._adopt,
    ast.Part: Statements._part,
    ast.Forget: Statements._forget,
    ast.Think: Statements._think,
    ast.Parallel: Statements._parallel,
    ast.Using: Statements._using,
    ast.StreamFor: Statements._stream,
    ast.Mock: Statements._mock,
    ast.Fuzz: Statements._fuzz,
    ast.Expect: Statements._expect,
    ast.ExpectRaises: Statements._expect_raises,
    ast.Golden: Statements._golden,
    ast.Replay: Statements._golden,
}
