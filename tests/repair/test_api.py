"""`sglc.repair` as Python users see it: what is legal, values, options, errors."""

from __future__ import annotations

import asyncio
import pickle  # noqa: TID251
import subprocess
import sys
from typing import Any

import pytest

import sglc
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.schema.core.options import SchemaOptions

CREW = sglc.loads(
    "record Crew:\n    name: str\n    post: Post\n\nenum Post: pilot, medic\ntype Posts = [Post]\n"
)


def says(*answers: Any) -> Any:
    left = list(answers)
    return lambda prompt: left.pop(0) if len(left) > 1 else left[0]


@pytest.mark.parametrize(
    ("answer", "options", "text", "value"),
    [
        ("[1,2]", {"json_schema": {"type": "array", "items": {"type": "integer"}}}, "[1,2]", [1, 2]),
        ("ab", {"regex": "a[bc]"}, "ab", None),
        ("(())", {"grammar": 'start: "(" start? ")"'}, "(())", None),
        ("green", {"choices": ["red", "green"]}, "green", None),
        ("12", {"type": "int in 1..50"}, "12", 12),
        ('["a", "b"]', {"type": "[str; 2]"}, '["a", "b"]', ["a", "b"]),
    ],
)
def test_what_is_legal(answer: str, options: dict[str, Any], text: str, value: Any) -> None:
    for found in (
        sglc.repair(says(answer), **options),
        asyncio.run(sglc.repair_async(says(answer), **options)),
    ):
        assert (found.text, found.value, found.corrections) == (text, value, ())


def test_types_of_a_module() -> None:
    found = sglc.repair(says('{"name": "Ada", "post": "cook"}', "}"), type=CREW.Crew)
    assert found.value == CREW.Crew("Ada", CREW.Post.medic) and isinstance(found.value, CREW.Crew)
    assert sglc.repair(says("pilot"), type=CREW.Post).value is CREW.Post.pilot


def test_spelling_of_json() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "null"}},
        "required": ["a"],
    }
    loose = '{ "b" : null,\n"a":1e0 }'
    assert sglc.repair(says(loose), json_schema=schema).text == loose
    strict = sglc.repair(says(loose, "1}", "}"), json_schema=schema, schema_options=SchemaOptions())
    assert [each.put for each in strict.corrections] == ["0", "}"] and strict.text == '{"a": 0}'


def test_who_picks_may_be_the_model_itself() -> None:
    asked: list[str] = []

    def generate(prompt: str) -> str:
        asked.append(prompt)
        return "2" if "Which of these" in prompt else "blue"

    found = sglc.repair(generate, "Colour: ", choices=["red", "green", "grey"], ask=True)
    assert found.text == "grey" and found.calls == 2
    assert "1. 'red'\n2. 'grey'\n3. 'green'" in asked[1] and "from 1 to 3" in asked[1]
    end = sglc.repair(says("?"), regex="(ab?)?", ask=lambda prompt, text, words: "")
    assert (end.text, end.ended) == ("", "cut")

    async def soon(prompt: str, text: str, words: list[str]) -> str:
        return words[-1]

    assert sglc.repair(says("blue"), choices=["red", "green"], ask=soon).text == "green"
    assert asyncio.run(sglc.repair_async(says("blue"), choices=["red", "green"], ask=soon)).text == "green"


def test_a_fault_of_who_picks() -> None:
    with pytest.raises(sglc.RunError, match="ZeroDivisionError"):
        sglc.repair(says("blue"), choices=["red", "green"], ask=lambda *about: 1 / 0)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, TypeError, "give exactly one of json_schema, regex"),
        ({"regex": "a", "type": "int"}, TypeError, "give exactly one of"),
        ({"regex": "a", "schema_options": SchemaOptions()}, TypeError, "belong to json_schema"),
        ({"regex": "a", "max_cals": 3}, TypeError, "there is no option `max_cals`"),
        ({"regex": "["}, ConstraintError, "never closed"),
        ({"json_schema": {"enum": []}}, ConstraintError, "no JSON value satisfies"),
        ({"type": "[Moood]"}, sglc.CompileError, "there is no type `Moood`"),
        ({"type": set[int]}, TypeError, "type is a type of the language"),
        ({"regex": "a", "max_calls": 0}, ValueError, "the bound on calls"),
        ({"regex": "a", "max_corrections": True}, ValueError, "the bound on corrections"),
        ({"regex": "a", "max_tokens": 1.5}, ValueError, "the bound on tokens"),
        ({"regex": "a", "max_seconds": 0}, ValueError, "the bound on seconds"),
        ({"regex": "a", "ask": "me"}, TypeError, "ask is a function"),
    ],
)
def test_wrong_options(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        sglc.repair(says("a"), **options)


def test_wrong_functions_and_prompts() -> None:
    with pytest.raises(TypeError, match="generate is a function"):
        sglc.repair(7, regex="ab")
    with pytest.raises(TypeError, match="the prompt is a text"):
        sglc.repair(says("a"), 7, regex="ab")  # type: ignore[arg-type]


def test_errors_can_be_pickled_and_keep_the_text() -> None:
    with pytest.raises(sglc.RunError) as caught:
        sglc.repair(says("a?"), regex="([ab] )*c", max_corrections=2)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.name, again.code, again.partial) == ("Truncated", "E0701", "a a ")
    assert [each.put for each in again.fields["corrections"]] == [" ", " "] and again.fields["calls"] == 2


@pytest.mark.slow
def test_it_is_imported_late_and_needs_no_torch() -> None:
    program = (
        "import sys, sglc; assert 'sglc.python.repair' not in sys.modules;"
        "assert sglc.repair(lambda prompt: 'ab', regex='ab*').text == 'ab';"
        "assert not {'torch', 'transformers', 'lark'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-P", "-c", program], check=True)
