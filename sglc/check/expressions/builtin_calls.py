"""Calls of built-in functions and methods, typed by the table in `sglc.check.names.builtins`."""

from __future__ import annotations

from sglc.check.core.result import (
    BranchOf,
    DefaultArgument,
    ErrorOf,
    ExpressionType,
    ListValue,
    Never,
    ScoredOf,
    Unknown,
)
from sglc.check.expressions.constants import Constants
from sglc.check.expressions.references import field_type
from sglc.check.names.builtins import LIST_METHODS, MAP_METHODS, SCORED_METHODS, STR_METHODS, Builtin
from sglc.check.types.assignability import (
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
    said,
    widen,
)
from sglc.syntax import ast
from sglc.types.type import ListOf, MapOf, Named, Optional, RecordType, TupleOf


class BuiltinCalls(Constants):
    """The table says what is taken and given; nothing about a built-in is written here alone."""

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
            hint = ""
            if owner is not None and any(kind.startswith("by") for _, kind in row.parameters):
                hint = f"name it: `.{row.name}(by = …)`"
                found.append(self._by(argument.value, owner, what))
            else:
                self.infer(argument.value)
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
            "numbers": item is not None
            and (isinstance(item, Never) or numeric_rank(item, table) is not None),
            "bools": item is not None and (isinstance(item, Never) or is_bool(item, table)),
            "strs": item is not None and (isinstance(item, Never) or is_text(item, table)),
            "map": isinstance(plain, MapOf),
            "sized": item is not None or isinstance(plain, MapOf | TupleOf) or is_text(found, table),
        }[kind]
        if fine:
            return found
        words = {
            "number": "a number", "scalar": "a number or text", "list": "a list",
            "numbers": "a list of numbers",
            "bools": "a list of bools", "strs": "a list of texts", "map": "a map",
            "sized": "a text, list, tuple or map", "any": "a plain value",
        }  # fmt: skip
        self.program.report(
            "E0301",
            f"{what} takes {words[kind]}, not {said(found)}",
            node.span,
            label=f"this is {said(found)}",
            hint="it may be null: test it first" if allows_null(found, table) else "",
        )
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
                        "E0209",
                        f"items of {said(plain)} have no field `id`",
                        node.span,
                        label="looked up by `id`",
                    )
                    return UNKNOWN
            else:
                due = fields["id"]
        found = self.infer(node, due)
        if (kind == "value" and join(found, due, self.table) is None) or (
            kind != "value" and not comparable(found, due, self.table)
        ):
            self.program.report(
                "E0301",
                f"{what} takes {said(due)}, not {said(found)}",
                node.span,
                label=f"this is {said(found)}",
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
            "E0329", f"{said(found)} has no order", node.span, label=f"{what} compares these",
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
                    "E0328",
                    f"`{row.name}` takes a list, or two and more values",
                    node.span,
                    label="one value only",
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
                label=" and ".join(said(argument) for argument in arguments[:3]),
            )  # fmt: skip
            return UNKNOWN
        self._ordered(node, whole, f"`{row.name}`")
        return widen(whole, self.table)

    def _methods_of(self, plain: ExpressionType) -> dict[str, Builtin]:
        if isinstance(plain, ListOf | ListValue):
            return LIST_METHODS
        if isinstance(plain, MapOf):
            return MAP_METHODS
        if isinstance(plain, ScoredOf):
            return SCORED_METHODS
        return STR_METHODS if is_text(plain, self.table) else {}


_SIMPLE: dict[str, ExpressionType] = {
    "int": INT, "str": STR, "bool": BOOL, "decimal": DEC, "float": FLOAT, "strs": ListOf(STR),
}  # fmt: skip
