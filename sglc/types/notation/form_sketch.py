"""The schema text of a type in a form: its shape with words in place of the scalars.

    name: text of at most 20 characters  # first and last name
    skills:
      - text of at most 9 characters
      - ...  # 1 to 3 items

YAML has comments for what else is to be said; for the other forms it stands below, by the name of the field.
"""

from __future__ import annotations

from typing import assert_never

from sglc.types.forms.forms import shapes_of
from sglc.types.forms.shape import (
    Arms,
    Around,
    Conditioned,
    Entries,
    Group,
    Leaf,
    Many,
    Part,
    Ref,
    Shape,
    Variants,
)
from sglc.types.language.scalars import constant_text
from sglc.types.notation.phrases import Recursive, absence, count_phrase, phrase, short_name
from sglc.types.notation.sgl import behind_where, one_line
from sglc.types.type import (
    AliasType,
    Bool,
    Constant,
    Dec,
    EnumType,
    FieldType,
    Float,
    InForm,
    Int,
    Named,
    Null,
    OneOf,
    RecordType,
    SpanOf,
    Str,
    Type,
    TypeTable,
)


def form_sketch(type: InForm, table: TypeTable) -> str:
    """What is shown to the model. Raises FormError."""
    return _Sketch(type, table).whole()


class _Sketch:
    def __init__(self, type: InForm, table: TypeTable) -> None:
        self.form = type.form
        self.shapes = shapes_of(type, table)
        self.table = self.shapes.table
        self.recursive = Recursive(self.table)
        self.open: list[str] = []
        self.notes: list[str] = []

    def whole(self) -> str:
        first = self.text(self.shapes.root)
        below: list[str] = []
        for name in self.recursive.named:  # which grows while types are explained
            below.append(f"{short_name(name)}:\n{self.explained(name)}")
        return "\n\n".join([first, *(["\n".join(self.notes)] if self.notes else []), *below])

    def explained(self, name: str) -> str:
        self.open = [name]
        return self.text(self.shapes.of(Ref(name)))

    def text(self, shape: Shape) -> str:
        match shape:
            case Leaf(type=type):
                return self.leaf(type)
            case Around(left, inner, right):
                return left + self.text(inner) + right
            case Group():
                return self.group(shape)
            case Variants(groups=groups):
                return self.either([self.group(group) for group in groups])
            case Many():
                return self.many(shape)
            case Entries():
                entry = f'"{self.leaf(shape.key)}":{self.text(shape.value)}'
                more = "..." + self.counted(shape.minimum, shape.maximum, "entries")
                return shape.left + entry + shape.joint + more + shape.right
            case Arms(arms=arms):
                return self.either([self.text(arm) or "nothing" for _, arm in arms])
            case Conditioned(inner, alias):
                return self.held(self.text(inner), alias)
            case Ref():
                return self.named(shape)
            case _:
                assert_never(shape)

    def held(self, text: str, alias: AliasType) -> str:
        """A value with the conditions that it meets: behind one that stands on a line, else as a note."""
        conditions = behind_where(alias).removeprefix(" ")
        if "\n" not in text and not text.endswith(("]", "}", ">")):
            return f"{text} {conditions}"
        self.notes.append(f"{short_name(alias.name)}: {conditions}")
        return text

    def named(self, ref: Ref) -> str:
        """A declared type; one that contains itself by its name, but where it stands first."""
        if ref.name not in self.open and not (self.open and self.recursive.is_recursive(ref.name)):
            self.open.append(ref.name)
            text = self.text(self.shapes.of(ref))
            self.open.pop()
            return text
        if ref.name not in self.recursive.named and ref.name != self.open[0]:
            self.recursive.named.append(ref.name)
        name = short_name(ref.name)
        shown = f"{name}, the same shape as above" if ref.name == self.open[0] else name
        return f" {shown}" if ref.place[1] else shown

    def either(self, texts: list[str]) -> str:
        """Alternatives on one line, or one below the other."""
        lines = list(dict.fromkeys(texts))
        if len(lines) == 1:
            return lines[0]
        several = [text for text in lines if "\n" in text]
        single = [text for text in lines if "\n" not in text]
        if not several:
            return " | ".join([lines[0], *(text.lstrip(" ") for text in lines[1:])])
        if not several[0].startswith("\n"):
            return "\nor\n".join(lines)
        before = [*(text.strip() for text in single), ""]
        pad = several[0][: len(several[0]) - len(several[0].lstrip())]
        return f"  # {' or '.join(before).rstrip()}:" + f"{pad}# or:".join(several)

    def many(self, many: Many) -> str:
        if many.maximum == 0:
            return many.empty
        item = many.lead + self.text(many.item) + many.trail
        between = "" if many.trail else many.joint + many.lead
        counted = self.counted(
            many.minimum, many.maximum, {"csv": "rows", "lines": "lines"}.get(self.form, "items")
        )
        return f"{many.left}{item}{between}...{counted}{many.right}"

    def counted(self, low: int, high: int | None, noun: str) -> str:
        if not low and high is None:
            return ""
        count = count_phrase(low, high, noun.removesuffix("ies") + "y" if noun == "entries" else noun[:-1])
        count = count.replace("entrys", "entries")
        return f"  # {count}" if self.form == "yaml" else f" ({count})"

    def group(self, group: Group) -> str:
        declared = self.table.get(group.type) if group.type else None
        doc = one_line(declared.doc) if isinstance(declared, RecordType) else ""
        if doc and self.form != "yaml":
            self.notes.append(doc)
        parts = [group.tag] if group.tag else []
        parts += [self.part(part) for part in group.parts]
        if not parts:
            return group.empty
        start = f"{group.left}# {doc}{group.joint}" if doc and self.in_block(group) else group.left
        return start + group.joint.join(parts) + group.right

    def in_block(self, group: Group) -> bool:
        return self.form == "yaml" and group.joint.startswith("\n")

    def part(self, part: Part) -> str:
        text = part.left + self.text(part.shape) + part.right
        notes = self.said(part.field) if part.field is not None else ""
        if not notes:
            return text
        if self.form != "yaml":
            self.notes.append(f"{part.name}: {notes}")
            return text
        first, *rest = text.split("\n")
        first = f"{first} {notes}" if "  # " in first else f"{first}  # {notes}"
        return "\n".join([first, *rest])

    def said(self, field: FieldType) -> str:
        notes = [one_line(field.doc)]
        always = self.form == "csv"
        notes.append("" if always else absence(field, self.table))
        if isinstance(field.type, Named):
            declared = self.table[field.type.name]
            if isinstance(declared, EnumType):
                pairs = zip(declared.members, declared.docs, strict=False)
                notes += (f"{member}: {one_line(doc)}" for member, doc in pairs if doc)
        return "; ".join(note for note in notes if note)

    def leaf(self, type: Type) -> str:
        match type:
            case Str():
                return phrase(type, "text")
            case Int() | Dec() | Float():
                return phrase(type)
            case Bool():
                return "true | false"
            case Null():
                return self.shapes.texts.null
            case Constant(value):
                text = isinstance(value, str)
                return self.shapes.texts.write(str(value), False) if text else constant_text(value, "hole")
            case Named(name):
                declared = self.table[name]
                assert isinstance(declared, EnumType), "no other declared type is a scalar"
                return " | ".join(self.shapes.texts.write(member, False) for member in declared.members)
            case OneOf() | SpanOf():
                return "text"
        raise AssertionError(f"{type} is no scalar")
