"""Resources, identifiers and references: from a reference to the place it leads to, without any network.

A *resource* is a schema with a URI of its own: the document, an embedded subschema with an `$id`, a schema
given in the options. A *place* is a schema value with the resource it stands in and its path. The *scope* of
a place is the sequence of resources through which it was entered, outermost first; only `$dynamicRef` and
`$recursiveRef` look at it, so it is kept only where one of them occurs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin

from sglc.schema.core.errors import SchemaError, SchemaTooLarge
from sglc.schema.core.options import SchemaOptions
from sglc.schema.reading.dialect import Dialect, custom_dialect, draft_dialect, standard_dialect, subschemas
from sglc.schema.reading.metaschemas import metaschema

if TYPE_CHECKING:
    from sglc.automata.json.data import JsonData, JsonObject

Scope = tuple[int, ...]

_INDEX = re.compile("0|[1-9][0-9]{0,8}")
"""A place of a list in a JSON pointer (RFC 6901)."""
_LATEST = "http://json-schema.org/schema"
"""A dialect that was never fixed: it stands for the latest one, here for that of the options."""


@dataclass(slots=True, eq=False)
class Resource:
    """`anchors` maps a name to (schema, path, whether it is dynamic)."""

    number: int
    uri: str
    root: JsonData
    path: str
    dialect: Dialect
    recursive: bool = False
    anchors: dict[str, tuple[JsonData, str, bool]] = field(default_factory=dict)


class Place(NamedTuple):
    value: JsonData
    resource: Resource
    path: str
    scope: Scope


class ScopesNeeded(Exception):
    """A resource with dynamic references was loaded, so scopes have to be kept from the beginning."""


class Loader:
    def __init__(self, schema: JsonData, options: SchemaOptions, keep_scopes: bool = False) -> None:
        self.given: Mapping[str, JsonData] = {
            uri.removesuffix("#"): s for uri, s in options.resources.items()
        }
        self.default = draft_dialect(options.draft)
        self.keep_scopes = keep_scopes
        self.resources: list[Resource] = []
        self.by_uri: dict[str, Resource] = {}
        self.roots: dict[int, Resource] = {}
        """Resource of each schema value that begins one, by the identity of the value."""
        root = self._document(schema, "", "#", self.default)
        self.start = Place(schema, root, "#", (root.number,) if self.keep_scopes else ())

    # Documents

    def _document(self, schema: JsonData, uri: str, path: str, dialect: Dialect) -> Resource:
        try:
            text = json.dumps(schema, default=str)
        except (ValueError, TypeError) as fault:
            if "digits" in str(fault):
                raise SchemaTooLarge("a number has too many digits", path) from None
            raise SchemaError(f"the schema is not JSON: {fault}", path) from None
        except RecursionError:
            raise SchemaTooLarge("the schema is nested too deep", path) from None
        if "\\ud" in text and _has_lone_surrogate(schema):
            raise SchemaError("a string of the schema has a lone surrogate", path)
        if not self.keep_scopes and ('"$dynamicRef"' in text or '"$recursiveRef"' in text):
            if self.resources:
                raise ScopesNeeded
            self.keep_scopes = True
        resource = self._resource(schema, uri, path, dialect)
        if uri:
            self.by_uri.setdefault(uri, resource)
        marks = ['"$id"', '"$anchor"', '"$dynamicAnchor"']
        if resource.dialect.draft == 4 or "draft-04" in text:
            marks.append('"id"')
        if sum(text.count(mark) for mark in marks) > 0:
            self._index(schema, resource, path)
        return resource

    def _resource(self, schema: JsonData, uri: str, path: str, dialect: Dialect) -> Resource:
        recursive = False
        if isinstance(schema, dict):
            dialect = self._dialect(schema, dialect, path)
            own = schema.get(dialect.id_keyword)
            if isinstance(own, str) and not (dialect.draft <= 7 and ("$ref" in schema or own[:1] == "#")):
                uri = self._join(uri, own, path)
            recursive = dialect.draft == 2019 and schema.get("$recursiveAnchor") is True
        resource = Resource(len(self.resources), uri, schema, path, dialect, recursive)
        self.resources.append(resource)
        self.by_uri.setdefault(uri, resource)
        if isinstance(schema, dict):
            self.roots[id(schema)] = resource
        return resource

    def _dialect(self, schema: JsonObject, outer: Dialect, path: str) -> Dialect:
        uri = schema.get("$schema")
        if uri is None:
            return outer
        if not isinstance(uri, str):
            raise SchemaError("$schema must be a string", f"{path}/$schema")
        if uri.removesuffix("#") == _LATEST:
            return self.default
        found = standard_dialect(uri)
        if found is None and uri.removesuffix("#") in self.given:
            found = custom_dialect(self.given[uri.removesuffix("#")])
        if found is None:
            raise SchemaError(f"the dialect {uri!r} is not known", f"{path}/$schema")
        return found

    def _index(self, schema: JsonData, resource: Resource, path: str) -> None:
        """Find embedded resources and anchors; iteratively, for documents may be deep."""
        stack: list[tuple[JsonData, Resource, str]] = [(schema, resource, path)]
        while stack:
            value, home, here = stack.pop()
            if not isinstance(value, dict):
                continue
            home = self.roots.get(id(value)) or self._embedded(value, home, here)
            self._anchors(value, home, here)
            for below, inner in subschemas(value):
                stack.append((inner, home, here + below))

    def _embedded(self, value: JsonObject, home: Resource, path: str) -> Resource:
        dialect = home.dialect
        named = value.get("$schema")
        if isinstance(named, str) and ("$id" in value or "id" in value):
            dialect = standard_dialect(named) or dialect
        own = value.get(dialect.id_keyword)
        if not isinstance(own, str) or (dialect.draft <= 7 and ("$ref" in value or own.startswith("#"))):
            return home
        return self._resource(value, home.uri, path, home.dialect)

    def _anchors(self, value: JsonObject, home: Resource, path: str) -> None:
        if home.dialect.draft <= 7:
            own = value.get(home.dialect.id_keyword)
            if isinstance(own, str) and own.startswith("#") and "$ref" not in value:
                home.anchors.setdefault(own[1:], (value, path, False))
            return
        name = value.get("$anchor")
        if isinstance(name, str):
            self._anchor(home, name, value, f"{path}/$anchor", False)
        name = value.get("$dynamicAnchor")
        if isinstance(name, str) and home.dialect.draft >= 2020:
            self._anchor(home, name, value, f"{path}/$dynamicAnchor", True)

    def _anchor(self, home: Resource, name: str, value: JsonObject, path: str, dynamic: bool) -> None:
        there = home.anchors.get(name)
        if there is not None and there[0] is not value:
            raise SchemaError(f"the anchor {name!r} is there twice, at {there[1]} too", path)
        home.anchors[name] = (value, path.rpartition("/")[0], dynamic)

    def _join(self, base: str, reference: str, path: str) -> str:
        try:
            return urldefrag(join(base, reference))[0]
        except ValueError:
            raise SchemaError(f"{reference!r} is no URI reference", path) from None

    # References

    def below(self, place: Place, value: JsonData, path: str) -> Place:
        """The place of a subschema."""
        resource = place.resource
        scope = place.scope
        if isinstance(value, dict):
            resource = self.roots.get(id(value), resource)
            scope = self._enter(scope, resource)
        return Place(value, resource, path, scope)

    def _enter(self, scope: Scope, resource: Resource) -> Scope:
        if not self.keep_scopes or resource.number in scope:
            return scope
        return (*scope, resource.number)

    def follow(self, place: Place, reference: JsonData, path: str) -> Place:
        """Where `$ref` leads. Raises SchemaError if nothing is there."""
        target, _ = self._target(place, reference, path)
        return target

    def follow_dynamic(self, place: Place, reference: JsonData, path: str) -> Place:
        """Where `$dynamicRef` leads: to the outermost dynamic anchor of that name, if it names one."""
        target, name = self._target(place, reference, path)
        if name is not None:
            for number in target.scope:
                resource = self.resources[number]
                found = resource.anchors.get(name)
                if found is not None and found[2]:
                    return Place(found[0], resource, found[1], target.scope)
        return target

    def follow_recursive(self, place: Place, reference: JsonData, path: str) -> Place:
        """Where `$recursiveRef` leads: to the outermost resource with `$recursiveAnchor`, or to this one."""
        if reference != "#":
            raise SchemaError('$recursiveRef must be "#"', path)
        if place.resource.recursive:
            for number in place.scope:
                resource = self.resources[number]
                if resource.recursive:
                    return Place(resource.root, resource, resource.path, place.scope)
        return Place(place.resource.root, place.resource, place.resource.path, place.scope)

    def _target(self, place: Place, reference: JsonData, path: str) -> tuple[Place, str | None]:
        if not isinstance(reference, str):
            raise SchemaError("a reference must be a string", path)
        if reference.startswith("#"):
            resource, fragment = place.resource, reference[1:]
        else:
            try:
                uri, fragment = urldefrag(join(place.resource.uri, reference))
            except ValueError:
                raise SchemaError(f"{reference!r} is no URI reference", path) from None
            resource = self._load(uri, reference, path)
        fragment = unquote(fragment)
        if not fragment:
            return Place(resource.root, resource, resource.path, self._enter(place.scope, resource)), None
        if fragment.startswith("/"):
            return self._pointer(resource, fragment, place.scope, reference, path), None
        found = resource.anchors.get(fragment)
        if found is None:
            raise SchemaError(f"the reference {reference!r} leads nowhere", path)
        value, where, dynamic = found
        scope = self._enter(place.scope, resource)
        return Place(value, resource, where, scope), fragment if dynamic else None

    def _load(self, uri: str, reference: str, path: str) -> Resource:
        found = self.by_uri.get(uri)
        if found is not None:
            return found
        document = self.given.get(uri)
        if document is None:
            document = metaschema(uri)
        if document is None:
            raise SchemaError(f"the reference {reference!r} leads to {uri!r}, which is not given", path)
        return self._document(document, uri, f"{uri}#", self.default)

    def _pointer(self, resource: Resource, fragment: str, scope: Scope, reference: str, path: str) -> Place:
        value = resource.root
        where = resource.path
        for token in fragment.split("/")[1:]:
            key = token.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and key in value:
                value = value[key]
            elif isinstance(value, list) and _INDEX.fullmatch(key) and int(key) < len(value):
                value = value[int(key)]
            else:
                raise SchemaError(f"the reference {reference!r} leads nowhere", path)
            where += "/" + token
            if isinstance(value, dict) and id(value) in self.roots:
                resource = self.roots[id(value)]
        # Resources that the pointer only passes are not entered.
        return Place(value, resource, where, self._enter(scope, resource))


def _has_lone_surrogate(schema: JsonData) -> bool:
    try:
        json.dumps(schema, default=str, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def join(base: str, reference: str) -> str:
    """RFC 3986 resolution, also for schemes that urllib does not take to be hierarchical (`urn:`)."""
    if reference.startswith("#"):
        return urldefrag(base)[0] + reference
    return urljoin(base, reference)
