"""Types of TypeScript as types; `Declarations` makes those that a declaration refers to."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from sglc.importers.core.comments import Comments
from sglc.importers.core.constants import one_of_constants
from sglc.importers.core.fault import SourceFault
from sglc.importers.typescript.nodes import is_node, only, reference_of, value_of
from sglc.importers.typescript.objects import SHAPED, Objects
from sglc.importers.typescript.tags import bounded, without_tags
from sglc.importers.typescript.tokens import string_of
from sglc.lalr.parse import ParseNode, Part, Token
from sglc.types.equality import equal
from sglc.types.type import (
    AliasType,
    Alternatives,
    Bool,
    Constant,
    DeclaredType,
    FieldType,
    Float,
    Json,
    ListOf,
    Named,
    Null,
    Optional,
    RecordType,
    Str,
    TupleOf,
    Type,
)

_PLAIN: dict[str, Type] = {
    "string": Str(),
    "number": Float(),
    "boolean": Bool(),
    "null": Null(),
    "any": Json(),
    "unknown": Json(),
    "true": Constant(True),
    "false": Constant(False),
}
_REFUSED = {
    "object": ("any object, array or function", "write the properties, or `Record<string, unknown>`"),
    "Object": ("nearly anything", "write the properties, or `Record<string, unknown>`"),
    "never": ("no value at all", ""),
    "void": ("no value at all", ""),
    "undefined": ("nothing that JSON can write", "write `null`, or make the property optional with `?`"),
    "bigint": ("numbers that JSON.stringify refuses", "write `number`"),
    "symbol": ("nothing that JSON can write", ""),
    "Date": ("an object with methods", "write `string`"),
    "Function": ("functions", ""),
    "Map": ("an object with methods", "write `Record<string, T>`"),
    "Set": ("an object with methods", "write `T[]`"),
    "Promise": ("an object with methods", ""),
}
_GENERIC = {
    "Array": 1,
    "ReadonlyArray": 1,
    "Record": 2,
    "NonNullable": 1,
    "Exclude": 2,
    "Extract": 2,
    **SHAPED,
}


class Declarations(Objects):
    """Makes types of declarations when they are first referred to."""

    def __init__(self, nodes: dict[str, ParseNode], docs: dict[str, str], comments: Comments) -> None:
        self.nodes = nodes
        self.docs = docs
        self.comments = comments
        self.types: dict[str, DeclaredType] = {}
        self.shapes: dict[str, tuple[FieldType, ...]] = {}
        self.open: list[str] = []
        """Aliases that are being read, since the last object."""
        self.begun: set[str] = set()
        self.taken: set[str] = set(nodes)

    def declare(self, name: str) -> None:
        """Puts a declaration among the types."""
        if name in self.begun:
            return
        self.begun.add(name)
        node = self.nodes[name]
        label = node.parts[0]
        assert isinstance(label, Token)
        if any(isinstance(part, ParseNode) and part.kind == "parameters" for part in node.parts):
            raise SourceFault(
                label.start,
                label.end,
                f"{name} has type parameters",
                "write the declaration for the types it is used with",
            )
        if node.kind == "enum":
            self.types[name] = AliasType(name, self.enumeration(node), self.docs[name])
            return
        body = only(node.parts[-1])
        extends = any(is_node(part, "references") for part in node.parts)
        self.open.append(name)
        mapped = None if extends else self.map_of(body, name)
        doc = self.docs[name]
        said = without_tags(doc)
        if mapped is not None:
            self.types[name] = AliasType(name, bounded(mapped, doc, node), said)
        elif node.kind == "interface" or self.is_shape(body):
            # The place in the table comes first: the fields may lead back here.
            self.types[name] = RecordType(name, (), doc)
            self.types[name] = RecordType(name, self.shape_named(name, node), doc)
        else:
            self.types[name] = AliasType(name, bounded(self.type(body, f"{name}.item"), doc, node), said)
        self.open.remove(name)

    def named(self, token: Token) -> Type:
        """A declared type by its name, declared now if it was not yet. Raises SourceFault for an alias
        that contains itself."""
        name = token.text
        if name in self.open:
            raise SourceFault(
                token.start,
                token.end,
                f"{name} is defined by itself",
                "only objects may contain themselves: write an interface",
            )
        self.declare(name)
        return Named(name)

    # -- types -------------------------------------------------------------------------------------

    def type(self, part: Part, path: str) -> Type:
        """A type. Objects in it that have no name are called by their path."""
        assert isinstance(part, ParseNode)
        declared = self.by_name(part)
        if declared is not None:
            return declared
        arms, undefined = self.arms(part, path)
        if undefined:
            reason, hint = _REFUSED["undefined"]
            raise SourceFault(part.start, part.end, f"`undefined` is {reason}", hint)
        if not arms:
            raise SourceFault(part.start, part.end, "no value is left")
        return self.union(arms, part)

    def by_name(self, part: ParseNode) -> Type | None:
        """The declared type that a type is, where it is just that."""
        node = only(part)
        if node.kind == "reference" and isinstance(node.parts[0], Token):
            name, arguments = reference_of(node)
            if name in self.nodes and not arguments:
                return self.named(node.parts[0])
        return None

    def arms(self, part: Part, path: str) -> tuple[list[Type], bool]:
        """The arms of a type, unions in it spread out, and whether `undefined` is one of them."""
        assert isinstance(part, ParseNode)
        node = only(part)
        if node.kind == "union":
            found: list[Type] = []
            undefined = False
            for arm in node.parts:
                inner, missing = self.arms(arm, path)
                found += inner
                undefined = undefined or missing
            return found, undefined
        if node.kind == "reference":
            name, arguments = reference_of(node)
            if name == "undefined":
                return [], True
            if name in ("NonNullable", "Exclude", "Extract") and name not in self.nodes:
                return self.filtered(name, arguments, node, path)
        return self.spread(self.single(node, path)), False

    def spread(self, type: Type) -> list[Type]:
        """The arms of a type behind its names; a name that stands for no union stays."""
        plain = self.plain(type)
        if isinstance(plain, Optional):
            return [*self.spread(plain.item), Null()]
        if isinstance(plain, Alternatives):
            return [each for arm in plain.arms for each in self.spread(arm)]
        return [plain if isinstance(plain, Constant | Null | Json) else type]

    def plain(self, type: Type) -> Type:
        """What a type is behind its aliases."""
        while isinstance(type, Named):
            declared = self.types.get(type.name)
            if not isinstance(declared, AliasType):
                return type
            type = declared.type
        return type

    def union(self, arms: list[Type], node: ParseNode) -> Type:
        """The union of arms: each once, literals that another arm holds left out, null apart."""
        if any(isinstance(arm, Json) for arm in arms):
            return Json()
        kept: list[Type] = []
        null = False
        plain = [self.plain(arm) for arm in arms]
        for arm, behind in zip(arms, plain, strict=True):
            if isinstance(behind, Null):
                null = True
            elif isinstance(behind, Constant):
                wide = (
                    Bool()
                    if isinstance(behind.value, bool)
                    else Str()
                    if isinstance(behind.value, str)
                    else Float()
                )
                if wide not in plain and not any(
                    isinstance(other, Constant) and equal(other.value, behind.value) for other in kept
                ):
                    kept.append(behind)
            elif arm not in kept:
                kept.append(arm)
        kept = _with_bool(kept)
        if not kept:
            return Null()
        whole = kept[0] if len(kept) == 1 else Alternatives(tuple(kept))
        return Optional(whole) if null else whole

    def single(self, node: ParseNode, path: str) -> Type:
        """A type that is no union."""
        match node.kind:
            case "literal":
                return self.literal(node.parts[0])
            case "object" | "intersection":
                return self.map_of(node, path) or self.record(node, path)
            case "array":
                return ListOf(self.type(node.parts[0], path))
            case "readonly":
                return self.type(node.parts[0], path)
            case "tuple":
                return self.tuple_of(node, path)
            case "keyof":
                names = [field.name for field in self.shape(node.parts[0], path)]
                return one_of_constants(names, node.start, node.end)
            case "indexed":
                return self.indexed(node, path)
            case "reference":
                return self.reference(node, path)
        raise SourceFault(node.start, node.end, "this is no type of data")

    def literal(self, part: Part) -> Type:
        """A literal type."""
        assert isinstance(part, ParseNode)
        value = value_of(part)
        return one_of_constants([value], part.start, part.end)

    def record(self, node: ParseNode, path: str) -> Type:
        """An object without a name, called by its path, or in a union by the text that tells it apart."""
        fields = self.shape(node, path)
        tag = next((f.type.value for f in fields if isinstance(f.type, Constant) and not f.optional), None)
        owner, _, last = path.rpartition(".")
        if isinstance(tag, str) and tag.isidentifier() and last == "item":
            path = f"{owner}.{tag}"
        name, number = path, 1
        while name in self.taken:
            number += 1
            name = f"{path}{number}"
        self.taken.add(name)
        self.types[name] = RecordType(name, fields)
        return Named(name)

    def tuple_of(self, node: ParseNode, path: str) -> Type:
        """A tuple, or a list where only a rest is written. Raises SourceFault for items that may be
        missing."""
        items: list[Type] = []
        rest: Type | None = None
        for part in node.parts:
            if not isinstance(part, ParseNode):
                continue
            if part.kind == "optional_element":
                raise SourceFault(part.start, part.end, "items of a tuple that may be missing are not read")
            body = part.parts[-1]
            if rest is not None:
                raise SourceFault(part.start, part.end, "items behind the rest of a tuple are not read")
            if part.kind == "rest_element":
                found = self.plain(self.type(body, path))
                if not isinstance(found, ListOf):
                    raise SourceFault(part.start, part.end, "the rest of a tuple is an array")
                rest = found.item
            else:
                items.append(self.type(body, path))
        if rest is not None:
            if any(item != rest for item in items):
                raise SourceFault(
                    node.start, node.end, "the rest of a tuple has the type of its items, or none is read"
                )
            return ListOf(rest, len(items))
        if not items:
            raise SourceFault(node.start, node.end, "a tuple without items is not read")
        return TupleOf(tuple(items))

    def indexed(self, node: ParseNode, path: str) -> Type:
        """`T["key"]`, and `T[number]` of an array."""
        owner, index = node.parts[0], node.parts[-1]
        assert isinstance(owner, ParseNode) and isinstance(index, ParseNode)
        inside = only(index)
        if inside.kind == "reference" and reference_of(inside)[0] == "number":
            found = self.plain(self.type(owner, path))
            if isinstance(found, ListOf):
                return found.item
            if isinstance(found, TupleOf):
                return self.union([arm for item in found.items for arm in self.spread(item)], node)
            raise SourceFault(owner.start, owner.end, "an array is due here")
        keys = self.keys(index)
        fields = {field.name: field for field in self.shape(owner, path)}
        arms: list[Type] = []
        for key in keys or ():
            if key not in fields or fields[key].optional:
                raise SourceFault(index.start, index.end, f"there is no property {key} that is always there")
            arms += self.spread(fields[key].type)
        if not arms:
            raise SourceFault(index.start, index.end, "the name of a property is due here")
        return self.union(arms, node)

    def reference(self, node: ParseNode, path: str) -> Type:
        """The type that a name stands for, with its arguments: declared, built in, or a member of an enum.
        Raises SourceFault."""
        first = node.parts[0]
        assert isinstance(first, Token)
        name, arguments = reference_of(node)
        names = [part for part in node.parts if isinstance(part, Token)]
        if len(names) > 1:
            return self.member(node, names)
        if name in self.nodes:
            if arguments:
                raise SourceFault(node.start, node.end, f"{name} is not read with type arguments")
            return self.named(first)
        if name in _PLAIN and not arguments:
            return _PLAIN[name]
        if name in _REFUSED:
            reason, hint = _REFUSED[name]
            raise SourceFault(node.start, node.end, f"`{name}` is {reason}", hint)
        due = _GENERIC.get(name)
        if due is None:
            raise SourceFault(node.start, node.end, f"there is no declaration of {name}")
        if len(arguments) != due:
            raise SourceFault(node.start, node.end, f"{name} has {due} type argument{'s' if due > 1 else ''}")
        if name in ("Array", "ReadonlyArray"):
            return ListOf(self.type(arguments[0], path))
        if name == "Readonly" and not self.is_shape(arguments[0]):
            return self.type(arguments[0], path)
        return self.map_of(node, path) or self.record(node, path)

    def filtered(
        self, name: str, arguments: Sequence[ParseNode], node: ParseNode, path: str
    ) -> tuple[list[Type], bool]:
        """`NonNullable`, and `Exclude` and `Extract` of literals."""
        if len(arguments) != _GENERIC[name]:
            raise SourceFault(node.start, node.end, f"{name} has {_GENERIC[name]} type arguments")
        arms, undefined = self.arms(arguments[0], path)
        if name == "NonNullable":
            return [arm for arm in arms if not isinstance(arm, Null)], False
        others, other_undefined = self.arms(arguments[1], path)
        if not all(isinstance(arm, Constant | Null) for arm in (*arms, *others)):
            raise SourceFault(node.start, node.end, f"{name} is read with literals only")
        found = [arm for arm in arms if (arm in others) == (name == "Extract")]
        return found, undefined and other_undefined == (name == "Extract")

    # -- enums -------------------------------------------------------------------------------------

    def members(self, node: ParseNode) -> dict[str, str | int | Decimal | bool]:
        """The values of an enum by name; numbers count on from the one before. Raises SourceFault."""
        found: dict[str, str | int | Decimal | bool] = {}
        following: int | Decimal | None = 0
        for part in node.parts[1:]:
            if not isinstance(part, ParseNode):
                continue
            label, written = part.parts[0], part.parts[1]
            assert isinstance(label, Token)
            name = string_of(label) if label.kind == "STRING" else label.text
            if name in found:
                raise SourceFault(label.start, label.end, f"member {name} is there twice")
            if isinstance(written, ParseNode):
                found[name] = value_of(written)
            elif following is not None:
                found[name] = following
            else:
                raise SourceFault(label.start, label.end, f"member {name} needs a value")
            value = found[name]
            following = None if isinstance(value, str) else value + 1
        return found

    def enumeration(self, node: ParseNode) -> Type:
        """The values of an enum as literal types. Raises SourceFault if there are none."""
        values = list(self.members(node).values())
        if not values:
            raise SourceFault(node.start, node.end, "an enum without members has no value")
        return one_of_constants(values, node.start, node.end)

    def member(self, node: ParseNode, names: list[Token]) -> Type:
        """`Color.Red`."""
        owner = self.nodes.get(names[0].text)
        if owner is None or owner.kind != "enum" or len(names) > 2:
            raise SourceFault(node.start, node.end, f"there is no enum {names[0].text}")
        members = self.members(owner)
        if names[1].text not in members:
            raise SourceFault(names[1].start, names[1].end, f"{names[0].text} has no member {names[1].text}")
        return one_of_constants([members[names[1].text]], node.start, node.end)


def _with_bool(arms: list[Type]) -> list[Type]:
    """`true | false` is `boolean`."""
    both = [arm for arm in arms if isinstance(arm, Constant) and isinstance(arm.value, bool)]
    if len(both) < 2:
        return arms
    place = arms.index(both[0])
    rest = [arm for arm in arms if arm not in both]
    return [*rest[:place], Bool(), *rest[place:]]
