"""Inclusion of types, against listing all of their values; and changes of functions."""

from __future__ import annotations

import json
import random
import re
from decimal import Decimal
from itertools import product

import pytest

from example_budget import examples
from sglc.compatibility.inclusion import included
from sglc.compatibility.programs import changes
from sglc.compatibility.values import Typed, holds, written
from sglc.driver import compile_source
from sglc.source import Source
from sglc.types.type import (
    AliasType,
    Alternatives,
    Bool,
    Constant,
    Dec,
    EnumType,
    FieldType,
    Float,
    InForm,
    Int,
    Json,
    ListOf,
    MapOf,
    Named,
    Null,
    Optional,
    RecordType,
    Str,
    TupleOf,
    UnionType,
    matching,
)

COUNT = examples(400)
PATTERNS = ("[ab]{1,2}", "a?b?", "(ab|b)", "[^a]?b", "a[ab]?", "b")
TEXTS = ["".join(word) for size in range(4) for word in product("ab", repeat=size)]


def random_type(rng: random.Random, table: dict, depth: int = 2):
    """A small type, and the JSON of all its values (as a set of canonical texts, and those that a caller may
    give, where fields with a default can be left out)."""
    kinds = ["int", "bool", "null", "constant", "text", "enum"]
    if depth:
        kinds += ["list", "tuple", "optional", "arms", "record", "union", "alias", "map"]
    kind = rng.choice(kinds)
    inner = lambda: random_type(rng, table, depth - 1)  # noqa: E731
    match kind:
        case "int":
            low = rng.randint(-2, 2)
            high, step = low + rng.randint(0, 3), rng.choice((None, None, 2))
            values = [n for n in range(low, high + 1) if not step or n % step == 0]
            return Int(low, high, step), values
        case "bool":
            return Bool(), [True, False]
        case "null":
            return Null(), [None]
        case "constant":
            value = rng.choice(("a", "b", "ab", 1, 2, True))
            return Constant(value), [value]
        case "text":
            pattern = rng.choice(PATTERNS)
            least, most = rng.choice((0, 0, 1, 2)), rng.choice((None, None, 1, 2))
            texts = [w for w in TEXTS if re.fullmatch(pattern.replace("[^a]", "b"), w)]
            texts = [w for w in texts if len(w) >= least and (most is None or len(w) <= most)]
            pattern = pattern.replace("[^a]", "[b]")
            return matching(pattern, of=Str(least, most)), texts
        case "enum":
            members = tuple(rng.sample(("a", "b", "ab", "c"), rng.randint(1, 3)))
            name = f"E{len(table)}"
            table[name] = EnumType(name, members)
            return Named(name), list(members)
        case "list":
            item, values = inner()
            low = rng.randint(0, 1)
            high = low + rng.randint(0, 1)
            return ListOf(item, low, high), [
                list(w) for n in range(low, high + 1) for w in product(values, repeat=n)
            ]
        case "map":
            item, values = inner()
            return MapOf(matching("[ab]"), item, 0, 1), [{}, *({k: v} for k in "ab" for v in values)]
        case "tuple":
            (one, a), (two, b) = inner(), inner()
            return TupleOf((one, two)), [list(pair) for pair in product(a, b)]
        case "optional":
            item, values = inner()
            return Optional(item), [*values, None]
        case "arms":
            (one, a), (two, b) = inner(), inner()
            return Alternatives((one, two)), [*a, *b]
        case "alias":
            item, values = inner()
            name = f"A{len(table)}"
            table[name] = AliasType(name, item)
            return Named(name), values
        case "record":
            name = f"R{len(table)}"
            table[name] = None
            table[name], values = random_record(rng, table, name, depth)
            return Named(name), values
    name = f"U{len(table)}"
    table[name] = None
    variants, values = [], []
    for tag in rng.sample(("One", "Two", "Three"), rng.randint(1, 2)):
        record, some = random_record(rng, table, tag, depth)
        variants.append(record)
        values += [{"type": tag, **value} for value in some]
    table[name] = UnionType(name, tuple(variants))
    return Named(name), values


def random_record(rng: random.Random, table: dict, name: str, depth: int):
    fields, choices = [], []
    for label in rng.sample(("x", "y"), rng.randint(0, 2)):
        type, values = random_type(rng, table, depth - 1)
        optional = rng.random() < 0.3
        fields.append(FieldType(label, type, optional=optional))
        choices.append([*(((label, value),) for value in values), *([()] if optional else [])])
    return RecordType(name, tuple(fields)), [dict(sum(pairs, ())) for pairs in product(*choices)]


def canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)


@pytest.mark.slow
def test_inclusion_of_small_types_is_that_of_their_values():
    verdicts = {"included": 0, "broken": 0, "unknown": 0}
    rng = random.Random(1)
    while sum(verdicts.values()) < COUNT:
        tables: tuple[dict, dict] = ({}, {})
        a, values = random_type(rng, tables[0])
        b, others = random_type(rng, tables[1]) if rng.random() < 0.5 else near(rng, a, values, tables)
        if len(values) > 300 or len(others) > 300:
            continue
        narrow, wide = Typed(a, tables[0]), Typed(b, tables[1])
        all_values, all_others = set(map(canonical, values)), set(map(canonical, others))
        found = included(narrow, wide)
        verdicts[found.verdict] += 1
        if found.verdict == "included":
            assert all_values <= all_others, (a, b, tables, all_values - all_others)
        elif found.verdict == "broken":
            assert canonical(found.value) in all_values - all_others, (a, b, tables, found)
        for value in values:
            assert holds(value, narrow), (a, tables[0], value)
    assert verdicts["included"] > COUNT // 10
    assert verdicts["broken"] > COUNT // 10
    assert verdicts["unknown"] < COUNT // 10, verdicts


def near(rng: random.Random, type, values: list, tables: tuple[dict, dict]):
    """A type that has something to do with another one: wider, or a union with it."""
    tables[1].update(tables[0])
    other, more = random_type(rng, tables[1], 1)
    match rng.randint(0, 3):
        case 0:
            return Optional(type), [*values, None]
        case 1:
            return Alternatives((other, type)), [*more, *values]
        case 2 if isinstance(type, ListOf):
            return ListOf(type.item, 0, 2), [
                [],
                *values,
                *(list(pair) for pair in product(items_of(values), repeat=2)),
            ]
    return type, values


def items_of(values: list) -> list:
    found = []
    for item in (item for value in values for item in value):
        if canonical(item) not in map(canonical, found):
            found.append(item)
    return found


T = RecordType("T", (FieldType("v", Int(0, 9)), FieldType("next", Named("T"), optional=True)))
W = RecordType("T", (FieldType("v", Int(0, 20)), FieldType("next", Named("T"), optional=True)))


@pytest.mark.parametrize(
    ("narrow", "wide", "verdict", "value"),
    [
        (Str(max_chars=9), Str(max_chars=10), "included", None),
        (Str(max_chars=10), Str(max_chars=9), "broken", "aaaaaaaaaa"),
        (matching("[a-z]+"), matching("[a-z0-9]+"), "included", None),
        (matching("[a-z0-9]+"), matching("[a-z]+"), "broken", "0"),
        (Int(), Dec(), "included", None),
        (Dec(), Int(), "broken", Decimal("0.5")),
        (Int(0, 2**53), Float(), "included", None),
        (Int(0, 2**53 + 1), Float(), "unknown", None),
        (Int(0, 10**30, 4), Int(0, None, 2), "included", None),
        (Int(0, 10**30, 2), Int(0, None, 4), "broken", 2),
        (Dec(Decimal(0), Decimal(1)), Dec(Decimal(0)), "included", None),
        (Dec(Decimal(0)), Dec(Decimal(0), Decimal(1)), "broken", 2),
        (Str(), Json(), "included", None),
        (Json('{"type":"string"}'), Json('{"type":"integer"}'), "broken", ""),
        (Json(), Str(), "broken", 0),
        (Json('{"type":"string","maxLength":2}'), Json('{"maxLength":3,"type":"string"}'), "unknown", None),
    ],
)
def test_verdicts(narrow, wide, verdict, value):
    found = included(Typed(narrow, {}), Typed(wide, {}))
    assert (found.verdict, found.value) == (verdict, value)


def test_types_that_contain_themselves():
    assert included(Typed(Named("T"), {"T": T}), Typed(Named("T"), {"T": W})).verdict == "included"
    found = included(Typed(Named("T"), {"T": W}), Typed(Named("T"), {"T": T}))
    assert found.verdict == "broken"
    assert found.value == {"v": 10}


OLD = """\
error Late
error Bad

record Answer:
    mark: int in 1..5
    note?: str max 20 chars

pub pure fn mark(text: str max 100 chars, strict: bool = false) -> Answer raises Late:
    if strict: raise Late
    return Answer(1)
"""
OTHER = "pub pure fn other() -> int:\n    return 1\n\n"


def compiled(text: str):
    result = compile_source(Source("program.sgl", text))
    assert result.program is not None, result.diagnostics
    return result.program


@pytest.mark.parametrize(
    ("before", "after", "kind", "what", "witness"),
    [
        ("max 100 chars", "max 200 chars", "compatible", "parameter `text` takes more", ""),
        ("max 100 chars", "max 2 chars", "breaks", "parameter `text` takes less", '"aaa"'),
        ("in 1..5", "in 1..4", "compatible", "its result says more", ""),
        ("in 1..5", "in 1..6", "breaks", "its result may be more", '{"mark": 6}'),
        ("note?: str", "note: str", "compatible", "its result says more", ""),
        ("strict: bool = false", "strict: bool", "breaks", "has no default any more", ""),
        ("strict: bool = false", "strict: bool = true", "compatible", "has another default", ""),
        ("strict", "severe", "breaks", "parameter `strict` is gone", ""),
        ("bool = false)", "bool = false, more: int = 1)", "compatible", "`more` is new, with a default", ""),
        ("(text", "(more: int, text", "breaks", "parameter `more` is new", ""),
        ("(text", "(more: int, text", "breaks", "its parameters have another order", ""),
        ("raises Late:", "raises Late, Bad:", "breaks", "it may raise `Bad`", ""),
        ("fn mark", "fn grade", "breaks", "there is no such function any more", ""),
        ("fn mark", "fn grade", "compatible", "it is new", ""),
        (
            "pub pure fn mark",
            "pub pure fn other() -> int:\n    return 1\n\npure fn mark",
            "breaks",
            "no longer `pub`",
            "",
        ),
    ],
)
def test_changes_of_a_function(before, after, kind, what, witness):
    text = OLD.replace(before, after)
    if "raises Late, Bad" in after:
        text = text.replace("raise Late\n", 'raise Bad\n    if text == "": raise Late\n')
    if before == "note?: str":
        text = text.replace("Answer(1)", 'Answer(1, "")')
    found = changes(compiled(OLD), compiled(text))
    fitting = [change for change in found if change.kind == kind and what in change.what]
    assert fitting, found
    if witness is not None:
        assert fitting[0].witness == witness


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("str", "one of xs", True),
        ("one of xs", "one of ys", True),
        ("one of xs", "span of text", True),
        ("one of xs", "str", False),
        ("one of xs", "one of xs", False),
    ],
)
def test_arguments_that_are_held_against_values_are_unknown(before, after, changed):
    """Which arguments such a type takes is known only in a run, so no change of it is called compatible."""
    text = "pub pure fn f(xs: [str], ys: [str], text: str, x: TYPE) -> str:\n"
    text += "    return x + xs[0] + ys[0] + text\n"
    found = changes(compiled(text.replace("TYPE", before)), compiled(text.replace("TYPE", after)))
    assert [change.kind for change in found if "held against" in change.what] == ["unknown"] * changed
    assert changed or all(change.kind == "compatible" for change in found)


def test_a_program_is_compatible_with_itself():
    assert changes(compiled(OLD), compiled(OLD)) == []


def test_values_are_written_as_json():
    assert written({"a": [1, Decimal("1.50"), None, True, "é"]}) == '{"a": [1, 1.50, null, true, "é"]}'


def test_forms_leave_out_what_they_cannot_hold():
    plain = Typed(ListOf(Str(max_chars=3)), {})
    lines = Typed(InForm(ListOf(Str(max_chars=3)), "lines"), {})
    fewer = Typed(InForm(ListOf(Str(max_chars=2)), "lines"), {})
    assert included(lines, plain).verdict == included(fewer, lines).verdict == "included"
    assert included(lines, lines).verdict == included(plain, Typed(InForm(plain.type, "json"), {})).verdict
    assert included(lines, lines).verdict == "included"
    found = included(plain, lines)
    assert (found.verdict, found.value) == ("broken", [""])
    numbers = InForm(ListOf(Int(0, 9)), "yaml")
    assert included(Typed(ListOf(Int(0, 9)), {}), Typed(numbers, {})).verdict == "unknown"


CONDITIONED = """\
pure fn odd(text: str) -> bool:
    return size(text) % 2 == 1

pure fn size(text: str) -> int:
    return len(text)

record Note:
    text: PART

pub fn f(x: GIVEN) -> RESULT:
    user: | ${x}
    assistant: | ?{y: RESULT}
    return y

pub fn g(note: Note) -> Note:
    user: | ${note}
    assistant: | ?{it: Note}
    return it
"""


@pytest.mark.parametrize(
    ("place", "before", "after", "kinds"),
    [
        ("GIVEN", "int in 0..9 where it % 3 == 1", "int in 0..9 where it % 3 == 1", []),
        ("GIVEN", "int in 0..9 where it % 3 == 1", "int in 0..9", ["compatible"]),
        ("GIVEN", "int in 0..9", "int in 0..9 where it % 3 == 1", ["breaks"]),
        ("GIVEN", "int in 0..9 where it % 6 == 1", "int in 0..9 where it % 3 == 1", ["compatible"]),
        ("GIVEN", "int in 0..9 where it % 3 == 1", "int in 0..9 where it % 6 == 1", ["breaks"]),
        ("GIVEN", "int in 0..9 where it % 3 == 1", "int in 0..6 where it % 3 == 1", ["breaks"]),
        ("GIVEN", "int in 0..9 where it % 3 == 1", "int in 0..7 where it % 3 == 1", []),
        ("GIVEN", "str max 9 chars where odd(it)", "str max 9 chars where odd(it)", []),
        ("GIVEN", "str max 9 chars where odd(it)", "str max 9 chars", []),
        ("GIVEN", "str max 9 chars where odd(it)", "str max 8 chars where odd(it)", ["unknown"]),
        ("GIVEN", "str max 9 chars", "str max 9 chars where odd(it)", ["unknown"]),
        ("RESULT", "str max 9 chars where odd(it)", "str max 9 chars", ["unknown"]),
        ("RESULT", "str max 9 chars", "str max 9 chars where odd(it)", []),
        ("RESULT", "str max 9 chars", "str max 10 chars where odd(it)", ["unknown"]),
        ("RESULT", "int in 0..9", "int in 0..9 where it % 3 == 1", ["compatible"]),
        ("PART", "str max 9 chars", "str max 9 chars where odd(it)", ["unknown"]),
        ("PART", "str max 9 chars where odd(it)", "str max 9 chars", ["unknown"]),
        ("PART", "str max 9 chars where odd(it)", "str max 9 chars where odd(it)", []),
    ],
)
def test_conditions_are_part_of_types(place, before, after, kinds):
    """No argument that is refused now, and no answer that could not come, is called compatible."""

    def filled(part):
        text = CONDITIONED.replace(place, part)
        for other in ("GIVEN", "RESULT", "PART"):
            text = text.replace(other, "str max 9 chars")
        return compiled(text)

    found = changes(filled(before), filled(after))
    assert [change.kind for change in found if change.kind != "compatible" or "compatible" in kinds] == kinds


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("odd", "uneven", True),
        ("size", "length", True),
        ("% 2 == 1", "% 2 == 0", False),
        ("return len(text)", "return len(text) + 1", False),
    ],
)
def test_a_condition_is_what_its_function_computes(before, after, same):
    text = CONDITIONED.replace("GIVEN", "str max 9 chars where odd(it)")
    text = text.replace("RESULT", "bool").replace("PART", "bool")
    found = changes(compiled(text), compiled(text.replace(before, after)))
    assert [change.kind for change in found] == ([] if same else ["unknown"])
