"""What the checkers of a program share: its modules, their names and tables, and the findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypedDict, Unpack

from sglc.check.core.result import (
    CheckedModule,
    DefaultArgument,
    DependentType,
    Effects,
    ExpressionType,
    HoleFacts,
    HoleNode,
    Symbol,
    ToolUse,
    Validator,
)
from sglc.diagnostics.diagnostic import Diagnostic, Edit, Label, Severity
from sglc.diagnostics.suggest import NameSearch
from sglc.immutable import node, value
from sglc.library import Library
from sglc.source import Source, Span
from sglc.syntax.tree import ast
from sglc.types.type import DeclaredType, InForm, OpenType, Type
from sglc.types.values import Value

WORDS = {"type": "a type", "error": "an error", "const": "a constant", "function": "a function"}
"""Kinds of entities in the words of messages."""


class Details(TypedDict, total=False):
    """The parts of a diagnostic that not every one has."""

    label: str
    reason: str
    witness: str
    hint: str
    secondary: tuple[Label, ...]
    severity: Severity
    edits: tuple[Edit, ...]
    offered: tuple[Edit, ...]


@dataclass(slots=True)
class Signature:
    """A function as its callers see it. `parameters` are name, type, and the default if there is one."""

    name: str
    kind: str
    parameters: tuple[tuple[str, ExpressionType, DefaultArgument | None], ...]
    result: ExpressionType
    raises: tuple[str, ...]
    """Errors that may leave it: those of its header until `declarations.effects` has inferred all."""
    declaration: ast.FunctionDeclaration | ast.ExternDeclaration
    module: ModuleContext
    holes: dict[str, HoleFacts] = field(default_factory=dict)
    """Named holes of its body, once that is checked."""
    type_parameters: tuple[str, ...] = ()
    """Qualified names of its type parameters, in the order of the text; see `ProgramState.opaque`."""
    idle: bool = False
    """Whether a call does nothing but give its value: it is pure, and nothing in it is there to fail."""


@dataclass(slots=True)
class Entity:
    """What a name of a module stands for. `kind`: type, function, const, error, broken, module."""

    kind: str
    name: str
    """Qualified."""
    declaration: Any
    module: ModuleContext
    public: bool
    span: Span
    used: bool = False
    imported: bool = False


@dataclass(slots=True)
class ErrorFields:
    """A declared error: its fields as in a record."""

    name: str
    fields: tuple[tuple[str, ExpressionType, DefaultArgument | None], ...]


@value
class OpenGrammar:
    """A grammar that waits for its values: its portable text, and the types of its parameters by name."""

    grammar: str
    parameters: Mapping[str, Type]


@dataclass(slots=True)
class OpenedType:
    """A declared type with parameters: their types by name, and what it is declared as, once that is read."""

    parameters: dict[str, Type]
    opened: OpenType | None = None


class DeclarationReader(Protocol):
    """Reads the declarations of one module when they are first needed, also by another module."""

    def define_contents(self, entity: Entity) -> None:
        """As `define`, of a type that others may know as an empty one."""

    def define(self, entity: Entity) -> None:
        """Put a declared type of the module into the table of types."""

    def parameters(self, entity: Entity) -> OpenedType:
        """The parameters of a declared type of the module."""

    def constant(self, entity: Entity) -> tuple[ExpressionType, Value] | None:
        """Type and value of a constant of the module; None where it has none, which is reported once."""


class CopyMaker(Protocol):
    """Makes copies of functions with type parameters, one for each list of types they are called with."""

    def copy_of(self, generic: Signature, types: tuple[Type, ...], span: Span) -> Signature | None:
        """The copy for these types, first asked for at `span`; None, which is reported, beyond the limit."""


class ProgramState:
    """All modules of one program and what was found about them, which are checked one after the other."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.diagnostics: list[Diagnostic] = []
        self.begun = 0
        """How many findings there were before the module that is being checked."""
        self.table: dict[str, DeclaredType] = {}
        self.broken: set[str] = set()
        """Declared types with a fault in them: no language is built of them."""
        self.levels: dict[str, int] = {}
        """How deep declared types nest, their names followed."""
        self.too_deep: set[str] = set()
        """Those that are refused for it, or contain one that is."""
        self.order: list[ModuleContext] = []
        """Imported modules before their importers."""
        self.readers: dict[str, DeclarationReader] = {}
        """By the name of the module."""
        self.signatures: dict[str, Signature] = {}
        """By qualified name, copies of functions with type parameters among them."""
        self.opaque: set[str] = set()
        """Names in `table` that stand for type parameters while a body is checked for all types. Each is
        declared as a record without fields, of which nothing but equality and text can be used, and counts
        as broken: no language is built of it."""
        self.copies: CopyMaker
        """Set before anything is checked."""
        self.errors: dict[str, ErrorFields] = {}
        self.constants: dict[str, tuple[ExpressionType, Value]] = {}
        self.predicates: dict[str, Callable[[], Validator | None]] = {}
        """The predicates of types by their functions: the validator that one is, if a hole can ask it."""
        self.open_grammars: dict[str, OpenGrammar | None] = {}
        """Grammars with parameters; None for one with a fault in it."""
        self.open_types: dict[str, OpenedType] = {}
        """Records, unions and aliases with parameters."""
        self.unions: list[tuple[tuple[Type, ...], tuple[Span, ...]]] = []
        """Arms of each written `A | B`, to be held against each other once all types are known."""
        self.forms: list[tuple[InForm, Span]] = []
        """Each written `T as yaml`, to be asked for its form once all types are known."""
        self.inner: list[tuple[Type, Span]] = []
        """Each written part of a list, map, tuple or union; if it has a form, that does not show there."""
        self.written: list[tuple[Type, Span]] = []
        """Types of variables, parameters and results, to be asked whether they have a value."""
        self.memo: dict[tuple[object, ...], Any] = {}
        """Answers about types that are asked more than once (`memo["finite", type]`)."""
        self.suggestions = NameSearch()
        """What unknown names of the program mean."""

    def begin(self, library: Library) -> None:
        """Begin with another program, of which nothing is known. Who holds on to a table sees the new one."""
        self.library = library
        self.memo.clear()
        for table in self.tables:
            table.clear()
        for names in self.sets:
            names.clear()
        entries: tuple[list[Any], ...]
        entries = (self.diagnostics, self.order, self.unions, self.forms, self.inner, self.written)
        for each in entries:
            each.clear()
        self.suggestions = NameSearch()

    @property
    def tables(self) -> tuple[dict[str, Any], ...]:
        """What modules add entries to, each entry under a name; see `sets`."""
        return (
            self.table, self.levels, self.signatures, self.errors, self.constants, self.predicates,
            self.open_grammars, self.open_types, self.readers,
        )  # fmt: skip

    @property
    def sets(self) -> tuple[set[str], ...]:
        """Names that modules add."""
        return (self.broken, self.too_deep, self.opaque)

    def reader_of(self, entity: Entity) -> DeclarationReader:
        """What reads the declarations of the module that an entity is of."""
        return self.readers[entity.module.name]

    def report(self, code: str, message: str, span: Span | None, **details: Unpack[Details]) -> None:
        """Add a finding; the severity follows from the code's letter where it is not given."""
        details.setdefault("severity", "error" if code[0] == "E" else "warning")
        self.diagnostics.append(Diagnostic(code, message, span, **details))


@node
class ModuleContext:
    """One module while it is checked: its tree, its names, and the tables that its checkers fill.

    The tables are those of `CheckedModule`, keyed by the identity of nodes.
    """

    program: ProgramState
    source: Source
    tree: ast.Module
    name: str
    main: bool
    trusted: bool = False
    """Its patterns and types are known to be sound: the standard library, which is tested as such."""
    names: dict[str, Entity] = field(default_factory=dict)
    members: dict[str, list[str]] = field(default_factory=dict)
    """Enum member to the qualified enums that have it, of those in sight."""
    variants: dict[str, list[str]] = field(default_factory=dict)
    """Variant to the qualified unions that have it."""
    types: dict[int, ExpressionType] = field(default_factory=dict)
    resolved: dict[int, Type] = field(default_factory=dict)
    symbols: dict[int, Symbol] = field(default_factory=dict)
    arguments: dict[int, tuple[ast.Expression | DefaultArgument, ...]] = field(default_factory=dict)
    holes: dict[int, HoleFacts] = field(default_factory=dict)
    retries: dict[int, HoleNode] = field(default_factory=dict)
    constants: dict[int, Value] = field(default_factory=dict)
    coercions: dict[int, Type] = field(default_factory=dict)
    applied: dict[int, ast.Call] = field(default_factory=dict)
    effects: dict[int, Effects] = field(default_factory=dict)
    """Of the declarations of its functions, also as functions with type parameters see the module."""
    tools: dict[int, ToolUse] = field(default_factory=dict)
    forms: dict[int, InForm] = field(default_factory=dict)
    unread_holes: list[str] = field(default_factory=list)
    asked: dict[int, tuple[Signature, ast.FunctionDeclaration]] = field(default_factory=dict)
    """Functions of the conditions of its types, by the condition; those to run have a name."""
    tested: dict[int, tuple[str, Type]] = field(default_factory=dict)
    dependents: dict[int, DependentType] = field(default_factory=dict)
    held: set[int] = field(default_factory=set)

    given: Mapping[str, Type] = field(default_factory=dict)
    """In a function with type parameters: what they stand for."""
    table: dict[str, DeclaredType] = field(init=False)
    """Every declared type of the program by its qualified name."""
    diagnostics: list[Diagnostic] = field(init=False)
    """All findings of the program so far."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", self.program.table)
        object.__setattr__(self, "diagnostics", self.program.diagnostics)

    def with_types(self, given: Mapping[str, Type]) -> ModuleContext:
        """The module as a function with type parameters sees it: the same names, and tables of its own."""
        return replace(
            self,
            given=given,
            types={},
            resolved={},
            symbols={},
            arguments={},
            holes={},
            retries={},
            constants={},
            coercions={},
            applied={},
            tools={},
            unread_holes=[],
            tested={},
            dependents={},
            held=set(),
        )

    def checked(self) -> CheckedModule:
        """What was found, as the lowering reads it."""
        return CheckedModule(
            self.tree,
            self.name,
            self.types,
            self.resolved,
            self.symbols,
            self.arguments,
            self.holes,
            self.retries,
            self.constants,
            self.coercions,
            self.applied,
            self.effects,
            self.tools,
            self.forms,
            self.unread_holes,
            tuple(node for signature, node in self.asked.values() if signature.name),
            self.tested,
            self.dependents,
            self.held,
        )

    def qualify(self, name: str) -> str:
        """The name of a declaration as all modules know it."""
        return f"{self.name}.{name}" if self.name else name

    def own(self, kind: str) -> list[Entity]:
        """What the module itself declares of one kind, in the order of the text."""
        return [e for e in self.names.values() if e.kind == kind and not e.imported]

    def look_up(self, name: str) -> Entity | None:
        """The module's own or imported name; a declared type behind it is defined first."""
        entity = self.names.get(name)
        if entity is not None and entity.kind == "type" and entity.name not in self.table:
            # One with parameters never comes into the table.
            self.program.reader_of(entity).define(entity)
        return entity

    def use(self, qualified: str) -> None:
        """Mark a declaration as used, whatever it is called here."""
        entity = self.names.get(qualified.rsplit(".", 1)[-1])
        if entity is not None and entity.name == qualified:
            entity.used = True
            return
        for other in self.names.values():
            if other.name == qualified:
                other.used = True

    def nearest(self, name: str, candidates: Iterable[str]) -> str | None:
        """The name that was probably meant by an unknown one."""
        return self.program.suggestions.nearest(name, candidates)

    def report(self, code: str, message: str, span: Span | None, **details: Unpack[Details]) -> None:
        """Add a finding to those of the program."""
        self.program.report(code, message, span, **details)
