"""A server whose programs and keys change while it serves."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from sglc.runtime.serve.access import new_key

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there is no SIGHUP here")
FIRST = "pub pure fn twice(n: int) -> int:\n    return n * 2\n"
THRICE = "pub pure fn thrice(n: int) -> int:\n    return n * 3\n"
ASKS = """\
pub fn ask(n: int) -> "calm" | "furious":
    assistant: | ?{mood: "calm" | "furious"}
    return mood
"""


class Serving:
    """`sglc serve` as a process: its address, and the lines that it says."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        found = re.search(r" at (http://127\.0\.0\.1:\d+)", self.says("serving "))
        assert found is not None
        self.address = found[1]

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._lines.put(line)

    def says(self, what: str) -> str:
        """The next line that has these words."""
        said, end = "", time.monotonic() + 30
        while time.monotonic() < end:
            with contextlib.suppress(queue.Empty):
                said += (line := self._lines.get(timeout=0.2))
                if what in line:
                    return line
        raise AssertionError(f"it never said {what!r}, but {said}")

    def call(self, name: str, key: str = "") -> object:
        """The value of a function of 7, or the status of what went wrong."""
        head = {"content-type": "application/json", "authorization": f"Bearer {key}"}
        body = json.dumps({"arguments": {"n": 7}}).encode()
        try:
            with urlopen(Request(f"{self.address}/v1/functions/{name}", body, head), timeout=30) as reply:
                return json.load(reply)["value"]
        except HTTPError as error:
            return error.code

    def get(self, path: str) -> str:
        with urlopen(self.address + path, timeout=30) as reply:
            return reply.read().decode()


@contextmanager
def serving(*arguments: object) -> Iterator[Serving]:
    command = [sys.executable, "-m", "sglc", "serve", "--port", "0", *map(str, arguments)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        yield Serving(process)
    finally:
        process.kill()
        process.communicate()


def write(path: Path, text: str) -> None:
    """As editors do: a new file takes the place of the old one."""
    other = path.with_suffix(".new")
    other.write_text(text, encoding="utf-8")
    os.replace(other, path)


@pytest.mark.slow
def test_programs_are_taken_over_when_they_change(tmp_path: Path) -> None:
    path = tmp_path / "served.sgl"
    write(path, FIRST)
    with serving(path, "--reload") as server:
        server.says("files are watched")
        assert (server.call("twice"), server.call("thrice")) == (14, 404)
        write(path, FIRST + THRICE)
        server.says("programs changed: 2 functions")
        assert (server.call("twice"), server.call("thrice")) == (14, 21)
        assert "/v1/functions/thrice" in server.get("/openapi.json")
        write(path, FIRST + THRICE.replace("n * 3", "m * 3"))
        server.says("E0201")
        server.says("those from before are served")
        assert server.call("thrice") == 21
        write(path, THRICE.replace("n * 3", "n * 30"))
        server.says("programs changed: 1 function")
        assert (server.call("twice"), server.call("thrice")) == (404, 210)


def test_modules_of_a_program_are_watched(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "sgl.toml").write_text("")
    write(tmp_path / "below" / "parts.sgl", "pub pure fn factor() -> int:\n    return 2\n")
    path = tmp_path / "served.sgl"
    write(path, "use ./below/parts (factor)\n\npub pure fn times(n: int) -> int:\n    return n * factor()\n")
    with serving(path, "--reload") as server:
        server.says("files are watched")
        assert server.call("times") == 14
        write(tmp_path / "below" / "parts.sgl", "pub pure fn factor() -> int:\n    return 5\n")
        server.says("programs changed")
        assert server.call("times") == 35


def test_a_signal_takes_programs_and_keys_over_once(tmp_path: Path) -> None:
    path, keys = tmp_path / "served.sgl", tmp_path / "keys.toml"
    write(path, FIRST)
    old, new = new_key(), new_key()
    write(keys, f'[keys.one]\ndigest = "{old[1]}"\n')
    with serving(path, "--keys", keys) as server:
        assert (server.call("twice", old[0]), server.call("twice", new[0])) == (14, 401)
        write(keys, f'[keys.two]\ndigest = "{new[1]}"\n')
        server.process.send_signal(signal.SIGHUP)
        server.says("keys changed: 1 key")
        assert (server.call("twice", old[0]), server.call("twice", new[0])) == (401, 14)
        write(keys, "nothing")
        server.process.send_signal(signal.SIGHUP)
        server.says("E0829")
        assert server.call("twice", new[0]) == 14
        write(path, THRICE)
        write(keys, f'[keys.two]\ndigest = "{new[1]}"\n')
        server.process.send_signal(signal.SIGHUP)
        server.says("programs changed: 1 function")
        assert server.call("thrice", new[0]) == 21


@pytest.mark.slow
def test_a_program_that_asks_for_a_new_model_is_not_taken_over(tmp_path: Path) -> None:
    path, script = tmp_path / "served.sgl", tmp_path / "script.json"
    script.write_text('{"ask.mood": "calm"}')
    write(path, FIRST)
    with serving(path, "--model", f"scripted:{script}", "--reload") as server:
        server.says("files are watched")
        write(path, FIRST + ASKS)
        server.says("E0828")
        assert server.call("twice") == 14
