"""A server under steady load for long, with clients that behave badly: nothing is lost, memory stays.

    python -P tests/benchmarks/serving/soak.py [--minutes 30] [--model smollm2] [--threads 2] [--workers N]
        [--markdown PAGE]

The best rate is measured first; then calls arrive at 80 % of it, at random moments (Poisson). Of every
hundred some leave before their answer, some read events slowly, some have a wrong key or a damaged body.
Every other call must have its value, which is checked, or be refused because the queue is full. Memory is
that of the process, told each minute.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from engine.engine_server import RULES, note
from report import surroundings, write_page
from serving.http_client import Answer, Client
from serving.load import function, legal_value, load, memory_of
from serving.served import Served, ours

PATH = "/v1/functions/entry"
SHARE = 0.8
KINDS = {"call": 70, "leave": 10, "slow": 8, "stream": 6, "key": 3, "damaged": 3}
"""Of a hundred requests, so many of each kind."""
KV_MEMORY = "256M"
"""Memory of keys and values: small, so that it is full soon, and what grows behind that is a leak."""
WAIT = 300.0
"""Seconds within which the last answers must be there."""


@dataclass
class Soak:
    """What happened."""

    served: Served
    random: random.Random
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)

    def body(self, number: int) -> dict[str, object]:
        """A call."""
        return {"arguments": {"rules": RULES, "note": note(number)}, "options": {"seed": number}}

    @property
    def key(self) -> dict[str, str]:
        """The header of a key, of one tenant or another."""
        return {"authorization": f"Bearer {self.random.choice(self.served.keys)}"}

    async def one(self, kind: str, number: int) -> None:
        """A request of a kind; what should not be is noted."""
        client = Client(self.served.address)
        try:
            async with asyncio.timeout(WAIT):
                said = await getattr(self, f"_{kind}")(client, number)
        except TimeoutError:
            said = "no answer"
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
        self.counts[kind if said in ("", "full") else f"{kind}: {said}"] += 1
        if said == "full":
            self.counts["of these refused"] += 1
        elif said:
            self.faults.append(f"{kind} {number}: {said}")

    async def _call(self, client: Client, number: int) -> str:
        return self._judged(await client.post(PATH, self.body(number), **self.key))

    def _judged(self, answer: Answer) -> str:
        if answer.status == 429:
            return "full"
        if answer.status != 200 or answer.fault:
            return f"{answer.status} {answer.fault} {answer.body[:200]!r}"
        return "" if legal_value(answer) else f"an illegal value {answer.body[:200]!r}"

    async def _leave(self, client: Client, number: int) -> str:
        reader, writer = await asyncio.open_connection(client.host, client.port)
        writer.write(client._request(PATH, self.body(number), self.key))
        await asyncio.sleep(self.random.random())
        writer.close()
        del reader
        return ""

    async def _stream(self, client: Client, number: int) -> str:
        answer = await client.post(PATH, self.body(number), accept="text/event-stream", **self.key)
        if answer.status == 429:
            return "full"
        last = answer.body.decode().rstrip().rpartition("\n\n")[2]
        return "" if "event: value" in last else f"{answer.status} {answer.fault} ends with {last[:200]}"

    async def _slow(self, client: Client, number: int) -> str:
        """Reads a few bytes now and then, and the end only where it comes within ten seconds."""
        reader, writer = await asyncio.open_connection(client.host, client.port, limit=64)
        writer.write(client._request(PATH, self.body(number), {"accept": "text/event-stream", **self.key}))
        end = time.monotonic() + 10
        with contextlib.suppress(OSError):
            while time.monotonic() < end and await reader.read(32):
                await asyncio.sleep(0.05)
        writer.close()
        return ""

    async def _key(self, client: Client, number: int) -> str:
        answer = await client.post(PATH, self.body(number), authorization="Bearer sgl-wrong")
        return "" if answer.status == 401 else f"{answer.status}"

    async def _damaged(self, client: Client, number: int) -> str:
        body: object = self.random.choice(
            [{"arguments": 3}, {"argument": {}}, [], "text", {"arguments": {"rules": 1}}]
        )
        answer = await client.post(PATH, body, **self.key)
        return "" if answer.status in (400, 429) else f"{answer.status} {answer.body[:100]!r}"

    async def run(self, rate: float, seconds: float) -> None:
        """So many requests a second arrive until the time is over; then the last answers are awaited."""
        assert self.served.process is not None
        kinds, weights = list(KINDS), list(KINDS.values())
        tasks: set[asyncio.Task[None]] = set()
        begun, told, number = time.monotonic(), 0.0, 0
        while (now := time.monotonic() - begun) < seconds:
            if now >= told:
                self.memory.append(memory_of(self.served.process))
                told += 60
                print(f"{now / 60:.0f} min: {self.memory[-1]:.0f} MiB, {dict(self.counts)}", flush=True)
            task = asyncio.create_task(self.one(self.random.choices(kinds, weights)[0], number))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            number += 1
            await asyncio.sleep(self.random.expovariate(rate))
        if tasks:
            await asyncio.wait(tasks, timeout=WAIT)
        self.memory.append(memory_of(self.served.process))


def main() -> None:
    """Soak a server and tell what came of it; the exit code is 1 where something was lost."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--ahead", type=int, default=10, help="how far before the server the clients go; nice"
    )
    parser.add_argument("--markdown")
    parser.add_argument("--workers", type=int, help="processes of sglc that share the threads")
    parser.set_defaults(kv_memory=None)
    options = parser.parse_args()
    about = surroundings()
    with ours(options, "--running", "32", "--waiting", "64", "--kv-memory", KV_MEMORY, keys=2) as served:
        best = asyncio.run(load(function(served, served.keys[0]), 32, 30.0, legal_value)).rate
        rate = best * SHARE / (sum(KINDS[kind] for kind in ("call", "slow", "stream")) / 100)
        soak = Soak(served, random.Random(options.seed))
        asyncio.run(soak.run(rate, options.minutes * 60))
        alone = asyncio.run(load(function(served, served.keys[0]), 1, 3.0, legal_value))
        after = memory_of(served.process or 0)
    lines = [
        f"The best rate is {best:.2f} answers/s; requests came at {rate:.2f} a second for "
        f"{options.minutes:g} minutes.",
        "",
        "| kind | requests |\n|---|--:|",
        *(f"| {name} | {count:,} |" for name, count in sorted(soak.counts.items())),
        "",
        f"What should not be: {len(soak.faults)}. Memory by the minute, MiB: "
        + ", ".join(f"{each:.0f}" for each in soak.memory)
        + f"; {after:.0f} at the end. A call alone after all: {alone.quantile(0.5):.2f} s, "
        f"{len(alone.good)} of {len(alone.answers)} good.",
    ]
    print("\n".join(lines), *soak.faults[:20], sep="\n")
    if options.markdown:
        words = str(__doc__).split("\n\n", 2)[2]
        write_page(options.markdown, "A server for long", words, "\n".join(lines), about)
    sys.exit(1 if soak.faults else 0)


if __name__ == "__main__":
    main()
