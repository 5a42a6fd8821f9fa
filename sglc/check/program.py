"""The API of the checker: a source in, a checked program and its findings out.

Modules are checked one after the other, imported ones before their importers. Of each, names, types and
signatures are known before any body is read. One fault gives one finding: what depends on it is of unknown
type, which agrees with everything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path

from sglc.check.copies import Copies
from sglc.check.core.context import ModuleContext, ProgramState
from sglc.check.core.files import report_outside
from sglc.check.core.result import CheckedProgram
from sglc.check.core.work_limit import within_limit
from sglc.check.declarations.definition_order import read_in_order
from sglc.check.declarations.effects import FunctionEffects
from sglc.check.findings import ordered
from sglc.check.kept_modules import KeptModule, LoadedModule, Mark, ModuleKey, kept_module, still_holds
from sglc.check.module import ModuleChecker
from sglc.check.proofs.emptiness import report_dead_arms, report_empty
from sglc.check.proofs.field_order import report_field_order
from sglc.check.types.facts import TypeFacts
from sglc.check.types.forms import form_is_known, form_shows
from sglc.check.types.unsatisfiable import arms_are_apart
from sglc.check.unused_names import report_unused_names
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.library import Library, LibraryError
from sglc.source import Source, Span
from sglc.syntax.parse import parse
from sglc.syntax.tree import ast
from sglc.types.type import Type

Reader = Callable[[Source], tuple[ast.Module, list[Diagnostic]]]
"""From a source to its tree, and what was found on the way."""
MAX_MODULES = 500
MOST_KEPT = 2 * MAX_MODULES
"""Modules of which a workspace keeps what was found; those that were not asked for longest go first. So many
that two of the largest programs can be checked in turn."""
STANDARD = "std."


def check(
    source: Source, library: Library, read: Reader = parse
) -> tuple[CheckedProgram | None, list[Diagnostic]]:
    """Read and check a program. `read` makes the tree of the main file; other files are SGL text.

    Tests are checked where their file is the main one. The program is returned also where findings are
    errors, so that tools can show what is known of it; only one without errors may be lowered. Findings come
    in the order of the text, the main file's first.
    """
    return Workspace(keeps=False).check(source, library, read)


def _tell_apart(facts: TypeFacts, arms: tuple[Type, ...], spans: tuple[Span, ...]) -> None:
    """Report arms of a union that share a text."""

    def told() -> None:
        if all(facts.sound(arm) for arm in arms):
            report_dead_arms(facts, arms, spans)
            arms_are_apart(facts, arms, spans, raw=False)

    within_limit(facts.program, spans[0], told, None)


@lru_cache(maxsize=64)
def _parse_standard(source: Source) -> tuple[ast.Module, list[Diagnostic]]:
    """The tree of a module of the standard library, which never changes."""
    return parse(source)


def _opened(program: ProgramState) -> tuple[str, ...]:
    """The declared types with parameters, those made for conditions aside."""
    return tuple(name for name, opened in program.open_types.items() if opened.parameters)


class Workspace:
    """Checks programs, and keeps what was found about each module for the programs that come after.

    A module is not read again while its text is the same. It is not checked again either while the texts that
    it includes are the same and its imports show the same: `sglc.check.kept_modules` says what that is. Only
    a module that calls functions with type parameters is checked each time, for these are checked with it.

    One that does not keep is for one program. Of one thread at a time.
    """

    def __init__(self, *, keeps: bool = True) -> None:
        self.keeps = keeps
        self.kept: dict[ModuleKey, KeptModule] = {}
        self.checked = 0
        """How many modules the last check did not find among those that were kept."""
        self._program = ProgramState(Library())
        self._facts = TypeFacts(self._program)

    def library(self, *roots: Path | str, allow_outside: bool = False) -> Library:
        """A new library, which takes the sources of kept modules where their texts are the same."""
        sources = [kept.module.source for kept in self.kept.values()]
        return Library(*roots, allow_outside=allow_outside, known=sources)

    def known(self, source: Source) -> Source:
        """The source of a kept module that has the same file and text, else the source itself: only the same
        object is the same module."""
        sources = (kept.module.source for kept in self.kept.values())
        same = (other for other in sources if other.name == source.name and other.text == source.text)
        return next(same, source)

    def check(
        self, source: Source, library: Library | None = None, read: Reader = parse
    ) -> tuple[CheckedProgram | None, list[Diagnostic]]:
        """As the function `check`. Without a library, files are read as they are now. One that is given must
        be new; modules are found again if it is made by `library`, and `source` is `known`."""
        if library is None:
            library, source = self.library(), self.known(source)
        program = self._program
        program.begin(library)
        self._facts.begin()
        copies = program.copies = Copies(program, self._facts)
        library.add(source)
        loader = _Loader(program, self.kept, read)
        loader.load(source, "", main=True)
        self.checked = 0
        for loaded in loader.order:
            self._take(loaded, copies)
        self._forget(MOST_KEPT if self.keeps else 0)
        if not _reads_text(read):
            self.kept.pop(loader.order[-1].key, None)
        report_field_order(program)
        *others, last = program.order
        modules = tuple(module.checked() for module in (last, *others))
        table = {name: declared for name, declared in program.table.items() if name not in program.opaque}
        checked = CheckedProgram(modules[0], modules, table, copies.made, _opened(program))
        return checked, ordered(program.diagnostics, source)

    def _take(self, loaded: LoadedModule, copies: Copies) -> None:
        """Add a module to the program: as it was kept, if that still holds, else as it is checked now."""
        before = self.kept.pop(loaded.key, None)
        kept = before
        if kept is None or not still_holds(kept, loaded, self._program):
            checking = _Checking(self._program, self._facts, copies, self.keeps)
            kept = checking.checked(loaded, before)
            self.checked += 1
        loaded.kept = self.kept[loaded.key] = kept
        self._program.order.append(kept.module)

    def _forget(self, most: int) -> None:
        """Keep so many modules at most, those that were asked for last."""
        for key in list(self.kept)[: max(0, len(self.kept) - most)]:
            del self.kept[key]


class _Checking:
    """Checks modules whose imports are checked."""

    def __init__(self, program: ProgramState, facts: TypeFacts, copies: Copies, keeps: bool) -> None:
        self.program = program
        self.facts = facts
        self.copies = copies
        self.keeps = keeps

    def checked(self, loaded: LoadedModule, before: KeptModule | None) -> KeptModule:
        """All that is found about a module. `before` is what was kept of it, and does not hold any more."""
        program, key = self.program, loaded.key
        module = ModuleContext(
            program, loaded.source, loaded.tree, key.name, key.main, key.name.startswith(STANDARD)
        )
        mark, asked = Mark.of(program), self.copies.asked
        program.begun = len(program.diagnostics)
        program.diagnostics += [*loaded.read, *loaded.problems]
        checker = ModuleChecker(module, self.facts)
        program.readers[module.name] = checker
        imports = {use: other.kept.module for use, other in loaded.imports.items() if other.kept is not None}
        self._check(checker, imports)
        final = not loaded.problems and self.copies.asked == asked
        return kept_module(loaded, checker, mark, before, keeps=self.keeps, final=final)

    def _check(self, checker: ModuleChecker, imports: dict[int, ModuleContext]) -> None:
        """Names, types and signatures, then what is in bodies."""
        program, module = self.program, checker.module
        unions, forms, inner = len(program.unions), len(program.forms), len(program.inner)
        written = len(program.written)
        checker.declare(imports)
        read_in_order(module)
        checker.define_all()
        self._tell_apart(unions)
        effects = FunctionEffects(module)
        effects.infer()
        if module.main:
            effects.check_tests()
        forms = self._ask_forms(forms)
        unions = len(program.unions)
        checker.check_bodies()
        self._report_empty(written, unions)
        unions = len(program.unions)  # those of bodies are told apart where they stand
        if module.main:
            checker.check_tests()
        self.copies.check()
        checker.check_conditions()
        if module.main:
            report_unused_names(module)
        self._tell_apart(unions)
        self._ask_forms(forms)
        for type, span in program.inner[inner:]:
            form_shows(self.facts, type, span)

    def _tell_apart(self, first: int) -> None:
        """Report arms of the unions from `first` on that share a text."""
        for arms, spans in self.program.unions[first:]:
            _tell_apart(self.facts, arms, spans)

    def _report_empty(self, written: int, unions: int) -> None:
        """Report types from `written` on that have no value, and arms of the unions from `unions` on."""
        for type, span in self.program.written[written:]:
            within_limit(self.program, span, partial(report_empty, self.facts, type, span), None)
        for arms, spans in self.program.unions[unions:]:
            within_limit(self.program, spans[0], partial(report_dead_arms, self.facts, arms, spans), None)

    def _ask_forms(self, first: int) -> int:
        """Report types from `first` on that have not the form that is asked for; how many there are."""
        for type, span in self.program.forms[first:]:
            asked = partial(form_is_known, self.facts, type, span)
            within_limit(self.program, span, asked, None)
        return len(self.program.forms)


class _Loader:
    """Reads the modules of a program, imported ones before their importers."""

    def __init__(self, program: ProgramState, kept: Mapping[ModuleKey, KeptModule], read: Reader) -> None:
        self.program = program
        self.kept = kept
        self.read = read
        self.order: list[LoadedModule] = []
        """Imported modules before their importers; the main one comes last."""
        self._loaded: dict[int, LoadedModule] = {}
        """By the identity of the source."""
        self._chain: list[tuple[Source, str]] = []
        """The modules whose imports are being loaded, the main one first, with their names."""

    def load(self, source: Source, name: str, *, main: bool = False) -> LoadedModule:
        """The module, read, and all that it uses."""
        key = ModuleKey(source.name, name, main)
        kept = self.kept.get(key)
        if kept is not None and kept.module.source is source and (not main or _reads_text(self.read)):
            tree, found = kept.module.tree, list(kept.read)
        else:
            reader = _parse_standard if name.startswith(STANDARD) else self.read if main else parse
            tree, found = reader(source)
        loaded = self._loaded[id(source)] = LoadedModule(key, source, tree, tuple(found))
        before = len(self.program.diagnostics)
        self._chain.append((source, name or _module_of(source)))
        for node in tree.declarations:
            if isinstance(node, ast.Use):
                target = self._use(node, source)
                if target is not None:
                    loaded.imports[id(node)] = target
        self._chain.pop()
        loaded.problems = self.program.diagnostics[before:]
        del self.program.diagnostics[before:]
        self.order.append(loaded)
        return loaded

    def _use(self, node: ast.Use, importer: Source) -> LoadedModule | None:
        program = self.program
        try:
            source = program.library.find(node.path, importer)
        except LibraryError as error:
            if error.outside:
                report_outside(program, node.path, node.span, error)
                return None
            program.report(
                "E0213",
                f"module `{node.path}` cannot be read",
                node.span,
                label="used here",
                reason=error.reason,
            )
            return None
        if source is None:
            close = program.suggestions.nearest(node.path, program.library.standard_modules())
            where = "the standard library has no such module"
            if not node.path.startswith("std."):
                where = (
                    "looked for beside this file"
                    if node.path.startswith(".")
                    else "looked for in the project"
                )
            program.report(
                "E0213",
                f"there is no module `{node.path}`",
                node.span,
                label="not found",
                reason=where,
                hint=f"did you mean `{close}`?" if close else "",
            )
            return None
        for place, (open_source, _) in enumerate(self._chain):
            if open_source is source:
                round_ = [name for _, name in self._chain[place:]] + [self._chain[place][1]]
                program.report(
                    "E0214",
                    "modules use each other in a cycle",
                    node.span,
                    label="closes the cycle",
                    reason=" → ".join(round_),
                    hint="move what both need into a third module",
                )
                return None
        known = self._loaded.get(id(source))
        if known is not None:
            return known
        if len(self._loaded) >= MAX_MODULES:
            program.report(
                "E0213", f"a program has at most {MAX_MODULES} modules", node.span, label="one too many"
            )
            return None
        return self.load(source, program.library.module_name(source))


def _reads_text(read: Reader) -> bool:
    """Whether a reader gives what `parse` gives, so that what it read may be kept. One that does says so."""
    return read is parse or getattr(read, "reads_as_parse", False) is True


def _module_of(source: Source) -> str:
    return re.sub(r"\.sgl$", "", source.name.rsplit("/", 1)[-1])
