"""Layouts as text, for golden files and comparisons."""

from __future__ import annotations

from sglc.analysis.layout import layout
from sglc.analysis.layout_items import (
    Again,
    Attempt,
    Called,
    Choice,
    Constant,
    Filled,
    Forgotten,
    Forked,
    Inserted,
    Item,
    Leave,
    Loop,
    MessageEnd,
    Role,
    walk,
)
from sglc.analysis.origins import Origins
from sglc.ir.module import Function, Module


def named(origins: Origins) -> str:
    return " (" + ", ".join(f"{o.kind} {o.name}".strip() for o in sorted(origins)) + ")" if origins else ""


def shown(module: Module, item: Item) -> str:
    """One item."""
    match item:
        case Role(role):
            return f"{role}:"
        case MessageEnd():
            return "end"
        case Constant(text):
            return repr(text)
        case Inserted(origins):
            return f"value{named(origins)}"
        case Filled(hole, attempts, options):
            return f"hole {module.holes[hole].name} ×{attempts} {dict(options)}"
        case Called(name, kind, origins):
            return f"call {kind} {name}{named(origins)}"
        case Forked(name, origins, times):
            return f"fork {name} {times}{named(origins)}"
        case Choice(origins, arms):
            return f"choice of {len(arms)}{named(origins)}"
        case Loop(origins, _, times):
            return f"loop {times}{named(origins)}"
        case Attempt():
            return "try"
        case Forgotten():
            return "forgotten"
        case Again(hole, attempts):
            return f"again from {module.holes[hole].name} ×{attempts}"
        case Leave(kind):
            return kind
    raise AssertionError(item)


def picture(module: Module, function: Function) -> str:
    """The layout of a function, a line for each item."""
    lines = [f"{function.name}:"]
    for place in walk(layout(module, function).items):
        lines.append(f"{'  ' * (place.depth + 1)}{shown(module, place.item)}")
    return "\n".join(lines)
