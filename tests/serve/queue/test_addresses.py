"""`--queue`: what a URL says, what is wrong with one, and that no message has its password."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from command_line import Cli, cli  # noqa: F401
from serving.brokers import free_port
from sglc.runtime.errors import ArgumentError
from sglc.runtime.serve.problems import Problem
from sglc.runtime.serve.queue.address import QueueAddress, read_address
from sglc.runtime.serve.queue.worker import is_mendable

ADDRESSES = [
    ("redis://broker", QueueAddress("redis", "broker", 6379), "redis://broker:6379/0"),
    (
        "rediss://broker:1/3?name=a-b",
        QueueAddress("rediss", "broker", 1, 3, name="a-b"),
        "rediss://broker:1/3",
    ),
    (
        "nats://me:p%40ss@broker?attempts=2&idle=9&keep=60",
        QueueAddress("nats", "broker", 4222, 0, "me", "p@ss", "sglc", 2, 9, 60),
        "nats://broker:4222",
    ),
    ("tls://[::1]:9", QueueAddress("tls", "::1", 9), "tls://[::1]:9"),
]


@pytest.mark.parametrize(("url", "address", "shown"), ADDRESSES)
def test_addresses(url: str, address: QueueAddress, shown: str) -> None:
    assert read_address(url) == address
    assert address.shown == shown


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("amqp://secret@broker", "`amqp` is no broker"),
        ("redis://:secret@", "no host"),
        ("redis://:secret@broker:x", "port"),
        ("redis://:secret@broker:99999", "port"),
        ("redis://:secret@broker/a", "database"),
        ("nats://:secret@broker/1", "database"),
        ("nats://:secret@broker#x", "`#`"),
        ("nats://:secret@broker?nam=a", "`name`"),
        ("nats://:secret@broker?name=a.b", "letters"),
        ("nats://:secret@broker?idle=0", "from 1 to 3600"),
        ("nats://:secret@broker?keep=1e9", "whole number"),
    ],
)
def test_addresses_that_are_none(url: str, words: str) -> None:
    with pytest.raises(ArgumentError) as found:
        read_address(url)
    told = str(found.value.diagnostic())
    assert found.value.code == "E0832" and words in told and "secret" not in told


@pytest.mark.parametrize(
    ("problem", "mended"),
    [
        (Problem(502, "Backend", "", fields={"cause": "connection"}), True),
        (Problem(429, "Backend", "", fields={"cause": "rate"}), True),
        (Problem(502, "Backend", "", fields={"cause": "access"}), False),
        (Problem(502, "Backend", "", fields={"cause": "local"}), False),
        (Problem(503, "Cancelled", ""), True),
        (Problem(429, "Busy", ""), True),
        (Problem(500, "Internal", ""), True),
        (Problem(504, "Timeout", ""), False),
        (Problem(422, "Rejected", ""), False),
        (Problem(502, "Foreign", ""), False),
        (Problem(400, "Arguments", ""), False),
    ],
)
def test_what_a_retry_can_mend(problem: Problem, mended: bool) -> None:
    assert is_mendable(problem) == mended


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.sgl"
    path.write_text("pub fn double(x: int) -> int:\n    return x * 2\n")
    return path


def test_the_command_says_what_is_wrong(
    cli: Cli,  # noqa: F811
    program: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code, _, told = cli("serve", program, "--port", 0, "--queue", "amqp://:secret@broker")
    assert code == 1 and "E0832" in told and "secret" not in told
    code, _, told = cli("serve", program, "--mcp", "stdio", "--queue", "redis://broker")
    assert code == 2 and "--queue is of HTTP" in told
    for module, url in (("redis_streams", "redis://:secret@broker"), ("jetstream", "nats://broker")):
        monkeypatch.setitem(sys.modules, f"sglc.runtime.serve.queue.{module}", None)
        code, _, told = cli("serve", program, "--port", 0, "--queue", url)
        assert code == 1 and "E0812" in told and "pip install 'sglc[queue]'" in told and "secret" not in told


@pytest.mark.parametrize("kind", ["redis", "nats"])
def test_a_broker_that_is_not_there_ends_the_command(
    cli: Cli,  # noqa: F811
    program: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    pytest.importorskip(kind, reason=f"the package of {kind} is not there")
    monkeypatch.setattr("sglc.runtime.serve.queue.worker.START_SECONDS", 0.5)
    url = f"{kind}://me:secret@127.0.0.1:{free_port()}"
    code, _, told = cli("serve", program, "--port", 0, "--queue", url)
    assert code == 1 and "E0832" in told and "is not there" in told and "secret" not in told
