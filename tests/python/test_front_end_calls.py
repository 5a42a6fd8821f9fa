"""Functions of Python in programs of Python: what passes, what is refused, what a model may call."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import sglc
from example_budget import examples
from fakes.small_models import FickleModel
from python_programs.counter import statements as counter
from python_programs.modules import found_in, line_of, python_module
from python_programs.shop import classes as shop
from python_programs.shop import docstring, statements
from sglc.diagnostics.render import render
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.model.scripted import ScriptedModel

HEAD = """
import asyncio, datetime, enum, sglc
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from pydantic import BaseModel

class Colour(enum.Enum):
    RED = "red"

class Box(BaseModel):
    colour: Colour
    day: datetime.date

SEEN = []
"""


def module(folder: Path, text: str) -> ModuleType:
    return python_module(folder, HEAD + text)


def on_nothing(function: Any, **options: Any) -> Any:
    """The function on a model that is never asked."""
    return function.on(engine=ReferenceEngine(ScriptedModel({})), **options)


@pytest.mark.parametrize("form", [docstring, statements])
def test_objects_of_the_users_classes_pass(form: Any) -> None:
    shop.ORDERS.clear()
    buy = on_nothing(form.buy)
    assert [buy("ham"), buy("salt"), buy("tea")] == ["order 3", "none", "no tea"]
    assert shop.ORDERS == [shop.Item("ham", shop.Size.large)]


def test_values_are_what_annotations_say(tmp_path: Path) -> None:
    made = module(
        tmp_path,
        "def pack(day: datetime.date, tags: dict[str, list[int]], box: Box | None = None) -> Box:\n"
        "    SEEN.append((day, tags, box))\n    return Box(colour=Colour.RED, day=day)\n"
        "async def later(box: Box) -> datetime.date:\n"
        "    await asyncio.sleep(0)\n    SEEN.append(box)\n    return box.day\n"
        "def note(x: int) -> None:\n    SEEN.append(x)\n    return None\n"
        "@sglc.sgl_function\n"
        "def f(s, day: datetime.date) -> datetime.date:\n"
        "    box = pack(day, {'a': [1]})\n    note(3)\n    return later(box)\n",
    )
    day = made.datetime.date(2024, 2, 29)
    assert on_nothing(made.f)(day) == day
    box = made.Box(colour=made.Colour.RED, day=day)
    assert {repr(each) for each in made.SEEN} == {repr(each) for each in ((day, {"a": [1]}, None), box, 3)}


def test_functions_of_functions_are_called_and_not_saved(tmp_path: Path) -> None:
    made = module(
        tmp_path,
        "def make(by):\n    def _add(x: int) -> int:\n        return x + by\n"
        "    @sglc.sgl_function\n    def f(s, x: int) -> int:\n        return _add(x)\n    return f\n"
        "def add(x: int) -> int:\n    return -x\n",
    )
    f = made.make(5)
    assert on_nothing(f)(2) == 7
    with pytest.raises(ValueError, match="_add"):
        f.save(tmp_path / "f.sglb")


def test_equal_names_are_told_apart(tmp_path: Path) -> None:
    made = module(
        tmp_path,
        "def add(x: int) -> int:\n    return x + 1\none = add\ndef add(x: int) -> int:\n    return x + 10\n"
        "@sglc.sgl_function\ndef f(s, x: int) -> int:\n    return add(one(x)) + one(0)\n",
    )
    assert on_nothing(made.f)(2) == 14


def test_what_was_saved_runs_where_the_module_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "shop.sglb"
    statements.buy.save(path)
    engine = ReferenceEngine(ScriptedModel({}))
    loaded = sglc.load(path, engine=engine, allow_py=(shop.__name__,))
    assert loaded.buy("salt") == "none"
    with pytest.raises(TypeError, match="E0724"):
        sglc.load(path, engine=engine).buy("salt")


def test_another_function_takes_the_place_of_one() -> None:
    buy = on_nothing(statements.buy, functions={f"{shop.__name__}:find": lambda name, size: None})
    assert buy("ham") == "none"


def test_errors_have_names_or_are_foreign(tmp_path: Path) -> None:
    made = module(
        tmp_path,
        "@dataclass\nclass Stuck(Exception):\n    step: int\nOwn = Stuck\n"
        "@sglc.extern(raises=(Stuck,))\ndef move(x: int) -> int:\n"
        "    if x > 3: raise type('Deep', (Own,), {})(x)\n    raise KeyError(x)\n"
        "@sglc.sgl_function\ndef f(s, x: int) -> int:\n    try:\n        return move(x)\n"
        "    except Stuck as e:\n        return e.step\n",
    )
    assert on_nothing(made.f)(7) == 7
    with pytest.raises(sglc.RunError, match="raised KeyError") as caught:
        on_nothing(made.f)(1)
    assert caught.value.name == "Foreign"


ANNOTATED = "def good(x: int) -> int:\n    return x\n"
REFUSED = [
    ("def g(x) -> int: return 1", "`x` has no annotation"),
    ("def g(x: int): return 1", "result has no annotation"),
    ("def g(x: int, *, y: int = 3) -> int: return 1", "`y` is not passed in order"),
    ("def g(*x: int) -> int: return 1", "`x` is not passed in order"),
    ("def g(x: set[int]) -> int: return 1", "no sets"),
    ("def g(x: int) -> 'Nowhere': return 1", "Nowhere"),
    ("def g(x: int, y: int = object()) -> int: return 1", "object"),
]


@pytest.mark.parametrize("form", ["s", "docstring"])
@pytest.mark.parametrize(("text", "why"), REFUSED)
def test_what_is_not_typed_is_not_called(tmp_path: Path, text: str, why: str, form: str) -> None:
    body = (
        "def f(s) -> int:\n    return g(3)\n" if form == "s" else "def f() -> int:\n    '''return g(3)'''\n"
    )
    mark = "@sglc.sgl_function\n" if form == "s" else "@sglc.fn\n"
    found = found_in(module(tmp_path, f"{text}\n{mark}{body}"))
    assert found[0].code == "E0503" and why in found[0].label and found[0].hint, render(found[0])
    assert "g(3)" in line_of(found[0])


WRONG = [
    ("E0503", "x = good(s)", "values"),
    ("E0503", "x = Box.model_validate_json('')", "annotations around"),
    ("E0505", "s += s.user('x', tools=[good])", "s.assistant(tools="),
    ("E0505", "s += s.assistant('x', limit=3)", "s.assistant(tools="),
    ("E0505", "s += s.assistant('x', tools=[good], count=3)", "s.assistant(tools="),
    ("E0505", "s += s.assistant('x', tools=[])", "tools=[f, g]"),
    ("E0505", "s += s.assistant('x', tools=good)", "tools=[f, g]"),
    ("E0505", "with s.user(tools=[good]):\n        s += 'x'", ""),
    ("E0503", "s += s.assistant('x', tools=[len])", "annotations around"),
]


@pytest.mark.parametrize(("code", "line", "hint"), WRONG)
def test_wrong_calls_and_tools_are_refused(tmp_path: Path, code: str, line: str, hint: str) -> None:
    text = f"{ANNOTATED}@sglc.sgl_function\ndef f(s) -> int:\n    {line}\n    return 3\n"
    found = found_in(module(tmp_path, text))
    assert found[0].code == code and hint in found[0].hint, render(found[0])


@pytest.mark.parametrize(
    "options",
    [{"effects": "all"}, {"timeout": 0}, {"timeout": True}, {"timeout": float("inf")}, {"raises": (3,)}],
)
def test_wrong_promises_are_type_errors(options: Any) -> None:
    with pytest.raises(TypeError):
        sglc.extern(**options)


@pytest.mark.parametrize("wrong", [len, 3, int, lambda: sglc.fn])
def test_only_functions_have_promises(wrong: Any) -> None:
    if getattr(wrong, "__name__", "") == "<lambda>":
        assert sglc.extern(wrong) is wrong
    else:
        with pytest.raises(TypeError):
            sglc.extern(wrong)


@pytest.mark.parametrize(("trusts", "codes"), [("text", ["E0443"]), ("sglc.trust(text)", [])])
def test_what_is_not_trusted_goes_into_no_write(tmp_path: Path, trusts: str, codes: list[str]) -> None:
    text = (
        "@sglc.extern(effects='write')\ndef send(text: str) -> int:\n    return 1\n"
        "@sglc.sgl_function\ndef f(s, text: Annotated[str, sglc.Untrusted]) -> int:\n"
        f"    return send({trusts})\n"
    )
    assert [each.code for each in found_in(module(tmp_path, text))] == codes


@pytest.mark.slow
def test_a_model_calls_the_tools_of_python() -> None:
    """On a model that writes anything: names are legal, and there are no more calls than allowed."""
    calls = 0
    for seed in range(examples(6)):
        chosen: list[str] = []
        engine = ReferenceEngine(FickleModel(seed, context_length=1 << 14))
        run = sglc.execute(counter.cost.on(engine=engine), 4, trace=True, seed_=seed)
        for event in run.events:
            if event.kind == "hole_end" and event.data["hole"] == "cost.tool":
                chosen.append(event.data["text"])
        engine.close()
        assert set(chosen) <= {"price", "times", "answer"} and len(chosen) <= 4
        calls += sum(name == "price" for name in chosen)
        assert isinstance(run.value, int)
    assert calls
