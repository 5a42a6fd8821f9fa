"""Building declarations other than functions and grammars."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace

from sglc.syntax.builders.context import Context
from sglc.syntax.builders.parts import Body, WrittenType, plain_text, present, settled
from sglc.syntax.tree import ast
from sglc.syntax.tree.ast import Expression, Name

Shareable = (
    ast.RecordDeclaration
    | ast.EnumDeclaration
    | ast.UnionDeclaration
    | ast.TypeDeclaration
    | ast.ErrorDeclaration
    | ast.ConstDeclaration
    | ast.GrammarDeclaration
    | ast.FunctionDeclaration
    | ast.ExternDeclaration
)
"""What `pub` may stand before."""

_FIRST_NAME = re.compile(r"(?:\s|#[^\n]*)*[^\w\n]*([^\W\d]\w*)")
"""A line's first name, behind blank lines, comments and signs that cannot stand there."""


def module(
    context: Context, start: int, end: int, *declarations: ast.Declaration | None
) -> tuple[ast.Declaration, ...]:
    """The declarations of a file; lines that could not be read are left out."""
    return tuple(declaration for declaration in declarations if declaration is not None)


def public(context: Context, start: int, end: int, declaration: Shareable) -> Shareable:
    """`pub` before a declaration: it is visible to modules that import this one."""
    return replace(declaration, public=True, span=context.span(start, end))


def use(context: Context, start: int, end: int, path: str, *names: tuple[Name, Name] | None) -> ast.Use:
    """`use PATH (NAME, NAME as LOCAL)`; without names the module itself is imported."""
    return ast.Use(path, present(names), context.span(start, end))


def imported(context: Context, start: int, end: int, name: Name, local: Name | None) -> tuple[Name, Name]:
    """`NAME as LOCAL` of a `use`; without `as` both names are the same."""
    return name, local or name


def grammar_import(
    context: Context, start: int, end: int, path: ast.String, name: Name | None
) -> ast.GrammarImport:
    """`import grammar "PATH" as NAME`: a grammar in a file of another notation."""
    return ast.GrammarImport(plain_text(context, path, "a path"), False, name, context.span(start, end))


def library_grammar(
    context: Context, start: int, end: int, path: Expression, name: Name | None
) -> ast.GrammarImport:
    """`import grammar std.NAME as LOCAL`: a grammar of the standard library, by its dotted name."""
    return ast.GrammarImport("".join(path.span.text.split()), True, name, context.span(start, end))


def test(
    context: Context, start: int, end: int, title: ast.String, tags: list[Name] | None, body: Body
) -> ast.TestDeclaration:
    """`test "TITLE" tags …` with its block."""
    names = tuple(tag.text for tag in tags or ())
    context.docs.take(start, end, block=True)
    return ast.TestDeclaration(plain_text(context, title, "a title"), names, body, context.span(start, end))


def constant(
    context: Context, start: int, end: int, name: Name, type: WrittenType | None, value: Expression
) -> ast.ConstDeclaration:
    """`const NAME: TYPE = VALUE`."""
    doc = context.docs.take(start, end)
    return ast.ConstDeclaration(name, settled(context, type), value, False, doc, context.span(start, end))


# -- types -----------------------------------------------------------------------------------------


def type_alias(
    context: Context,
    start: int,
    end: int,
    name: Name,
    parameters: tuple[ast.Parameter, ...] | None,
    type: WrittenType,
) -> ast.TypeDeclaration:
    """`type NAME = TYPE`."""
    doc = context.docs.take(start, end)
    return ast.TypeDeclaration(
        name, parameters or (), settled(context, type), False, doc, context.span(start, end)
    )


def error(
    context: Context, start: int, end: int, name: Name, fields: list[ast.Field] | None
) -> ast.ErrorDeclaration:
    """`error NAME(FIELDS)`."""
    doc = context.docs.take(start, end)
    found = tuple(fields or ())
    starts = context.source.line_starts
    if found and bisect_right(starts, found[0].span.start) == bisect_right(starts, start):
        # The first field is built before, and has taken what stands above the line of both.
        doc, found = found[0].doc or doc, (replace(found[0], doc=""), *found[1:])
    return ast.ErrorDeclaration(name, found, False, doc, context.span(start, end))


def record(
    context: Context,
    start: int,
    end: int,
    name: Name,
    parameters: tuple[ast.Parameter, ...] | None,
    fields: tuple[ast.Field, ...],
) -> ast.RecordDeclaration:
    """`record NAME:` with its fields."""
    doc = context.docs.take(start, end, block=True)
    return ast.RecordDeclaration(name, parameters or (), fields, False, doc, context.span(start, end))


def enum(context: Context, start: int, end: int, name: Name, members: list[Name]) -> ast.EnumDeclaration:
    """`enum NAME: MEMBER, MEMBER` on one line."""
    doc = context.docs.take(start, end)
    found = tuple(ast.Member(member, "") for member in members)
    return ast.EnumDeclaration(name, found, False, doc, context.span(start, end))


def enum_block(
    context: Context, start: int, end: int, name: Name, *lines: list[Name] | None
) -> ast.EnumDeclaration:
    """`enum NAME:` with members on lines of a block; a comment belongs to the last member of its line."""
    doc = context.docs.take(start, end, block=True)
    found = tuple(
        ast.Member(
            member, context.docs.take(member.span.start, member.span.end) if member is line[-1] else ""
        )
        for line in lines
        if line is not None
        for member in line
    )
    return ast.EnumDeclaration(name, found, False, doc, context.span(start, end))


def union(
    context: Context,
    start: int,
    end: int,
    name: Name,
    parameters: tuple[ast.Parameter, ...] | None,
    *variants: ast.Variant | None,
) -> ast.UnionDeclaration:
    """`union NAME:` with its variants."""
    doc = context.docs.take(start, end, block=True)
    found = tuple(variant for variant in variants if variant is not None)
    return ast.UnionDeclaration(name, parameters or (), found, False, doc, context.span(start, end))


def variant(context: Context, start: int, end: int, name: Name, fields: Iterable[ast.Field]) -> ast.Variant:
    """`NAME: FIELDS` or `NAME(FIELDS)` in a union."""
    doc = context.docs.take(start, end, block=True)
    return ast.Variant(name, tuple(fields), doc, context.span(start, end))


def bare_variant(context: Context, start: int, end: int, name: Name) -> ast.Variant:
    """A variant without fields, `NAME`."""
    return ast.Variant(name, (), context.docs.take(start, end), context.span(start, end))


def fields(context: Context, start: int, end: int, fields: list[ast.Field]) -> tuple[ast.Field, ...]:
    """Fields on the line of their record or variant."""
    return tuple(fields)


def broken_fields(context: Context, start: int, end: int, *parts: object) -> list[ast.Field]:
    """A faulty line of fields: one field of an unreadable type, so that those behind it keep their places."""
    word = _FIRST_NAME.match(context.source.text, end)
    if word is None:
        return []
    span = context.span(*word.span(1))
    return [ast.Field(Name(word[1], span), ast.TypeUnreadable(span), False, None, "", span)]


def field_block(
    context: Context, start: int, end: int, *lines: list[ast.Field] | None
) -> tuple[ast.Field, ...]:
    """Fields on lines of a block."""
    return tuple(field for line in lines if line is not None for field in line)


def field(
    context: Context, start: int, end: int, name: Name, type: WrittenType, default: Expression | None
) -> ast.Field:
    """`NAME: TYPE = DEFAULT`."""
    doc = context.docs.take(start, end)
    return ast.Field(name, settled(context, type), False, default, doc, context.span(start, end))


def optional_field(
    context: Context, start: int, end: int, name: Name, type: WrittenType, default: Expression | None
) -> ast.Field:
    """`NAME?: TYPE`: a field that may be absent."""
    doc = context.docs.take(start, end)
    return ast.Field(name, settled(context, type), True, default, doc, context.span(start, end))
