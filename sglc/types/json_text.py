"""The one spelling of JSON strings."""

from __future__ import annotations

from json.encoder import encode_basestring


def json_text(text: str) -> str:
    """A JSON string with its quotes, as `json.dumps(text, ensure_ascii=False)` writes it."""
    return encode_basestring(text)


def surrogate_fault(text: str) -> str | None:
    """Why a text is none: half of a pair of UTF-16 is no character and has no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as fault:
        point = f"U+{ord(text[fault.start]):04X}"
        return f"a text with the lone surrogate {point}, at {fault.start}, is no Unicode text"
    return None
