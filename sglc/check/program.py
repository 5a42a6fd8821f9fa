"""The API of the checker: a source in, a checked program and its findings out.

Modules are loaded first, imported ones before their importers; then names, types and signatures of all are
known before any body is read. One fault gives one finding: what depends on it is of unknown type, which
agrees with everything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sglc.check.copies import Copies
from sglc.check.core.context import ModuleContext, ProgramState
from sglc.check.core.files import report_outside
from sglc.check.core.result import CheckedProgram
from sglc.check.core.work_limit import within_limit
from sglc.check.declarations.definition_order import read_in_order
from sglc.check.declarations.effects import FunctionEffects
from sglc.check.module import ModuleChecker
from sglc.check.proofs.emptiness import report_dead_arms
from sglc.check.proofs.field_order import report_field_order
from sglc.check.types.facts import TypeFacts
from sglc.check.types.forms import form_is_known, form_shows
from sglc.check.types.unsatisfiable import arms_are_apart
from sglc.check.unused_names import report_unused_names
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.library import Library, LibraryError
from sglc.source import Source, Span
from sglc.syntax.errors.core.reporter import MISREAD_BLOCKS
from sglc.syntax.parse import parse
from sglc.syntax.tree import ast
from sglc.types.type import InForm, Type

Reader = Callable[[Source], tuple[ast.Module, list[Diagnostic]]]
"""From a source to its tree, and what was found on the way."""
MAX_MODULES = 500
STANDARD = "std."
AFTER_ALL = ("W0201", "W0203", "W0208")
"""Findings that errors often cause: said only where there are none."""
UNKNOWN_NAMES = ("E0201", "E0202", "E0207", "E0212")
"""Findings about a name that there is not: told once in a declaration."""
AFTER_MISREAD_BLOCKS = UNKNOWN_NAMES + (
    "E0209",
    "E0338",
    "E0405",
    "E0406",
    "E0407",
    "E0411",
    "E0415",
    "E0417",
    "W0211",
)
"""Findings that depend on what stands in which block."""
_WORD = re.compile(r"\w+")


def check(
    source: Source, library: Library, read: Reader = parse
) -> tuple[CheckedProgram | None, list[Diagnostic]]:
    """Read and check a program. `read` makes the tree of the main file; other files are SGL text.

    Tests are checked where their file is the main one. The program is returned also where findings are
    errors, so that tools can show what is known of it; only one without errors may be lowered. Findings come
    in the order of the text, the main file's first.
    """
    loader = _Loader(library, read)
    library.add(source)
    main = loader.load(source, "", main=True)
    program = loader.program
    read_in_order(program)
    for checker in loader.checkers:
        checker.define_all()
    for arms, spans in program.unions:
        _tell_apart(loader.facts, arms, spans)
    effects = FunctionEffects(program)
    effects.infer()
    effects.check_tests(main)
    _ask_forms(loader.facts, program.forms)
    checked_forms = len(program.forms)
    for checker in loader.checkers:
        checker.check_bodies()
    checked_unions = len(program.unions)
    loader.checkers[-1].check_tests()
    loader.copies.check()
    for checker in loader.checkers:
        checker.check_conditions()
    report_unused_names(main)
    report_field_order(program)
    for arms, spans in program.unions[checked_unions:]:
        _tell_apart(loader.facts, arms, spans)
    _ask_forms(loader.facts, program.forms[checked_forms:])
    for type, span in program.inner:
        form_shows(loader.facts, type, span)
    modules = tuple(
        module.checked() for module in [main, *(other for other in program.order if other is not main)]
    )
    table = {name: declared for name, declared in program.table.items() if name not in program.opaque}
    checked = CheckedProgram(modules[0], modules, table, loader.copies.made, _opened(program))
    return checked, _ordered(program.diagnostics, source)


def _tell_apart(facts: TypeFacts, arms: tuple[Type, ...], spans: tuple[Span, ...]) -> None:
    """Report arms of a union that share a text."""

    def told() -> None:
        if all(facts.sound(arm) for arm in arms):
            report_dead_arms(facts, arms, spans)
            arms_are_apart(facts, arms, spans, raw=False)

    within_limit(facts.program, spans[0], told, None)


def _ask_forms(facts: TypeFacts, forms: Sequence[tuple[InForm, Span]]) -> None:
    """Report types that have not the form that is asked for."""
    for type, span in forms:
        within_limit(facts.program, span, lambda type=type, span=span: form_is_known(facts, type, span), None)  # type: ignore[misc]


@lru_cache(maxsize=64)
def _parse_standard(source: Source) -> tuple[ast.Module, list[Diagnostic]]:
    """The tree of a module of the standard library, which never changes."""
    return parse(source)


def _opened(program: ProgramState) -> tuple[str, ...]:
    """The declared types with parameters, those made for conditions aside."""
    return tuple(name for name, opened in program.open_types.items() if opened.parameters)


def _ordered(diagnostics: list[Diagnostic], main: Source) -> list[Diagnostic]:
    """By file, the main one first, then by place; what is found twice is said once."""
    seen: set[tuple[str, str, object]] = set()
    kept: list[Diagnostic] = []
    faulty = any(d.severity == "error" for d in diagnostics)
    unread = _unread_lines(diagnostics)
    misread = any(d.code in MISREAD_BLOCKS for d in diagnostics)
    for diagnostic in diagnostics:
        if faulty and diagnostic.code in AFTER_ALL:
            continue
        if unread and _follows_from_syntax(diagnostic, unread, misread):
            continue
        span = diagnostic.span
        place = None if span is None else (id(span.source), span.start, span.end)
        if diagnostic.code in UNKNOWN_NAMES and span is not None:
            place = (id(span.source), span.source.declaration_start(span.start), 0)
        key = (diagnostic.code, diagnostic.message, place)
        if key not in seen:
            seen.add(key)
            kept.append(diagnostic)

    def order(d: Diagnostic) -> tuple[bool, str, int]:
        if d.span is None:
            return (False, "", 0)
        return (d.span.source is not main, d.span.source.name, d.span.start)

    return sorted(kept, key=order)


@dataclass(frozen=True, slots=True)
class _Unread:
    """The lines of one file that could not be read."""

    starts: list[int]
    """Where their faults begin."""
    words: dict[str, int]
    """Words on these lines, each with the first fault on a line that has it."""


def _unread_lines(diagnostics: list[Diagnostic]) -> dict[Source, _Unread]:
    found: dict[Source, _Unread] = {}
    faults = [d.span for d in diagnostics if d.code.startswith("E01") and d.span is not None]
    for fault in sorted(faults, key=lambda span: span.start):
        unread = found.setdefault(fault.source, _Unread([], {}))
        unread.starts.append(fault.start)
        for word in _WORD.findall(_with_block(fault)):
            unread.words.setdefault(word, fault.start)
    return found


def _with_block(fault: Span) -> str:
    """The line of a fault, and the lines below it that are indented more."""
    source, number = fault.source, fault.source.position(fault.start)[0]
    lines = [source.line(number)]
    column = len(lines[0]) - len(lines[0].lstrip())
    for below in range(number + 1, len(source.line_starts) + 1):
        line = source.line(below)
        if column == 0 or (line.strip() and len(line) - len(line.lstrip()) <= column):
            break
        lines.append(line)
    return "\n".join(lines)


def _follows_from_syntax(diagnostic: Diagnostic, unread: dict[Source, _Unread], misread: bool) -> bool:
    """Whether a finding may only be there because a line near it could not be read.

    A name may be bound by such a line, a case or `return` may stand on it; with `misread` blocks it may stand
    in another declaration than it seems.
    """
    span = diagnostic.span
    if span is None:
        return False
    if diagnostic.code in AFTER_MISREAD_BLOCKS and misread:
        return True
    lines = unread.get(span.source)
    if lines is None:
        return False
    if diagnostic.code in UNKNOWN_NAMES:
        first = lines.words.get(span.text)
        return first is not None and (first < span.start or diagnostic.code != "E0201")
    if diagnostic.code == "E0350":
        begins = span.source.declaration_start
        return any(begins(fault) == begins(span.start) for fault in lines.starts)
    if diagnostic.code == "W0211":
        return lines.starts[0] < span.start
    return diagnostic.code in ("E0338", "E0417") and lines.starts[-1] > span.start


class _Loader:
    """Reads the modules of a program and enters their names."""

    def __init__(self, library: Library, read: Reader) -> None:
        self.read = read
        self.program = ProgramState(library)
        self.facts = TypeFacts(self.program)
        self.copies = self.program.copies = Copies(self.program, self.facts)
        self.checkers: list[ModuleChecker] = []
        """Imported modules before their importers; the main one comes last."""
        self.library = library
        self.chain: list[tuple[Source, str]] = []

    def load(self, source: Source, name: str, *, main: bool = False) -> ModuleContext:
        standard = name.startswith(STANDARD)
        reader = _parse_standard if standard else self.read if main else parse
        tree, found = reader(source)
        program = self.program
        program.diagnostics.extend(found)
        module = ModuleContext(program, source, tree, name, main, standard)
        program.modules[id(source)] = module
        self.chain.append((source, name or _module_of(source)))
        imports: dict[int, ModuleContext] = {}
        for node in tree.declarations:
            if isinstance(node, ast.Use):
                target = self._use(node, module)
                if target is not None:
                    imports[id(node)] = target
        self.chain.pop()
        checker = ModuleChecker(module, self.facts)
        self.checkers.append(checker)
        program.readers[id(module)] = checker
        program.order.append(module)
        checker.declare(imports)
        return module

    def _use(self, node: ast.Use, importer: ModuleContext) -> ModuleContext | None:
        program = self.program
        try:
            source = self.library.find(node.path, importer.source)
        except LibraryError as error:
            if error.outside:
                report_outside(importer, node.path, node.span, error)
                return None
            importer.report(
                "E0213",
                f"module `{node.path}` cannot be read",
                node.span,
                label="used here",
                reason=error.reason,
            )
            return None
        if source is None:
            close = importer.nearest(node.path, self.library.standard_modules())
            where = "the standard library has no such module"
            if not node.path.startswith("std."):
                where = (
                    "looked for beside this file"
                    if node.path.startswith(".")
                    else "looked for in the project"
                )
            importer.report(
                "E0213",
                f"there is no module `{node.path}`",
                node.span,
                label="not found",
                reason=where,
                hint=f"did you mean `{close}`?" if close else "",
            )
            return None
        for place, (open_source, _) in enumerate(self.chain):
            if open_source is source:
                round_ = [name for _, name in self.chain[place:]] + [self.chain[place][1]]
                importer.report(
                    "E0214",
                    "modules use each other in a cycle",
                    node.span,
                    label="closes the cycle",
                    reason=" → ".join(round_),
                    hint="move what both need into a third module",
                )
                return None
        known = program.modules.get(id(source))
        if known is not None:
            return known
        if len(program.modules) >= MAX_MODULES:
            importer.report(
                "E0213", f"a program has at most {MAX_MODULES} modules", node.span, label="one too many"
            )
            return None
        return self.load(source, self.library.module_name(source))


def _module_of(source: Source) -> str:
    return re.sub(r"\.sgl$", "", source.name.rsplit("/", 1)[-1])
