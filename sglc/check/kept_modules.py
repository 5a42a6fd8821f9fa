"""What a workspace keeps of a module that it has checked, and whether it still holds.

What is found about a module depends on its text, on the texts that it includes, and on what the modules that
it uses show of themselves: their *interfaces*. An interface is the module's text without the bodies of its
functions, an outline of these, all that was found about its declarations, and the types of other modules that
these lead to. After a change that shows in none of them, importers need not be checked again (early cutoff;
Mokhov, Mitchell and Peyton Jones, *Build Systems à la Carte*, 2018).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from sglc import immutable
from sglc.check.core.context import ModuleContext, ProgramState, Signature
from sglc.check.core.walk import statements
from sglc.check.module import ModuleChecker
from sglc.check.statements.parts import has_holes
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.library import LibraryError
from sglc.source import Source
from sglc.syntax.tree import ast
from sglc.types.type import AliasType, Applied, Named

FileText = tuple[str, str | LibraryError | None]
"""The path of a file that a module takes in, and its text, or why there is none."""


class ModuleKey(NamedTuple):
    """A module among those that are kept: its file, its name in a program, whether that is the main one."""

    file: str
    name: str
    main: bool


@dataclass(slots=True, eq=False)
class LoadedModule:
    """A module of a program that is about to be checked."""

    key: ModuleKey
    source: Source
    tree: ast.Module
    read: tuple[Diagnostic, ...]
    """What was found while it was read."""
    imports: dict[int, LoadedModule] = field(default_factory=dict)
    """By the identity of the `use`."""
    problems: list[Diagnostic] = field(default_factory=list)
    """About modules that it cannot use. They depend on the way that leads to it."""
    kept: KeptModule | None = None
    """What was found about it; set once it is checked."""


@immutable.value
class Entries:
    """What a module has added to the tables and sets of its program, in their order."""

    tables: tuple[dict[str, object], ...]
    sets: tuple[frozenset[str], ...]

    def put_into(self, program: ProgramState) -> bool:
        """Add the entries to a program; False, and nothing is added, where it has others of their names."""
        table = program.table
        if any(table.get(name, declared) != declared for name, declared in self.tables[0].items()):
            return False
        for own, whole in zip(self.tables, program.tables, strict=True):
            whole.update(own)
        for names, every in zip(self.sets, program.sets, strict=True):
            every |= names
        return True


@immutable.value
class Mark:
    """How far the tables, sets and findings of a program were before a module was checked."""

    sizes: tuple[int, ...]
    sets: tuple[frozenset[str], ...]
    findings: int

    @classmethod
    def of(cls, program: ProgramState) -> Mark:
        """How far they are now."""
        sizes = tuple(len(table) for table in program.tables)
        return cls(sizes, tuple(frozenset(names) for names in program.sets), len(program.diagnostics))

    def entries_since(self, checker: ModuleChecker) -> Entries:
        """What a module has added, and the arguments of its tools, which another module may have added."""
        program = checker.module.program
        tables = [
            dict(islice(table.items(), size, None))
            for table, size in zip(program.tables, self.sizes, strict=True)
        ]
        for module in (checker.module, *(each.names.module for each in checker.generic.values())):
            for tool in (tool for use in module.tools.values() for tool in use.tools):
                tables[0].setdefault(tool.record, program.table[tool.record])
        added = (names - before for names, before in zip(program.sets, self.sets, strict=True))
        return Entries(tuple(tables), tuple(frozenset(names) for names in added))


@immutable.value
class Interface:
    """What a module shows of itself. Modules that show the same have the same object (`kept_module`)."""

    text: tuple[str, ...] = ()
    outline: tuple[object, ...] = ()
    declared: tuple[object, ...] = ()


@immutable.node
class KeptModule:
    """A checked module. `final` is false where no later program may take it over."""

    module: ModuleContext
    checker: ModuleChecker
    read: tuple[Diagnostic, ...]
    uses: tuple[KeptModule, ...]
    files: tuple[FileText, ...]
    found: tuple[Diagnostic, ...]
    """All findings about it, those of reading it among them."""
    places: frozenset[Source]
    """Other files than its own in which findings name a place."""
    entries: Entries
    interface: Interface
    final: bool


def kept_module(
    loaded: LoadedModule,
    checker: ModuleChecker,
    mark: Mark,
    before: KeptModule | None,
    *,
    keeps: bool,
    final: bool,
) -> KeptModule:
    """What is kept of a module that was just checked; `before` is what was kept of it until now. Only a
    workspace that `keeps` modules needs to know what it shows."""
    module = checker.module
    program, source = module.program, module.source
    uses = tuple(other.kept for other in loaded.imports.values() if other.kept is not None)
    entries = mark.entries_since(checker)
    interface = _interface(module, entries) if keeps else Interface()
    if before is not None and before.interface == interface and _leads_to_the_same(before, uses, program):
        interface = before.interface
    found = tuple(program.diagnostics[mark.findings :])
    places = frozenset(place for each in found for place in _places(each)) - {source}
    files = tuple(program.library.texts_of(source))
    return KeptModule(module, checker, loaded.read, uses, files, found, places, entries, interface, final)


def still_holds(kept: KeptModule, loaded: LoadedModule, program: ProgramState) -> bool:
    """Whether what was kept of a module is what a check would find now; if so, it is put into the program."""
    module, uses = kept.module, tuple(loaded.imports.values())
    if not kept.final or module.source is not loaded.source or loaded.problems:
        return False
    if len(uses) != len(kept.uses):
        return False
    for now, was in zip(uses, kept.uses, strict=True):
        if now.kept is None or (now.kept is not was and now.kept.interface is not was.interface):
            return False
    if kept.places and not kept.places <= {other.source for other in program.order}:
        return False
    library = program.library
    if not all(library.has_text(path, module.source, text) for path, text in kept.files):
        return False
    if not kept.entries.put_into(program):
        return False
    program.diagnostics += kept.found
    return True


def _places(diagnostic: Diagnostic) -> Iterator[Source]:
    spans = [diagnostic.span, *(label.span for label in diagnostic.secondary)]
    spans += [edit.span for edit in (*diagnostic.edits, *diagnostic.offered)]
    return (span.source for span in spans if span is not None)


# -- interfaces ----------------------------------------------------------------------------------------


def _interface(module: ModuleContext, entries: Entries) -> Interface:
    signatures = module.program.signatures
    table, levels, own, errors, constants, predicates, grammars, opened, _ = entries.tables
    shown = {name: _shown(signatures[name]) for name in own}
    outline = tuple(_outline(module.program, signatures[name]) for name in own)
    declared = (table, shown, errors, constants, grammars, opened, levels, tuple(predicates), entries.sets)
    return Interface(tuple(_text_between_bodies(module)), outline, declared)


def _shown(signature: Signature) -> tuple[object, ...]:
    """A function as its callers see it, its place aside."""
    return (
        signature.kind,
        signature.parameters,
        signature.result,
        signature.raises,
        signature.type_parameters,
        signature.idle,
        tuple((name, hole.type) for name, hole in signature.holes.items()),
    )


def _text_between_bodies(module: ModuleContext) -> Iterator[str]:
    """The text of a module without its tests and the bodies of its functions."""
    text, place = module.source.text, 0
    for node in module.tree.declarations:
        if isinstance(node, ast.FunctionDeclaration) and node.body:
            yield text[place : node.body[0].span.start]
            place = node.span.end
        elif isinstance(node, ast.TestDeclaration):
            yield text[place : node.span.start]
            place = node.span.end
    yield text[place:]


def _outline(program: ProgramState, signature: Signature) -> tuple[object, ...]:
    """What callers see of a body: its holes and variables, what it returns, whether it has holes at all."""
    node = signature.declaration
    found: list[tuple[str, object]] = [("has holes", has_holes(program, signature))]
    for statement in statements(node.body) if isinstance(node, ast.FunctionDeclaration) else ():
        match statement:
            case ast.PipeLine(parts):
                found += [("hole", part.name.text) for part in parts if isinstance(part, ast.Hole)]
            case ast.Let(name, _, _, value):
                asks = isinstance(value, ast.Gen | ast.Choose | ast.Select | ast.Fork)
                found.append((type(value).__name__ if asks else "let", name.text))
            case ast.Assign(ast.Reference(name)):
                found.append(("assign", name))
            case ast.Return():
                result = statement.value
                found.append(("return", result.name if isinstance(result, ast.Reference) else ""))
    return signature.name, *found


def _leads_to_the_same(before: KeptModule, uses: tuple[KeptModule, ...], program: ProgramState) -> bool:
    """Whether the declarations of a module, which are as before, lead to types of others that are as well."""
    if all(now.interface is was.interface for now, was in zip(uses, before.uses, strict=False)):
        return len(uses) == len(before.uses)
    table: dict[str, object] = {}
    opened: dict[str, object] = {}
    sets: list[set[str]] = [set() for _ in program.sets]
    for module in _with_uses(before):
        table.update(module.entries.tables[0])
        opened.update(module.entries.tables[7])
        for known, own in zip(sets, module.entries.sets, strict=True):
            known |= own
    for name in _types_named(before.interface.declared[:6], program):
        declared = program.table.get(name)
        if declared != table.get(name) or program.open_types.get(name) != opened.get(name):
            return False
        if any((name in now) is not (name in was) for now, was in zip(program.sets, sets, strict=True)):
            return False
        if isinstance(declared, AliasType) and declared.predicates and name not in before.entries.tables[0]:
            return False  # the functions of its conditions may be other ones
    return True


def _with_uses(kept: KeptModule) -> Iterator[KeptModule]:
    seen = {id(kept)}
    waiting = [kept]
    while waiting:
        module = waiting.pop()
        yield module
        for used in module.uses:
            if id(used) not in seen:
                seen.add(id(used))
                waiting.append(used)


def _types_named(values: object, program: ProgramState) -> set[str]:
    """The declared types that types and what holds them lead to."""
    found: set[str] = set()
    waiting: list[object] = [values]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Named | Applied) and value.name not in found:
            found.add(value.name)
            waiting += (program.table.get(value.name), program.open_types.get(value.name))
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, tuple | list | frozenset):
            waiting += value
        else:
            waiting += [getattr(value, name) for name in getattr(value, "__dataclass_fields__", ())]
    return found
