"""sglc in a process of its own, answering the requests of the end-to-end benchmark; see `end_to_end.py`.

    python end_to_end_worker.py sglc MODEL WORKLOADS
    python end_to_end_worker.py llama-server MODEL WORKLOADS

It reads requests from its standard input and answers on its standard output, a JSON object a line, as the
processes of the other engines do. Every request runs a function of `workloads.sgl`; nothing is prepared
ahead, so that compiling constraints is part of the first request's time.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
import traceback
from pathlib import Path
from typing import Any, Protocol

STARTED = time.perf_counter()
PROGRAM = Path(__file__).with_name("workloads.sgl")
MESSAGE = re.compile(r"<\|im_start\|>(\w+)\n(.*?)(?:<\|im_end\|>\n|\Z)", re.DOTALL)
VARIANTS: dict[str, dict[str, Any]] = {
    "sglc": {},
    "sglc native": {"executor": "native"},
    "sglc torch": {"executor": "torch"},
}
"""What the names of variants mean, as options of `load_engine`."""


SERVERS = {"llama-server": "best", "llama-server shipped": "shipped"}
"""llama.cpp's server with one of its files; see `end_to_end_llama.py`."""


class Requests(Protocol):
    """What answers the requests."""

    def load(self) -> dict[str, str]:
        """Get ready; versions of what is used."""

    def counts(self) -> tuple[int, int]:
        """Forward passes and positions computed so far, as far as they are known."""

    def seconds(self) -> float:
        """Processor time used so far."""

    def run(self, name: str, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """All of a workload's items at the same time."""

    def close(self) -> None: ...


class Sglc:
    """The programs of `workloads.sgl` on one model."""

    def __init__(self, model: str, workloads: dict[str, Any], options: dict[str, Any]) -> None:
        self.model = model
        self.workloads = workloads
        self.options = options
        self.loop = asyncio.new_event_loop()

    def load(self) -> dict[str, str]:
        from sglc.driver import compile_source
        from sglc.runtime.session import Session
        from sglc.source import Source

        compiled = compile_source(Source(PROGRAM.name, PROGRAM.read_text(encoding="utf-8")))
        if compiled.program is None:
            raise SystemExit(f"{PROGRAM.name}: {compiled.diagnostics}")
        self.engine = self._engine()
        self.session = Session(compiled.program, self.engine)
        return {}

    def close(self) -> None:
        self.engine.close()

    def _engine(self) -> Any:
        from sglc.runtime.engine.load import load_engine

        return load_engine(self.model, threads=int(os.environ["SGL_BENCH_THREADS"]), **self.options)

    def seconds(self) -> float:
        return time.process_time()

    def counts(self) -> tuple[int, int]:
        """Forward passes and positions computed so far."""
        return self.engine.statistics.forwards, self.engine.statistics.tokens_fed

    def run(self, name: str, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """All of the items at the same time."""

        async def together() -> list[dict[str, Any]]:
            return await asyncio.gather(*(self._one(name, item) for item in items))

        return self.loop.run_until_complete(together())

    async def _one(self, name: str, item: dict[str, Any]) -> dict[str, Any]:
        from sglc.types.text.plain_json import to_json

        function, arguments = request(name, item)
        result = await self.session.run(function, arguments)
        assert result.type is not None
        value = to_json(result.value, result.type, self.session.program.table)
        counted = {"gen_tokens": result.statistics.output_tokens}
        if self.workloads[name]["kind"] == "program":
            return {"parts": value, **counted}
        return {"text": value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), **counted}


def request(name: str, item: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The function of a workload's item, and its arguments."""
    if name in ("W1", "W6"):
        messages = dict(MESSAGE.findall(item["prompt"]))
        return "character", {"rules": messages["system"], "request": messages["user"]}
    *lines, last = (item["parts"][0] if name == "W2" else item["prompt"]).split("\n")
    functions = {"W2": "steps", "W3": "topic", "W5": "arithmetic", "W7": "pairs"}
    function = functions.get(name) or re.sub(r"\d+$", "", item["id"])
    return function, {"lines": lines, "last": last}


def peak_megabytes() -> float:
    """Most memory that the process has had since `forget_peak`."""
    with open("/proc/self/status", encoding="ascii") as file:
        found = next((line.split()[1] for line in file if line.startswith("VmHWM")), "0")
    return int(found) / 1024


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def serve(engine: Requests, workloads: dict[str, Any]) -> None:
    """Answer requests until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def send(**answer: Any) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    try:
        versions = engine.load()
        loaded = time.perf_counter()
    except Exception as fault:
        traceback.print_exc()
        send(ok=False, error=f"{type(fault).__name__}: {fault}")
        return
    send(
        ok=True,
        load_s=loaded - STARTED,
        warmup_s=0.0,
        rss_mb=peak_megabytes(),
        can_batch=True,
        note="",
        versions=versions,
        pid=os.getpid(),
    )
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["op"] == "quit":
            break
        name = asked["w"]
        if asked["op"] == "prepare":
            forget_peak()
            send(ok=True, prepare_s=0.0, rss_mb=peak_megabytes())
            continue
        try:
            items = [workloads[name]["items"][index] for index in asked["items"]]
            before, used, started = engine.counts(), engine.seconds(), time.perf_counter()
            texts = engine.run(name, items)
            wall, used = time.perf_counter() - started, engine.seconds() - used
            after = engine.counts()
            send(
                ok=True,
                wall_s=wall,
                cpu_s=used,
                out=texts,
                forwards=after[0] - before[0],
                positions=after[1] - before[1],
                rss_mb=peak_megabytes(),
            )
        except Exception as fault:
            traceback.print_exc()
            send(ok=False, unsupported=False, error=f"{type(fault).__name__}: {fault}"[:300])
    engine.close()


def main(variant: str, model: str, path: str) -> None:
    workloads = json.loads(Path(path).read_text(encoding="utf-8"))["workloads"]
    if variant in SERVERS:
        from engine.end_to_end_llama import LlamaServer

        serve(LlamaServer(SERVERS[variant], workloads), workloads)
    else:
        serve(Sglc(model, workloads, VARIANTS[variant]), workloads)


if __name__ == "__main__":
    main(*sys.argv[1:4])
