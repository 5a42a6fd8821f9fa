"""`examples/support`: a cheap model, a stronger one, a budget, and tests that run on a recording.

The recording was made at a stand-in for OpenAI's service, whose answers are the ones below.
`pytest --update-golden` records it anew where the prompts have changed.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backends.in_process import InProcess, StubReply
from backends.stub_model import StubModel
from backends.stub_servers import StubOpenAI
from checkout import EXAMPLES
from command_line import Cli
from command_line import cli as cli
from sglc.runtime.backends.recording import wiring
from sglc.runtime.backends.recording.traffic import read_traffic

HOME = EXAMPLES / "support"
TRAFFIC = HOME / "tickets.traffic"
ANSWERS = {
    ("first", "parcel"): ("delivery", "high", True, "The customer has waited three weeks for a parcel."),
    ("first", "kettle"): ("returns", "normal", False, "A kettle came without its lid, and was paid twice."),
    ("again", "kettle"): ("billing", "high", True, "The customer has paid twice; a lid is missing as well."),
    ("first", "pan"): ("other", "low", True, "The customer asks how to clean a pan."),
}


def service(body: Any) -> str:
    """What the stand-in answers: in a spelling of its own, as services do."""
    said = json.dumps(body["messages"])
    reader = "again" if "colleague" in said else "first"
    word = next(each for _, each in ANSWERS if each in said)
    names = ("queue", "urgency", "sure", "summary")
    return json.dumps(dict(zip(names, ANSWERS[reader, word], strict=True)), indent=1)


def network(
    monkeypatch: pytest.MonkeyPatch, faults: Callable[[Any], StubReply | None] = lambda body: None
) -> InProcess:
    """The stand-in in the place of the network."""

    def app(path: str, body: Any, request: Any) -> StubReply:
        stub = StubOpenAI(StubModel())
        stub.model.write = lambda constraint: service(body)  # type: ignore[method-assign]
        return faults(body) or stub.answer(path, body)

    transport = InProcess(app)
    monkeypatch.setattr(wiring, "network", lambda: transport)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-stand-in")
    return transport


def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(wiring, "network", lambda: pytest.fail("a replay opened the network"))


def test_its_tests_run_on_the_recording(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    call = ("test", HOME / "tickets.sgl", "--tag", "model")
    if request.config.getoption("--update-golden"):
        network(monkeypatch)
        TRAFFIC.unlink(missing_ok=True)
        assert cli(*call, "--record", TRAFFIC)[0] == 0
    offline(monkeypatch)
    code, out, err = cli(*call, "--replay", TRAFFIC)
    assert code == 0, out + err
    assert len(read_traffic(TRAFFIC)) == 3 and "sk-" not in TRAFFIC.read_text()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(HOME, tmp_path / "support")
    return tmp_path / "support"


def desks(cli: Cli, copy: Path, *more: Any) -> list[tuple[str, str]]:
    """The queue and the urgency of each ticket, in the order of the rows."""
    out = copy / "filed.jsonl"
    out.unlink(missing_ok=True)
    code, said, err = cli("run", copy / "tickets.sgl", "--data", copy / "tickets.jsonl", "--out", out, *more)
    assert code == 0, said + err
    rows = sorted(map(json.loads, out.read_text().splitlines()), key=lambda row: int(row["row"]))
    return [(row["value"]["queue"], row["value"]["urgency"]) for row in rows]


FILED = [("delivery", "high"), ("billing", "high"), ("other", "low")]


def test_rows_are_filed_and_filed_again_offline(
    cli: Cli, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = network(monkeypatch)
    assert desks(cli, copy, "--record", copy / "run.traffic", "--require", "value") == FILED
    asked = [body["model"] for body in sent.bodies]
    assert sorted(asked) == ["gpt-4.1", *["gpt-4.1-mini"] * 3]
    assert all("response_format" in body for body in sent.bodies)
    offline(monkeypatch)
    assert desks(cli, copy, "--replay", copy / "run.traffic") == FILED


def test_where_the_stronger_model_fails_its_fallback_reads(
    cli: Cli, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    down = StubReply(b'{"error": {"message": "no such model", "type": "x"}}', 404)
    sent = network(monkeypatch, lambda body: down if body["model"] == "gpt-4.1" else None)
    assert desks(cli, copy, "--record", copy / "run.traffic") == FILED
    assert [body["model"] for body in sent.bodies].count("gpt-4o") == 1


def test_where_the_money_is_spent_a_person_reads(
    cli: Cli, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = copy / "sgl.toml"
    settings.write_text(settings.read_text().replace("cost = 2.0", "cost = 0.000001"))
    sent = network(monkeypatch)
    assert desks(cli, copy, "--record", copy / "run.traffic") == [("other", "normal")] * 3
    assert not sent.bodies
