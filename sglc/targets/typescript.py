"""The declared types of a program as a TypeScript module: interfaces, unions, and a guard for each.

record Crew:                  export interface Crew { name: string; }  // @maxLength 20
    name: str max 20 chars  →  export function isCrew(x: unknown): x is Crew { … }

The compiler checks shapes. A guard checks all that the type says, of what `JSON.parse` gives: a number there
has some 17 digits, whatever the text had.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

from sglc.targets.core.comments import lost
from sglc.targets.core.names import distinct
from sglc.targets.core.target import Subject, Written
from sglc.targets.core.type_parts import Scalar, fold, losses_of, with_parameters
from sglc.types.json_text import json_text
from sglc.types.language.scalars import constant_text
from sglc.types.notation.text_rules import float_bounds, text_rules
from sglc.types.notation.typescript import TypeScriptWriter
from sglc.types.type import (
    TAG,
    AliasType,
    Alternatives,
    Bool,
    Constant,
    Dec,
    EnumType,
    FieldType,
    Float,
    Int,
    Json,
    ListOf,
    MapOf,
    Null,
    OneOf,
    Optional,
    RecordType,
    SpanOf,
    Str,
    TupleOf,
    Type,
    TypeTable,
    UnionType,
)

Guard = Callable[[str], str]
"""An expression that is true of the values of a type, given the name of a variable."""


def write(subject: Subject) -> Written:
    """A module with all declared types, in the order of the program, and their guards."""
    return with_parameters(write_types(subject.checked.table), subject.checked.opened)


def write_types(table: TypeTable) -> Written:
    """The same of a table of types."""
    writer = TypeScriptWriter(table, exported=True)
    guards = _Guards(writer, table)
    parts = []
    for name in table:
        comments = lost(losses_of({name: table[name]}, unsaid), "//")
        parts.append(comments + writer.declaration(name))
        parts.append(guards.function(name))
    parts += writer.grammar_comments()
    parts.append(_HELPERS if table else _NOTHING)
    return Written("\n\n".join(parts), losses_of(table, unsaid))


def unsaid(type: Type) -> tuple[str, str] | None:
    """What guards do not check, and what they check instead."""
    match type:
        case Str(grammar=grammar) if grammar:
            return "a grammar", "any string"
        case Json(schema) if schema:
            return "a JSON Schema", "any JSON value"
    return None


class _Guards:
    """Writes guards; also the notation of the types in them."""

    def __init__(self, writer: TypeScriptWriter, table: TypeTable) -> None:
        self.writer = writer
        self.table = table
        self.names: dict[str, str] = {}

    def name(self, name: str) -> str:
        """The name of the guard of a declared type: `isCrew`."""
        if name not in self.names:
            here = self.writer.name(name)
            guard = f"is{here[0].upper()}{here[1:]}"
            self.names[name] = distinct(guard, lambda each: each in self.names.values())
        return self.names[name]

    def function(self, name: str) -> str:
        """The guard of a declared type."""
        here = self.writer.name(name)
        declared = self.table[name]
        match declared:
            case RecordType(fields=fields):
                body = self.record(fields)
            case EnumType(members=members):
                body = " || ".join(f"x === {json_text(member)}" for member in members)
            case UnionType(variants=variants):
                body = " || ".join(self.record(variant.fields, variant.name) for variant in variants)
            case AliasType(type=type):
                body = fold(type, self)("x")
        return f"export function {self.name(name)}(x: unknown): x is {here} {{\n  return {body};\n}}"

    def record(self, fields: Sequence[FieldType], tag: str | None = None) -> str:
        """An object of exactly these fields, and the tag that names the variant."""
        rows = [] if tag is None else [f'["{TAG}", true, (x) => x === {json_text(tag)}]']
        for field in fields:
            required = "false" if field.optional or field.has_default else "true"
            rows.append(f"[{json_text(field.name)}, {required}, (x) => {fold(field.type, self)('x')}]")
        return "\n    ".join(("record(x, [", *(f"{row}," for row in rows))) + "\n  ])"

    def scalar(self, type: Scalar) -> Guard:
        match type:
            case Str(grammar=""):
                return _text(type)
            case Str() | OneOf() | SpanOf():
                return _text(Str())
            case Int(low, high, step):
                return _call("integer", low, high, None if step is None else json_text(str(step)))
            case Dec(low, high, step):
                return _call("number", low, high, None if step is None else json_text(f"{step:f}"))
            case Float():
                return _call("number", *float_bounds(type))
            case Bool():
                return lambda x: f'typeof {x} === "boolean"'
            case Null():
                return lambda x: f"{x} === null"
            case Constant(value):
                shown = constant_text(value, "json")
                return lambda x: f"{x} === {shown}"
            case Json():
                return _call("json")

    def named(self, name: str) -> Guard:
        guard = self.name(name)
        return lambda x: f"{guard}({x})"

    def choice(self, type: Optional | Alternatives, arms: Sequence[Guard]) -> Guard:
        return lambda x: f"({' || '.join(arm(x) for arm in arms)})"

    def list(self, type: ListOf, item: Guard) -> Guard:
        return _call("list", type.minimum, type.maximum, f"(x) => {item('x')}")

    def map(self, type: MapOf, key: Guard, value: Guard) -> Guard:
        return _call("map", type.minimum, type.maximum, f"(x) => {key('x')}", f"(x) => {value('x')}")

    def tuple(self, type: TupleOf, items: Sequence[Guard]) -> Guard:
        checks = ", ".join(f"(x) => {item('x')}" for item in items)
        return _call("tuple", f"[{checks}]")


def _call(helper: str, *arguments: object) -> Guard:
    shown = [_shown(argument) for argument in arguments]
    while shown and shown[-1] == "null":
        shown.pop()
    return lambda x: f"{helper}({', '.join((x, *shown))})"


def _shown(argument: object) -> str:
    if argument is None:
        return "null"
    return f"{argument:f}" if isinstance(argument, Decimal) else str(argument)


def _text(type: Str) -> Guard:
    rules = text_rules(type)
    whole = [f"/^(?:{pattern})$/u" for pattern in rules.whole]
    banned = [f"/{pattern}/u" for pattern in rules.banned]
    lists = [f"[{', '.join(patterns)}]" if patterns else None for patterns in (whole, banned)]
    return _call("text", rules.min_chars, rules.max_chars, *lists)


_NOTHING = "export {};\n"
"""A module without types. A text that exports nothing would be a script, whose names all files share."""

_HELPERS = """\
function text(
  x: unknown, low = 0, high: number | null = null, whole: RegExp[] | null = [], banned: RegExp[] = [],
): boolean {
  if (typeof x !== "string" || /\\p{Surrogate}/u.test(x)) return false;
  const size = [...x].length;
  if (size < low || size > (high ?? Infinity)) return false;
  return (whole ?? []).every((each) => each.test(x)) && !banned.some((each) => each.test(x));
}

function number(x: unknown, low?: number | null, high?: number | null, step?: string): boolean {
  if (typeof x !== "number" || !Number.isFinite(x)) return false;
  return x >= (low ?? -Infinity) && x <= (high ?? Infinity) && (step === undefined || multiple(x, step));
}

function integer(x: unknown, low?: number | null, high?: number | null, step?: string): boolean {
  return Number.isInteger(x) && number(x, low, high, step);
}

/** Whether a number is a multiple of a decimal, by their digits. */
function multiple(x: number, step: string): boolean {
  const [a, p] = digits(String(x));
  const [b, q] = digits(step);
  const low = Math.min(p, q);
  return (a * 10n ** BigInt(p - low)) % (b * 10n ** BigInt(q - low)) === 0n;
}

function digits(text: string): [bigint, number] {
  const [mantissa = "", power = "0"] = text.split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  return [BigInt(whole + fraction), Number(power) - fraction.length];
}

function list(x: unknown, low: number, high: number | null, item: (x: unknown) => boolean): boolean {
  return Array.isArray(x) && x.length >= low && x.length <= (high ?? Infinity) && x.every(item);
}

function tuple(x: unknown, items: ((x: unknown) => boolean)[]): boolean {
  return Array.isArray(x) && x.length === items.length && items.every((item, i) => item(x[i]));
}

function plain(x: unknown): x is { [key: string]: unknown } {
  return typeof x === "object" && x !== null && !Array.isArray(x);
}

function map(
  x: unknown, low: number, high: number | null, key: (x: unknown) => boolean, value: (x: unknown) => boolean,
): boolean {
  if (!plain(x)) return false;
  const entries = Object.entries(x);
  if (entries.length < low || entries.length > (high ?? Infinity)) return false;
  return entries.every(([name, item]) => key(name) && value(item));
}

/** Exactly these fields: name, whether it is required, and what it holds. */
function record(x: unknown, fields: [string, boolean, (x: unknown) => boolean][]): boolean {
  if (!plain(x)) return false;
  const known = new Set(fields.map(([name]) => name));
  if (!Object.keys(x).every((name) => known.has(name))) return false;
  return fields.every(([name, required, fits]) => (Object.hasOwn(x, name) ? fits(x[name]) : !required));
}

function json(x: unknown): boolean {
  if (x === null || typeof x === "boolean") return true;
  return number(x) || text(x) || list(x, 0, null, json) || map(x, 0, null, text, json);
}
"""
