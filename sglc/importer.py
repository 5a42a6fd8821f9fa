"""Programs as Python modules: after `import sglc.importer`, `import crew` finds `crew.sgl`.

A program is looked for where Python looks for modules: in the folders of `sys.path`, and for `app.crew` in
those of the package `app`. A Python module of the same name comes first. The module has the program's
functions and types as attributes (those of `sglc.load`), and `module_of` gives the object behind it.

A program that does not compile raises CompileError, with the rendered diagnostics, where it is imported. What
was compiled before comes from the cache, without the compiler. `importlib.reload` compiles a changed program.
`python -m sglc.importer` lists the programs that can be imported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from sglc.library import SUFFIX
from sglc.types.notation.python_names import safe_name

if TYPE_CHECKING:
    from typing import Unpack

    from sglc.api import LoadOptions, Module

COMPILED = ".sglb"
_PROGRAM = "__sgl_module__"
_NAMES = "__sgl_names__"


class SglFinder:
    """Finds programs in the folders of Python's search path.

    The names in a folder are read again where its time has changed, as Python's own finder does it.
    """

    def __init__(self) -> None:
        self.model: str | None = None
        self.options: LoadOptions = {}
        self._folders: dict[str, tuple[int, frozenset[str]]] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The program of a module's name; None where there is none, and where Python has such a module."""
        file = self._file(name.rpartition(".")[2], sys.path if path is None else path)
        if file is None:
            return None
        python = PathFinder.find_spec(name, path, target)
        if python is not None and python.loader is not None:
            return None
        return spec_from_file_location(name, file, loader=SglLoader(self, name, file))

    def invalidate_caches(self) -> None:
        """Forget what was in which folder; `importlib.invalidate_caches` calls it."""
        self._folders.clear()

    def _file(self, stem: str, folders: Iterable[str]) -> Path | None:
        for folder in folders:
            if not isinstance(folder, str):
                continue
            names = self._names(folder or os.curdir)
            for suffix in (SUFFIX, COMPILED):
                if stem + suffix in names:
                    file = Path(folder or os.curdir, stem + suffix)
                    if file.is_file():
                        return file.absolute()
        return None

    def _names(self, folder: str) -> frozenset[str]:
        """The programs in a folder, by the names of their files."""
        try:
            time = os.stat(folder).st_mtime_ns
            known = self._folders.get(folder)
            if known is None or known[0] != time:
                names = frozenset(name for name in os.listdir(folder) if name.endswith((SUFFIX, COMPILED)))
                known = self._folders[folder] = (time, names)
        except OSError:
            return frozenset()
        return known[1]


class SglLoader(Loader):
    """Loads one program into a module."""

    def __init__(self, finder: SglFinder, name: str, file: Path) -> None:
        self._finder = finder
        self.name = name
        self.path = str(file)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Python makes the module."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Compile the program, or take it from the cache, and fill the module. Raises CompileError."""
        from sglc.api import load

        fill(module, load(self.path, self._finder.model, **self._finder.options))

    def get_filename(self, name: str) -> str:
        """The file of the program."""
        return self.path

    def get_source(self, name: str) -> str | None:
        """The text of the program; None for a compiled one."""
        return Path(self.path).read_text("utf-8-sig") if self.path.endswith(SUFFIX) else None

    def is_package(self, name: str) -> bool:
        """A program has no modules below it."""
        return False


def fill(module: ModuleType, program: Module) -> None:
    """Put a program's functions, types and errors into a module, in place of what it had of a program."""
    for name in vars(module).pop(_NAMES, ()):
        vars(module).pop(name, None)
    names = {safe_name(name): each for name, each in program.functions.items()}
    names |= {safe_name(name): each for name, each in program.types.items() if "." not in name}
    declared = [error.name for error in program.program.errors if "." not in error.name]
    names |= {safe_name(name): getattr(program, name) for name in declared}
    vars(module).update(names)
    vars(module).update(
        {
            _PROGRAM: program,
            _NAMES: tuple(names),
            "__all__": list(names),
            "__getattr__": program.__getattr__,
        }
    )


def module_of(module: ModuleType) -> Module:
    """The `sglc.api.Module` behind an imported program: its model, statistics, metrics.

    Raises TypeError for a module that is no program.
    """
    found: Module | None = vars(module).get(_PROGRAM)
    if found is None:
        raise TypeError(f"{module.__name__} is no program of SGL")
    return found


_FINDER = SglFinder()


def install() -> None:
    """Let `import` find programs; importing this module does it. Twice is once."""
    if _FINDER in sys.meta_path:
        return
    # Before Python's own finder: that one takes a bare folder of the name for a package.
    places = [place for place, finder in enumerate(sys.meta_path) if finder is PathFinder]
    sys.meta_path.insert(places[0] if places else len(sys.meta_path), _FINDER)


def uninstall() -> None:
    """Let `import` find no more programs; those that are imported stay."""
    if _FINDER in sys.meta_path:
        sys.meta_path.remove(_FINDER)


def configure(model: str | None = None, **options: Unpack[LoadOptions]) -> None:
    """What programs that are imported from now on run on: model and options as `sglc.load` takes them.
    Without a model each has that of its project.

    Raises TypeError for options that are none, and for those of one program.
    """
    from sglc.api import LoadOptions

    unknown = sorted(set(options) - LoadOptions.__annotations__.keys())
    if unknown:
        raise TypeError(
            f"there is no option `{unknown[0]}`; options: {', '.join(LoadOptions.__annotations__)}"
        )
    if options.get("record") is not None or options.get("replay") is not None:
        raise TypeError("`record` and `replay` are options of load: a file has the traffic of one program")
    _FINDER.model, _FINDER.options = model, options


# -- python -m sglc.importer ---------------------------------------------------------------------------


def importable() -> Iterator[tuple[str, Path, str]]:
    """The programs in the folders of `sys.path`: name, file, and what hides it, which is empty for most."""
    seen: dict[str, Path] = {}
    for folder in dict.fromkeys(sys.path):
        for file_name in sorted(_FINDER._names(folder or os.curdir), reverse=True):
            file = Path(folder or os.curdir, file_name)
            name = file.stem
            if name in seen:
                yield name, file, f"{seen[name]} comes first"
            elif not name.isidentifier():
                yield name, file, "its name is no name of Python; importlib.import_module takes it"
            else:
                seen[name] = file
                python = PathFinder.find_spec(name)
                hidden = ""
                if python is not None and python.loader is not None:
                    hidden = f"the Python module {python.origin} comes first"
                yield name, file, hidden


def main(arguments: Sequence[str]) -> int:
    """List the programs that `import` finds, or say of each name given where it is and what it has."""
    if not arguments:
        found = list(importable())
        for name, file, hidden in found:
            print(f"{name:<20} {file}" + (f" ({hidden})" if hidden else ""))
        if not found:
            print("no program lies in a folder of sys.path:\n" + "\n".join(f"  {each}" for each in sys.path))
        return 0
    from importlib import import_module

    from sglc.python.errors import CompileError

    failed = False
    for name in arguments:
        try:
            program = module_of(import_module(name))
        except (ImportError, TypeError, CompileError) as problem:
            print(f"{name}: {problem}", file=sys.stderr)
            failed = True
            continue
        print(f"{name}: {sys.modules[name].__file__}")
        for function in program.functions.values():
            print(f"  {function.__name__}{function.signature}")
    return int(failed)


install()

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
