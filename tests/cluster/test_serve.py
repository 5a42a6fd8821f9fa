"""`sglc serve --workers`: typed calls, events, cancelling and faults pass through to other processes."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from clustering.served_workers import Served, serving, until
from command_line import Cli, cli
from command_line_files import SLOW, write

__all__ = ["cli"]
starlette = pytest.importorskip("starlette")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks into /proc"),
]

PROGRAM = (
    """\
enum Mood: calm, furious

error Wrong(by: decimal, mood: Mood)

pub fn feel(text: str) -> Mood raises Wrong:
    user: | ${text}
    assistant: | ?{mood: Mood}
    if text == "odd":
        raise Wrong(0.1, mood)
    return mood

pub fn double(n: decimal) -> decimal:
    return n * 2

"""
    + "pub "
    + SLOW.replace("slow()", "slow(n: int)").replace("2000", "n")
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    program = write(folder / "p.sgl", PROGRAM)
    script = write(folder / "s.json", '{"feel.mood": "furious"}')
    with serving(program, "--model", f"scripted:{script}", "--ui") as server:
        yield server


def test_the_state_tells_of_the_models_of_workers(served: Served) -> None:
    status, found = served.ask("GET", "/v1/state")
    state = json.loads(found)
    assert status == 200 and state["memory"] == []  # the scripted model has none
    [model] = state["models"]
    assert model["name"].startswith("scripted:") and model["where"] == "2 workers" and not model["breakers"]


def test_values_and_errors_are_typed(served: Served) -> None:
    assert len(served.workers) == 2
    status, found = served.call("feel", text="Hello")
    assert (status, found["value"]) == (200, "furious") and found["usage"]["output_tokens"] > 0
    status, found = served.call("feel", text="odd")
    assert status == 422
    assert (found["name"], found["code"], found["fields"]) == (
        "Wrong",
        "E0711",
        {"by": 0.1, "mood": "furious"},
    )
    status, text = served.ask("POST", "/v1/functions/double", {"arguments": {"n": 12345678901234567890}})
    assert status == 200 and b'"value": 24691357802469135780' in text
    status, found = served.call("feel", txt="Hello")
    assert (status, found["code"]) == (400, "E0714")


def test_events_are_told(served: Served) -> None:
    body = {"arguments": {"text": "Hello"}, "options": {"tokens": True}}
    status, found = served.ask("POST", "/v1/functions/feel", body, accept="text/event-stream")
    names = re.findall(r"^event: (\w+)$", found.decode(), re.MULTILINE)
    assert status == 200 and names[0] == "start" and names[-1] == "value"
    assert {"role", "hole_start", "token", "generated", "hole_end", "finish"} <= set(names)
    assert '"value": "furious"' in found.decode()


def test_a_function_is_a_model_and_so_is_the_model_itself(served: Served) -> None:
    asked = {"model": "sgl/feel", "messages": [{"role": "user", "content": "Hello"}]}
    status, found = served.ask("POST", "/v1/chat/completions", asked)
    assert status == 200 and json.loads(found)["choices"][0]["message"]["content"] == "furious"
    names = [each["id"] for each in json.loads(served.ask("GET", "/v1/models")[1])["data"]]
    assert names == ["scripted:s.json", "sgl/feel"]
    choice = {"structured_outputs": {"choice": ["red"]}, "model": names[0]}
    status, found = served.ask("POST", "/v1/chat/completions", {**asked, **choice})
    assert status == 200 and json.loads(found)["choices"][0]["message"]["content"] == "red"
    figures = served.ask("GET", "/metrics")[1].decode()
    assert re.search(r'^sglc_\w+\{[^}]*function="openai\.chat"[^}]*worker="\d"', figures, re.MULTILINE)


def test_a_call_that_is_cancelled_ends_in_its_worker(served: Served) -> None:
    body = {"arguments": {"n": 5000}, "options": {"keep": 60}}
    status, found = served.ask("POST", "/v1/functions/slow", body, prefer="respond-async")
    assert status == 202
    run = json.loads(found)["id"]
    until(lambda: not at_rest(served.workers))
    served.ask("DELETE", f"/v1/runs/{run}")
    until(lambda: json.loads(served.ask("GET", f"/v1/runs/{run}")[1]).get("name") == "Cancelled")
    until(lambda: at_rest(served.workers))


def ticks(process: int) -> int:
    """Processor time in hundredths of a second."""
    text = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return int(text[11]) + int(text[12])


def at_rest(processes: list[int]) -> bool:
    """Whether they compute next to nothing for half a second."""
    before = sum(map(ticks, processes))
    time.sleep(0.5)
    return sum(map(ticks, processes)) - before < 15


def test_a_call_whose_worker_dies_is_answered_by_another(served: Served) -> None:
    body = {"arguments": {"n": 300}, "options": {"keep": 60}}
    _status, found = served.ask("POST", "/v1/functions/slow", body, prefer="respond-async")
    run = json.loads(found)["id"]
    workers = served.workers
    time.sleep(0.3)
    busy = max(workers, key=ticks)
    os.kill(busy, signal.SIGKILL)

    def ended() -> bool:
        return "value" in json.loads(served.ask("GET", f"/v1/runs/{run}")[1])

    until(ended, 60.0)
    until(lambda: len(served.workers) == 2 and busy not in served.workers)
    assert served.call("feel", text="Hello")[0] == 200


def test_workers_outlive_a_signal_to_end_that_is_sent_to_all_processes(served: Served) -> None:
    workers = served.workers
    for each in workers:
        os.kill(each, signal.SIGTERM)
    assert served.call("feel", text="Hello")[0] == 200
    assert served.workers == workers


@pytest.mark.parametrize("workers", [(), ("--workers", "2")])
def test_a_model_elsewhere_is_not_served_alone(cli: Cli, workers: tuple[str, ...]) -> None:
    code, _, err = cli("serve", "--model", "openai:gpt-5", "--port", "0", *workers)
    assert code == 1 and "E0828" in err and "openai:gpt-5 cannot be served without a program" in err


def test_what_cannot_be_served_by_workers_is_told(cli: Cli, tmp_path: Path) -> None:
    program = write(tmp_path / "p.sgl", PROGRAM)
    code, _, err = cli("serve", str(program), "--model", "openai:gpt-5", "--port", "0", "--workers", "2")
    assert code == 1 and "E0840" in err and "workers cannot ask openai:gpt-5" in err
    code, _, err = cli("serve", "--model", str(tmp_path / "none"), "--port", "0", "--workers", "2")
    assert code == 1 and "E0807" in err
