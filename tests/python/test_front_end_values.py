"""Types of Python as types of the language, and values as objects of the user's own classes."""

from __future__ import annotations

import asyncio
import datetime
import decimal
import subprocess
import sys
import uuid
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import sglc
from python_programs.modules import found_in, python_module
from sglc.decorators import DecoratedFunction
from sglc.diagnostics.render import render
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.model.scripted import ScriptedModel

CLASSES = '''
import datetime, enum, uuid
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, NewType, NotRequired, Optional, Union

import attrs
from pydantic import BaseModel, Field, field_validator
from typing_extensions import TypeAliasType, TypedDict

import sglc

class Colour(enum.Enum):
    RED = "red"
    DARK_BLUE = "dark blue"

class Level(enum.IntEnum):
    low = 1
    high = 2

class Point(NamedTuple):
    x: int
    y: int = 0

class Tag(TypedDict):
    key: str
    value: NotRequired[int]

@attrs.frozen
class Size:
    width: int
    height: int = 2

@dataclass
class Cat:
    kind: Literal["cat"]
    lives: int

@dataclass
class Dog:
    kind: Literal["dog"]
    name: str

Pet = TypeAliasType("Pet", Cat | Dog)
Short = Annotated[str, Field(max_length=8)]
Number = NewType("Number", int)

class Whole(BaseModel):
    """Everything."""
    model_config = {"arbitrary_types_allowed": True}
    when: datetime.date
    at: datetime.datetime
    clock: datetime.time
    id: uuid.UUID
    price: Decimal = Field(ge=0, le=9, multiple_of=Decimal("0.5"), description="in euros")
    ratio: float
    flag: bool
    colour: Colour
    level: Level
    point: Point
    tag: Tag
    size: Size
    pet: Pet = Field(discriminator="kind")
    words: list[Short] = Field(min_length=1, max_length=3)
    pair: tuple[int, str]
    many: tuple[int, ...]
    counts: dict[str, int]
    maybe: Optional[int] = Field(default=None, ge=3)
    either: Union[int, str]
    number: Number
    anything: Any
    code: str = Field(pattern="^[A-Z]+$")

@sglc.sgl_function
def ask(s, again: Whole | None = None) -> Whole:
    s += f"{again} {s.schema(Whole)} " + s.gen("whole", type=Whole, max_tokens=2000)
    return s["whole"]
'''
WHOLE: dict[str, Any] = {
    "when": "2026-02-03",
    "at": "2026-02-03T04:05:06Z",
    "clock": "04:05:06",
    "id": "00000000-0000-0000-0000-00000000000a",
    "price": 2.5,
    "ratio": 0.25,
    "flag": True,
    "colour": "dark blue",
    "level": "high",
    "point": {"x": 1, "y": 2},
    "tag": {"key": "k"},
    "size": {"width": 3, "height": 4},
    "pet": {"kind": "dog", "name": "Rex"},
    "words": ["a", "b"],
    "pair": [1, "x"],
    "many": [1, 2, 3],
    "counts": {"n": 1},
    "maybe": 4,
    "either": "text",
    "number": 7,
    "anything": {"k": [1, None]},
    "code": "AB",
}


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return python_module(tmp_path_factory.mktemp("classes"), CLASSES)


def scripted(function: DecoratedFunction[..., Any], answers: Any) -> DecoratedFunction[..., Any]:
    return function.on(engine=ReferenceEngine(ScriptedModel(answers)))


@pytest.mark.slow
def test_values_are_objects_of_the_own_classes(classes: ModuleType) -> None:
    whole = scripted(classes.ask, {"whole": WHOLE})()
    assert type(whole) is classes.Whole
    assert whole.when == datetime.date(2026, 2, 3)
    assert whole.at == datetime.datetime(2026, 2, 3, 4, 5, 6, tzinfo=datetime.UTC)
    assert whole.clock == datetime.time(4, 5, 6) and whole.id == uuid.UUID(int=10)
    assert whole.price == decimal.Decimal("2.5") and type(whole.price) is decimal.Decimal
    assert whole.colour is classes.Colour.DARK_BLUE and whole.level is classes.Level.high
    assert type(whole.point) is classes.Point and whole.point == (1, 2)
    assert whole.tag == {"key": "k"} and type(whole.size) is classes.Size
    assert whole.pet == classes.Dog("dog", "Rex")
    assert (whole.words, whole.pair, whole.many) == (["a", "b"], (1, "x"), (1, 2, 3))
    assert whole.anything == {"k": [1, None]} and whole.either == "text"


@pytest.mark.slow
def test_own_objects_are_arguments(classes: ModuleType) -> None:
    whole = scripted(classes.ask, {"whole": WHOLE})()
    result = scripted(classes.ask, {"whole": WHOLE}).run(whole)
    assert '"colour": "dark blue"' in result.text and '"level": "high"' in result.text
    assert result.value == whole
    with pytest.raises(TypeError, match="code"):
        scripted(classes.ask, {})({**WHOLE, "code": "x"})


def test_what_is_known_of_the_types(classes: ModuleType) -> None:
    shown = classes.ask.types
    for line in (
        "price: decimal in 0..9 multiple of 0.5",
        "words: [str max 8 chars; 1..3]",
        "maybe: (int in 3..)?",
        'type Colour = "red" | "dark blue"',
        "type Pet = Cat | Dog",
        "enum Level: low, high",
        "value?: int",
        "code: str matching /[A-Z]+/",
    ):
        assert line in shown.replace("maybe: int in 3..?", "maybe: (int in 3..)?"), (line, shown)
    assert "in euros" in classes.ask.stage("ir") and "Everything." in classes.ask.stage("ir")


def test_a_rule_of_a_class_that_no_type_says(tmp_path: Path) -> None:
    text = """
        from pydantic import BaseModel, model_validator
        import sglc

        class Even(BaseModel):
            n: int

            @model_validator(mode="after")
            def even(self):
                if self.n % 2:
                    raise ValueError("odd")
                return self

        @sglc.sgl_function
        def ask(s) -> Even:
            s += f"{s.schema(Even)} " + s.gen("it", type=Even)
            return s["it"]
    """
    ask = python_module(tmp_path, text).ask
    assert scripted(ask, {"it": {"n": 2}})().n == 2
    with pytest.raises(sglc.RunError, match=r"(?s)Even.*odd") as caught:
        scripted(ask, {"it": {"n": 3}})()
    assert caught.value.name == "Rejected"


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        ("set[int]", "no sets"),
        ("list", "does not say what it holds"),
        ("complex", "`complex` is no type"),
        ("Annotated[str, Field(ge=3)]", "for numbers"),
        ("Annotated[float, Field(gt=3)]", "leave out a bound"),
        ("Annotated[int, Field(max_length=3)]", "for texts"),
        ("Annotated[str, Field(pattern='^a|b$')]", "alternative"),
        ("Annotated[int, AfterValidator(abs)]", "a function says nothing"),
        ("Empty", "no fields"),
        ("Made", "made by a function"),
    ],
)
def test_an_annotation_that_is_no_type(tmp_path: Path, annotation: str, said: str) -> None:
    text = f"""
from dataclasses import dataclass, field
from typing import Annotated
from pydantic import AfterValidator, Field
import sglc

@dataclass
class Empty: pass

@dataclass
class Made:
    n: int = field(default_factory=lambda: 3)

@sglc.sgl_function
def ask(s, given: {annotation}):
    s += f"{{given}}" + s.gen("b", type=bool)
"""
    (found,) = found_in(python_module(tmp_path, text))
    assert found.code == "E0506" and said in found.message, render(found)


def test_a_pattern_is_searched_for_where_nothing_anchors_it(tmp_path: Path) -> None:
    from sglc.frontend.types.constraints import whole

    assert whole("^[a-z]+$") == "[a-z]+"
    assert whole(r"\A[a-z]+\Z") == "[a-z]+"
    assert whole("[a-z]") == r"[\s\S]*(?:[a-z])[\s\S]*"
    assert whole("^(?:a|b)$") == "(?:a|b)"
    assert whole(r"^a\$") == r"(?:a\$)[\s\S]*"


# -- names ---------------------------------------------------------------------------------------------


def test_constants_of_the_module_and_of_functions_around(tmp_path: Path) -> None:
    text = """
        import sglc

        LIMIT, WORDS, NESTED = 3, ["one", "two"], {"a": (1, 2.5)}

        def make(tone: str):
            @sglc.sgl_function
            def ask(s):
                s += f"{tone} {LIMIT} {WORDS} {NESTED} " + s.gen("b", type=bool)
            return ask

        kind, rude = make("kind"), make("rude")
    """
    module = python_module(tmp_path, text)
    assert 'kind 3 ["one", "two"] {"a": [1, 2.5]} ' in module.kind.run.__self__.stage("ir").replace(
        '\\"', '"'
    )
    assert "rude 3" in module.rude.stage("ir")


def test_classes_of_a_function_around(tmp_path: Path) -> None:
    from dataclasses import dataclass

    @dataclass
    class Local:
        n: int

    @sglc.fn
    def ask() -> Local:
        """| ${schema(Local)} ?{it: Local}
        return it"""

    assert scripted(ask, {"it": {"n": 3}})() == Local(3)


def test_a_helper_does_not_type_what_the_function_gives_back(tmp_path: Path) -> None:
    text = """
        import sglc

        @sglc.sgl_function(pure=True)
        def doubled(text) -> str:
            return text + text

        @sglc.sgl_function
        def ask(s):
            s += doubled("no") + s.gen("b", type=bool)
    """
    run = scripted(python_module(tmp_path, text).ask, {"b": "true"}).run()
    assert run.value is None and run.text.endswith("nonotrue")


def test_two_classes_of_one_name(tmp_path: Path) -> None:
    text = """
        from dataclasses import dataclass
        import sglc

        @dataclass
        class A:
            n: int

        First = A

        @dataclass
        class A:
            m: bool

        @sglc.sgl_function
        def ask(s) -> tuple[First, A]:
            s += f"{s.schema(First)} {s.schema(A)} " + s.gen("a", type=First) + " " + s.gen("b", type=A)
            return (s["a"], s["b"])
    """
    module = python_module(tmp_path, text)
    first, second = scripted(module.ask, {"a": {"n": 1}, "b": {"m": True}})()
    assert type(first) is module.First and type(second) is module.A


def test_a_hole_in_a_loop_is_a_list(tmp_path: Path) -> None:
    text = """
        import sglc

        @sglc.sgl_function
        def steps(s) -> tuple[list[str], str, str]:
            for i in range(1, 4):
                s += s.gen(f"step_{i}", stop="\\n", max_tokens=50) + "\\n"
                s += f"That was {s[f'step_{i}']}.\\n"
            last = 2
            return (s["step"], s["step_1"], s[f"step_{last}"])
    """
    steps = scripted(python_module(tmp_path, text).steps, {"step": ["a", "b", "c"]})
    run = steps.run()
    assert run.value == (["a", "b", "c"], "a", "b")
    assert run.text.endswith("a\nThat was a.\nb\nThat was b.\nc\nThat was c.")


def test_a_variable_gets_its_first_value_in_branches(tmp_path: Path) -> None:
    text = """
        import sglc

        @sglc.sgl_function
        def ask(s, n: int) -> str:
            if n > 3:
                size = "large"
            elif n > 1:
                size = "middle"
            else:
                size = "small"
            size = size.upper()
            s += f"{size} " + s.gen("b", type=bool)
            return size
    """
    ask = scripted(python_module(tmp_path, text).ask, {"b": "true"})
    assert [ask(n) for n in (5, 2, 0)] == ["LARGE", "MIDDLE", "SMALL"]


def test_a_variable_may_be_called_like_its_hole(tmp_path: Path) -> None:
    text = """
        import sglc

        @sglc.sgl_function
        def ask(s) -> tuple[int, int]:
            s += s.gen(f"age", type="int in 0..99")
            age = s["age"]
            years = s.gen("more", type="int in 0..99")
            return (age + 1, s["more"] + years)
    """
    assert scripted(python_module(tmp_path, text).ask, {"age": 3, "years": 4})() == (4, 8)


def test_text_is_written_as_python_would_join_it(tmp_path: Path) -> None:
    text = '''
        import sglc

        @sglc.sgl_function
        def texts(s, more: bool):
            s += "a" + "b\\n\\nc"
            if more:
                s += " d"
                x = 3
                s += f"{x}\\n"
            else:
                s += "\\ne"
            s += """f
        g {h}""" + "\\tend "
            s += s.gen("b", type=bool)
    '''
    function = scripted(python_module(tmp_path, text).texts, {"b": "true"})
    assert function.run(True).text == "ab\n\nc d3\nf\ng {h}\tend true"
    assert function.run(False).text == "ab\n\nc\nef\ng {h}\tend true"


# -- doors ---------------------------------------------------------------------------------------------

DOORS = """
    import sglc

    @sglc.sgl_function(within=100)
    def ask(s, word: str = "x") -> int:
        "Asks."
        s += s.user(f"Say {word}.")
        s += s.assistant(s.gen("n", type="int in 0..99"))
        return s["n"]
"""


def test_the_doors_to_what_there_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask = python_module(tmp_path, DOORS).ask
    ready = sglc.compile(ask, verbose=True, engine=ReferenceEngine(ScriptedModel({"n": 42})))
    shown = capsys.readouterr().out
    assert "fn ask(word: str) -> int within 100 tok" in shown and "GEN" in shown
    assert ready.ast.startswith("Module") or "Function fn ask" in ready.ast
    assert ready() == 42 and asyncio.run(ready.aio()) == 42
    assert str(ready.__signature__) == "(word: str = 'x') -> int"
    assert ready.__doc__ == "Asks." and ready.module.ask("y") == 42
    stream = ready.stream()
    assert "".join(piece.text for piece in stream if piece.kind != "text") and stream.value == 42
    ready.save(tmp_path / "ask.sglb")
    assert sglc.load(tmp_path / "ask.sglb", engine=ReferenceEngine(ScriptedModel({"n": 7}))).ask() == 7
    assert ready.cache_stats() is None or ready.cache_stats().hit_rate >= 0


def test_an_execution_keeps_what_happened(tmp_path: Path) -> None:
    ask = scripted(python_module(tmp_path, DOORS).ask, {"n": 42})
    plain = sglc.execute(ask, "y")
    assert (plain.value, plain["n"], plain.events, plain.tokens) == (42, 42, [], [])
    assert plain.text == ask.run("y").text and "Say y." in plain.text
    traced = sglc.execute(ask, trace=True)
    assert {"start", "role", "hole_start", "hole_end", "finish"} <= {event.kind for event in traced.events}
    profiled = sglc.execute(ask, profile_tokens=True)
    assert profiled.tokens and len(profiled.tokens[0].data["top"]) <= 5
    assert profiled.result.holes[0].pressure is not None
    with pytest.raises(KeyError):
        plain["nothing"]
    with pytest.raises(TypeError, match="no function under"):
        sglc.execute(print)  # type: ignore[arg-type]


def test_a_cell_of_a_notebook_has_source() -> None:
    import linecache

    text = "import sglc\n@sglc.sgl_function\ndef cell(s):\n    s += s.gen('b', type=bool)\n    del s\n"
    name = "<ipython-input-7-abc>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names: dict[str, Any] = {}
    exec(compile(text, name, "exec"), names)
    with pytest.raises(sglc.CompileError, match="ipython-input-7-abc>:5:5"):
        names["cell"].compile()


@pytest.mark.slow
def test_the_main_module_has_source(tmp_path: Path) -> None:
    path = tmp_path / "main.py"
    path.write_text(
        "import sglc\n\n@sglc.fn\ndef ask() -> bool:\n    '''| Good? ?{b: bool}\n    return b'''\n\n"
        "print(ask.types)\n",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, "-P", path], capture_output=True, text=True, check=True)
    assert "fn ask() -> bool" in done.stdout


def test_importing_and_decorating_loads_no_compiler() -> None:
    code = (
        "import sys, sglc\nassert not [m for m in sys.modules if m.startswith('sglc.')], sys.modules\n"
        "@sglc.fn\ndef f(): '''| x'''\n"
        "assert {'sglc.driver', 'sglc.api', 'sglc.check', 'numpy', 'pydantic'}.isdisjoint(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-P", "-c", code], check=True)
