"""Schemas that refer to files beside them, as one schema: the files become resources in its definitions.

This is the compound document of JSON Schema 2020-12, section 9.3. A file is known by its place, relative to
the schema that is read first; that schema and the files have no `$id` of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from sglc.schema.reading.dialect import draft_dialect, standard_dialect, subschemas
from sglc.types.schema_language import SchemaTextError, checked_schema_text, parse_schema

if TYPE_CHECKING:
    from sglc.automata.json.data import JsonData, JsonObject

MAX_FILES = 200

Read = Callable[[str], str | None]
"""The text of a file by its path beside the schema; None if there is no such file."""


def bundled_schema_text(source: str, read: Read, most: int) -> str:
    """The one spelling of a schema with the files it refers to. Raises SchemaTextError, for more than `most`
    characters in all too."""
    schema = parse_schema(source)
    if not isinstance(schema, dict) or _own_id(schema, schema):
        return checked_schema_text(schema)
    files: JsonObject = {}
    size = len(source)
    waiting: list[tuple[JsonData, str]] = [(schema, "")]
    while waiting:
        value, base = waiting.pop()
        for uri in _files(value, base):
            if uri in files:
                continue
            text = read(_path(uri))
            if text is None:
                continue  # the reference is reported where it stands
            size += len(text)
            if size > most or len(files) >= MAX_FILES:
                raise SchemaTextError(f"it refers to more than {MAX_FILES} files or {most} characters")
            try:
                found = parse_schema(text.removeprefix("\ufeff"))
            except SchemaTextError as fault:
                raise SchemaTextError(f"of `{_path(uri)}`: {fault.reason}") from None
            if isinstance(found, dict) and _own_id(found, schema):
                reason = "which has an id of its own and is known by that alone"
                raise SchemaTextError(f"it refers to the file `{_path(uri)}`, {reason}")
            files[uri] = _named(found, uri, schema)
            waiting.append((found, uri))
    return checked_schema_text(_joined(schema, files) if files else schema)


def _files(schema: JsonData, base: str) -> Iterator[str]:
    """Relative URIs, without fragments, to which the references of a schema lead."""
    stack = [schema]
    while stack:
        value = stack.pop()
        if not isinstance(value, dict):
            continue
        for word in ("$ref", "$dynamicRef"):
            reference = value.get(word)
            if isinstance(reference, str) and not reference.startswith("#"):
                try:
                    uri = urldefrag(urljoin(base, reference))[0]
                    parts = urlsplit(uri)
                except ValueError:
                    continue
                if uri and not parts.scheme and not parts.netloc and not parts.query:
                    yield uri
        stack += [inner for _, inner in subschemas(value)]


def _path(uri: str) -> str:
    """The path of a file, in the folder of the schema or below."""
    path = unquote(uri)
    if path.startswith("/") or ".." in path.split("/") or "\\" in path or ":" in path or "\0" in path:
        raise SchemaTextError(f"the reference {uri!r} leads out of the schema's folder")
    return path


def _draft(schema: JsonData, root: JsonObject) -> int:
    for one in (schema, root):
        uri = one.get("$schema") if isinstance(one, dict) else None
        found = standard_dialect(uri) if isinstance(uri, str) else None
        if found is not None:
            return found.draft
    return draft_dialect("2020-12").draft


def _id_word(schema: JsonData, root: JsonObject) -> str:
    return "id" if _draft(schema, root) == 4 else "$id"


def _own_id(schema: JsonObject, root: JsonObject) -> bool:
    own = schema.get(_id_word(schema, root))
    return isinstance(own, str) and not own.startswith("#")


def _named(schema: JsonData, uri: str, root: JsonObject) -> JsonObject:
    """A file as a resource; what has no place for an id is put into one that has."""
    word = _id_word(schema, root)
    if not isinstance(schema, dict) or word in schema:
        return {word: uri, "allOf": [schema]}
    if "$ref" in schema and _draft(schema, root) <= 7:
        # Nothing else counts beside a reference, an id no more than the rest.
        places: JsonObject = {name: schema[name] for name in ("$schema", "definitions") if name in schema}
        return {word: uri, "allOf": [{"$ref": schema["$ref"]}], **places}
    return {word: uri, **schema}


def _joined(schema: JsonObject, files: JsonObject) -> JsonObject:
    word = "$defs" if _draft(schema, schema) >= 2019 else "definitions"
    own = schema.get(word, {})
    if not isinstance(own, dict):
        raise SchemaTextError(f"{word} must be an object of schemas", f"#/{word}")
    added = dict(own)
    for uri, value in files.items():
        name = uri
        while name in added:
            name += "#"
        added[name] = value
    return {**schema, word: added}
