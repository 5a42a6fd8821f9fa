"""What benchmarks print about their surroundings, and the pages of docs/benchmarks that they write."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

REVISION = "SGLC_BENCH_REVISION"
"""Environment variable: the revision of sglc, where it cannot be asked of git."""
PACKAGES = ("numpy", "llvmlite")


def processor() -> str:
    """The name of the processor."""
    return _field("/proc/cpuinfo", "model name") or platform.processor()


def clock() -> str:
    """The present clock of the processor."""
    found = _field("/proc/cpuinfo", "cpu MHz")
    return f"{float(found) / 1000:.1f} GHz" if found else "unknown"


def memory() -> str:
    """The memory of the machine."""
    found = _field("/proc/meminfo", "MemTotal")
    return f"{int(found.split()[0]) / 2**20:.0f} GiB" if found else "unknown"


def _field(path: str, name: str) -> str:
    """The first value of a field in a file of `name: value` lines; empty if there is none."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(name)), "")


def revision() -> str:
    """The revision of sglc."""
    if REVISION in os.environ:
        return os.environ[REVISION]
    try:
        asked = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def surroundings(engines: dict[str, dict[str, Any]] | None = None) -> dict[str, Any]:
    """What figures depend on; `engines` by name, with `version` each."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "none"
    return {
        "command": command(),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "processor": processor(),
        "cores": os.cpu_count(),
        "clock": clock(),
        "memory": memory(),
        "python": platform.python_version(),
        "packages": versions,
        "revision": revision(),
        "load": os.getloadavg()[0],
        "engines": engines or {},
    }


def command() -> str:
    """The command line, files by their names; without the page that it writes."""
    words = sys.argv[1:]
    if "--markdown" in words:
        place = words.index("--markdown")
        del words[place : place + 2]
    shown = [Path(word).name if os.sep in word and Path(word).exists() else word for word in words]
    program = Path(sys.argv[0]).resolve().relative_to(Path(__file__).resolve().parent)
    return " ".join([f"python tests/benchmarks/{program.as_posix()}", *shown])


def machine_line(about: dict[str, Any]) -> str:
    """Machine and versions in a line or two."""
    packages = "".join(f", {name} {number}" for name, number in about["packages"].items())
    engines = "".join(f", {name} {engine['version']}" for name, engine in about["engines"].items())
    return (
        f"{about['processor']}, {about['cores']} cores, {about['clock']}, {about['memory']}, "
        f"load {about['load']:.1f} at the start\n"
        f"Python {about['python']}{packages}, revision {about['revision']}{engines}"
    )


def write_page(path: str, title: str, words: str, body: str, about: dict[str, Any]) -> None:
    """Write a page: what is measured, by which command and where, then the tables."""
    machine, versions = machine_line(about).split("\n")
    page = (
        f"# {title}\n\n{words.strip()}\n\n    {about['command']}\n\n"
        f"{about['date']}; {machine}.  \n{versions}.\n\n{body.strip()}\n"
    )
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(page, encoding="utf-8")
