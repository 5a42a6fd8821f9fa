"""Calls: functions, constructors and what fails, with arguments bound to parameters."""

from __future__ import annotations

from collections.abc import Sequence

from sglc.check.core.edits import begins_line, insertion
from sglc.check.core.result import (
    BuiltinSymbol,
    DefaultArgument,
    ErrorSymbol,
    ExpressionType,
    FunctionSymbol,
    Never,
    RecordSymbol,
    Unknown,
    VariantSymbol,
)
from sglc.check.core.state import Signature
from sglc.check.expressions.builtin_calls import BuiltinCalls
from sglc.check.expressions.references import field_type
from sglc.check.names.builtins import ERRORS, FUNCTIONS
from sglc.check.names.declarations import WORDS
from sglc.check.names.foreign_names import function_advice, kind_of, method_advice
from sglc.check.types.assignability import UNKNOWN, allows_null, expand, join, said, show
from sglc.diagnostics.diagnostic import Edit, Label
from sglc.diagnostics.suggest import nearest
from sglc.source import Span
from sglc.syntax import ast
from sglc.types.type import Named, RecordType, UnionType

Parameters = Sequence[tuple[str, ExpressionType, DefaultArgument | None]]


class Calls(BuiltinCalls):
    """A call that was understood has its bound arguments in the module's table."""

    def call(self, node: ast.Call, expected: ExpressionType | None) -> ExpressionType:
        function = node.function
        if isinstance(function, ast.Reference):
            return self._call_name(node, function, expected)
        if isinstance(function, ast.Attribute):
            return self._call_attribute(node, function, expected)
        found = self.infer(function)
        self._walk_arguments(node)
        if not isinstance(found, Unknown):
            self.program.report(
                "E0327", f"{said(found)} cannot be called", function.span, label="no function"
            )
        return UNKNOWN

    def _walk_arguments(self, node: ast.Call) -> None:
        """Check arguments of a call whose function is not known."""
        for argument in node.arguments:
            self.infer(argument.value)

    def _call_name(
        self, node: ast.Call, function: ast.Reference, expected: ExpressionType | None
    ) -> ExpressionType:
        name = function.name
        entity = self.look_up(name)
        if entity is not None:
            entity.used = True
            if entity.kind == "function":
                return self.call_function(node, function, self.program.signatures.get(entity.name))
            if entity.kind == "type":
                return self._construct(node, function, entity.name)
            self._walk_arguments(node)
            if entity.kind == "error":
                self.program.report(
                    "E0327", f"`{name}` is an error, not a function", function.span, label="cannot be called",
                    hint=f"write `raise {name}(…)`",
                )  # fmt: skip
            elif entity.kind != "broken":
                self.program.report(
                    "E0327", f"`{name}` is {WORDS[entity.kind]}, not a function", function.span,
                    label="cannot be called",
                )  # fmt: skip
            return UNKNOWN
        owners = self.module.variants.get(name)
        if owners is not None:
            return self._variant(node, function, name, owners, expected)
        row = FUNCTIONS.get(name)
        if row is not None:
            self.symbols[id(function)] = self.symbols[id(node)] = BuiltinSymbol(name)
            return self._builtin(node, row, None)
        self._walk_arguments(node)
        local = self.function.scope.find(name)
        if local is not None:
            local.used = True
            self.program.report(
                "E0327", f"`{name}` is a variable, not a function", function.span, label="cannot be called",
                secondary=(Label(local.span, "bound here"),),
            )  # fmt: skip
            return UNKNOWN
        if name in ERRORS:
            self.program.report(
                "E0327", f"`{name}` is an error, not a function", function.span, label="cannot be called",
                hint=f"write `raise {name}(…)`",
            )  # fmt: skip
            return UNKNOWN
        advice = function_advice(node, name)
        close = nearest(name, self.callable_names()) if advice is None else None
        self.program.report(
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
            (path for path, names in self.program.library.shared_names().items() if name in names), ""
        )
        return f"add `use {module} ({name})` at the top of the file" if module else ""

    def call_function(
        self, node: ast.Call, name: ast.Reference, signature: Signature | None, *, as_part: bool = False
    ) -> ExpressionType:
        """A call of a declared function; `as_part` where it stands after `part`."""
        if signature is None:
            self._walk_arguments(node)
            return UNKNOWN
        self.symbols[id(name)] = self.symbols[id(node)] = FunctionSymbol(signature.name)
        if not signature.available:
            self._walk_arguments(node)
            return UNKNOWN
        if signature.kind == "part" and not as_part:
            self.program.report(
                "E0401", f"`{name.name}` is a part: it writes into the caller's message", node.span,
                label="called like a function", hint=f"write `part {name.name}(…)` on a line of its own",
                edits=insertion("part ", node.span) if begins_line(node.span) else (),
                secondary=(Label(signature.declaration.name.span, "declared as a part here"),),
            )  # fmt: skip
        elif as_part and signature.kind != "part":
            self.program.report(
                "E0401", f"`{name.name}` is no part: it has a conversation of its own", node.span,
                label="called like a part", hint=f"write `{name.name}(…)` without `part`",
                secondary=(Label(signature.declaration.name.span, "declared here"),),
            )  # fmt: skip
        elif self.function.kind in ("pure", "const") and signature.kind != "pure":
            self.program.report(
                "E0402",
                f"a {'pure fn' if self.function.kind == 'pure' else 'constant'} cannot call `{name.name}`",
                node.span,
                label="may ask a model",
                reason="pure functions depend on their arguments only",
                hint=f"make `{name.name}` a `pure fn` if it asks no model",
            )
        self.bind_arguments(
            node, node.arguments, signature.parameters, f"`{name.name}`", node.span, _declared(signature)
        )
        for error in signature.raises:
            self.raise_here(error, node.span)
        return signature.result

    def raise_here(self, error: str, span: Span) -> None:
        """Note that a declared error may leave this place."""
        self.function.raised.setdefault(error, span)

    def bind_arguments(
        self,
        key: object,
        arguments: Sequence[ast.Argument],
        parameters: Parameters,
        what: str,
        span: Span,
        declared: tuple[Label, ...] = (),
    ) -> None:
        """Bind positional and named arguments to parameters, check each, and keep the bound list.

        `declared` shows where the parameters are written; without it they are listed.
        """
        signature = _signature(what, parameters)
        bound: dict[str, ast.Expression] = {}
        spans: dict[str, Span] = {}
        names = [name for name, _, _ in parameters]
        types = {name: type for name, type, _ in parameters}
        place = 0
        named = False
        surplus: list[ast.Argument] = []
        faults = len(self.program.diagnostics)
        for argument in arguments:
            if argument.name is None:
                if named:
                    self.program.report(
                        "E0328", "an argument without a name stands after a named one", argument.span,
                        label="which parameter is meant?", hint="name it too, or move it to the front",
                    )  # fmt: skip
                    self.infer(argument.value)
                    continue
                if place >= len(names):
                    surplus.append(argument)
                    self.infer(argument.value)
                    continue
                label = names[place]
                place += 1
            else:
                named = True
                label = argument.name.text
                if label not in types:
                    close = nearest(label, names)
                    given = {a.name.text for a in arguments if a.name is not None}
                    open_ = [name for name in names[place:] if name not in given]
                    self.program.report(
                        "E0328",
                        f"{what} takes no `{label}`",
                        argument.name.span,
                        label="unknown name",
                        reason=signature,
                        secondary=declared,
                        hint=f"did you mean `{close}`?"
                        if close
                        else "leave it out, or name another parameter",
                        edits=(Edit(argument.name.span, close),)
                        if close is not None and open_ == [close]
                        else (),
                    )
                    self.infer(argument.value)
                    continue
            if label in bound:
                self.program.report(
                    "E0328",
                    f"`{label}` is given twice",
                    argument.span,
                    label="again",
                    secondary=(Label(spans[label], "first given here"),),
                )
                self.infer(argument.value)
                continue
            bound[label] = argument.value
            spans[label] = argument.span
            self.expect(argument.value, types[label], f"`{label}`")
        if surplus:
            many = "no arguments" if not names else f"{len(names)} argument{'s' if len(names) > 1 else ''}"
            self.program.report(
                "E0328", f"{what} takes {many}, not {len(arguments)}",
                surplus[0].span.to(surplus[-1].span), label="too many", reason=signature, secondary=declared,
                hint="leave it out" if len(surplus) == 1 else "leave them out",
            )  # fmt: skip
        missing = [name for name, _, default in parameters if name not in bound and default is None]
        if missing and len(self.program.diagnostics) > faults:
            return
        if missing:
            listing = ", ".join(f"`{name}`" for name in missing)
            self.program.report(
                "E0328", f"{what} needs {listing}", span, label=f"missing {listing}", reason=signature,
                secondary=declared, hint="give it: " + ", ".join(f"`{name} = …`" for name in missing),
            )  # fmt: skip
            return
        self.module.arguments[id(key)] = tuple(
            bound[name] if name in bound else default  # type: ignore[misc]
            for name, _, default in parameters
        )

    def _construct(self, node: ast.Call, function: ast.Reference, name: str) -> ExpressionType:
        declared = self.table.get(name)
        plain = expand(Named(name), self.table)
        if isinstance(plain, Named):
            declared = self.table.get(plain.name)
        if isinstance(declared, RecordType):
            self.symbols[id(function)] = self.symbols[id(node)] = RecordSymbol(declared.name)
            self.bind_arguments(node, node.arguments, _parameters(declared), f"`{function.name}`", node.span)
            return Named(declared.name)
        self._walk_arguments(node)
        if isinstance(plain, Unknown):
            return UNKNOWN
        hint = ""
        if isinstance(declared, UnionType):
            hint = "call one of its variants: " + ", ".join(f"`{v.name}`" for v in declared.variants[:6])
        elif isinstance(plain, Named):
            hint = "write one of its members"
        self.program.report(
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
            wanted = expand(expected, self.table) if expected is not None else None
            if isinstance(wanted, Named) and wanted.name in owners:
                chosen = wanted.name
            else:
                self._walk_arguments(node)
                self.program.report(
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
        self._use(union)
        record = self.constructed(symbol)
        if record is None:
            self._walk_arguments(node)
            return UNKNOWN
        self.symbols[id(key)] = self.symbols[id(node)] = symbol
        self.bind_arguments(node, node.arguments, _parameters(record), f"`{name}`", node.span)
        return Named(union)

    def _define(self, name: str) -> None:
        """Make sure a declared type is in the table, wherever it is declared."""
        if name not in self.table:
            for entity in self.module.names.values():
                if entity.name == name and entity.kind == "type":
                    self.program.checkers[id(entity.module)].define(entity)

    def _call_attribute(
        self, node: ast.Call, function: ast.Attribute, expected: ExpressionType | None
    ) -> ExpressionType:
        label = function.name.text
        if isinstance(function.value, ast.Reference):
            name = function.value.name
            entity = self.module.names.get(name)
            if entity is not None and entity.kind == "type" and self.function.scope.find(name) is None:
                self.look_up(name)
                entity.used = True
                declared = self.table.get(entity.name)
                if isinstance(declared, UnionType):
                    if any(variant.name == label for variant in declared.variants):
                        return self._make_variant(node, function, declared.name, label)
                    close = nearest(label, [v.name for v in declared.variants])
                    self._walk_arguments(node)
                    self.program.report(
                        "E0209",
                        f"`{name}` has no variant `{label}`",
                        function.name.span,
                        label="unknown variant",
                        hint=f"did you mean `{close}`?" if close else "",
                    )
                    return UNKNOWN
        owner = self.infer(function.value)
        plain = expand(owner, self.table)
        if isinstance(plain, Unknown | Never):
            self._walk_arguments(node)
            return UNKNOWN
        methods = self._methods_of(plain)
        row = methods.get(label)
        if row is None:
            self._walk_arguments(node)
            close = nearest(label, list(methods))
            hint = f"did you mean `.{close}`?" if close else ""
            if not hint and label in FUNCTIONS:
                hint = f"write `{label}(x)`"
            if not hint and allows_null(owner, self.table):
                hint = "it may be null: test it first"
            advice = method_advice(node, function, kind_of(plain, self.table))
            self.program.report(
                "E0209", f"{said(owner)} has no method `{label}`", function.name.span, label="unknown method",
                hint=hint if advice is None else advice.hint, edits=() if advice is None else advice.edits,
            )  # fmt: skip
            return UNKNOWN
        self.types[id(function)] = UNKNOWN
        self.symbols[id(function)] = self.symbols[id(node)] = BuiltinSymbol("." + label)
        return self._builtin(node, row, owner)

    def or_else(self, node: ast.OrElse, expected: ExpressionType | None) -> ExpressionType:
        outer = self.function.raised
        self.function.raised = {}
        found = self.infer(node.value, expected)
        self.function.raised = outer
        if isinstance(node.fallback, ast.Raise):
            self.raising(node.fallback)
            return found
        other = self.infer(node.fallback, expected if expected is not None else found)
        whole = join(found, other, self.table)
        if whole is None:
            self.program.report(
                "E0313", f"both sides must have one type, here {said(found)} and {said(other)}", node.span,
                label="two types",
            )  # fmt: skip
            return UNKNOWN
        return whole

    def raising(self, node: ast.Raise) -> None:
        """`raise E(…)` as a statement or after `else`."""
        if node.error is None:
            if not self.function.handled:
                self.program.report(
                    "E0403",
                    "a bare `raise` stands only inside `except`",
                    node.span,
                    label="nothing to raise again",
                )
            else:
                self.function.raised = self.function.handled[-1] | self.function.raised
            return
        caught = self.function.scope.find(node.error.text)
        if caught is not None and caught.kind == "error" and not node.arguments:
            caught.used = True
            once = len(self.function.handled) == 1
            again = Span(node.span.source, node.span.start, node.error.span.end)
            self.program.report(
                "E0207", f"`{node.error.text}` is an error that was caught, not a declared one",
                node.error.span, label="cannot be raised by its name",
                hint="`raise` alone raises it again" if once else "`raise` alone raises what this arm caught",
                edits=(Edit(again, "raise"),) if once else (),
            )  # fmt: skip
            return
        name = self.error_named(node.error)
        if name is None:
            for argument in node.arguments:
                self.infer(argument.value)
            return
        self._raise(node, name)

    def _raise(self, node: ast.Raise, name: str) -> None:
        assert node.error is not None
        self.symbols[id(node)] = self.symbols[id(node.error)] = ErrorSymbol(name)
        fields = self.error_fields(name).fields
        self.bind_arguments(node, node.arguments, fields, f"`{node.error.text}`", node.span)
        if name not in ERRORS:
            self.raise_here(name, node.span)


def _parameters(record: RecordType) -> list[tuple[str, ExpressionType, DefaultArgument | None]]:
    """Fields as parameters: optional ones and those with a default may be left out."""
    found: list[tuple[str, ExpressionType, DefaultArgument | None]] = []
    for field in record.fields:
        default = None
        if field.has_default:
            default = DefaultArgument(field.default)
        elif field.optional:
            default = DefaultArgument(None)
        found.append((field.name, field_type(field), default))
    return found


def _signature(what: str, parameters: Parameters) -> str:
    """How a call is written: `add(a: int, b: int)`."""
    parts = [
        f"{name}: {show(type)}" + ("" if default is None else " = …")
        for name, type, default in parameters[:8]
    ]
    more = ", …" if len(parameters) > 8 else ""
    return f"it is `{what.strip('`')}({', '.join(parts)}{more})`"


def _declared(signature: Signature) -> tuple[Label, ...]:
    return (Label(signature.declaration.name.span, "declared here"),)
