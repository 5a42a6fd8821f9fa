"""What a run on models elsewhere guarantees is told, and held against what is required, before it asks."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import sglc
from backends.fake_backend import FakeBackend
from command_line import Cli
from command_line import cli as cli
from sglc.driver import compile_source
from sglc.project.models import ModelSettings
from sglc.runtime.backends.exchange import Query
from sglc.runtime.backends.filling import filler, opening
from sglc.runtime.backends.filling.remote_model import RemoteModel
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.errors import SglError
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.session import Session
from sglc.source import Source
from sglc.targets.projection import levels
from sglc.targets.projection.core.capabilities import Capabilities
from sglc.targets.projection.core.enforcement import Projection
from sglc.targets.projection.project import project

SCHEMA = Capabilities(frozenset({"json_schema"}), "openai")
GRAMMAR = Capabilities(frozenset({"gbnf"}), scores=True)
NOTHING = Capabilities()
PROGRAM = """pub fn f() -> int:
    user: | q
    assistant: | ?{a: int in 1..9}
    return a

pub fn counts() -> int:
    user: | q
    assistant: | ?{c: {str max 3 chars: int in 0..9; ..3}}
    return len(c)

pub fn both() -> int:
    return f() + counts()

pub fn pick() -> str:
    user: | q
    assistant: | ?{way: select ["up", "down"] by sum}
    return way.top

pub fn careful() -> str:
    try:
        return pick()
    except Unsupported:
        return "nowhere"
"""


def answer(query: Query) -> str:
    """Of what is asked as a schema an object around 7; of what is shown as one an empty map."""
    if query.enforced is None:
        return "{}"
    return '{"value": 7}' if query.enforced.reading == "wrapped" else "7"


def session(
    text: str, able: Capabilities, models: Mapping[str, Any] | None = None, **more: Any
) -> tuple[Session, FakeBackend]:
    program = compile_source(Source("p.sgl", text)).program
    assert program is not None
    backend = FakeBackend(answer, able, name="fake:weak")
    return Session(program, RemoteModel(backend), models=models, **more), backend


def test_a_function_is_judged_by_the_holes_that_it_may_come_to() -> None:
    at, _ = session(PROGRAM, SCHEMA)
    assert at.guarantees is not None
    found = {name: at.guarantees.levels(at.function(name)) for name in ("f", "counts", "both")}
    shown = {name: [(each.name, each.level, each.model) for each in levels] for name, levels in found.items()}
    assert shown["f"] == [("f.a", "value", "fake:weak")]
    assert shown["both"] == [("f.a", "value", "fake:weak"), ("counts.c", "asked", "fake:weak")]


def test_a_hole_that_cannot_be_filled_ends_the_run_before_anything_is_asked() -> None:
    at, backend = session(PROGRAM, SCHEMA)
    with pytest.raises(SglError) as caught:
        asyncio.run(at.run("pick"))
    assert caught.value.name == "Unsupported" and "--select=choose" in caught.value.hint
    assert "`pick.way` needs the scores of options, and fake:weak cannot do that" in caught.value.message
    assert not backend.asked
    assert asyncio.run(at.run("f")).value == 7
    backend.answers = lambda query: '{"value": "down"}'
    assert asyncio.run(at.run("pick", select="choose")).value == "down"


def test_a_program_that_handles_it_is_begun() -> None:
    at, backend = session(PROGRAM, SCHEMA)
    assert asyncio.run(at.run("careful")).value == "nowhere" and not backend.asked
    at, _ = session(PROGRAM.replace("    except Unsupported:", "    except:"), SCHEMA)
    with pytest.raises(SglError, match="cannot do that"):
        asyncio.run(at.run("careful"))


@pytest.mark.parametrize(
    ("hole", "able", "options", "refused"),
    [
        ("?{x: line max 9 chars temp 1.0 decode exact}", GRAMMAR, {}, True),
        ("?{x: line max 9 chars temp 1.0 decode exact}", GRAMMAR, {"local": True}, False),
        ("?{x: line max 9 chars temp 0.5 top_p 0.9}", GRAMMAR, {}, True),
        ("?{x: line max 9 chars temp 0.5}", GRAMMAR, {}, False),
        ('?{x: select ["a", "b"] by greedy}', SCHEMA, {}, True),
        ('?{x: select ["a", "b"] by contrast}', SCHEMA, {"unscored": True}, True),
        ('?{x: select ["a", "b"] by mean}', SCHEMA, {"unscored": True}, False),
        ('?{x: select ["a", "b"] by contrast}', GRAMMAR, {}, False),
        ('?{x: choose ["a", "b"]}', SCHEMA, {}, False),
    ],
)
def test_what_is_refused(hole: str, able: Capabilities, options: dict[str, bool], refused: bool) -> None:
    at, _ = session(f'pub fn f() -> str:\n    user: | q\n    assistant: | {hole}\n    return ""\n', able)
    assert at.guarantees is not None
    code = at.function("f")
    assert bool(at.guarantees.refused(code, **options)) is refused
    assert [each.level == "refused" for each in at.guarantees.levels(code, **options)] == [refused]


CHAIN = """pub fn f() -> str using first or second:
    user: | q
    assistant: | ?{c: {str max 3 chars: int in 0..9; ..3}}
    assistant: | ?{way: select ["up", "down"] by sum}
    return way.top
"""


def chained(first: Any, second: Any) -> list[tuple[str, str, str]]:
    at, _ = session(CHAIN, GRAMMAR, {"first": first, "second": second})
    assert at.guarantees is not None
    levels = at.guarantees.levels(at.function("f"))
    assert not at.guarantees.refused(at.function("f")) or levels[1].level == "refused"
    return [(each.level, each.model, "; ".join(loss.construct for loss in each.lost)) for each in levels]


def test_of_a_chain_the_weakest_counts() -> None:
    strong = RemoteModel(FakeBackend([], GRAMMAR, name="fake:strong"))
    weak = RemoteModel(FakeBackend([], NOTHING, name="fake:asked"))
    keys = "keys that occur once"
    assert chained(strong, strong) == [("wider", "fake:strong", keys), ("exact", "fake:strong", "")]
    for models in ((strong, weak), (weak, strong)):
        counts, way = chained(*models)
        assert counts == ("asked", "fake:asked", "what an answer may be")
        assert way == ("exact", "fake:strong", "the scores of options at fake:asked")
    assert chained(weak, weak)[1] == ("refused", "fake:asked", "the scores of options")
    engine = ReferenceEngine(ScriptedModel(["x"]))
    try:
        assert chained(weak, engine)[1] == ("exact", "", "the scores of options at fake:asked")
    finally:
        engine.close()


def test_what_is_not_taken_of_how_a_hole_is_drawn_is_told() -> None:
    able = Capabilities(frozenset({"gbnf"}), temperature=False)
    at, _ = session(
        "pub fn f() -> int:\n    user: | q\n    assistant: | ?{a: int in 1..9 temp 0.7} ?{b: int in 1..9}\n"
        "    return a + b\n",
        able,
    )
    assert at.guarantees is not None
    levels = at.guarantees.levels(at.function("f"))
    assert [each.level for each in levels] == ["exact", "exact"]
    assert [[loss.construct for loss in each.sampling] for each in levels] == [
        ["`temp`"],
        ["drawing the most probable tokens"],
    ]


# -- commands and Python ------------------------------------------------------------------------------


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def open_backend(name: str, settings: ModelSettings) -> FakeBackend:
        able = GRAMMAR if name.startswith("vllm") else SCHEMA
        return FakeBackend(answer, able, name=name)

    monkeypatch.setattr(opening, "open_backend", open_backend)
    path = tmp_path / "p.sgl"
    path.write_text(PROGRAM.partition("pub fn pick")[0])
    return path


def test_a_run_says_in_a_line_what_is_not_guaranteed(cli: Cli, program: Path) -> None:
    code, out, err = cli("run", program, "both", "--model", "openai:x")
    assert (code, out) == (0, "7\n")
    (line,) = err.splitlines()
    assert line.startswith("less than `value` is guaranteed of counts.c (asked: what an answer may be → any")
    assert line.endswith("repaired where it is wrong. --verbose shows all")
    assert cli("run", program, "f", "--model", "openai:x") == (0, "7\n", "")
    assert json.loads(cli("run", program, "both", "--model", "openai:x", "--stats=json")[2])


def test_verbose_shows_the_table_that_check_shows(cli: Cli, program: Path) -> None:
    _, _, err = cli("run", program, "both", "--model", "openai:x", "--verbose")
    table = err.partition("7")[0].splitlines()
    assert table[0].startswith("f.a       value") and table[1].startswith("counts.c  asked")
    code, checked, _ = cli("check", program, "--model", "chat:http://h/v1#x")
    assert code == 0 and checked.splitlines() == table[: len(checked.splitlines())]


@pytest.mark.parametrize("rows", [False, True])
def test_less_than_is_required_refuses_the_run(cli: Cli, program: Path, rows: bool, tmp_path: Path) -> None:
    more: tuple[Any, ...] = ()
    if rows:
        (tmp_path / "rows.jsonl").write_text("{}\n{}\n")
        more = ("--data", tmp_path / "rows.jsonl", "--out", tmp_path / "out.jsonl")
    code, out, err = cli("run", program, "both", "--model", "openai:x", "--require", "value", *more)
    assert (code, out) == (1, "") and err.count("E0827") == 1
    assert "hole counts.c is `asked` at openai:x, and `value` is required" in err
    assert cli("run", program, "f", "--model", "openai:x", "--require", "value")[0] == 0
    if not rows:
        code, out, _ = cli("run", program, "both", "--model", "openai:x", "--require", "value", "--json")
        assert code == 1 and json.loads(out)["diagnostics"][0]["code"] == "E0827"


def test_a_model_of_this_machine_keeps_every_requirement(cli: Cli, program: Path, tmp_path: Path) -> None:
    script = tmp_path / "s.json"
    script.write_text('{"f.a": "3"}')
    call = ("run", program, "f", "--model", f"scripted:{script}", "--require", "exact")
    assert cli(*call) == (0, "3\n", "")


def test_a_chain_of_a_project_counts_by_its_weakest(cli: Cli, program: Path) -> None:
    (program.parent / "sgl.toml").write_text(
        '[models.main]\nuse = "vllm:http://h"\nfallback = ["openai:x"]\n'
    )
    code, _, err = cli("run", program, "f", "--require", "value")
    assert code == 1 and "is `asked` at vllm:http://h" in err  # a grammar here, a schema there: neither
    (program.parent / "sgl.toml").write_text('[models.main]\nuse = "vllm:http://h"\n')
    assert cli("run", program, "f", "--require", "exact")[0] == 0


def test_python_requires_levels_when_it_loads(program: Path) -> None:
    with pytest.raises(sglc.CompileError) as caught:
        sglc.load(program, "chat:http://h/v1#x", require="value")
    assert [each.code for each in caught.value.diagnostics] == ["E0827"]
    assert sglc.load(program, "chat:http://h/v1#x", require="asked").f() == 7
    with pytest.raises(ValueError, match="`require` is one of exact, value, wider, asked"):
        sglc.load(program, require="good")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="E0731"):
        sglc.load(program, "opnai:x", require="value")


def test_python_logs_once_what_is_not_guaranteed(program: Path, caplog: pytest.LogCaptureFixture) -> None:
    module = sglc.load(program, "openai:logged")
    with caplog.at_level(logging.WARNING, "sglc"):
        assert (module.f(), module.both(), module.both()) == (7, 7, 7)
    (record,) = caplog.records
    assert record.name == "sglc" and "counts.c (asked:" in record.getMessage()


def test_how_a_hole_is_asked_for_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str] = []

    def counted(*given: Any, **named: Any) -> Projection:
        found.append(named["place"])
        return project(*given, **named)

    monkeypatch.setattr(levels, "project", counted)
    monkeypatch.setattr(filler, "project", counted)
    at, backend = session(PROGRAM, SCHEMA)
    assert at.guarantees is not None
    assert [each.level for each in at.guarantees.levels(at.function("f"))] == ["value"]
    assert asyncio.run(at.run("f")).value == 7 and len(backend.asked) == 1
    assert found == ["hole f.a"]
