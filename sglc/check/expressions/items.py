"""Parts of values by place or key."""

from __future__ import annotations

from sglc.check.core.context import ModuleContext
from sglc.check.core.result import ExpressionType, ListValue, Never, Unknown
from sglc.check.expressions.folding import fold
from sglc.check.expressions.inference import Inference
from sglc.check.types.kinds import (
    INT,
    JSON,
    STR,
    UNKNOWN,
    allows_null,
    expand,
    field_type,
    is_text,
    item_of,
    list_of,
    numeric_rank,
    said,
)
from sglc.immutable import node
from sglc.syntax.tree import ast
from sglc.types.type import Json, ListOf, MapOf, Named, RecordType, TupleOf


@node
class Items:
    """`value[place]` and `value[start:stop]`."""

    module: ModuleContext
    inference: Inference

    def index(self, node: ast.Index) -> ExpressionType:
        """The type of `value[place]`."""
        owner = self.inference.infer(node.value)
        plain = expand(owner, self.module.table)
        match plain:
            case Unknown() | Never():
                self.inference.infer(node.index)
                return UNKNOWN
            case ListOf(item) | ListValue(item):
                self.inference.expect(node.index, INT, "the place in a list")
                known, place = fold(self.module, node.index)
                maximum = getattr(plain, "maximum", None)
                if (
                    known
                    and isinstance(place, int)
                    and maximum is not None
                    and not -maximum <= place < maximum
                ):
                    self.module.report(
                        "E0317",
                        f"this list has at most {maximum} items",
                        node.index.span,
                        label=f"place {place} is never there",
                        reason="places are counted from 0",
                    )
                return item
            case MapOf(_, value):
                self.inference.expect(node.index, STR, "the key of a map")
                return value
            case Named(name) if isinstance(self.module.table.get(name), RecordType):
                return self._named_field(node, name)
            case Json():
                found = self.inference.infer(node.index)
                whole = numeric_rank(found, self.module.table) == 0
                if not (whole or is_text(found, self.module.table) or isinstance(found, Unknown)):
                    self.inference.mismatch(node.index.span, found, STR, "the key or place in a JSON value")
                return JSON
            case TupleOf(items):
                self.inference.expect(node.index, INT, "the place in a tuple")
                known, place = fold(self.module, node.index)
                if not known or not isinstance(place, int):
                    if len(set(items)) == 1:
                        return items[0]
                    self.module.report(
                        "E0317",
                        "the place in a tuple must be a constant",
                        node.index.span,
                        label="not known here",
                        reason="its items have different types",
                    )
                    return UNKNOWN
                if not -len(items) <= place < len(items):
                    self.module.report(
                        "E0317",
                        f"this tuple has {len(items)} items",
                        node.index.span,
                        label=f"place {place} is not there",
                        reason="places are counted from 0",
                    )
                    return UNKNOWN
                return items[place]
        self.inference.infer(node.index)
        if is_text(plain, self.module.table):
            self.inference.expect(node.index, INT, "the place in a text")
            return STR
        return self._no_items(node, owner)

    def _no_items(self, node: ast.Index, owner: ExpressionType) -> ExpressionType:
        self.module.report(
            "E0318",
            f"{said(owner)} has no items",
            node.span,
            label="cannot be indexed",
            hint="it may be null: test it first" if allows_null(owner, self.module.table) else "",
        )
        return UNKNOWN

    def _named_field(self, node: ast.Index, name: str) -> ExpressionType:
        """`row["unit price"]`: a field whose name is no word."""
        known, key = fold(self.module, node.index)
        record = self.module.table[name]
        assert isinstance(record, RecordType)
        names = {field.name: field for field in record.fields}
        index = self.inference.infer(node.index)
        if not isinstance(index, Unknown) and not is_text(index, self.module.table):
            return self._no_items(node, Named(name))
        if known and isinstance(key, str) and key in names:
            return field_type(names[key])
        close = self.module.nearest(key, list(names)) if known and isinstance(key, str) else None
        self.module.report(
            "E0209",
            f"{said(Named(name))} has no such field",
            node.index.span,
            label="unknown field" if known else "not known when the program is compiled",
            hint=f'did you mean "{close}"?' if close else "",
        )
        return UNKNOWN

    def slice(self, node: ast.Slice) -> ExpressionType:
        """The type of `value[start:stop]`."""
        owner = self.inference.infer(node.value)
        for end in (node.start, node.stop):
            if end is not None:
                self.inference.expect(end, INT, "the end of a slice")
        item = item_of(owner, self.module.table)
        if item is not None:
            return list_of(item)
        if is_text(owner, self.module.table) or isinstance(owner, Unknown):
            return STR if not isinstance(owner, Unknown) else UNKNOWN
        self.module.report("E0318", f"{said(owner)} cannot be sliced", node.span, label="no list, no text")
        return UNKNOWN
