"""Declarations, grammars and whole files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sglc.source import Source, Span
from sglc.syntax.tree.expressions import Expression, Name
from sglc.syntax.tree.statements import Statement
from sglc.syntax.tree.types import TypeExpression


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """`name: T` or `name: T = default`."""

    name: Name
    type: TypeExpression
    default: Expression | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """`name: T`, `name?: T`, `name: T = default`; `doc` is the text of its `##` comments."""

    name: Name
    type: TypeExpression
    optional: bool
    default: Expression | None
    doc: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """`use std.text (email, uri as link)`, `use ./crew (Crew)`.

    `path` is as written (`std.text`, `./crew`). Each name is (imported, local).
    """

    path: str
    names: tuple[tuple[Name, Name], ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class RecordDeclaration:
    name: Name
    parameters: tuple[Parameter, ...]
    fields: tuple[Field, ...]
    public: bool
    doc: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    name: Name
    doc: str


@dataclass(frozen=True, slots=True, eq=False)
class EnumDeclaration:
    name: Name
    members: tuple[Member, ...]
    public: bool
    doc: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    name: Name
    fields: tuple[Field, ...]
    doc: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class UnionDeclaration:
    name: Name
    parameters: tuple[Parameter, ...]
    variants: tuple[Variant, ...]
    public: bool
    doc: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class TypeDeclaration:
    """`type email = str matching /…/`."""

    name: Name
    parameters: tuple[Parameter, ...]
    type: TypeExpression
    public: bool
    doc: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class ErrorDeclaration:
    """`error Stuck(calc: str)` or `error Stuck`."""

    name: Name
    fields: tuple[Field, ...]
    public: bool
    doc: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class ConstDeclaration:
    name: Name
    type: TypeExpression | None
    value: Expression
    public: bool
    doc: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class GrammarSymbol:
    """A rule or terminal used in a grammar body."""

    name: Name
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class GrammarText:
    text: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class GrammarRegex:
    pattern: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class GrammarOneOf:
    values: Expression
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class GrammarSequence:
    items: tuple[GrammarTerm, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class GrammarChoice:
    arms: tuple[GrammarTerm, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class GrammarRepeat:
    """`x?`, `x*`, `x+`, `x{2,5}`; maximum None is unbounded."""

    item: GrammarTerm
    minimum: int
    maximum: int | None
    span: Span


GrammarTerm = (
    GrammarSymbol
    | GrammarText
    | GrammarRegex
    | GrammarOneOf
    | GrammarSequence
    | GrammarChoice
    | GrammarRepeat
)


@dataclass(frozen=True, slots=True, eq=False)
class GrammarRule:
    name: Name
    body: GrammarTerm
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class GrammarDeclaration:
    """`grammar Query(db: Schema):` with rules; `skip` is the pattern of `skip /\\s+/`."""

    name: Name
    parameters: tuple[Parameter, ...]
    rules: tuple[GrammarRule, ...]
    skip: str | None
    public: bool
    doc: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class GrammarImport:
    """`import grammar "sql.lark"`, or of the library `import grammar std.sql`; either with `as Name`."""

    path: str
    library: bool
    name: Name | None
    span: Span


FunctionKind = Literal["fn", "part", "pure", "aside"]


@dataclass(frozen=True, slots=True, eq=False)
class FunctionDeclaration:
    """`fn f(x: T) -> U within 700 tok using big raises E:` and its kin.

    `kind`: `fn` starts a fresh conversation, `part` writes into the caller's message, `pure` has no model.
    """

    kind: FunctionKind
    name: Name
    parameters: tuple[Parameter, ...]
    result: TypeExpression | None
    within: Expression | None
    using: tuple[Name, ...]
    raises: tuple[Name, ...]
    body: tuple[Statement, ...]
    public: bool
    doc: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class ExternDeclaration:
    """`extern py "module:name" fn f(x: T) -> U effects read`."""

    target: str
    name: Name
    parameters: tuple[Parameter, ...]
    result: TypeExpression | None
    effects: str
    public: bool
    doc: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class TestDeclaration:
    """`test "title" [tags a, b]:`."""

    __test__ = False
    title: str
    tags: tuple[str, ...]
    body: tuple[Statement, ...]
    span: Span


Declaration = (
    Use
    | RecordDeclaration
    | EnumDeclaration
    | UnionDeclaration
    | TypeDeclaration
    | ErrorDeclaration
    | ConstDeclaration
    | GrammarDeclaration
    | GrammarImport
    | FunctionDeclaration
    | ExternDeclaration
    | TestDeclaration
)


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """One file. Declarations in the order of the source; `doc` is its leading `##` text, if any."""

    source: Source
    declarations: tuple[Declaration, ...]
    doc: str
