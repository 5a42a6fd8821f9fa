"""Tools over OpenAI's protocol: one language of text and calls, arguments that satisfy their schemas, the
notation of the model's template."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serving.server import PacedModel, Reply, Server, serving
from sglc.runtime.chat import ChatTemplate, SpecialMark
from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.decoding.conversations.encoder import Encoder
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.model.scripted import ByteTokenizer
from sglc.runtime.serve.openai.asked import read_chat
from sglc.runtime.serve.openai.calls import AnswerReader, Notation, answer_language, notation_of
from sglc.runtime.serve.openai.dialogue import write
from sglc.runtime.serve.openai.parameters import Parameters
from sglc.runtime.serve.openai.tools import Tools, tools_of
from sglc.runtime.serve.problems import Refusal

PROGRAM = "pub fn greet(a: str) -> bool:\n    user: | ${a}\n    assistant: | ?{b: bool}\n    return b\n"
SCHEMAS: dict[str, dict[str, Any]] = {
    "add": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}},
    "pick": {
        "type": "object",
        "properties": {
            "of": {"type": "array", "items": {"enum": ["x", "y"]}, "minItems": 1, "maxItems": 3},
            "deep": {"type": "object", "properties": {"n": {"type": ["integer", "null"], "minimum": 3}}},
        },
        "required": ["of"],
        "additionalProperties": False,
    },
    "free": {"type": "object", "additionalProperties": {"type": "boolean"}, "maxProperties": 3},
}
FUNCTIONS = [
    {"type": "function", "function": {"name": name, "parameters": schema}} for name, schema in SCHEMAS.items()
]
LARK = 'start: "SELECT " /[a-z"]{1,5}/'
CUSTOM = [
    {
        "type": "custom",
        "custom": {
            "name": "sql",
            "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": LARK}},
        },
    },
    {
        "type": "custom",
        "custom": {
            "name": "day",
            "format": {"type": "grammar", "grammar": {"syntax": "regex", "definition": r"\d\d/\d\d"}},
        },
    },
    {"type": "custom", "custom": {"name": "say", "format": {"type": "text"}}},
]
TOOLS = [*FUNCTIONS, *CUSTOM]
ASK = [{"role": "user", "content": "go"}]

HERMES = """\
{%- if tools %}<|im_start|>system
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}<|im_end|>
{% endif %}
{%- for m in messages %}<|im_start|>{{ 'user' if m.role == 'tool' else m.role }}
{% if m.role == 'tool' %}<tool_response>{{ m.content }}</tool_response>{% else %}{{ m.content }}
{%- for call in m.tool_calls or [] %}
{{- '\\n' if not loop.first or m.content else '' }}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}{% endif %}<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
LLAMA = """\
{%- if tools %}<|im_start|>system
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}<|im_end|>
{% endif %}
{%- for m in messages %}<|im_start|>{{ m.role }}
{% if m.tool_calls %}{% if m.tool_calls | length != 1 %}{{ raise_exception('one call') }}{% endif %}
{%- set call = m.tool_calls[0].function %}{"name": "{{ call.name }}",
{{- ' ' }}"parameters": {{ call.arguments | tojson }}}
{%- else %}{{ m.content }}{% endif %}<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
MARKS = {"<|im_start|>": SpecialMark(256), "<|im_end|>": SpecialMark(257)}
TEMPLATES = {
    "plain": ByteTokenizer().chat,
    "hermes": ChatTemplate(HERMES, MARKS),
    "llama": ChatTemplate(LLAMA, MARKS),
}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(PROGRAM, {"answer": "x"}) as made:
        yield made


def tools(**more: Any) -> Tools:
    found = tools_of(Parameters({"tools": TOOLS} | more))
    assert found is not None
    return found


@cache
def notation(name: str) -> Notation:
    return notation_of(TEMPLATES[name], tools().shown)


def chat(server: Server, **body: Any) -> Reply:
    asked = {"model": "scripted", "messages": ASK, "tools": TOOLS}
    return server.ask("POST", "/v1/chat/completions", asked | body)


# -- notations and their language ------------------------------------------------------------------------


def test_the_notation_is_the_template_s_own() -> None:
    hermes, llama, plain = notation("hermes"), notation("llama"), notation("plain")
    assert hermes.written("f", "{}") == '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    assert (hermes.mark, hermes.between, hermes.form.told) == ("<tool_call>", "\n", "")
    assert llama.written("f", "{}") == '{"name": "f", "parameters": {}}'
    assert (llama.mark, llama.between, llama.form.told) == ("", None, "")
    assert plain.written("f", "{}") == '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    assert (plain.mark, plain.between) == ("<tool_call>", "\n")
    assert all(f'"name": "{tool.name}"' in plain.form.told for tool in tools().tools)


TEXTS = st.text(st.sampled_from('ab<{\n\\"tol_ca>'), max_size=12)
CALLS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.builds(lambda a, b: {"a": a, "b": b}, st.integers(-9, 99), TEXTS)),
        st.tuples(st.just("free"), st.dictionaries(st.sampled_from("pq"), st.booleans())),
        st.tuples(st.just("sql"), st.sampled_from(['SELECT a"', "SELECT z"])),
        st.tuples(st.just("say"), TEXTS),
    ),
    max_size=3,
)


@cache
def answers(name: str) -> Matcher:
    """The legal answers in a notation, at their beginning."""
    language = answer_language(tools(), notation(name), (), None)
    return compile_constraint(language=language).matcher(ByteTokenizer().vocabulary())


def accepts(name: str, text: str) -> bool:
    """Whether a text is a legal answer."""
    matcher = answers(name).clone()
    return matcher.accept_bytes(text.encode()) and matcher.is_accepting()


@pytest.mark.parametrize("name", TEMPLATES)
@settings(max_examples=40, deadline=None)
@given(said=TEXTS, calls=CALLS, seed=st.integers(0, 99))
def test_a_legal_answer_is_read_as_what_it_was_written_from(
    name: str, said: str, calls: list[tuple[str, Any]], seed: int
) -> None:
    form = notation(name)
    if form.between is None:
        calls = calls[:1]
    if not form.mark:
        said = "" if calls else said.lstrip("{")
    if form.mark and form.mark in said:
        return
    shown = [
        form.written(
            called, json.dumps({"input": given} if isinstance(given, str) else given, ensure_ascii=False)
        )
        for called, given in calls
    ]
    text = said + (form.between or "").join(shown)
    assert accepts(name, text)
    reader, draw = AnswerReader(tools(), form), random.Random(seed)
    cuts = sorted({0, len(text), *(draw.randrange(len(text) + 1) for _ in range(6))})
    seen = ""
    for start, end in pairwise(cuts):
        reader.feed(text[start:end])
        assert reader.content.startswith(seen) and said.startswith(reader.content)
        seen = reader.content
    reader.end()
    assert reader.content == said
    found = [
        (call.name, call.arguments if call.custom else json.loads(call.arguments)) for call in reader.calls
    ]
    assert found == calls


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plain", "a <tool_call> b"),
        ("plain", '<tool_call>{"name": "other", "arguments": {}}</tool_call>'),
        ("plain", '<tool_call>{"name": "add", "arguments": {"a": "x"}}</tool_call>'),
        (
            "plain",
            '<tool_call>{"name": "add", "arguments": {"c": 1}}</tool_call>',
        ),  # functions take what they name
        ("plain", '<tool_call>{"name": "add", "arguments": {}}</tool_call> and more'),
        ("plain", '<tool_call>{"name": "day", "arguments": {"input": "1/12"}}</tool_call>'),
        ("hermes", '<tool_call>{"name": "add", "arguments": {}}</tool_call>'),
        ("llama", '{"a": 1}'),
        ("llama", '{"name": "add", "parameters": {}}{"name": "add", "parameters": {}}'),
    ],
)
def test_what_is_neither_text_nor_calls_is_illegal(name: str, text: str) -> None:
    assert not accepts(name, text)


# -- conversations ---------------------------------------------------------------------------------------


def rendered(name: str, messages: list[dict[str, Any]], **more: Any) -> str:
    """The prompt of a request as a template has it."""
    return written(name, messages, **more).rendered()


def written(name: str, messages: list[dict[str, Any]], **more: Any) -> Conversation:
    """The conversation of a request in which the answer is due."""
    tokenizer = ByteTokenizer()
    asked = read_chat({"model": "m", "messages": messages, "tools": FUNCTIONS[:1]} | more)
    conversation = Conversation(encoder=Encoder(tokenizer), chat=TEMPLATES[name])
    shown = "" if asked.tools is None else asked.tools.shown
    asyncio.run(write(conversation, asked.conversations[0], asked, notation_of(TEMPLATES[name], shown)))
    return conversation


def call(id: str, arguments: str = "{}", name: str = "add") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def test_calls_and_results_are_written_as_the_template_writes_them() -> None:
    said = {"role": "assistant", "content": "Well.", "tool_calls": [call("a", '{"a":1.50}'), call("b")]}
    messages = [*ASK, said, result("b", "two"), result("a", "one <|im_end|>")]
    text = rendered("hermes", messages)
    template = TEMPLATES["hermes"]
    assert isinstance(template, ChatTemplate)
    whole = [
        *ASK,
        {
            **said,
            "tool_calls": [
                {"function": {"name": "add", "arguments": {"a": 1.5}}},
                {"function": {"name": "add", "arguments": {}}},
            ],
        },
        result("a", "one <|im_end|>"),
        result("b", "two"),
    ]
    own = template.with_tools(FUNCTIONS[:1]).rendered(whole, generation=True)
    assert text == own.replace('"a": 1.5}', '"a": 1.50}')  # digits stay as they came
    tokens = list(ByteTokenizer().encode("one <|im_end|>"))
    assert 257 not in tokens  # what a tool gives is text


def test_a_template_without_tools_is_told_in_a_text_of_the_system() -> None:
    messages = [*ASK, {"role": "assistant", "content": None, "tool_calls": [call("a")]}, result("a", "4")]
    text = rendered("plain", [{"role": "system", "content": "Be brief."}, *messages])
    assert text.startswith("<|im_start|>system\nBe brief.\n\nYou can call these functions:\n")
    assert '<|im_start|>assistant\n<tool_call>{"name": "add", "arguments": {}}</tool_call><|im_end|>' in text
    assert text.endswith("<|im_start|>tool\n4<|im_end|>\n<|im_start|>assistant\n")
    assert rendered("plain", messages).startswith("<|im_start|>system\nYou can call these functions:\n")
    assert "You can call" not in rendered("plain", messages, tools=[])


def test_special_tokens_in_what_is_said_of_tools_are_text() -> None:
    function = {"name": "add", "description": "Adds.<|im_end|>"}
    text = rendered("hermes", ASK, tools=[{"type": "function", "function": function}])
    assert text.startswith("<|im_start|>system\nYou can call these functions:\n")
    conversation = written("hermes", ASK, tools=[{"type": "function", "function": function}])
    assert [number for _, number in conversation.state.closed] == [256, 257, 256, 257, 256]


def test_a_template_without_results_has_them_from_the_user() -> None:
    refusing = LLAMA.replace(
        "{%- for m in messages %}",
        "{%- for m in messages %}{% if m.role == 'tool' %}{{ raise_exception('no') }}{% endif %}",
    )
    TEMPLATES["refusing"] = ChatTemplate(refusing, MARKS)
    try:
        messages = [*ASK, {"role": "assistant", "content": None, "tool_calls": [call("a")]}, result("a", "4")]
        assert "user\n<tool_response>\n4\n</tool_response><|im_end|>" in rendered("refusing", messages)
    finally:
        del TEMPLATES["refusing"]


# -- answers ---------------------------------------------------------------------------------------------


def checked(choice: dict[str, Any]) -> list[str]:
    """The names of the calls of an answer, whose arguments all satisfy what their tools want."""
    names = []
    for each in choice["message"].get("tool_calls", ()):
        if each["type"] == "function":
            name = each["function"]["name"]
            jsonschema.Draft202012Validator(SCHEMAS[name]).validate(json.loads(each["function"]["arguments"]))
        else:
            name = each["custom"]["name"]
            pattern = {"sql": 'SELECT [a-z"]{1,5}', "day": r"\d\d/\d\d", "say": r"(?s).*"}[name]
            assert re.fullmatch(pattern, each["custom"]["input"], re.ASCII)
        names.append(name)
    assert (choice["finish_reason"] == "tool_calls") == bool(names)
    return names


def named(name: str, kind: str = "function") -> dict[str, Any]:
    return {"type": kind, kind: {"name": name}}


ALLOWED = {
    "type": "allowed_tools",
    "allowed_tools": {"mode": "required", "tools": [named("pick"), named("day", "custom")]},
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_arguments_are_legal_whatever_a_model_writes(name: str) -> None:
    model = PacedModel({})
    model.tokenizer.chat = TEMPLATES[name]  # type: ignore[assignment]
    with serving(PROGRAM, model=model) as server:
        for seed, (choice, wanted) in enumerate(
            [
                ("required", set(SCHEMAS) | {"sql", "day", "say"}),
                (named("pick"), {"pick"}),
                (named("sql", "custom"), {"sql"}),
                (ALLOWED, {"pick", "day"}),
            ]
        ):
            for limit in (60, 120):
                reply = chat(
                    server, tool_choice=choice, n=4, seed=seed, temperature=1.5, max_tokens=limit + 60
                )
                for each in reply.data["choices"]:
                    names = checked(each)
                    assert names and set(names) <= wanted
                    several = name != "llama" and (choice == "required" or choice is ALLOWED)
                    assert len(names) == 1 or several
        none = chat(server, tool_choice="none", max_tokens=20).data["choices"][0]
        assert not checked(none)
        single = chat(server, tool_choice="required", parallel_tool_calls=False, n=4, max_tokens=90)
        assert all(len(checked(each)) == 1 for each in single.data["choices"])


def test_a_model_chooses_between_text_and_calls() -> None:
    begun = '<tool_call>{"name": "add", "arguments": {"a": '
    for said, calls, content in (
        ("No call <tool_ is here", [], "No call <tool_ is here"),
        (begun + "1}}</tool_call>", ["add"], None),
        ("\n" + begun + "1}}</tool_call>", ["add"], None),
        ("First: " + begun + "1}}</tool_call>\n" + begun + "2}}</tool_call>", ["add", "add"], "First: "),
    ):
        with serving(PROGRAM, {"answer": said}) as server:
            choice = chat(server).data["choices"][0]
            assert checked(choice) == calls and choice["message"]["content"] == content
            rows = chat(server, stream=True).body.decode().split("\n\n")
            deltas = [json.loads(row[6:])["choices"][0]["delta"] for row in rows if row[:7] == "data: {"]
            assert deltas[0]["role"] == "assistant"
            assert "".join(each.get("content") or "" for each in deltas) == (content or "")
            pieces = [each for delta in deltas for each in delta.get("tool_calls", ())]
            for at, whole in enumerate(choice["message"].get("tool_calls", ())):
                mine = [each for each in pieces if each["index"] == at]
                assert [each["function"].get("name") for each in mine] == ["add", *[None] * (len(mine) - 1)]
                text = "".join(each["function"]["arguments"] for each in mine)
                assert text == whole["function"]["arguments"]


def test_a_limit_ends_text_and_completes_calls() -> None:
    said = 'Now <tool_call>{"name": "say", "arguments": {"input": "a long text"}}</tool_call>'
    with serving(PROGRAM, {"answer": said}) as server:
        whole = set()
        for most in range(2, 90, 3):
            choice = chat(server, max_tokens=most).data["choices"][0]
            checked(choice)
            assert choice["finish_reason"] in ("length", "tool_calls")
            whole |= {(choice["finish_reason"], choice["sglc"]["ended"])}
        assert whole == {("length", "budget"), ("tool_calls", "budget"), ("tool_calls", "end")}
        stopped = chat(server, stop="N").data["choices"][0]
        assert (stopped["message"]["content"], stopped["finish_reason"]) == ("", "stop")


def test_json_or_a_call() -> None:
    with pytest.raises(Refusal, match="begin as JSON does"):
        answer_language(tools(), notation("llama"), (), "{}")
    form = {"type": "json_schema", "json_schema": {"name": "c", "schema": {"enum": ["red", 5]}}}
    with serving(PROGRAM, {"answer": "5"}) as server:
        first = chat(server, response_format=form).data["choices"][0]
        assert (first["message"]["content"], first["finish_reason"]) == ("5", "stop")
    anything = {"type": "json_schema", "json_schema": {"name": "c", "schema": {"type": "string"}}}
    with serving(PROGRAM, {"answer": '"<tool_call>{"'}) as server:
        quoted = chat(server, response_format=anything).data["choices"][0]
        assert (quoted["message"]["content"], quoted["finish_reason"]) == ('"<tool_call>{"', "stop")
    with serving(PROGRAM) as server:
        for seed in range(4):
            choice = chat(server, response_format=form, seed=seed, max_tokens=90).data["choices"][0]
            assert checked(choice) or json.loads(choice["message"]["content"]) in ("red", 5)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"tools": {}}, "tools"),
        ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
        ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "tools[0].function.name"),
        ({"tools": [FUNCTIONS[0], FUNCTIONS[0]]}, "tools[1].function"),
        ({"tools": FUNCTIONS[:1] * 129}, "tools"),
        ({"tools": [{"type": "function", "function": {"name": "f", "description": "x" * 99_999}}]}, "tools"),
        (
            {"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "array"}}}]},
            "tools[0].function.parameters.type",
        ),
        (
            {
                "tools": [
                    {
                        "type": "function",
                        "function": {
                            "name": "f",
                            "parameters": {"type": "object", "minProperties": 1, "maxProperties": 0},
                        },
                    }
                ]
            },
            "tools[0].function",
        ),
        (
            {"tools": [{"type": "function", "function": {"name": "f", "parameters": {"$ref": "#/x"}}}]},
            "tools[0].function",
        ),
        (
            {
                "tools": [
                    {
                        "type": "custom",
                        "custom": {
                            "name": "c",
                            "format": {
                                "type": "grammar",
                                "grammar": {"syntax": "lark", "definition": "start: a"},
                            },
                        },
                    }
                ]
            },
            "tools[0].custom",
        ),
        (
            {
                "tools": [
                    {
                        "type": "custom",
                        "custom": {
                            "name": "c",
                            "format": {"type": "grammar", "grammar": {"syntax": "ebnf", "definition": ""}},
                        },
                    }
                ]
            },
            "tools[0].custom.format.grammar.syntax",
        ),
        ({"tool_choice": "any"}, "tool_choice"),
        ({"tool_choice": named("none")}, "tool_choice.function.name"),
        ({"tool_choice": named("add", "custom")}, "tool_choice.custom.name"),
        ({"tools": [], "tool_choice": "required"}, "tool_choice"),
        ({"parallel_tool_calls": 1}, "parallel_tool_calls"),
        ({"logprobs": True}, "logprobs"),
        ({"structured_outputs": {"regex": "a"}}, "structured_outputs.regex"),
        ({"model": "sgl/greet"}, "tools"),
        (
            {"messages": [{"role": "user", "content": "", "tool_calls": [call("a")]}]},
            "messages[0].tool_calls",
        ),
        (
            {"messages": [{"role": "assistant", "tool_calls": [call("a", "[]")]}]},
            "messages[0].tool_calls[0].function.arguments",
        ),
    ],
)
def test_what_is_wrong_is_named(server: Server, body: dict[str, Any], param: str) -> None:
    reply = chat(server, **body)
    assert (reply.status, reply.data["error"]["param"]) == (400, param), reply.data
