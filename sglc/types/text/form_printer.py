"""The printer of a type in a form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from sglc.types.forms.forms import shapes_of
from sglc.types.forms.shape import (
    Arms,
    Around,
    Conditioned,
    Entries,
    FormError,
    Group,
    Leaf,
    Many,
    Part,
    Ref,
    Shape,
    Shapes,
    Variants,
)
from sglc.types.language.membership import arm_of
from sglc.types.language.scalars import constant_text
from sglc.types.text.scalar_printer import PrintError, print_scalar
from sglc.types.type import (
    Alternatives,
    Bool,
    Constant,
    Dec,
    EnumType,
    Float,
    InForm,
    Int,
    Named,
    Null,
    OneOf,
    SpanOf,
    Str,
    TypeTable,
)
from sglc.types.values import EnumValue, RecordValue


def print_in_form(value: object, type: InForm, table: TypeTable) -> str:
    """The text of a value. Raises PrintError for one that is not of the kind of the type, and for one with a
    part that the form cannot hold."""
    try:
        shapes = shapes_of(type, table)
        return _Printer(shapes).text(value, shapes.root)
    except FormError as fault:
        raise PrintError(f"the value has no text as {type.form}: {fault}") from None


class _Printer:
    def __init__(self, shapes: Shapes) -> None:
        self.shapes = shapes
        self.table = shapes.table

    def text(self, value: object, shape: Shape) -> str:
        match shape:
            case Leaf():
                return self.leaf(value, shape)
            case Around(left, inner, right):
                return left + self.text(value, inner) + right
            case Conditioned(inner):
                return self.text(value, inner)
            case Group(type=None):
                return self.tuple_items(value, shape)
            case Group():
                return self.record(value, shape)
            case Variants(type=name, groups=groups):
                for group in groups:
                    if isinstance(value, RecordValue) and value.variant == group.variant:
                        return self.record(value, group)
                raise PrintError(f"a value that is no variant of {name}")
            case Many():
                if not isinstance(value, list):
                    raise PrintError("a list is due")
                items = [shape.lead + self.text(item, shape.item) + shape.trail for item in value]
                return shape.left + shape.joint.join(items) + shape.right if items else shape.empty
            case Entries():
                return self.entries(value, shape)
            case Arms(arms=arms):
                types = tuple(type for type, _ in arms)
                chosen = arm_of(value, Alternatives(types), self.table)
                return self.text(value, arms[types.index(chosen)][1])
            case Ref():
                return self.text(value, self.shapes.of(shape))
            case _:
                assert_never(shape)

    def tuple_items(self, value: object, group: Group) -> str:
        if not isinstance(value, tuple) or len(value) != len(group.parts):
            raise PrintError(f"a tuple of {len(group.parts)} is due")
        pairs = zip(value, group.parts, strict=True)
        return self.joined([self.part(item, part) for item, part in pairs], group)

    def record(self, value: object, group: Group) -> str:
        if not isinstance(value, RecordValue):
            raise PrintError(f"a {group.type} is due")
        found = [group.tag] if group.tag else []
        for part in group.parts:
            field = part.field
            assert field is not None, "the parts of a record are fields"
            if field.name not in value.fields:
                if part.optional:
                    continue
                if not (field.optional or field.has_default):
                    raise PrintError(f"the field {field.name} is missing")
            item = value.fields.get(field.name, field.default)
            if not (part.optional and field.optional and item is None):
                found.append(self.part(item, part))
        return self.joined(found, group)

    def part(self, value: object, part: Part) -> str:
        return part.left + self.text(value, part.shape) + part.right

    def joined(self, parts: list[str], group: Group) -> str:
        return group.left + group.joint.join(parts) + group.right if parts else group.empty

    def entries(self, value: object, shape: Entries) -> str:
        if not isinstance(value, Mapping):
            raise PrintError("a map is due")
        found = []
        for key, item in value.items():
            found.append(f"{self.shapes.texts.key(str(key))}:{self.text(item, shape.value)}")
        return shape.left + shape.joint.join(found) + shape.right if found else shape.empty

    def leaf(self, value: object, leaf: Leaf) -> str:
        texts = self.shapes.texts
        match leaf.type:
            case Str() | OneOf() | SpanOf():
                if not isinstance(value, str):
                    raise PrintError("a text is due")
                return texts.write(value, leaf.quoted)
            case Constant(value=str() as text):
                return texts.write(text, leaf.quoted)
            case Named(name=name):
                assert isinstance(self.table[name], EnumType), "no other declared type is a scalar"
                if not isinstance(value, EnumValue):
                    raise PrintError(f"a member of {name} is due")
                return texts.write(value.name, leaf.quoted)
            case Null():
                if value is not None:
                    raise PrintError("null is due")
                return texts.null
            case Float():
                return texts.number_text(print_scalar(value, leaf.type))
            case Int() | Dec() | Bool():
                return print_scalar(value, leaf.type)
            case Constant(value=constant):
                return constant_text(constant, "hole")
        raise AssertionError(f"{leaf.type} is no scalar")
