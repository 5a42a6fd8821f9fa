"""`sglc serve --ui`: the page without a key, and what the server tells of itself to those that have one."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.request import urlopen

import pytest

from serving.server import Server, serving
from sglc.runtime.backends.filling.remote_model import RemoteModel
from sglc.runtime.serve.access import Access, Key, digest_of
from sglc.runtime.serve.faces import Served
from sglc.runtime.serve.options import ServeLimits
from sglc.runtime.serve.ui.assets import assets
from sglc.runtime.serve.ui.face import UiFace
from sglc.runtime.serve.ui.state import state_of

PROGRAM = """
pub fn pick(text: str) -> "calm" | "cross":
    user: | ${text}
    assistant: | It is ?{mood: "calm" | "cross"}.
    return mood
"""
KEYS = (Key("ada", digest_of("A"), "one"), Key("bob", digest_of("B"), "two"))


def with_key(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def test_the_page_and_its_policy() -> None:
    with serving(PROGRAM, faces=[UiFace]) as server:
        lead = server.ask("GET", "/ui")
        assert lead.status == 308 and lead.headers["location"] == "/ui/"
        for name in ("", *assets()):
            reply = server.ask("GET", f"/ui/{name}")
            assert reply.status == 200 and reply.body == assets()[name or "index.html"]
            policy = reply.headers["content-security-policy"]
            assert "default-src 'none'" in policy and "script-src 'self'" in policy
            assert "unsafe" not in policy and "frame-ancestors 'none'" in policy
            assert reply.headers["x-content-type-options"] == "nosniff"
        for path in ("/ui/nothing.js", "/ui/../pyproject.toml", "/ui/%2e%2e/face.py", "/ui/static/main.js"):
            assert server.ask("GET", path).status == 404
        assert server.ask("POST", "/ui/").status == 405


def test_without_it_there_is_no_page() -> None:
    with serving(PROGRAM) as server:
        assert server.ask("GET", "/ui/").status == server.ask("GET", "/v1/state").status == 404


def test_the_page_needs_no_key_and_what_it_shows_does() -> None:
    with serving(PROGRAM, access=Access(KEYS), faces=[UiFace]) as server:
        assert server.ask("GET", "/ui/").status == server.ask("GET", "/ui/main.js").status == 200
        for path in ("/v1/state", "/openapi.json", "/uix", "/ui2/main.js", "/UI/"):
            assert server.ask("GET", path).status == 401
        assert server.ask("GET", "/v1/state", headers=with_key("A")).status == 200


def test_a_key_sees_its_own_runs_and_others_as_one() -> None:
    with serving(PROGRAM, ["calm"], access=Access(KEYS), faces=[UiFace], running=1, pace=0.4) as server:
        ada_calls, bob_calls = (
            threading.Thread(target=server.call, args=("pick", with_key(key)), kwargs={"text": "x"})
            for key in "AB"
        )
        ada_calls.start()
        server.until(lambda: server.runs.admission.running == 1)
        bob_calls.start()
        server.until(lambda: server.runs.admission.waiting == 1)
        ada, bob = (server.ask("GET", "/v1/state", headers=with_key(key)).data for key in "AB")
        ada_calls.join()
        bob_calls.join()
        after = server.ask("GET", "/v1/state", headers=with_key("A")).data
    assert [(run["function"], run["state"]) for run in ada["runs"]] == [("pick", "running")]
    assert [(run["function"], run["state"]) for run in bob["runs"]] == [("pick", "waiting")]
    assert ada["tenants"] == [
        {"name": "one", "running": 1, "waiting": 0},
        {"name": "(others)", "running": 0, "waiting": 1},
    ]
    assert {"name": "two", "running": 0, "waiting": 1} in bob["tenants"] and "one" not in str(bob)
    assert (ada["running"], ada["waiting"], ada["most_running"]) == (1, 1, 1)
    assert after["running"] == 0 and after["tokens"] > 0
    assert after["models"][0]["where"] == "this machine"


def test_events_tell_when_and_what_it_took() -> None:
    with serving(PROGRAM, ["calm"], faces=[UiFace]) as server:
        told = events(server)
    times = [data["t"] for name, data in told if name not in ("partial", "value")]
    assert times[0] == 0 and times == sorted(times)
    [end] = [data for name, data in told if name == "hole_end"]
    assert end["reused"] >= 0 and end["queue"] >= 0


def events(server: Server) -> list[tuple[str, dict[str, object]]]:
    sent = {"accept": "text/event-stream"}
    found = server.call("pick", sent, text="x", options={"tokens": True}).events
    return [(name, data) for _, name, data in found]


@dataclass
class Breaking:
    """As much of a backend as its state tells of."""

    name: str = "openai:gpt"
    endpoint: str = "https://api.example"

    def breakers(self) -> dict[str, tuple[str, float]]:
        return {self.endpoint: ("open", 4.5)}


def test_breakers_of_models_elsewhere() -> None:
    with serving(PROGRAM) as server:
        remote = RemoteModel(Breaking())  # type: ignore[arg-type]
        state = state_of(Served(server.table, server.runs, Access(), (remote,)), Key(""))
    assert state["models"] == [
        {
            "name": "openai:gpt",
            "where": "elsewhere",
            "breakers": [{"endpoint": "https://api.example", "state": "open", "pause": 4.5}],
        }
    ]


def test_engines_of_workers_are_told_as_those_of_this_process() -> None:
    """The name of each model once, and the memory of each engine, with its worker."""
    engine = {"model": "m", "free": 3, "cached": 2, "held": 1, "evictions": 0, "programs": []}
    told = [{**engine, "worker": 0}, {**engine, "worker": 1}, {"model": "scripted", "worker": 1}]

    async def workers() -> list[dict[str, object]]:
        return told

    def face(served: Served) -> UiFace:
        return UiFace(replace(served, models=(), workers=workers))

    with serving(PROGRAM, faces=[face]) as server:
        state = server.ask("GET", "/v1/state").data
    assert state["models"] == [
        {"name": "m", "where": "2 workers", "breakers": []},
        {"name": "scripted", "where": "1 worker", "breakers": []},
    ]
    assert state["memory"] == told[:2]


def test_breakers_of_a_real_chain() -> None:
    from sglc.runtime.backends.exchange import BreakingBackend
    from sglc.runtime.backends.policy.accounts import Accounts
    from sglc.runtime.backends.policy.clock import LoopClock
    from sglc.runtime.backends.policy.guarded import guarded
    from sglc.runtime.backends.policy.settings import Policy

    chain = guarded([Breaking()], Policy(), LoopClock(), Accounts())  # type: ignore[list-item]
    assert isinstance(chain, BreakingBackend)
    assert chain.breakers() == {"https://api.example": ("closed", 0.0)}


@pytest.mark.parametrize("draining", [False, True])
def test_a_server_that_ends_says_so(draining: bool) -> None:
    with serving(PROGRAM, faces=[UiFace], limits=ServeLimits(grace=0.0)) as server:
        if draining:
            asyncio.run_coroutine_threadsafe(server.runs.drain(0), server.loop).result(10)
        assert server.ask("GET", "/v1/state").data["draining"] is draining


@pytest.mark.slow
def test_the_command_gives_out_the_page(tmp_path: Path) -> None:
    program, script = tmp_path / "pick.sgl", tmp_path / "script.json"
    program.write_text(PROGRAM)
    script.write_text('{"pick.mood": "calm"}')
    command = [
        sys.executable,
        "-m",
        "sglc",
        "serve",
        program,
        "--ui",
        "--port",
        "0",
        f"--model=scripted:{script}",
    ]
    process = subprocess.Popen([*map(str, command)], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        told = "".join(process.stderr.readline() for _ in range(4))
        found = re.search(r"GET (http://127\.0\.0\.1:\d+/ui/)", told)
        assert found is not None, told
        with urlopen(found[1], timeout=30) as reply:
            assert reply.read() == assets()["index.html"]
        with urlopen(found[1].replace("/ui/", "/v1/state"), timeout=30) as reply:
            assert b'"scripted' in reply.read()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.communicate()
