"""Declarations, grammars and whole files."""

from __future__ import annotations

from typing import Literal

from sglc.immutable import node
from sglc.source import Source, Span
from sglc.syntax.tree.expressions import Expression, ModelClause, Name, Number
from sglc.syntax.tree.statements import Statement
from sglc.syntax.tree.types import TypeExpression


@node
class Parameter:
    """`name: T` or `name: T = default`; `untrusted` where that word stands before the type."""

    name: Name
    untrusted: bool
    type: TypeExpression
    default: Expression | None
    span: Span


@node
class Field:
    """`name: T`, `name?: T`, `name: T = default`; `doc` is the text of its `##` comments."""

    name: Name
    type: TypeExpression
    optional: bool
    default: Expression | None
    doc: str
    span: Span


@node
class Use:
    """`use std.text (email, uri as link)`, `use ./crew (Crew)`.

    `path` is as written (`std.text`, `./crew`). Each name is (imported, local).
    """

    path: str
    names: tuple[tuple[Name, Name], ...]
    span: Span


@node
class RecordDeclaration:
    name: Name
    parameters: tuple[Parameter, ...]
    fields: tuple[Field, ...]
    public: bool
    doc: str
    span: Span


@node
class Member:
    name: Name
    doc: str


@node
class EnumDeclaration:
    name: Name
    members: tuple[Member, ...]
    public: bool
    doc: str
    span: Span


@node
class Variant:
    name: Name
    fields: tuple[Field, ...]
    doc: str
    span: Span


@node
class UnionDeclaration:
    name: Name
    parameters: tuple[Parameter, ...]
    variants: tuple[Variant, ...]
    public: bool
    doc: str
    span: Span


@node
class TypeDeclaration:
    """`type email = str matching /…/`."""

    name: Name
    parameters: tuple[Parameter, ...]
    type: TypeExpression
    public: bool
    doc: str
    span: Span


@node
class ErrorDeclaration:
    """`error Stuck(calc: str)` or `error Stuck`."""

    name: Name
    fields: tuple[Field, ...]
    public: bool
    doc: str
    span: Span


@node
class ConstDeclaration:
    name: Name
    type: TypeExpression | None
    value: Expression
    public: bool
    doc: str
    span: Span


@node
class GrammarSymbol:
    """A rule or terminal used in a grammar body."""

    name: Name
    span: Span


@node
class GrammarText:
    text: str
    span: Span


@node
class GrammarRegex:
    pattern: str
    span: Span


@node
class GrammarOneOf:
    values: Expression
    span: Span


@node
class GrammarSequence:
    items: tuple[GrammarTerm, ...]
    span: Span


@node
class GrammarChoice:
    arms: tuple[GrammarTerm, ...]
    span: Span


@node
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


@node
class GrammarRule:
    name: Name
    body: GrammarTerm
    span: Span


@node
class GrammarDeclaration:
    """`grammar Query(db: Schema):` with rules; `skip` is the pattern of `skip /\\s+/`."""

    name: Name
    parameters: tuple[Parameter, ...]
    rules: tuple[GrammarRule, ...]
    skip: str | None
    public: bool
    doc: str
    span: Span


@node
class GrammarImport:
    """`import grammar "sql.lark"`, or of the library `import grammar std.sql`; either with `as Name`."""

    path: str
    library: bool
    name: Name | None
    span: Span


FunctionKind = Literal["fn", "part", "pure", "aside"]


@node
class FunctionDeclaration:
    """`fn f(x: T) -> U within 700 tok using big raises E:` and its kin.

    `kind`: `fn` starts a fresh conversation, `part` writes into the caller's message, `pure` has no model.
    `type_parameters` are those of `fn f[T, U](…)`.
    """

    kind: FunctionKind
    name: Name
    type_parameters: tuple[Name, ...]
    parameters: tuple[Parameter, ...]
    result: TypeExpression | None
    within: Expression | None
    using: ModelClause | None
    raises: tuple[Name, ...]
    body: tuple[Statement, ...]
    public: bool
    doc: str
    span: Span


Effect = Literal["pure", "model", "read", "write"]
"""What a call does at most; each includes those before it."""


@node
class ExternDeclaration:
    """`extern py "module:name" fn f(x: T) -> U effects write key x timeout 5 s raises E`.

    `key` is the parameter that tells writes apart, `timeout` a number and its unit.
    """

    target: str
    target_span: Span
    name: Name
    parameters: tuple[Parameter, ...]
    result: TypeExpression | None
    effects: Effect
    key: Name | None
    timeout: tuple[Number, Name] | None
    raises: tuple[Name, ...]
    public: bool
    doc: str
    span: Span


@node
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


@node
class Module:
    """One file. Declarations in the order of the source; `doc` is its leading `##` text, if any."""

    source: Source
    declarations: tuple[Declaration, ...]
    doc: str
