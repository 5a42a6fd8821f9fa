"""What a worker is made of: programs as bytecode, the models that they ask, and how these are computed."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal, cast

from sglc.bytecode.code import Program
from sglc.bytecode.serial import dumps, loads
from sglc.runtime.cluster.messages import Garbled, list_of, number_of, part_of, text_of, written
from sglc.runtime.engine.core.options import EngineOptions, ExecutorKind
from sglc.runtime.kv.eviction import Policy


@dataclass(frozen=True, slots=True)
class PythonAccess:
    """Modules of Python that a program may import; see `sglc.externs.modules.Access`."""

    allowed: tuple[str, ...] = ()
    folder: str = ""
    own: bool = False


@dataclass(frozen=True, slots=True)
class ProgramSetup:
    """A program, and what its runs are on.

    `models` are chains of models of the worker's machine, by the names that the program has for them; none
    for a program that asks nothing. `file` is where the program was read, for masks that lie beside it.
    """

    program: Program
    models: Mapping[str, tuple[str, ...]]
    file: str = ""
    access: PythonAccess = field(default_factory=PythonAccess)


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """All that a worker needs to know before its first call. `alone` are models that are there whether or not
    a program asks them. `decode` and `select` are those of
    `Session.run`, `width` the most calls at a time (None: `room` times what suits the engine), `weighed`
    whether the pressure of masks is measured, `metrics` whether families of figures are told."""

    programs: tuple[ProgramSetup, ...]
    engine: EngineOptions = field(default_factory=EngineOptions)
    decode: Literal["local"] | None = None
    width: int | None = None
    room: int = 1
    weighed: bool = False
    metrics: bool = False
    alone: tuple[str, ...] = ()

    def line(self) -> str:
        """The message that a worker is set up by."""
        engine = asdict(self.engine)
        engine["kv_disk"] = None if self.engine.kv_disk is None else str(self.engine.kv_disk)
        programs = [
            {
                "program": b64encode(dumps(each.program)).decode("ascii"),
                "models": {name: list(chain) for name, chain in each.models.items()},
                "file": each.file,
                "access": asdict(each.access),
            }
            for each in self.programs
        ]
        setup = {
            "programs": programs,
            "engine": engine,
            "decode": self.decode,
            "width": self.width,
            "room": self.room,
            "weighed": self.weighed,
            "metrics": self.metrics,
            "alone": list(self.alone),
        }
        return written(setup=setup)


def setup_of(data: Mapping[str, object]) -> WorkerSetup:
    """The setup in a message. Raises Garbled, also for a program that does not verify."""
    width = data.get("width")
    return WorkerSetup(
        tuple(_program_of(each) for each in list_of(data, "programs") if isinstance(each, dict)),
        _engine_of(part_of(data, "engine")),
        "local" if data.get("decode") == "local" else None,
        width if isinstance(width, int) else None,
        number_of(data, "room"),
        data.get("weighed") is True,
        data.get("metrics") is True,
        tuple(map(str, list_of(data, "alone"))),
    )


def _program_of(data: Mapping[str, object]) -> ProgramSetup:
    try:
        body = b64decode(text_of(data, "program"), validate=True)
    except ValueError:
        raise Garbled("the program is no base64") from None
    program, problems = loads(body)
    if program is None:
        raise Garbled(f"the program cannot be read: {problems[0].message}")
    models = part_of(data, "models")
    access = part_of(data, "access")
    return ProgramSetup(
        program,
        {name: tuple(map(str, list_of(models, name))) for name in models},
        text_of(data, "file"),
        PythonAccess(
            tuple(map(str, list_of(access, "allowed"))), text_of(access, "folder"), access.get("own") is True
        ),
    )


def _engine_of(data: Mapping[str, object]) -> EngineOptions:
    """The options of an engine. Its values are checked where the engine is loaded."""

    def whole(name: str) -> int | None:
        found = data.get(name)
        return found if isinstance(found, int) else None

    def text(name: str) -> str | None:
        return text_of(data, name) if data.get(name) is not None else None

    executor, policy = text_of(data, "executor"), text_of(data, "kv_eviction")
    speculate, folder = data.get("speculate"), text("kv_disk")
    options = EngineOptions(
        cast(ExecutorKind, executor),
        text("dtype"),
        whole("threads"),
        text_of(data, "device"),
        whole("kv_memory"),
        None if folder is None else Path(folder),
        speculate=speculate if isinstance(speculate, bool) else None,
        kv_eviction=cast(Policy, policy),
        max_queue=whole("max_queue"),
        draft=text("draft"),
    )
    size = whole("kv_disk_bytes")
    return options if size is None else replace(options, kv_disk_bytes=size)
