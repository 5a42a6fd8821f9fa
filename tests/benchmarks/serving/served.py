"""Servers that are measured: ours, and peers, which run only while they are measured or run already.

A peer that is started here is a command with everything that it starts: they are one group of processes, and
it is ended as a whole, so that nothing takes memory or processors from who is measured next.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine import llama_cpp
from engine.engine_server import PROGRAM

HEALTH = ("/health", "/v1/models")
"""Paths of which one answers 200 once a server takes requests."""
TIMED = Path(__file__).with_name("timed_serve.py")
END_SECONDS = 10.0
"""Seconds that a peer has to end before it is killed."""
TAIL = 2000
"""Bytes of a peer's output that are shown where it does not start."""

Make = Callable[[], contextlib.AbstractContextManager["Served"]]
"""Has a server run while a block is left open."""


@dataclass(frozen=True)
class Served:
    """A server that runs."""

    name: str
    address: str
    model: str
    process: int | None = None
    keys: tuple[str, ...] = ()


def behind(options: argparse.Namespace) -> list[str]:
    """What stands before the command of every server that is started here: the client goes first, and all
    servers are alike."""
    return ["nice", "-n", str(options.ahead)] if options.ahead else []


@contextlib.contextmanager
def ours(
    options: argparse.Namespace, *more: str, keys: int = 0, times: Path | None = None
) -> Iterator[Served]:
    """`sglc serve` over the program, until the block ends. Then `times` has what `timed_serve.py` notes."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "harbour.sgl"
        program.write_text(PROGRAM.replace("\nfn ", "\npub fn "), encoding="utf-8")
        given, table = [], ""
        for number in range(keys):
            made = subprocess.run(
                [sys.executable, "-P", "-m", "sglc", "serve", "--new-key", f"tenant{number}"],
                capture_output=True,
                text=True,
                check=True,
            )
            given.append(made.stdout.strip())
            table += made.stderr
        if keys:
            (Path(folder) / "keys.toml").write_text(table, encoding="utf-8")
            more = (*more, "--keys", str(Path(folder) / "keys.toml"))
        begin = [sys.executable, "-P", *(["-m", "sglc"] if times is None else map(str, (TIMED, times)))]
        command = [*begin, "serve", str(program), "--model", options.model]
        command += ["--port", "0", *_engines(options), "--no-access-log", *more]
        process = subprocess.Popen([*behind(options), *command], stderr=subprocess.PIPE, text=True)
        try:
            assert process.stderr is not None
            found = None
            while found is None and (line := process.stderr.readline()):
                found = re.search(r" at (http://\S+)$", line)
            if found is None:
                raise SystemExit("sglc serve does not start")
            name = f"sglc, {options.workers} workers" if options.workers else "sglc"
            yield Served(name, found[1], options.model, process.pid, tuple(given))
        finally:
            process.terminate()
            process.communicate()


def _engines(options: argparse.Namespace) -> list[str]:
    """The threads of the engine, or of all workers together, and the memory of each."""
    memory = ["--kv-memory", options.kv_memory] if options.kv_memory else []
    if not options.workers:
        return [*memory, "--threads", str(options.threads)]
    each = max(1, options.threads // options.workers)
    return [*memory, "--workers", str(options.workers), "--threads", str(each)]


# -- peers ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Peer:
    """Another server, as `NAME=URL#MODEL` and its command say: how it is started and where it answers."""

    name: str
    address: str
    model: str
    command: tuple[str, ...]
    seconds: float
    """Within which it must take requests."""

    @contextlib.contextmanager
    def running(self) -> Iterator[Served]:
        """It runs until the block ends; then its whole group of processes has ended. Raises SystemExit where
        it does not start, or something else answers at its address."""
        if answers(self.address):
            raise SystemExit(f"{self.name}: something answers at {self.address} already; use --peer for it")
        with tempfile.TemporaryFile() as told:
            process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=told,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                if not self._starts(process):
                    told.seek(max(0, told.seek(0, os.SEEK_END) - TAIL))
                    shown = told.read().decode(errors="replace")
                    state = "has ended" if process.poll() is not None else f"takes over {self.seconds:g} s"
                    raise SystemExit(f"{self.name} does not start: it {state}\n{shown}")
                yield Served(self.name, self.address, self.model, process.pid)
            finally:
                end_group(process)

    def _starts(self, process: subprocess.Popen[bytes]) -> bool:
        end = time.monotonic() + self.seconds
        while time.monotonic() < end and process.poll() is None:
            if answers(self.address):
                return True
            time.sleep(0.1)
        return False


def answers(address: str) -> bool:
    """Whether a server says at its address that it takes requests."""
    for path in HEALTH:
        try:
            with urllib.request.urlopen(address + path, timeout=2) as reply:
                if reply.status == 200:
                    return True
        except urllib.error.HTTPError:
            continue
        except (OSError, ValueError):
            return False
    return False


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process that leads a group, and all of the group: asked first, killed after END_SECONDS."""
    for signal_, seconds in ((signal.SIGTERM, END_SECONDS), (signal.SIGKILL, END_SECONDS)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal_)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            process.poll()  # else it stays as a zombie of its group
            if not _lives(process.pid):
                return
            time.sleep(0.05)


def _lives(group: int) -> bool:
    """Whether a group has a process that has not ended. One that has, and whose parent has not looked yet,
    takes neither memory nor processors."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if int(words[2]) == group and words[0] not in "ZX":
                return True
    return False


def peer_of(text: str, seconds: float, before: Sequence[str] = ()) -> Peer:
    """A peer as `--peer-command` has it: `NAME=URL#MODEL=COMMAND …`, the command as a shell splits it, behind
    the words in `before`. Raises SystemExit for what is none."""
    found = re.fullmatch(r"([^=#]+)=(https?://[^#\s]+)#([^=]+)=(.+)", text, re.DOTALL)
    command = shlex.split(found[4]) if found else []
    if found is None or not command:
        raise SystemExit(f"--peer-command is NAME=URL#MODEL=COMMAND …, not {text!r}")
    return Peer(found[1], found[2].rstrip("/"), found[3], (*before, *command), seconds)


def peers(options: argparse.Namespace) -> list[Make]:
    """Ways to have each peer run: those that run already, commands, and llama-server where
    `engine/llama_cpp.py` finds it."""
    made: list[Make] = []
    for each in options.peer:
        name, _, rest = each.partition("=")
        address, _, model = rest.partition("#")
        found = re.fullmatch(r"(.*)@(\d+)", name)
        process = int(found[2]) if found else None
        served = Served(found[1] if found else name, address, model, process)
        made.append(lambda served=served: contextlib.nullcontext(served))
    made += [peer_of(each, options.peer_seconds, behind(options)).running for each in options.peer_command]
    with contextlib.suppress(llama_cpp.Missing):
        for name, path in llama_cpp.files().items():
            made.append(lambda name=name, path=path: _llama(name, path, options))
    return made


@contextlib.contextmanager
def _llama(name: str, path: str, options: argparse.Namespace) -> Iterator[Served]:
    with llama_cpp.Server(
        path, slots=32, threads=options.threads, context=768, before=behind(options)
    ) as server:
        yield Served(f"llama-server {name}", server._url, "smollm2", server._process.pid)
