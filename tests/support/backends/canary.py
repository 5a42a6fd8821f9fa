"""A key that must be shown nowhere, and what may be shown of an error."""

from __future__ import annotations

import base64
import traceback

KEY = "sk-canary-5d41402abc4b"
LINE = """pub fn f() -> str:
    user: | q
    assistant: | ?{x: line max 20 chars}
    return x
"""
SENDING = ("/backends/protocols/", "/backends/policy/", "http_transport", "httpx2", "httpcore2")
"""Parts of files whose frames may know a request."""


def says(text: str) -> bool:
    """Whether the key is in a text, or most of it."""
    coded = base64.b64encode(KEY.encode()).decode()
    return KEY in text or coded in text or "canary-5d41402a" in text


def everything(error: BaseException) -> str:
    """All that can be shown of an error: its chain with notes, and our frames with what is in them."""
    seen, waiting, texts = set(), [error], []
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        texts += [str(each), repr(each), repr(vars(each)), *getattr(each, "__notes__", ())]
        texts += traceback.format_exception(each)
        for frame, _ in traceback.walk_tb(each.__traceback__):
            if any(part in frame.f_code.co_filename for part in SENDING):
                texts += [repr(value) for value in frame.f_locals.values()]
        waiting += [other for other in (each.__cause__, each.__context__) if other is not None]
    return "\n".join(texts)
