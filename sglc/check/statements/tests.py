"""Statements of tests."""

from __future__ import annotations

from sglc.check.core.context import ModuleContext, Signature
from sglc.check.core.edits import insertion
from sglc.check.core.result import ErrorSymbol, FunctionSymbol, RecordSymbol
from sglc.check.expressions.arguments import Arguments, fields_as_parameters
from sglc.check.expressions.constants import Constants
from sglc.check.expressions.folding import convert, fold
from sglc.check.expressions.inference import Inference
from sglc.check.names.errors import error_named
from sglc.check.names.scopes import Scopes
from sglc.check.statements.blocks import Blocks
from sglc.check.types.kinds import said
from sglc.immutable import node
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.type import Named, RecordType, Type


@node
class StatementsOfTests:
    """Statements of `test` blocks."""

    module: ModuleContext
    scopes: Scopes
    inference: Inference
    constants: Constants
    blocks: Blocks
    arguments: Arguments

    def _only_in_tests(self, word: str, span: Span) -> None:
        if self.scopes.function.kind != "test":
            self.module.report(
                "E0415", f"`{word}` stands outside any test", span, label="belongs to `test` blocks"
            )

    def mock(self, node: ast.Mock) -> bool:
        """A value that a hole is given."""
        self._only_in_tests("mock", node.span)
        entity = self.module.look_up(node.function.text)
        if entity is None or entity.kind != "function":
            self.inference.infer(node.value)
            if entity is None or entity.kind != "broken":
                pool = (n for n, e in self.module.names.items() if e.kind == "function")
                close = self.module.nearest(node.function.text, pool)
                owner = self._owner(node.function.text) if node.hole is None else None
                if owner is not None:
                    self.module.report(
                        "E0212",
                        "a mock names the function and its hole",
                        node.function.span,
                        label="of which function?",
                        hint=f"write `mock {owner}.{node.function.text} = …`",
                        edits=insertion(f"{owner}.", node.function.span),
                    )
                    return False
                self.module.report(
                    "E0201",
                    f"there is no function `{node.function.text}`",
                    node.function.span,
                    label="unknown name",
                    hint=f"did you mean `{close}`?" if close else "",
                )
            return False
        entity.used = True
        signature = self.module.program.signatures[entity.name]
        self.module.symbols[id(node)] = self.module.symbols[id(node.function)] = FunctionSymbol(entity.name)
        if node.hole is None:
            return self._extern_mock(node, signature)
        facts = signature.holes.get(node.hole.text)
        if facts is None:
            self.inference.infer(node.value)
            close = self.module.nearest(node.hole.text, list(signature.holes))
            listing = ", ".join(f"`{hole}`" for hole in signature.holes) or "none"
            self.module.report(
                "E0212",
                f"`{node.function.text}` has no hole `{node.hole.text}`",
                node.hole.span,
                label="unknown hole",
                hint=f"did you mean `{close}`?" if close else f"its holes: {listing}",
            )
            return False
        if facts.type is None:
            self.inference.infer(node.value)
            return False
        if not self._tool_call(node.value, facts.type):
            self._mocked(node.value, facts.type, f"hole `{node.hole.text}`")
        return False

    def _tool_call(self, node: ast.Expression, type: Type) -> bool:
        """The arguments of a tool as a call of it: `mock f.calc = calc("2 + 3")`."""
        if not (isinstance(node, ast.Call) and isinstance(node.function, ast.Reference)):
            return False
        entity = self.module.look_up(node.function.name)
        declared = self.module.table.get(type.name) if isinstance(type, Named) else None
        if entity is None or not isinstance(declared, RecordType):
            return False
        if declared.name != f"{entity.name}.arguments":
            return False
        self.module.symbols[id(node.function)] = self.module.symbols[id(node)] = RecordSymbol(declared.name)
        what = f"the call of `{node.function.name}`"
        self.arguments.bind(node, node.arguments, fields_as_parameters(declared), what, node.span)
        self.module.types[id(node)] = type
        return True

    def _owner(self, hole: str) -> str | None:
        """The only function of the module with a hole of that name."""
        entities = [e for e in self.module.names.values() if e.kind == "function"]
        signatures = self.module.program.signatures
        owners = [e.name for e in entities if e.name in signatures and hole in signatures[e.name].holes]
        return owners[0] if len(owners) == 1 else None

    def _extern_mock(self, node: ast.Mock, signature: Signature) -> bool:
        """A value that a function of Python gives."""
        if signature.kind != "extern":
            self.inference.infer(node.value)
            self.module.report(
                "E0212",
                f"`{node.function.text}` is no `extern py`",
                node.function.span,
                label="has holes to be mocked",
                hint=f"name the hole: `mock {node.function.text}.{next(iter(signature.holes), 'hole')} = …`",
            )
        elif isinstance(signature.result, Type):
            self._mocked(node.value, signature.result, f"`{node.function.text}`")
        return False

    def _mocked(self, node: ast.Expression, type: Type, what: str) -> None:
        """The value of a mock, which must be one of the type."""
        before = len(self.module.diagnostics)
        self.inference.infer(node, type)
        quiet = len(self.module.diagnostics) > before
        found, value = fold(self.module, node)
        if not found:
            self.inference.fits(node, self.module.types[id(node)], type, f"the value of {what}", quiet)
            return
        if quiet:
            return
        reason = self.inference.not_a_member(value, type)
        if reason is not None:
            self.module.report(
                "E0302",
                f"{what} can never have this value",
                node.span,
                label=f"no value of {said(type)}" if not _called(type) else "no call of the tool",
                reason="" if _called(type) else reason,
                hint=self._answered(node, type),
            )
            return
        self.module.constants[id(node)] = convert(self.module.table, value, type)

    def _answered(self, node: ast.Expression, type: Type) -> str:
        """How a mock that has no value of the type may be meant."""
        if _called(type):
            return f"write a call of the tool: `{_called(type)}(…)`"
        return "a mock answers once: write one for each answer" if isinstance(node, ast.ListDisplay) else ""

    def fuzz(self, node: ast.Fuzz) -> bool:
        """A call that is repeated with random values for its holes."""
        self._only_in_tests("fuzz", node.span)
        result = self.inference.infer(node.call)
        count = self.constants.whole(node.times, "the number of rounds")
        if count is not None and count < 1:
            self.module.report("E0412", "rounds are at least 1", node.times.span, label=f"this is {count}")
        self.scopes.open()
        it = ast.Name("it", node.call.span)
        self.scopes.bind(node, it, result, "it", used=True)
        self.blocks.body(node.body)
        self.scopes.close()
        return False

    def golden(self, node: ast.Golden) -> bool:
        """A call that must ask what it asked before, and give what it gave."""
        self._only_in_tests("golden", node.span)
        self.inference.infer(node.call)
        symbol = self.module.symbols.get(id(node.call))
        if symbol is not None and not isinstance(symbol, FunctionSymbol):
            self.module.report(
                "E0471",
                "only calls of functions are held against an earlier run",
                node.call.span,
                label="asks no model",
                hint="write `expect` with the value that is due",
            )
        return False

    def replay(self, node: ast.Replay) -> bool:
        """A recorded run that must go as it went."""
        self._only_in_tests("replay", node.span)
        path = node.path.replace("\\", "/")
        if path.startswith("/") or ".." in path.split("/") or ":" in path or not path:
            self.module.report(
                "E0471",
                "a trace lies beside its program, or in a folder there",
                node.span,
                label="leads elsewhere",
                hint='write a path without `..`, as in `replay "traces/run.jsonl"`',
            )
        return False

    def expect(self, node: ast.Expect) -> bool:
        """A condition that a test is about."""
        self._only_in_tests("expect", node.span)
        self.inference.condition(node.condition)
        return False

    def expect_raises(self, node: ast.ExpectRaises) -> bool:
        """An error that a call must raise."""
        self._only_in_tests("expect", node.span)
        self.inference.infer(node.call)
        found = error_named(self.module, node.error)
        if found is not None:
            self.module.symbols[id(node)] = self.module.symbols[id(node.error)] = ErrorSymbol(found)
        return False


def _called(type: Type) -> str:
    """The tool whose arguments a type has; empty where it is another one."""
    name = type.name if isinstance(type, Named) else ""
    return name.removesuffix(".arguments") if name.endswith(".arguments") else ""
