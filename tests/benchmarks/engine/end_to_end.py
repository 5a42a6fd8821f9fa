"""Whole requests of structured generation, beside other libraries on the same model: programs, JSON,
patterns, grammars, choices, and 64 requests at once.

    python tests/benchmarks/engine/end_to_end.py MODEL [--engines sglc,xgrammar+kv,llama-server] [--workloads
    W1,W6]
        [--rounds 1] [--fraction 1.0] [--markdown PAGE]

MODEL is for sglc. The other libraries, the workloads and the judge of answers are in a folder of their own:

    SGLC_BENCH_PEERS=DIR            run.py (judge, measuring), worker.py, workloads.json, peers/*.py
    SGLC_BENCH_PEER_PYTHON=…        a Python that has these libraries
    SGL_BENCH_MODEL=DIR             the model for those on transformers (safetensors and tokenizer.json)
    SGL_BENCH_GGUF=FILE, …_Q=FILE   the model for llama-cpp-python: the fastest of its files, and as shipped

For `llama-server` see `llama_cpp.py`.

Every engine has a process of its own, stays loaded, and the requests of a workload go round the engines,
forwards and backwards in turn. All texts are judged alike: by jsonschema, by the pattern, by Lark; what was
cut off by the limit of tokens is wrong. Greedy, `--threads` threads each. sglc runs the programs of
`workloads.sgl`.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from engine.end_to_end_worker import SERVERS, VARIANTS
from report import surroundings, write_page

PEERS = "SGLC_BENCH_PEERS"
PYTHON = "SGLC_BENCH_PEER_PYTHON"
WORKER = Path(__file__).with_name("end_to_end_worker.py")
LOCKED_SECONDS = 45
"""The lock file is given up for a moment after so long."""
ONE_BY_ONE = 8
"""Requests of a batch that an engine without batches answers one after the other, for want of time."""


def harness() -> ModuleType:
    """The module that measures and judges, from the folder of the other libraries."""
    folder = os.environ.get(PEERS)
    if not folder or not (Path(folder) / "run.py").exists():
        raise SystemExit(
            f"{PEERS} is not set, or has no run.py: the folder of workloads, judge and other libraries"
        )
    spec = importlib.util.spec_from_file_location("peers_run", Path(folder) / "run.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.LOCK_SLICE_S = LOCKED_SECONDS  # type: ignore[attr-defined]
    return module


def processes(module: ModuleType) -> type[Any]:
    """The harness's process class, started by a command of ours."""

    class Process(module.Worker):  # type: ignore[name-defined, misc]
        def __init__(self, name: str, command: list[str], log: Path, threads: int) -> None:
            self.name, self.dead, self.buf = name, None, b""
            count = str(threads)
            environment = dict(os.environ)
            environment |= {"SGL_BENCH_THREADS": count, "OMP_NUM_THREADS": count, "MKL_NUM_THREADS": count}
            environment |= {"RAYON_NUM_THREADS": count, "TOKENIZERS_PARALLELISM": "false"}
            environment |= {"HF_HUB_OFFLINE": "1", "PYTHONUNBUFFERED": "1"}
            if command[0] != sys.executable:
                environment.pop("PYTHONPATH", None)  # its libraries are its own
            started = time.perf_counter()
            self.log = log.open("w")
            pipe = subprocess.PIPE
            self.p = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=self.log, env=environment)
            self.hello = self.read(300)
            self.startup_s = time.perf_counter() - started
            if not self.hello.get("ok"):
                self.dead = self.hello.get("error", "did not start")

    return Process


def command(module: ModuleType, name: str, model: str) -> list[str]:
    """How an engine's process is started."""
    folder = Path(os.environ[PEERS])
    if name in VARIANTS or name in SERVERS:
        return [sys.executable, str(WORKER), name, model, str(folder / "workloads.json")]
    known = module.list_peers()
    if name not in known:
        raise SystemExit(f"there is no engine {name!r}; there are {', '.join([*VARIANTS, *SERVERS, *known])}")
    python = os.environ.get(PYTHON, sys.executable)
    weights = os.environ.get("SGL_BENCH_MODEL", "")
    return [python, str(folder / "worker.py"), known[name], name, weights, str(folder / "workloads.json")]


def measure(module: ModuleType, options: argparse.Namespace) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The rows of every engine, workload and round; and what the engines said of themselves."""
    import tokenizers

    folder = Path(os.environ[PEERS])
    workloads = json.loads((folder / "workloads.json").read_text(encoding="utf-8"))["workloads"]
    known = tokenizers.Tokenizer.from_file(os.environ["SGL_BENCH_MODEL"] + "/tokenizer.json")
    count = lambda text: len(known.encode(text, add_special_tokens=False).ids)  # noqa: E731
    checker = module.Checker(workloads)
    lock = module.Lock(options.lock)
    started: dict[str, Any] = {}
    rows: list[dict[str, Any]] = []
    names = options.engines.split(",")
    process = processes(module)
    Path(options.logs).mkdir(parents=True, exist_ok=True)
    try:
        for name in names:
            log = Path(options.logs) / f"{name.replace(' ', '-')}.log"
            started[name] = process(name, command(module, name, options.model), log, options.threads)
            said = started[name].dead or f"ready in {started[name].startup_s:.1f} s"
            print(f"  {name:<20} {said}", flush=True)
        for number in range(options.rounds):
            for wid in options.workloads.split(","):
                workload = workloads[wid]
                chosen = module.pick(len(workload["items"]), options.fraction, options.least)
                live = [name for name in names if not started[name].dead]
                print(f"{wid}: {workload['title']}, {len(chosen)} requests, round {number + 1}", flush=True)
                order = live if number % 2 == 0 else live[::-1]
                rows += module.measure(
                    wid, workload, order, started, chosen, checker, count, lock, options, number
                )
    finally:
        lock.drop()
        for each in started.values():
            each.quit()
    about = {name: dict(each.hello, dead=each.dead, startup=each.startup_s) for name, each in started.items()}
    return rows, about


def table(rows: list[dict[str, Any]], about: dict[str, Any]) -> str:
    """Seconds a request (median of the rounds), valid answers, and forward passes a request."""
    workloads = list(dict.fromkeys(row["workload"] for row in rows))
    lines = ["| engine | " + " | ".join(workloads) + " |", "|---|" + "--:|" * len(workloads)]
    best: dict[str, float] = {}
    for wid in workloads:
        times = {name: _seconds(rows, name, wid) for name in about}
        best[wid] = min((seconds for seconds, *_ in filter(None, times.values())), default=0.0)
    for name in about:
        cells = []
        for wid in workloads:
            found = _seconds(rows, name, wid)
            if found is None:
                failed = next((row for row in rows if row["peer"] == name and row["workload"] == wid), None)
                cells.append(failed["status"] if failed else "")
                continue
            seconds, used, valid, forwards, batched = found
            shown = f"**{_short(seconds)}**" if seconds <= best[wid] else _short(seconds)
            wrong = "" if valid >= 100 else f", {valid:.0f} % valid"
            alone = ", one by one" if wid == "W6" and not batched else ""
            passes = f", {forwards:.0f} f" if forwards else ""
            cells.append(f"{shown} s ({_short(used)}){passes}{wrong}{alone}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _short(seconds: float) -> str:
    return f"{seconds:.3f}" if seconds < 0.1 else f"{seconds:.2f}"


def _seconds(
    rows: list[dict[str, Any]], name: str, wid: str
) -> tuple[float, float, float, float, bool] | None:
    """Seconds a request by the clock and of processors, percent valid, forward passes, whether as a "
    "batch."""
    own = [row for row in rows if row["peer"] == name and row["workload"] == wid and row.get("wall_s")]
    if not own:
        return None
    each = sorted(row["wall_s"] / row["n"] for row in own)
    used = sorted(row["cpu_s"] / row["n"] for row in own)
    valid = min(row["valid_pct"] for row in own)
    forwards = sum(row["forwards"] for row in own) / sum(row["n"] for row in own)
    return each[len(each) // 2], used[len(used) // 2], valid, forwards, any(row["batched"] for row in own)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model")
    parser.add_argument("--engines", default="sglc,xgrammar+kv,llguidance+kv,guidance,llama-server")
    parser.add_argument("--workloads", default="W1,W2,W3,W4,W5,W6,W7")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--fraction", type=float, default=1.0, help="share of the requests of each workload")
    parser.add_argument("--least", type=int, default=3, help="but at least so many")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--sequential-cap", type=int, default=ONE_BY_ONE)
    parser.add_argument("--item-seconds", type=float, default=90, help="four times as many for a batch")
    parser.add_argument("--batch-seconds", type=float, default=600)
    parser.add_argument("--prepare-seconds", type=float, default=200)
    parser.add_argument("--lock", help="a lock file that is held while something is timed")
    parser.add_argument("--logs", default="/tmp/sglc-end-to-end")
    parser.add_argument("--out", help="where to write all results as JSON")
    parser.add_argument("--markdown")
    options = parser.parse_args()
    os.environ["SGL_BENCH_THREADS"] = str(options.threads)
    os.environ["SGL_BENCH_ITEM_SECONDS"] = str(options.item_seconds)
    module = harness()
    surrounding = surroundings()
    rows, about = measure(module, options)
    for name, said in about.items():
        for package, number in (said.get("versions") or {}).items():
            if number:
                surrounding["engines"][package] = {"version": number}
        if said["dead"]:
            print(f"{name}: {said['dead']}")
    body = table(rows, about)
    print(body)
    if options.out:
        Path(options.out).write_text(json.dumps({"about": about, "rows": rows}, indent=1), encoding="utf-8")
    if options.markdown:
        words = (
            "Seconds a request, in brackets those of processors, and forward passes a request (`f`), all "
            f"with the same prompts, greedy, {options.threads} threads each, requests going round the "
            "engines; less is better. W6 is 64 requests at the same time, for engines without batches "
            f"{options.sequential_cap} of them one by one. Texts that the judge finds wrong are said. "
            "The engines on transformers run in bfloat16, `+kv` keeps what the model has computed from "
            "request to request; llama-server has the file that it is fastest with, and its forward "
            "passes are not known."
        )
        titles = ", ".join(options.workloads.split(","))
        write_page(options.markdown, f"End to end: {titles}", words, body, surrounding)


if __name__ == "__main__":
    main()
