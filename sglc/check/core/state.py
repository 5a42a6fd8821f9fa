"""What checking knows and collects: the program, its modules, side tables, and the scopes of a function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sglc.check.core.result import DefaultArgument, ExpressionType, HoleFacts, Symbol
from sglc.diagnostics.diagnostic import Diagnostic, Edit, Label, Severity
from sglc.library import Library
from sglc.source import Source, Span
from sglc.syntax import ast
from sglc.types.type import DeclaredType, Type
from sglc.types.values import Value

HoleNode = ast.Gen | ast.Choose | ast.Select


@dataclass(slots=True)
class Signature:
    """A function as its callers see it. `parameters` are name, type, and the default if there is one."""

    name: str
    kind: str
    parameters: tuple[tuple[str, ExpressionType, DefaultArgument | None], ...]
    result: ExpressionType
    raises: tuple[str, ...]
    declaration: ast.FunctionDeclaration | ast.ExternDeclaration
    module: ModuleState
    available: bool = True
    """False for kinds that are refused for now: calls are not reported again."""
    holes: dict[str, HoleFacts] = field(default_factory=dict)
    """Named holes of its body, once that is checked."""


@dataclass(slots=True)
class Entity:
    """What a name of a module stands for. `kind`: type, function, const, error, broken, module."""

    kind: str
    name: str
    """Qualified."""
    declaration: Any
    module: ModuleState
    public: bool
    span: Span
    used: bool = False
    imported: bool = False


@dataclass(slots=True)
class ErrorFields:
    """A declared error: its fields as in a record."""

    name: str
    fields: tuple[tuple[str, ExpressionType, DefaultArgument | None], ...]


class ModuleState:
    """One module while it is checked."""

    def __init__(
        self, source: Source, module: ast.Module, name: str, main: bool, trusted: bool = False
    ) -> None:
        self.source = source
        self.module = module
        self.name = name
        self.main = main
        self.trusted = trusted
        """Its patterns and types are known to be sound: the standard library, which is tested as such."""
        self.names: dict[str, Entity] = {}
        self.members: dict[str, list[str]] = {}
        """Enum member to the qualified enums that have it, of those in sight."""
        self.variants: dict[str, list[str]] = {}
        """Variant to the qualified unions that have it."""
        self.types: dict[int, ExpressionType] = {}
        self.resolved: dict[int, Type] = {}
        self.symbols: dict[int, Symbol] = {}
        self.arguments: dict[int, tuple[ast.Expression | DefaultArgument, ...]] = {}
        self.holes: dict[int, HoleFacts] = {}
        self.retries: dict[int, HoleNode] = {}
        self.constants: dict[int, Value] = {}
        self.coercions: dict[int, Type] = {}

    def qualify(self, name: str) -> str:
        return f"{self.name}.{name}" if self.name else name


@dataclass(frozen=True, slots=True)
class OpenGrammar:
    """A grammar that waits for its values: its portable text, and the types of its parameters by name."""

    grammar: str
    parameters: Mapping[str, Type]


class ProgramState:
    """All modules of one program and what was found about them."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.diagnostics: list[Diagnostic] = []
        self.table: dict[str, DeclaredType] = {}
        self.broken: set[str] = set()
        """Declared types with a fault in them: no language is built of them."""
        self.levels: dict[str, int] = {}
        """How deep declared types nest, their names followed."""
        self.too_deep: set[str] = set()
        """Those that are refused for it, or contain one that is."""
        self.modules: dict[int, ModuleState] = {}
        """By the identity of the source."""
        self.order: list[ModuleState] = []
        self.checkers: dict[int, Any] = {}
        """The checker of each module, by the identity of its state."""
        self.signatures: dict[str, Signature] = {}
        self.errors: dict[str, ErrorFields] = {}
        self.constants: dict[str, tuple[ExpressionType, Value]] = {}
        self.open_grammars: dict[str, OpenGrammar | None] = {}
        """Grammars with parameters; None for one with a fault in it."""
        self.type_owners: dict[str, tuple[ModuleState, Any]] = {}
        """Declared types that wait to be resolved: their module and declaration."""
        self.unions: list[tuple[tuple[Type, ...], tuple[Span, ...]]] = []
        """Arms of each written `A | B`, to be held against each other once all types are known."""
        self.facts: Any = None
        """What is known about types: `TypeFacts` over this program."""
        self.memo: dict[tuple[Any, ...], Any] = {}
        """Answers about types that are asked more than once (`state.memo["finite", type]`)."""

    def report(
        self,
        code: str,
        message: str,
        span: Span | None,
        *,
        label: str = "",
        reason: str = "",
        witness: str = "",
        hint: str = "",
        secondary: tuple[Label, ...] = (),
        severity: Severity | None = None,
        edits: tuple[Edit, ...] = (),
    ) -> None:
        """Add a finding; the severity follows from the code's letter where it is not given."""
        if severity is None:
            severity = "error" if code[0] == "E" else "warning"
        self.diagnostics.append(
            Diagnostic(code, message, span, label, reason, witness, hint, secondary, severity, edits)
        )


# -- scopes ----------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Local:
    """A variable of a function. `kind`: parameter, let, var, loop, hole, error, it, binding, element."""

    name: str
    slot: str
    type: ExpressionType
    kind: str
    span: Span
    depth: int
    """Number of boundaries (loops, forks, tries) around it: a retry cannot jump over one."""
    used: bool = False
    hole: HoleNode | None = None
    origins: tuple[Local, ...] = ()
    """Holes that its value was made from."""
    boundary: tuple[int, ...] = ()


@dataclass(slots=True)
class Scope:
    """One block of names. `hidden` keeps names of closed inner blocks for better messages."""

    parent: Scope | None
    names: dict[str, Local] = field(default_factory=dict)
    narrowed: dict[str, ExpressionType] = field(default_factory=dict)
    """What a condition has proved about a path (`x`, `x.note`) inside this block."""

    def find(self, name: str) -> Local | None:
        scope: Scope | None = self
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def narrowing(self, path: str) -> ExpressionType | None:
        scope: Scope | None = self
        while scope is not None:
            found = scope.narrowed.get(path)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def forget(self, path: str) -> None:
        """Drop what was proved about a variable and its fields: it is assigned to."""
        scope: Scope | None = self
        while scope is not None:
            for known in [k for k in scope.narrowed if k == path or k.startswith(path + ".")]:
                del scope.narrowed[known]
            scope = scope.parent

    def visible(self) -> list[str]:
        names: list[str] = []
        scope: Scope | None = self
        while scope is not None:
            names.extend(scope.names)
            scope = scope.parent
        return names


@dataclass(slots=True)
class ForkFrame:
    """What a fork's body has shown so far."""

    yields: list[tuple[ExpressionType, Span]] = field(default_factory=list)
    holes: list[tuple[str, ExpressionType]] = field(default_factory=list)
    scope: Scope | None = None
    """The scope of its body: what is bound outside belongs to the code around it."""


@dataclass(slots=True)
class FunctionState:
    """The function, test or constant whose body is being checked."""

    signature: Signature | None
    kind: str
    """fn, part, pure, test, const."""
    result: ExpressionType = None  # type: ignore[assignment]
    has_roles: bool = False
    scope: Scope = field(default_factory=lambda: Scope(None))
    role: str | None = None
    role_span: Span | None = None
    loops: int = 0
    forks: list[ForkFrame] = field(default_factory=list)
    handled: list[dict[str, Span]] = field(default_factory=list)
    """For each `except` arm around the current place, the declared errors it catches and where they arise."""
    boundary: tuple[int, ...] = ()
    """Identities of the loops, forks and tries around the current place, outermost first."""
    raised: dict[str, Span] = field(default_factory=dict)
    """Declared errors that leave the current place, with where."""
    slots: set[str] = field(default_factory=set)
    closed: dict[str, Span] = field(default_factory=dict)
    """Names that were bound in blocks that have ended, for better messages."""
    locals: list[Local] = field(default_factory=list)
    templates: list[tuple[Span, Local, bool]] = field(default_factory=list)
    """Places of text that name a variable in braces, and whether they stand in a string."""
    holes: dict[str, HoleFacts] = field(default_factory=dict)
    gens: int = 0
    mentioned: list[set[Local]] = field(default_factory=list)
    """Stack of collectors: every variable that is read while one is open is added to it."""
    schemas: list[Type] = field(default_factory=list)
    """Types shown by `schema(T)` in the body."""
    generated: list[tuple[Type, Span]] = field(default_factory=list)
    element: tuple[ExpressionType, dict[str, ExpressionType]] | None = None
    """Inside `by = …`: the element's type and its fields."""
    costs: list[tuple[str, int]] | None = None
    """Holes that every run passes, with the fewest tokens each can take; None where a run may pass by."""
