"""Calls: functions, constructors, methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from sglc.check.core.context import WORDS, ModuleContext, Signature
from sglc.check.core.edits import begins_value, insertion
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
from sglc.check.names.type_parameters import (
    MAX_PARTS,
    TypeArguments,
    is_value_type,
    mentions_any,
    short_name,
    standing_alone,
    too_large,
    written_type,
)
from sglc.check.types.kinds import UNKNOWN, allows_null, expand, said
from sglc.check.types.resolve import TypeResolver
from sglc.diagnostics.diagnostic import Label
from sglc.immutable import node
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.type import Named, RecordType, UnionType


@node
class Calls:
    """Calls by what is called."""

    module: ModuleContext
    scopes: Scopes
    inference: Inference
    builtins: BuiltinCalls
    arguments: Arguments
    figures: HoleFigures
    types: TypeResolver

    def call(self, node: ast.Call, expected: ExpressionType | None) -> ExpressionType:
        """The type of what a call gives."""
        function = node.function
        if isinstance(function, ast.Reference):
            return self._call_name(node, function, expected)
        if isinstance(function, ast.Attribute):
            return self._call_attribute(node, function, expected)
        callee = self.callee(node)
        if callee is not None:
            name, signature = callee
            return self.call_function(node, name, signature, expected)
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
                return self.call_function(
                    node, function, self.module.program.signatures.get(entity.name), expected
                )
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

    def callee(self, node: ast.Call) -> tuple[ast.Reference, Signature | None] | None:
        """The declared function that a call names, as `f(…)` or `f[T](…)`; None where it names none."""
        function = node.function
        name = function.value if isinstance(function, ast.Index) else function
        if not isinstance(name, ast.Reference):
            return None
        if isinstance(function, ast.Index) and self.scopes.function.scope.find(name.name) is not None:
            return None
        entity = self.module.look_up(name.name)
        if entity is None or entity.kind != "function":
            return None
        entity.used = True
        return name, self.module.program.signatures.get(entity.name)

    def _not_a_function(self, node: ast.Call, name: str, signature: Signature) -> None:
        """A part or an aside is called without saying so."""
        word = "aside" if getattr(signature.declaration, "kind", "") == "aside" else "part"
        said = "an aside" if word == "aside" else "a part"
        self.module.report(
            "E0401",
            f"`{name}` is {said}: it writes into the caller's message",
            node.span,
            label="called like a function",
            hint=f"write `{word} {name}(…)` on a line of its own, or `let … = {word} {name}(…)`",
            edits=insertion(f"{word} ", node.span) if begins_value(node.span) else (),
            secondary=(Label(signature.declaration.name.span, f"declared as {said} here"),),
        )

    def call_function(
        self,
        node: ast.Call,
        name: ast.Reference,
        signature: Signature | None,
        expected: ExpressionType | None = None,
        *,
        as_part: bool = False,
    ) -> ExpressionType:
        """A call of a declared function; `as_part` where it stands after `part`."""
        if signature is None:
            self.arguments.infer_all(node)
            return UNKNOWN
        self.module.symbols[id(name)] = self.module.symbols[id(node)] = FunctionSymbol(signature.name)
        if signature.kind == "part" and not as_part:
            self._not_a_function(node, name.name, signature)
        elif as_part and signature.kind != "part":
            self.module.report(
                "E0401",
                f"`{name.name}` is no part: it has a conversation of its own",
                node.span,
                label="called like a part",
                hint=f"write `{name.name}(…)` alone, or declare it as a `part` or an `aside`",
                secondary=(Label(signature.declaration.name.span, "declared here"),),
            )
        elif self.scopes.function.kind in ("pure", "const") and signature.kind != "pure":
            self.module.report(
                "E0402",
                f"{self.scopes.place()} cannot call `{name.name}`",
                node.span,
                label="may run Python" if signature.kind == "extern" else "may ask a model",
                reason="pure functions depend on their arguments only",
                hint="call it in a `fn`"
                if signature.kind == "extern"
                else f"make `{name.name}` a `pure fn` if it asks no model",
            )
        if signature.type_parameters or isinstance(node.function, ast.Index):
            return self._with_types(node, name, signature, expected)
        self.arguments.bind(
            node, node.arguments, signature.parameters, f"`{name.name}`", node.span, _declared(signature)
        )
        return signature.result

    def _with_types(
        self, node: ast.Call, name: ast.Reference, signature: Signature, expected: ExpressionType | None
    ) -> ExpressionType:
        """A call of a function with type parameters, which are written or follow from the call."""
        solving = TypeArguments(signature.type_parameters, self.module.table)
        if isinstance(node.function, ast.Index):
            if not self._written_types(node.function, signature, solving):
                self.arguments.infer_all(node)
                return UNKNOWN
        written = bool(solving.known)
        parameters = [
            (label, solving.applied(type), default) for label, type, default in signature.parameters
        ]
        waiting = self.arguments.bind(
            node, node.arguments, parameters, f"`{name.name}`", node.span, _declared(signature), solving
        )
        if not written and not self._solved(node, name, signature, solving, expected, waiting):
            return UNKNOWN
        wanted = {label: type for label, type, _ in parameters}
        for value, found, label in waiting:
            self.inference.fits(value, found, solving.applied(wanted[label]), f"`{label}`")
        program = self.module.program
        types = tuple(standing_alone(solving.known[each]) for each in signature.type_parameters)  # type: ignore[arg-type]
        if not any(mentions_any(type, program.opaque) for type in types):
            copy = program.copies.copy_of(signature, types, node.span)
            if copy is not None:
                self.module.symbols[id(name)] = self.module.symbols[id(node)] = FunctionSymbol(copy.name)
        return solving.applied(signature.result)

    def _written_types(self, function: ast.Index, signature: Signature, solving: TypeArguments) -> bool:
        """Take in the types of `f[T](…)`; whether they are such."""
        due = signature.type_parameters
        written = function.index
        items: tuple[ast.Expression, ...] = (written,)
        if isinstance(written, ast.TupleDisplay) and written.span.start == written.items[0].span.start:
            items = written.items  # `f[A, B]`; `f[(A, B)]` has one type, of pairs
        short = signature.declaration.name.text
        if len(items) != len(due):
            self.module.report(
                "E0431",
                f"`{short}` takes {len(due)} type{'' if len(due) == 1 else 's'}, not {len(items)}"
                if due
                else f"`{short}` takes no types",
                written.span,
                label="types of a call",
                secondary=_declared(signature),
                hint="" if due else f"write `{short}(…)`",
            )
            return False
        for parameter, item in zip(due, items, strict=True):
            type = written_type(item)
            if type is None:
                self.module.report(
                    "E0431",
                    "this is no type that can stand here",
                    item.span,
                    label="a type is due",
                    reason="in `f[T](…)` a type is a name, a literal, or a list, tuple or map of these",
                    hint="give the type a name: `type short = str max 9 chars`, and `f[short](…)`",
                )
                return False
            found = self.types.resolve(type)
            if isinstance(found, Unknown):
                return False
            solving.known[parameter] = found
        return self._may_stand(function.span, signature, solving)

    def _solved(
        self,
        node: ast.Call,
        name: ast.Reference,
        signature: Signature,
        solving: TypeArguments,
        expected: ExpressionType | None,
        waiting: Sequence[tuple[ast.Expression, ExpressionType, str]],
    ) -> bool:
        """Whether each type parameter is known, from the arguments or from what is expected of the call."""
        if solving.conflict is not None:
            parameter, one, other = solving.conflict
            self.module.report(
                "E0430",
                f"`{short_name(parameter)}` of `{name.name}` cannot be both {said(one)} and {said(other)}",
                node.span,
                label="arguments of two types",
                secondary=_declared(signature),
            )
            return False
        if any(isinstance(found, Unknown) for _, found, _ in waiting):
            return False
        if solving.missing() and expected is not None:
            asked = TypeArguments(signature.type_parameters, self.module.table)
            asked.learn(signature.result, expected)
            solving.known.update(
                {each: asked.known[each] for each in solving.missing() if each in asked.known}
            )
        missing = solving.missing()
        if missing:
            short = [short_name(parameter) for parameter in missing]
            types = ", ".join(
                short_name(each) if each in missing else "…" for each in signature.type_parameters
            )
            given = [
                f"`{label}` takes {said(type)} and is given {said(found)}"
                for _, found, label in waiting
                for at, type, _ in signature.parameters
                if at == label and mentions_any(type, missing)
            ]
            self.module.report(
                "E0430",
                f"the type `{short[0]}` of `{name.name}` is not known here",
                node.span,
                label="neither the arguments nor what is expected say it",
                reason="; ".join(given),
                secondary=_declared(signature),
                hint=f"write it: `{name.name}[{types}](…)` with a type for `{short[0]}`",
            )
            return False
        return self._may_stand(node.span, signature, solving)

    def _may_stand(self, span: Span, signature: Signature, solving: TypeArguments) -> bool:
        """Whether what is known can stand for the type parameters; reported where it cannot."""
        for parameter, type in solving.known.items():
            if isinstance(type, Unknown):
                return False
            if not is_value_type(type):
                self.module.report(
                    "E0430",
                    f"{said(type)} cannot stand for `{short_name(parameter)}`",
                    span,
                    label="no plain value",
                    secondary=_declared(signature),
                    hint="pass plain values: `[branch.value for branch in branches]`, `.top` of a `select`",
                )
                return False
            if too_large(type):
                self.module.report(
                    "E0432",
                    f"the type for `{short_name(parameter)}` is too large",
                    span,
                    label=f"more than {MAX_PARTS} parts",
                    secondary=_declared(signature),
                    hint="declare a record for it",
                )
                return False
        return True

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
