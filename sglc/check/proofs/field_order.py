"""Fields of generated records that say an answer before the reason for it.

A model writes fields in their order. A reason that comes behind its answer is made up for it; one before it
can change it (Wei et al., 2022: chain-of-thought prompting). Told by the names of fields, so only names are
looked for that say what they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sglc.check.core.context import ModuleContext, ProgramState
from sglc.check.types.kinds import Table, expand
from sglc.diagnostics.diagnostic import Edit, Label
from sglc.source import Source, Span
from sglc.syntax.tree import ast
from sglc.types.type import (
    Alternatives,
    ListOf,
    MapOf,
    Named,
    Optional,
    RecordType,
    Str,
    TupleOf,
    Type,
    UnionType,
)

REASONS = frozenset(
    "reason reasons reasoning rationale explanation justification thought thoughts thinking analysis "
    "argument arguments why because chain_of_thought".split()
)
ANSWERS = frozenset(
    "answer final_answer verdict decision conclusion label category class classification score rating grade "
    "choice sentiment is_correct correct approved".split()
)
LEAST_CHARS = 30
"""A text that may have so many characters can hold a reason; a shorter one is a label."""


def report_field_order(program: ProgramState) -> None:
    """Warn of each generated record and variant that has its reason behind its answer."""
    generated = _generated(program)
    for module in program.order:
        if module.trusted:
            continue
        for node in module.tree.declarations:
            if isinstance(node, ast.RecordDeclaration) and module.qualify(node.name.text) in generated:
                declared = program.table.get(module.qualify(node.name.text))
                if isinstance(declared, RecordType):
                    _look_at(module, node.name.text, node.fields, declared)
            elif isinstance(node, ast.UnionDeclaration) and module.qualify(node.name.text) in generated:
                union = program.table.get(module.qualify(node.name.text))
                if isinstance(union, UnionType):
                    for variant, written in zip(union.variants, node.variants, strict=False):
                        _look_at(module, written.name.text, written.fields, variant)


def _look_at(module: ModuleContext, name: str, written: Sequence[ast.Field], record: RecordType) -> None:
    answer: ast.Field | None = None
    for field, node in zip(record.fields, written, strict=False):
        if field.name in ANSWERS:
            answer = answer or node
        elif answer is not None and field.name in REASONS and _is_prose(field.type, module.table):
            module.report(
                "W0243",
                f"`{name}` has its `{field.name}` behind its `{answer.name.text}`",
                node.name.span,
                label="written when the answer is already there",
                secondary=(Label(answer.name.span, "the model decides here"),),
                reason="fields are written in their order, so this one cannot change the answer",
                hint=f"move `{field.name}` before `{answer.name.text}`",
                offered=_moved(module, name, node, answer),
            )
            return


def _is_prose(type: Type, table: Table) -> bool:
    """Whether a value can be some sentences: free text, or a list of it."""
    plain = expand(type, table)
    if isinstance(plain, Optional | ListOf):
        plain = expand(plain.item, table)
    if not isinstance(plain, Str) or plain.patterns or plain.grammar:
        return False
    return plain.max_chars is None or plain.max_chars >= LEAST_CHARS


def _generated(program: ProgramState) -> set[str]:
    """Declared types that holes fill, on their own or inside of others."""
    found: set[str] = set()
    waiting: list[Type] = [
        facts.type for module in program.order for facts in module.holes.values() if facts.type is not None
    ]
    while waiting:
        type = waiting.pop()
        if isinstance(type, Named):
            if type.name not in found:
                found.add(type.name)
                waiting += _fields(type.name, program.table)
        else:
            waiting += _inside(type)
    return found


def _fields(name: str, table: Table) -> list[Type]:
    declared = table.get(name)
    match declared:
        case RecordType():
            return [field.type for field in declared.fields]
        case UnionType():
            return [field.type for variant in declared.variants for field in variant.fields]
    plain = expand(Named(name), table)
    return [] if plain == Named(name) else [plain]  # type: ignore[list-item]


def _inside(type: Type) -> Iterator[Type]:
    match type:
        case Optional(item) | ListOf(item):
            yield item
        case MapOf(_, value):
            yield value
        case TupleOf(items) | Alternatives(items):
            yield from items


# -- the edit --------------------------------------------------------------------------------------


def _moved(module: ModuleContext, name: str, reason: ast.Field, answer: ast.Field) -> tuple[Edit, ...]:
    """The lines of the reason before those of the answer, where nothing counts on the order of fields: no
    value is made and no pattern written with parentheses behind the name."""
    source = reason.span.source
    made = re.compile(rf"\b{re.escape(name)}[ \t]*\(")
    if not module.main or any(made.search(other.source.text) for other in module.program.order):
        return ()
    moved, place = _lines(source, reason), _lines(source, answer)
    if place.end > moved.start or moved.text[-1:] != "\n":
        return ()
    return Edit(Span(source, place.start, place.start), moved.text), Edit(moved, "")


def _lines(source: Source, field: ast.Field) -> Span:
    """The lines of a field, with the comments above it."""
    start = source.text.rfind("\n", 0, field.span.start) + 1
    while start > 0:
        above = source.text.rfind("\n", 0, start - 1) + 1
        if not source.text[above:start].lstrip().startswith("#"):
            break
        start = above
    end = source.text.find("\n", field.span.end)
    return Span(source, start, len(source.text) if end < 0 else end + 1)
