"""Tools as text: what a model is told of them where its chat template knows none, and how it calls them."""

from __future__ import annotations

import json

CALL_PARTS = ("call", "arguments", "end")
"""Of the text of a tool's call, what stands before its name, behind it, and behind the arguments."""
PLAIN_CALL = {"call": '{"name": "', "arguments": '", "arguments": ', "end": "}"}
"""The parts in our own form."""
MOST_TEXT = 1 << 20
"""Characters of a list of tools; more than any model reads."""
_HEAD = "You can call these functions, one in a message:"
_TAIL = (
    'To call one, write {"name": NAME, "arguments": OBJECT}; its result follows. '
    'Where no function is needed, write {"name": "answer", "arguments": {}}.'
)


def tools_of(text: str) -> list[dict[str, object]]:
    """A list of tools as chat templates take it; ValueError for a text that is none."""
    if len(text) > MOST_TEXT:
        raise ValueError("the list of tools is too long")
    found = json.loads(text)
    if not isinstance(found, list) or not found:
        raise ValueError("no list of tools")
    for tool in found:
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise ValueError("a tool has no name")
    return found


def is_tools(value: object) -> bool:
    """Whether a constant is a list of tools."""
    if not isinstance(value, str):
        return False
    try:
        tools_of(value)
    except (ValueError, RecursionError):
        return False
    return True


def plain_tools(text: str) -> str:
    """What a model is told of tools in our own form: one line a tool."""
    lines = [_HEAD]
    for tool in tools_of(text):
        function = tool["function"]
        assert isinstance(function, dict)
        if function["name"] == "answer":
            continue
        about = {key: function[key] for key in ("name", "description", "parameters") if function.get(key)}
        lines.append(json.dumps(about, ensure_ascii=False))
    return "\n".join([*lines, _TAIL])
