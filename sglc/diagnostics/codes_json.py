"""Catalogue entries of the checker: JSON Schemas as types."""

from __future__ import annotations

from sglc.diagnostics.entry import Entry

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "E0354",
        "a JSON Schema that cannot be used",
        "A JSON Schema is taken exactly or not at all. This one is malformed, satisfied by no value, or uses "
        "a keyword whose meaning cannot be kept; where, is said as a JSON pointer into the schema.",
        'pub type size = json schema {"type": "integer", "minimum": 5, "maximum": 3}\n',
        'pub type size = json schema {"type": "integer", "minimum": 3, "maximum": 5}\n',
    ),
)
