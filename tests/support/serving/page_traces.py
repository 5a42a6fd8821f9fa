"""Traces for tests and measurements of the page: a run with all that can happen, and long ones."""

from __future__ import annotations

import json
from typing import Any

from checkout import ROOT

WORDS = ("The", " old", " light", "house", " keeper", " counts", " the", " waves", ",", " by", " one", ".\n")
EVENTFUL = ROOT / "tests" / "golden" / "view" / "eventful.jsonl"
"""A run with a retry, a check, a fork in a fork, a handled error, forced and drafted tokens."""


def eventful(*, adopted: int = 1, mood: str = "calm") -> str:
    """The trace of that run, with another mood or another branch adopted."""
    text = EVENTFUL.read_text(encoding="utf-8").replace("calm", mood)
    return text.replace('"adopt", "index": 1', f'"adopt", "index": {adopted}')


def lines(rows: list[dict[str, Any]]) -> str:
    """Events as the text of a trace."""
    return "".join(json.dumps({"v": 1, **row}) + "\n" for row in rows)


def long_trace(tokens: int) -> str:
    """One message with so many tokens, five candidates each, in holes of a thousand."""
    rows: list[dict[str, Any]] = [
        {"event": "start", "function": "long", "program": "long.sgl", "seed": 1, "t": 0.0},
        {"event": "role", "role": "user"},
        {"event": "text", "text": "Write a very long story."},
        {"event": "role", "role": "assistant"},
    ]
    for at in range(tokens):
        hole, time = {"hole": f"long.part{at // 1000}"}, {"t": round(at / 50, 4)}
        if at % 1000 == 0:
            rows.append({"event": "hole_start", **hole, "mode": "gen", **time})
        rows.append({"event": "token", **hole, **_token(at), **time})
        if at % 1000 == 999 or at == tokens - 1:
            counts = {"tokens": at % 1000 + 1, "forced": 0, "prompt": at, "reused": at}
            times = {"queue": 0.01, "seconds": 20.0, **time}
            rows.append({"event": "hole_end", **hole, "text": "…", "ended": "stop", **counts, **times})
    rows.append(
        {"event": "finish", "function": "long", "tokens": tokens, "forced": 0, "seconds": tokens / 50}
    )
    return lines(rows)


def _token(at: int) -> dict[str, Any]:
    top = [[WORDS[(at + n) % len(WORDS)], -0.3 - n, n % 2 == 0] for n in range(5)]
    logprob = -0.05 - (at * 7 % 60) / 10
    word = WORDS[at % len(WORDS)]
    return {"token": at, "text": word, "logprob": logprob, "pressure": 0.1, "mask": 9 + at % 4000, "top": top}
