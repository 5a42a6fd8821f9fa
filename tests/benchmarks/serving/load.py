"""Servers under load: JSON objects in OpenAI's protocol beside peers, and what HTTP adds to the engine.

    python -P tests/benchmarks/serving/load.py [--parts chat,overhead,overload,leaving,tenants]
        [--model smollm2] [--threads 2] [--workers N] [--kv-memory SIZE] [--warm 1]
        [--clients 1,8,32,128] [--seconds 20]
        [--peer NAME[@PID]=URL#MODEL …] [--peer-command 'NAME=URL#MODEL=COMMAND …' …] [--markdown PAGE]

`sglc serve` runs in a process of its own, the client in this one, all on the same cores. Each server is
measured alone, one after the other: a peer that is given by its command runs only while it is measured, like
llama-server where `llama_cpp.py` finds it. What `--peer` names runs already, beside the others too.
Every answer is checked against its schema. So many clients ask one after the other, each as soon as it has
its answer; requests that are going on when the time is over are waited for and counted.

With `--workers` the threads are divided among workers of `sglc serve`. `--kv-memory` is that of each engine,
and `--warm` the seconds of the same load before what is measured: behind it memory that is small enough is in
place as a whole, as that of a server that has run for a while. The parts:

- `chat`: an object of six fields, streamed, at temperature 0.8: requests a second, p50, p99, first text.
- `overhead`: the same work as a function of a program, over HTTP and in this process on its engine.
- `overload`: 512 clients at a queue of 64: how fast refusals come, at the server (from the first byte that it
  reads to the first that it writes) and at the client, and the rate of the others.
- `leaving`: 128 clients leave; how long until the next answer.
- `tenants`: the latency of one tenant's only client beside 64 clients of another, and beside one.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import jsonschema

from engine.engine_server import RULES, SCHEMA, Ours, note
from report import surroundings, write_page
from serving.http_client import Answer, Client, content_of
from serving.served import Served, ours, peers
from sglc.commands.shared.sizes import size

CHAT = "/v1/chat/completions"
JUDGE = jsonschema.Draft202012Validator(SCHEMA)
Ask = Callable[[int], Awaitable[Answer]]


@dataclass
class Measured:
    """What came of a load: answers of all requests, seconds in all, and processor time of both sides."""

    answers: list[Answer] = field(default_factory=list)
    legal: int = 0
    seconds: float = 0.0
    server_seconds: float = 0.0
    client_seconds: float = 0.0

    @property
    def good(self) -> list[Answer]:
        """Answers that are no failures."""
        return [each for each in self.answers if each.status == 200 and not each.fault]

    @property
    def rate(self) -> float:
        """Good answers a second."""
        return len(self.good) / self.seconds

    def quantile(self, share: float, of: Callable[[Answer], float] = lambda each: each.seconds) -> float:
        """Seconds within which so large a share of good answers came."""
        found = sorted(of(each) for each in self.good)
        return found[min(len(found) - 1, int(share * len(found)))] if found else float("nan")

    def row(self, *cells: object) -> str:
        """A row of a table."""
        failed = len(self.answers) - len(self.good)
        figures = [
            f"{self.rate:.2f}",
            f"{self.quantile(0.5):.2f}",
            f"{self.quantile(0.99):.2f}",
            f"{self.quantile(0.5, lambda each: each.first_text) * 1000:.0f}",
            f"{self.legal} of {len(self.answers)}",
            str(failed),
            f"{self.server_seconds / max(1, len(self.good)):.3f}",
            f"{self.client_seconds / max(1, len(self.good)):.3f}",
        ]
        return "| " + " | ".join([*map(str, cells), *figures]) + " |"


HEAD = (
    "| server | clients | answers/s | p50 s | p99 s | first text ms | legal | failed "
    "| server cpu s | client cpu s |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
)


async def load(ask: Ask, clients: int, seconds: float, legal: Callable[[Answer], bool]) -> Measured:
    """So many clients ask, one request after the other, until the time is over."""
    found, end, number = Measured(), time.perf_counter() + seconds, iter(range(10**9))

    async def client() -> None:
        while time.perf_counter() < end:
            found.answers.append(await ask(next(number)))

    started, used = time.perf_counter(), _own_seconds()
    await asyncio.gather(*(client() for _ in range(clients)))
    found.seconds, found.client_seconds = time.perf_counter() - started, _own_seconds() - used
    found.legal = sum(legal(each) for each in found.good)
    return found


def _own_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def seconds_of(process: int) -> float:
    """Processor time of a process and of its children that go on."""
    total = 0.0
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        total += (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
        children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()
        total += sum(seconds_of(int(child)) for child in children)
    return total


def memory_of(process: int) -> float:
    """MiB of a process that lie in memory."""
    text = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+) kB", text)
    return int(found[1]) / 1024 if found else float("nan")


# -- parts ------------------------------------------------------------------------------------------------


def chat(served: Served, *, stream: bool = True) -> Ask:
    """Asks for an object about a note."""
    client = Client(served.address)

    async def ask(number: int) -> Answer:
        body = {
            "model": served.model,
            "messages": [{"role": "system", "content": RULES}, {"role": "user", "content": note(number)}],
            "stream": stream,
            "temperature": 0.8,
            "max_tokens": 200,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "entry", "schema": SCHEMA, "strict": True},
            },
        }
        return await client.post(CHAT, body)

    return ask


def legal_chat(answer: Answer) -> bool:
    """Whether an answer is an object of the schema."""
    try:
        return bool(JUDGE.is_valid(json.loads(content_of(answer))))
    except (ValueError, KeyError, LookupError):
        return False


def function(served: Served, key: str = "") -> Ask:
    """Calls the function of the program."""
    client = Client(served.address)
    headers = {"authorization": f"Bearer {key}"} if key else {}

    async def ask(number: int) -> Answer:
        arguments = {"rules": RULES, "note": note(number)}
        return await client.post(
            "/v1/functions/entry", {"arguments": arguments, "options": {"seed": number}}, **headers
        )

    return ask


def legal_value(answer: Answer) -> bool:
    """Whether the value of a call is an object of the schema."""
    return bool(JUDGE.is_valid(json.loads(answer.body)["value"]))


def measured(
    served: Served, ask: Ask, clients: int, seconds: float, legal: Callable[[Answer], bool]
) -> Measured:
    """A load with the processor time of the server."""
    before = seconds_of(served.process) if served.process else 0.0
    found = asyncio.run(load(ask, clients, seconds, legal))
    found.server_seconds = (seconds_of(served.process) if served.process else 0.0) - before
    return found


def chat_part(options: argparse.Namespace) -> str:
    """Objects in OpenAI's protocol."""
    lines = [HEAD]
    for make in (lambda: ours(options), *peers(options)):
        with make() as served:
            asyncio.run(load(chat(served), 2, 1.0, legal_chat))  # compiles the schema, reads the model
            if options.warm > 1:
                asyncio.run(load(chat(served), max(options.clients), options.warm, legal_chat))
            for clients in options.clients:
                found = measured(served, chat(served), clients, options.seconds, legal_chat)
                lines.append(found.row(served.name, clients))
                print(lines[-1], flush=True)
    return "\n".join(lines)


def overhead_part(options: argparse.Namespace) -> str:
    """A function over HTTP, and in process."""
    lines = [
        "| clients | in process, answers/s | over HTTP, answers/s | HTTP takes | first text ms |",
        "|--:|--:|--:|--:|--:|",
    ]
    memory = size(options.kv_memory) if options.kv_memory else None
    engine = Ours(options.model, "auto", options.threads, memory)
    for clients in [each for each in options.clients if each > 1]:
        rates: dict[str, list[float]] = {"in": [], "http": []}
        for _ in range(options.rounds):
            engine.fresh()
            engine.run(_call_in_process(engine, 2, 1.0))
            engine.run(_call_in_process(engine, clients, options.warm))
            count, seconds = engine.run(_call_in_process(engine, clients, options.seconds))
            rates["in"].append(count / seconds)
            with ours(options) as served:
                asyncio.run(load(function(served), 2, 1.0, legal_value))
                asyncio.run(load(function(served), clients, options.warm, legal_value))
                found = measured(served, function(served), clients, options.seconds, legal_value)
                assert found.legal == len(found.answers), found.answers[-1]
                rates["http"].append(found.rate)
        inside, outside = (statistics.median(rates[name]) for name in ("in", "http"))
        lines.append(f"| {clients} | {inside:.2f} | {outside:.2f} | {1 - outside / inside:.1%} | |")
        print(lines[-1], flush=True)
    with ours(options) as served:
        asyncio.run(load(chat(served), 2, 1.0, legal_chat))
        found = measured(served, chat(served), 8, options.seconds, legal_chat)
        first = found.quantile(0.5, lambda each: each.first_byte) * 1000
        lines.append(f"\nFirst byte of a stream at 8 clients, the beginning known: {first:.0f} ms.")
    return "\n".join(lines)


async def _call_in_process(engine: Ours, clients: int, seconds: float) -> int:
    end, count, numbers = time.perf_counter() + seconds, 0, iter(range(10**9))

    async def client() -> None:
        nonlocal count
        while time.perf_counter() < end:
            await engine.session.run(
                "entry", {"rules": RULES, "note": note(number := next(numbers))}, seed=number
            )
            count += 1

    await asyncio.gather(*(client() for _ in range(clients)))
    return count


def overload_part(options: argparse.Namespace) -> str:
    """More clients than places."""
    with tempfile.TemporaryDirectory() as folder:
        times = Path(folder) / "times.json"
        with ours(options, "--waiting", "64", "--kv-memory", "512M", times=times) as served:
            assert served.process is not None
            ask = function(served)
            asyncio.run(load(ask, 2, 1.0, legal_value))
            rates = [
                measured(served, ask, clients, options.seconds, legal_value).rate for clients in (32, 64)
            ]
            before = memory_of(served.process)

            async def patient(number: int) -> Answer:
                answer = await ask(number)
                if answer.status == 429:
                    await asyncio.sleep(float(answer.headers.get("retry-after", 1)))
                return answer

            found = measured(served, patient, 512, options.seconds * 2, legal_value)
            after = memory_of(served.process)
        noted = [seconds for status, seconds in json.loads(times.read_text()) if status == 429]
    refused = [each.seconds for each in found.answers if each.status == 429]
    told = all("retry-after" in each.headers for each in found.answers if each.status == 429)
    others = len(found.answers) - len(found.good) - len(refused)
    return (
        f"512 clients, 64 places to wait: {len(refused)} refusals, all with `Retry-After`: "
        f"{'yes' if told else 'NO'}; at the server {_middle_and_late(noted)}, at the client "
        f"{_middle_and_late(refused)}; {found.rate:.2f} answers/s, the best rate is {max(rates):.2f} "
        f"({found.rate / max(rates):.0%}); other failures {others}; memory {before:.0f} MiB before, "
        f"{after:.0f} after."
    )


def _middle_and_late(seconds: list[float]) -> str:
    """p50 and p99 in milliseconds."""
    found = sorted(seconds) or [float("nan")]
    return f"p50 {statistics.median(found) * 1000:.1f} ms, p99 {found[int(0.99 * len(found))] * 1000:.1f} ms"


def leaving_part(options: argparse.Namespace) -> str:
    """Clients that leave, and the next one."""
    lines = ["| 128 clients leave | seconds until the next answer | alone before |", "|---|--:|--:|"]
    with ours(options, "--running", "128") as served:
        for name, ask, body in _ways(served):

            async def once(
                ask: Ask = ask, body: Callable[[int], tuple[str, object]] = body
            ) -> tuple[float, float]:
                await ask(1)
                alone = (await ask(2)).seconds
                client = Client(served.address)
                await asyncio.gather(*(client.leave(*body(number), 1.5) for number in range(128)))
                return (await ask(3)).seconds, alone

            after, alone = asyncio.run(once())
            lines.append(f"| {name} | {after:.2f} | {alone:.2f} |")
    return "\n".join(lines)


def _ways(served: Served) -> list[tuple[str, Ask, Callable[[int], tuple[str, object]]]]:
    def called(number: int) -> tuple[str, object]:
        return "/v1/functions/entry", {"arguments": {"rules": RULES, "note": note(number)}}

    def streamed(number: int) -> tuple[str, object]:
        messages = [{"role": "user", "content": note(number)}]
        return CHAT, {"model": served.model, "messages": messages, "stream": True, "max_tokens": 400}

    return [("a function", function(served), called), ("a stream", function(served), streamed)]


def tenants_part(options: argparse.Namespace) -> str:
    """One client beside many of another tenant."""
    with ours(options, keys=2) as served:
        many, one = (function(served, key) for key in served.keys)
        asyncio.run(load(one, 2, 1.0, legal_value))

        async def beside(clients: int) -> float:
            _, found = await asyncio.gather(
                load(many, clients, options.seconds, legal_value), load(one, 1, options.seconds, legal_value)
            )
            return found.quantile(0.5)

        few, lots = asyncio.run(beside(1)), asyncio.run(beside(64))
    return f"p50 of the one: {few:.2f} s beside 1 client, {lots:.2f} s beside 64 ({lots / few:.2f} times)."


PARTS = {
    "chat": chat_part,
    "overhead": overhead_part,
    "overload": overload_part,
    "leaving": leaving_part,
    "tenants": tenants_part,
}


def main() -> None:
    """Measure what is asked for, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--workers", type=int, help="processes of sglc that share the threads")
    parser.add_argument("--warm", type=float, default=1.0, help="seconds of load before what is measured")
    parser.add_argument("--kv-memory", help="of each engine of sglc")
    parser.add_argument("--clients", default="1,8,32,128")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME[@PID]=URL#MODEL")
    parser.add_argument(
        "--peer-command",
        action="append",
        default=[],
        metavar="NAME=URL#MODEL=COMMAND …",
        help="start it here",
    )
    parser.add_argument("--peer-seconds", type=float, default=600.0, help="until it takes requests")
    parser.add_argument("--ahead", type=int, default=10, help="how far before servers the client goes; nice")
    parser.add_argument("--markdown")
    options = parser.parse_args()
    with contextlib.suppress(OSError):  # the client's own waiting for a core is not what is measured
        os.nice(-options.ahead)
    options.clients = [int(each) for each in options.clients.split(",")]
    about = surroundings()
    sections = []
    for name in options.parts.split(","):
        sections.append(f"## {name.capitalize()}\n\n{PARTS[name](options)}")
        print(sections[-1], flush=True)
    if options.markdown:
        write_page(
            options.markdown,
            "Servers under load",
            str(__doc__).split("\n\n", 2)[2],
            "\n\n".join(sections),
            about,
        )


if __name__ == "__main__":
    main()
