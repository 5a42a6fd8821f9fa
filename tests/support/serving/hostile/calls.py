"""A program that hostile clients call, and calls that are well: of functions, chats, completions."""

from __future__ import annotations

from typing import Any

PROGRAM = """
enum Mood: calm, annoyed

record Node:
    name: str max 20 chars
    mood: Mood?
    inner: [Node]
    notes: {str: [json]}

union Mail:
    Question(topic: str, weight: decimal)
    Thanks(pair: (int, float))

pub fn double(x: int in 0..1000, note: str = "") -> int:
    return x * 2

pub pure fn same(node: Node, mail: Mail, id: int | str | [bool], big: int in 0..99999999999999999999) -> Node:
    return node

pub fn ask(theme: str) -> "yes" | "no":
    assistant: | ?{answer: "yes" | "no"}
    return answer
"""
SCRIPT = {"ask.answer": "yes", "answer": "yes"}
NODE = {"name": "a", "mood": "calm", "inner": [{"name": "b", "mood": None, "inner": [], "notes": {}}]}
SAME = {
    "node": NODE | {"notes": {"k": [1.5, None, {"a": "b"}]}},
    "mail": {"kind": "Question", "topic": "t", "weight": 1.5},
    "id": "x",
    "big": 12345678901234567890,
}
OPTIONS = {"seed": 1, "max_tokens": 9, "timeout": 500, "priority": 2, "tokens": True, "keep": 0.1, "top": 2}
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 9}, "size": {"type": "integer", "minimum": 0}},
    "required": ["name", "size"],
    "additionalProperties": False,
}
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}}
SAID = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
]
PAST = [
    {"role": "user", "content": "a"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c", "content": "r"},
]
CHAT = {"model": "scripted:script.json", "messages": SAID, "max_tokens": 12, "seed": 1}
FORM = {"type": "json_schema", "json_schema": {"name": "e", "schema": SCHEMA, "strict": True}}
CHATS: tuple[dict[str, Any], ...] = (
    CHAT | {"stream": True, "stream_options": {"include_usage": True}, "stop": ["x", "yz"], "n": 2},
    CHAT
    | {
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 4,
        "min_p": 0.1,
        "frequency_penalty": 1,
        "presence_penalty": -1,
    },
    CHAT
    | {
        "logprobs": True,
        "top_logprobs": 3,
        "logit_bias": {"65": 5, "66": -100},
        "user": "u",
        "metadata": {"a": "b"},
    },
    CHAT | {"response_format": FORM, "max_tokens": 60, "stream": True},
    CHAT | {"tools": [TOOL], "tool_choice": "auto", "parallel_tool_calls": False},
    CHAT
    | {
        "messages": PAST,
        "tools": [TOOL],
        "max_tokens": 40,
        "tool_choice": {"type": "function", "function": {"name": "f"}},
    },
    CHAT
    | {"structured_outputs": {"regex": "[a-c]{1,4}x?"}, "prediction": {"type": "content", "content": "abc"}},
    CHAT | {"structured_outputs": {"choice": ["a", "bc"]}, "continue_final_message": False},
    CHAT | {"structured_outputs": {"grammar": 'root ::= [a-z]+ | "(" root ")"'}},
    CHAT | {"model": "sgl/ask", "messages": [{"role": "user", "content": "t"}]},
)
TEXTS: tuple[dict[str, Any], ...] = (
    {
        "model": "scripted:script.json",
        "prompt": ["a", "b"],
        "max_tokens": 3,
        "echo": True,
        "stream": True,
        "seed": 1,
    },
    {
        "model": "scripted:script.json",
        "prompt": [65, 66],
        "max_tokens": 3,
        "logprobs": 2,
        "n": 2,
        "stop": "z",
    },
)
BODIES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/v1/functions/double", {"arguments": {"x": 21, "note": "n"}, "options": OPTIONS}),
    ("/v1/functions/same", {"arguments": SAME, "options": {"seed": 1}}),
    (
        "/v1/functions/same",
        {"arguments": SAME | {"mail": {"kind": "Thanks", "pair": [1, 2.5]}, "id": [True]}},
    ),
    (
        "/v1/functions/ask",
        {"arguments": {"theme": "x"}, "options": OPTIONS | {"answers": {"ask.answer": ["no"]}}},
    ),
    *(("/v1/chat/completions", each) for each in CHATS),
    *(("/v1/completions", each) for each in TEXTS),
)
PLAIN = (
    "/healthz",
    "/readyz",
    "/metrics",
    "/openapi.json",
    "/v1/functions",
    "/v1/models",
    "/v1/models/sgl/ask",
    "/v1/runs/abc",
    "/v1/state",
    "/ui/",
    "/ui/view.js",
)
