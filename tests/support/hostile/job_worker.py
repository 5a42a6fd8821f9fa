"""Runs command lines that meet hostile files, one after the other in one process, and notes how each ends.

`python job_worker.py JOBS RESULTS`: JOBS holds a JSON list of {"name", "arguments"}; to RESULTS goes a
line for each when it begins and one when it ends. A job that a signal kills has begun and not ended.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
import warnings
from pathlib import Path

SECONDS = 60
"""Most a job may take on a busy machine; none needs more than two on a quiet one."""
DATA = 4 << 30
"""Bytes of memory that the process may ask for: what asks for more fails, and does not stop the machine."""


def main(jobs: Path, results: Path) -> None:
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_DATA, (DATA, DATA))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from hostile.peak_memory import peak_bytes
    from sglc.cli import main as sglc

    with results.open("w") as told, tempfile.TemporaryFile() as said:
        for place, job in enumerate(json.loads(jobs.read_text())):
            print(json.dumps({"begins": place}), file=told, flush=True)
            said.seek(0)
            said.truncate()
            kept = os.dup(1), os.dup(2)
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
            signal.alarm(SECONDS)
            try:
                code = sglc(["--traceback", *job["arguments"]])
            finally:
                signal.alarm(0)
                sys.stdout.flush()
                sys.stderr.flush()
                for number, descriptor in enumerate(kept, 1):
                    os.dup2(descriptor, number)
                    os.close(descriptor)
            said.seek(0)
            output = said.read(100_000).decode("utf-8", "replace")
            peak = peak_bytes()
            ended = {"ended": place, "code": code, "output": output, "peak": peak}
            print(json.dumps(ended), file=told, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
