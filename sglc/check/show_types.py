"""Text of the stages that have no printer of their own: tokens, and what the checker found."""

from __future__ import annotations

from collections.abc import Iterator

from sglc.check.core.result import (
    BranchOf,
    CheckedModule,
    CheckedProgram,
    ErrorOf,
    ExpressionType,
    HoleNode,
    ListValue,
    Never,
    RangeOf,
    ScoredOf,
    Unknown,
)
from sglc.source import Source
from sglc.syntax.parse import tokens
from sglc.syntax.tree import ast
from sglc.types.condition import show_condition
from sglc.types.notation.sgl import behind_where, show_type
from sglc.types.type import AliasType, DeclaredType, EnumType, FieldType, RecordType, UnionType


def show_tokens(source: Source) -> str:
    """One token a line: place, kind, text."""
    lines = []
    for kind, text, span in tokens(source):
        line, column = source.position(span.start)
        lines.append(f"{line}:{column}\t{kind}\t{text!r}")
    return "\n".join(lines) + "\n"


def show_types(program: CheckedProgram) -> str:
    """Declared types, and for each function its signature and its holes: type, stops, budget."""
    lines: list[str] = []
    for name, declared in program.table.items():
        lines += [*_declared(name, declared), ""]
    for module in program.modules:
        prefix = f"{module.name}." if module.name else ""
        for node in module.module.declarations:
            if isinstance(node, ast.ExternDeclaration):
                lines += [_extern(module, prefix, node), ""]
            if not isinstance(node, ast.FunctionDeclaration):
                continue
            if not node.type_parameters:
                lines += [*_function(module, prefix + node.name.text, node), ""]
            for copy in program.copies.get(id(node), ()):
                lines += [*_function(copy.checked, copy.name, node), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def show_found(found: ExpressionType | None) -> str:
    """The type of an expression in the language's own words."""
    match found:
        case RangeOf():
            return "range"
        case BranchOf(value=value, holes=holes):
            inner = "".join(f", {name}: {show_found(type_)}" for name, type_ in holes)
            return f"branch(value: {show_found(value)}{inner})"
        case ScoredOf(option=option):
            return f"scored {show_type(option)}"
        case ListValue(item=item):
            return f"[{show_found(item)}]"
        case ErrorOf(name=name):
            return f"error {name or ''}".rstrip()
        case Never():
            return "never"
        case Unknown() | None:
            return "?"
    return show_type(found)


def _declared(name: str, declared: DeclaredType) -> Iterator[str]:
    match declared:
        case AliasType(type=type_):
            yield f"type {name} = {show_type(type_)}{behind_where(declared)}"
        case EnumType(members=members):
            yield f"enum {name}: {', '.join(members)}"
        case RecordType(fields=fields):
            yield f"record {name}:"
            yield from _fields(fields, "    ")
        case UnionType(variants=variants):
            yield f"union {name}:"
            for variant in variants:
                yield f"    {variant.name}:"
                yield from _fields(variant.fields, "        ")


def _fields(fields: tuple[FieldType, ...], indent: str) -> Iterator[str]:
    for field in fields:
        default = f" = {field.default!r}" if field.has_default else ""
        yield f"{indent}{field.name}{'?' if field.optional else ''}: {show_type(field.type)}{default}"


def _extern(module: CheckedModule, prefix: str, node: ast.ExternDeclaration) -> str:
    parameters = ", ".join(
        f"{p.name.text}: {show_found(module.resolved.get(id(p.type)))}" for p in node.parameters
    )
    head = f'extern py "{node.target}" fn {prefix}{node.name.text}({parameters})'
    if node.result is not None:
        head += f" -> {show_found(module.resolved.get(id(node.result)))}"
    return f"{head} effects {node.effects}" + (f" key {node.key.text}" if node.key is not None else "")


def _function(module: CheckedModule, name: str, node: ast.FunctionDeclaration) -> Iterator[str]:
    parameters = ", ".join(
        f"{p.name.text}: {show_found(module.resolved.get(id(p.type)))}" for p in node.parameters
    )
    effects = module.effects[id(node)]
    head = f"{'pure fn' if effects.pure else node.kind} {name}({parameters})"
    if node.result is not None:
        head += f" -> {show_found(module.resolved.get(id(node.result)))}"
    if node.within is not None and id(node.within) in module.constants:
        head += f" within {module.constants[id(node.within)]} tok"
    if effects.raises:
        head += f" raises {', '.join(error.rpartition('.')[2] for error in effects.raises)}"
    yield head
    for hole in _holes(node.body):
        facts = module.holes.get(id(hole))
        if facts is None:
            continue
        kind = {ast.Gen: "", ast.Choose: "choose ", ast.Select: "select "}[type(hole)]
        shown = "one of a list" if facts.type is None else show_found(facts.type)
        line = f"    ?{facts.name}: {kind}{shown}"
        for option in hole.options:
            if option.kind == "max_tokens":
                line += f" max {module.constants.get(id(option.value), option.value.span.text)} tok"
        if facts.models is not None:
            line += f" using {facts.models.shown()}"
        if facts.condition is not None:
            line += f" where {show_condition(facts.condition)}"
        for validator in facts.validators:
            line += f" judged by {validator.function}"
        ends = [repr(stop) for stop in facts.stops] + (["end of message"] if facts.end_of_message else [])
        yield f"{line}  ends at {', '.join(ends)}"


def _holes(node: object) -> Iterator[HoleNode]:
    """Holes in the order of the text."""
    if isinstance(node, tuple):
        for item in node:
            yield from _holes(item)
        return
    if isinstance(node, ast.Gen | ast.Choose | ast.Select):
        yield node
    for name in getattr(type(node), "__dataclass_fields__", ()):
        if name not in ("span", "keyword"):
            value = getattr(node, name)
            if isinstance(value, tuple) or hasattr(type(value), "__dataclass_fields__"):
                yield from _holes(value)
