"""Schemas of schemas, for references to the dialects of the standard."""

from __future__ import annotations

from typing import Any


def metaschema(uri: str) -> Any:
    """The schema that describes the dialect of this URI, None if it is not there."""
    return None
