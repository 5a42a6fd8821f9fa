"""Peers of the load benchmark: started, measured and ended as a whole, with what they have started."""

from __future__ import annotations

import argparse
import importlib
import shlex
import socket
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from checkout import BENCHMARKS

PEER = """
import http.server, pathlib, subprocess, sys, time
port, place, health = int(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
child = subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); "
                          "print('deaf', flush=True); time.sleep(600)"], stdout=subprocess.PIPE)
child.stdout.readline()
place.write_text(str(child.pid))
begun = time.monotonic()

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        ready = self.path == health and time.monotonic() - begun > 0.5
        self.send_response(200 if ready else 503 if self.path == health else 404)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *words):
        pass

http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""
"""A server that needs half a second, with a child that does not listen to SIGTERM, as engines have some."""


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    found = importlib.import_module("serving.served")
    monkeypatch.setattr(found, "END_SECONDS", 0.3)
    return found


def _free() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _lives(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="groups are read from /proc")


@pytest.mark.parametrize("health", ["/health", "/v1/models"])
def test_a_peer_runs_while_it_is_measured_and_not_longer(
    served: ModuleType, tmp_path: Path, health: str
) -> None:
    port, place = _free(), tmp_path / "child"
    command = shlex.join([sys.executable, "-c", PEER, str(port), str(place), health])
    text = f"tiny=http://127.0.0.1:{port}#some/model={command}"
    options = argparse.Namespace(peer=[], peer_command=[text], peer_seconds=30.0, threads=1, ahead=0)
    [make] = served.peers(options)
    assert not served.answers(f"http://127.0.0.1:{port}")  # it is not started before it is asked for
    with make() as found:
        assert (found.name, found.model) == ("tiny", "some/model")
        assert served.answers(found.address)
        child = int(place.read_text())
        assert _lives(found.process) and _lives(child)
        with pytest.raises(SystemExit, match=r"answers at .* already"), make():
            pass
    assert not _lives(found.process) and not _lives(child)
    assert not served.answers(f"http://127.0.0.1:{port}")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("print('no such model', flush=True); raise SystemExit(3)", "has ended\nno such model"),
        ("import time; time.sleep(600)", r"takes over 0\.5 s"),
    ],
)
def test_a_peer_that_does_not_start_is_told_and_ended(served: ModuleType, code: str, words: str) -> None:
    command = shlex.join([sys.executable, "-c", code])
    peer = served.peer_of(f"bad=http://127.0.0.1:{_free()}#m={command}", 30.0 if "raise" in code else 0.5)
    begun = time.monotonic()
    with pytest.raises(SystemExit, match=words), peer.running():
        pass
    assert time.monotonic() - begun < 25


def test_a_peer_that_runs_already_is_left_alone(served: ModuleType) -> None:
    options = argparse.Namespace(
        peer=["there@7=http://h:1#m"], peer_command=[], peer_seconds=1.0, threads=1, ahead=0
    )
    [make] = served.peers(options)
    with make() as found:
        assert (found.name, found.address, found.model, found.process) == ("there", "http://h:1", "m", 7)


@pytest.mark.parametrize("text", ["x", "x=http://h:1#m", "x=http://h:1#m= ", "x=http://h:1=cmd", "x=h#m=cmd"])
def test_what_is_no_peer_is_refused(served: ModuleType, text: str) -> None:
    with pytest.raises(SystemExit, match="NAME=URL#MODEL=COMMAND"):
        served.peer_of(text, 1.0)
