"""Traces for tests: short lines of JSON, and events of any order."""

from __future__ import annotations

import io
import json
from typing import Any

from hypothesis import strategies as st

from sglc.viewer.building import build
from sglc.viewer.model import Run
from sglc.viewer.reading import Reading

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "'\"><svg/onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt;&#0;",
    "]]><!--",
    "javascript:alert(1)",
    "\u2028\u2029",
    "\x00\x07\x1b[31m\x7f\x85",
    "\u202eright to left\u2066\u200f",
    "\ud800 alone",
    "\\xc3\\xa9",
    "a\r\nb\n\nc\n",
    "\U0001f469\u200d\U0001f680 \u05d0\u05d1",
)


def trace_of(lines: str) -> bytes:
    """A trace of short lines: `{"e": "text"}` stands for `{"v": 1, "event": "text"}`."""
    rows = [json.loads(line) for line in lines.splitlines() if line.strip()]
    return b"".join(json.dumps({"v": 1, "event": row.pop("e"), **row}).encode() + b"\n" for row in rows)


def read(trace: bytes, **limits: int) -> tuple[Run, Reading]:
    """The run of a trace, and what reading it came to."""
    reading = Reading()
    return build(reading.events(io.BytesIO(trace), **limits)), reading


texts = st.one_of(st.text(max_size=8), st.sampled_from(HOSTILE))
_names = st.sampled_from(["f.x", "f.y", HOSTILE[0]])
_numbers = st.one_of(st.floats(-9, 9), st.integers(-3, 10**12), st.none(), st.just("no"))
_values = st.one_of(texts, _numbers, st.booleans(), st.lists(texts, max_size=2))
_top = st.lists(st.tuples(texts, st.floats(-9, 0), st.booleans()).map(list), max_size=3)
_KINDS = (
    *(
        "start",
        "role",
        "text",
        "hole_start",
        "forced",
        "token",
        "pruned",
        "stepped_back",
        "hole_end",
        "again",
        "retry",
    ),
    *(
        "check",
        "mark",
        "forget",
        "fork",
        "adopt",
        "call",
        "return",
        "error",
        "finish",
        "walk",
        "beam",
        "correction",
        "moon",
    ),
)
events: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"e": st.sampled_from(_KINDS)},
    optional={
        "text": texts,
        "hole": _names,
        "branch": st.sampled_from(["", "0", "1", "1.0", "x"]),
        "span": st.sampled_from(["p.sgl:1:1", HOSTILE[1]]),
        "role": texts,
        "function": texts,
        "reason": texts,
        "message": texts,
        "name": texts,
        "error": texts,
        "rejected": texts,
        "wrong": texts,
        "put": texts,
        "at": st.integers(0, 5),
        "outcome": texts,
        "texts": st.lists(texts, max_size=3),
        "scores": st.one_of(st.dictionaries(texts, _numbers, max_size=3), st.lists(_numbers, max_size=3)),
        "passed": st.booleans(),
        "caught": st.booleans(),
        "inserted": st.booleans(),
        "index": st.integers(-1, 2),
        "branches": st.integers(-1, 3),
        "logprob": _numbers,
        "pressure": _numbers,
        "mask": _numbers,
        "top": _top,
        "alpha": _numbers,
        "chernoff": _numbers,
        "drafts": _values,
        "ended": _values,
        "seconds": _numbers,
        "weight": _numbers,
    },
)
"""Any event with any keys, those of other kinds among them."""
traces = st.lists(events, max_size=12)


def lines_of(rows: list[dict[str, Any]]) -> bytes:
    """Events as a trace."""
    return trace_of("\n".join(map(json.dumps, rows)))
