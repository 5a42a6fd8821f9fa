"""The prompt of `sglc debug --plain`, and the adapter as a process of its own."""

from __future__ import annotations

import json
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from command_line_files import hear_interrupts
from debugging.scripts import PROGRAMS
from golden_case import GoldenCase, golden_cases

SGLC = [sys.executable, "-P", "-m", "sglc"]


def prompt(program: str, script: str, *options: str, function: str = "") -> tuple[int, str, str]:
    """What a session at the prompt prints."""
    words = [function] if function else []
    if program == "notes":
        words = ["--arg", "topic=tea"]
    done = subprocess.run(
        [
            *SGLC,
            "debug",
            f"{program}.sgl",
            *words,
            "--model",
            f"scripted:{program}.json",
            "--plain",
            *options,
        ],
        input=script,
        capture_output=True,
        text=True,
        cwd=PROGRAMS,
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("case", golden_cases("debug_prompt"), ids=str)
def test_a_session_at_the_prompt(case: GoldenCase, golden: Callable[[GoldenCase, str], None]) -> None:
    head, script = case.input.split("\n", 1)
    program, *more = shlex.split(head.removeprefix("program "))
    function = more.pop(0) if more and not more[0].startswith("--") else ""
    code, out, err = prompt(program, script + "\n", *more, function=function)
    golden(case, f"{out}{err}".rstrip() + f"\nexit {code}")


@pytest.mark.slow
def test_wrong_places_are_said_before_anything_runs() -> None:
    code, out, err = prompt("notes", "", "--break", "hole nothing")
    assert code == 1 and not out and "there is no hole `nothing`" in err
    code, _, err = prompt("notes", "", "--stop", "improbable 7")
    assert code == 1 and "a number from 0 to 1" in err


# -- the adapter -------------------------------------------------------------------------------------


def send(file: IO[bytes], number: int, command: str, **arguments: object) -> None:
    body = json.dumps({"seq": number, "type": "request", "command": command, "arguments": arguments}).encode()
    file.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    file.flush()


def read(file: IO[bytes]) -> dict[str, Any]:
    header = file.readline()
    assert header.startswith(b"Content-Length: "), header
    assert file.readline() == b"\r\n"
    found: dict[str, Any] = json.loads(file.read(int(header.split(b":")[1])))
    return found


def read_until(file: IO[bytes], kind: str) -> dict[str, Any]:
    """The next event, or the response to a command, of a name."""
    while True:
        found = read(file)
        if kind in (found.get("event"), found.get("command")):
            return found


def to_a_stop(reading: IO[bytes], writing: IO[bytes], **more: object) -> None:
    """Launch a program and go to its first hole."""
    send(writing, 1, "initialize", adapterID="sgl")
    assert read_until(reading, "initialize")["success"]
    model = f"scripted:{PROGRAMS / 'notes.json'}"
    program = str(PROGRAMS / "notes.sgl")
    send(writing, 2, "launch", program=program, args={"topic": "tea"}, model=model, stopOnEntry=True, **more)
    read_until(reading, "initialized")
    send(writing, 3, "configurationDone")
    assert read_until(reading, "stopped")["body"]["reason"] == "entry"


@pytest.mark.slow
def test_at_stdin_and_stdout_only_messages_are_written() -> None:
    with subprocess.Popen(
        [*SGLC, "debug", "--dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        to_a_stop(process.stdout, process.stdin)
        send(process.stdin, 4, "continue", threadId=1)
        read_until(process.stdout, "terminated")
        send(process.stdin, 5, "disconnect")
        assert read_until(process.stdout, "disconnect")["success"]
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait(60) == 0


@contextmanager
def ends_in_time(process: subprocess.Popen[Any], seconds: float = 60.0) -> Iterator[None]:
    """Kill a process that has not ended when the time is over, so that nothing waits for it for ever."""
    late = threading.Timer(seconds, process.kill)
    late.start()
    try:
        yield
    finally:
        late.cancel()


@contextmanager
def listening() -> Iterator[tuple[int, str]]:
    """An adapter at a port, and its key."""
    command = [*SGLC, "debug", "--dap-port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=hear_interrupts
    ) as process:
        try:
            assert process.stdout is not None
            found = re.search(rb"127\.0\.0\.1:(\d+)", process.stdout.readline())
            key = process.stdout.readline().decode().removeprefix("key ").strip()
            assert found is not None and len(key) >= 32
            yield int(found.group(1)), key
            assert process.poll() is None
        finally:
            process.send_signal(signal.SIGINT)
            with ends_in_time(process):
                process.wait()


@pytest.mark.slow
def test_clients_at_a_port_have_their_turns() -> None:
    with listening() as (port, key):
        with socket.create_connection(("127.0.0.1", port), 60) as first:
            file = first.makefile("rwb")
            to_a_stop(file, file, key=key)
            # leaves without a word, in the middle of a run
        with socket.create_connection(("127.0.0.1", port), 60) as second:
            file = second.makefile("rwb")
            to_a_stop(file, file, key=key)
            send(file, 4, "disconnect")
            assert read_until(file, "disconnect")["success"]
            assert file.read() == b""


ENDLESS = """\
fn main() -> int:
    var n = 0
    while n >= 0 limit 900_000_000:
        n = n + 1
    return n
"""


@pytest.mark.slow
def test_ctrl_c_pauses_a_run(tmp_path: Path) -> None:
    path = tmp_path / "endless.sgl"
    path.write_text(ENDLESS, encoding="utf-8")
    command = [*SGLC, "debug", str(path), "--plain", "--model", f"scripted:{PROGRAMS / 'empty.json'}"]
    with (
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=hear_interrupts,
        ) as process,
        ends_in_time(process),
    ):
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write("b 3 log begun\nc\n")
        process.stdin.flush()
        while "1: begun" not in (line := process.stdout.readline()):
            assert line, "it has ended"
        process.send_signal(signal.SIGINT)
        while "paused" not in (line := process.stdout.readline()):
            assert line, "it has ended"
        process.stdin.write("p n >= 0\nq\n")
        process.stdin.close()
        assert "bool = true" in process.stdout.read()
