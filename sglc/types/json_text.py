"""The one spelling of JSON strings."""

from __future__ import annotations

import json


def json_text(text: str) -> str:
    """A JSON string with its quotes, as `json.dumps(text, ensure_ascii=False)` writes it."""
    return json.dumps(text, ensure_ascii=False)
