"""W0249: a choice over text that is not trusted, with no answer for a text that none of its answers fits.

    ?{desk: "orders" | "repairs" | "sales"}     behind a mail that may ask for the weather

The mask lets the model write one of the answers and nothing else, so it must say something untrue of such a
text, and the program cannot tell. Said only of text that is known to come from outside: elsewhere the writer
of a program knows what its texts are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sglc.analysis.trust import Leak
from sglc.check.core.result import CheckedProgram
from sglc.check.core.walk import parts
from sglc.check.program import check
from sglc.diagnostics.diagnostic import Diagnostic, Edit, Label, has_errors
from sglc.diagnostics.edits import edited
from sglc.ir.module import TEST_MARK, Module
from sglc.library import Library
from sglc.source import Source, Span
from sglc.syntax.tree import ast
from sglc.types.json_text import json_text
from sglc.types.type import (
    Alternatives,
    Constant,
    EnumType,
    InForm,
    Named,
    RecordType,
    Str,
    Type,
    TypeTable,
    UnionType,
)

CODE = "W0249"
LEAST = 3
"""Answers of a choice that is told. Two are mostly a question with its negation (`spam` or `ham`), and one of
them is true of every text."""
OPEN = frozenset(
    "other others else none no nothing neither unknown unclear unsure undecided unrelated irrelevant invalid "
    "misc miscellaneous general any default spam refused refuse skip ignore neutral mixed normal medium "
    "moderate average middle maybe partly partial".split()
)
"""Words of an answer that a text without a better one fits: those that say so, and the middle of a scale."""
Choice = tuple[str, Type, list[str]]
"""Where a closed choice stands in a hole, its type, its answers."""
DEEPEST = 8
"""Levels of records that are looked into: deeper ones are seldom, and may contain themselves."""


def open_choices(
    checked: CheckedProgram, module: Module, flows: Sequence[Leak], library: Library
) -> list[Diagnostic]:
    """The findings of the main module, each hole once."""
    found: dict[int, Diagnostic] = {}
    for flow in flows:
        number, span = flow.goal.hole, flow.goal.span
        if number is None or span is None or number in found or flow.path[0].startswith(TEST_MARK):
            continue
        hole = module.holes[number]
        if hole.type is None or span.source is not checked.main.module.source:
            continue
        choice = next(_choices(hole.type, module.table, hole.name.rpartition(".")[2]), None)
        if choice is not None:
            found[number] = _told(checked, module, flow, choice, library)
    return list(found.values())


def _choices(type: Type, table: TypeTable, path: str, level: int = 0) -> Iterator[Choice]:
    """The closed choices that every value of a type has made: where, of which type, the answers."""
    match type:
        case InForm(item=item):
            yield from _choices(item, table, path, level)
        case Alternatives(arms=arms):
            words = [arm.value for arm in arms if isinstance(arm, Constant) and isinstance(arm.value, str)]
            if len(words) == len(arms) and _is_closed(words):
                yield path, type, words
        case Named(name=name) if level < DEEPEST:
            match table.get(name):
                case EnumType(members=members) if _is_closed(members):
                    yield path, type, list(members)
                case UnionType(variants=variants):
                    names = [variant.name for variant in variants]
                    if _is_closed(names):
                        yield path, type, names
                case RecordType(fields=fields):
                    for field in fields:
                        if not field.optional and not field.has_default:
                            yield from _choices(field.type, table, f"{path}.{field.name}", level + 1)
                case declared if declared is not None and hasattr(declared, "type"):
                    for _, inner, words in _choices(declared.type, table, path, level + 1):
                        yield path, type if isinstance(inner, Alternatives) else inner, words


def _is_closed(words: Sequence[str]) -> bool:
    """Whether some text fits none of the answers, as far as their words say."""
    parts = {part for word in words for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", word)}
    return len(words) >= LEAST and not any(part.lower() in OPEN for part in parts)


def _told(
    checked: CheckedProgram, module: Module, flow: Leak, choice: Choice, library: Library
) -> Diagnostic:
    path, type, words = choice
    assert flow.goal.span is not None
    edit = _edit(checked, flow.goal.span, type)
    if edit is not None and not _compiles(checked, edit, library):
        edit = None
    shown = ", ".join(f"`{word}`" for word in words[:3]) + (", …" if len(words) > 3 else "")
    variant = isinstance(type, Named) and isinstance(module.table.get(type.name), UnionType)
    return Diagnostic(
        CODE,
        f"`{path}` has no answer for a text that none of its answers fits",
        flow.goal.span,
        label=f"must be one of {shown}",
        reason=f"{flow.origin.source} comes from outside and may say anything; the mask makes the model say "
        "something untrue of it",
        secondary=() if flow.origin.span is None else (Label(flow.origin.span, "not trusted"),),
        witness=_witness(module, flow),
        hint="add a variant `Other`" if variant else "add an answer `other`, or let the value be null: `T?`",
        severity="warning",
        offered=() if edit is None else (edit,),
    )


def _witness(module: Module, flow: Leak) -> str:
    """The shortest text that may come, as far as its type says it by a length alone."""
    for function in module.functions:
        types = [
            p.type for p in function.parameters if flow.origin.source == f"`{p.name}` of `{function.name}`"
        ]
        if flow.origin.source == f"what `{function.name}` gives" and function.result is not None:
            types.append(function.result)
        for type in types:
            if isinstance(type, Str) and not type.patterns and not type.grammar:
                return json_text("x" * type.min_chars)
    return ""


def _edit(checked: CheckedProgram, hole: Span, type: Type) -> Edit | None:
    """What adds an answer `other` where the choice is written."""
    for node in checked.main.module.declarations:
        if isinstance(type, Named) and getattr(node, "name", None) is not None:
            if node.name.text != type.name:  # type: ignore[union-attr]
                continue
            if isinstance(node, ast.EnumDeclaration):
                return _behind_members(node)
            if isinstance(node, ast.TypeDeclaration) and isinstance(node.type, ast.TypeUnion):
                return _behind_arms(node.type)
        elif isinstance(type, Alternatives):
            written = next(_unions(node, hole), None)
            if written is not None:
                return _behind_arms(written)
    return None


def _behind_arms(union: ast.TypeUnion) -> Edit:
    last = union.arms[-1].span
    return Edit(Span(last.source, last.end, last.end), ' | "other"')


def _behind_members(node: ast.EnumDeclaration) -> Edit:
    """On the line of the members, or on one of its own like the last."""
    last = node.members[-1].name.span
    line, column = last.source.position(last.start)
    text = last.source.line(line)
    if text[: column - 1].strip():
        return Edit(Span(last.source, last.end, last.end), ", other")
    end = last.source.line_starts[line - 1] + len(text)
    return Edit(Span(last.source, end, end), f"\n{text[: column - 1]}other")


def _unions(node: object, hole: Span) -> Iterator[ast.TypeUnion]:
    """The union that is written as the type of a hole at a place."""
    waiting: list[object] = [node]
    while waiting:
        here = waiting.pop()
        if isinstance(here, tuple):
            waiting += reversed(here)
            continue
        if isinstance(here, ast.Gen) and here.span == hole and isinstance(here.type, ast.TypeUnion):
            yield here.type
        waiting += reversed(parts(here))


def _compiles(checked: CheckedProgram, edit: Edit, library: Library) -> bool:
    """Whether the program is one with the edit: a `match` may have to say what to do with the new answer."""
    source: Source = checked.main.module.source
    if edit.span.source is not source:
        return False
    again, found = check(replace(source, text=edited(source.text, [edit])), library)
    return again is not None and not has_errors(found)
