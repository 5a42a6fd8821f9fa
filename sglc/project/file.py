"""From a file to a project, or to what is wrong with the file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from sglc.diagnostics.diagnostic import Diagnostic
from sglc.diagnostics.suggest import nearest
from sglc.project.checks import KEYS, MODEL, Keys, text
from sglc.project.models import ModelSettings, is_elsewhere, settings_of
from sglc.project.places import masked, place
from sglc.source import Source, Span

FILE = "sgl.toml"
LARGEST = 1024 * 1024
"""Most bytes of the file: a thousand models take a tenth of it."""
FAULT = "E0825"
_SECRET = re.compile(r"key|token|secret|password|credential", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Project:
    """What `sgl.toml` says; everything is empty where there is none."""

    root: Path | None = None
    name: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    """Models by the names that programs have for them; `main` is the run's own. Paths are absolute."""
    settings: Mapping[str, ModelSettings] = field(default_factory=dict)
    """Those of them that have a table of their own, with what it says."""
    run: Mapping[str, object] = field(default_factory=dict)
    """Defaults of options of `sglc run`, by their names in Python."""
    engine: Mapping[str, Any] = field(default_factory=dict)
    """Defaults of the options of an engine."""


def find(program: Path) -> Path | None:
    """The nearest `sgl.toml` at or above the folder of a program."""
    folder = program.parent.resolve()
    return next((each / FILE for each in (folder, *folder.parents) if (each / FILE).is_file()), None)


def project_of(
    program: Path, text_of: Callable[[Path], str | None] = lambda path: None
) -> tuple[Project, list[Diagnostic]]:
    """The project that a program belongs to, and what is wrong with its file. `text_of` may know the file's
    text otherwise than as it is saved."""
    path = find(program)
    if path is None:
        return Project(), []
    known = text_of(path)
    if known is not None:
        return read(path, known)
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


def read(path: Path, toml: str) -> tuple[Project, list[Diagnostic]]:
    """The project that a text says."""
    source = Source(str(path), toml)
    try:
        data, exact = tomllib.loads(toml), tomllib.loads(toml, parse_float=Decimal)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as problem:
        return Project(), [_unreadable(source, problem)]
    reader = _Reader(source, path.parent)
    return reader.project(data, exact.get("models", {})), reader.faults


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


TABLES = (*KEYS, "models")


@dataclass(slots=True)
class _Reader:
    source: Source
    folder: Path
    faults: list[Diagnostic] = field(default_factory=list)

    def project(self, data: Mapping[str, object], models: object) -> Project:
        for name in data:
            if name not in TABLES:
                self._unknown((), name, TABLES)
        tables = {name: self._table((), name, data.get(name, {})) for name in KEYS}
        for name, keys in KEYS.items():
            self._check((name,), tables[name], keys)
        uses, settings = self._models(self._table((), "models", models))
        name = str(tables["project"].get("name", ""))
        return Project(self.folder, name, uses, settings, tables["run"], tables["engine"])

    def _table(self, within: tuple[str, ...], name: str, found: object) -> Mapping[str, object]:
        if isinstance(found, dict):
            return found
        header = ".".join((*within, name))
        self._report((*within, name), f"`{header}` is a table", f"write `[{header}]` on a line of its own")
        return {}

    def _check(self, within: tuple[str, ...], values: Mapping[str, object], keys: Keys) -> bool:
        """Whether a table has only keys that there are, with good values; what is wrong is reported."""
        before = len(self.faults)
        for key, value in values.items():
            check = keys.get(key)
            if check is None:
                self._unknown(within, key, tuple(keys))
            elif isinstance(check, Mapping):
                self._check((*within, key), self._table(within, key, value), check)
            elif wrong := check(value):
                secret = key in ("base_url", "key_variable")
                where = ".".join(within)
                self._report((*within, key), f"`{key}` of `[{where}]` is {wrong}", secret=secret)
        return len(self.faults) == before

    def _models(self, values: Mapping[str, object]) -> tuple[dict[str, str], dict[str, ModelSettings]]:
        uses: dict[str, str] = {}
        settings: dict[str, ModelSettings] = {}
        for name, model in values.items():
            path = ("models", name)
            if not name.isidentifier():
                self._report(path, f"`{name}` cannot be the name of a model", "use letters and `_`")
            elif isinstance(model, dict):
                if self._check(path, model, MODEL) and self._is_whole(path, model):
                    settings[name] = settings_of(model, self._placed)
                    uses[name] = settings[name].use
            elif wrong := text(model):
                self._report(path, f"the model `{name}` is {wrong}", 'write `name = "smollm2"`')
            else:
                uses[name] = self._placed(str(model))
        return uses, settings

    def _is_whole(self, path: tuple[str, ...], model: Mapping[str, Any]) -> bool:
        """Whether a table has what others of its keys need."""
        name, price = path[-1], model.get("price")
        if "use" not in model:
            self._report(
                path, f"the model `{name}` has no `use`", 'write `use = "smollm2"`: which model it is'
            )
        elif price is not None and not {"input", "output"} <= set(price):
            what = "a price has `input` and `output`: money for a million tokens"
            self._report((*path, "price"), f"the price of `{name}` is not whole", what)
        elif "cost" in model.get("budget", {}) and price is None:
            what = "write `price = { input = …, output = … }`, for a million tokens"
            self._report((*path, "budget"), f"the cost of `{name}` is not known: it has no price", what)
        else:
            return True
        return False

    def _placed(self, model: str) -> str:
        """A model as `--model` takes it. Relative paths begin at the folder of the file."""
        kind, colon, rest = model.rpartition("scripted:")
        path = rest if colon else model
        if not colon and (is_elsewhere(path) or ("/" not in path and not path.endswith(".gguf"))):
            return model
        return kind + colon + str(self.folder / Path(path).expanduser())

    # -- findings --------------------------------------------------------------------------------------

    def _unknown(self, within: tuple[str, ...], key: str, known: tuple[str, ...]) -> None:
        where = f"`[{'.'.join(within)}]`" if within else FILE
        close = nearest(key, known)
        secret = _SECRET.search(key) is not None
        hint = f"did you mean `{close}`?" if close else "it has " + ", ".join(f"`{each}`" for each in known)
        if secret and not close:
            hint = f"secrets do not belong into {FILE}: none are read from it"
            if "key_variable" in known:
                hint += "; `key_variable` names the environment variable that has the key"
        self._report((*within, key), f"{where} has no key `{key}`", hint, secret=secret)

    def _report(self, path: tuple[str, ...], message: str, hint: str = "", *, secret: bool = False) -> None:
        span = place(self.source, path)
        self.faults.append(
            _fault(message, masked(self.source, span) if secret else span, hint=hint, label="here")
        )
