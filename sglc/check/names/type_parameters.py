"""Type parameters of functions: what stands for them in a call, and types with them put in.

A parameter is looked for as in any language with local inference: the types of arguments are matched with
those of parameters from the left, and the narrowest type that holds all that was found is taken. What the
arguments do not say, the type that is expected of the result says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sglc.check.core.result import (
    BranchOf,
    ErrorOf,
    ExpressionType,
    ListValue,
    Never,
    RangeOf,
    ScoredOf,
    Unknown,
)
from sglc.check.types.assignability import join
from sglc.check.types.kinds import OPAQUE, STR, UNKNOWN, Table, expand, item_of
from sglc.syntax.tree import ast
from sglc.types.type import (
    Alternatives,
    InForm,
    ListOf,
    MapOf,
    Named,
    Null,
    OneOf,
    Optional,
    SpanOf,
    Str,
    TupleOf,
    Type,
)

MAX_PARTS = 200
"""A type that stands for a parameter has at most so many parts. Types that people write have some ten; one
that grows at each call of a function by itself reaches two hundred before its text fills a screen."""


def opaque_name(function: str, parameter: str) -> str:
    """What stands for a type parameter while a body is checked for all types. No declared type has it."""
    return f"{function}{OPAQUE}{parameter}"


def short_name(parameter: str) -> str:
    """A type parameter as it is written."""
    return parameter.rpartition(".")[2]


def parts(type: ExpressionType) -> Iterator[ExpressionType]:
    """A type and all that it is made of, names not followed."""
    waiting: list[ExpressionType] = [type]
    while waiting:
        here = waiting.pop()
        yield here
        match here:
            case ListOf(item=item) | Optional(item=item) | ListValue(item=item) | InForm(item=item):
                waiting.append(item)
            case MapOf(key=key, value=value):
                waiting += (value, key)
            case TupleOf(items=items) | Alternatives(arms=items):
                waiting += reversed(items)


def mentions_any(type: ExpressionType, names: Sequence[str] | set[str]) -> bool:
    """Whether one of the named types is a part of a type."""
    return any(isinstance(part, Named) and part.name in names for part in parts(type))


def too_large(type: ExpressionType) -> bool:
    """Whether a type has more parts than may stand for a parameter."""
    return any(number >= MAX_PARTS for number, _ in enumerate(parts(type)))


def put_in(type: ExpressionType, given: Mapping[str, ExpressionType]) -> ExpressionType:
    """A type with others in place of the named ones."""
    match type:
        case Named(name=name):
            return given.get(name, type)
        case ListOf(item=item, minimum=low, maximum=high):
            found = put_in(item, given)
            return UNKNOWN if isinstance(found, Unknown) else ListOf(found, low, high)  # type: ignore[arg-type]
        case MapOf(key=key, value=value, minimum=low, maximum=high):
            found = put_in(value, given)
            return UNKNOWN if isinstance(found, Unknown) else MapOf(key, found, low, high)  # type: ignore[arg-type]
        case InForm(item=item, form=form):
            found = put_in(item, given)
            return UNKNOWN if isinstance(found, Unknown) else InForm(found, form)  # type: ignore[arg-type]
        case Optional(item=item):
            found = put_in(item, given)
            return found if isinstance(found, Optional | Null | Unknown) else Optional(found)  # type: ignore[arg-type]
        case TupleOf(items=items):
            inside = tuple(put_in(item, given) for item in items)
            return UNKNOWN if UNKNOWN in inside else TupleOf(inside)  # type: ignore[arg-type]
        case Alternatives(arms=arms):
            inside = tuple(put_in(arm, given) for arm in arms)
            return UNKNOWN if UNKNOWN in inside else Alternatives(inside)  # type: ignore[arg-type]
    return type


def standing_alone(type: Type) -> Type:
    """A type without what only its own hole knows: `one of` and `span of` are plain texts elsewhere."""
    match type:
        case OneOf() | SpanOf():
            return STR
        case Str(given=given) if given:
            return STR
        case ListOf(item=item, minimum=low, maximum=high):
            return ListOf(standing_alone(item), low, high)
        case MapOf(key=key, value=value, minimum=low, maximum=high):
            return MapOf(key, standing_alone(value), low, high)
        case InForm(item=item, form=form):
            return InForm(standing_alone(item), form)
        case Optional(item=item):
            return Optional(standing_alone(item))
        case TupleOf(items=items):
            return TupleOf(tuple(standing_alone(item) for item in items))
        case Alternatives(arms=arms):
            return Alternatives(tuple(standing_alone(arm) for arm in arms))
    return type


def written_type(node: ast.Expression) -> ast.TypeExpression | None:
    """The type that an expression in `f[…](…)` is written like; None where it is like none."""
    match node:
        case ast.Reference(name=name, span=span):
            return ast.TypeName(name, (), span)
        case ast.Null(span=span):
            return ast.TypeName("null", (), span)
        case ast.Number(value=value, span=span) | ast.Boolean(value=value, span=span):
            return ast.TypeLiteral(value, span)
        case ast.String(parts=(str(text),), span=span):
            return ast.TypeLiteral(text, span)
        case ast.ListDisplay(items=(item,), span=span):
            inner = written_type(item)
            return None if inner is None else ast.TypeList(inner, None, None, span)
        case ast.TupleDisplay(items=items, span=span):
            inside = [written_type(item) for item in items]
            found = tuple(type for type in inside if type is not None)
            return ast.TypeTuple(found, span) if len(found) == len(inside) > 1 else None
        case ast.MapDisplay(entries=((key, value),), span=span):
            left, right = written_type(key), written_type(value)
            return None if left is None or right is None else ast.TypeMap(left, right, None, None, span)
    return None


@dataclass(slots=True)
class TypeArguments:
    """What is known of the type parameters of one call."""

    parameters: tuple[str, ...]
    """Their qualified names."""
    table: Table
    known: dict[str, ExpressionType] = field(default_factory=dict)
    conflict: tuple[str, ExpressionType, ExpressionType] | None = None
    """A parameter for which two arguments want types that have nothing in common."""

    def concerns(self, type: ExpressionType) -> bool:
        """Whether a type has one of the parameters in it."""
        return mentions_any(type, self.parameters)

    def hint(self, type: ExpressionType) -> ExpressionType | None:
        """What an argument of a type is expected to be; None where a parameter in it is not known yet."""
        found = self.applied(type)
        return None if self.concerns(found) else found

    def applied(self, type: ExpressionType) -> ExpressionType:
        """A type with all that is known put in."""
        return put_in(type, self.known)

    def missing(self) -> list[str]:
        """Parameters of which nothing is known."""
        return [name for name in self.parameters if name not in self.known]

    def learn(self, wanted: ExpressionType, found: ExpressionType) -> None:
        """Match the type of a parameter with that of its argument."""
        if isinstance(found, Never):
            return
        if isinstance(wanted, Named) and wanted.name in self.parameters:
            self._note(wanted.name, found)
            return
        plain = expand(found, self.table)
        match wanted:
            case InForm(item=item):
                self.learn(item, found)
            case ListOf(item=item):
                inner = item_of(plain, self.table)
                if inner is not None:
                    self.learn(item, inner)
            case MapOf(value=value) if isinstance(plain, MapOf):
                self.learn(value, plain.value)
            case TupleOf(items=items) if isinstance(plain, TupleOf) and len(items) == len(plain.items):
                for one, other in zip(items, plain.items, strict=True):
                    self.learn(one, other)
            case Optional(item=item) if not isinstance(plain, Null):
                self.learn(item, plain.item if isinstance(plain, Optional) else found)

    def _note(self, name: str, found: ExpressionType) -> None:
        if isinstance(found, Unknown):
            self.known[name] = UNKNOWN
            return
        before = self.known.get(name)
        if before is None:
            self.known[name] = found
            return
        whole = join(before, found, self.table)
        if whole is None:
            self.conflict = self.conflict or (name, before, found)
        else:
            self.known[name] = whole


def is_value_type(type: ExpressionType) -> bool:
    """Whether a type can stand for a parameter: branches, scored values, ranges and errors cannot."""
    return not any(
        isinstance(part, BranchOf | ScoredOf | RangeOf | ErrorOf | ListValue | Never | Unknown)
        for part in parts(type)
    )
