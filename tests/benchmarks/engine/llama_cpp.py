"""llama.cpp beside which the engine is measured: its own benchmark programs and its server.

What is needed is given by the environment:

    SGLC_BENCH_LLAMA_BIN=DIR        llama-bench, llama-batched-bench and llama-server
    SGLC_BENCH_GGUF=FILE            the model's file as it is shipped
    SGLC_BENCH_GGUF_BEST=FILE[:…]   the same model in the formats that llama.cpp is fastest with (optional)
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

BINARIES = "SGLC_BENCH_LLAMA_BIN"
FILE = "SGLC_BENCH_GGUF"
BEST = "SGLC_BENCH_GGUF_BEST"
START_SECONDS = 60
REQUEST_SECONDS = 600


class Missing(Exception):
    """llama.cpp or a model file is not there; the message says which variable names it."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """Tokens a second of one run: reading `batch` prompts, then writing one token for each at every step."""

    batch: int
    prompt: float
    generated: float


def program(name: str) -> str:
    """The path of one of llama.cpp's programs."""
    folder = os.environ.get(BINARIES)
    if not folder:
        raise Missing(f"{BINARIES} is not set: the folder of {name}")
    path = Path(folder) / name
    if not path.exists():
        raise Missing(f"{BINARIES}: there is no {path}")
    return str(path)


def shipped() -> str:
    """The model's file as it is shipped."""
    path = os.environ.get(FILE)
    if not path or not Path(path).exists():
        raise Missing(f"{FILE} is not set, or names no file: the model as GGUF")
    return path


def files() -> dict[str, str]:
    """The model's files by what they are called in tables, the shipped one first."""
    paths = [shipped(), *filter(None, os.environ.get(BEST, "").split(":"))]
    for path in paths:
        if not Path(path).exists():
            raise Missing(f"{BEST}: there is no {path}")
    return {Path(path).stem.rpartition(".")[2]: path for path in paths}


def version() -> str:
    """What llama.cpp says of itself."""
    said = subprocess.run([program("llama-bench"), "--version"], capture_output=True, text=True)
    words = (said.stdout + said.stderr).split()
    return words[words.index("version:") + 1] if "version:" in words else "of unknown version"


def batched_bench(
    path: str, *, batches: list[int], prompt: int, generated: int, threads: int
) -> list[Decoding]:
    """What `llama-batched-bench` measures, a row for each batch size."""
    most = max(batches) * (prompt + generated)
    asked = [program("llama-batched-bench"), "-m", path, "-t", str(threads), "-tb", str(threads)]
    asked += ["-c", str(most + 256), "-b", "2048", "-ub", "512", "--output-format", "jsonl"]
    asked += ["-npp", str(prompt), "-ntg", str(generated), "-npl", ",".join(map(str, batches))]
    said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    rows = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    return [Decoding(int(row["pl"]), float(row["speed_pp"]), float(row["speed_tg"])) for row in rows]


def bench(path: str, *, prompt: int, generated: int, threads: int) -> tuple[float, float]:
    """What `llama-bench` measures: tokens a second of reading a prompt, and of writing from nothing."""
    asked = [program("llama-bench"), "-m", path, "-t", str(threads), "-r", "1", "-o", "jsonl"]
    asked += ["-p", str(prompt), "-n", str(generated)]
    said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    rows = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    reading = next(row for row in rows if row["n_gen"] == 0)
    writing = next(row for row in rows if row["n_gen"] > 0)
    return float(reading["avg_ts"]), float(writing["avg_ts"])


class Server:
    """`with Server(path, slots=32, threads=2) as server: server.complete(…)`; on a free local port. `before`
    are words before its command, such as those of `nice`."""

    def __init__(
        self, path: str, *, slots: int, threads: int, context: int = 512, before: Sequence[str] = ()
    ) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self._url = f"http://127.0.0.1:{port}"
        asked = [*before, program("llama-server"), "-m", path, "-t", str(threads), "-tb", str(threads)]
        asked += ["-np", str(slots), "-c", str(slots * context), "-b", "2048", "-ub", "512"]
        asked += ["--host", "127.0.0.1", "--port", str(port), "--no-webui"]
        self._asked = asked

    def __enter__(self) -> Server:
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(self._asked, stdout=quiet, stderr=quiet)
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self._process.poll() is None:
            try:
                urllib.request.urlopen(self._url + "/health", timeout=1)
                return self
            except OSError:
                time.sleep(0.05)
        self.__exit__(None, None, None)
        raise Missing(f"llama-server does not start: {' '.join(self._asked)}")

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait()

    def seconds(self) -> float:
        """Processor time that the server has used."""
        words = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def complete(self, prompt: str, **options: Any) -> Mapping[str, Any]:
        """One completion, greedy; blocks."""
        body = {"prompt": prompt, "temperature": 0, "cache_prompt": True, **options}
        request = urllib.request.Request(
            self._url + "/completion", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=REQUEST_SECONDS) as answer:
            return dict(json.load(answer))
