"""One engine in a process of its own: the program that runs there, and the handle that drives it.

The driver writes one job a line (JSON) to the process and reads its answers; a process that is too slow or
dies is replaced by a new one, and what happened becomes the result of the job. Times are nanoseconds: wall
clock, or the processor time of the process where that is less (so that waiting for a busy machine does not
count).
"""

from __future__ import annotations

import gc
import json
import os
import random
import resource
import select
import subprocess
import sys
import tempfile
import time
import traceback
from bisect import bisect_right
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mask.batch_engines import measure
from mask.mask_engines import ENGINES, Engine, GaveUp, Refused, TokenizerFile

START_SECONDS = 300
CONTEXT_TOKENS = 12
SLOWEST = 5
WALK_TOKENS = 48
"""Tokens of a random text at most."""
PEER_PYTHON = "SGLC_BENCH_PEER_PYTHON"
"""Environment variable: the Python that has the other engines."""


# In the process of the engine


class Clock:
    """`with Clock() as clock: ...`, then `clock.ns`."""

    def __enter__(self) -> Clock:
        self._cpu, self._wall = time.process_time_ns(), time.perf_counter_ns()
        return self

    def __exit__(self, *fault: object) -> None:
        wall, cpu = time.perf_counter_ns(), time.process_time_ns()
        self.ns = min(wall - self._wall, cpu - self._cpu)


class Replay:
    """Texts written through the masks of one constraint, token by token, with the times of it."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.masks: list[int] = []
        self.commits: list[int] = []

    def text(self, tokens: list[int]) -> tuple[bool, int, str | None]:
        """Whether the tokens and then the end are allowed; how many were taken; why the engine gave up."""
        engine, masks, commits = self.engine, self.masks, self.commits
        wall, cpu = time.perf_counter_ns, time.process_time_ns
        mask, commit, allows = engine.mask, engine.commit, engine.allows
        try:
            for position, token in enumerate(tokens):
                cpu_start, start = cpu(), wall()
                mask()
                stop, cpu_stop = wall(), cpu()
                masks.append(min(stop - start, cpu_stop - cpu_start))
                if not allows(token):
                    return False, position, engine.fault()
                cpu_start, start = cpu(), wall()
                taken = commit(token)
                stop, cpu_stop = wall(), cpu()
                commits.append(min(stop - start, cpu_stop - cpu_start))
                if not taken:
                    return False, position, engine.fault() or "the mask allows a token that is refused"
            mask()
        except GaveUp as fault:
            return False, len(commits), str(fault)
        return engine.allows(engine.tokenizer.end), len(tokens), engine.fault()

    def walk(self, chance: random.Random) -> list[int]:
        """A new text of tokens that come by chance, each as likely as any other that is allowed.

        Raises GaveUp.
        """
        engine, end = self.engine, self.engine.tokenizer.end
        tokens: list[int] = []
        engine.start()
        for _ in range(WALK_TOKENS):
            with Clock() as clock:
                engine.mask()
            self.masks.append(clock.ns)
            bits = np.unpackbits(engine.array.view(np.uint8), bitorder="little")
            allowed = [token for token in np.flatnonzero(bits).tolist() if token != end]
            if not allowed:
                break
            tokens.append(chance.choice(allowed))
            with Clock() as clock:
                taken = engine.commit(tokens[-1])
            self.commits.append(clock.ns)
            assert taken, "the mask allows a token that is refused"
        return tokens


def serve(name: str, tokenizer_path: str) -> None:
    """Answer jobs from standard input until it ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what an engine prints does not get between the answers

    def answer(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message, separators=(",", ":")) + "\n")
        answers.flush()

    started = time.perf_counter()
    engine = ENGINES[name](TokenizerFile(tokenizer_path))
    warm_up(engine)
    gc.collect()
    answer({"version": engine.version(), "start_seconds": time.perf_counter() - started})
    for line in sys.stdin:
        job = json.loads(line)
        gc.collect()
        try:
            done = measure(engine, job) if job["kind"] == "batch" else _first(engine, job, answer)
            if "first" in done and job.get("again"):
                answer({"stage": "again", "result": done})
                done["again"] = _again(engine, job)
        except Exception as fault:
            where = traceback.extract_tb(fault.__traceback__)[-1]
            why = f"{type(fault).__name__}: {fault} ({Path(where.filename).name}:{where.lineno})"
            done = {"outcome": "crash", "why": why[:400]}
        answer({"done": done})


WARM_UP = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


def warm_up(engine: Engine) -> None:
    """Imports, compiled code and tables of the vocabulary are no part of the first constraint."""
    for kind, constraint, text in (
        ("regex", "[a-z]{1,3} x?", "abc x"),
        ("schema", WARM_UP, '{"a": "x y"}'),
        ("lark", 'start: "a" /[b-d]+/\n', "abc"),
    ):
        try:
            engine.compile(kind, constraint, {})
        except Refused:
            continue
        engine.start()
        Replay(engine).text(engine.tokenizer.encode(text))


def _first(engine: Engine, job: dict[str, Any], answer: Any) -> dict[str, Any]:
    """Compile and replay every text, cold."""
    texts = [(engine.tokenizer.encode(text), valid) for text, valid in job["texts"]]
    done: dict[str, Any] = {"outcome": "right", "wrong": [], "texts": len(texts)}
    with Clock() as compiling:
        try:
            engine.compile(job["kind"], job["constraint"], job.get("options", {}))
            refused = None
        except Refused as fault:
            refused = str(fault)
    if refused is not None and "no JSON value satisfies" in refused:  # which answers for every text
        done["wrong"] = [
            {"text": number, "kind": "over", "why": None, "context": refused[:200]}
            for number, (_, valid) in enumerate(texts)
            if valid
        ]
        return done | {"outcome": "over" if done["wrong"] else "right", "compile": compiling.ns}
    if refused is not None:
        return {"outcome": "refused", "why": refused[:400], "compile": compiling.ns}
    answer({"stage": "masks", "result": {"compile": compiling.ns}})
    try:
        with Clock() as starting:
            engine.start()
        with Clock() as first:
            engine.mask()
    except GaveUp as fault:
        return {"outcome": "gave up", "why": str(fault)[:400], "compile": compiling.ns}
    if fault_of := engine.fault():
        return {"outcome": "gave up", "why": fault_of[:400], "compile": compiling.ns}
    replay = Replay(engine)
    starts = []
    for number, (tokens, valid) in enumerate(texts):
        if number:
            engine.start()
        starts.append(len(replay.masks))
        legal, taken, why = replay.text(tokens)
        if legal != valid or why is not None:
            kind = "gave up" if why is not None else "under" if legal else "over"
            done["wrong"].append(
                {
                    "text": number,
                    "kind": kind,
                    "why": why and why[:300],
                    "context": _context(engine.tokenizer, tokens, taken),
                }
            )
    written = [tokens for tokens, _ in texts]
    try:
        for seed in range(job.get("walks", 0)):
            starts.append(len(replay.masks))
            written.append(replay.walk(random.Random(seed)))
    except GaveUp as fault:
        number = len(written)
        done["wrong"].append({"text": number, "kind": "gave up", "why": str(fault)[:300], "context": ""})
    kinds = {wrong["kind"] for wrong in done["wrong"]}
    if "gave up" in kinds:
        done["why"] = next(wrong["why"] for wrong in done["wrong"] if wrong["kind"] == "gave up")
    done["outcome"] = next((kind for kind in ("under", "gave up", "over") if kind in kinds), "right")
    done |= {"compile": compiling.ns, "start": starting.ns, "first": starting.ns + first.ns}
    done |= {"masks": replay.masks, "commits": replay.commits}
    done["slowest"] = _slowest(engine.tokenizer, replay.masks, starts, [*written, []])
    return done


def _slowest(
    tokenizer: TokenizerFile, masks: list[int], starts: list[int], texts: list[list[int]]
) -> list[dict[str, Any]]:
    """The masks that took longest, with their place."""
    found = []
    for index in sorted(range(len(masks)), key=masks.__getitem__)[: -SLOWEST - 1 : -1]:
        number = bisect_right(starts, index) - 1
        context = _context(tokenizer, texts[number], index - starts[number])
        found.append({"ns": masks[index], "text": number, "context": context})
    return found


def _context(tokenizer: TokenizerFile, tokens: list[int], taken: int) -> str:
    """What was written last and, in brackets, what comes next."""
    shown = tokenizer.decode(tokens[max(0, taken - CONTEXT_TOKENS) : taken])
    return f"{shown}\u27e6{tokenizer.decode(tokens[taken : taken + 1])}\u27e7"


def _again(engine: Engine, job: dict[str, Any]) -> dict[str, Any]:
    """The same texts once more under the same constraint, and compiling it once more."""
    texts = [engine.tokenizer.encode(text) for text, _ in job["texts"]]
    for tokens in texts:  # once unmeasured: the other engines keep what they learn with the text, not shared
        engine.again()
        Replay(engine).text(tokens)
    replay = Replay(engine)
    for tokens in texts:
        engine.again()
        replay.text(tokens)
    with Clock() as compiling:
        engine.compile(job["kind"], job["constraint"], job.get("options", {}))
    with Clock() as first:
        engine.start()
        engine.mask()
    return {"masks": replay.masks, "commits": replay.commits, "compile": compiling.ns, "first": first.ns}


# In the process of the driver


class Worker:
    """The process of one engine, started when it is needed and once more after it was lost."""

    def __init__(self, engine: str, tokenizer: str, python: str, memory_gib: int, cpu: int | None) -> None:
        self.engine = engine
        self.version = "?"
        self.start_seconds = 0.0
        self._command = [python, str(Path(__file__).resolve()), engine, tokenizer]
        self._limits = (memory_gib << 30, cpu)
        self._process: subprocess.Popen[bytes] | None = None
        self._pending = b""

    def start(self) -> None:
        """Raises SystemExit with what the process said if it does not start."""
        self._said = tempfile.TemporaryFile()  # engines write warnings by the thousand
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            preexec_fn=self._limit,
        )
        self._pending = b""
        try:
            ready = self._receive(time.monotonic() + START_SECONDS)
        except EOFError:
            ready = None
        if ready is None:
            self.close()
            raise SystemExit(f"{self.engine}: {' '.join(self._command)} does not start\n{self._last_words()}")
        self.version, self.start_seconds = ready["version"], ready["start_seconds"]

    def _limit(self) -> None:
        memory, cpu = self._limits
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        if cpu is not None:
            os.sched_setaffinity(0, {cpu})

    def run(self, job: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The result of a job; its outcome is `timeout` or `crash` if the process was lost."""
        if self._process is None:
            self.start()
        assert self._process is not None and self._process.stdin is not None
        known: dict[str, Any] = {}
        stage = "compile"
        try:
            self._process.stdin.write((json.dumps(job) + "\n").encode())
            self._process.stdin.flush()
            deadline = time.monotonic() + seconds
            while True:
                message = self._receive(deadline)
                if message is None:
                    self.close()
                    lost = {"outcome": "timeout", "why": f"more than {seconds:.0f} s in {stage}"}
                    break
                if "done" in message:
                    return message["done"]
                stage, known = message["stage"], message["result"]
        except (EOFError, BrokenPipeError):
            status = self.close()
            why = f"the process ended with {status} in {stage}: {self._last_words(200)}"
            lost = {"outcome": "crash", "why": why}
        return known | {"again": None} if stage == "again" else known | lost

    def _receive(self, deadline: float) -> dict[str, Any] | None:
        """One message; None when the deadline has passed. Raises EOFError when the process is gone."""
        assert self._process is not None and self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        while b"\n" not in self._pending:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([pipe], [], [], left)[0]:
                return None
            piece = os.read(pipe, 1 << 20)
            if not piece:
                raise EOFError
            self._pending += piece
        line, self._pending = self._pending.split(b"\n", 1)
        return dict(json.loads(line))

    def _last_words(self, most: int = 2000) -> str:
        """The end of what the process wrote to its standard error."""
        self._said.seek(0)
        return self._said.read()[-most:].decode(errors="replace").strip()

    def close(self) -> int | None:
        process, self._process = self._process, None
        if process is None:
            return None
        process.kill()
        return process.wait()


def workers(
    engines: list[str], tokenizer: str, pythons: dict[str, str], memory_gib: int, cpu: int | None
) -> list[Worker]:
    """A worker for each engine; `pythons` says with which Python (else, for peers, the environment does)."""
    made = []
    for engine in engines:
        if engine not in ENGINES:
            raise SystemExit(f"there is no engine {engine!r}; there are {', '.join(ENGINES)}")
        default = (
            sys.executable
            if ENGINES[engine].package == "sglc"
            else os.environ.get(PEER_PYTHON, sys.executable)
        )
        python = pythons.get(engine) or pythons.get(ENGINES[engine].package) or default
        made.append(Worker(engine, tokenizer, python, memory_gib, cpu))
    for worker in made:
        worker.start()
    return made


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2])
