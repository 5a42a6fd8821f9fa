"""Types and parts of types that no value has, and which two of their parts contradict each other.

A fault is told with the shortest value that one of the two parts has, and why the other one refuses it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from sglc.automata.dfa.operations import TooLong
from sglc.check.core.result import ExpressionType
from sglc.check.types.facts import TypeFacts
from sglc.check.types.kinds import expand, said
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.language.membership import str_fault
from sglc.types.type import (
    Alternatives,
    Dec,
    FieldType,
    Float,
    InForm,
    Int,
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

DEEPEST_REASON = 5
"""Parts of parts that a reason goes through: with more of them it is no longer read to its end."""
LONGEST_SHOWN = 40
"""Characters of a witness that still read at a glance; longer ones are cut."""


def report_empty(facts: TypeFacts, type: Type, span: Span) -> bool:
    """Report a type without values; whether it was one."""
    if not facts.sound(type):
        return False
    if facts.inhabited(type):
        _report_dead(facts, type, span)
        return False
    recursive = _endless(facts, type)
    reason, witness = ("", "") if recursive else _why_empty(facts, type)
    facts.program.report(
        "E0303",
        f"{said(type)} has no value",
        span,
        label="nothing can be written here",
        reason=(
            f"every value of `{recursive}` would contain another one"
            if recursive
            else reason or "its constraints contradict each other"
        ),
        witness=witness,
        hint="make the field optional, or a list that may be empty" if recursive else "",
    )
    return True


def report_dead_arms(facts: TypeFacts, arms: tuple[Type, ...], spans: tuple[Span, ...]) -> None:
    """Report the arms of a union that have no value, where another one has some."""
    dead = [place for place, arm in enumerate(arms) if facts.sound(arm) and not facts.inhabited(arm)]
    if len(dead) == len(arms):
        return  # told of the whole type
    for place in dead:
        if isinstance(arms[place], Named):
            continue  # told where it is declared
        _report_part(facts, arms[place], spans[place], f"the arm {said(arms[place])}", "leave the arm out")


def report_dead_fields(facts: TypeFacts, name: str, node: object) -> None:
    """Report fields and variants of a declared type that no value has, where the type itself has some."""
    declared = facts.table.get(name)
    if isinstance(declared, RecordType) and isinstance(node, ast.RecordDeclaration):
        for field, written in zip(declared.fields, node.fields, strict=False):
            _report_field(facts, field, written, f"field `{field.name}`", "leave the field out")
    if isinstance(declared, UnionType) and isinstance(node, ast.UnionDeclaration):
        for variant, written_variant in zip(declared.variants, node.variants, strict=False):
            for field, written in zip(variant.fields, written_variant.fields, strict=False):
                what = f"field `{field.name}` of `{variant.name}`"
                _report_field(facts, field, written, what, "leave the variant out")


def _report_field(facts: TypeFacts, field: FieldType, written: ast.Field, what: str, hint: str) -> None:
    if facts.sound(field.type):
        if facts.inhabited(field.type):
            _report_dead(facts, field.type, written.type.span)
        else:
            _report_part(facts, field.type, written.type.span, what, hint)


def _report_dead(facts: TypeFacts, type: Type, span: Span) -> None:
    """Report what is inside of optional values, lists and maps and has no value."""
    for part in _optional_parts(expand(type, facts.table)):
        if facts.sound(part) and not facts.inhabited(part):
            _report_part(facts, part, span, said(part), "leave this part of the type out")
            return


def _optional_parts(type: ExpressionType) -> Iterator[Type]:
    """Parts without which a type still has values: items of lists and maps that may be empty, and of `T?`.

    Declared types have been looked at where they are declared, and arms of unions where they are written.
    """
    waiting: list[ExpressionType] = [type]
    while waiting:
        match waiting.pop():
            case Optional(item) | ListOf(item):
                inner: tuple[Type, ...] = (item,)
                waiting.append(item)
            case MapOf(key, value):
                inner = (key, value)
                waiting.append(value)
            case TupleOf(items) | Alternatives(items):
                inner = ()
                waiting.extend(items)
            case _:
                continue
        yield from (part for part in inner if not isinstance(part, Named))


def _report_part(facts: TypeFacts, part: Type, span: Span, what: str, hint: str) -> None:
    reason, witness = _why_empty(facts, part)
    facts.program.report(
        "E0378",
        f"{what} has no value",
        span,
        label="nothing can be written here",
        reason=reason or "its constraints contradict each other",
        witness=witness,
        hint=f"{hint}, or widen it",
    )


# -- why -------------------------------------------------------------------------------------------


def _why_empty(facts: TypeFacts, type: Type, depth: int = 0) -> tuple[str, str]:
    """Why a type has no value, and a value of one part that another one refuses; empty where not known."""
    if depth > DEEPEST_REASON:
        return "", ""
    plain = expand(type, facts.table)
    match plain:
        case Str() if plain.grammar:
            return "no text is written by its grammar", ""
        case Str():
            return _conflict(facts, plain)
        case Int(low, high) | Dec(low, high) | Float(low, high) if (
            low is not None and high is not None and low > high
        ):
            return f"no number is at least {low} and at most {high}", ""
        case TupleOf(items):
            for place, item in enumerate(items, 1):
                if not facts.inhabited(item):
                    reason, witness = _why_empty(facts, item, depth + 1)
                    return (
                        f"part {place} has no value: {reason}" if reason else f"part {place} has no value",
                        witness,
                    )
        case ListOf(item):
            return _why_empty(facts, item, depth + 1)
        case Named(name):
            declared = facts.table.get(name)
            if isinstance(declared, RecordType):
                for field in declared.fields:
                    if not field.optional and not facts.inhabited(field.type):
                        reason, witness = _why_empty(facts, field.type, depth + 1)
                        told = f"field `{field.name}` has no value"
                        return f"{told}: {reason}" if reason else told, witness
    return "", ""


def _conflict(facts: TypeFacts, type: Str) -> tuple[str, str]:
    """The first part of a text type that has no text, or the first two that have none in common."""
    parts = _parts(type)
    for words, part in parts:
        if not facts.inhabited(part):
            return f"no text is {words}" if words.startswith("not ") else f"no text fits `{words}`", ""
    for (a, one), (b, other) in combinations(parts, 2):
        if facts.inhabited(_together(one, other)):
            continue
        reason = f"`{a}` and `{b}` have no text in common"
        word = _shortest(facts, one)
        fault = None if word is None else str_fault(word, other)
        if fault is None:
            return reason, ""
        return f"{reason}: {fault}", f'"{word}"' if word is not None and len(word) <= LONGEST_SHOWN else ""
    return "no text meets all of its patterns and bounds together", ""


def _parts(type: Str) -> list[tuple[str, Str]]:
    """The refinements of a text type, each as a type of its own, with how it is written."""
    bare = Str(layout=type.layout)
    found = [(f"matching /{pattern}/", replace(bare, patterns=(pattern,))) for pattern in type.patterns]
    found += [(f'until "{stop}"', replace(bare, until=(stop,))) for stop in type.until]
    found += [(f'not containing "{text}"', replace(bare, excludes=(text,))) for text in type.excludes]
    if type.min_chars:
        found.append((f"min {type.min_chars} chars", replace(bare, min_chars=type.min_chars)))
    if type.max_chars is not None:
        found.append((f"max {type.max_chars} chars", replace(bare, max_chars=type.max_chars)))
    return found


def _together(one: Str, other: Str) -> Str:
    return replace(
        one,
        min_chars=max(one.min_chars, other.min_chars),
        max_chars=one.max_chars if other.max_chars is None else other.max_chars,
        patterns=one.patterns + other.patterns,
        until=one.until + other.until,
        excludes=one.excludes + other.excludes,
    )


def _shortest(facts: TypeFacts, type: Str) -> str | None:
    try:
        word = facts.shortest_word(type)
    except TooLong:
        return None
    return None if word is None else word.decode()


def _endless(facts: TypeFacts, type: Type) -> str | None:
    """Name of a declared type that can only be built from itself."""
    seen: set[str] = set()
    queue = [type]
    while queue:
        part = queue.pop()
        match part:
            case Named(name):
                if name in seen:
                    if not facts.inhabited(part) and name in _reachable(facts, name):
                        return name.rsplit(".", 1)[-1]
                    continue
                seen.add(name)
                queue.extend(facts.parts(name))
            case ListOf(item, minimum) if minimum:
                queue.append(item)
            case InForm(item):
                queue.append(item)
            case TupleOf(items) | Alternatives(items):
                queue.extend(items)
    return None


def _reachable(facts: TypeFacts, name: str) -> set[str]:
    seen: set[str] = set()
    queue: list[Type] = list(facts.parts(name))
    while queue:
        part = queue.pop()
        match part:
            case Named(other) if other not in seen:
                seen.add(other)
                queue.extend(facts.parts(other))
            case ListOf(item) | Optional(item) | InForm(item):
                queue.append(item)
            case MapOf(key, value):
                queue.extend((key, value))
            case TupleOf(items) | Alternatives(items):
                queue.extend(items)
    return seen
