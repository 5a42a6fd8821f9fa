"""`choose` and `select` at models elsewhere, with scores and without."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from backends.fake_backend import FakeBackend
from command_line import Cli
from command_line import cli as cli
from sglc.driver import compile_source
from sglc.runtime.backends.exchange import Message
from sglc.runtime.backends.filling import opening
from sglc.runtime.backends.filling.remote_model import RemoteModel
from sglc.runtime.errors import SglError
from sglc.runtime.results import RunResult
from sglc.runtime.session import Session
from sglc.runtime.vm.state.trace import Event
from sglc.source import Source
from sglc.targets.projection.core.capabilities import Capabilities

SELECT = """pub fn f() -> [str]:
    user: | q
    assistant: | Way: ?{way: select ["upwards", "down", "left"] by sum}
    return [way.top, "${way.p("down") > 0.9}"]
"""
CHOOSE = """pub fn f() -> str:
    user: | q
    assistant: | ?{way: choose ["upwards", "down", "left"]}
    return way
"""
TOLD = """pub fn f() -> [str]:
    user: | q
    assistant: | ?{way: choose ["upwards", "down", "left"]}
    return [way, "${way.p("down") > 0.9}"]
"""
SCORES = Capabilities(scores=True, continues=True)


def run(text: str, backend: FakeBackend, **options: Any) -> tuple[RunResult, list[Event]]:
    program = compile_source(Source("p.sgl", text)).program
    assert program is not None
    events: list[Event] = []
    session = Session(program, RemoteModel(backend))
    return asyncio.run(session.run("f", {}, on_event=events.append, **options)), events


def refused(text: str, backend: FakeBackend, **options: Any) -> SglError:
    with pytest.raises(SglError) as caught:
        run(text, backend, **options)
    assert caught.value.name == "Unsupported" and not backend.asked
    return caught.value


@pytest.mark.parametrize("by", ["sum", "mean", "greedy", "contrast"])
def test_a_backend_that_scores_selects(by: str) -> None:
    backend = FakeBackend([], SCORES)
    result, events = run(SELECT.replace("by sum", f"by {by}"), backend)
    assert result.value[0] in ("down", "left", "upwards") and not backend.asked
    query, texts = backend.scored[0]
    assert (query.messages, query.begun) == ((Message("user", "q"),), "Way: ")
    assert texts == ("upwards", "down", "left")
    end = next(event.data for event in events if event.kind == "hole_end")
    assert end["reproducible"] is False and sum(end["scores"].values()) == pytest.approx(1, abs=1e-3)


def test_the_best_score_is_taken() -> None:
    assert run(SELECT, FakeBackend([], SCORES))[0].value == ["down", "false"]
    chosen, _ = run(CHOOSE, FakeBackend([], SCORES))
    assert chosen.value == "down" and chosen.holes[0].answered_by == "fake:model"
    scores = chosen.holes[0].scores
    assert scores is not None and scores["down"] == pytest.approx(8 / 17)


def test_without_scores_a_choice_is_one_of_the_options() -> None:
    backend = FakeBackend(["sideways", "left"], Capabilities(notations=frozenset({"choice"})))
    assert run(CHOOSE, backend)[0].value == "left"
    enforced = backend.asked[0].enforced
    assert enforced is not None and enforced.options == ("down", "left", "upwards")
    shown = FakeBackend(["left"])
    assert run(CHOOSE, shown)[0].value == "left" and '"upwards"' in shown.asked[0].messages[-1].text


def test_what_a_retry_rejected_is_no_option_any_more() -> None:
    text = CHOOSE.replace(
        "    return", '    ensure way != "down" else "not down"\n        retry 2 resample\n    return'
    )
    backend = FakeBackend(["down", "left"], Capabilities(notations=frozenset({"choice"})))
    assert run(text, backend)[0].value == "left"
    options = [query.enforced.options for query in backend.asked if query.enforced is not None]
    assert options == [("down", "left", "upwards"), ("left", "upwards")]
    shown = FakeBackend(["down", "down", "left"])
    assert run(text, shown)[0].value == "left"
    assert "only `left` or `upwards` may stand" in shown.asked[2].messages[-1].text
    assert '"down"' not in shown.asked[2].messages[0].text


def test_without_scores_a_select_must_be_allowed() -> None:
    error = refused(SELECT, FakeBackend([]))
    assert "--select=choose" in error.hint
    result, events = run(SELECT, FakeBackend(["down"]), select="choose")
    assert result.value == ["down", "true"] and result.text.count("Way: down") == 1
    assert result.statistics.remote.requests == 1
    assert [event.text for event in events if event.kind == "generated"] == ["down"]
    error = refused(SELECT.replace("by sum", "by contrast"), FakeBackend([]), select="choose")
    assert "contrast" in error.message


def test_scores_that_a_program_reads_must_be_allowed_too() -> None:
    assert "--select=choose" in refused(TOLD, FakeBackend([])).hint
    assert run(TOLD, FakeBackend(["down"]), select="choose")[0].value == ["down", "true"]
    assert run(TOLD, FakeBackend([], SCORES))[0].value == ["down", "false"]


def test_the_command_allows_it(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "open_backend", lambda name, settings: FakeBackend(lambda query: "left"))
    (tmp_path / "p.sgl").write_text(SELECT)
    code, _, err = cli("run", tmp_path / "p.sgl", "--model", "openai:x")
    assert code == 1 and "E0705" in err and "--select=choose" in err
    code, out, _ = cli("run", tmp_path / "p.sgl", "--model", "openai:x", "--select=choose")
    assert (code, out) == (0, '["left", "false"]\n')
