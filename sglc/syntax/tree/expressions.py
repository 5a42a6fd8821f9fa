"""Names and expressions."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from sglc.immutable import node
from sglc.source import Span

if TYPE_CHECKING:
    from sglc.syntax.tree.statements import Raise, Statement
    from sglc.syntax.tree.types import TypeExpression


@node
class Name:
    """An identifier where it is written."""

    text: str
    span: Span


@node
class Number:
    """`12`, `1_000`, `0.5`. `value` is an int, or a Decimal when a point was written."""

    value: int | Decimal
    span: Span


@node
class String:
    """`"…${x}…"`: literal texts and inserted expressions in turn."""

    parts: tuple[str | Expression, ...]
    span: Span


@node
class Boolean:
    value: bool
    span: Span


@node
class Null:
    span: Span


@node
class Reference:
    """A name used as a value: variable, constant, function, enum member, variant."""

    name: str
    span: Span


@node
class Attribute:
    value: Expression
    name: Name
    span: Span


@node
class Index:
    value: Expression
    index: Expression
    span: Span


@node
class Slice:
    """`xs[a:b]`; either end may be absent."""

    value: Expression
    start: Expression | None
    stop: Expression | None
    span: Span


@node
class Argument:
    """`value` or `name = value` in a call."""

    name: Name | None
    value: Expression
    span: Span


@node
class Lambda:
    """`x => x * 2` as an argument: what a method of lists does with each item, here called `x`."""

    parameter: Name
    body: Expression
    span: Span


@node
class Call:
    """`f(x, name = y)`; a method call has an Attribute as its function."""

    function: Expression
    arguments: tuple[Argument, ...]
    span: Span


UnaryOperator = Literal["-", "not"]
BinaryOperator = Literal[
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "in",
    "not in",
    "matches",
    "contains",
    "and",
    "or",
]


@node
class Unary:
    operator: UnaryOperator
    operand: Expression
    span: Span


@node
class Binary:
    operator: BinaryOperator
    left: Expression
    right: Expression
    span: Span


@node
class Conditional:
    """`a if c else b`."""

    then: Expression
    condition: Expression
    otherwise: Expression
    span: Span


@node
class ListDisplay:
    items: tuple[Expression, ...]
    span: Span


@node
class TupleDisplay:
    items: tuple[Expression, ...]
    span: Span


@node
class MapDisplay:
    """`{"a": 1, "b": 2}`."""

    entries: tuple[tuple[Expression, Expression], ...]
    span: Span


@node
class Comprehension:
    """`[element for variable in iterable if condition]`."""

    element: Expression
    variable: Name
    iterable: Expression
    condition: Expression | None
    span: Span


@node
class Range:
    """`a..b` and `a..=b` (b included) or `a..<b` (b left out), as a value. `operator` has the dots."""

    start: Expression
    stop: Expression
    inclusive: bool
    operator: Span
    span: Span


@node
class Regex:
    """`/pattern/` as written between the slashes (`\\/` stands for a slash)."""

    pattern: str
    span: Span


@node
class OrElse:
    """`e else raise E(…)` or `e else fallback`: what happens when evaluating `value` fails."""

    value: Expression
    fallback: Expression | Raise
    span: Span


@node
class SchemaOf:
    """`schema(T)`: the text that shows type T to a model. A compile-time constant.

    `style` is None for the default, or `"json"`, `"typescript"`, `"prose"` from `schema(T, as = "…")`.
    """

    type: TypeExpression
    style: str | None
    span: Span


@node
class ModelName:
    """`big`, or `big without "text"`: a model that does not get to see a text."""

    name: Name
    without: Expression | None
    span: Span


@node
class ModelClause:
    """`using a or b`, or `using blend(base, teacher)` with two models."""

    models: tuple[ModelName, ...]
    blended: bool
    span: Span


@node
class HoleOption:
    """One option of a hole, gen, choose, select or think.

    `kind`: max_tokens, temp, top_p, top_k, min_p, seed, until, where, using, n, distinct, decode, by, weight,
    at_least. `value` is an expression (a String for `until`, a ModelClause for `using`, a Reference or a Call
    for `decode`, a Reference for `by`, which is the rule of a blend, and true for `distinct`).
    """

    kind: str
    value: Expression
    span: Span


@node
class Gen:
    """`gen T options`: the model fills a value of type T at this point of the message."""

    type: TypeExpression
    options: tuple[HoleOption, ...]
    span: Span


@node
class Choose:
    """`choose [a, b]` or `choose T`: one option is drawn as a whole."""

    choices: Expression | TypeExpression
    options: tuple[HoleOption, ...]
    span: Span


@node
class Select:
    """`select [a, b] by sum` or `select T by …`: score every option in full; a Scored value.

    `by` is sum, mean, greedy or contrast; None where it was not written (greedy).
    """

    choices: Expression | TypeExpression
    by: str | None
    options: tuple[HoleOption, ...]
    span: Span


@node
class Fork:
    """`fork i in 1..4 seed i:` with a body that yields; a list of branches.

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
    | Lambda | SchemaOf | Gen | Choose | Select | Fork | ModelClause
)  # fmt: skip
