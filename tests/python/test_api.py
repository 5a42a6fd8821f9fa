"""The Python interface: typed values in and out, calls from anywhere, streams, errors with reasons."""

from __future__ import annotations

import asyncio
import enum
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, is_dataclass
from decimal import Decimal
from typing import Any

import pytest

import sglc
from sglc.api import Module
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.model.scripted import ScriptedModel
from sglc.types.type import EnumType, FieldType, Int, Named, RecordType, Str, UnionType
from strategies.vm_programs import Assembler

TABLE = {
    "Post": EnumType("Post", ("pilot", "medic")),
    "Crew": RecordType(
        "Crew",
        (
            FieldType("name", Str(max_chars=20)),
            FieldType("post", Named("Post")),
            FieldType("age", Int(18, 70)),
            FieldType("note", Str(max_chars=20), optional=True),
        ),
        "One crew member.",
    ),
    "Shape": UnionType(
        "Shape", (RecordType("Dot", ()), RecordType("Square", (FieldType("side", Int(1, 9)),)))
    ),
}
REX = {"name": "Rex", "post": "medic", "age": 40}


def program() -> Assembler:
    built = Assembler(**TABLE)
    hole = built.hole("crew.member", Named("Crew"))
    built.code(
        "crew",
        [
            ("ROLE", "user"),
            ("LINE",),
            ("LOAD", "theme"),
            ("INSERT",),
            ("END_ROLE",),
            ("ROLE", "assistant"),
            ("LINE",),
            ("GEN", hole, 0),
            ("END_ROLE",),
            ("RETURN",),
        ],
        parameters={"theme": Str()},
        result=Named("Crew"),
        doc="Invents one crew member.",
    )
    for name, type in (("echo", Named("Crew")), ("shape", Named("Shape")), ("post", Named("Post"))):
        built.code(name, [("LOAD", "x"), ("RETURN",)], parameters={"x": type}, result=type)
    built.code("fails", [("CONSTANT", "x"), ("RAISE", "Rejected", 1)])
    return built


@pytest.fixture
def module() -> Iterator[Module]:
    engine = ReferenceEngine(ScriptedModel({"member": REX}))
    yield Module(program().program(), "none", engine=engine)
    engine.close()


def test_a_record_is_a_frozen_dataclass(module: Module) -> None:
    member = module.crew(theme="salvage")
    assert is_dataclass(member) and isinstance(member, module.Crew)
    assert (member.name, member.age, member.note) == ("Rex", 40, None)
    assert member.post is module.Post.medic and isinstance(member.post, enum.Enum)
    assert member == module.Crew("Rex", module.Post.medic, 40)
    with pytest.raises(FrozenInstanceError):
        member.age = 3
    assert module.Crew.__doc__ == "One crew member."


def test_arguments_may_be_objects_dicts_or_plain_values(module: Module) -> None:
    rex = module.Crew("Rex", module.Post.medic, 40)
    assert module.echo(rex) == module.echo(REX) == module.echo(x={**REX, "note": None}) == rex
    assert module.post("pilot") is module.post(module.Post.pilot) is module.Post.pilot
    square = module.Shape.Square(3)
    assert module.shape(square) == module.shape({"type": "Square", "side": 3}) == square
    assert isinstance(square, module.Shape)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.crew(), "needs the argument `theme`"),
        (lambda m: m.crew(thme="x"), "did you mean `theme`"),
        (lambda m: m.crew("a", "b"), "takes 1 arguments, not 2"),
        (lambda m: m.crew("a", theme="b"), "two values of `theme`"),
        (lambda m: m.echo({**REX, "age": 12}), "age"),
        (lambda m: m.post("cook"), "outside of its type"),
    ],
)
def test_wrong_arguments_are_type_errors(module: Module, call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call(module)


WRONG_CALLS = [
    lambda m: m.crew(),
    lambda m: m.crew(thme="x"),
    lambda m: m.crew("a", "b"),
    lambda m: m.crew("a", theme="b"),
    lambda m: m.crew("a", sed_=1),
    lambda m: m.crew(3),
    lambda m: m.echo(object()),
    lambda m: m.echo({**REX, "age": 12}),
    lambda m: m.post("cook"),
]


@pytest.mark.parametrize("call", WRONG_CALLS)
def test_wrong_arguments_are_told_in_words_of_the_call(module: Module, call: Any) -> None:
    with pytest.raises(TypeError) as caught:
        call(module)
    message = str(caught.value)
    assert "--" not in message and "command" not in message
    assert re.search(r"crew|echo|post", message), "it names the function"


def test_a_missing_argument_is_told_with_the_signature(module: Module) -> None:
    with pytest.raises(TypeError) as caught:
        module.crew()
    assert "pass theme=…" in str(caught.value) and "it is `crew(theme: str" in str(caught.value)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("seed_", "x"),
        ("seed_", None),
        ("seed_", 1.5),
        ("max_tokens_", 0),
        ("max_tokens_", "many"),
        ("timeout_", "5"),
        ("timeout_", float("nan")),
        ("priority_", "high"),
        ("priority_", None),
        ("trace_", "run.jsonl"),
        ("concurrency_", -1),
        ("concurrency_", "all"),
    ],
)
def test_a_wrong_option_is_a_type_error_of_its_call(module: Module, option: str, value: Any) -> None:
    with pytest.raises(TypeError, match=option):
        next(iter(module.functions.values()))(**{option: value})


def test_an_unknown_name_has_the_nearest_one(module: Module) -> None:
    with pytest.raises(AttributeError, match="did you mean `echo`"):
        _ = module.ecko


def test_a_function_has_a_signature_and_a_docstring(module: Module) -> None:
    assert str(module.crew.signature) == "(theme: str) -> sglc.programs.hand.Crew"
    assert inspect.signature(module.crew) == module.crew.signature
    assert module.crew.__doc__ == "Invents one crew member."
    assert "crew" in dir(module) and "Crew" in dir(module)


def test_errors_carry_name_code_and_place(module: Module) -> None:
    with pytest.raises(sglc.RunError, match="E0702") as caught:
        module.fails()
    assert caught.value.name == "Rejected"


def test_calls_work_inside_a_running_loop_and_from_many_threads(module: Module) -> None:
    async def inside() -> Any:
        plain = module.crew(theme="a")
        return plain, *await asyncio.gather(*(module.crew.aio(theme=str(i)) for i in range(20)))

    assert {member.name for member in asyncio.run(inside())} == {"Rex"}
    with ThreadPoolExecutor(8) as pool:
        assert {m.name for m in pool.map(lambda i: module.crew(theme=str(i)), range(20))} == {"Rex"}


def test_a_stream_gives_pieces_and_then_the_value(module: Module) -> None:
    stream = module.crew.stream(theme="salvage")
    pieces = list(stream)
    hole = [piece for piece in pieces if piece.hole and piece.text]
    assert "".join(piece.text for piece in hole if piece.kind in ("forced", "generated")) == (
        '{"name": "Rex", "post": "medic", "age": 40}'
    )
    assert {piece.kind for piece in hole} >= {"forced", "generated"}
    assert stream.value.name == "Rex"
    partials = [piece.partial for piece in hole]
    assert {"name": "Re"} in partials and {"name": "Rex"} in partials
    assert {"name": "Rex", "post": module.Post.medic} in partials
    assert partials[-1] == stream.value


def test_a_stream_ends_with_the_error_of_its_run(module: Module) -> None:
    with pytest.raises(sglc.RunError, match="Rejected"):
        list(module.fails.stream())


def test_results_have_statistics(module: Module) -> None:
    result = module.crew.run(theme="x", seed_=3, max_tokens_=200)
    assert result.statistics.forwards < result.statistics.output_tokens
    assert result.text.startswith("<|im_start|>user\nx<|im_end|>")


def test_decimals_stay_exact() -> None:
    built = Assembler()
    built.code("f", [("CONSTANT", Decimal("0.10")), ("RETURN",)], kind="pure")
    assert Module(built.program(), "none").f() == Decimal("0.10")


def test_importing_sglc_is_light() -> None:
    script = (
        "import sglc, sys; "
        "heavy = {'torch', 'numpy', 'lark', 'llvmlite', 'transformers'} & set(sys.modules); "
        "assert not heavy, heavy; assert sglc.__version__"
    )
    subprocess.run([sys.executable, "-P", "-c", script], check=True, timeout=60)


# -- the engine and its figures ------------------------------------------------------------------------


def test_modules_with_the_same_model_and_options_share_an_engine(tmp_path, monkeypatch):
    import sglc.runtime.engine.load
    from sglc.runtime.engine.reference_engine import ReferenceEngine
    from sglc.runtime.model.scripted import ScriptedModel

    asked = []

    def load_engine(name, **options):
        asked.append((name, options))
        return ReferenceEngine(ScriptedModel())

    monkeypatch.setattr(sglc.runtime.engine.load, "load_engine", load_engine)
    path = tmp_path / "p.sgl"
    path.write_text("fn f() -> int:\n    user: | x\n    assistant: | ?{n: int in 0..9}\n    return n\n")
    one = sglc.load(path, model="here", executor="torch", threads=2, kv_memory=1 << 20, kv_disk="kv")
    two = sglc.load(path, model="here", executor="torch", threads=2, kv_memory=1 << 20, kv_disk="kv")
    other = sglc.load(path, model="here", executor="torch", threads=1, draft="small")
    for module in (one, two, other):
        module.f()
    assert len(asked) == 2
    name, options = asked[0]
    assert (name, options["executor"], options["threads"], options["memory"]) == ("here", "torch", 2, 1 << 20)
    assert str(options["disk"]) == "kv" and options["draft"] is None and asked[1][1]["draft"] == "small"


def test_a_module_tells_what_its_runs_took(tmp_path):
    from fakes.fake_executor import FakeExecutor
    from fakes.small_models import small_tokenizer
    from sglc.runtime.engine.open import open_engine

    path = tmp_path / "p.sgl"
    path.write_text(
        "fn f(text: str) -> int:\n    system: | You count things, one after the other, and say how many.\n"
        "    user: | ${text}\n    assistant: | ?{n: int in 100..999}\n    return n\n"
    )
    executor = FakeExecutor(small_tokenizer())
    module = sglc.load(path, engine=open_engine(executor, memory=executor.block_bytes * 100))
    assert module.statistics()["process"]["runs"] == 0
    for text in ("a", "b", "c"):
        module.f(text)
    stats = module.cache_stats()
    assert stats is not None and 0.3 < stats.hit_rate < 1
    assert [owner.tokens_reused for owner in stats.owners.values()] == [stats.tokens_reused]
    found = module.statistics()
    assert found["holes"]["f.n"]["fillings"] == found["process"]["runs"] == 3
    assert found["cache"]["tokens_reused"] == stats.tokens_reused
    assert 'sglc_runs_total{function="f",outcome="ok"} 3.0' in module.metrics()


def test_spans_hang_below_the_span_of_the_caller(tmp_path):
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from sglc.runtime.engine.reference_engine import ReferenceEngine
    from sglc.runtime.model.scripted import ScriptedModel

    path = tmp_path / "p.sgl"
    path.write_text("fn f() -> int:\n    user: | x\n    assistant: | ?{n: int in 0..9}\n    return n\n")
    memory, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    module = sglc.load(path, engine=ReferenceEngine(ScriptedModel()), spans=sglc.Spans(provider))
    tracer = provider.get_tracer("test")
    with tracer.start_as_current_span("caller") as caller:
        module.f()
    run = next(span for span in memory.get_finished_spans() if span.name == "run f")
    assert run.parent.span_id == caller.get_span_context().span_id
