"""The forms by their names, and types in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from sglc.types.dependent import given_types
from sglc.types.forms import csv, lines, xml, yaml
from sglc.types.forms.instances import with_names
from sglc.types.forms.shape import FormError, Shapes, Texts
from sglc.types.type import DeclaredType, Form, InForm, Type, TypeTable, uses_of
from sglc.types.values import EnumValue, RecordValue

_FORMS: dict[Form, Callable[[Type, TypeTable], Shapes]] = {
    "yaml": yaml.yaml_shapes,
    "xml": xml.xml_shapes,
    "csv": csv.csv_shapes,
    "lines": lines.lines_shapes,
}
"""JSON is no form among them: every type has it, as `surface="json"` of the four artefacts."""


_TEXTS = {"yaml": yaml.TEXTS, "xml": xml.TEXTS, "csv": csv.TEXTS, "lines": lines.TEXTS}


def unwritable(value: object, form: Form) -> str | None:
    """Why a value of a type that has the form has none itself: a text in it that the form cannot hold.

    None if there is no such text.
    """
    try:
        _write_all(value, _TEXTS[form])
    except FormError as fault:
        return f"it has no text as {form}: {fault}"
    return None


def _write_all(value: object, texts: Texts) -> None:
    """Raises FormError for a text or key that has no spelling."""
    match value:
        case str():
            texts.write(value, False)
        case EnumValue(name=name):
            texts.write(name, False)
        case RecordValue(fields=fields):
            for item in fields.values():
                _write_all(item, texts)
        case Mapping():
            for key, item in value.items():
                texts.key(str(key))
                _write_all(item, texts)
        case list() | tuple():
            for item in value:
                _write_all(item, texts)


def shapes_of(type: InForm, table: TypeTable) -> Shapes:
    """A type in a form that is not `json`. Raises FormError for what the form cannot express."""
    declared = tuple((name, table[name]) for name in uses_of(type, table))
    if given_types(type):  # bound to values: used once
        item, known = with_names(type.item, table)
        return _FORMS[type.form](item, known)
    try:
        hash(declared)
    except TypeError:  # a default that cannot be hashed
        return _FORMS[type.form](type.item, dict(declared))
    return _kept(type, declared)


@lru_cache(maxsize=256)
def _kept(type: InForm, declared: tuple[tuple[str, DeclaredType], ...]) -> Shapes:
    return _FORMS[type.form](type.item, dict(declared))
