"""Servers in the process that speak the protocols as published, and enforce what they are told to.

`StubOpenAI().transport` goes where a backend's transport is wanted. Each checks the bodies that come, against
the published types, OpenAI's schemas also by its rules for the strict mode. Answers are those of its model:
`StubVllm(StubModel(["a script"]))`, or any legal texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from backends.in_process import InProcess, StubReply, as_events, as_json
from backends.published import check_body
from backends.strict_validator import strict_faults
from backends.stub_model import StubModel, constraint_from, prompt_of
from sglc.cfg.model.errors import GrammarError
from sglc.runtime.backends.transport import HttpRequest

CONTEXT = 4_096


class _Stub:
    """What the stubs share: a model, a transport, and an answer that a test puts in place of all."""

    def __init__(self, model: StubModel | None = None) -> None:
        self.model = model or StubModel()
        self.transport = InProcess(self._app)
        self.instead: StubReply | None = None
        """What is answered in any case, if given."""
        self.size: int | None = None
        """Bytes at once."""
        self.finish = "stop"

    def _app(self, path: str, body: Any, request: HttpRequest) -> StubReply:
        reply = self.instead or self.answer(path, body)
        reply.size = self.size or reply.size
        return reply

    def answer(self, path: str, body: Any) -> StubReply:
        raise NotImplementedError(path)

    def _models(self) -> StubReply:
        card = {"id": "served", "object": "model", "created": 1, "owned_by": "me", "max_model_len": CONTEXT}
        return as_json({"object": "list", "data": [card]})

    def _cut(self, text: str, body: dict[str, Any]) -> tuple[str, str]:
        """Text up to a stop or the bound on tokens, and why it ends."""
        for stop in body.get("stop") or body.get("stop_sequences") or ():
            text = text.partition(stop)[0]
        bound = next((body[n] for n in ("max_completion_tokens", "max_tokens") if body.get(n)), None)
        tokens = self.model.tokens(text)
        if bound is not None and len(tokens) > bound:
            return "".join(tokens[:bound]), "length"
        return text, self.finish

    def _chunks(self, text: str, reason: str, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Chunks of chat completions."""
        head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "served"}

        def chunk(delta: dict[str, Any], reason: str | None = None, **more: Any) -> dict[str, Any]:
            return {
                **head,
                "choices": [{"index": 0, "delta": delta, "finish_reason": reason, **more}],
                "usage": None,
            }

        yield chunk({"role": "assistant", "content": ""})
        for token in self.model.tokens(text):
            more = {}
            if body.get("logprobs"):
                tops = [_token(*each) for each in self.model.top(token, body["top_logprobs"])]
                entry = {**_token(token, self.model.logprob(token)), "top_logprobs": tops}
                more = {"logprobs": {"content": [entry], "refusal": None}}
            yield chunk({"content": token}, **more)
        yield chunk({}, reason)
        yield {**head, "choices": [], "usage": self._usage(str(body["messages"]), text)}

    def _usage(self, prompt: str, text: str) -> dict[str, Any]:
        sizes = [len(self.model.tokens(each)) for each in (prompt, text)]
        return {
            "prompt_tokens": sizes[0],
            "completion_tokens": sizes[1],
            "total_tokens": sum(sizes),
            "prompt_tokens_details": {"cached_tokens": 3},
        }


def _token(token: str, logprob: float) -> dict[str, Any]:
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}


class StubOpenAI(_Stub):
    """OpenAI's chat completions, and those of others."""

    refusal = ""

    def answer(self, path: str, body: Any) -> StubReply:
        if path == "/v1/models":
            return self._models()
        assert path == "/v1/chat/completions", path
        check_body("openai", body)
        constraint = None
        if "response_format" in body:
            schema = body["response_format"]["json_schema"]["schema"]
            if faults := strict_faults(schema):
                error = {"message": f"Invalid schema: {faults[0]}", "type": "invalid_request_error"}
                return as_json({"error": {**error, "param": "response_format", "code": None}}, 400)
            constraint = constraint_from("json_schema", schema)
        if "tools" in body:
            grammar = body["tools"][0]["custom"]["format"]["grammar"]
            constraint = constraint_from(grammar["syntax"], grammar["definition"])
        text, reason = self._cut(self.model.write(constraint), body)
        if "tools" in body:
            call = {"id": "call_1", "type": "custom", "custom": {"name": "answer", "input": text}}
            message = {"role": "assistant", "content": None, "refusal": None, "tool_calls": [call]}
            choice = {"index": 0, "message": message, "finish_reason": "tool_calls", "logprobs": None}
            usage = self._usage(str(body["messages"]), text)
            head = {"id": "1", "object": "chat.completion", "created": 1, "model": "served"}
            return as_json({**head, "choices": [choice], "usage": usage})
        chunks = list(self._chunks(text, reason, body))
        if self.refusal:
            chunks[1:-2] = []
            chunks[0]["choices"][0]["delta"] = {"role": "assistant", "refusal": self.refusal}
        return as_events(chunks)


class StubVllm(_Stub):
    """vLLM's server."""

    def answer(self, path: str, body: Any) -> StubReply:
        if path == "/v1/models":
            return self._models()
        if path == "/tokenize":
            tokens = self.model.encode(self._prompt(body))
            return as_json({"tokens": tokens, "count": len(tokens), "max_model_len": CONTEXT})
        assert path in ("/v1/chat/completions", "/v1/completions"), path
        check_body("vllm chat" if "messages" in body else "vllm text", body)
        assert body.get("add_generation_prompt", True) != body.get("continue_final_message", False)
        if "prompt_logprobs" in body:
            return self._scored(body)
        constraint = None
        for name, value in body.get("structured_outputs", {}).items():
            constraint = constraint_from({"json": "json_schema", "grammar": "gbnf"}.get(name, name), value)
        text, reason = self._cut(self.model.write(constraint), body)
        if "messages" in body:
            return as_events(list(self._chunks(text, reason, body)))
        events: list[dict[str, Any]] = []
        for token in self.model.tokens(text):
            choice = {"index": 0, "text": token, "logprobs": None, "finish_reason": None}
            if body.get("logprobs"):
                top = dict(self.model.top(token, body["logprobs"]))
                lists = {
                    "tokens": [token],
                    "token_logprobs": [self.model.logprob(token)],
                    "top_logprobs": [top],
                }
                choice["logprobs"] = {**lists, "text_offset": [0]}
            events.append({"id": "cmpl-1", "object": "text_completion", "choices": [choice], "usage": None})
        events.append({"choices": [{"index": 0, "text": "", "finish_reason": reason}], "usage": None})
        events.append({"choices": [], "usage": self._usage(body["prompt"], text)})
        return as_events(events)

    def _prompt(self, body: Any) -> str:
        if "prompt" in body:
            return str(body["prompt"])
        return prompt_of(body["messages"], open_end=body.get("continue_final_message", False))

    def _scored(self, body: Any) -> StubReply:
        ids = self.model.encode(self._prompt(body))
        told: list[Any] = [None]
        for number in ids[1:]:
            token = self.model.token(number)
            told.append(
                {str(number): {"logprob": self.model.logprob(token), "rank": 1, "decoded_token": token}}
            )
        found = {"prompt_logprobs": told, "prompt_token_ids": ids}
        if "prompt" in body:
            return as_json({"choices": [{"index": 0, "text": "x", "finish_reason": "length", **found}]})
        message = {"index": 0, "message": {"role": "assistant", "content": "x"}, "finish_reason": "length"}
        return as_json({"choices": [message], **found})


class StubSGLang(_Stub):
    """SGLang's server."""

    incremental = False
    """As the server's option `--incremental-streaming-output`."""

    def answer(self, path: str, body: Any) -> StubReply:
        if path == "/v1/models":
            return self._models()
        if path == "/v1/tokenize":
            tokens = self.model.encode(self._prompt(body))
            return as_json({"tokens": tokens, "count": len(tokens), "max_model_len": CONTEXT})
        if path == "/v1/chat/completions":
            check_body("sglang chat", body)
            constraint = None
            if "response_format" in body:
                constraint = constraint_from("json_schema", body["response_format"]["json_schema"]["schema"])
            for name, kind in (("regex", "regex"), ("ebnf", "gbnf")):
                if name in body:
                    constraint = constraint_from(kind, body[name])
            text, reason = self._cut(self.model.write(constraint), body)
            return as_events(list(self._chunks(text, reason, body)))
        assert path == "/generate", path
        check_body("sglang text", body)
        return self._scored(body) if "input_ids" in body else self._generated(body)

    def _prompt(self, body: Any) -> str:
        if "prompt" in body:
            return str(body["prompt"])
        return prompt_of(body["messages"], open_end=body.get("continue_final_message", False))

    def _scored(self, body: Any) -> StubReply:
        start = body["logprob_start_len"]
        told = []
        for at, number in enumerate(body["input_ids"][start:]):
            token = self.model.token(number)
            told.append([self.model.logprob(token) if at else None, number, token])
        about = {"input_token_logprobs": told, "finish_reason": {"type": "length", "length": 0}}
        return as_json({"text": "", "meta_info": about})

    def _generated(self, body: Any) -> StubReply:
        settings = body["sampling_params"]
        constraint = None
        for name, kind in (("regex", "regex"), ("ebnf", "gbnf"), ("json_schema", "json_schema")):
            if name in settings:
                value = json.loads(settings[name]) if name == "json_schema" else settings[name]
                constraint = constraint_from(kind, value)
        bound = {"max_tokens": settings["max_new_tokens"], "stop": settings.get("stop")}
        text, reason = self._cut(self.model.write(constraint), bound)
        tokens = self.model.tokens(text)
        events = []
        for at in range(1, len(tokens) + 1):
            last = at == len(tokens)
            about: dict[str, Any] = {
                "prompt_tokens": len(self.model.tokens(body["text"])),
                "completion_tokens": at,
                "cached_tokens": 3,
                "finish_reason": {"type": reason} if last else None,
            }
            if body.get("return_logprob"):
                tops = [self.model.top(token, body["top_logprobs_num"]) for token in tokens[:at]]
                about["output_top_logprobs"] = [[[p, 0, text] for text, p in top] for top in tops]
            said = tokens[at - 1] if self.incremental else "".join(tokens[:at])
            events.append({"text": said, "meta_info": about})
        return as_events(events)


class StubLlama(_Stub):
    """llama.cpp's server."""

    def answer(self, path: str, body: Any) -> StubReply:
        if path == "/props":
            return as_json({"default_generation_settings": {"n_ctx": CONTEXT}, "total_slots": 1})
        if path == "/apply-template":
            return self._templated([each["role"] for each in body["messages"]], body["messages"])
        if path == "/tokenize":
            return as_json({"tokens": self.model.encode(body["content"])})
        assert path == "/completion", path
        check_body("llama", body)
        if isinstance(body["prompt"], list):
            return self._chances(body)
        try:
            constraint = constraint_from("gbnf", body["grammar"]) if "grammar" in body else None
        except GrammarError:
            message = "Failed to initialize samplers: failed to parse grammar"
            error = {"code": 400, "message": message, "type": "invalid_request_error"}
            return as_json({"error": error}, 400)
        if "json_schema" in body:
            constraint = constraint_from("json_schema", body["json_schema"])
        most = body["n_predict"]
        text, reason = self._cut(
            self.model.write(constraint), {"stop": body.get("stop"), "max_tokens": max(0, most)}
        )
        events: list[dict[str, Any]] = []
        for token in self.model.tokens(text):
            event = {"index": 0, "content": token, "tokens": [1], "stop": False}
            if body.get("n_probs"):
                event["completion_probabilities"] = [self._place(token, body["n_probs"])]
            events.append(event)
        sizes = [len(self.model.tokens(each)) for each in (body["prompt"], text)]
        end = {"content": "", "stop": True, "stop_type": "limit" if reason == "length" else "eos"}
        counts = {"tokens_evaluated": sizes[0], "tokens_predicted": sizes[1], "timings": {"cache_n": 3}}
        return as_events([*events, {**end, **counts}], done=False)

    def _templated(self, roles: list[str], messages: Any) -> StubReply:
        """The server goes on with a message of the assistant at the end, and refuses two of them."""
        if roles[-2:] == ["assistant", "assistant"]:
            message = "Cannot have 2 or more assistant messages at the end of the list."
            error = {"code": 400, "message": message, "type": "invalid_request_error"}
            return as_json({"error": error}, 400)
        return as_json({"prompt": prompt_of(messages, open_end=roles[-1] == "assistant")})

    def _place(self, token: str, count: int) -> dict[str, Any]:
        tops = [{"id": 0, **_token(*each)} for each in self.model.top(token, count)]
        return {"id": 0, **_token(token, self.model.logprob(token)), "top_logprobs": tops}

    def _chances(self, body: Any) -> StubReply:
        """Every token that is known, the rarest last: with few chances asked for, some are not among them."""
        assert body["n_predict"] == 1 and body["temperature"] < 0
        known = sorted(self.model.ids, key=lambda token: (-self.model.logprob(token), token))
        tops = [{"id": self.model.ids[each], **_token(each, self.model.logprob(each))} for each in known]
        shown = tops[: body["n_probs"]] if body["n_probs"] > 64 else tops[:2]
        place = {**shown[0], "top_logprobs": shown}
        return as_json(
            {"content": "x", "stop": True, "stop_type": "limit", "completion_probabilities": [place]}
        )


class StubAnthropic(_Stub):
    """Anthropic's messages."""

    finish = "end_turn"

    def __init__(self, model: StubModel | None = None) -> None:
        super().__init__(model)
        self.finish = "end_turn"

    def answer(self, path: str, body: Any) -> StubReply:
        if path.startswith("/v1/models/"):
            return as_json({"type": "model", "id": path[11:], "max_input_tokens": 200_000})
        assert path == "/v1/messages", path
        check_body("anthropic", body)
        assert body["messages"][0]["role"] == "user" and all(each["content"] for each in body["messages"])
        constraint = None
        if "output_config" in body:
            constraint = constraint_from("json_schema", body["output_config"]["format"]["schema"])
        text, reason = self._cut(self.model.write(constraint), body)
        reason = "max_tokens" if reason == "length" else reason
        usage = {
            "input_tokens": 7,
            "cache_read_input_tokens": 3,
            "cache_creation_input_tokens": 2,
            "output_tokens": 1,
        }
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        details = (
            {"type": "refusal", "category": None, "explanation": "I will not."}
            if reason == "refusal"
            else None
        )
        delta = {"stop_reason": reason, "stop_sequence": None, "stop_details": details}
        count = {"output_tokens": len(self.model.tokens(text))}
        events = [
            {"type": "message_start", "message": message},
            block,
            {"type": "ping"},
            *(
                {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": token}}
                for token in self.model.tokens(text)
            ),
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": delta, "usage": count},
            {"type": "message_stop"},
        ]
        return as_events(events, done=False, names=True)
