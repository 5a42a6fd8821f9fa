"""What `schema(T)` shows: JSON Schema that `jsonschema` agrees with, TypeScript that reads back."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import jsonschema
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.importers.core.fault import SourceFault
from sglc.importers.typescript.reader import read_typescript
from sglc.types.language.language import language
from sglc.types.language.membership import MemberError
from sglc.types.notation.prompt_text import schema_text
from sglc.types.text.plain_json import from_json
from sglc.types.type import (
    AliasType,
    Dec,
    DeclaredType,
    EnumType,
    FieldType,
    Int,
    ListOf,
    MapOf,
    Named,
    RecordType,
    Str,
    TupleOf,
    Type,
)
from strategies.typed_values import has_words, types, words_of

OTHERS = (
    None,
    True,
    0,
    -7,
    Decimal("2.25"),
    1000003,
    "",
    "x",
    "a longer text, with 2 commas,",
    [],
    [None],
    {},
    {"a": 1},
)


def places(data: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all parts of some JSON data."""
    found = [at]
    if isinstance(data, dict):
        found += [place for key, item in data.items() for place in places(item, (*at, key))]
    elif isinstance(data, list):
        found += [place for index, item in enumerate(data) for place in places(item, (*at, index))]
    return found


def changed(data: Any, at: tuple[Any, ...], how: Any) -> Any:
    """The data with the part at a path changed."""
    if not at:
        return how(data)
    copy = dict(data) if isinstance(data, dict) else list(data)
    copy[at[0]] = changed(data[at[0]], at[1:], how)
    return copy


@st.composite
def mutants(draw: st.DrawFn, data: Any) -> Any:
    """The data with something replaced, left out, added or doubled."""
    place = draw(st.sampled_from(places(data)))
    other = draw(st.sampled_from(OTHERS))

    def how(part: Any) -> Any:
        kind = draw(st.integers(0, 2))
        if kind and isinstance(part, dict):
            return {**part, "extra": other} if kind == 1 or not part else dict(list(part.items())[1:])
        if kind and isinstance(part, list):
            return [*part, *(part or [other])] if kind == 1 else part[1:]
        return other

    return changed(data, place, how)


def in_few_digits(data: Any) -> bool:
    """Whether the numbers are within the digits of the language, of which JSON Schema knows nothing."""
    numbers = [data] if isinstance(data, int | Decimal) else []
    if isinstance(data, dict | list):
        parts = data.values() if isinstance(data, dict) else data
        return all(map(in_few_digits, parts))
    return all(abs(number) < 10**15 and number == round(number, 8) for number in numbers)


@pytest.mark.slow
@settings(max_examples=examples(32))
@given(types(), st.data())
def test_json_schema_refuses_what_the_type_refuses(typed: Any, data: st.DataObject) -> None:
    type, table = typed
    assume(has_words(type, table))
    schema = json.loads(schema_text(type, table, "json"), parse_float=Decimal)
    # Of patterns that leave case aside JSON Schema shows nothing.
    assume("(?i)" not in repr(typed))
    validator = jsonschema.Draft202012Validator(schema)
    word = data.draw(words_of(language(type, table, surface="json"))).decode()
    value = json.loads(word, parse_float=Decimal)
    assert validator.is_valid(value)
    mutant = data.draw(mutants(value))
    assume(in_few_digits(mutant))
    try:
        from_json(mutant, type, table)
    except MemberError:
        assert not validator.is_valid(mutant), mutant


@pytest.mark.slow
@settings(max_examples=examples(24))
@given(types(), st.data())
def test_typescript_of_any_type_reads_back_as_one_that_has_its_values(
    typed: Any, data: st.DataObject
) -> None:
    type, table = typed
    assume(has_words(type, table))
    shown = schema_text(type, table, "typescript")
    assume("{\n}" not in shown)  # an object without properties means nearly anything in TypeScript
    first = shown.split("type ", 1)[1] if shown.startswith("type Answer") else ""
    try:
        again = read_typescript(shown, "Answer" if first else None, "Thing0")
    except SourceFault as fault:
        assume("declarations (" in fault.reason)  # which one is meant is for the program to say
        raise AssertionError(f"{fault}\n{shown}") from fault
    word = data.draw(words_of(language(type, table, surface="json"))).decode()
    from_json(json.loads(word, parse_float=Decimal), Named(again.root), again.types)


def declared(*found: DeclaredType) -> dict[str, DeclaredType]:
    return {one.name: one for one in found}


def test_names_in_typescript_are_its_own() -> None:
    table = declared(
        RecordType(
            "Date", (FieldType("a", Named("x.y")), FieldType("b", Named("x_y")), FieldType("c d", Int()))
        ),
        AliasType("x.y", Str()),
        AliasType("x_y", Int()),
    )
    assert schema_text(Named("Date"), table, "typescript") == (
        'interface Date_ {\n  a: x_y;\n  b: x_y_;\n  "c d": number;  // int\n}\n\n'
        "type x_y = string;\n\ntype x_y_ = number;  // int"
    )


def test_notes_in_typescript_say_what_it_cannot() -> None:
    short = Str(max_chars=5)
    table = declared(
        EnumType("Post", ("pilot", "medic")),
        RecordType(
            "Crew",
            (
                FieldType("posts", MapOf(Named("Post"), Int(0, 9), 1, 2), doc="so /* much */"),
                FieldType("pair", TupleOf((short, ListOf(short, 0, 3), Named("Post")))),
                FieldType("pay", Dec(Decimal(1)), has_default=True, default=Decimal(2)),
            ),
            "Who\nworks */ here.",
        ),
    )
    assert schema_text(Named("Crew"), table, "typescript") == (
        "/** Who works * / here. */\ninterface Crew {\n"
        "  posts: Partial<Record<Post, number>>;  // so /* much * /; 1..2 keys, each value int in 0..9\n"
        "  pair: [string, string[], Post];  // [0] str max 5 chars; [1] 0..3 items, each str max 5 chars\n"
        "  pay?: number;  // decimal in 1..; 2 if left out\n}\n\n"
        'type Post = "pilot" | "medic";'
    )


def test_long_patterns_are_shown_by_what_is_said_of_them() -> None:
    long: Type = Str(patterns=("a|b" * 40,))
    table = declared(AliasType("code", long, "letters\nonly"), AliasType("bare", long))
    assert schema_text(Named("code"), table) == "text: letters only"
    assert schema_text(ListOf(Named("code")), table) == "[string (letters only), ...]"
    assert "a|b" in schema_text(Named("bare"), table)
    assert "a|b" in schema_text(Named("code"), table, "json")
