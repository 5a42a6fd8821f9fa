"""What may be written at an offset, what fits best first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from sglc.check.core.result import ExpressionType
from sglc.check.expressions.builtin_results import methods_of
from sglc.check.names.builtins import ERRORS, FUNCTIONS
from sglc.check.show_types import show_found
from sglc.check.types.kinds import expand, is_enum, is_text, numeric_rank, without_null
from sglc.immutable import value
from sglc.library import SUFFIX
from sglc.service.core.snapshot import Snapshot
from sglc.service.names.shown import declaration_text, doc_of
from sglc.service.names.targets import Target, binders, owner_of_type, targets_of
from sglc.service.writing import words
from sglc.service.writing.context import Context, context_at
from sglc.service.writing.expected import expected_type
from sglc.service.writing.sight import fields_of_type, type_of, type_of_expression, variables_at
from sglc.service.writing.words import Word
from sglc.syntax.parse import parse_expression
from sglc.syntax.tree import ast
from sglc.types.type import FORMS

ItemKind = Literal[
    "word",
    "variable",
    "function",
    "type",
    "constant",
    "member",
    "field",
    "method",
    "module",
    "error",
    "file",
    "model",
    "argument",
]
MOST = 400
"""Most items of an answer."""
TYPE_KINDS = ("type", "record", "enum", "union", "type parameter", "grammar")


@value
class Item:
    """One thing that may be written. `rank` is less for what fits better; `insert` is a snippet, empty where
    it is the label itself."""

    label: str
    kind: ItemKind
    detail: str = ""
    doc: str = ""
    insert: str = ""
    rank: int = 5


@value
class Completion:
    """The items, and where the word begins that they replace."""

    start: int
    items: tuple[Item, ...]


def complete(snapshot: Snapshot, offset: int, *, declares: bool = False) -> Completion:
    """What may be written at an offset. Names that do not begin like what stands there are left to the editor
    to filter out. `declares` tells that a declaration may stand where a statement may, as at a prompt."""
    context = context_at(snapshot, offset)
    found: dict[tuple[str, str], Item] = {}
    declarations = _words(words.DECLARATIONS) if declares and context.where == "statement" else ()
    for item in (*declarations, *_Completer(snapshot, offset, context).items()):
        found.setdefault((item.label, item.kind), item)
        if len(found) >= MOST:
            break
    ordered = sorted(found.values(), key=lambda item: (item.rank, item.label))
    return Completion(context.start - _parts_before(context), tuple(ordered))


def _parts_before(context: Context) -> int:
    """How many characters before the last word an item replaces, too: those of a module's path, and of a
    file's name."""
    match context.where:
        case "module":
            return len(context.written)
        case "path":
            return len(context.written.rpartition("/")[2])
    return 0


class _Completer:
    """One place."""

    def __init__(self, snapshot: Snapshot, offset: int, context: Context) -> None:
        self.snapshot = snapshot
        self.offset = offset
        self.context = context
        self.table = snapshot.checked.table
        self.names = targets_of(snapshot, snapshot.checked.main)

    def items(self) -> Iterator[Item]:
        """All that may stand here."""
        context = self.context
        match context.where:
            case "declaration":
                yield from _words(words.DECLARATIONS)
            case "statement":
                yield from self._statement()
            case "expression":
                yield from self._expression()
            case "hole":
                yield from _words(words.IN_HOLES)
                yield from self._types()
            case "type":
                yield from self._types()
            case "refinement":
                yield from self._refinements()
            case "member":
                yield from self._members()
            case "module":
                yield from self._modules()
            case "module name":
                yield from self._module_names()
            case "mocked":
                yield from self._named(("function",))
            case "hole of mock":
                yield from self._holes()
            case "error":
                yield from self._errors()
            case "form":
                yield from (Item(form, "word", "form") for form in FORMS)
            case "strategy":
                yield from (Item(name, "word", "strategy") for name in words.STRATEGIES)
            case "retry":
                yield from _words(words.RETRIES)
            case "case":
                yield from self._cases()
            case "path":
                yield from self._files()
            case "model":
                yield from self._models()

    # -- lines ---------------------------------------------------------------------------------------

    def _statement(self) -> Iterator[Item]:
        kind = self.context.kind
        if kind in ("record", "union", "enum", "grammar", ""):
            return
        if kind == "test":
            yield from _words(words.TESTING, 1)
        elif kind != "pure":
            yield from _words(words.ASKING, 2)
        yield from _words(words.BOTH, 3)
        if self._in_match():
            yield Item("case", "word", "a form of the value", insert="case ${1:pattern}:\n    $0", rank=0)
        yield from self._values()

    def _expression(self) -> Iterator[Item]:
        expected = expected_type(self.snapshot, self.offset, self.context)
        for name, text in expected.parameters:
            yield Item(name, "argument", text, insert=f"{name} = $0", rank=2)
        if expected.type is not None:
            yield from self._of_type(expected.type)
        yield from self._values(expected.type)
        yield from _words(words.VALUES, 7)
        if self.context.kind != "pure":
            yield from _words(words.ASKED_VALUES, 6)

    def _of_type(self, found: ExpressionType) -> Iterator[Item]:
        """The values that a type names: members of an enum, literals."""
        enum = is_enum(without_null(found, self.table), self.table)
        if enum is not None:
            name = enum.name.rpartition(".")[2]
            docs = dict(zip(enum.members, enum.docs, strict=False))
            for member in enum.members:
                yield Item(member, "member", name, docs.get(member, ""), rank=0)
        owner = owner_of_type(self.snapshot, found)
        if owner is not None and isinstance(owner.node, ast.UnionDeclaration):
            for variant in owner.node.variants:
                yield Item(variant.name.text, "function", f"of {owner.name}", variant.doc, rank=0)
        elif owner is not None and isinstance(owner.node, ast.RecordDeclaration):
            yield Item(
                owner.name, "function", declaration_text(owner).splitlines()[0], owner.node.doc, rank=2
            )

    def _values(self, wanted: ExpressionType | None = None) -> Iterator[Item]:
        for place, target in enumerate(variables_at(self.snapshot, self.offset).values()):
            found = type_of(self.snapshot, target)
            fits = wanted is not None and found is not None and _alike(self, found, wanted)
            yield Item(target.name, "variable", show_found(found), rank=1 if fits else 3 if place < 20 else 4)
        yield from self._named(("function", "constant", "record", "error"), wanted)
        yield from self._named(("enum", "union"))  # for `Mood.calm`
        for row in FUNCTIONS.values():
            yield Item(row.name, "function", row.meaning, rank=6)

    def _named(self, kinds: tuple[str, ...], wanted: ExpressionType | None = None) -> Iterator[Item]:
        for name, target in {**self.names.imported, **self.names.own}.items():
            real = target.aim or target
            if real.kind not in kinds:
                continue
            found = type_of(self.snapshot, real)
            fits = wanted is not None and found is not None and _alike(self, found, wanted)
            kind: ItemKind = "function" if real.kind in ("function", "record", "error") else "constant"
            kind = "type" if real.kind in ("enum", "union") else kind
            detail = declaration_text(real).splitlines()[0]
            yield Item(name, kind, detail, doc_of(real), rank=2 if fits else 4)

    def _in_match(self) -> bool:
        """Whether the nearest line above that is indented less is a `match`."""
        source = self.snapshot.source
        number = source.position(self.offset)[0]
        indent = len(self.context.before)
        for above in range(number - 1, 0, -1):
            line = source.line(above)
            if line.strip() and len(line) - len(line.lstrip()) < indent:
                return line.lstrip().startswith("match ")
        return False

    # -- types ---------------------------------------------------------------------------------------

    def _types(self) -> Iterator[Item]:
        for name, target in {**self.names.imported, **self.names.own}.items():
            real = target.aim or target
            if real.kind in TYPE_KINDS:
                yield Item(name, "type", declaration_text(real).splitlines()[0], doc_of(real), rank=1)
        yield from (Item(each.text, "type", each.meaning, insert=each.insert, rank=2) for each in words.TYPES)

    def _refinements(self) -> Iterator[Item]:
        """What may refine the type that stands there."""
        found = self._written()
        in_hole = "?{" in self.context.before
        if found is None or is_text(found, self.table):
            yield from _words(words.OF_TEXT, 1)
        if found is None or numeric_rank(found, self.table) is not None:
            yield from _words(words.OF_NUMBERS, 1)
        yield from _words(words.OF_ANY, 3)
        if in_hole or self.context.before.lstrip().startswith(("think", "let", "return")):
            yield from _words(words.OF_HOLES, 2)

    def _written(self) -> ExpressionType | None:
        """The type that the first word of what is written names."""
        from sglc.check.types.resolve import BUILTIN_TYPES, TEXT_TYPES

        first = self.context.written.replace("|", " ").split()
        name = first[0] if first else ""
        target = self.names.find(name)
        if target is not None:
            return self._declared(target)
        if name.startswith('"'):
            return BUILTIN_TYPES["str"]
        return BUILTIN_TYPES.get(name) or TEXT_TYPES.get(name)

    def _declared(self, target: Target) -> ExpressionType | None:
        from sglc.types.type import Named

        real = target.aim or target
        names = (name for name in self.table if name.rpartition(".")[2] == real.name)
        name = next(names, None)
        return None if name is None else expand(Named(name), self.table)

    # -- parts ---------------------------------------------------------------------------------------

    def _members(self) -> Iterator[Item]:
        receiver = self.context.receiver
        target = self.names.find(receiver)
        if target is not None and isinstance((target.aim or target).node, ast.EnumDeclaration):
            found = (target.aim or target).node
            assert isinstance(found, ast.EnumDeclaration)
            for member in found.members:
                yield Item(member.name.text, "member", target.name, member.doc, rank=0)
            return
        if target is not None and isinstance((target.aim or target).node, ast.UnionDeclaration):
            union = (target.aim or target).node
            assert isinstance(union, ast.UnionDeclaration)
            yield from (Item(each.name.text, "function", target.name, each.doc) for each in union.variants)
            return
        parsed, _ = parse_expression(receiver)
        type_ = None if parsed is None else type_of_expression(self.snapshot, parsed, self.offset)
        if type_ is None:
            return
        plain = expand(without_null(expand(type_, self.table), self.table), self.table)
        for field in fields_of_type(self.snapshot, plain):
            yield Item(field.name, "field", show_found(field.type), field.doc, rank=0)
        for row in methods_of(self.table, plain).values():
            insert = f"{row.name}($0)" if row.parameters else f"{row.name}()"
            yield Item(row.name, "method", row.meaning, insert=insert, rank=2)

    def _holes(self) -> Iterator[Item]:
        target = self.names.find(self.context.written)
        node = None if target is None else (target.aim or target).node
        if isinstance(node, ast.FunctionDeclaration):
            for bound, name, kind in binders(node.body):
                if kind == "hole":
                    hole = Target("hole", name.text, name.span, bound)
                    yield Item(name.text, "variable", show_found(type_of(self.snapshot, hole)), rank=0)

    def _cases(self) -> Iterator[Item]:
        source = self.snapshot.source
        number = source.position(self.offset)[0]
        for above in range(number - 1, 0, -1):
            line = source.line(above).strip()
            if line.startswith("match ") and line.endswith(":"):
                parsed, _ = parse_expression(line.removeprefix("match ").removesuffix(":"))
                found = None
                if parsed is not None:
                    found = type_of_expression(self.snapshot, parsed, self.offset)
                if found is not None:
                    yield from self._patterns(found)
                break
        yield Item("_", "word", "any other value", rank=9)

    def _patterns(self, found: ExpressionType) -> Iterator[Item]:
        owner = owner_of_type(self.snapshot, found)
        if owner is not None and isinstance(owner.node, ast.UnionDeclaration):
            for variant in owner.node.variants:
                named = ", ".join(f"{each.name.text} = {each.name.text}" for each in variant.fields)
                insert = f"{variant.name.text}({named})" if named else variant.name.text
                yield Item(variant.name.text, "member", f"of {owner.name}", variant.doc, insert, rank=0)
        else:
            yield from self._of_type(found)

    # -- other files ---------------------------------------------------------------------------------

    def _modules(self) -> Iterator[Item]:
        for path in self.snapshot.library.standard_modules():
            yield Item(path, "module", "standard library", rank=2)
        folder = self.snapshot.path.parent
        for entry in _entries(folder):
            if entry.suffix == SUFFIX and entry != self.snapshot.path and not entry.name.startswith("."):
                yield Item(f"./{entry.stem}", "module", entry.name, rank=1)

    def _module_names(self) -> Iterator[Item]:
        for node in self.snapshot.tree.declarations:
            if isinstance(node, ast.Use) and node.path == self.context.written:
                module = self.snapshot.module_of(node)
                if module is not None:
                    yield from self._shared(targets_of(self.snapshot, module).own.values())
                    return
        names = self.snapshot.library.shared_names().get(self.context.written, frozenset())
        yield from (Item(name, "function", self.context.written) for name in sorted(names))

    def _shared(self, found: Iterable[Target]) -> Iterator[Item]:
        for target in found:
            if getattr(target.node, "public", False):
                kind: ItemKind = "type" if target.kind in TYPE_KINDS else "function"
                yield Item(target.name, kind, declaration_text(target).splitlines()[0], doc_of(target))

    def _errors(self) -> Iterator[Item]:
        for name, target in {**self.names.imported, **self.names.own}.items():
            if (target.aim or target).kind == "error":
                yield Item(name, "error", declaration_text(target), doc_of(target), rank=1)
        yield from (Item(name, "error", "built in", rank=3) for name in ERRORS)

    def _files(self) -> Iterator[Item]:
        typed = self.context.written
        folder = self.snapshot.path.parent / (typed.rpartition("/")[0] or ".")
        for entry in _entries(folder):
            if not entry.name.startswith("."):
                yield Item(entry.name + ("/" if entry.is_dir() else ""), "file", "")

    def _models(self) -> Iterator[Item]:
        from sglc.syntax.tree.spans import walk

        named = [each for each in walk(self.snapshot.tree.declarations) if isinstance(each, ast.ModelName)]
        known = {each.name.text for each in named} | set(self.snapshot.project.models)
        yield from (Item(name, "model", "") for name in sorted(known))


def _alike(completer: _Completer, found: ExpressionType, wanted: ExpressionType) -> bool:
    """Whether a value of a type may well be what is wanted: the same type, whatever refines it."""
    table = completer.table
    a, b = (expand(without_null(each, table), table) for each in (found, wanted))
    if a == b or (is_text(a, table) and is_text(b, table)):
        return True
    ranks = numeric_rank(a, table), numeric_rank(b, table)
    return None not in ranks and ranks[0] == ranks[1]


def _words(found: tuple[Word, ...], rank: int = 4) -> Iterator[Item]:
    yield from (Item(each.text, "word", each.meaning, insert=each.insert, rank=rank) for each in found)


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())[:MOST]
    except OSError:
        return []
