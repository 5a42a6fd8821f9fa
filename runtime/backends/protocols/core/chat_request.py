"""What requests of OpenAI's chat completions have in common, whoever serves them."""

from __future__ import annotations

from collections.abc import Sequence

from sglc.automata.json.data import JsonObject
from sglc.runtime.backends.exchange import Message, Query
from sglc.targets.projection.core.capabilities import Capabilities

Body = JsonObject
_ROLES = {"": "user", "tool": "user"}
"""Roles that chat completions do not have in our sense: text outside of messages, and results of tools that
the model asked for in its own words. Messages of the role `tool` there belong to calls of the protocol."""


def chat_messages(messages: Sequence[Message], begun: str = "") -> list[Body]:
    """Messages as chat completions have them; what is begun is the last one."""
    found: list[Body] = []
    for each in messages:
        found.append({"role": _ROLES.get(each.role, each.role), "content": each.text})
    if begun:
        found.append({"role": "assistant", "content": begun})
    return found


def with_a_turn_to_answer(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Messages of which the last is not the assistant's. Anthropic, llama.cpp and others take such a one for
    the beginning of the answer, or refuse it; here it is whole."""
    if messages and messages[-1].role == "assistant":
        return (*messages, Message("user", "Go on."))
    return tuple(messages)


def is_plain_text(query: Query) -> bool:
    """Whether a query has no messages: its text is continued as it is, without a chat template."""
    return bool(query.messages or query.begun) and all(not each.role for each in query.messages)


def plain_text(query: Query) -> str:
    """The text of a query without messages."""
    return "".join(each.text for each in query.messages) + query.begun


def sampling(query: Query, capabilities: Capabilities, *, every: bool = False) -> Body:
    """The fields for sampling, as far as a backend takes them.

    With `every`, what the query does not limit is said too: servers have defaults of their own for it, some
    of them from the model's files.
    """
    given = query.sampling
    found: Body = {}
    if capabilities.temperature:
        found["temperature"] = given.temperature
    greedy = given.temperature == 0.0
    neutral = {"top_p": 1.0, "min_p": 0.0}
    for name in ("top_p", "min_p"):
        value = None if greedy else getattr(given, name)
        if name in capabilities.samplers and (value is not None or every):
            found[name] = neutral[name] if value is None else value
    if "top_k" in capabilities.samplers and given.top_k is not None and not greedy:
        found["top_k"] = given.top_k
    if query.seed is not None and capabilities.seed:
        found["seed"] = query.seed
    return found


def probabilities(query: Query, capabilities: Capabilities, *, plain: bool = False) -> Body:
    """The fields that ask for chances of tokens; completions of `plain` text have another one."""
    wanted = min(query.top_logprobs, capabilities.top_logprobs)
    if not wanted:
        return {}
    return {"logprobs": wanted} if plain else {"logprobs": True, "top_logprobs": wanted}
