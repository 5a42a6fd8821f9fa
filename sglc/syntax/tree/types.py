"""Type expressions and what refines them."""

from __future__ import annotations

from decimal import Decimal

from sglc.immutable import node
from sglc.source import Span
from sglc.syntax.tree.expressions import Expression


@node
class TypeLines:
    """The built-in type `lines`, whatever a module calls so: what is written by `think`."""

    span: Span


@node
class TypeName:
    """`int`, `Crew`, `Mail(body)`: a built-in, declared or imported type, with value arguments."""

    name: str
    arguments: tuple[Expression, ...]
    span: Span


@node
class TypePartial:
    """`Crew.Partial`: what is there of a value while it is written."""

    base: TypeName
    span: Span


@node
class TypeLiteral:
    """`"EUR"`, `3`, `true` as a type."""

    value: str | int | Decimal | bool
    span: Span


@node
class TypeList:
    """`[T; 2..4]`; bounds are None where not written (`[T]`, `[T; 2..]`, `[T; ..4]`; `[T; 3]` is 3..3).

    Of `[T; 2..<5]` the maximum is 4.
    """

    item: TypeExpression
    minimum: int | None
    maximum: int | None
    span: Span


@node
class TypeMap:
    """`{str: T; ..8}`."""

    key: TypeExpression
    value: TypeExpression
    minimum: int | None
    maximum: int | None
    span: Span


@node
class TypeTuple:
    items: tuple[TypeExpression, ...]
    span: Span


@node
class TypeOptional:
    item: TypeExpression
    span: Span


@node
class TypeUnion:
    """`A | B`."""

    arms: tuple[TypeExpression, ...]
    span: Span


@node
class RangeRefinement:
    """`in 0..120`, `in 0..`, `in ..5`; both ends included. With `below` (`in 0..<120`) the maximum is not."""

    minimum: int | Decimal | None
    maximum: int | Decimal | None
    below: bool
    span: Span


@node
class MinChars:
    count: int
    span: Span


@node
class MaxChars:
    count: int
    span: Span


@node
class Matching:
    """`matching /re/`: the whole value matches."""

    pattern: str
    span: Span


@node
class Until:
    text: str
    span: Span


@node
class NotContaining:
    text: str
    span: Span


@node
class MultipleOf:
    number: int | Decimal
    span: Span


@node
class Where:
    condition: Expression
    span: Span


@node
class Surface:
    """`as yaml`, `as lines`, `as xml`, `as csv`."""

    name: str
    span: Span


Refinement = (
    RangeRefinement | MinChars | MaxChars | Matching | Until | NotContaining | MultipleOf | Where | Surface
)


@node
class TypeRefined:
    base: TypeExpression
    refinements: tuple[Refinement, ...]
    span: Span


@node
class TypeSpanOf:
    """`span of x`."""

    value: Expression
    span: Span


@node
class TypeOneOf:
    """`one of xs`."""

    values: Expression
    span: Span


@node
class TypeJsonSchema:
    """`json schema "file.json"` or `json schema {…}`: `source` is the path or the inline JSON text."""

    source: str
    inline: bool
    span: Span


@node
class TypeSource:
    """`sql table "create table …"`, `typescript Order from "orders.ts"`.

    `kind` is `sql` or `typescript`; `name` the declaration that is meant, None if it is not named. `source`
    is the text in quotes, which stands at `place`: declarations, or the path of a file of them.
    """

    kind: str
    name: str | None
    source: str
    place: Span
    span: Span


@node
class TypeUnreadable:
    """The type of a field whose line cannot be read. Its fault has been reported."""

    span: Span


@node
class TypeKnown:
    """A type that no text was written for: that of a value which is there already. `type` is a `Type`."""

    type: object
    span: Span


TypeExpression = (
    TypeName
    | TypePartial
    | TypeLines
    | TypeLiteral
    | TypeList
    | TypeMap
    | TypeTuple
    | TypeOptional
    | TypeUnion
    | TypeRefined
    | TypeSpanOf
    | TypeOneOf
    | TypeJsonSchema
    | TypeSource
    | TypeUnreadable
    | TypeKnown
)
