"""`sglc serve --grpc` as a process, and what it refuses before it serves."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import GOOD, Cli, cli  # noqa: F401

pytest.importorskip("grpc_health")
pytest.importorskip("grpc_reflection")
pytest.importorskip("grpc_tools")
pytest.importorskip("grpc_status")
import grpc

from serving.protoc import stub

GOING_AWAY = (
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    + b"\0\0\0\x04\0\0\0\0\0"
    + b"\0\0\x1a\x07\0\0\0\0\0"
    + b"\0\0\0\0\0\0\0\1private of a client"
)
"""A connection whose client leaves with words, which the core of grpcio would log."""
PUBLIC = GOOD.replace("\nfn feel", "\npub fn feel")


@pytest.fixture
def public(tmp_path: Path) -> Path:
    path = tmp_path / "feelings.sgl"
    path.write_text(PUBLIC, encoding="utf-8")
    return path


def test_a_server_answers_the_stub_of_its_proto(public: Path, tmp_path: Path, cli: Cli) -> None:  # noqa: F811
    script = tmp_path / "script.json"
    script.write_text('{"feel.mood": "furious"}')
    code, text, _ = cli("proto", public)
    assert code == 0
    lock = tmp_path / "feelings.proto.lock"
    lock.write_text(lock.read_text().replace('"text": "1 string"', '"text": "7 string"'))
    code, text, _ = cli("proto", public)
    assert code == 0 and "string text = 7;" in text
    pb, made = stub(text, "feelings", tmp_path)
    command = [sys.executable, "-m", "sglc", "serve", public, "--model", f"scripted:{script}", "--port", "0"]
    command += ["--grpc", ":0"]
    process = subprocess.Popen([*map(str, command)], stderr=subprocess.PIPE)
    try:
        assert process.stderr is not None
        lines = [process.stderr.readline().decode() for _ in range(4)]
        found = re.search(r"gRPC 127\.0\.0\.1:(\d+)    feelings\.FeelingsService", lines[3])
        assert found is not None, lines
        with grpc.insecure_channel(f"127.0.0.1:{found[1]}") as channel:
            feelings = made.FeelingsServiceStub(channel)
            reply = feelings.Feel(pb.FeelRequest(text="a private text"), timeout=30)
            assert pb.Mood.Name(reply.value) == "MOOD_FURIOUS"
            events = list(feelings.FeelEvents(pb.FeelRequest(text="a private text"), timeout=30))
            assert events[-1].value.value == reply.value
        with socket.create_connection(("127.0.0.1", int(found[1]))) as connection:
            connection.sendall(GOING_AWAY)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(4096):
                pass
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read().decode()
        assert process.wait(20) == 0
        assert "GRPC /feelings.FeelingsService/Feel OK" in rest and "private" not in rest
    finally:
        process.kill()
        process.communicate()


def test_what_is_refused(public: Path, tmp_path: Path, cli: Cli) -> None:  # noqa: F811
    script = tmp_path / "script.json"
    script.write_text("{}")
    serve = ("serve", public, "--port", "0", "--model", f"scripted:{script}", "--grpc")
    code, _, told = cli(*serve, "0.0.0.0:0")
    assert code == 1 and "E0829" in told and "a server at 0.0.0.0 needs keys" in told
    for place in ("50051", ":", ":99999", "localhost:x", "localhost:-1"):
        code, _, told = cli(*serve, place)
        assert code == 2 and "an address and a port" in told
    code, _, told = cli("serve", "--grpc", ":0", "--port", "0")
    assert code == 2 and "name the FILES" in told
    lock = tmp_path / "feelings.proto.lock"
    lock.write_text('{"v": 1, "messages": {"FeelRequest": {"numbers": {"text": "1 int64"}}}, "enums": {}}')
    code, _, told = cli(*serve, ":0")
    assert code == 1 and "E0836" in told and "`text` of FeelRequest cannot keep its number 1" in told
    lock.write_text("{")
    code, _, told = cli(*serve, ":0")
    assert code == 1 and "E0836" in told and "cannot be read as a lock" in told


def test_a_missing_package_is_told(
    public: Path,
    cli: Cli,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.startswith("sglc.runtime.serve.grpc")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "grpc", None)
    code, _, told = cli("serve", public, "--grpc", ":0", "--port", "0")
    assert code == 1 and "E0812" in told and "pip install 'sglc[grpc]'" in told
