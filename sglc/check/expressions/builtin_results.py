"""What built-in functions and methods give, by the table in `sglc.check.names.builtins`."""

from __future__ import annotations

from sglc.check.core.context import ModuleContext
from sglc.check.core.result import BranchOf, ExpressionType, ListValue, Never, ScoredOf, Unknown
from sglc.check.names.builtins import LIST_METHODS, MAP_METHODS, SCORED_METHODS, STR_METHODS, Builtin
from sglc.check.types.assignability import join
from sglc.check.types.kinds import (
    BOOL,
    DEC,
    FLOAT,
    INT,
    NULL,
    STR,
    UNKNOWN,
    Table,
    allows_null,
    expand,
    field_type,
    is_text,
    item_of,
    list_of,
    numeric,
    numeric_rank,
    said,
    widen,
)
from sglc.immutable import node
from sglc.syntax.tree import ast
from sglc.types.type import ListOf, MapOf, Named, Optional, RecordType, TupleOf

SIMPLE: dict[str, ExpressionType] = {
    "int": INT,
    "str": STR,
    "bool": BOOL,
    "decimal": DEC,
    "float": FLOAT,
    "strs": ListOf(STR),
}


@node
class BuiltinResults:
    """Result types of built-in functions and methods."""

    module: ModuleContext

    def result(
        self, row: Builtin, owner: ExpressionType, arguments: tuple[ExpressionType, ...], node: ast.Expression
    ) -> ExpressionType:
        """The type of a call of a built-in function or method: `owner` is what it is called on, `row` what
        is known of it."""
        table = self.module.table
        simple = SIMPLE.get(row.result)
        if simple is not None:
            return simple
        plain = expand(owner, table)
        first = arguments[0] if arguments else NULL
        match row.result:
            case "same":
                return first
            case "number":
                return numeric(numeric_rank(first, table) or 0)
            case "rounded":
                return INT if len(arguments) == 1 else numeric(numeric_rank(first, table) or 0)
            case "sum":
                return numeric(numeric_rank(item_of(first, table) or INT, table) or 0)
            case "item":
                item = item_of(plain, table) or UNKNOWN
                if row.name in ("max", "min") and not arguments:
                    self.ordered(node, item, f"`.{row.name}`")
                return item
            case "list":
                source = plain if item_of(plain, table) is not None else first
                item = item_of(source, table) or UNKNOWN
                if row.name in ("sort", "sorted") and not (row.name == "sort" and arguments):
                    self.ordered(node, item, f"`{row.name}`")
                return list_of(item)
            case "each":
                return list_of(arguments[0])
            case "kept":
                return list_of(arguments[0])
            case "groups":
                item = item_of(plain, table) or UNKNOWN
                odd = next((x for x in (item, arguments[0]) if isinstance(list_of(x), ListValue)), None)
                if odd is not None:
                    self.module.report(
                        "E0312",
                        f"{said(odd)} cannot be put into groups",
                        node.span,
                        label="groups hold plain values",
                    )
                    return UNKNOWN
                return ListOf(TupleOf((arguments[0], ListOf(item))))  # type: ignore[arg-type]
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
            item = item_of(arguments[0], self.module.table)
            if item is None:
                self.module.report(
                    "E0328",
                    f"`{row.name}` takes a list, or two and more values",
                    node.span,
                    label="one value only",
                )
                return UNKNOWN
            self.ordered(node, item, f"`{row.name}`")
            return item
        whole: ExpressionType | None = arguments[0]
        for argument in arguments[1:]:
            whole = None if whole is None else join(whole, argument, self.module.table)
        if whole is None:
            self.module.report(
                "E0313",
                f"`{row.name}` compares values of one type",
                node.span,
                label=" and ".join(said(argument) for argument in arguments[:3]),
            )
            return UNKNOWN
        self.ordered(node, whole, f"`{row.name}`")
        return widen(whole, self.module.table)

    def ordered(self, node: ast.Expression, found: ExpressionType, what: str) -> bool:
        """Demand that values can be put in order."""
        plain = expand(found, self.module.table)
        if isinstance(plain, Unknown | Never) or numeric_rank(plain, self.module.table) is not None:
            return True
        if is_text(plain, self.module.table):
            return True
        if isinstance(plain, TupleOf) and all(
            numeric_rank(i, self.module.table) is not None or is_text(i, self.module.table)
            for i in plain.items
        ):
            return True
        self.module.report(
            "E0329",
            f"{said(found)} has no order",
            node.span,
            label=f"{what} compares these",
            hint="give `by = …`, an expression over the fields of one element" if "by" not in what else "",
        )
        return False

    def element_fields(self, item: ExpressionType) -> dict[str, ExpressionType]:
        """What `by = …` may name of an element."""
        plain = expand(item, self.module.table)
        if isinstance(plain, BranchOf):
            return {"value": plain.value, **dict(plain.holes)}
        if isinstance(plain, Named):
            declared = self.module.table.get(plain.name)
            if isinstance(declared, RecordType):
                return {field.name: field_type(field) for field in declared.fields}
        return {}


def methods_of(table: Table, plain: ExpressionType) -> dict[str, Builtin]:
    """The methods that values of a type have, by name."""
    if isinstance(plain, ListOf | ListValue):
        return LIST_METHODS
    if isinstance(plain, MapOf):
        return MAP_METHODS
    if isinstance(plain, ScoredOf):
        return SCORED_METHODS
    return STR_METHODS if is_text(plain, table) else {}
