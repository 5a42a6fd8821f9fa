"""Messages through a queue while workers and broker are killed: each result once, and the right one."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from serving.brokers import BrokerClient, TestBroker

T = TypeVar("T")
PROGRAM = """
record Said:
    n: int
    text: str

pub fn square(n: int) -> int:
    return n * n

pub fn say(n: int) -> Said:
    assistant: | ?{text: str max 200 chars}
    return Said(n=n, text=text)
"""
TEXT = "a quiet afternoon " * 8


@dataclass
class Figures:
    """What came of it."""

    messages: int
    sent_again: int = 0
    """Messages that were sent once more, since the sender met a fault and does not know."""
    worker_kills: int = 0
    broker_kills: int = 0
    seconds: float = 0.0
    missing: int = 0
    wrong: int = 0
    changed: int = 0
    """Results that were another one at an earlier look."""
    replies: int = 0
    replies_lacking: int = 0
    replies_that_differ: int = 0
    letters: int = 0

    @property
    def right(self) -> bool:
        """Whether each message has its one result."""
        return not (self.missing or self.wrong or self.changed or self.replies_lacking or self.letters)


@dataclass
class Faults:
    """How often is killed: after so many settled messages in the mean, so that a slow machine changes
    nothing. How many it is each time is drawn, up to twice the mean, and so is the moment after them."""

    seed: int = 0
    workers: int = 2
    worker_every: float = 70
    broker_every: float = 180
    away: float = 1.0
    """Most seconds that the broker is away."""
    batch: int = 8


@dataclass
class Soak:
    """One such run at a broker, which has been started."""

    broker: TestBroker
    folder: Path
    messages: int
    faults: Faults = field(default_factory=Faults)
    patience: float = 1200.0
    """Seconds after which a queue that does not get empty is a failure."""

    def __post_init__(self) -> None:
        self.figures = Figures(self.messages)
        self.random = random.Random(self.faults.seed)
        self._processes: list[subprocess.Popen[bytes]] = []
        self._log_of: dict[subprocess.Popen[bytes], Path] = {}
        self._seen: dict[str, str] = {}
        self._given = 0
        self._over = False
        """Nothing is killed any more. A cancel alone may be lost: `asyncio.wait_for` of Python 3.11 drops one
        that comes together with what it waits for."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "soak.sgl").write_text(PROGRAM)
        (self.folder / "script.json").write_text(json.dumps({"say.text": TEXT}))

    async def run(self) -> Figures:
        """Send, kill, wait until the queue is empty, and look at what there is."""
        began = time.monotonic()
        for _ in range(self.faults.workers):
            self._processes.append(self._worker())
        client = await self.broker.client()
        try:
            await self._until(lambda: self._ready(client))
            killing = asyncio.ensure_future(self._kill())
            try:
                await self._send(client)
                await self._until(lambda: self._settled(client))
            finally:
                self._over = True
                killing.cancel()
                await asyncio.gather(killing, return_exceptions=True)
            await self._look(client)
        finally:
            for process in self._processes:
                process.kill()
                process.wait()
            await client.close()
        self.figures.seconds = time.monotonic() - began
        return self.figures

    # -- messages --------------------------------------------------------------------------------------

    def _message(self, n: int) -> dict[str, Any]:
        function = "square" if n % 2 else "say"
        return {"function": function, "arguments": {"n": n}, "id": f"message {n}", "reply": "soak"}

    def _expected(self, n: int) -> object:
        return n * n if n % 2 else {"n": n, "text": TEXT}

    def _digest(self, n: int) -> str:
        return sha256(self._message(n)["id"].encode()).hexdigest()

    async def _send(self, client: BrokerClient) -> None:
        for n in range(self.messages):
            data = json.dumps(self._message(n)).encode()
            await self._again(lambda data=data: self._sent(client, data))
            self._given += 1
            if n % self.faults.batch == 0:
                await asyncio.sleep(self.random.uniform(0.0, 0.6))
                await self._watch(client, self.random.randrange(n + 1))

    async def _sent(self, client: BrokerClient, data: bytes) -> None:
        try:
            await client.send(data)
        except Exception:
            self.figures.sent_again += 1
            raise

    async def _watch(self, client: BrokerClient, n: int) -> None:
        """Look at one result: what is there once stays."""
        digest = self._digest(n)
        found = await self._again(lambda: client.result(digest))
        if found is not None and self._seen.setdefault(digest, json.dumps(found)) != json.dumps(found):
            self.figures.changed += 1

    async def _ready(self, client: BrokerClient) -> bool:
        await client.open()
        return True

    async def _settled(self, client: BrokerClient) -> bool:
        return await client.open() == 0

    async def _look(self, client: BrokerClient) -> None:
        figures, stored = self.figures, {}
        for n in range(self.messages):
            digest = self._digest(n)
            found = await self._again(lambda digest=digest: client.result(digest))
            if found is None:
                figures.missing += 1
                continue
            stored[digest] = json.dumps(found)
            figures.wrong += found.get("value") != self._expected(n)
            figures.changed += self._seen.get(digest, stored[digest]) != stored[digest]
        replies = await self._again(lambda: client.replies("soak"))
        figures.replies = len(replies)
        figures.replies_lacking = len(set(stored) - {each["digest"] for each in replies})
        figures.replies_that_differ = sum(stored.get(each["digest"]) != json.dumps(each) for each in replies)
        figures.letters = len(await self._again(client.letters))

    async def _again(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do something at the broker; while it is away, again."""
        while True:
            try:
                async with asyncio.timeout(10):
                    return await work()
            except (AssertionError, KeyError, TypeError):
                raise
            except Exception:
                await asyncio.sleep(0.1)

    async def _until(self, holds: Callable[[], Awaitable[bool]]) -> None:
        end = time.monotonic() + self.patience
        while not await self._again(holds):
            assert time.monotonic() < end, f"the queue does not get empty: {self.figures}"
            await asyncio.sleep(0.2)

    # -- faults ----------------------------------------------------------------------------------------

    def _worker(self) -> subprocess.Popen[bytes]:
        url = self.broker.url(idle=3, attempts=1000)
        command = [sys.executable, "-P", "-m", "sglc", "serve", str(self.folder / "soak.sgl"), "--port", "0"]
        command += ["--model", f"scripted:{self.folder / 'script.json'}", "--running", "4", "--no-access-log"]
        path = self.folder / f"log-{len(self._log_of)}"
        with path.open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, "SGLC_QUEUE": url})
        self._log_of[process] = path
        return process

    def _takes(self, process: subprocess.Popen[bytes]) -> bool:
        """Whether a worker has started: one that is killed before that does nothing."""
        return "calls of the queue" in self._log_of[process].read_text()

    async def _kill(self) -> None:
        """Kill workers and the broker at random moments, and start them again."""
        faults, figures = self.faults, self.figures
        worker, broker = self._drawn(faults.worker_every), self._drawn(faults.broker_every)
        client = await self.broker.client()
        try:
            while not self._over:
                await asyncio.sleep(self.random.uniform(0.0, 0.2))
                for place, process in enumerate(self._processes):
                    if process.poll() is not None:  # it had found no broker
                        self._processes[place] = self._worker()
                settled = self._given - await self._again(client.open)
                if self._over:
                    return
                ready = [place for place, each in enumerate(self._processes) if self._takes(each)]
                if ready and settled >= worker:
                    place = self.random.choice(ready)
                    self._processes[place].send_signal(signal.SIGKILL)
                    self._processes[place].wait()
                    self._processes[place] = self._worker()
                    figures.worker_kills += 1
                    worker = settled + self._drawn(faults.worker_every)
                if settled >= broker:
                    await self._kill_broker()
                    broker = settled + self._drawn(faults.broker_every)
        finally:
            await client.close()

    async def _kill_broker(self) -> None:
        self.broker.process.kill()
        self.figures.broker_kills += 1
        try:
            await asyncio.sleep(self.random.uniform(0.0, self.faults.away))
        finally:
            self.broker.process.start()

    def _drawn(self, mean: float) -> float:
        return self.random.uniform(0.0, 2 * mean)
