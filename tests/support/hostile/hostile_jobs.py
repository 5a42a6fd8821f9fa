"""Runs hostile inputs through `job_worker`, and says which of them were not met as they should be."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

MEMORY = 2 << 30
"""Bytes that no hostile input may make a process take."""
_CODE = re.compile(r"error\[(E\d{4})\]")


@dataclass(frozen=True)
class Job:
    """A command line, and what in the answer is right besides 0."""

    name: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Ended:
    """How a job ended. `code` is below zero for a signal; `errors` are the codes of the diagnostics shown."""

    job: Job
    code: int
    output: str
    peak: int = 0

    @property
    def errors(self) -> tuple[str, ...]:
        return tuple(_CODE.findall(self.output))

    def fault(self, codes: Sequence[str]) -> str:
        """What is wrong with how it ended; empty if nothing is. `codes` begin the names of errors allowed."""
        if self.code < 0:
            return f"killed by signal {-self.code}"
        if "Traceback" in self.output or "internal error" in self.output:
            return self.output[-600:]
        if self.peak > MEMORY:
            return f"took {self.peak >> 20} MiB"
        if self.code == 0:
            return ""
        if self.code != 1 or not self.errors or not self.errors[0].startswith(tuple(codes)):
            return f"exit {self.code}: {self.output[-600:]}"
        return ""


def run_jobs(jobs: Sequence[Job], folder: Path, environment: Mapping[str, str], limit: float) -> list[Ended]:
    """How all jobs end. A process that dies takes one job with it; the next one goes on behind it."""
    ended: list[Ended] = []
    results = folder / "results.jsonl"
    while len(ended) < len(jobs):
        rest = jobs[len(ended) :]
        listed = [{"name": job.name, "arguments": job.arguments} for job in rest]
        (folder / "jobs.json").write_text(json.dumps(listed))
        results.unlink(missing_ok=True)
        done = subprocess.run(
            [
                sys.executable,
                "-P",
                str(Path(__file__).with_name("job_worker.py")),
                str(folder / "jobs.json"),
                str(results),
            ],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=limit,
        )
        lines = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
        whole = [line for line in lines if "ended" in line]
        ended += [Ended(rest[line["ended"]], line["code"], line["output"], line["peak"]) for line in whole]
        if len(whole) < len(rest):
            assert len(lines) > 0, done.stderr
            code = done.returncode if done.returncode < 0 else -1
            text = done.stderr if "Traceback" in done.stderr else f"the process ended with {done.returncode}"
            ended.append(Ended(rest[len(whole)], code, text))
    return ended
