"""Official clients and frameworks speak to a server: they parse, stream, call tools and understand errors.

Each is skipped where its package is missing. The server writes what a script says, turn by turn.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from serving.server import PacedModel, Server, serving
from sglc.runtime.model.scripted import Script

PROGRAM = """
pub fn greet(name: str) -> str:
    user: | Greet ${name}
    assistant: | ?{text: str max 20 chars}
    return text
"""
WEATHER = '<tool_call>{"name": "weather", "arguments": {"city": "Zürich", "days": 2}}</tool_call>'
SAID = "It rains in Zürich."
CARD = '{"name": "Zoë", "age": 7}'
ASK = [{"role": "user", "content": "Weather in Zürich?"}]
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
    "additionalProperties": False,
}
TOOL = {"type": "function", "function": {"name": "weather", "parameters": SCHEMA, "strict": True}}


class Turns(PacedModel):
    """Says one text after another, one a request; the last again and again."""

    def __init__(self, *texts: str) -> None:
        super().__init__({})
        self._texts = list(texts)

    def script(self) -> Script:
        """The next text."""
        text = self._texts.pop(0) if len(self._texts) > 1 else self._texts[0]
        return Script({"answer": text, "text": text})


@contextmanager
def says(*texts: str) -> Iterator[Server]:
    with serving(PROGRAM, model=Turns(*texts)) as server:
        yield server


def base(server: Server) -> str:
    return f"http://127.0.0.1:{server.port}/v1"


def test_openai_calls_tools() -> None:
    openai = pytest.importorskip("openai")
    asked: dict[str, Any] = {"model": "scripted", "messages": ASK, "tools": [TOOL]}
    with says(WEATHER, WEATHER, SAID) as server, openai.OpenAI(base_url=base(server), api_key="x") as client:
        choice = client.chat.completions.create(**asked, tool_choice="required").choices[0]
        assert choice.finish_reason == "tool_calls" and choice.message.content is None
        (call,) = choice.message.tool_calls
        assert json.loads(call.function.arguments) == {"city": "Zürich", "days": 2}
        with client.chat.completions.stream(**asked) as events:
            pieces = [
                event.arguments_delta
                for event in events
                if event.type == "tool_calls.function.arguments.delta"
            ]
            final = events.get_final_completion().choices[0]
        assert len(pieces) > 3 and "".join(pieces) == call.function.arguments
        assert final.finish_reason == "tool_calls" and final.message.tool_calls[0].id.startswith("call_")
        messages = [
            *ASK,
            choice.message.model_dump(exclude_none=True),
            {"role": "tool", "tool_call_id": call.id, "content": "rain"},
        ]
        answered = client.chat.completions.create(**{**asked, "messages": messages}).choices[0]
        assert (answered.message.content, answered.finish_reason) == (SAID, "stop")


def test_openai_parses_arguments_and_answers() -> None:
    openai, pydantic = pytest.importorskip("openai"), pytest.importorskip("pydantic")
    weather = pydantic.create_model("weather", city=(str, ...), days=(int, ...))
    card = pydantic.create_model("Card", name=(str, ...), age=(int, ...))
    tool = openai.pydantic_function_tool(weather, name="weather")
    with says(WEATHER, CARD, CARD) as server, openai.OpenAI(base_url=base(server), api_key="x") as client:
        asked: dict[str, Any] = {"model": "scripted", "messages": ASK}
        both = {"tools": [tool], "response_format": card}
        (call,) = client.chat.completions.parse(**asked, **both).choices[0].message.tool_calls
        assert call.function.parsed_arguments == weather(city="Zürich", days=2)
        found = client.chat.completions.parse(**asked, **both).choices[0].message
        assert found.parsed == card(name="Zoë", age=7) and not found.tool_calls
        with client.chat.completions.stream(**asked, response_format=card) as events:
            assert events.get_final_completion().choices[0].message.parsed == card(name="Zoë", age=7)


def test_openai_calls_custom_tools() -> None:
    openai = pytest.importorskip("openai")
    grammar = {"type": "grammar", "grammar": {"syntax": "lark", "definition": 'start: "SELECT " /[a-z"]+/'}}
    tool = {"type": "custom", "custom": {"name": "sql", "format": grammar}}
    said = '<tool_call>{"name": "sql", "arguments": {"input": "SELECT \\"a\\""}}</tool_call>'
    choice = {"type": "custom", "custom": {"name": "sql"}}
    with says(said) as server, openai.OpenAI(base_url=base(server), api_key="x") as client:
        asked: dict[str, Any] = {"model": "scripted", "messages": ASK, "tools": [tool]}
        message = client.chat.completions.create(**asked, tool_choice=choice).choices[0].message
        (call,) = message.tool_calls
        assert (call.type, call.custom.name, call.custom.input) == ("custom", "sql", 'SELECT "a"')
        chunks = list(client.chat.completions.create(**asked, stream=True))
        deltas = [each for chunk in chunks for each in chunk.choices[0].delta.tool_calls or ()]
        assert "".join(each.custom["input"] for each in deltas) == 'SELECT "a"'
        messages = [
            *ASK,
            message.model_dump(exclude_none=True),
            {"role": "tool", "tool_call_id": call.id, "content": "3"},
        ]
        assert client.chat.completions.create(**{**asked, "messages": messages}).usage.prompt_tokens > 0


def test_openai_understands_errors() -> None:
    openai = pytest.importorskip("openai")
    with says(SAID) as server, openai.OpenAI(base_url=base(server), api_key="x", max_retries=0) as client:
        asked: dict[str, Any] = {"model": "scripted", "messages": ASK}
        bad = {**TOOL, "function": {"name": "f", "parameters": {"type": "string"}}}
        for body, code in (
            ({"tools": [bad]}, "invalid_value"),
            (
                {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "g"}}},
                "invalid_value",
            ),
            ({"reasoning_effort": "low"}, "unsupported_parameter"),
        ):
            for stream in (False, True):
                with pytest.raises(openai.BadRequestError) as refused:
                    client.chat.completions.create(**asked, **body, stream=stream)
                assert refused.value.code == code


@pytest.mark.slow
def test_langchain() -> None:
    chat_openai = pytest.importorskip("langchain_openai").ChatOpenAI
    tools = pytest.importorskip("langchain_core.tools")
    messages = pytest.importorskip("langchain_core.messages")
    pydantic = pytest.importorskip("pydantic")

    @tools.tool
    def weather(city: str, days: int) -> str:
        """The weather of the next days."""
        return f"rain in {city} for {days} days"

    card = pydantic.create_model("Card", name=(str, ...), age=(int, ...))
    with says(WEATHER, SAID, WEATHER, CARD) as server:
        model = chat_openai(model="scripted", base_url=base(server), api_key="x")
        bound = model.bind_tools([weather])
        said = bound.invoke("Weather in Zürich?")
        (call,) = said.tool_calls
        assert call["args"] == {"city": "Zürich", "days": 2}
        result = weather.invoke(call)
        assert isinstance(result, messages.ToolMessage)
        assert bound.invoke([messages.HumanMessage("Weather?"), said, result]).content == SAID
        whole = None
        for chunk in bound.stream("Weather in Zürich?"):
            whole = chunk if whole is None else whole + chunk
        assert whole is not None and whole.tool_calls[0]["args"] == call["args"]
        assert model.with_structured_output(card).invoke("Who?") == card(name="Zoë", age=7)


@pytest.mark.slow
def test_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    litellm = pytest.importorskip("litellm")
    with says(WEATHER, WEATHER, SAID) as server:
        asked: dict[str, Any] = {
            "model": "openai/scripted",
            "api_base": base(server),
            "api_key": "x",
            "messages": ASK,
            "num_retries": 0,
        }
        (call,) = litellm.completion(**asked, tools=[TOOL]).choices[0].message.tool_calls
        assert json.loads(call.function.arguments) == {"city": "Zürich", "days": 2}
        chunks = list(litellm.completion(**asked, tools=[TOOL], stream=True))
        built = litellm.stream_chunk_builder(chunks)
        assert built.choices[0].message.tool_calls[0].function.arguments == call.function.arguments
        assert litellm.completion(**asked, frequency_penalty=0.1).choices[0].message.content == SAID
        with pytest.raises(litellm.BadRequestError):
            litellm.completion(**asked, stop=["", "x"])


@pytest.mark.slow
def test_instructor() -> None:
    instructor, openai = pytest.importorskip("instructor"), pytest.importorskip("openai")
    pydantic = pytest.importorskip("pydantic")
    card = pydantic.create_model("Card", name=(str, ...), age=(int, pydantic.Field(ge=0)))
    called = f'<tool_call>{{"name": "Card", "arguments": {CARD}}}</tool_call>'
    for mode, said in (("TOOLS", called), ("JSON_SCHEMA", CARD)):
        growing = said.replace('"Card"', '"PartialCard"')  # what instructor calls it in a stream
        with says(said, growing) as server, openai.OpenAI(base_url=base(server), api_key="x") as client:
            patched = instructor.from_openai(client, mode=instructor.Mode[mode])
            asked: dict[str, Any] = {"model": "scripted", "messages": ASK, "response_model": card}
            found = patched.chat.completions.create(**asked, max_retries=0)
            assert isinstance(found, card) and (found.name, found.age) == ("Zoë", 7)
            partials = list(patched.chat.completions.create_partial(**asked))
            assert (partials[-1].name, partials[-1].age) == ("Zoë", 7) and len(partials) > 1


@pytest.mark.slow
def test_outlines() -> None:
    outlines, openai = pytest.importorskip("outlines"), pytest.importorskip("openai")
    pydantic = pytest.importorskip("pydantic")
    card = pydantic.create_model("Card", name=(str, ...), age=(int, ...))
    with says(CARD, SAID) as server, openai.OpenAI(base_url=base(server), api_key="x") as client:
        model = outlines.from_openai(client, "scripted")
        assert card.model_validate_json(model("Who?", card)) == card(name="Zoë", age=7)
        assert "".join(model.stream("Weather?")) == SAID


@pytest.mark.slow
def test_agents() -> None:
    agents, openai = pytest.importorskip("agents"), pytest.importorskip("openai")
    agents.set_tracing_disabled(True)
    asked: list[tuple[str, int]] = []

    @agents.function_tool
    def weather(city: str, days: int) -> str:
        """The weather of the next days."""
        asked.append((city, days))
        return "rain"

    async def whole(server: Server) -> tuple[str, str]:
        async with openai.AsyncOpenAI(base_url=base(server), api_key="x") as client:
            model = agents.OpenAIChatCompletionsModel("scripted", client)
            agent = agents.Agent(name="a", instructions="Be brief.", model=model, tools=[weather])
            first = await agents.Runner.run(agent, "Weather in Zürich?")
            second = agents.Runner.run_streamed(agent, "Weather in Zürich?")
            async for _ in second.stream_events():
                pass
            return str(first.final_output), str(second.final_output)

    with says(WEATHER, SAID, WEATHER, SAID) as server:
        assert asyncio.run(whole(server)) == (SAID, SAID)
    assert asked == [("Zürich", 2)] * 2
