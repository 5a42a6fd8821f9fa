"""Object types of TypeScript: their properties, and what is made of those of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sglc.importers.core.comments import Comments
from sglc.importers.core.fault import SourceFault
from sglc.importers.typescript.nodes import is_node, only, reference_of
from sglc.importers.typescript.tags import bounded, without_tags
from sglc.importers.typescript.tokens import string_of
from sglc.lalr.parse import ParseNode, Part, Token
from sglc.types.type import (
    AliasType,
    Constant,
    DeclaredType,
    FieldType,
    MapOf,
    Optional,
    RecordType,
    Str,
    Type,
)

SHAPED = {"Partial": 1, "Required": 1, "Readonly": 1, "Pick": 2, "Omit": 2}
"""Types that are made of the properties of another, with their numbers of arguments."""


class Objects:
    """Reads properties; `Declarations` reads everything else."""

    nodes: dict[str, ParseNode]
    comments: Comments
    types: dict[str, DeclaredType]
    shapes: dict[str, tuple[FieldType, ...]]
    open: list[str]
    """Aliases that are being read, since the last object."""
    begun: set[str]

    def declare(self, name: str) -> None:
        """Puts a declaration among the types."""
        raise AssertionError("see Declarations")

    def type(self, part: Part, path: str) -> Type:
        """A type. Objects in it that have no name are called by their path."""
        raise AssertionError("see Declarations")

    def arms(self, part: Part, path: str) -> tuple[list[Type], bool]:
        """The arms of a type, unions in it spread out, and whether `undefined` is one of them."""
        raise AssertionError("see Declarations")

    def by_name(self, part: ParseNode) -> Type | None:
        """The declared type that a type is, where it is just that."""
        raise AssertionError("see Declarations")

    def union(self, arms: list[Type], node: ParseNode) -> Type:
        """The union of arms: each once, literals that another arm holds left out, null apart."""
        raise AssertionError("see Declarations")

    def plain(self, type: Type) -> Type:
        """The type behind names of aliases."""
        raise AssertionError("see Declarations")

    def is_shape(self, node: ParseNode) -> bool:
        """Whether a type is an object with properties that are written out."""
        node = only(node)
        if node.kind == "object":
            return not any(is_node(part, "index") for part in node.parts)
        if node.kind == "intersection":
            return True
        if node.kind == "reference":
            name, arguments = reference_of(node)
            if name in self.nodes:
                return False
            if name == "Record" and len(arguments) == 2:
                return self.keys(arguments[0]) is not None
            return name in SHAPED
        return False

    def shape_named(self, name: str, node: ParseNode) -> tuple[FieldType, ...]:
        """The properties of a declaration."""
        if name not in self.shapes:
            outer, self.open = self.open, []
            fields: tuple[FieldType, ...] = ()
            for part in node.parts[1:-1]:
                if is_node(part, "references"):
                    assert isinstance(part, ParseNode)
                    for base in part.parts:
                        assert isinstance(base, ParseNode)
                        fields = self.merged(fields, self.shape(base, name), base)
            own = self.shape(node.parts[-1], name)
            names = {field.name for field in own}
            kept = {field.name: field for field in own}
            out = [kept.pop(field.name) if field.name in names else field for field in fields]
            self.shapes[name] = (*out, *kept.values())
            self.open = outer
        return self.shapes[name]

    def shape(self, part: Part, path: str) -> tuple[FieldType, ...]:
        """The properties of an object type. Raises SourceFault where it is none."""
        assert isinstance(part, ParseNode)
        node = only(part)
        match node.kind:
            case "object":
                return self.properties(node, path)
            case "intersection":
                fields: tuple[FieldType, ...] = ()
                for arm in node.parts:
                    fields = self.merged(fields, self.shape(arm, path), node)
                return fields
            case "readonly":
                return self.shape(node.parts[0], path)
            case "reference":
                name, arguments = reference_of(node)
                if name in self.nodes:
                    return self.shape_of_declared(name, node)
                if len(arguments) == SHAPED.get(name):
                    return self.utility(name, arguments, path)
                if name == "Record" and len(arguments) == 2:
                    keys = self.keys(arguments[0])
                    if keys is not None:
                        return tuple(FieldType(key, self.type(arguments[1], f"{path}.{key}")) for key in keys)
        raise SourceFault(node.start, node.end, "an object type with properties is due here")

    def shape_of_declared(self, name: str, node: ParseNode) -> tuple[FieldType, ...]:
        """The properties of a declared object. Raises SourceFault if it is none, or depends on itself."""
        if name in self.shapes:
            return self.shapes[name]
        declaration = self.nodes[name]
        if name in self.begun and isinstance(self.types.get(name), RecordType):
            raise SourceFault(node.start, node.end, f"the properties of {name} depend on themselves")
        self.declare(name)
        found = self.types.get(name)
        if isinstance(found, RecordType):
            return found.fields
        if declaration.kind == "alias" and isinstance(found, AliasType):
            return self.shape(declaration.parts[-1], name)
        raise SourceFault(node.start, node.end, f"{name} is no object type with properties")

    def utility(self, name: str, arguments: Sequence[ParseNode], path: str) -> tuple[FieldType, ...]:
        """The properties that `Partial`, `Required`, `Readonly`, `Pick` or `Omit` makes of an object's.
        Raises SourceFault."""
        fields = self.shape(arguments[0], path)
        if name == "Partial":
            return tuple(replace(field, optional=True) for field in fields)
        if name == "Required":
            return tuple(replace(field, optional=False) for field in fields)
        if name == "Readonly":
            return fields
        keys = self.keys(arguments[1])
        if keys is None:
            at = arguments[1]
            raise SourceFault(at.start, at.end, "names of properties are due here", 'write `"a" | "b"`')
        known = {field.name for field in fields}
        for key in keys:
            if key not in known:
                at = arguments[1]
                raise SourceFault(at.start, at.end, f"there is no property {key}")
        picked = name == "Pick"
        return tuple(field for field in fields if (field.name in keys) == picked)

    def merged(
        self, first: tuple[FieldType, ...], second: tuple[FieldType, ...], node: ParseNode
    ) -> tuple[FieldType, ...]:
        """The properties of both; one that both have must be the same."""
        known = {field.name: field for field in first}
        for field in second:
            other = known.get(field.name)
            if other is not None and other.type != field.type:
                raise SourceFault(
                    node.start,
                    node.end,
                    f"property {field.name} has two types",
                    "their intersection is not read",
                )
            optional = field.optional and (other is None or other.optional)
            known[field.name] = replace(other or field, optional=optional)
        return tuple(known.values())

    def properties(self, node: ParseNode, path: str) -> tuple[FieldType, ...]:
        """The properties between braces, as fields; `path` leads to the object, for messages."""
        fields: dict[str, FieldType] = {}
        last = len(node.parts) - 1
        outer, self.open = self.open, []
        for index, part in enumerate(node.parts):
            assert isinstance(part, ParseNode)
            if part.kind == "index":
                raise SourceFault(
                    part.start,
                    part.end,
                    "an index beside properties is not read",
                    "write the keys, or `Record<string, T>` alone",
                )
            end = part.parts[-1]
            assert isinstance(end, ParseNode)
            body = part.parts[-2]
            assert isinstance(body, ParseNode)
            if index < last and end.start == end.end:
                following = node.parts[index + 1]
                assert isinstance(following, ParseNode)
                if "\n" not in self.comments.text[body.end : following.start]:
                    raise SourceFault(following.start, following.start + 1, "a `;` is missing before this")
            key = next(one for one in part.parts if isinstance(one, Token))
            name = string_of(key) if key.kind == "STRING" else key.text
            if name in fields:
                raise SourceFault(key.start, key.end, f"property {name} is there twice")
            question = self.comments.text[key.end : body.start].lstrip().startswith("?")
            fields[name] = self.field(name, body, f"{path}.{name}", question, part)
        self.open = outer
        if not fields:
            raise SourceFault(
                node.start,
                node.end,
                "an object type without properties means nearly anything",
                "write `Record<string, unknown>`",
            )
        return tuple(fields.values())

    def field(self, name: str, body: ParseNode, path: str, question: bool, part: ParseNode) -> FieldType:
        """A property as a field: `| undefined` and `?` make it optional, `| null` its type."""
        end = part.parts[-1]
        assert isinstance(end, ParseNode)
        doc = self.comments.of(part.start, end.end if end.start < end.end else body.end)
        declared = self.by_name(body)
        said = without_tags(doc)
        if declared is not None and said == doc:
            return FieldType(name, declared, optional=question, doc=doc)
        arms, undefined = self.arms(body, path)
        if not arms:
            raise SourceFault(body.start, body.end, "nothing can be written here")
        type = self.union(arms, body)
        if said != doc:
            inner = type.item if isinstance(type, Optional) else type
            plain = bounded(self.plain(inner), doc, body)
            type = Optional(plain) if isinstance(type, Optional) else plain
        return FieldType(name, type, optional=question or undefined, doc=said)

    def map_of(self, node: ParseNode, path: str) -> Type | None:
        """The map that an object with an index alone, or a `Record` of texts, is; None for others."""
        node = only(node)
        if node.kind == "object" and len(node.parts) == 1 and is_node(node.parts[0], "index"):
            index = node.parts[0]
            assert isinstance(index, ParseNode)
            parts = [part for part in index.parts if isinstance(part, ParseNode)]
            key, value = parts[0], parts[1]
        elif node.kind == "reference" and reference_of(node)[0] == "Record" and "Record" not in self.nodes:
            arguments = reference_of(node)[1]
            if len(arguments) != 2 or self.keys(arguments[0]) is not None:
                return None
            key, value = arguments
        else:
            return None
        found = self.plain(self.type(key, f"{path}.key"))
        if found != Str():
            raise SourceFault(key.start, key.end, "keys of a map are texts", "write `string`")
        return MapOf(Str(), self.type(value, path))

    def keys(self, node: ParseNode) -> list[str] | None:
        """The literal texts of a type that names properties; None for others."""
        arms, undefined = self.arms(node, "key")
        if undefined or not arms:
            return None
        if not all(isinstance(arm, Constant) and isinstance(arm.value, str) for arm in arms):
            return None
        return [str(arm.value) for arm in arms if isinstance(arm, Constant)]
