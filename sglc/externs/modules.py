"""Which modules of Python a program may import, and from where.

Importing a module runs its code. So a module is imported only when its function is called, and only if its
user has agreed: by naming it, or by running a *source* program of a project whose own file the module is. A
compiled program may come from anywhere, so that for it every module must be named.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from sglc.callables.extern_spec import ExternSpec
from sglc.library import SUFFIX, project_root
from sglc.source import Source

_IMPORTING = threading.RLock()


class Refused(Exception):
    """A module that may not be imported, or a name in it that may not be called."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Access:
    """The modules that a user lets a program import.

    `allowed` are dotted names, each with all below it; they are looked for in `folder` first, then where
    Python looks. With `own`, modules that lie in `folder`, symbolic links followed, need not be named.
    """

    allowed: tuple[str, ...] = ()
    folder: Path | None = None
    own: bool = False

    def refusal(self, module: str) -> str:
        """Why a module may not be imported; empty where it may. Nothing is imported."""
        if any(module == name or module.startswith(name + ".") for name in self.allowed):
            return ""
        if not self.own:
            return "a compiled program may come from anywhere"
        if self._own_spec(module.partition(".")[0]) is None:
            return f"it does not lie in the program's own folder, {self.folder}"
        return ""

    def function(self, spec: ExternSpec) -> Callable[..., object]:
        """The function of an `extern py`; its module is imported now. Raises Refused, and what the import
        raises."""
        reason = self.refusal(spec.module)
        if reason:
            hint = f"allow it: `--allow-py {spec.module}`, in Python `allow_py=({spec.module!r},)`"
            raise Refused(f"the program may not import `{spec.module}`: {reason}", hint)
        with _IMPORTING:
            module = self._imported(spec.module)
        return _function(module, spec)

    def _own_spec(self, top: str) -> ModuleSpec | None:
        """Where a top module lies in the folder; None where it lies elsewhere."""
        if self.folder is None:
            return None
        folder = self.folder.resolve()
        found = PathFinder.find_spec(top, [str(folder)])
        if found is None or found.origin is None or not found.has_location:
            return None
        return found if Path(found.origin).resolve().is_relative_to(folder) else None

    def _imported(self, name: str) -> ModuleType:
        top = name.partition(".")[0]
        found = self._own_spec(top)
        if found is None:
            return importlib.import_module(name)
        known = sys.modules.get(top)
        if known is None:
            self._load(top, found)
        elif Path(getattr(known, "__file__", None) or "").resolve() != Path(found.origin or "").resolve():
            raise Refused(
                f"`{top}` is loaded from elsewhere already, {getattr(known, '__file__', 'Python itself')}",
                f"give `{Path(found.origin or '').name}` a name that no other module has",
            )
        return importlib.import_module(name)

    def _load(self, top: str, found: ModuleSpec) -> None:
        """Import a module of the folder. What it imports itself is found beside it, behind all else."""
        folder = str((self.folder or Path()).resolve())
        if folder not in sys.path:
            sys.path.append(folder)
        module = importlib.util.module_from_spec(found)
        assert found.loader is not None
        sys.modules[top] = module
        try:
            found.loader.exec_module(module)
        except BaseException:
            sys.modules.pop(top, None)
            raise


def access_for(path: Path | None, allowed: tuple[str, ...] = ()) -> Access:
    """What a program in a file may import: a source what lies in its project, any what is named.

    A program without a file has no project.
    """
    if path is None:
        return Access(allowed)
    if path.suffix == SUFFIX:
        return Access(allowed, project_root(Source(str(path), "")), own=True)
    return Access(allowed, path.resolve().parent)


def _function(module: ModuleType, spec: ExternSpec) -> Callable[..., object]:
    """The function of that name, if the module offers it: defined there, or named in `__all__`."""
    name = spec.function
    if not hasattr(module, name):
        raise Refused(f"`{spec.module}` has no function `{name}`")
    found: Any = getattr(module, name)
    if not callable(found):
        raise Refused(f"`{spec.target}` is no function")
    shared: Iterable[str] = getattr(module, "__all__", ())
    if getattr(found, "__module__", None) != spec.module and name not in shared:
        raise Refused(
            f"`{name}` is not `{spec.module}`'s own: it only imports it",
            f"name the module that defines it, or add it to `__all__` of `{spec.module}`",
        )
    made: Callable[..., object] = found
    return made
