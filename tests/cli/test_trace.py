"""Traces: what is written, that every line is whole, and that each event of the page exists."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import re
from dataclasses import replace
from pathlib import Path

from checkout import DOCS, ROOT
from command_line import Cli
from sglc.bytecode.code import Program, source_digests
from sglc.driver import compile_source
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.session import Session
from sglc.runtime.vm.state.trace import VERSION, Event, TraceWriter
from sglc.source import Source
from sglc.types.type import Int
from strategies.vm_programs import fork_program, hole_program, retry_program

PAGE = DOCS / "trace.md"


def traced(program: Program, answers: object) -> list[dict[str, object]]:
    file = io.StringIO()
    engine = ReferenceEngine(ScriptedModel(answers))  # type: ignore[arg-type]
    try:
        asyncio.run(Session(program, engine).run("f", {}, trace=TraceWriter(file)))
    finally:
        engine.close()
    lines = file.getvalue().splitlines()
    assert file.getvalue().endswith("\n")
    return [json.loads(line) for line in lines]


def test_a_trace_tells_the_run() -> None:
    rows = traced(hole_program(Int(10, 12)).program(), ["12"])
    assert all(row.pop("v") == VERSION for row in rows)
    times = [row.pop("t") for row in rows]
    assert times == sorted(times) and times[0] == 0  # type: ignore[type-var]
    kinds = [row["event"] for row in rows]
    assert kinds == ["start", "role", "hole_start", "forced", "token", "hole_end", "finish"]
    assert rows[3] == {"event": "forced", "hole": "f.x", "text": "1", "span": "hand.sgl:3:1"}
    token = rows[4]
    assert (token["token"], token["text"], token["mask"]) == (ord("2"), "2", 3)
    assert rows[5]["text"] == "12" and rows[5]["ended"] == "complete"
    assert rows[5]["reused"] == 0 and rows[5]["queue"] >= 0  # type: ignore[operator]


def test_the_start_has_digests_by_which_files_are_known_again() -> None:
    text = "fn f(a: int) -> int:\n    user: | ${a}\n    assistant: | ?{n: int in 1..9}\n    return n\n"
    wanted = hashlib.sha256(text.encode()).hexdigest()
    for written in (text, "\ufeff" + text, text.replace("\n", "\r\n")):
        program = compile_source(Source("/home/me/a.sgl", written)).program
        assert program is not None and source_digests(program) == {"a.sgl": wanted}
    program = hole_program(Int(10, 12)).program()
    program = replace(program, files=("a.sgl", "b.sgl", "c.sgl"), sources=("one", "", "two"))
    start = traced(program, ["12"])[0]
    assert start["sources"] == {
        n: hashlib.sha256(t).hexdigest() for n, t in {"a.sgl": b"one", "c.sgl": b"two"}.items()
    }
    assert "sources" not in traced(replace(program, sources=()), ["12"])[0]


def test_branches_are_told_apart() -> None:
    rows = traced(fork_program().program(), ["one", "two", "three"])
    pieces: dict[object, str] = {}
    for row in rows:
        if row["event"] == "token":
            pieces[row["branch"]] = pieces.get(row["branch"], "") + str(row["text"])
    assert pieces == {"0": "one", "1": "two", "2": "three"}
    assert [row["index"] for row in rows if row["event"] == "adopt"] == [0]


def test_a_retry_names_what_was_rejected_and_why() -> None:
    rows = traced(retry_program("repair", 2).program(), ["3", "8"])
    [retry] = [row for row in rows if row["event"] == "retry"]
    assert (retry["rejected"], retry["reason"], retry["strategy"]) == ("3", "too small", "repair")


def test_a_piece_of_a_character_is_written_as_its_byte() -> None:
    event = Event("token", {"text": b"\xc3".decode("utf-8", "backslashreplace")})
    assert json.loads(event.line())["text"] == "\\xc3"


def test_the_page_names_every_event_and_no_other() -> None:
    rows = [line.split("|")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    documented = set(re.findall(r"`([a-z_]+)`", " ".join(rows)))
    room = ROOT / "runtime"
    sources = "".join(p.read_text() for p in [*room.glob("vm/**/*.py"), room / "session.py"])
    sources += (room / "repair" / "loop.py").read_text()
    emitted = set(re.findall(r'(?:emit|_tell)\(\s*"([a-z_]+)"', sources))
    assert documented == (emitted | {"forced"}) - {"generated"}


def test_the_end_of_a_hole_has_its_seconds() -> None:
    file = io.StringIO()
    write = TraceWriter(file)
    write(Event("hole_start", {"hole": "f.x"}, "0", time=1_000_000_000))
    write(Event("hole_start", {"hole": "f.x"}, "1", time=2_000_000_000))
    write(Event("hole_end", {"hole": "f.x"}, "0", time=3_500_000_000))
    write(Event("hole_end", {"hole": "f.x"}, "2", time=9_000_000_000))
    rows = [json.loads(line) for line in file.getvalue().splitlines()]
    assert rows[2]["seconds"] == 2.5 and "seconds" not in rows[3]
    assert [row["t"] for row in rows] == [0, 1, 2.5, 8]


def test_the_most_probable_tokens_need_a_trace(good: Path, script: str, cli: Cli) -> None:
    code, _, err = cli("run", good, "--arg", "text=x", "--model", script, "--trace-top", "3")
    assert code == 2 and "--trace-top belongs to --trace" in err
    trace = good.parent / "trace.jsonl"
    code, _, _ = cli("run", good, "--arg", "text=x", "--model", script, "--trace", trace, "--trace-top", "3")
    rows = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    tops = [row["top"] for row in rows if row["event"] == "token"]
    assert code == 0 and tops and all(len(top) == 3 for top in tops)
    assert {type(flag) for top in tops for _, _, flag in top} == {bool}


def test_inserted_text_is_told_apart_from_literal_text(good: Path, script: str, cli: Cli) -> None:
    trace = good.parent / "trace.jsonl"
    code, _, _ = cli("run", good, "--arg", "text=Hello.", "--model", script, "--trace", trace)
    rows = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    texts = [(row["text"], row.get("inserted", False)) for row in rows if row["event"] == "text"]
    assert code == 0
    assert texts == [("How does the writer feel? ", False), ("Hello.", True), (" ", False), ("1", True)]


PARTS = """
part greet():
    | Hello.

fn ask():
    user: | What?

fn main():
    user:
        part greet()
    ask()
"""


def test_calls_of_parts_are_told_apart(tmp_path: Path, cli: Cli) -> None:
    program, trace = tmp_path / "parts.sgl", tmp_path / "run.jsonl"
    program.write_text(PARTS)
    code, _, told = cli("run", program, "main", "-O0", "--trace", trace)
    assert code == 0, told
    rows = [json.loads(line) for line in trace.read_text().splitlines()]
    calls = [(row["function"], row.get("part", False)) for row in rows if row["event"] == "call"]
    assert calls == [("greet", True), ("ask", False)]
