"""What an editor shows of the place under the pointer, as Markdown."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from sglc.check.names.builtins import FUNCTIONS, LIST_METHODS, MAP_METHODS, SCORED_METHODS, STR_METHODS
from sglc.check.show_types import show_found
from sglc.immutable import node
from sglc.service.core.snapshot import Snapshot
from sglc.service.holes.facts import (
    Asked,
    HoleNode,
    asked,
    bounds_of,
    count_of,
    samples_of,
    schema_of,
    shown_type,
)
from sglc.service.names.occurrences import Occurrence
from sglc.service.names.places import name_at
from sglc.service.names.shown import declaration_text, doc_of, inferred
from sglc.service.names.targets import Target
from sglc.service.writing.sight import type_of
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.syntax.tree.spans import walk
from sglc.types.condition import show_condition

if TYPE_CHECKING:
    from sglc.runtime.tokenizer import Tokenizer

_METHODS = {**STR_METHODS, **LIST_METHODS, **MAP_METHODS, **SCORED_METHODS}


@node
class Hover:
    """What is shown of a place. `text` makes the Markdown, with a tokenizer or without: it reads nothing of
    the snapshot, so that it may be called elsewhere while the text goes on changing."""

    span: Span
    text: Callable[[Tokenizer | None], str]


def hover(snapshot: Snapshot, offset: int) -> Hover | None:
    """What is shown of an offset; None where there is nothing to say."""
    found = name_at(snapshot, offset)
    if found is not None and found.target.kind != "hole":
        return Hover(found.span, partial(_fixed, _of_name(snapshot, found)))
    hole = hole_at(snapshot, offset)
    if found is not None and hole is None and isinstance(found.target.node, HoleNode):
        hole = asked(snapshot, found.target.node), found.span
    if hole is None:
        return None
    known, span = hole
    if found is not None:
        span = found.span
    return None if known is None else Hover(span, partial(hole_text, known))


def hole_at(snapshot: Snapshot, offset: int) -> tuple[Asked | None, Span] | None:
    """The innermost hole around an offset, with its place."""
    found = None
    for each in walk(snapshot.tree.declarations):
        if isinstance(each, ast.Hole) and each.span.start <= offset <= each.span.end:
            found = asked(snapshot, each.content), each.span
        elif isinstance(each, HoleNode) and each.span.start <= offset <= each.span.end and found is None:
            found = asked(snapshot, each), each.span
    return found


def _fixed(text: str, tokenizer: Tokenizer | None) -> str:
    return text


def _code(text: str) -> str:
    return f"```sgl\n{text}\n```"


def _of_name(snapshot: Snapshot, found: Occurrence) -> str:
    target = found.target
    real = target.aim or target
    parts = [_code(_shown(snapshot, real))]
    row = FUNCTIONS.get(real.name) or _METHODS.get(real.name.removeprefix("."))
    if real.kind == "builtin" and row is not None:
        parts.append(row.meaning)
    if doc := doc_of(real):
        parts.append(doc)
    if said := inferred(snapshot, real):
        parts.append(said)
    return "\n\n".join(parts)


def _shown(snapshot: Snapshot, target: Target) -> str:
    match target.kind:
        case "variable" | "parameter":
            found = type_of(snapshot, target)
            kind = "" if target.kind == "variable" else "(parameter) "
            return f"{kind}{target.name}: {show_found(found)}"
        case "field":
            return f"(field of {target.owner}) {declaration_text(target)}"
        case "member" | "variant":
            return f"({target.kind} of {target.owner}) {declaration_text(target)}"
        case "constant":
            return declaration_text(target)
        case "builtin":
            row = FUNCTIONS.get(target.name) or _METHODS.get(target.name.removeprefix("."))
            if row is not None:
                shown = ", ".join(f"{name}: {kind.rstrip('?…')}" for name, kind in row.parameters)
                return f"{target.name}({shown}) -> {row.result}"
        case "model":
            return f"using {target.name}"
    return declaration_text(target)


def hole_text(hole: Asked, tokenizer: Tokenizer | None) -> str:
    """All that is known of a hole."""
    mode = "" if hole.mode == "gen" else f"{hole.mode} "
    head = f"?{{{hole.name}: {mode}{shown_type(hole)}}}"
    facts = hole.facts
    if facts.condition is not None:
        head += f"\nwhere {show_condition(facts.condition)}"
    parts = [_code(head)]
    lines = []
    bounds = bounds_of(hole, tokenizer)
    if bounds is not None:
        most = "no upper bound" if bounds.most is None else f"at most {bounds.most:,}"
        lines.append(f"**{bounds.unit.capitalize()}**: at least {bounds.least:,}, {most}")
        if bounds.because:
            lines[-1] += f" ({bounds.because})"
        if bounds.forced is not None:
            lines.append(f"**Forced**: {bounds.forced:.0%} of the tokens of its shortest value")
    count = count_of(hole)
    if count is not None:
        lines.append(f"**Values**: {count:,}")
    if bounds is not None and bounds.value:
        lines.append(f"**Shortest**: {_quoted(bounds.value)}")
    samples = samples_of(hole)
    if samples:
        lines.append("**Samples**: " + ", ".join(map(_quoted, samples)))
    ends = [repr(stop) for stop in facts.stops] + (["the end of the message"] if facts.end_of_message else [])
    if ends:
        lines.append(f"**Ends at** {', '.join(ends)}")
    if facts.models is not None:
        lines.append(f"**Model**: {facts.models.shown()}")
    parts.append("  \n".join(lines))
    schema = schema_of(hole)
    if schema and schema != shown_type(hole):
        parts.append(f"What `schema({shown_type(hole)})` shows a model:\n\n```text\n{schema}\n```")
    return "\n\n".join(part for part in parts if part)


def _quoted(text: str) -> str:
    fence = "``" if "`" in text else "`"
    inner = text.replace("\n", "⏎")
    return f"{fence}{inner}{fence}" if inner.strip() else repr(text)
