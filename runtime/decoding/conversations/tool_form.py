"""Tools in chat templates: whether a template tells a model of them, and how the model is to write a call.

A template that takes tools renders them itself, mostly in the system's message. How a call looks is read
off a rendered one: what stands before its name, between name and arguments, and behind them. Where any of
it cannot be found, or is written with special tokens (which text never becomes), our own form is taken
(`sglc.callables.tool_text`), whose list of tools is a text of the system's message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sglc.callables.tool_text import CALL_PARTS, PLAIN_CALL, plain_tools, tools_of
from sglc.runtime.chat import ChatTemplate, TemplateError

if TYPE_CHECKING:
    from sglc.runtime.decoding.conversations.conversation import Chat

_NAME, _ASKED, _GIVEN = "Qqfunctionq", "Qqaskedq", "Qqgivenq"
_ARGUMENTS = re.compile(r'\{\s*"Qqkeyq"\s*:\s*"Qqvalueq"\s*\}')
_CALL: Mapping[str, object] = {
    "id": "call00000",
    "type": "function",
    "function": {"name": _NAME, "arguments": {"Qqkeyq": "Qqvalueq"}},
}
KEPT = 64
"""Forms that are remembered: programs have few lists of tools."""


@dataclass(frozen=True, slots=True)
class ToolForm:
    """A chat with tools: its template, the parts of a call, and what its system's message says of them."""

    chat: Chat
    parts: tuple[tuple[str, str], ...]
    told: str = ""
    """Empty where the template tells it."""

    def part(self, name: str) -> str:
        """A part of a call by its name."""
        return dict(self.parts)[name]


_KNOWN: dict[tuple[int, str], tuple[Chat, ToolForm]] = {}


def tool_form(chat: Chat, tools: str) -> ToolForm:
    """How a chat tells of tools and writes calls."""
    key = (id(chat), tools)
    known = _KNOWN.get(key)
    if known is not None and known[0] is chat:
        return known[1]
    if len(_KNOWN) >= KEPT:
        _KNOWN.clear()
    form = native_form(chat, tools)
    form = form or ToolForm(chat, tuple(PLAIN_CALL.items()), plain_tools(tools))
    _KNOWN[key] = chat, form
    return form


def native_form(chat: Chat, tools: str) -> ToolForm | None:
    """The template's own form; None where it has none that we can write."""
    if not isinstance(chat, ChatTemplate):
        return None
    listed = tools_of(tools)
    made = chat.with_tools(listed)
    try:
        told = made.rendered([{"role": "user", "content": _ASKED}])
        if not all(json.dumps(tool["function"]["name"])[1:-1] in told for tool in listed):  # type: ignore[index]
            return None
        parts = _parts(made)
        made.pieces(("user", "assistant", "tool", "assistant"))
    except TemplateError:
        return None
    if parts is None or any(name in text for text in parts for name in made.special_names):
        return None
    return ToolForm(made, tuple(zip(CALL_PARTS, parts, strict=True)))


def between_calls(form: ToolForm) -> str | None:
    """What the template writes between two calls of one message; None where it takes one only, or that
    cannot be read off."""
    if not isinstance(form.chat, ChatTemplate):
        return None
    user = {"role": "user", "content": _ASKED}
    try:
        text = form.chat.rendered([user, {"role": "assistant", "content": "", "tool_calls": [_CALL, _CALL]}])
    except TemplateError:
        return None
    calls = list(_ARGUMENTS.finditer(text))
    if len(calls) != 2 or text.count(_NAME) != 2:
        return None
    gap = text[calls[0].end() : text.rindex(_NAME)]
    end, call = form.part("end"), form.part("call")
    if not (gap.startswith(end) and gap.endswith(call)) or len(gap) < len(end) + len(call):
        return None
    found = gap[len(end) : len(gap) - len(call)]
    return None if any(name in found for name in form.chat.special_names) else found


def _parts(chat: ChatTemplate) -> tuple[str, str, str] | None:
    """What stands around name and arguments of a call, without what any message of the assistant has."""
    user = {"role": "user", "content": _ASKED}
    called = chat.rendered([user, {"role": "assistant", "content": "", "tool_calls": [_CALL]}])
    plain = chat.rendered([user, {"role": "assistant", "content": _GIVEN}])
    opened = chat.rendered([user], generation=True)
    before = plain.partition(_GIVEN)[0]
    behind = plain.partition(_GIVEN)[2]
    start = max((len(each) for each in (before, opened) if called.startswith(each)), default=0)
    if not start or not called.endswith(behind):
        return None
    text = called[start : len(called) - len(behind)]
    match = _ARGUMENTS.search(text)
    if match is None or text.count(_NAME) != 1 or text.index(_NAME) > match.start():
        return None
    name = text.index(_NAME)
    return text[:name].lstrip("\n"), text[name + len(_NAME) : match.start()], text[match.end() :]
