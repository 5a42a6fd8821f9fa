"""llama.cpp's server as an engine of the end-to-end benchmark; see `end_to_end.py`.

It gets constraints in its own notations: JSON Schemas as they are, grammars as GBNF, patterns and choices as
GBNF too. One server with one slot answers single requests, and keeps the last prompt; another one with a slot
for each answers 64 at once.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from engine import llama_cpp

SLOTS = 64


class LlamaServer:
    """`which` is `best` or `shipped`, the model's file. Files and threads are told by the environment."""

    def __init__(self, which: str, workloads: dict[str, Any]) -> None:
        self.which = which
        self.workloads = workloads
        self.pool = ThreadPoolExecutor(SLOTS)

    def load(self) -> dict[str, str]:
        files = list(llama_cpp.files().values())
        path = files[0] if self.which == "shipped" else files[-1]
        threads = int(os.environ["SGL_BENCH_THREADS"])
        self.single = llama_cpp.Server(path, slots=1, threads=threads, context=2048).__enter__()
        self.many = llama_cpp.Server(path, slots=SLOTS, threads=threads).__enter__()
        self.single.complete("Hello", n_predict=2)
        self.many.complete("Hello", n_predict=2)
        self._notation = _notation()
        return {"llama.cpp": llama_cpp.version()}

    def counts(self) -> tuple[int, int]:
        return 0, 0

    def seconds(self) -> float:
        return time.process_time() + self.single.seconds() + self.many.seconds()

    def close(self) -> None:
        self.single.__exit__(None, None, None)
        self.many.__exit__(None, None, None)

    def run(self, name: str, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        server = self.single if len(items) == 1 else self.many
        return list(self.pool.map(lambda item: self._one(server, name, item), items))

    def _one(self, server: llama_cpp.Server, name: str, item: dict[str, Any]) -> dict[str, Any]:
        workload = self.workloads[name]
        if workload["kind"] == "program":
            return self._program(server, item)
        constraint = self._constraint(item.get("constraint") or workload["constraint"])
        said = server.complete(item["prompt"], n_predict=workload["max_tokens"], **constraint)
        return {"text": said["content"], "gen_tokens": said["tokens_predicted"]}

    def _program(self, server: llama_cpp.Server, item: dict[str, Any]) -> dict[str, Any]:
        text, parts, tokens = "", {}, 0
        for part in item["parts"]:
            if isinstance(part, str):
                text += part
                continue
            if "stop" in part:
                options: dict[str, Any] = {"stop": [part["stop"]]}
            else:
                options = self._constraint({"type": "regex", "regex": part["regex"]})
            said = server.complete(text, n_predict=part["max_tokens"], **options)
            parts[part["gen"]] = said["content"].rstrip("\n")
            text += parts[part["gen"]]
            tokens += said["tokens_predicted"]
        return {"parts": parts, "gen_tokens": tokens}

    def _constraint(self, constraint: dict[str, Any]) -> dict[str, Any]:
        """The server's option for a constraint of the workloads."""
        if constraint["type"] == "json_schema":
            return {"json_schema": constraint["schema"]}
        if constraint["type"] == "regex":
            return {"grammar": self._notation.regex_to_gbnf(constraint["regex"])}
        if constraint["type"] == "choice":
            return {"grammar": self._notation.gbnf_choice(constraint["choices"])}
        return {"grammar": constraint["gbnf"]}


def _notation() -> Any:
    """The module of the other libraries that writes patterns as GBNF."""
    folder = Path(os.environ["SGLC_BENCH_PEERS"])
    sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location("peer_llama", folder / "peers" / "llama_cpp_py.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
