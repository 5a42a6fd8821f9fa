"""Objects of the Python interface among other Python: pickled, copied, as JSON, checked, streamed."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import datetime
import enum
import gc
import hashlib
import inspect
import json
import pickle  # noqa: TID251
import subprocess
import sys
import typing
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sglc
from example_budget import examples
from sglc.api import Module
from sglc.python import classes
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.model.scripted import ScriptedModel

TEXT = """
## One of the crew.
record Crew:
    name: str max 40 chars
    post: Post                            ## job on board
    age: int in 18..70
    pay: decimal
    home: Place?
    tools: [Tool; ..3]
    note?: str max 20 chars
    rank: int = 1

enum Post: pilot, medic

record Place:
    lat: float
    class: "north" | "south" | 3

union Tool:
    Hammer:
        weight: int
    Rope

record Tree:
    parts: [Tree; ..3]

error Lost(crew: Crew, place: str)

pub pure fn crew(x: Crew) -> Crew:
    return x

pub pure fn tree(x: Tree) -> Tree:
    return x

pub pure fn many(xs: [Crew], by: {str: (int, Post)} = {"a": (1, medic)}) -> {str: (int, Post)}:
    return by

pub pure fn lose(x: Crew) -> Crew raises Lost:
    raise Lost(x, "the sea")

pub fn ask(theme: str) -> Crew:
    user: | ${theme}
    assistant: | ?{member: Crew max 200 tok}
    return member

pub pure fn paid(x: decimal) -> decimal:
    return x
"""
REX = {
    "name": "Rex",
    "post": "medic",
    "age": 40,
    "pay": 12.5,
    "home": {"lat": 1.5, "class": "north"},
    "tools": [{"type": "Hammer", "weight": 3}, {"type": "Rope"}],
    "rank": 2,
}


@pytest.fixture(scope="module")
def module() -> Module:
    return sglc.loads(TEXT, engine=ReferenceEngine(ScriptedModel({"member": REX})))


@pytest.fixture
def rex(module: Module) -> Any:
    return module.crew(REX)


# -- copies ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_results_are_pickled_and_are_equal_afterwards(module: Module, rex: Any, protocol: int) -> None:
    for value in (rex, rex.post, rex.tools, [rex, rex], module.tree({"parts": [{"parts": []}]})):
        again = pickle.loads(pickle.dumps(value, protocol))
        assert again == value and type(again) is type(value)
    assert pickle.loads(pickle.dumps(rex, protocol)).post is rex.post


def test_results_are_copied(rex: Any) -> None:
    assert copy.copy(rex) == copy.deepcopy(rex) == dataclasses.replace(rex) == rex
    assert dataclasses.replace(rex, age=41).age == 41
    assert copy.deepcopy(rex.post) is rex.post


def test_a_pickled_result_is_read_without_the_program_and_imports_no_file_of_its_name(
    rex: Any, tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text("raise SystemExit('program.py was run')")
    (tmp_path / "rex.bin").write_bytes(pickle.dumps(rex))
    script = (
        "import pickle, sys; v = pickle.load(open('rex.bin', 'rb')); "
        "print(repr(v)); print(sorted({'torch', 'lark', 'llvmlite'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines() == [repr(rex), "[]"]


def test_a_class_names_no_module_that_can_be_imported(module: Module) -> None:
    with pytest.raises(pickle.PicklingError, match=r"sglc\.programs"):
        pickle.dumps(module.Crew)


def test_programs_with_equal_declarations_share_their_classes(module: Module) -> None:
    again = sglc.loads(TEXT + "\npub pure fn other() -> int:\n    return 1\n")
    assert again.Crew is module.Crew and again.Post is module.Post
    other = sglc.loads(TEXT.replace("in 18..70", "in 18..71"))
    assert other.Crew is not module.Crew
    assert other.crew(module.crew(REX)) == other.Crew(**{**REX})


def test_classes_go_when_nobody_has_them() -> None:
    made = sglc.loads("record Alone:\n    x: int\n\npub pure fn f(a: Alone) -> Alone:\n    return a\n")
    assert made.f({"x": 1}).x == 1
    key = hashlib.sha256(made._types.portable).digest()
    assert key in classes._SHARED
    del made
    gc.collect()
    assert key not in classes._SHARED


def test_damaged_declarations_are_refused(rex: Any) -> None:
    from sglc.python.classes import _record_again

    portable = rex.__sgl__.classes.portable
    with pytest.raises(ValueError, match="damaged"):
        _record_again(portable[:-1] + b"!", "Crew", None, ())


def test_errors_survive_pickling(module: Module) -> None:
    with pytest.raises(sglc.RunError) as caught:
        module.lose(REX)
    again = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(again, sglc.RunError)
    assert (again.name, again.code, again.fields) == ("Lost", "E0711", caught.value.fields)
    assert again.fields["crew"] == module.crew(REX) and str(again) == str(caught.value)
    with pytest.raises(sglc.CompileError) as broken:
        sglc.loads("fn f() -> int:\n    return y\n", path="broken.sgl")
    again = pickle.loads(pickle.dumps(broken.value))
    assert str(again) == str(broken.value) and again.diagnostics[0].code == "E0201"
    assert "broken.sgl:2" in str(again)


# -- JSON --------------------------------------------------------------------------------------------


def test_results_become_json_and_come_back(module: Module, rex: Any) -> None:
    data = json.loads(json.dumps(sglc.to_json(rex)))
    assert data == REX
    assert module.crew(data) == rex
    by = {"b": (2, module.Post.pilot)}
    assert sglc.to_json(by) == {"b": [2, "pilot"]}
    assert module.many([rex], json.loads(json.dumps(sglc.to_json(by)))) == by
    with pytest.raises(TypeError, match="no value of an SGL program"):
        sglc.to_json(object())


@pytest.mark.slow
@given(st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**15), max_value=10**15))
@settings(max_examples=examples(40), deadline=None)
def test_decimals_keep_their_digits(value: Decimal) -> None:
    module = sglc.loads(TEXT)
    assert module.paid(json.loads(json.dumps(sglc.to_json(value)))) == value


def test_a_text_that_is_no_number_is_no_decimal(module: Module) -> None:
    for text in ("", "1e5", "0x1", " 1", "1_0", "NaN", "9" * 2000):
        with pytest.raises(TypeError, match="expected a number"):
            module.paid(text)


# -- what a call gives, whichever way it is made -----------------------------------------------------


def test_every_way_to_call_gives_the_same_object(module: Module, rex: Any) -> None:
    stream = module.ask.stream(theme="x")
    values = [
        module.ask(theme="x"),
        module.ask.run(theme="x").value,
        stream.value,
        stream.result.value,
        asyncio.run(module.ask.aio(theme="x")),
    ]
    assert all(value == rex and type(value) is module.Crew for value in values)


def test_a_stream_is_iterated_over_in_a_coroutine(module: Module, rex: Any) -> None:
    async def pieces() -> tuple[list[str], Any]:
        stream = module.ask.stream(theme="x")
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        texts = [piece.text async for piece in stream if piece.hole and piece.kind != "hole_start"]
        ticking.cancel()
        assert ticks > 0
        return texts, await stream

    texts, value = asyncio.run(pieces())
    plain = [p.text for p in module.ask.stream(theme="x") if p.hole and p.kind != "hole_start"]
    assert texts == plain and value == rex


def test_a_wait_that_is_cancelled_loses_no_event() -> None:
    from sglc.python.stream import Mailbox

    async def run() -> list[int]:
        mailbox: Mailbox[int] = Mailbox()
        waiting = asyncio.create_task(mailbox.aget())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.sleep(0)
        for item in range(3):
            mailbox.put(item)
        return [await mailbox.aget() for _ in range(3)]

    assert asyncio.run(run()) == [0, 1, 2]


def test_an_async_stream_ends_with_the_error_of_its_run(module: Module) -> None:
    async def read() -> None:
        async for _ in module.lose.stream(REX):
            pass

    with pytest.raises(sglc.RunError, match="Lost"):
        asyncio.run(read())


def test_leaving_a_stream_early_cancels_its_run(module: Module) -> None:
    with module.ask.stream(theme="x") as stream:
        next(iter(stream))
    assert stream._future.cancelled() or stream._future.done()


# -- constructors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"age": 12}, "Crew: age: .*18"),
        ({"age": "40"}, "Crew: age: expected an integer"),
        ({"age": True}, "Crew: age: expected an integer"),
        ({"post": "cook"}, "Crew: post: .*no member of Post"),
        ({"home": {"lat": 1.5}}, r"Crew: home\.class: the field is missing"),
        ({"tools": [{"type": "Saw"}]}, r"Crew: tools\[0\]: .*no variant of Tool"),
        ({"tools": [{"type": "Rope"}] * 4}, "Crew: tools"),
        ({"note": "x" * 21}, "Crew: note"),
    ],
)
def test_constructors_check_their_fields(module: Module, change: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        module.Crew(**{**REX, **change})


def test_constructors_bring_fields_to_their_types(module: Module, rex: Any) -> None:
    made = module.Crew(**REX)
    assert made == rex and made.post is module.Post.medic and isinstance(made.pay, Decimal)
    assert isinstance(made.tools[0], module.Tool.Hammer) and isinstance(made.home, module.Place)
    assert module.Crew("Rex", "pilot", 20, 1, None, []).rank == 1


def test_fields_and_functions_have_annotations(module: Module) -> None:
    hints = typing.get_type_hints(module.Crew)
    assert hints == {
        "name": str,
        "post": module.Post,
        "age": int,
        "pay": Decimal,
        "home": module.Place | None,
        "tools": list[module.Tool],
        "note": str | None,
        "rank": int,
    }
    compass = typing.get_type_hints(module.Place)["class_"]
    assert compass == Literal["north"] | Literal["south"] | Literal[3]
    assert typing.get_type_hints(module.Tree) == {"parts": list[module.Tree]}
    assert [field.type for field in dataclasses.fields(module.Crew)] == list(hints.values())
    assert dataclasses.fields(module.Crew)[1].metadata == {"doc": "job on board"}
    signature = inspect.signature(module.many)
    assert signature.parameters["xs"].annotation == list[module.Crew]
    assert signature.return_annotation == dict[str, tuple[int, module.Post]]
    assert typing.get_type_hints(module.crew) == {"x": module.Crew, "return": module.Crew}


# -- objects of anybody's ----------------------------------------------------------------------------


class Job(enum.StrEnum):
    doctor = "medic"


@dataclasses.dataclass
class Spot:
    lat: float


@dataclasses.dataclass
class Sailor:
    name: str
    post: Job
    age: int
    pay: Decimal
    home: dict[str, Any] | None
    tools: tuple[Any, ...] = ()


class Pair(NamedTuple):
    count: int
    post: Job


def test_foreign_dataclasses_and_enums_are_arguments(module: Module) -> None:
    made = module.crew(Sailor("Rex", Job.doctor, 40, Decimal("0.10"), None))
    assert made.post is module.Post.medic and made.pay == Decimal("0.10") and made.tools == []
    assert module.many([], {"x": Pair(2, Job.doctor)}) == {"x": (2, module.Post.medic)}


def test_pydantic_models_are_arguments(module: Module) -> None:
    pydantic = pytest.importorskip("pydantic")
    Home = pydantic.create_model("Home", lat=(float, ...), **{"class": (str, ...)})
    Person = pydantic.create_model(
        "Person",
        name=(str, ...),
        post=(Job, ...),
        age=(int, ...),
        pay=(Decimal, ...),
        home=(Home, ...),
        tools=(list[dict[str, Any]], ...),
    )
    given = Person(
        name="Rex", post="medic", age=40, pay="12.5", home={"lat": 1.5, "class": "north"}, tools=REX["tools"]
    )
    assert module.crew(given) == module.Crew(**{**REX, "rank": 1})
    with pytest.raises(TypeError, match="age"):
        module.crew(given.model_copy(update={"age": 3}))


def test_dates_uuids_and_paths_are_texts() -> None:
    module = sglc.loads("pub pure fn f(x: str) -> str:\n    return x\n")
    day, mark = datetime.date(2024, 2, 29), uuid.UUID(int=7)
    assert module.f(day) == "2024-02-29" and module.f(mark) == str(mark)
    assert module.f(datetime.datetime(2024, 2, 29, 7, 30)) == "2024-02-29T07:30:00"
    with pytest.raises(TypeError):
        module.f(b"bytes")


# -- text --------------------------------------------------------------------------------------------


def test_a_text_is_a_program_beside_the_files_of_its_path(tmp_path: Path) -> None:
    (tmp_path / "parts.sgl").write_text("pub pure fn one() -> int:\n    return 1\n")
    text = "use ./parts (one)\n\npub pure fn two() -> int:\n    return one() + 1\n"
    assert sglc.loads(text, path=tmp_path / "main.sgl").two() == 2
    with pytest.raises(sglc.CompileError, match="parts"):
        sglc.loads(text, path=tmp_path / "elsewhere" / "main.sgl")


def test_an_unknown_option_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="no option `kv_memroy`"):
        sglc.loads(TEXT, kv_memroy=1)  # type: ignore[call-arg]
