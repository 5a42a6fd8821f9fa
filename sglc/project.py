"""`sgl.toml`: the name of a project, its models, and defaults of commands. Data only: nothing in it is run.

The file is found by walking up from a program. What a command line says wins over it. It holds no secrets,
and none are read from it: keys that it does not have are refused.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sglc.diagnostics.diagnostic import Diagnostic
from sglc.diagnostics.suggest import nearest
from sglc.source import Source, Span

FILE = "sgl.toml"
LARGEST = 1024 * 1024
"""Most bytes of the file: a thousand models take a tenth of it."""
FAULT = "E0825"
_SECRET = re.compile(r"key|token|secret|password|credential", re.IGNORECASE)
_ELSEWHERE = re.compile(r"(?!scripted:)[a-z][a-z0-9_+-]+:")
"""What the name of a model elsewhere begins with, which is no path."""


@dataclass(frozen=True, slots=True)
class Project:
    """What `sgl.toml` says; everything is empty where there is none."""

    root: Path | None = None
    name: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    """Models by the names that programs have for them; `main` is the run's own. Paths are absolute."""
    run: Mapping[str, Any] = field(default_factory=dict)
    """Defaults of options of `sglc run`, by their names in Python."""
    engine: Mapping[str, Any] = field(default_factory=dict)
    """Defaults of the options of an engine."""


def find(program: Path) -> Path | None:
    """The nearest `sgl.toml` at or above the folder of a program."""
    folder = program.parent.resolve()
    return next((each / FILE for each in (folder, *folder.parents) if (each / FILE).is_file()), None)


def project_of(program: Path) -> tuple[Project, list[Diagnostic]]:
    """The project that a program belongs to, and what is wrong with its file."""
    path = find(program)
    if path is None:
        return Project(), []
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        text = data.decode("utf-8-sig")
    except OSError as problem:
        return Project(), [_fault(f"{path} cannot be read", None, reason=problem.strerror or str(problem))]
    except UnicodeDecodeError:
        return Project(), [_fault(f"{path} is not UTF-8 text", None)]
    if len(data) > LARGEST:
        return Project(), [_fault(f"{path} is larger than {LARGEST // 1024 // 1024} MiB", None)]
    return read(path, text)


def read(path: Path, text: str) -> tuple[Project, list[Diagnostic]]:
    """The project that a text says."""
    source = Source(str(path), text)
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as problem:
        return Project(), [_unreadable(source, problem)]
    reader = _Reader(source, path.parent)
    return reader.project(data), reader.faults


def _fault(
    message: str, span: Span | None, *, reason: str = "", hint: str = "", label: str = ""
) -> Diagnostic:
    return Diagnostic(FAULT, message, span, reason=reason, hint=hint, label=label)


def _unreadable(source: Source, problem: Exception) -> Diagnostic:
    """A text that is no TOML, at the place that the parser tells."""
    told = str(problem) or type(problem).__name__
    found = re.search(r" ?\(at line (\d+), column (\d+)\)$", told)
    end = len(source.text)
    span = Span(source, max(0, end - 1), end)
    if found is not None and int(found[1]) <= len(source.line_starts):
        start = min(source.line_starts[int(found[1]) - 1] + int(found[2]) - 1, end)
        span = Span(source, start, min(start + 1, end))
    reason = told[: found.start()] if found is not None else told
    return _fault(f"{FILE} is no TOML", span, reason=reason[:1].lower() + reason[1:], label="here")


Check = Callable[[Any], str]
"""What is wrong with a value, as the words behind `is`; empty for a good one."""


def _text(value: Any) -> str:
    return "" if isinstance(value, str) and value else "no text"


def _whole(least: int, most: int | None = None) -> Check:
    def check(value: Any) -> str:
        if type(value) is not int:
            return "no whole number"
        if most is None:
            return "" if value >= least else f"less than {least}"
        return "" if least <= value <= most else f"not between {least} and {most}"

    return check


def _seconds(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return "no number"
    return "" if value > 0 else "not above 0"


def _one_of(*words: str) -> Check:
    return lambda value: "" if value in words else "none of " + ", ".join(words)


KEYS: dict[str, dict[str, Check]] = {
    "project": {"name": _text},
    "run": {
        "seed": _whole(0),
        "max_tokens": _whole(1),
        "timeout": _seconds,
        "concurrency": _whole(1, 1024),
        "decode": _one_of("local"),
    },
    "engine": {
        "executor": _one_of("auto", "torch", "native"),
        "dtype": _one_of("float32", "bfloat16", "float16", "q8", "q4"),
        "threads": _whole(1, 1024),
        "device": _text,
        "draft": _text,
        "max_queue": _whole(1),
    },
}
"""The keys of each table, with what their values must be. `docs/project.md` lists them."""
TABLES = (*KEYS, "models")


@dataclass(slots=True)
class _Reader:
    source: Source
    folder: Path
    faults: list[Diagnostic] = field(default_factory=list)

    def project(self, data: Mapping[str, Any]) -> Project:
        for name in data:
            if name not in TABLES:
                self._unknown("", name, TABLES)
        tables = {name: self._table(data, name) for name in TABLES}
        for name, keys in KEYS.items():
            self._keys(name, tables[name], keys)
        return Project(
            self.folder,
            str(tables["project"].get("name", "")),
            self._models(tables["models"]),
            tables["run"],
            tables["engine"],
        )

    def _table(self, data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        found = data.get(name, {})
        if isinstance(found, dict):
            return found
        self._report("", name, f"`{name}` is a table", hint=f"write `[{name}]` on a line of its own")
        return {}

    def _keys(self, table: str, values: Mapping[str, Any], keys: Mapping[str, Check]) -> None:
        for key, value in values.items():
            check = keys.get(key)
            if check is None:
                self._unknown(table, key, tuple(keys))
            elif wrong := check(value):
                self._report(table, key, f"`{key}` of `[{table}]` is {wrong}")

    def _models(self, values: Mapping[str, Any]) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, model in values.items():
            if not name.isidentifier():
                self._report(
                    "models", name, f"`{name}` cannot be the name of a model", hint="use letters and `_`"
                )
            elif wrong := _text(model):
                self._report(
                    "models", name, f"the model `{name}` is {wrong}", hint='write `name = "smollm2"`'
                )
            else:
                found[name] = self._placed(model)
        return found

    def _placed(self, model: str) -> str:
        """A model as `--model` takes it. Relative paths begin at the folder of the file."""
        if _ELSEWHERE.match(model):
            return model
        kind, colon, rest = model.rpartition("scripted:")
        path = rest if colon else model
        if not colon and "/" not in path and not path.endswith(".gguf"):
            return model
        return kind + colon + str(self.folder / Path(path).expanduser())

    # -- findings --------------------------------------------------------------------------------------

    def _unknown(self, table: str, key: str, known: tuple[str, ...]) -> None:
        where = f"`[{table}]`" if table else FILE
        close = nearest(key, known)
        hint = f"did you mean `{close}`?" if close else "it has " + ", ".join(f"`{each}`" for each in known)
        if not close and _SECRET.search(key):
            hint = f"secrets do not belong into {FILE}: none are read from it"
        self._report(table, key, f"{where} has no key `{key}`", hint=hint)

    def _report(self, within: str, key: str, message: str, *, hint: str = "") -> None:
        self.faults.append(_fault(message, self._place(within, key), hint=hint, label="here"))

    def _place(self, within: str, key: str) -> Span:
        """Where a key stands: behind the header of its table, or as a header or with a dotted name. The
        beginning of the file where that cannot be told."""
        quoted = re.escape(key)
        name = rf"""(?:"{quoted}"|'{quoted}'|{quoted})"""
        header = re.escape(f"{within}.{key}" if within else key)
        here = ""
        for number, start in enumerate(self.source.line_starts, 1):
            line = self.source.line(number)
            opened = re.match(r"\s*\[+\s*([^\]]*?)\s*\]", line)
            if opened is not None:
                here = opened[1].replace('"', "").replace("'", "")
                if re.fullmatch(header, here):
                    return Span(self.source, start + opened.start(1), start + opened.end(1))
                continue
            owner = rf"{re.escape(within)}\s*\.\s*" if within and not here else ""
            found = re.match(rf"\s*(?:{owner})?({name})\s*[=.]", line)
            if found is not None and (here == within or owner):
                return Span(self.source, start + found.start(1), start + found.end(1))
        return Span(self.source, 0, min(1, len(self.source.text)))
