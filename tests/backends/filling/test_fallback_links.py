"""`fallback` of a project: models of this machine and elsewhere in one chain, as `using a or b` has them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sglc
from backends.fake_backend import FakeBackend
from command_line import Cli
from command_line import cli as cli
from sglc.driver import compile_source
from sglc.project.file import project_of
from sglc.project.models import ModelSettings
from sglc.runtime.backends.exchange import BackendFault
from sglc.runtime.backends.filling import opening
from sglc.runtime.backends.filling.opening import links_of
from sglc.runtime.backends.filling.remote_model import RemoteModel
from sglc.runtime.engine.core.errors import StepFailed
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.model.scripted import ScriptedCache, ScriptedModel
from sglc.runtime.session import Session
from sglc.runtime.vm.state.trace import Event
from sglc.source import Source

PROGRAM = """pub fn f() -> str:
    user: | q
    assistant:
        | ?{a: line max 9 chars}
        | ?{way: choose ["up", "down"]}
    return "${a} ${way}"
"""
NAMED = (
    PROGRAM
    + """
pub fn named() -> str using fast:
    user: | q
    assistant: | ?{b: line max 9 chars}
    return b
"""
)
DOWN = BackendFault("access", "the key is refused", endpoint="http://h")


@pytest.fixture
def backends(monkeypatch: pytest.MonkeyPatch) -> dict[str, FakeBackend]:
    """Those that were opened, by name. One whose name ends in `down` fails."""
    found: dict[str, FakeBackend] = {}

    def open_backend(name: str, settings: ModelSettings) -> FakeBackend:
        fails = name.endswith("down")
        found[name] = FakeBackend(
            lambda query: DOWN if fails else ("up" if "up" in query.messages[-1].text else "far"), name=name
        )
        return found[name]

    monkeypatch.setattr(opening, "open_backend", open_backend)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p.sgl").write_text(PROGRAM)
    (tmp_path / "s.json").write_text('{"f.a": "near", "f.way": "down", "named.b": "by"}')
    return tmp_path


def project(folder: Path, text: str) -> Path:
    """The program in a project; it names `fast` where the project does."""
    if "models.fast" in text:
        (folder / "p.sgl").write_text(NAMED)
    (folder / "sgl.toml").write_text(text)
    return folder / "p.sgl"


def test_a_model_of_this_machine_stands_behind_one_elsewhere(
    cli: Cli, folder: Path, backends: dict[str, FakeBackend]
) -> None:
    path = project(folder, '[models.main]\nuse = "openai:down"\nfallback = ["scripted:s.json"]\n')
    trace = folder / "t.jsonl"
    code, out, err = cli("run", path, "f", "--json", "--trace", trace)
    assert code == 0, err
    assert json.loads(out)["value"] == "near down"
    events = [json.loads(line) for line in trace.read_text().splitlines()]
    asked = [each["model"] for each in events if each["event"] == "hole_start"]
    assert asked[0] == "main" and asked[1].endswith(" behind main") and asked == [asked[0], asked[1]] * 2
    failed = [each for each in events if each["event"] == "fallback"]
    assert {(each["model"], each["name"]) for each in failed} == {("main", "Backend")}
    assert backends["openai:down"].closed


class Broken(ScriptedModel):
    """A scripted model that computes nothing."""

    def forward(self, cache: ScriptedCache, tokens: Sequence[int], every: bool = False) -> np.ndarray:
        raise StepFailed("the card is gone")


def test_a_model_elsewhere_stands_behind_one_of_this_machine() -> None:
    program = compile_source(Source("p.sgl", PROGRAM)).program
    assert program is not None
    backend = FakeBackend(lambda query: "up" if "up" in query.messages[-1].text else "far")
    engine = ReferenceEngine(Broken([]))
    events: list[Event] = []
    try:
        session = Session(program, engine, fallbacks={"main": [RemoteModel(backend)]})
        assert asyncio.run(session.run("f", {}, on_event=events.append)).value == "far up"
    finally:
        engine.close()
    asked = [event.data["model"] for event in events if event.kind == "hole_start"]
    assert asked == ["main", "fake:model behind main"] * 2
    assert session.guarantees is not None
    levels = session.guarantees.levels(session.function("f"))
    assert [(each.level, each.model) for each in levels] == [("asked", "fake:model")] * 2


def test_all_links_are_asked_in_their_order(cli: Cli, folder: Path, backends: dict[str, FakeBackend]) -> None:
    text = (
        '[models.main]\nuse = "scripted:s.json"\n[models.fast]\nuse = "openai:a-down"\n'
        'fallback = ["openai:b-down", "./s.json", "vllm:http://h", "openai:a-down"]\n'
    )
    found, faults = project_of(project(folder, text))
    assert not faults
    links = links_of("openai:a-down", found.settings.values())
    assert [(tuple(each.use for each in link.models), link.elsewhere, link.followed) for link in links] == [
        (("openai:a-down", "openai:b-down"), True, True),
        ((str(folder / "s.json"),), False, True),
        (("vllm:http://h",), True, False),
    ]
    path = project(folder, text.replace("./s.json", "scripted:s.json"))
    code, out, err = cli("run", path, "named")
    assert (code, out) == (0, '"by"\n'), err
    assert [len(backends[f"openai:{each}-down"].asked) for each in "ab"] == [1, 1]
    assert not backends["vllm:http://h"].asked and backends["vllm:http://h"].closed


def test_the_error_of_the_last_link_is_the_run_s(
    cli: Cli, folder: Path, backends: dict[str, FakeBackend]
) -> None:
    text = '[models.main]\nuse = "openai:down"\nfallback = ["vllm:http://down"]\n'
    code, _, err = cli("run", project(folder, text), "f")
    assert code == 1 and "E0707" in err and "the key is refused" in err


def test_python_has_the_same_chain(folder: Path, backends: dict[str, FakeBackend]) -> None:
    path = project(
        folder,
        '[models.main]\nuse = "openai:py-down"\nfallback = ["scripted:s.json"]\n'
        '[models.fast]\nuse = "openai:py-up"\n',
    )
    module = sglc.load(path)
    result = module.f.run()
    assert result.value == "near down" and module.named() == "far"
    statistics: dict[str, Any] = module.statistics()
    assert any(name.endswith("behind main") for name in statistics["models"])


def test_a_fallback_that_is_not_there_is_told(cli: Cli, folder: Path, backends: Any) -> None:
    path = project(folder, '[models.main]\nuse = "openai:up"\nfallback = ["models/none.gguf"]\n')
    code, _, err = cli("run", path, "f")
    assert code == 1 and "E0807" in err and "none.gguf" in err
    assert not backends["openai:up"].asked
