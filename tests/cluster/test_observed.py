"""`sglc serve --workers`: metrics of the workers at the front, and spans over both processes."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from clustering.served_workers import Served, serving, until
from command_line_files import write
from oracles.prometheus_text import samples

for package in ("starlette", "prometheus_client", "opentelemetry.sdk"):
    pytest.importorskip(package)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks into /proc"),
]

PROGRAM = """\
enum Mood: calm, furious

extern py "spans:current" fn current() -> str effects read

error Wrong(mood: Mood)

pub fn feel(text: str) -> Mood raises Wrong:
    user: | ${text}
    assistant: | ?{mood: Mood}
    if text == "odd":
        raise Wrong(mood)
    return mood

pub fn current_span() -> str:
    return current()

pub fn long(theme: str) -> str:
    assistant: | ?{text: str max 4000 chars}
    return text
"""
PYTHON = """\
from opentelemetry import trace

def current() -> str:
    context = trace.get_current_span().get_span_context()
    return f"{context.trace_id:032x} {context.span_id:016x}"
"""
TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PARENT = f"00-{TRACE}-{CALLER}-01"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Path]]:
    folder = tmp_path_factory.mktemp("observed")
    program = write(folder / "p.sgl", PROGRAM)
    write(folder / "spans.py", PYTHON)
    script = write(folder / "s.json", json.dumps({"feel.mood": "furious", "long.text": "a" * 3000}))
    spans = folder / "spans.jsonl"
    with serving(program, "--model", f"scripted:{script}", "--spans", str(spans)) as server:
        yield server, spans


def metrics(server: Served) -> dict[str, float]:
    status, found = server.ask("GET", "/metrics")
    assert status == 200
    return samples(found.decode())


def whole(found: Mapping[str, float], name: str, label: str) -> float:
    """The sum over the workers."""
    return sum(value for key, value in found.items() if key.startswith(f"{name}{{") and label in key)


def spans(path: Path, number: int) -> list[dict[str, Any]]:
    """The spans in a file, once there are so many."""

    def read() -> list[dict[str, Any]]:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    until(lambda: len(read()) >= number)
    return read()


def test_metrics_of_all_workers_never_fall(served: tuple[Served, Path]) -> None:
    server, _ = served
    for n in range(12):
        assert server.call("feel", text=f"Hello {n}")[0] == 200
    assert server.call("feel", text="odd")[0] == 422
    before = metrics(server)
    assert whole(before, "sglc_calls_total", "function=feel,") == 13
    assert whole(before, "sglc_runs_total", "function=feel,outcome=ok") == 12
    assert whole(before, "sglc_runs_total", "outcome=Wrong") == 1
    assert whole(before, "sglc_run_seconds_count", "function=feel") == 13
    assert whole(before, "sglc_run_seconds_bucket", "le=+Inf") == 13
    assert whole(before, "sglc_hole_fillings_total", "hole=mood") == 13
    assert {key for key in before if key.startswith("sglc_engine_forwards_total")} == {
        "sglc_engine_forwards_total{worker=0}",
        "sglc_engine_forwards_total{worker=1}",
    }
    assert before["sglc_workers{state=ready}"] == 2 and before["sglc_worker_deaths_total{}"] == 0
    workers = server.workers
    os.kill(workers[0], signal.SIGKILL)
    until(lambda: metrics(server)["sglc_workers{state=ready}"] == 2 and server.workers != workers)
    between = metrics(server)
    counters = [
        key for key in before if key.partition("{")[0].endswith(("_total", "_bucket", "_sum", "_count"))
    ]
    assert all(between[key] >= before[key] for key in counters)
    assert between["sglc_worker_deaths_total{}"] == 1
    for n in range(5):
        assert server.call("feel", text=f"Again {n}")[0] == 200
    after = metrics(server)
    assert whole(after, "sglc_calls_total", "function=feel,") == 18
    assert whole(after, "sglc_run_seconds_count", "function=feel") == 18
    assert all(after[key] >= between[key] for key in counters)


def test_spans_of_a_worker_are_below_the_one_of_the_request(served: tuple[Served, Path]) -> None:
    server, path = served
    there = len(path.read_text(encoding="utf-8").splitlines())
    body = {"arguments": {"text": "Hello"}}
    assert server.ask("POST", "/v1/functions/feel", body, traceparent=PARENT)[0] == 200
    found = spans(path, there + 3)[there:]
    by_name = {each["name"].split(" scripted")[0]: each for each in found}
    call, run, hole = by_name["dispatch feel"], by_name["run feel"], by_name["chat"]
    assert {each["context"]["trace_id"] for each in found} == {f"0x{TRACE}"}
    assert call["parent_id"] == f"0x{CALLER}"
    assert run["parent_id"] == call["context"]["span_id"]
    assert hole["parent_id"] == run["context"]["span_id"]
    assert run["attributes"]["sglc.worker"] in ("0", "1")
    assert call["start_time"] <= run["start_time"] <= hole["start_time"]
    assert hole["end_time"] <= run["end_time"] <= call["end_time"]
    assert server.call("feel", text="odd")[0] == 422
    call, run = (spans(path, there + 6)[-at] for at in (1, 2))
    assert call["attributes"]["error.type"] == run["attributes"]["error.type"] == "Wrong"
    assert call["parent_id"] is None and run["parent_id"] == call["context"]["span_id"]


def test_python_in_a_worker_sees_the_span_of_its_call(served: tuple[Served, Path]) -> None:
    server, path = served
    there = len(path.read_text(encoding="utf-8").splitlines())
    status, text = server.ask("POST", "/v1/functions/current_span", {}, traceparent=PARENT)
    assert status == 200
    trace, span = json.loads(text)["value"].split()
    call = next(each for each in spans(path, there + 2) if each["name"] == "dispatch current_span")
    assert (trace, f"0x{span}") == (TRACE, call["context"]["span_id"])


def test_a_run_whose_worker_dies_has_a_span_that_says_so(served: tuple[Served, Path]) -> None:
    server, path = served
    there = len(path.read_text(encoding="utf-8").splitlines())
    body = {"arguments": {"theme": "x"}, "options": {"keep": 60}}
    status, text = server.ask("POST", "/v1/functions/long", body, prefer="respond-async", traceparent=PARENT)
    assert status == 202
    run = json.loads(text)["id"]

    def busy() -> str:
        found = metrics(server)
        return next((key for key, n in found.items() if "state=running" in key and n), "")

    until(lambda: bool(busy()))
    place = busy().partition("worker=")[2].rstrip("}")
    until(lambda: metrics(server).get(f"sglc_running_runs{{worker={place}}}") == 1)
    for each in server.workers:  # whichever it is; the call may go to the other one first
        os.kill(each, signal.SIGKILL)
    until(lambda: "value" in json.loads(server.ask("GET", f"/v1/runs/{run}")[1]), 60.0)
    found = [each for each in spans(path, there + 5)[there:] if "long" in each["name"]]
    runs = [each for each in found if each["name"] == "run long"]
    (call,) = [each for each in found if each["name"] == "dispatch long"]
    assert [each["attributes"].get("error.type") for each in runs] == ["Died", None]
    assert {each["parent_id"] for each in runs} == {call["context"]["span_id"]}
    assert len(call["events"]) >= 2 and {each["name"] for each in call["events"]} == {"placed"}
