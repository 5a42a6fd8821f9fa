"""Catalogue entries of the checker: JSON Schemas and other sources of types."""

from __future__ import annotations

from sglc.diagnostics.catalogue.entry import Entry

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "E0354",
        "a JSON Schema that cannot be used",
        "A JSON Schema is taken exactly or not at all. This one is malformed, satisfied by no value, or uses "
        "a keyword whose meaning cannot be kept; where, is said as a JSON pointer into the schema.",
        'pub type size = json schema {"type": "integer", "minimum": 5, "maximum": 3}\n',
        'pub type size = json schema {"type": "integer", "minimum": 3, "maximum": 5}\n',
    ),
    Entry(
        "E0356",
        "declarations of SQL or TypeScript that cannot be used",
        "`sql table` and `typescript` read declarations of another language as types, exactly or not at all. "
        "These are malformed, or say of a value what a type cannot say.",
        'pub type row = sql table "create table t (name text, photo blob)"\n',
        'pub type row = sql table "create table t (name text)"\n',
    ),
)
