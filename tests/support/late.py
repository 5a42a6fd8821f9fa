"""Modules that a test needs and its collection does not: torch and mcp take a second to import, transformers
two."""

from __future__ import annotations

from typing import Any

import pytest

LOADED_BY_COLLECTION = pytest.StashKey[list[str]]()
"""Of the configuration: which of these modules collecting the tests has imported."""


class Late:
    """A module that is imported at its first use, which skips the test where it is not installed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # what collection asks of every object
            raise AttributeError(attribute)
        return getattr(pytest.importorskip(self._name), attribute)
