"""Calls: functions, constructors, methods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from sglc.check.core.context import WORDS, ModuleContext, Signature
from sglc.check.core.edits import begins_line, insertion
from sglc.check.core.result import (
    BuiltinSymbol,
    ExpressionType,
    FunctionSymbol,
    Never,
    RecordSymbol,
    Unknown,
    VariantSymbol,
)
from sglc.check.expressions.arguments import Arguments, fields_as_parameters
from sglc.check.expressions.builtin_calls import BuiltinCalls
from sglc.check.expressions.builtin_results import methods_of
from sglc.check.expressions.folding import constructed
from sglc.check.expressions.inference import Inference
from sglc.check.names.builtins import ERRORS, FUNCTIONS
from sglc.check.names.foreign_names import function_advice, kind_of, method_advice
from sglc.check.names.hole_figures import HoleFigures
from sglc.check.names.scopes import Scopes
from sglc.check.types.kinds import UNKNOWN, allows_null, expand, said
from sglc.diagnostics.diagnostic import Label
from sglc.syntax.tree import ast
from sglc.types.type import Named, RecordType, UnionType


@dataclass(frozen=True, slots=True, eq=False)
class Calls:
    """Calls by what is called."""

    module: ModuleContext
    scopes: Scopes
    inference: Inference
    builtins: BuiltinCalls
    arguments: Arguments
    figures: HoleFigures

    def call(self, node: ast.Call, expected: ExpressionType | None) -> ExpressionType:
        """The type of what a call gives."""
        function = node.function
        if isinstance(function, ast.Reference):
            return self._call_name(node, function, expected)
        if isinstance(function, ast.Attribute):
            return self._call_attribute(node, function, expected)
        found = self.inference.infer(function)
        self.arguments.infer_all(node)
        if not isinstance(found, Unknown):
            self.module.report("E0327", f"{said(found)} cannot be called", function.span, label="no function")
        return UNKNOWN

    def _call_name(
        self, node: ast.Call, function: ast.Reference, expected: ExpressionType | None
    ) -> ExpressionType:
        name = function.name
        entity = self.module.look_up(name)
        if entity is not None:
            entity.used = True
            if entity.kind == "function":
                return self.call_function(node, function, self.module.program.signatures.get(entity.name))
            if entity.kind == "type":
                return self._construct(node, function, entity.name)
            self.arguments.infer_all(node)
            if entity.kind == "error":
                self.module.report(
                    "E0327",
                    f"`{name}` is an error, not a function",
                    function.span,
                    label="cannot be called",
                    hint=f"write `raise {name}(…)`",
                )
            elif entity.kind != "broken":
                self.module.report(
                    "E0327",
                    f"`{name}` is {WORDS[entity.kind]}, not a function",
                    function.span,
                    label="cannot be called",
                )
            return UNKNOWN
        owners = self.module.variants.get(name)
        if owners is not None:
            return self._variant(node, function, name, owners, expected)
        row = FUNCTIONS.get(name)
        if row is not None:
            self.module.symbols[id(function)] = self.module.symbols[id(node)] = BuiltinSymbol(name)
            return self.builtins.call(node, row, None)
        self.arguments.infer_all(node)
        local = self.scopes.function.scope.find(name)
        if local is not None:
            local.used = True
            self.module.report(
                "E0327",
                f"`{name}` is a variable, not a function",
                function.span,
                label="cannot be called",
                secondary=(Label(local.span, "bound here"),),
            )
            return UNKNOWN
        if name in ERRORS:
            self.module.report(
                "E0327",
                f"`{name}` is an error, not a function",
                function.span,
                label="cannot be called",
                hint=f"write `raise {name}(…)`",
            )
            return UNKNOWN
        advice = function_advice(node, name)
        close = self.module.nearest(name, _callable_names(self.module)) if advice is None else None
        self.module.report(
            "E0201",
            (advice.message if advice is not None else "") or f"there is no function `{name}`",
            function.span,
            label="unknown name",
            hint=f"did you mean `{close}`?"
            if close
            else advice.hint
            if advice is not None
            else self._home(name),
            edits=() if advice is None else advice.edits,
        )
        return UNKNOWN

    def _home(self, name: str) -> str:
        """Where in the standard library a function stands, if one has this name."""
        module = next(
            (path for path, names in self.module.program.library.shared_names().items() if name in names), ""
        )
        return f"add `use {module} ({name})` at the top of the file" if module else ""

    def call_function(
        self, node: ast.Call, name: ast.Reference, signature: Signature | None, *, as_part: bool = False
    ) -> ExpressionType:
        """A call of a declared function; `as_part` where it stands after `part`."""
        if signature is None:
            self.arguments.infer_all(node)
            return UNKNOWN
        self.module.symbols[id(name)] = self.module.symbols[id(node)] = FunctionSymbol(signature.name)
        if not signature.available:
            self.arguments.infer_all(node)
            return UNKNOWN
        if signature.kind == "part" and not as_part:
            self.module.report(
                "E0401",
                f"`{name.name}` is a part: it writes into the caller's message",
                node.span,
                label="called like a function",
                hint=f"write `part {name.name}(…)` on a line of its own",
                edits=insertion("part ", node.span) if begins_line(node.span) else (),
                secondary=(Label(signature.declaration.name.span, "declared as a part here"),),
            )
        elif as_part and signature.kind != "part":
            self.module.report(
                "E0401",
                f"`{name.name}` is no part: it has a conversation of its own",
                node.span,
                label="called like a part",
                hint=f"write `{name.name}(…)` without `part`",
                secondary=(Label(signature.declaration.name.span, "declared here"),),
            )
        elif self.scopes.function.kind in ("pure", "const") and signature.kind != "pure":
            self.module.report(
                "E0402",
                f"{self.scopes.place()} cannot call `{name.name}`",
                node.span,
                label="may ask a model",
                reason="pure functions depend on their arguments only",
                hint=f"make `{name.name}` a `pure fn` if it asks no model",
            )
        self.arguments.bind(
            node, node.arguments, signature.parameters, f"`{name.name}`", node.span, _declared(signature)
        )
        self.scopes.function.may_raise_as(signature, node.span)
        return signature.result

    def _construct(self, node: ast.Call, function: ast.Reference, name: str) -> ExpressionType:
        declared = self.module.table.get(name)
        plain = expand(Named(name), self.module.table)
        if isinstance(plain, Named):
            declared = self.module.table.get(plain.name)
        if isinstance(declared, RecordType):
            self.module.symbols[id(function)] = self.module.symbols[id(node)] = RecordSymbol(declared.name)
            self.arguments.bind(
                node, node.arguments, fields_as_parameters(declared), f"`{function.name}`", node.span
            )
            return Named(declared.name)
        self.arguments.infer_all(node)
        if isinstance(plain, Unknown):
            return UNKNOWN
        hint = ""
        if isinstance(declared, UnionType):
            hint = "call one of its variants: " + ", ".join(f"`{v.name}`" for v in declared.variants[:6])
        elif isinstance(plain, Named):
            hint = "write one of its members"
        self.module.report(
            "E0327",
            f"`{function.name}` is a type that is not made by a call",
            function.span,
            label="no record",
            hint=hint,
        )
        return UNKNOWN

    def _variant(
        self,
        node: ast.Call,
        function: ast.Reference,
        name: str,
        owners: list[str],
        expected: ExpressionType | None,
    ) -> ExpressionType:
        chosen = owners[0]
        if len(owners) > 1:
            wanted = expand(expected, self.module.table) if expected is not None else None
            if isinstance(wanted, Named) and wanted.name in owners:
                chosen = wanted.name
            else:
                self.arguments.infer_all(node)
                self.module.report(
                    "E0208",
                    f"`{name}` is a variant of {len(owners)} unions",
                    function.span,
                    label="which one?",
                    hint="write " + " or ".join(f"`{o.rsplit('.', 1)[-1]}.{name}(…)`" for o in owners),
                )
                return UNKNOWN
        return self._make_variant(node, function, chosen, name)

    def _make_variant(self, node: ast.Call, key: ast.Expression, union: str, name: str) -> ExpressionType:
        self._define(union)
        symbol = VariantSymbol(union, name)
        self.module.use(union)
        record = constructed(self.module.table, symbol)
        if record is None:
            self.arguments.infer_all(node)
            return UNKNOWN
        self.module.symbols[id(key)] = self.module.symbols[id(node)] = symbol
        self.arguments.bind(node, node.arguments, fields_as_parameters(record), f"`{name}`", node.span)
        return Named(union)

    def _define(self, name: str) -> None:
        """Make sure a declared type is in the table, wherever it is declared."""
        if name not in self.module.table:
            for entity in self.module.names.values():
                if entity.name == name and entity.kind == "type":
                    self.module.program.reader_of(entity).define(entity)

    def _call_attribute(
        self, node: ast.Call, function: ast.Attribute, expected: ExpressionType | None
    ) -> ExpressionType:
        label = function.name.text
        if isinstance(function.value, ast.Reference):
            name = function.value.name
            entity = self.module.names.get(name)
            if entity is not None and entity.kind == "type" and self.scopes.function.scope.find(name) is None:
                self.module.look_up(name)
                entity.used = True
                declared = self.module.table.get(entity.name)
                if isinstance(declared, UnionType):
                    if declared.variant(label) is not None:
                        return self._make_variant(node, function, declared.name, label)
                    close = self.module.nearest(label, [v.name for v in declared.variants])
                    self.arguments.infer_all(node)
                    self.module.report(
                        "E0209",
                        f"`{name}` has no variant `{label}`",
                        function.name.span,
                        label="unknown variant",
                        hint=f"did you mean `{close}`?" if close else "",
                    )
                    return UNKNOWN
        owner = self.inference.infer(function.value)
        owner = self.figures.scores(function) or owner
        plain = expand(owner, self.module.table)
        if isinstance(plain, Unknown | Never):
            self.arguments.infer_all(node)
            return UNKNOWN
        methods = methods_of(self.module.table, plain)
        row = methods.get(label)
        if row is None:
            self.arguments.infer_all(node)
            close = self.module.nearest(label, list(methods))
            hint = f"did you mean `.{close}`?" if close else ""
            if not hint and label in FUNCTIONS:
                hint = f"write `{label}(x)`"
            if not hint and allows_null(owner, self.module.table):
                hint = "it may be null: test it first"
            advice = method_advice(node, function, kind_of(plain, self.module.table))
            self.module.report(
                "E0209",
                f"{said(owner)} has no method `{label}`",
                function.name.span,
                label="unknown method",
                hint=hint if advice is None else advice.hint,
                edits=() if advice is None else advice.edits,
            )
            return UNKNOWN
        self.module.types[id(function)] = UNKNOWN
        self.module.symbols[id(function)] = self.module.symbols[id(node)] = BuiltinSymbol("." + label)
        return self.builtins.call(node, row, owner)


def _callable_names(module: ModuleContext) -> Iterator[str]:
    names = (n for n, e in module.names.items() if e.kind in ("function", "type"))
    return chain(names, module.variants, FUNCTIONS)


def _declared(signature: Signature) -> tuple[Label, ...]:
    return (Label(signature.declaration.name.span, "declared here"),)
