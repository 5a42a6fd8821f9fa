"""Groups of options of `sglc run`: what the engine is like, and what is told about its work.

Each group is packed into one value, so that a command takes a value and not every option by itself.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from sglc.runtime.engine.core.options import DISK_BYTES, EngineOptions

Command = TypeVar("Command", bound=Callable[..., Any])

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([kmgt])?(i?b)?)?", re.I)
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def read_size(text: str) -> int | None:
    """Bytes of `512M`, `1.5G`, `2GiB` or a plain number; None for what is no size. K is 1024."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return None
    return int(float(found[1]) * _UNITS[(found[2] or "").lower()])


class Size(click.ParamType):
    """A number of bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        size = read_size(value)
        if not size:
            self.fail(f"{value!r} is no size; write for example 512M or 2G", param, ctx)
        return size


class DiskFolder(click.ParamType):
    """`DIR` or `DIR:SIZE`."""

    name = "folder"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Path, int]:
        if isinstance(value, tuple):
            return value
        folder, colon, size = value.rpartition(":")
        found = read_size(size) if colon else None
        if found is not None and folder:
            return Path(folder), found
        return Path(value), DISK_BYTES


class Endpoint(click.ParamType):
    """A file, or `[ADDRESS]:PORT` to listen on."""

    name = "file or port"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path | tuple[str, int]:
        if isinstance(value, Path | tuple):
            return value
        address, colon, port = value.rpartition(":")
        if colon and port.isdecimal() and "/" not in address:
            if not 0 < int(port) < 65536:
                self.fail(f"{port} is no port", param, ctx)
            return address or "127.0.0.1", int(port)
        return Path(value)


@dataclass(frozen=True, slots=True)
class Observation:
    """What is told about a run's work. `stats` is `table`, `json` or empty."""

    stats: str = ""
    metrics: Path | tuple[str, int] | None = None
    spans: str = ""
    span_texts: bool = False

    @property
    def wanted(self) -> bool:
        return bool(self.stats or self.metrics or self.spans)


ENGINE: Sequence[Callable[[Any], Any]] = (
    click.option(
        "--dtype",
        type=click.Choice(["float32", "bfloat16", "float16", "q8", "q4"]),
        help="Numbers of the model; q8 and q4 quantise its weights for the native executor.",
    ),
    click.option(
        "--executor",
        type=click.Choice(["auto", "torch", "native"]),
        default="auto",
        show_default=True,
        help="What computes: compiled code or the model code of transformers.",
    ),
    click.option("--threads", type=click.IntRange(1, 1024), metavar="N", help="CPU threads of the model."),
    click.option(
        "--device", default="cpu", show_default=True, metavar="NAME", help="cpu, or cuda with torch."
    ),
    click.option(
        "--kv-memory",
        type=Size(),
        metavar="SIZE",
        help="Memory for keys and values, such as 2G; the default is a quarter of what is free.",
    ),
    click.option(
        "--kv-disk",
        type=DiskFolder(),
        metavar="DIR[:SIZE]",
        help="Folder for keys and values that memory has no room for; 4G if no size is said.",
    ),
    click.option(
        "--kv-eviction",
        type=click.Choice(["lru", "lfu"]),
        default="lru",
        show_default=True,
        help="What goes first where memory is full: let go longest ago, or used least often.",
    ),
    click.option(
        "--max-queue",
        type=click.IntRange(1),
        metavar="N",
        help="Most requests that may wait for the model; one more fails at once. No bound by default.",
    ),
    click.option(
        "--speculation/--no-speculation",
        "speculate",
        default=None,
        help="Compute likely tokens ahead; the default is where results stay the same to the bit.",
    ),
)

OBSERVATION: Sequence[Callable[[Any], Any]] = (
    click.option(
        "--stats",
        type=click.Choice(["table", "json"]),
        default=None,
        help="Tell at the end, on stderr, what it took: --stats or --stats=json.",
    ),
    click.option(
        "--metrics",
        type=Endpoint(),
        metavar="FILE|[ADDR]:PORT",
        help="Write metrics for Prometheus, or serve them while it runs.",
    ),
    click.option(
        "--spans",
        metavar="FILE.jsonl|global",
        help="Write OpenTelemetry spans, or hand them to the process's tracer provider.",
    ),
    click.option("--span-texts", is_flag=True, help="Put prompts and answers into spans."),
)


def engine_options(function: Command) -> Command:
    """Gives a command the options of an engine as one parameter, `engine`."""

    @functools.wraps(function)
    def packed(
        *values: Any,
        dtype: str | None,
        executor: Any,
        threads: int | None,
        device: str,
        kv_memory: int | None,
        kv_disk: tuple[Path, int] | None,
        kv_eviction: Any,
        max_queue: int | None,
        speculate: bool | None,
        **rest: Any,
    ) -> Any:
        folder, size = kv_disk or (None, DISK_BYTES)
        engine = EngineOptions(
            executor, dtype, threads, device, kv_memory, folder, size, speculate, kv_eviction, max_queue
        )
        return function(*values, engine=engine, **rest)

    return _with(packed, ENGINE)


def observation_options(function: Command) -> Command:
    """Gives a command what is to be told as one parameter, `observation`."""

    @functools.wraps(function)
    def packed(
        *values: Any,
        stats: str | None,
        metrics: Path | tuple[str, int] | None,
        spans: str | None,
        span_texts: bool,
        **rest: Any,
    ) -> Any:
        if span_texts and not spans:
            raise click.UsageError("--span-texts belongs to --spans")
        observation = Observation(stats or "", metrics, spans or "", span_texts)
        return function(*values, observation=observation, **rest)

    return _with(packed, OBSERVATION)


def _with(function: Any, options: Sequence[Callable[[Any], Any]]) -> Any:
    for option in reversed(options):
        function = option(function)
    return function


class RunCommand(click.Command):
    """A command whose `--stats` may stand without a value."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        args = ["--stats=table" if arg == "--stats" and at < end else arg for at, arg in enumerate(args)]
        return super().parse_args(ctx, args)
