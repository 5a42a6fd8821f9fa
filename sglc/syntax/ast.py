"""The syntax tree of SGL: frozen nodes, each with the span it was read from.

Concrete node classes are never subclassed; the unions at the end of each section (`Expression`,
`TypeExpression`, `Statement`, `Declaration`) are what `match` goes over. Nothing here knows how to check,
lower or run itself. Sequences are tuples.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from sglc.source import Source, Span

# -- names -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier where it is written."""

    text: str
    span: Span


# -- expressions -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Number:
    """`12`, `1_000`, `0.5`. `value` is an int, or a Decimal when a point was written."""

    value: int | Decimal
    span: Span


@dataclass(frozen=True, slots=True)
class String:
    """`"…${x}…"`: literal texts and inserted expressions in turn."""

    parts: tuple[str | Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Boolean:
    value: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Null:
    span: Span


@dataclass(frozen=True, slots=True)
class Reference:
    """A name used as a value: variable, constant, function, enum member, variant."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Attribute:
    value: Expression
    name: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Index:
    value: Expression
    index: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Slice:
    """`xs[a:b]`; either end may be absent."""

    value: Expression
    start: Expression | None
    stop: Expression | None
    span: Span


@dataclass(frozen=True, slots=True)
class Argument:
    """`value` or `name = value` in a call."""

    name: Name | None
    value: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """`f(x, name = y)`; a method call has an Attribute as its function."""

    function: Expression
    arguments: tuple[Argument, ...]
    span: Span


UnaryOperator = Literal["-", "not"]
BinaryOperator = Literal[
    "+", "-", "*", "/", "//", "%", "**",
    "==", "!=", "<", "<=", ">", ">=", "in", "not in", "matches", "contains",
    "and", "or",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unary:
    operator: UnaryOperator
    operand: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Binary:
    operator: BinaryOperator
    left: Expression
    right: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Conditional:
    """`a if c else b`."""

    then: Expression
    condition: Expression
    otherwise: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class ListDisplay:
    items: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class TupleDisplay:
    items: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class MapDisplay:
    """`{"a": 1, "b": 2}`."""

    entries: tuple[tuple[Expression, Expression], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Comprehension:
    """`[element for variable in iterable if condition]`."""

    element: Expression
    variable: Name
    iterable: Expression
    condition: Expression | None
    span: Span


@dataclass(frozen=True, slots=True)
class Range:
    """`a..b` (b excluded) or `a..=b` (b included), as a value. In types `a..b` always includes b."""

    start: Expression
    stop: Expression
    inclusive: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Regex:
    """`/pattern/` as written between the slashes (`\\/` stands for a slash)."""

    pattern: str
    span: Span


@dataclass(frozen=True, slots=True)
class OrElse:
    """`e else raise E(…)` or `e else fallback`: what happens when evaluating `value` fails."""

    value: Expression
    fallback: Expression | Raise
    span: Span


@dataclass(frozen=True, slots=True)
class SchemaOf:
    """`schema(T)`: the text that shows type T to a model. A compile-time constant.

    `style` is None for the default, or `"json"`, `"typescript"`, `"prose"` from `schema(T, as = "…")`.
    """

    type: TypeExpression
    style: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class HoleOption:
    """One option of a hole, gen, choose, select or think.

    `kind`: max_tokens, temp, top_p, top_k, min_p, seed, until, where, using, n, decode.
    `value` is an expression (a String for `until`, a Reference for `using` and `decode`).
    """

    kind: str
    value: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Gen:
    """`gen T options`: the model fills a value of type T at this point of the message."""

    type: TypeExpression
    options: tuple[HoleOption, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Choose:
    """`choose [a, b]` or `choose T`: masked sampling over the options, one pass."""

    choices: Expression | TypeExpression
    options: tuple[HoleOption, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Select:
    """`select [a, b] by sum` or `select T by …`: score every option in full; a Scored value.

    `by` is sum, mean, greedy or contrast; None where it was not written (greedy).
    """

    choices: Expression | TypeExpression
    by: str | None
    options: tuple[HoleOption, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Fork:
    """`fork i in 0..4 seed i:` with a body that yields; a list of branches.

    `skip` is True for `fork … or skip:` (a failing branch is dropped instead of cancelling all).
    """

    variable: Name
    iterable: Expression
    options: tuple[HoleOption, ...]
    skip: bool
    body: tuple[Statement, ...]
    span: Span


Expression = (
    Number | String | Boolean | Null | Reference | Attribute | Index | Slice | Call | Unary | Binary
    | Conditional | ListDisplay | TupleDisplay | MapDisplay | Comprehension | Range | Regex | OrElse
    | SchemaOf | Gen | Choose | Select | Fork
)  # fmt: skip

# -- types -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TypeName:
    """`int`, `Crew`, `Mail(body)`: a built-in, declared or imported type, with value arguments."""

    name: str
    arguments: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class TypeLiteral:
    """`"EUR"`, `3`, `true` as a type."""

    value: str | int | Decimal | bool
    span: Span


@dataclass(frozen=True, slots=True)
class TypeList:
    """`[T; 2..4]`; bounds are None where not written (`[T]`, `[T; 2..]`, `[T; ..4]`; `[T; 3]` is 3..3)."""

    item: TypeExpression
    minimum: int | None
    maximum: int | None
    span: Span


@dataclass(frozen=True, slots=True)
class TypeMap:
    """`{str: T; ..8}`."""

    key: TypeExpression
    value: TypeExpression
    minimum: int | None
    maximum: int | None
    span: Span


@dataclass(frozen=True, slots=True)
class TypeTuple:
    items: tuple[TypeExpression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class TypeOptional:
    item: TypeExpression
    span: Span


@dataclass(frozen=True, slots=True)
class TypeUnion:
    """`A | B`."""

    arms: tuple[TypeExpression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class RangeRefinement:
    """`in 0..120`, `in 0..`, `in ..5`; both ends included."""

    minimum: int | Decimal | None
    maximum: int | Decimal | None
    span: Span


@dataclass(frozen=True, slots=True)
class MinChars:
    count: int
    span: Span


@dataclass(frozen=True, slots=True)
class MaxChars:
    count: int
    span: Span


@dataclass(frozen=True, slots=True)
class Matching:
    """`matching /re/`: the whole value matches."""

    pattern: str
    span: Span


@dataclass(frozen=True, slots=True)
class Until:
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class NotContaining:
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class MultipleOf:
    number: int | Decimal
    span: Span


@dataclass(frozen=True, slots=True)
class Where:
    condition: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Surface:
    """`as yaml`, `as lines`, `as xml`, `as csv`."""

    name: str
    span: Span


Refinement = (
    RangeRefinement | MinChars | MaxChars | Matching | Until | NotContaining | MultipleOf | Where | Surface
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TypeRefined:
    base: TypeExpression
    refinements: tuple[Refinement, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class TypeSpanOf:
    """`span of x`."""

    value: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class TypeOneOf:
    """`one of xs`."""

    values: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class TypeJsonSchema:
    """`json schema "file.json"` or `json schema {…}`: `source` is the path or the inline JSON text."""

    source: str
    inline: bool
    span: Span


TypeExpression = (
    TypeName | TypeLiteral | TypeList | TypeMap | TypeTuple | TypeOptional | TypeUnion | TypeRefined
    | TypeSpanOf | TypeOneOf | TypeJsonSchema
)  # fmt: skip

# -- prompt text -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Text:
    """Literal characters of a pipe line, escapes already resolved."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Insert:
    """`${expr}`."""

    value: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Hole:
    """`?{name: Type options}`, `?{name: choose […] …}`, `?{name: select … by …}`."""

    name: Name
    content: Gen | Choose | Select
    span: Span


TextPart = Text | Insert | Hole

# -- statements ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PipeLine:
    """`| text`. `glued` is True when it ends in `\\`: the next pipe line follows without a newline."""

    parts: tuple[TextPart, ...]
    glued: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Include:
    """`include "file.md"`: the file's text as one literal."""

    path: str
    span: Span


@dataclass(frozen=True, slots=True)
class Role:
    """`system:`, `user:`, `assistant:`, `tool:` blocks.

    `tools` and `limit` are those of `assistant with tools […] limit n calls`.
    """

    role: str
    body: tuple[Statement, ...]
    tools: tuple[Expression, ...]
    limit: Expression | None
    span: Span
    keyword: Span
    """The word itself, for messages about the role."""


@dataclass(frozen=True, slots=True)
class Let:
    """`let x: T = e` or `var x = e`."""

    name: Name
    mutable: bool
    type: TypeExpression | None
    value: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Assign:
    """`target = e` and `target += e`; operator is `=`, `+=`, `-=`, `*=` or `/=`."""

    target: Expression
    operator: str
    value: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Evaluate:
    """An expression as a statement."""

    value: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class If:
    """`if/elif/else`: branches in order; `otherwise` is empty when there is no else."""

    branches: tuple[tuple[Expression, tuple[Statement, ...]], ...]
    otherwise: tuple[Statement, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class For:
    variable: Name
    iterable: Expression
    body: tuple[Statement, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class While:
    """`while condition limit n:`; more than n rounds raise `Budget`."""

    condition: Expression
    limit: Expression | None
    body: tuple[Statement, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class WildcardPattern:
    """`_`."""

    span: Span


@dataclass(frozen=True, slots=True)
class LiteralPattern:
    value: str | int | Decimal | bool | None
    span: Span


@dataclass(frozen=True, slots=True)
class RangePattern:
    """`1..5`, both ends included; one may be absent."""

    minimum: int | Decimal | None
    maximum: int | Decimal | None
    span: Span


@dataclass(frozen=True, slots=True)
class NamePattern:
    """A bare name: an enum member, a variant or type name if one is known, else a binding."""

    name: Name
    span: Span


@dataclass(frozen=True, slots=True)
class FieldPattern:
    name: Name
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class ConstructorPattern:
    """`Invoice(total = t, currency = "EUR")`."""

    name: Name
    fields: tuple[FieldPattern, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class AlternativesPattern:
    """`a | b`."""

    patterns: tuple[Pattern, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class SequencePattern:
    """`(a, b)`, against a tuple."""

    items: tuple[Pattern, ...]
    span: Span


Pattern = (
    WildcardPattern | LiteralPattern | RangePattern | NamePattern | ConstructorPattern
    | AlternativesPattern | SequencePattern
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    pattern: Pattern
    guard: Expression | None
    body: tuple[Statement, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Match:
    subject: Expression
    cases: tuple[Case, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Return:
    value: Expression | None
    span: Span


@dataclass(frozen=True, slots=True)
class Break:
    span: Span


@dataclass(frozen=True, slots=True)
class Continue:
    span: Span


@dataclass(frozen=True, slots=True)
class Raise:
    """`raise E(args)`; `error` is None for a bare `raise` inside `except`."""

    error: Name | None
    arguments: tuple[Argument, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Except:
    """`except A, B as e:`; no names catch every error of the language."""

    errors: tuple[Name, ...]
    binding: Name | None
    body: tuple[Statement, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Try:
    body: tuple[Statement, ...]
    handlers: tuple[Except, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Retry:
    """`retry n resample` or `retry n repair`."""

    count: Expression
    strategy: str
    span: Span


@dataclass(frozen=True, slots=True)
class Ensure:
    """`ensure cond else "why"` (hard) or `check cond` (recorded), with an optional policy.

    `each` is the variable and list of `ensure each c in cs: cond`. `fallback` is the final
    `else raise E(…)` of the policy.
    """

    hard: bool
    each: tuple[Name, Expression] | None
    condition: Expression
    message: Expression | None
    retry: Retry | None
    fallback: Raise | None
    span: Span


@dataclass(frozen=True, slots=True)
class Yield:
    value: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Adopt:
    value: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Part:
    """`part f(x)` as a statement: splices the text of part f into the current message.

    `kind` is "part" or "aside".
    """

    kind: str
    call: Call
    binding: Name | None
    span: Span


@dataclass(frozen=True, slots=True)
class Forget:
    body: tuple[Statement, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Think:
    options: tuple[HoleOption, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Parallel:
    """`par:`."""

    body: tuple[Statement, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Using:
    """`using big or small:` as a block."""

    models: tuple[Name, ...]
    body: tuple[Statement, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class StreamFor:
    """`for p in stream f(x):`."""

    variable: Name
    call: Call
    body: tuple[Statement, ...]
    span: Span


# Statements of test blocks.


@dataclass(frozen=True, slots=True)
class Mock:
    """`mock f.hole = value [always]`."""

    function: Name
    hole: Name
    value: Expression
    always: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Fuzz:
    """`fuzz f(x) times n:`; inside the body `it` is the result."""

    call: Call
    times: Expression
    body: tuple[Statement, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Expect:
    """`expect cond`."""

    condition: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class ExpectRaises:
    """`expect raises E: call`."""

    error: Name
    call: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Golden:
    """`golden f(x)`."""

    call: Call
    span: Span


@dataclass(frozen=True, slots=True)
class Replay:
    """`replay "trace"`."""

    path: str
    span: Span


Statement = (
    PipeLine | Include | Role | Let | Assign | Evaluate | If | For | While | Match | Return | Break
    | Continue | Raise | Try | Ensure | Yield | Adopt | Part | Forget | Think | Parallel | Using
    | StreamFor | Mock | Fuzz | Expect | ExpectRaises | Golden | Replay
)  # fmt: skip

# -- declarations ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parameter:
    """`name: T` or `name: T = default`."""

    name: Name
    type: TypeExpression
    default: Expression | None
    span: Span


@dataclass(frozen=True, slots=True)
class Field:
    """`name: T`, `name?: T`, `name: T = default`; `doc` is the text of its `##` comments."""

    name: Name
    type: TypeExpression
    optional: bool
    default: Expression | None
    doc: str
    span: Span


@dataclass(frozen=True, slots=True)
class Use:
    """`use std.text (email, uri as link)`, `use ./crew (Crew)`.

    `path` is as written (`std.text`, `./crew`). Each name is (imported, local).
    """

    path: str
    names: tuple[tuple[Name, Name], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class RecordDeclaration:
    name: Name
    parameters: tuple[Parameter, ...]
    fields: tuple[Field, ...]
    public: bool
    doc: str
    span: Span


@dataclass(frozen=True, slots=True)
class Member:
    name: Name
    doc: str


@dataclass(frozen=True, slots=True)
class EnumDeclaration:
    name: Name
    members: tuple[Member, ...]
    public: bool
    doc: str
    span: Span


@dataclass(frozen=True, slots=True)
class Variant:
    name: Name
    fields: tuple[Field, ...]
    doc: str
    span: Span


@dataclass(frozen=True, slots=True)
class UnionDeclaration:
    name: Name
    parameters: tuple[Parameter, ...]
    variants: tuple[Variant, ...]
    public: bool
    doc: str
    span: Span


@dataclass(frozen=True, slots=True)
class TypeDeclaration:
    """`type email = str matching /…/`."""

    name: Name
    parameters: tuple[Parameter, ...]
    type: TypeExpression
    public: bool
    doc: str
    span: Span


@dataclass(frozen=True, slots=True)
class ErrorDeclaration:
    """`error Stuck(calc: str)` or `error Stuck`."""

    name: Name
    fields: tuple[Field, ...]
    public: bool
    doc: str
    span: Span


@dataclass(frozen=True, slots=True)
class ConstDeclaration:
    name: Name
    type: TypeExpression | None
    value: Expression
    public: bool
    doc: str
    span: Span


@dataclass(frozen=True, slots=True)
class GrammarSymbol:
    """A rule or terminal used in a grammar body."""

    name: Name
    span: Span


@dataclass(frozen=True, slots=True)
class GrammarText:
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class GrammarRegex:
    pattern: str
    span: Span


@dataclass(frozen=True, slots=True)
class GrammarOneOf:
    values: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class GrammarSequence:
    items: tuple[GrammarTerm, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class GrammarChoice:
    arms: tuple[GrammarTerm, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class GrammarRepeat:
    """`x?`, `x*`, `x+`, `x{2,5}`; maximum None is unbounded."""

    item: GrammarTerm
    minimum: int
    maximum: int | None
    span: Span


GrammarTerm = (
    GrammarSymbol | GrammarText | GrammarRegex | GrammarOneOf | GrammarSequence | GrammarChoice
    | GrammarRepeat
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class GrammarRule:
    name: Name
    body: GrammarTerm
    span: Span


@dataclass(frozen=True, slots=True)
class GrammarDeclaration:
    """`grammar Query(db: Schema):` with rules; `skip` is the pattern of `skip /\\s+/`."""

    name: Name
    parameters: tuple[Parameter, ...]
    rules: tuple[GrammarRule, ...]
    skip: str | None
    public: bool
    doc: str
    span: Span


@dataclass(frozen=True, slots=True)
class GrammarImport:
    """`import grammar "sql.lark"` with an optional `as Name`."""

    path: str
    name: Name | None
    span: Span


FunctionKind = Literal["fn", "part", "pure", "aside"]


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class TestDeclaration:
    """`test "title" [tags a, b]:`."""

    __test__ = False
    title: str
    tags: tuple[str, ...]
    body: tuple[Statement, ...]
    span: Span


Declaration = (
    Use | RecordDeclaration | EnumDeclaration | UnionDeclaration | TypeDeclaration | ErrorDeclaration
    | ConstDeclaration | GrammarDeclaration | GrammarImport | FunctionDeclaration | ExternDeclaration
    | TestDeclaration
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Module:
    """One file. Declarations in the order of the source; `doc` is its leading `##` text, if any."""

    source: Source
    declarations: tuple[Declaration, ...]
    doc: str
