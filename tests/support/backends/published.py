"""Bodies of requests as the published types have them, as JSON Schemas: nothing else may be in a body.

Made by hand from the types of openai 3.57 (`types/chat/completion_create_params.py`), anthropic 2.14
(`types/message_create_params.py`), vllm 0.32 (`entrypoints/openai/*/protocol.py`, `sampling_params.py`),
sglang 0.5.23 (`srt/entrypoints/openai/protocol.py`, `srt/managers/io_struct.py`), llama.cpp's README.
"""

from __future__ import annotations

from typing import Any

import jsonschema

_TEXT: dict[str, Any] = {"type": "string"}
_BOOL: dict[str, Any] = {"type": "boolean"}
_INT: dict[str, Any] = {"type": "integer"}
_NUMBER: dict[str, Any] = {"type": "number"}
_OBJECT: dict[str, Any] = {"type": "object"}


def _object(required: str, **fields: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": fields,
        "required": required.split(),
        "additionalProperties": False,
    }


def _messages(*roles: str) -> dict[str, Any]:
    return {"type": "array", "items": _object("role content", role={"enum": list(roles)}, content=_TEXT)}


_CHAT_MESSAGES = _messages("system", "user", "assistant", "developer")
_NAME = {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"}
_SCHEMA_FORMAT = _object(
    "type json_schema",
    type={"const": "json_schema"},
    json_schema=_object("name schema", name=_NAME, schema=_OBJECT, strict=_BOOL, description=_TEXT),
)
_GRAMMAR = _object("syntax definition", syntax={"enum": ["lark", "regex"]}, definition=_TEXT)
_CUSTOM = _object(
    "name",
    name=_NAME,
    description=_TEXT,
    format=_object("type grammar", type={"const": "grammar"}, grammar=_GRAMMAR),
)
_STOP = {"type": "array", "items": _TEXT, "minItems": 1}
_STREAM_OPTIONS = _object("", include_usage=_BOOL)
_CHAT = {
    "model": _TEXT,
    "messages": _CHAT_MESSAGES,
    "stream": _BOOL,
    "stream_options": _STREAM_OPTIONS,
    "temperature": {"type": "number", "minimum": 0},
    "top_p": {"type": "number", "minimum": 0, "maximum": 1},
    "seed": _INT,
    "stop": _STOP,
    "max_completion_tokens": {"type": "integer", "minimum": 1},
    "max_tokens": {"type": "integer", "minimum": 1},
    "logprobs": _BOOL,
    "top_logprobs": {"type": "integer", "minimum": 0, "maximum": 20},
    "response_format": _SCHEMA_FORMAT,
}
_SERVER_SAMPLING = {"top_k": _INT, "min_p": _NUMBER, "repetition_penalty": _NUMBER}
_STRUCTURED = _object("", json=_OBJECT, regex=_TEXT, choice={"type": "array", "items": _TEXT}, grammar=_TEXT)
_VLLM = {
    **_SERVER_SAMPLING,
    "structured_outputs": {**_STRUCTURED, "minProperties": 1, "maxProperties": 1},
    "prompt_logprobs": {"type": "integer", "minimum": 0},
    "return_token_ids": _BOOL,
}
_OF_MESSAGES = ("messages", "logprobs", "top_logprobs", "max_completion_tokens")
"""Fields of chat completions that completions of plain text do not have, or have with another type."""
_PROMPT = {"type": ["string", "array"]}

PUBLISHED: dict[str, dict[str, Any]] = {
    "openai": _object(
        "model messages",
        **{**_CHAT, "stop": {**_STOP, "maxItems": 4}},
        tools={"type": "array", "items": _object("type custom", type={"const": "custom"}, custom=_CUSTOM)},
        tool_choice=_object("type custom", type={"const": "custom"}, custom=_object("name", name=_NAME)),
    ),
    "anthropic": _object(
        "model messages max_tokens",
        model=_TEXT,
        messages=_messages("user", "assistant", "system"),
        max_tokens={"type": "integer", "minimum": 0},
        stream=_BOOL,
        system=_TEXT,
        stop_sequences={"type": "array", "items": {"type": "string", "pattern": r"\S"}, "minItems": 1},
        cache_control=_object("type", type={"const": "ephemeral"}, ttl={"enum": ["5m", "1h"]}),
        output_config=_object(
            "", format=_object("type schema", type={"const": "json_schema"}, schema=_OBJECT)
        ),
    ),
    "vllm chat": _object(
        "messages", **_CHAT, **_VLLM, add_generation_prompt=_BOOL, continue_final_message=_BOOL
    ),
    "vllm text": _object(
        "prompt",
        **{name: each for name, each in _CHAT.items() if name not in _OF_MESSAGES},
        **_VLLM,
        prompt=_PROMPT,
        logprobs=_INT,
    ),
    "sglang chat": _object(
        "messages", **_CHAT, **_SERVER_SAMPLING, regex=_TEXT, ebnf=_TEXT, continue_final_message=_BOOL
    ),
    "sglang text": _object(
        "sampling_params",
        text=_TEXT,
        input_ids={"type": "array", "items": _INT},
        stream=_BOOL,
        return_logprob=_BOOL,
        logprob_start_len=_INT,
        top_logprobs_num=_INT,
        return_text_in_logprobs=_BOOL,
        sampling_params=_object(
            "",
            max_new_tokens={"type": ["integer", "null"]},
            stop=_STOP,
            temperature=_NUMBER,
            top_p=_NUMBER,
            json_schema=_TEXT,
            regex=_TEXT,
            ebnf=_TEXT,
            sampling_seed=_INT,
            **_SERVER_SAMPLING,
        ),
    ),
    "llama": _object(
        "prompt",
        prompt=_PROMPT,
        stream=_BOOL,
        cache_prompt=_BOOL,
        temperature=_NUMBER,
        top_p=_NUMBER,
        top_k=_INT,
        min_p=_NUMBER,
        repeat_penalty=_NUMBER,
        seed=_INT,
        n_predict=_INT,
        n_probs=_INT,
        stop=_STOP,
        grammar=_TEXT,
        json_schema=_OBJECT,
    ),
}


def check_body(kind: str, body: object) -> None:
    """Raise jsonschema's ValidationError where a body is not as published."""
    jsonschema.Draft202012Validator(PUBLISHED[kind]).validate(body)
