"""Calls of built-in functions and methods, by the table in `sglc.check.names.builtins`."""

from __future__ import annotations

from sglc.check.core.context import ModuleContext
from sglc.check.core.result import (
    BranchOf,
    DefaultArgument,
    ErrorOf,
    ExpressionType,
    Never,
    ScoredOf,
    Unknown,
)
from sglc.check.expressions.builtin_results import SIMPLE, BuiltinResults
from sglc.check.expressions.inference import Inference
from sglc.check.expressions.iteration import ELEMENT, NAMED, Elements
from sglc.check.names.builtins import Builtin
from sglc.check.names.scopes import Scopes
from sglc.check.types.assignability import comparable, join
from sglc.check.types.kinds import (
    INT,
    NULL,
    STR,
    UNKNOWN,
    allows_null,
    expand,
    is_bool,
    is_text,
    item_of,
    numeric_rank,
    said,
)
from sglc.immutable import node
from sglc.syntax.tree import ast
from sglc.types.type import MapOf, TupleOf


@node
class BuiltinCalls:
    """The table says what is taken and given; nothing about a built-in is written here alone."""

    module: ModuleContext
    scopes: Scopes
    inference: Inference
    results: BuiltinResults
    elements: Elements

    def call(self, node: ast.Call, row: Builtin, owner: ExpressionType | None) -> ExpressionType:
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
            if argument is None and kind not in NAMED and positional and index < len(positional):
                argument = positional[index]
            if kind in ELEMENT and owner is not None and argument is not None:
                found.append(self.elements.found(argument.value, kind, owner, what))
                bound.append(argument.value)
                continue
            if kind in NAMED and optional:
                continue
            if argument is None:
                if not optional:
                    self.module.report(
                        "E0328",
                        f"{what} needs `{label}`",
                        node.span,
                        label=f"missing `{label}`",
                        hint=self.elements.example(row.name, label, kind),
                    )
                    for other in node.arguments:
                        self.inference.infer(other.value)
                    return UNKNOWN
                bound.append(DefaultArgument(None))
                continue
            found.append(self._argument(argument.value, kind, owner, what))
            bound.append(argument.value)
        takes = sum(1 for _, kind in row.parameters if kind.rstrip("?") not in NAMED)
        for argument in positional[takes:]:
            if several:
                found.append(self._argument(argument.value, "any", owner, what))
                bound.append(argument.value)
                continue
            hint = ""
            named = [label for label, kind in row.parameters if kind.rstrip("?") in NAMED]
            if owner is not None and named:
                hint = f"name it: `.{row.name}({named[0]} = …)`"
                found.append(self.elements.found(argument.value, "by", owner, what))
            else:
                self.inference.infer(argument.value)
            self.module.report(
                "E0328",
                f"{what} takes {takes or 'no'} argument{'' if takes == 1 else 's'}",
                argument.span,
                label="too many",
                hint=hint,
            )
        for label, argument in by_name.items():
            self._unknown_name(node, row, label, argument)
        self.module.arguments[id(node)] = tuple(bound)
        if any(isinstance(type, Unknown) for type in found):
            simple = SIMPLE.get(row.result)
            return simple if simple is not None else UNKNOWN
        return self.results.result(row, owner if owner is not None else NULL, tuple(found), node)

    def _unknown_name(self, node: ast.Call, row: Builtin, label: str, argument: ast.Argument) -> None:
        """An argument by a name that a built-in function has not."""
        hint = ""
        if row.name in ("sorted", "min", "max") and label == "key" and node.arguments:
            method = "sort" if row.name == "sorted" else row.name
            hint = f"write `{node.arguments[0].span.text}.{method}(by = …)`, where `it` is the item"
        else:
            self.inference.infer(argument.value)
        what = f"`{row.name}` takes no `{label}`"
        self.module.report("E0328", what, argument.span, label="unknown name", hint=hint)

    def _argument(
        self, node: ast.Expression, kind: str, owner: ExpressionType | None, what: str
    ) -> ExpressionType:
        """Check one argument against a kind of the table; Unknown where it was refused."""
        table = self.module.table
        place = f"the argument of {what}"
        match kind:
            case "str":
                return self.inference.expect(node, STR, place)
            case "int":
                return self.inference.expect(node, INT, place)
            case "key":
                plain = expand(owner, table) if owner is not None else UNKNOWN
                return self.inference.expect(node, STR if isinstance(plain, MapOf) else UNKNOWN, place)
            case "item" | "option" | "id" | "value":
                return self._related(node, kind, owner, what)
        found = self.inference.infer(node)
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
            "number": "a number",
            "scalar": "a number or text",
            "list": "a list",
            "numbers": "a list of numbers",
            "bools": "a list of bools",
            "strs": "a list of texts",
            "map": "a map",
            "sized": "a text, list, tuple or map",
            "any": "a plain value",
        }
        self.module.report(
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
        plain = expand(owner, self.module.table) if owner is not None else UNKNOWN
        due: ExpressionType = UNKNOWN
        if kind == "option" and isinstance(plain, ScoredOf):
            return self.inference.expect(node, plain.option, f"an option of {what}")
        if kind == "value" and isinstance(plain, MapOf):
            due = plain.value
        elif kind == "item":
            due = item_of(plain, self.module.table) or UNKNOWN
        elif kind == "id":
            item = item_of(plain, self.module.table) or UNKNOWN
            fields = self.results.element_fields(item)
            if "id" not in fields:
                if not isinstance(item, Unknown):
                    self.inference.infer(node)
                    self.module.report(
                        "E0209",
                        f"items of {said(plain)} have no field `id`",
                        node.span,
                        label="looked up by `id`",
                    )
                    return UNKNOWN
            else:
                due = fields["id"]
        found = self.inference.infer(node, due)
        if (kind == "value" and join(found, due, self.module.table) is None) or (
            kind != "value" and not comparable(found, due, self.module.table)
        ):
            self.module.report(
                "E0301",
                f"{what} takes {said(due)}, not {said(found)}",
                node.span,
                label=f"this is {said(found)}",
            )
            return UNKNOWN
        return found
