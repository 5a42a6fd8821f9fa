"""`for p in stream f(x):`: a result as it is written."""

from __future__ import annotations

from collections.abc import Iterator

from sglc.check.core.context import ModuleContext, Signature
from sglc.check.core.result import ExpressionType, FunctionSymbol, Unknown
from sglc.check.core.walk import Body, statements
from sglc.check.expressions.inference import Inference
from sglc.check.names.scopes import Scopes
from sglc.check.statements.loops import Loops
from sglc.check.types.kinds import NULL, UNKNOWN
from sglc.diagnostics.diagnostic import Label
from sglc.immutable import node
from sglc.syntax.tree import ast
from sglc.types.text.partial_types import partial_type
from sglc.types.type import Json, Null, Optional


@node
class Streams:
    """Loops over what is there of a result while it is written."""

    module: ModuleContext
    scopes: Scopes
    inference: Inference
    loops: Loops

    def stream(self, node: ast.StreamFor) -> bool:
        """A loop over parts of a result, which may have a name behind the loop."""
        result = self.inference.infer(node.call)
        signature = self._streamed(node)
        if signature is None or isinstance(signature.result, Unknown):
            result = UNKNOWN
            partial: ExpressionType = UNKNOWN
        else:
            partial = partial_type(signature.result, self.module.table)  # type: ignore[arg-type]
            self.module.resolved[id(node)] = partial
            self.module.constants[id(node)] = self._hole(node, signature)
        self.scopes.open()
        self.scopes.bind(node, node.variable, partial, "loop", used=True)
        self.loops.loop(node, node.body)
        self.scopes.close()
        if node.whole is not None:
            self.scopes.bind(node.whole, node.whole, _behind(node.body, result), "let")
        return False

    def _streamed(self, node: ast.StreamFor) -> Signature | None:
        """The function whose result is streamed; None where there is none, which is reported."""
        symbol = self.module.symbols.get(id(node.call))
        found = None
        if isinstance(symbol, FunctionSymbol):
            found = self.module.program.signatures.get(symbol.name)
        if found is not None and found.kind == "fn" and found.result != NULL:
            return found
        if found is not None and (found.kind == "part" or isinstance(found.result, Unknown)):
            return None  # which is reported
        if isinstance(symbol, FunctionSymbol) or self.module.types.get(id(node.call)) != UNKNOWN:
            without = found is not None and found.kind == "fn"
            self.module.report(
                "E0470",
                "only the result of a `fn` can be streamed",
                node.call.span,
                label="returns nothing" if without else "is no call of a `fn`",
                reason="`stream` shows what a model writes in a conversation of its own",
                hint="give the function a result" if without else "call a `fn` that returns what it asks for",
            )
        return None

    def _hole(self, node: ast.StreamFor, signature: Signature) -> str:
        """The full name of the hole whose text is the function's result; empty where it is none, of which is
        told."""
        declaration = signature.declaration
        returned = None
        if isinstance(declaration, ast.FunctionDeclaration):
            values = [s.value for s in statements(declaration.body) if isinstance(s, ast.Return)]
            names = {value.name if isinstance(value, ast.Reference) else "" for value in values}
            only = names.pop() if len(names) == 1 else ""
            if only and only in _holes(declaration.body):
                return f"{signature.name}.{only}"
            returned = next((v for v in values if v is not None and not _is_hole(v, declaration)), None)
        self.module.report(
            "W0247",
            f"nothing of `{signature.declaration.name.text}` is seen before it has ended",
            node.call.span,
            label="one round, with the whole value",
            secondary=() if returned is None else (Label(returned.span, "is no hole of the function"),),
            reason="parts are seen of a function that returns what one of its holes was filled with",
            hint="call it without `stream`, or return a hole in it: `return name`",
        )
        return ""


def _is_hole(value: ast.Expression, declaration: ast.FunctionDeclaration) -> bool:
    return isinstance(value, ast.Reference) and value.name in _holes(declaration.body)


def _holes(body: Body) -> set[str]:
    """The names of the holes in a body; one that other variables have too is left out."""
    holes: list[str] = []
    others: set[str] = set()
    for statement in statements(body):
        match statement:
            case ast.PipeLine(parts):
                holes += [part.name.text for part in parts if isinstance(part, ast.Hole)]
            case ast.Let(name, _, _, ast.Gen() | ast.Choose() | ast.Select()):
                holes.append(name.text)
            case ast.Let(name):
                others.add(name.text)
            case ast.Assign(ast.Reference(name)):
                others.add(name)
    return {name for name in holes if holes.count(name) == 1 and name not in others}


def _behind(body: Body, result: ExpressionType) -> ExpressionType:
    """The type of the result behind the loop: null where the loop may be left before its call has ended."""
    if any(_leaves(body)) and not isinstance(result, Unknown | Optional | Null | Json):
        return Optional(result)  # type: ignore[arg-type]
    return result


def _leaves(body: Body) -> Iterator[bool]:
    """True for each `break` that leaves the loop with this body."""
    for statement in body:
        match statement:
            case ast.Break():
                yield True
            case ast.If(branches, otherwise):
                for _, inner in branches:
                    yield from _leaves(inner)
                yield from _leaves(otherwise)
            case ast.Match(_, cases):
                for case in cases:
                    yield from _leaves(case.body)
            case ast.Try(inner, handlers):
                yield from _leaves(inner)
                for handler in handlers:
                    yield from _leaves(handler.body)
            case ast.Role() | ast.Using() | ast.Parallel() | ast.Forget():
                yield from _leaves(statement.body)
