"""A snapshot: a file as it is now, its tree, and all that was found about its program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sglc.check.core.context import ModuleContext
from sglc.check.core.result import CheckedModule, CheckedProgram, ExpressionType, HoleFacts, Symbol
from sglc.check.program import Reader, Workspace
from sglc.diagnostics.diagnostic import Diagnostic, has_errors
from sglc.library import Library
from sglc.source import Source
from sglc.syntax.tree import ast
from sglc.types.type import Type

if TYPE_CHECKING:
    from sglc.project.file import Project


class Tables:
    """The side tables of one module, and those of its functions with type parameters, as one."""

    def __init__(self, checked: CheckedModule, generic: Sequence[ModuleContext] = ()) -> None:
        self.checked = checked
        self._all: tuple[CheckedModule | ModuleContext, ...] = (checked, *generic)

    def symbol(self, node: object) -> Symbol | None:
        """What a node names or binds."""
        return next((found for each in self._all if (found := each.symbols.get(id(node))) is not None), None)

    def type(self, node: object) -> ExpressionType | None:
        """The type of an expression."""
        return next((found for each in self._all if (found := each.types.get(id(node))) is not None), None)

    def resolved(self, node: object) -> Type | None:
        """The type that a written type stands for."""
        return next((found for each in self._all if (found := each.resolved.get(id(node))) is not None), None)

    def hole(self, node: object) -> HoleFacts | None:
        """What was found about a hole."""
        return next((found for each in self._all if (found := each.holes.get(id(node))) is not None), None)

    @property
    def constants(self) -> Mapping[int, object]:
        """Values that are known before anything runs."""
        return self.checked.constants


class Snapshot:
    """One open file, checked. It is replaced, never changed; what is costly is found when it is asked for."""

    def __init__(
        self,
        path: Path,
        source: Source,
        checked: CheckedProgram,
        findings: list[Diagnostic],
        library: Library,
        generic: Mapping[int, Sequence[ModuleContext]],
        project_of: Callable[[Path], Project],
    ) -> None:
        self.path = path
        self.source = source
        self.checked = checked
        self.findings = findings
        self.library = library
        self._generic = generic
        self._project_of = project_of
        self._tables: dict[int, Tables] = {}
        self.known: dict[tuple[str, int], object] = {}
        """What answers have found and may ask for again."""

    @property
    def text(self) -> str:
        """The text of the file."""
        return self.source.text

    @property
    def tree(self) -> ast.Module:
        """The tree of the file: without the lines that cannot be read."""
        return self.checked.main.module

    @property
    def tables(self) -> Tables:
        """The side tables of the file."""
        return self.tables_of(self.checked.main)

    def tables_of(self, module: CheckedModule) -> Tables:
        """The side tables of one module of the program."""
        found = self._tables.get(id(module))
        if found is None:
            generic = self._generic.get(id(module.module), ())
            found = self._tables[id(module)] = Tables(module, generic)
        return found

    @cached_property
    def sound(self) -> bool:
        """Whether the program has no errors."""
        return not has_errors(self.findings)

    @cached_property
    def by_name(self) -> dict[str, CheckedModule]:
        """The modules of the program by their dotted names; the main one has none."""
        return {module.name: module for module in self.checked.modules}

    @cached_property
    def paths(self) -> frozenset[Path]:
        """The files of the program's modules, those of the standard library aside."""
        found = (self.library.path_of(module.module.source) for module in self.checked.modules)
        return frozenset(path for path in found if path is not None)

    @cached_property
    def included(self) -> frozenset[Path]:
        """The files of the texts that the program includes, also where they are not there."""
        return self.library.included_files()

    @cached_property
    def project(self) -> Project:
        """What the `sgl.toml` of the file says."""
        return self._project_of(self.path)

    def path_of(self, source: Source) -> Path:
        """The file that a source of the program was read from."""
        found = self.library.path_of(source)
        return standard_file(source) if found is None else found

    def module_of(self, use: ast.Use) -> CheckedModule | None:
        """The module that a `use` of the file takes names from."""
        from sglc.library import LibraryError

        try:
            source = self.library.find(use.path, self.source)
        except LibraryError:
            return None
        return next((each for each in self.checked.modules if each.module.source is source), None)


def saved_project(path: Path) -> Project:
    """What the saved `sgl.toml` of a program says."""
    from sglc.project.file import project_of

    return project_of(path)[0]


def snapshot_of(
    workspace: Workspace,
    path: Path,
    source: Source,
    library: Library,
    read: Reader,
    project_of: Callable[[Path], Project] = saved_project,
) -> Snapshot:
    """Check a source and keep all that was found. `library` is one of the workspace, which knows the source;
    snapshots of it that `read` made before do not hold any more."""
    checked, findings = workspace.check(source, library, read)
    assert checked is not None
    generic = {
        id(kept.module.tree): [each.names.module for each in kept.checker.generic.values()]
        for kept in workspace.kept.values()
        if kept.checker.generic
    }
    return Snapshot(path, source, checked, findings, library, generic, project_of)


def standard_file(source: Source) -> Path:
    """The file of a module of the standard library (`std/text.sgl`)."""
    from importlib.resources import files

    return Path(str(files("sglc.stdlib"))) / Path(source.name).name
