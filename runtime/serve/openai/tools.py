"""Tools of a request: what they are called with, which of them may be called, and how many times.

A tool is a function whose arguments a JSON Schema describes, or a custom one whose input is a text: any, or
one of a grammar (Lark's notation) or of a regex (Python's).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sglc.runtime.serve.openai.errors import unsupported, wrong
from sglc.runtime.serve.openai.parameters import Parameters, checked_text
from sglc.types.language.membership import MemberError
from sglc.types.text.plain_json import parse_json, write_json
from sglc.types.values import MAX_DEPTH, Value, is_too_deep

MOST_TOOLS = 128
"""Tools of a request, as many as OpenAI takes."""
MOST_CALLS = 16
"""Calls of an answer: a model that does not come to an end is held to these."""
MOST_CHARACTERS = 100_000
"""Characters of what the model is told of all tools. Some templates write that anew for each message."""
INPUT = "input"
"""The only argument of a custom tool, as the model writes its call."""
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_CLOSED = frozenset(
    ("type", "properties", "required", "title", "description", "$schema", "$defs", "definitions", "examples")
)
"""Keywords of a schema of arguments that leaves open only what it does not name."""

Mode = Literal["none", "auto", "required"]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. `source` is the JSON text of a schema, a grammar or a regex; `shown` is the JSON text that the
    model's template is given of it; `param` is where the request has it."""

    name: str
    kind: Literal["function", "text", "lark", "regex"]
    source: str
    shown: str
    param: str

    @property
    def custom(self) -> bool:
        """Whether it is called with a text."""
        return self.kind != "function"


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools of a request. `allowed` are those that may be called, `mode` says whether one may or must
    be, and `most` how many calls an answer has at most."""

    tools: tuple[Tool, ...]
    allowed: tuple[Tool, ...]
    mode: Mode = "auto"
    most: int = MOST_CALLS

    @property
    def shown(self) -> str:
        """All of them as a JSON list, as chat templates take it."""
        return f"[{', '.join(tool.shown for tool in self.tools)}]"


def tools_of(parameters: Parameters) -> Tools | None:
    """What `tools`, `tool_choice` and `parallel_tool_calls` say; None without tools. Raises Refusal."""
    given = parameters.take("tools")
    choice = parameters.take("tool_choice")
    parallel = parameters.take("parallel_tool_calls")
    if parallel is not None and not isinstance(parallel, bool):
        raise wrong("parallel_tool_calls", "`parallel_tool_calls` is true or false")
    if given is None or given == []:
        if choice not in (None, "none", "auto"):
            raise wrong("tool_choice", "`tool_choice` chooses among `tools`, and there are none")
        return None
    if not isinstance(given, list) or len(given) > MOST_TOOLS:
        raise wrong("tools", f"`tools` is a list of at most {MOST_TOOLS} tools")
    tools = tuple(_tool(Parameters(each, f"tools[{at}]")) for at, each in enumerate(given))
    for at, tool in enumerate(tools):
        if any(tool.name == other.name for other in tools[:at]):
            raise wrong(tool.param, f"two tools are called {tool.name!r}")
    if sum(len(tool.shown) for tool in tools) > MOST_CHARACTERS:
        raise wrong("tools", f"the tools have more than {MOST_CHARACTERS} characters together")
    mode, allowed = _choice(choice, tools)
    single = parallel is False or (isinstance(choice, dict) and choice.get("type") != "allowed_tools")
    return Tools(tools, allowed, mode, 1 if single else MOST_CALLS)


# -- a tool ----------------------------------------------------------------------------------------------


def _tool(parameters: Parameters) -> Tool:
    kind = parameters.needed("type")
    if kind not in ("function", "custom"):
        raise unsupported(parameters.place("type"), f"tools are functions or custom ones, not {kind!r}")
    place = parameters.place(kind)
    inner = parameters.inner(kind)
    parameters.end()
    name = inner.needed("name")
    if not _NAME.fullmatch(name):
        raise wrong(inner.place("name"), "the name of a tool has 1 to 64 letters, digits, _, - and .")
    about = inner.text("description") or ""
    return _function(inner, name, about, place) if kind == "function" else _custom(inner, name, about, place)


def _function(inner: Parameters, name: str, about: str, place: str) -> Tool:
    inner.flag("strict")  # arguments always satisfy the schema
    schema = inner.take("parameters")
    inner.end()
    source = write_json(arguments_schema(schema, f"{place}.parameters"))
    shown = {"name": name, **({"description": about} if about else {}), "parameters": schema or _NONE}
    return Tool(name, "function", source, write_json({"type": "function", "function": shown}), place)


_NONE: Mapping[str, object] = {"type": "object", "properties": {}}
"""The schema that is shown of a function without parameters."""


def arguments_schema(schema: Value, place: str) -> Mapping[str, object]:
    """The schema that arguments are held to: theirs, of objects only.

    A schema that names properties and says nothing of others has no others, as functions have none: what
    satisfies this satisfies theirs. Raises Refusal for what is no schema of an object.
    """
    if schema is None:
        return {**_NONE, "additionalProperties": False}
    if not isinstance(schema, dict):
        raise wrong(place, f"`{place}` is a JSON Schema: an object")
    if is_too_deep(schema):
        raise wrong(place, f"`{place}` is nested deeper than {MAX_DEPTH} levels")
    if schema.get("type", "object") != "object":
        raise wrong(f"{place}.type", "arguments are an object: the schema says `type: object`")
    made: dict[str, object] = {"type": "object", **schema}
    if "properties" in schema and schema.keys() <= _CLOSED:
        made["additionalProperties"] = False
    return made


def _custom(inner: Parameters, name: str, about: str, place: str) -> Tool:
    form = inner.inner("format")
    inner.end()
    kind, source = form.text("type") or "text", ""
    if kind == "grammar":
        grammar = form.inner("grammar")
        kind, source = grammar.needed("syntax"), grammar.needed("definition")
        if kind not in ("lark", "regex"):
            raise wrong(
                grammar.place("syntax"), f"the syntax of a grammar is `lark` or `regex`, not {kind!r}"
            )
        grammar.end()
    elif kind != "text":
        raise wrong(form.place("type"), f"a format is `text` or `grammar`, not {kind!r}")
    form.end()
    said = {"text": "", "lark": f"A text of this Lark grammar:\n{source}", "regex": f"It matches {source}"}
    content = {"type": "string", **({"description": said[kind]} if said[kind] else {})}
    schema = {"type": "object", "properties": {INPUT: content}, "required": [INPUT]}
    shown = {"name": name, **({"description": about} if about else {}), "parameters": schema}
    return Tool(
        name,
        "text" if kind == "text" else "lark" if kind == "lark" else "regex",
        source,
        write_json({"type": "function", "function": shown}),
        place,
    )


# -- which of them ---------------------------------------------------------------------------------------


def _choice(choice: Value, tools: tuple[Tool, ...]) -> tuple[Mode, tuple[Tool, ...]]:
    if choice is None:
        return "auto", tools
    if isinstance(choice, str):
        if choice not in ("none", "auto", "required"):
            raise wrong("tool_choice", "`tool_choice` is `none`, `auto`, `required`, or an object")
        return ("none" if choice == "none" else "auto" if choice == "auto" else "required"), tools
    found = Parameters(choice, "tool_choice")
    kind = found.needed("type")
    if kind in ("function", "custom"):
        named = found.inner(kind)
        found.end()
        tool = _named(named.needed("name"), kind, named.place("name"), tools)
        named.end()
        return "required", (tool,)
    if kind != "allowed_tools":
        raise wrong("tool_choice.type", "`tool_choice` is of type `function`, `custom` or `allowed_tools`")
    allowed = found.inner("allowed_tools")
    found.end()
    mode, listed = allowed.needed("mode"), allowed.take("tools")
    allowed.end()
    if mode not in ("auto", "required"):
        raise wrong(allowed.place("mode"), "the mode of allowed tools is `auto` or `required`")
    if not isinstance(listed, list) or not 0 < len(listed) <= MOST_TOOLS:
        raise wrong(allowed.place("tools"), "allowed tools are a list of some of `tools`")
    place = allowed.place("tools")
    kept = [_allowed(Parameters(each, f"{place}[{at}]"), tools) for at, each in enumerate(listed)]
    return "auto" if mode == "auto" else "required", tuple(tool for tool in tools if tool in kept)


def _allowed(entry: Parameters, tools: tuple[Tool, ...]) -> Tool:
    kind = entry.needed("type")
    if kind not in ("function", "custom"):
        raise wrong(entry.place("type"), "an allowed tool is of type `function` or `custom`")
    named = entry.inner(kind)
    entry.end()
    tool = _named(named.needed("name"), kind, named.place("name"), tools)
    named.end()
    return tool


def _named(name: str, kind: str, place: str, tools: tuple[Tool, ...]) -> Tool:
    for tool in tools:
        if tool.name == name and tool.custom == (kind == "custom"):
            return tool
    known = ", ".join(tool.name for tool in tools)
    raise wrong(place, f"there is no {kind} tool {name!r}; tools: {known}")


# -- calls of earlier messages ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PastCall:
    """A call in a message of the conversation: its id, and the JSON text of its arguments."""

    id: str
    name: str
    arguments: str


def past_calls(value: Value, place: str) -> tuple[PastCall, ...]:
    """The `tool_calls` of a message of the assistant. Raises Refusal."""
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > MOST_TOOLS:
        raise wrong(place, f"`{place}` is a list of at most {MOST_TOOLS} calls")
    return tuple(_past(Parameters(each, f"{place}[{at}]")) for at, each in enumerate(value))


def _past(parameters: Parameters) -> PastCall:
    id, kind = parameters.text("id") or "", parameters.text("type") or "function"
    parameters.ignore("index")
    if kind not in ("function", "custom"):
        raise wrong(parameters.place("type"), "a call is of type `function` or `custom`")
    inner = parameters.inner(kind)
    parameters.end()
    name = inner.needed("name")
    if not _NAME.fullmatch(name):
        raise wrong(inner.place("name"), "the name of a tool has 1 to 64 letters, digits, _, - and .")
    if kind == "custom":
        text = write_json({INPUT: checked_text(inner.take("input"), inner.place("input"))})
    else:
        text = _arguments(inner.text("arguments") or "{}", inner.place("arguments"))
    inner.end()
    return PastCall(id, name, text)


def _arguments(text: str, place: str) -> str:
    """Arguments in the spelling in which the model writes them; digits are kept."""
    try:
        found = parse_json(text)
    except MemberError as fault:
        raise wrong(place, f"`{place}` is no JSON: {fault}") from None
    if not isinstance(found, dict):
        raise wrong(place, f"`{place}` is the JSON text of an object")
    return write_json(found)
