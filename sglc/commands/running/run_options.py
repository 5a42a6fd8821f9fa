"""Groups of options of `sglc run`: what the engine is like, and what is told about its work.

Each group is packed into one value, so that a command takes a value and not every option by itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import click

from sglc.commands.shared.sizes import read_size, size
from sglc.runtime.backends.recording.options import AnswerOptions
from sglc.runtime.engine.core.options import DISK_BYTES, EngineOptions, ExecutorKind
from sglc.runtime.kv.eviction import Policy
from sglc.targets.projection.core.capabilities import Level
from sglc.types.model_use import MAIN

R = TypeVar("R")
Option = Callable[[Callable[..., object]], Callable[..., object]]
"""What `click.option` gives: it notes an option at a function."""


def disk_folder(text: str) -> tuple[Path, int]:
    """A folder and the bytes that it may hold: `DIR:SIZE` or `DIR`. What is no size belongs to the name."""
    folder, colon, rest = text.rpartition(":")
    found = read_size(rest) if colon else None
    if found is not None and folder:
        return Path(folder), found
    return Path(text), DISK_BYTES


def endpoint(text: str) -> Path | tuple[str, int]:
    """A file, or the address and port of `[ADDRESS]:PORT`. Raises click.BadParameter for no legal port."""
    address, colon, port = text.rpartition(":")
    if colon and port.isdecimal() and "/" not in address:
        if not 0 < int(port) < 65536:
            raise click.BadParameter(f"{port} is no port")
        return address or "127.0.0.1", int(port)
    return Path(text)


@dataclass(frozen=True, slots=True)
class Observation:
    """What is told about a run's work. `stats` is `table`, `json` or empty."""

    stats: str = ""
    metrics: Path | tuple[str, int] | None = None
    spans: str = ""
    span_texts: bool = False

    @property
    def wanted(self) -> bool:
        """Whether anything is to be told, so that the run needs a collector."""
        return bool(self.stats or self.metrics or self.spans)


@dataclass(frozen=True, slots=True)
class LevelOptions:
    """What is wanted of levels at models elsewhere: the least that may be guaranteed of a hole, the whole
    table on stderr, errors as JSON."""

    required: Level | None = None
    verbose: bool = False
    as_json: bool = False


DEFAULT_MODEL = "smollm2"
"""What runs where none is said."""


@dataclass(frozen=True, slots=True)
class Models:
    """The run's own model, None where none is said, and those that its program names."""

    own: str | None
    named: Mapping[str, str]


def named_models(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> Models:
    """What `--model MODEL --model NAME=MODEL` says. Raises click.BadParameter where a name has two."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, model = text.partition("=")
        if not (equals and name.isidentifier()):
            name, model = MAIN, text
        if name in found:
            whose = "the run's own model" if name == MAIN else f"the model `{name}`"
            raise click.BadParameter(f"{whose} is given twice: {found[name]} and {model}")
        if not model:
            raise click.BadParameter(f"{text} names no model")
        found[name] = model
    return Models(found.pop(MAIN, None), found)


def models_option(help: str) -> Option:
    """The option `--model [NAME=]MODEL`, which may be given several times; `help` says what for."""
    return click.option(
        "--model", "models", multiple=True, callback=named_models, metavar="[NAME=]MODEL", help=help
    )


ENGINE: Sequence[Option] = (
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
        type=size,
        metavar="SIZE",
        help="Memory for keys and values, such as 2G; the default is a quarter of what is free.",
    ),
    click.option(
        "--kv-disk",
        type=disk_folder,
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
    click.option(
        "--draft",
        metavar="NAME",
        help="A second, cheaper model that proposes tokens: a name as of --model, layers:4,9 (the same model "
        "without these layers), or none, the default.",
    ),
)

SPANS: Sequence[Option] = (
    click.option(
        "--spans",
        metavar="FILE.jsonl|global",
        help="Write OpenTelemetry spans, or hand them to the process's tracer provider.",
    ),
    click.option("--span-texts", is_flag=True, help="Put prompts and answers into spans."),
)


OBSERVATION: Sequence[Option] = (
    click.option(
        "--stats",
        type=click.Choice(["table", "json"]),
        default=None,
        help="Tell at the end, on stderr, what it took: --stats or --stats=json.",
    ),
    click.option(
        "--metrics",
        type=endpoint,
        metavar="FILE|[ADDR]:PORT",
        help="Write metrics for Prometheus, or serve them while it runs.",
    ),
    *SPANS,
)


ANSWERS: Sequence[Option] = (
    click.option(
        "--record",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Write the traffic with models elsewhere, without keys, for --replay.",
    ),
    click.option(
        "--replay",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Take what models elsewhere answer from a file of --record: without a network or a key.",
    ),
    click.option(
        "--cache-answers",
        is_flag=True,
        help="Give the same question to a model elsewhere the answer that it had before, from the cache.",
    ),
)


def engine_options(function: Callable[..., R]) -> Callable[..., R]:
    """Gives a command the options of an engine as one parameter, `engine`."""

    @functools.wraps(function)
    def packed(
        *values: object,
        dtype: str | None,
        executor: ExecutorKind,
        threads: int | None,
        device: str,
        kv_memory: int | None,
        kv_disk: tuple[Path, int] | None,
        kv_eviction: Policy,
        max_queue: int | None,
        speculate: bool | None,
        draft: str | None,
        **rest: object,
    ) -> R:
        folder, size = kv_disk or (None, DISK_BYTES)
        engine = EngineOptions(
            *(executor, dtype, threads, device, kv_memory, folder, size, speculate, kv_eviction, max_queue),
            draft,
        )
        return function(*values, engine=engine, **rest)

    _note(packed, ENGINE)
    return packed


def answer_options(function: Callable[..., R]) -> Callable[..., R]:
    """Gives a command what is recorded, replayed or kept as one parameter, `answers`."""

    @functools.wraps(function)
    def packed(
        *values: object, record: Path | None, replay: Path | None, cache_answers: bool, **rest: object
    ) -> R:
        answers = AnswerOptions(record, replay, cache_answers)
        if answers.clash is not None:
            first, second = (f"--{name.replace('_', '-')}" for name in answers.clash[:2])
            raise click.UsageError(f"{first} and {second} exclude each other: {answers.clash[2]}")
        return function(*values, answers=answers, **rest)

    _note(packed, ANSWERS)
    return packed


def observation_options(function: Callable[..., R]) -> Callable[..., R]:
    """Gives a command what is to be told as one parameter, `observation`."""

    @functools.wraps(function)
    def packed(
        *values: object,
        stats: str | None,
        metrics: Path | tuple[str, int] | None,
        spans: str | None,
        span_texts: bool,
        **rest: object,
    ) -> R:
        observation = replace(_spans(spans, span_texts), stats=stats or "", metrics=metrics)
        return function(*values, observation=observation, **rest)

    _note(packed, OBSERVATION)
    return packed


def span_options(function: Callable[..., R]) -> Callable[..., R]:
    """Gives a command the spans that are to be written as one parameter, `observation`."""

    @functools.wraps(function)
    def packed(*values: object, spans: str | None, span_texts: bool, **rest: object) -> R:
        return function(*values, observation=_spans(spans, span_texts), **rest)

    _note(packed, SPANS)
    return packed


def _spans(spans: str | None, texts: bool) -> Observation:
    if texts and not spans:
        raise click.UsageError("--span-texts belongs to --spans")
    return Observation(spans=spans or "", span_texts=texts)


def _note(function: Callable[..., object], options: Sequence[Option]) -> None:
    """Note options at a function, for the command that click makes of it; the first stands first in help."""
    for option in reversed(options):
        option(function)


class RunCommand(click.Command):
    """A command whose `--stats` may stand without a value."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As of click, with `--stats` read as `--stats=table` before a `--`."""
        end = args.index("--") if "--" in args else len(args)
        args = ["--stats=table" if arg == "--stats" and at < end else arg for at, arg in enumerate(args)]
        return super().parse_args(ctx, args)
