"""Calls: functions, constructors, built-in functions and methods, with arguments bound to parameters."""

from __future__ import annotations

from collections.abc import Sequence

from sglc.check.builtins import (
    ERRORS,
    FUNCTIONS,
    LIST_METHODS,
    MAP_METHODS,
    SCORED_METHODS,
    STR_METHODS,
    Builtin,
)
from sglc.check.constants import Constants
from sglc.check.declarations import WORDS
from sglc.check.expressions import field_type
from sglc.check.relations import (
    BOOL,
    DEC,
    FLOAT,
    INT,
    NULL,
    STR,
    UNKNOWN,
    allows_null,
    comparable,
    expand,
    is_bool,
    is_text,
    item_of,
    join,
    list_of,
    numeric,
    numeric_rank,
    show,
    widen,
)
from sglc.check.result import (
    BranchOf,
    BuiltinSymbol,
    DefaultArgument,
    ErrorOf,
    ErrorSymbol,
    ExpressionType,
    FunctionSymbol,
    ListValue,
    Never,
    RecordSymbol,
    ScoredOf,
    Unknown,
    VariantSymbol,
)
from sglc.check.state import Signature
from sglc.diagnostics.diagnostic import Label
from sglc.diagnostics.suggest import nearest
from sglc.source import Span
from sglc.syntax import ast
from sglc.types.type import ListOf, MapOf, Named, Optional, RecordType, TupleOf, UnionType

Parameters = Sequence[tuple[str, ExpressionType, DefaultArgument | None]]


class Calls(Constants):
    def call(self, node: ast.Call, expected: ExpressionType | None) -> ExpressionType:
        function = node.function
        if isinstance(function, ast.Reference):
            return self._call_name(node, function, expected)
        if isinstance(function, ast.Attribute):
            return self._call_attribute(node, function, expected)
        found = self.infer(function)
        self._walk_arguments(node)
        if not isinstance(found, Unknown):
            self.program.report("E0327", f"{show(found)} cannot be called", function.span, label="no function")
        return UNKNOWN

    def _walk_arguments(self, node: ast.Call) -> None:
        """Check arguments of a call whose function is not known."""
        for argument in node.arguments:
            self.infer(argument.value)

    # -- by name -----------------------------------------------------------------------------------

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
        close = nearest(name, self.callable_names())
        self.program.report(
            "E0201", f"there is no function `{name}`", function.span, label="unknown name",
            hint=f"did you mean `{close}`?" if close else "",
        )  # fmt: skip
        return UNKNOWN

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
                secondary=(Label(signature.declaration.name.span, "declared as a part here"),),
            )  # fmt: skip
        elif as_part and signature.kind != "part":
            self.program.report(
                "E0401", f"`{name.name}` is no part: it has a conversation of its own", node.span,
                label="called like a part", hint=f"write `{name.name}(…)` without `part`",
                secondary=(Label(signature.declaration.name.span, "declared here"),),
            )  # fmt: skip
        if self.function.kind in ("pure", "const") and signature.kind != "pure":
            self.program.report(
                "E0402", f"a {'pure fn' if self.function.kind == 'pure' else 'constant'} cannot call `{name.name}`",
                node.span, label="may ask a model",
                reason="pure functions depend on their arguments only",
                hint=f"make `{name.name}` a `pure fn` if it asks no model",
            )  # fmt: skip
        self.bind_arguments(node, node.arguments, signature.parameters, f"`{name.name}`", node.span)
        for error in signature.raises:
            self.raise_here(error, node.span)
        return signature.result

    def raise_here(self, error: str, span: Span) -> None:
        """Note that a declared error may leave this place."""
        self.function.raised.setdefault(error, span)

    def bind_arguments(
        self, key: object, arguments: Sequence[ast.Argument], parameters: Parameters, what: str, span: Span
    ) -> None:
        """Bind positional and named arguments to parameters, check each, and keep the bound list."""
        bound: dict[str, ast.Expression] = {}
        spans: dict[str, Span] = {}
        names = [name for name, _, _ in parameters]
        types = {name: type for name, type, _ in parameters}
        place = 0
        named = False
        surplus: list[ast.Argument] = []
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
                    listing = ", ".join(f"`{n}`" for n in names[:8])
                    self.program.report(
                        "E0328", f"{what} takes no `{label}`", argument.name.span, label="unknown name",
                        hint=f"did you mean `{close}`?" if close else f"it takes {listing or 'nothing'}",
                    )  # fmt: skip
                    self.infer(argument.value)
                    continue
            if label in bound:
                self.program.report(
                    "E0328", f"`{label}` is given twice", argument.span, label="again",
                    secondary=(Label(spans[label], "first given here"),),
                )  # fmt: skip
                self.infer(argument.value)
                continue
            bound[label] = argument.value
            spans[label] = argument.span
            self.expect(argument.value, types[label], f"`{label}`")
        if surplus:
            many = "no arguments" if not names else f"{len(names)} argument{'s' if len(names) > 1 else ''}"
            self.program.report(
                "E0328", f"{what} takes {many}, not {len(arguments)}",
                surplus[0].span.to(surplus[-1].span), label="too many",
            )  # fmt: skip
        missing = [name for name, _, default in parameters if name not in bound and default is None]
        if missing:
            listing = ", ".join(f"`{name}`" for name in missing)
            self.program.report(
                "E0328", f"{what} needs {listing}", span, label=f"missing {listing}",
            )  # fmt: skip
            return
        self.module.arguments[id(key)] = tuple(
            bound[name] if name in bound else default  # type: ignore[misc]
            for name, _, default in parameters
        )

    # -- constructors ------------------------------------------------------------------------------

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
            "E0327", f"`{function.name}` is a type that is not made by a call", function.span, label="no record",
            hint=hint,
        )  # fmt: skip
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
                    "E0208", f"`{name}` is a variant of {len(owners)} unions", function.span, label="which one?",
                    hint="write " + " or ".join(f"`{o.rsplit('.', 1)[-1]}.{name}(…)`" for o in owners),
                )  # fmt: skip
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

    # -- built-in functions and methods ------------------------------------------------------------

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
                        "E0209", f"`{name}` has no variant `{label}`", function.name.span, label="unknown variant",
                        hint=f"did you mean `{close}`?" if close else "",
                    )  # fmt: skip
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
            if label in ("append", "add", "push") and isinstance(plain, ListOf | ListValue):
                hint = "lists do not change: write `xs = xs + [x]`"
            self.program.report(
                "E0209", f"{show(owner)} has no method `{label}`", function.name.span, label="unknown method",
                hint=hint,
            )  # fmt: skip
            return UNKNOWN
        self.types[id(function)] = UNKNOWN
        self.symbols[id(function)] = self.symbols[id(node)] = BuiltinSymbol("." + label)
        return self._builtin(node, row, owner)

    def _methods_of(self, plain: ExpressionType) -> dict[str, Builtin]:
        if isinstance(plain, ListOf | ListValue):
            return LIST_METHODS
        if isinstance(plain, MapOf):
            return MAP_METHODS
        if isinstance(plain, ScoredOf):
            return SCORED_METHODS
        return STR_METHODS if is_text(plain, self.table) else {}

    def _builtin(self, node: ast.Call, row: Builtin, owner: ExpressionType | None) -> ExpressionType:
        """Check the arguments of a built-in by the table and give its result."""
        what = f"`.{row.name}`" if owner is not None else f"`{row.name}`"
        bound: list[ast.Expression | DefaultArgument] = []
        found: list[ExpressionType] = []
        positional = [a for a in node.arguments if a.name is None]
        by_name = {a.name.text: a for a in node.arguments if a.name is not None}
        several = bool(row.parameters) and row.parameters[-1][1].endswith("…")
        for index, (label, kind) in enumerate(row.parameters):
            optional = kind.endswith("?")
            kind = kind.rstrip("?…")
            argument = by_name.pop(label, None)
            if argument is None and kind != "by" and positional and index < len(positional):
                argument = positional[index]
            if kind == "by":
                if argument is not None and owner is not None:
                    found.append(self._by(argument.value, owner, what))
                    bound.append(argument.value)
                continue
            if argument is None:
                if not optional:
                    self.program.report(
                        "E0328", f"{what} needs `{label}`", node.span, label=f"missing `{label}`"
                    )
                    return UNKNOWN
                bound.append(DefaultArgument(None))
                continue
            found.append(self._argument(argument.value, kind, owner, what))
            bound.append(argument.value)
        takes = sum(1 for _, kind in row.parameters if not kind.startswith("by"))
        for argument in positional[takes:]:
            if several:
                found.append(self._argument(argument.value, "any", owner, what))
                bound.append(argument.value)
                continue
            self.infer(argument.value)
            hint = ""
            if any(kind.startswith("by") for _, kind in row.parameters):
                hint = f"name it: `.{row.name}(by = …)`"
            self.program.report(
                "E0328", f"{what} takes {takes or 'no'} argument{'' if takes == 1 else 's'}", argument.span,
                label="too many", hint=hint,
            )  # fmt: skip
        for label, argument in by_name.items():
            self.infer(argument.value)
            self.program.report("E0328", f"{what} takes no `{label}`", argument.span, label="unknown name")
        self.module.arguments[id(node)] = tuple(bound)
        if any(isinstance(type, Unknown) for type in found):
            simple = _SIMPLE.get(row.result)
            return simple if simple is not None else UNKNOWN
        return self.method_result(row, owner if owner is not None else NULL, tuple(found), node)

    def _argument(
        self, node: ast.Expression, kind: str, owner: ExpressionType | None, what: str
    ) -> ExpressionType:
        """Check one argument against a kind of the table; Unknown where it was refused."""
        table = self.table
        place = f"the argument of {what}"
        match kind:
            case "str":
                return self.expect(node, STR, place)
            case "int":
                return self.expect(node, INT, place)
            case "key":
                plain = expand(owner, table) if owner is not None else UNKNOWN
                return self.expect(node, STR if isinstance(plain, MapOf) else UNKNOWN, place)
            case "item" | "option" | "id" | "value":
                return self._related(node, kind, owner, what)
        found = self.infer(node)
        if isinstance(found, Unknown):
            return found
        item = item_of(found, table)
        plain = expand(found, table)
        fine = {
            "any": not isinstance(plain, ScoredOf | BranchOf | ErrorOf),
            "number": numeric_rank(found, table) is not None,
            "scalar": numeric_rank(found, table) is not None or is_text(found, table),
            "list": item is not None,
            "numbers": item is not None and (isinstance(item, Never) or numeric_rank(item, table) is not None),
            "bools": item is not None and (isinstance(item, Never) or is_bool(item, table)),
            "strs": item is not None and (isinstance(item, Never) or is_text(item, table)),
            "map": isinstance(plain, MapOf),
            "sized": item is not None or isinstance(plain, MapOf | TupleOf) or is_text(found, table),
        }[kind]
        if fine:
            return found
        words = {
            "number": "a number", "scalar": "a number or text", "list": "a list", "numbers": "a list of numbers",
            "bools": "a list of bools", "strs": "a list of texts", "map": "a map",
            "sized": "a text, list, tuple or map", "any": "a plain value",
        }  # fmt: skip
        self.program.report(
            "E0301", f"{what} takes {words[kind]}, not {show(found)}", node.span, label=f"this is {show(found)}",
            hint="it may be null: test it first" if allows_null(found, table) else "",
        )  # fmt: skip
        return UNKNOWN

    def _related(
        self, node: ast.Expression, kind: str, owner: ExpressionType | None, what: str
    ) -> ExpressionType:
        """An argument whose type follows from the receiver's."""
        plain = expand(owner, self.table) if owner is not None else UNKNOWN
        due: ExpressionType = UNKNOWN
        if kind == "option" and isinstance(plain, ScoredOf):
            return self.expect(node, plain.option, f"an option of {what}")
        if kind == "value" and isinstance(plain, MapOf):
            due = plain.value
        elif kind == "item":
            due = item_of(plain, self.table) or UNKNOWN
        elif kind == "id":
            item = item_of(plain, self.table) or UNKNOWN
            fields = self._element_fields(item)
            if "id" not in fields:
                if not isinstance(item, Unknown):
                    self.infer(node)
                    self.program.report(
                        "E0209", f"items of {show(plain)} have no field `id`", node.span, label="looked up by `id`"
                    )
                    return UNKNOWN
            else:
                due = fields["id"]
        found = self.infer(node, due)
        if kind == "value" and join(found, due, self.table) is None or (
            kind != "value" and not comparable(found, due, self.table)
        ):
            self.program.report(
                "E0301", f"{what} takes {show(due)}, not {show(found)}", node.span, label=f"this is {show(found)}"
            )
            return UNKNOWN
        return found

    def _element_fields(self, item: ExpressionType) -> dict[str, ExpressionType]:
        plain = expand(item, self.table)
        if isinstance(plain, BranchOf):
            return {"value": plain.value, **dict(plain.holes)}
        if isinstance(plain, Named):
            declared = self.table.get(plain.name)
            if isinstance(declared, RecordType):
                return {field.name: field_type(field) for field in declared.fields}
        return {}

    def _by(self, node: ast.Expression, owner: ExpressionType, what: str) -> ExpressionType:
        item = item_of(owner, self.table) or UNKNOWN
        outer = self.function.element
        self.function.element = (item, self._element_fields(item))
        found = self.infer(node)
        self.function.element = outer
        self._ordered(node, found, what)
        return found

    def _ordered(self, node: ast.Expression, found: ExpressionType, what: str) -> bool:
        """Demand that values can be put in order."""
        plain = expand(found, self.table)
        if isinstance(plain, Unknown | Never) or numeric_rank(plain, self.table) is not None:
            return True
        if is_text(plain, self.table):
            return True
        if isinstance(plain, TupleOf) and all(
            numeric_rank(i, self.table) is not None or is_text(i, self.table) for i in plain.items
        ):
            return True
        self.program.report(
            "E0329", f"{show(found)} has no order", node.span, label=f"{what} compares these",
            hint="give `by = …`, an expression over the fields of one element" if "by" not in what else "",
        )  # fmt: skip
        return False

    def method_result(
        self, row: Builtin, owner: ExpressionType, arguments: tuple[ExpressionType, ...], node: ast.Expression
    ) -> ExpressionType:
        table = self.table
        simple = _SIMPLE.get(row.result)
        if simple is not None:
            return simple
        plain = expand(owner, table)
        first = arguments[0] if arguments else NULL
        match row.result:
            case "number":
                return numeric(numeric_rank(first, table) or 0)
            case "rounded":
                return INT if len(arguments) == 1 else numeric(numeric_rank(first, table) or 0)
            case "sum":
                return numeric(numeric_rank(item_of(first, table) or INT, table) or 0)
            case "item":
                item = item_of(plain, table) or UNKNOWN
                if row.name in ("max", "min") and not arguments:
                    self._ordered(node, item, f"`.{row.name}`")
                return item
            case "list":
                source = plain if item_of(plain, table) is not None else first
                item = item_of(source, table) or UNKNOWN
                if row.name in ("sort", "sorted") and not (row.name == "sort" and arguments):
                    self._ordered(node, item, f"`{row.name}`")
                return list_of(item)
            case "keys":
                source = plain if isinstance(plain, MapOf) else expand(first, table)
                return ListOf(source.key) if isinstance(source, MapOf) else UNKNOWN
            case "values":
                source = plain if isinstance(plain, MapOf) else expand(first, table)
                return ListOf(source.value) if isinstance(source, MapOf) else UNKNOWN
            case "lookup":
                assert isinstance(plain, MapOf)
                if len(arguments) < 2:
                    return plain.value if allows_null(plain.value, table) else Optional(plain.value)
                return join(plain.value, arguments[1], table) or UNKNOWN
            case "pairs":
                items = tuple(item_of(argument, table) or UNKNOWN for argument in arguments)
                return ListOf(TupleOf(items))  # type: ignore[arg-type]
            case "numbered":
                return ListOf(TupleOf((INT, item_of(first, table) or UNKNOWN)))  # type: ignore[arg-type]
            case "least":
                return self._least(row, arguments, node)
        return UNKNOWN

    def _least(
        self, row: Builtin, arguments: tuple[ExpressionType, ...], node: ast.Expression
    ) -> ExpressionType:
        if len(arguments) == 1:
            item = item_of(arguments[0], self.table)
            if item is None:
                self.program.report(
                    "E0328", f"`{row.name}` takes a list, or two and more values", node.span, label="one value only"
                )
                return UNKNOWN
            self._ordered(node, item, f"`{row.name}`")
            return item
        whole: ExpressionType | None = arguments[0]
        for argument in arguments[1:]:
            whole = None if whole is None else join(whole, argument, self.table)
        if whole is None:
            self.program.report(
                "E0313", f"`{row.name}` compares values of one type", node.span,
                label=" and ".join(show(argument) for argument in arguments[:3]),
            )  # fmt: skip
            return UNKNOWN
        self._ordered(node, whole, f"`{row.name}`")
        return widen(whole, self.table)

    # -- failing values ----------------------------------------------------------------------------

    def or_else(self, node: ast.OrElse, expected: ExpressionType | None) -> ExpressionType:
        outer = self.function.raised
        self.function.raised = {}
        self.function.handlers += 1
        found = self.infer(node.value, expected)
        self.function.handlers -= 1
        self.function.raised = outer
        if isinstance(node.fallback, ast.Raise):
            self.raising(node.fallback)
            return found
        other = self.infer(node.fallback, expected if expected is not None else found)
        whole = join(found, other, self.table)
        if whole is None:
            self.program.report(
                "E0313", f"both sides must have one type, here {show(found)} and {show(other)}", node.span,
                label="two types",
            )  # fmt: skip
            return UNKNOWN
        return whole

    def raising(self, node: ast.Raise) -> None:
        """`raise E(…)` as a statement or after `else`."""
        if node.error is None:
            if not self.function.handlers:
                self.program.report(
                    "E0403", "a bare `raise` stands only inside `except`", node.span, label="nothing to raise again"
                )
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


_SIMPLE: dict[str, ExpressionType] = {
    "int": INT, "str": STR, "bool": BOOL, "decimal": DEC, "float": FLOAT, "strs": ListOf(STR),
}  # fmt: skip
