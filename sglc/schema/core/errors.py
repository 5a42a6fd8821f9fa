"""What can be wrong with a schema. Every fault says why and, as a JSON pointer, where."""

from __future__ import annotations


class SchemaFault(ValueError):
    """Base of all: `reason` in words, `path` a JSON pointer into the schema (`#` is the whole of it)."""

    def __init__(self, reason: str, path: str) -> None:
        super().__init__(f"{reason} (at {path})")
        self.reason = reason
        self.path = path


class SchemaError(SchemaFault):
    """The schema is malformed, or refers to what is not there."""


class UnsupportedSchema(SchemaFault):
    """The schema is well formed, but the meaning of `keyword` at `path` cannot be kept exactly."""

    def __init__(self, keyword: str, path: str, reason: str) -> None:
        super().__init__(f"'{keyword}' is not supported here: {reason}", path)
        self.keyword = keyword
        self.why = reason


class Unsatisfiable(SchemaFault):
    """No JSON value at all satisfies the schema."""


class SchemaTooLarge(SchemaFault):
    """The schema asks for more work than the limits allow."""


class TooManyWays(SchemaTooLarge):
    """There are more ways to satisfy the schema, or a part of it, than the limits allow."""
