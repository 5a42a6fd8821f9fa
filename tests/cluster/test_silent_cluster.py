"""A cluster of Ray that stops to answer: the front goes on answering, and ends when it is told to.

A stand-in for Ray's client blocks as that one does. What it is like was seen with Ray 2.60.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from clustering.served_workers import until
from command_line_files import write
from sglc.runtime.cluster import ray_links
from sglc.runtime.cluster.daemon_calls import DaemonCalls
from sglc.runtime.cluster.messages import written
from sglc.runtime.cluster.pool import Pool
from sglc.runtime.cluster.scaling import Sizes
from sglc.runtime.errors import ArgumentError

pytest.importorskip("grpc")
FAKE = Path(__file__).parents[1] / "support" / "clustering" / "fake_ray"


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModuleType]:
    """The stand-in in the place of Ray; `GONE` is the file that has it stop to answer."""
    monkeypatch.syspath_prepend(str(FAKE))
    monkeypatch.delitem(sys.modules, "ray", raising=False)
    module = importlib.import_module("ray")
    monkeypatch.setattr(module, "GONE", tmp_path / "gone")
    monkeypatch.setattr(module, "FOREVER", 5.0)
    monkeypatch.setattr(ray_links, "CLOSING", 0.2)
    yield module
    module.GONE.unlink(missing_ok=True)
    monkeypatch.delitem(sys.modules, "ray", raising=False)


@pytest.fixture
def head() -> Iterator[str]:
    """An address at which somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"ray://127.0.0.1:{listening.getsockname()[1]}"


def test_lines_keep_their_order_and_a_silent_cluster_blocks_nobody(
    fake: ModuleType, head: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []

    class Echo:
        def __init__(self, parallel: int, threads: int | None) -> None:
            self._lines: list[str] = []

        def put(self, line: str) -> None:
            heard.append(line)
            self._lines.append(line)

        def take(self) -> list[str]:
            while not self._lines:
                time.sleep(0.002)
            lines, self._lines = self._lines, []
            return lines

    monkeypatch.setattr(ray_links, "LineWorker", Echo)

    async def whole() -> None:
        start = ray_links.ray_starter(head, Sizes(1, 1), None, "cpu")
        link = await start()
        for number in range(20):
            link.send(str(number))
        assert [await link.receive() for _ in range(20)] == [str(number) for number in range(20)]
        fake.GONE.touch()
        link.send("lost")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await link.receive()
        link.send(written(end=True))
        assert await link.receive() is None  # it could not be told to end
        await link.close()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await start()
        fake.GONE.unlink()

    asyncio.run(whole())
    assert heard[:20] == [str(number) for number in range(20)]
    assert fake.BLOCKED and threading.main_thread().name not in fake.BLOCKED


def test_no_worker_is_started_where_the_cluster_is_lost(fake: ModuleType, head: str) -> None:
    """Ray itself would begin a cluster of this machine."""

    async def whole() -> None:
        start = ray_links.ray_starter(head, Sizes(1, 1), None, "cpu")
        fake.shutdown()
        with pytest.raises(ArgumentError, match="is gone") as problem:
            await start()
        assert problem.value.code == "E0840" and head in problem.value.message
        pool = Pool(start, "{}", Sizes(1, 1))
        assert not pool.useless
        with pytest.raises(ArgumentError, match="is gone"):
            await pool.open()
        assert "is gone" in pool.useless
        await pool.close(kill=True)

    asyncio.run(whole())


def test_ray_is_told_to_begin_no_cluster_by_itself(
    fake: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Ray reads the variable where it is imported; the environment is as before then."""
    write(tmp_path / "ray.py", 'import os\nSEEN = os.environ["RAY_ENABLE_AUTO_CONNECT"]\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    for before in (None, "1"):
        if before is not None:
            monkeypatch.setenv(ray_links.AUTO_CONNECT, before)
        monkeypatch.delitem(sys.modules, "ray", raising=False)
        assert ray_links._ray().SEEN == "0"  # type: ignore[attr-defined]
        assert os.environ.get(ray_links.AUTO_CONNECT) == before


def test_calls_are_made_in_their_order_and_bounded() -> None:
    calls = DaemonCalls("test")
    goes_on = threading.Event()
    seen: list[int] = []

    async def whole() -> None:
        for number in range(100):
            calls.put(lambda number=number: seen.append(number))
        assert await calls.result(lambda: len(seen)) == 100
        with pytest.raises(ZeroDivisionError):
            await calls.result(lambda: 1 // 0)
        calls.put(goes_on.wait)
        with pytest.raises(TimeoutError):
            await calls.result(lambda: 1, 0.01)

    asyncio.run(whole())
    assert seen == list(range(100))
    assert not calls.ends_within(lambda: None, 0.01)
    goes_on.set()
    assert calls.ends_within(lambda: None, 30) and calls.ends_within(lambda: 1 // 0, 30)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
def test_a_server_ends_though_its_cluster_does_not_answer(tmp_path: Path, head: str) -> None:
    gone = tmp_path / "gone"
    program = write(tmp_path / "p.sgl", "pub fn double(x: int) -> int:\n    return x * 2\n")
    path = os.pathsep.join([str(FAKE), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-P", "-m", "sglc", "serve", str(program), "--port", "0", "--grace", "0.1"]
    process = subprocess.Popen(
        [*command, "--workers", "1", "--cluster", head],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "FAKE_RAY_GONE": str(gone)},
    )
    told: list[str] = []
    assert process.stderr is not None
    reading = threading.Thread(target=lambda: told.extend(process.stderr or ()), daemon=True)
    reading.start()
    try:
        until(lambda: any("serving" in line for line in told), 60.0)
        address = re.search(r"http://\S+:\d+", "".join(told))
        assert address is not None
        body = json.dumps({"arguments": {"x": 4}, "options": {"timeout": 0.5}}).encode()
        call = urllib.request.Request(
            f"{address[0]}/v1/functions/double", body, {"content-type": "application/json"}
        )
        with urllib.request.urlopen(call, timeout=30) as reply:
            assert json.load(reply)["value"] == 8
        gone.touch()
        with pytest.raises(urllib.error.HTTPError) as late:
            urllib.request.urlopen(call, timeout=30)
        assert late.value.code == 504
        with urllib.request.urlopen(f"{address[0]}/healthz", timeout=30) as reply:
            assert reply.status == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        reading.join(10)
        assert "does not answer; what runs there is left to it" in "".join(told)
    finally:
        process.kill()
        process.wait()
