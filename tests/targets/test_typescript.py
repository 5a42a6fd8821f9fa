"""The target `typescript`: judged by the compiler and by node where they are installed, and read back."""

from __future__ import annotations

import json
import random
import re
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checkout import EXAMPLES
from example_budget import examples
from judges.json_reading import Undecided, is_of_type
from judges.typescript_compiler import compiled, needs_compiler
from sglc.driver import write_target
from sglc.importers.core.declared import Declared
from sglc.importers.core.fault import SourceFault
from sglc.importers.typescript.reader import read_typescript
from sglc.source import Source
from sglc.targets.typescript import write_types
from sglc.types.notation.typescript import bounds_as_tags
from sglc.types.text.plain_json import dumps, parse_json
from sglc.types.type import (
    AliasType,
    Bool,
    Constant,
    EnumType,
    FieldType,
    Float,
    Int,
    Json,
    ListOf,
    Named,
    Null,
    Optional,
    RecordType,
    Str,
    TupleOf,
    Type,
    TypeTable,
    matching,
)
from strategies.near_misses import edited
from strategies.typed_values import SEEDS, number_types, types, values_of


@needs_compiler
@pytest.mark.slow
def test_the_examples_compile(tmp_path: Path) -> None:
    modules = {}
    for path in sorted([*EXAMPLES.glob("*.sgl"), *EXAMPLES.glob("*/*.sgl")]):
        source = Source(str(path), path.read_text(encoding="utf-8"))
        modules[f"{path.parent.name}_{path.stem}"], _ = write_target(source, "typescript", allow_wider=True)
    assert all(modules.values())
    compiled(tmp_path, modules)


RUN = """
import fs from "node:fs";
const cases = JSON.parse(fs.readFileSync("cases.json", "utf8"));
const told = [];
for (const [name, texts] of cases) {
  const module = await import(`./${name}.mjs`);
  told.push(texts.map((text) => module.isIt(JSON.parse(text))));
}
console.log(JSON.stringify(told));
"""


@needs_compiler
@pytest.mark.slow
def test_guards_accept_exactly_the_values(tmp_path: Path) -> None:
    cases = random_cases(examples(40))
    modules = {f"m{index}": text for index, (text, _) in enumerate(cases)}
    compiled(tmp_path, modules)
    for name in modules:
        (tmp_path / f"{name}.js").rename(tmp_path / f"{name}.mjs")
    given_ = [[f"m{index}", [text for text, _ in samples]] for index, (_, samples) in enumerate(cases)]
    (tmp_path / "cases.json").write_text(json.dumps(given_), encoding="utf-8")
    (tmp_path / "run.mjs").write_text(RUN, encoding="utf-8")
    done = subprocess.run(["node", "run.mjs"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for told, (text, samples) in zip(json.loads(done.stdout), cases, strict=True):
        for answer, (sample, wanted) in zip(told, samples, strict=True):
            assert answer == wanted, f"{sample}\n{text[: text.index('function text(')]}"
    assert {wanted for _, samples in cases for _, wanted in samples} == {True, False}


def random_cases(count: int) -> list[tuple[str, list[tuple[str, bool]]]]:
    """Modules with a type `It`, and JSON texts with whether they are of it."""
    cases: list[tuple[str, list[tuple[str, bool]]]] = []

    @settings(max_examples=count, suppress_health_check=list(HealthCheck), database=None)
    @given(types(), SEEDS, st.data())
    def collect(case, seed, data) -> None:
        type, table = case
        dice = random.Random(seed)
        value = parse_json(dumps(data.draw(values_of(type, table)), type, table))
        samples = []
        for other in (value, *(edited(dice, value) for _ in range(6))):
            text = json.dumps(other, default=float)
            if parse_json(text) == other:  # else JavaScript does not see the number
                with suppress(Undecided):
                    samples.append((text, is_of_type(other, type, table)))
        cases.append((write_types({**table, "It": AliasType("It", type)}).text, samples))

    collect()
    return cases


CREW = {
    "Post": EnumType("Post", ("pilot", "medic")),
    "Crew": RecordType(
        "Crew",
        (
            FieldType("name", Str(2, 40), doc="first and last name"),
            FieldType("code", matching("[A-Z]{2}[0-9]|x")),
            FieldType("age", Int(18, 70, 2)),
            FieldType("pay", Float(maximum=9)),
            FieldType("tags", ListOf(Str(), 1, 4)),
            FieldType("pair", TupleOf((Bool(), Str()))),
            FieldType("unit price", Constant("EUR")),
            FieldType("more", Json()),
            FieldType("chief", Optional(Named("Crew"))),
            FieldType("note", Str(), optional=True),
            FieldType("nothing", Null()),
        ),
        doc="One member.",
    ),
}


def test_what_both_say_is_read_back() -> None:
    written = write_types(CREW).text
    declarations = written[: written.index("export function")] + written[written.index("/** One member.") :]
    read = read_typescript(declarations[: declarations.index("export function")], "Crew", "Crew")
    (record,) = [type for type in read.types.values() if isinstance(type, RecordType)]
    mine = CREW["Crew"]
    assert isinstance(mine, RecordType) and record.doc == mine.doc
    assert [field.name for field in record.fields] == [field.name for field in mine.fields]
    for field, other in zip(mine.fields, record.fields, strict=True):
        if field.name == "code":  # the same texts, with a group around the alternatives
            assert other.type == matching("(?:[A-Z]{2}[0-9]|x)")
        else:
            assert (other.type, other.optional, other.doc) == (field.type, field.optional, field.doc)


def read_again(type: Type, table: TypeTable) -> Declared | None:
    """A type as the reader finds it in the module of the target; None where it refuses a form."""
    written = write_types({**table, "It": AliasType("It", type)}).text
    declarations = re.sub(r"(?ms)^(?:export )?(?:function|const) .*?^[}\])]*;?\n", "", written)
    try:
        return read_typescript(declarations, "It", "It")
    except SourceFault as fault:
        assert "without items" in fault.reason or "without properties" in fault.reason
        return None


@pytest.mark.slow
@settings(max_examples=examples(40), suppress_health_check=list(HealthCheck))
@given(st.one_of(types(), number_types().map(lambda type: (type, {}))), SEEDS, st.data())
def test_what_is_written_is_read_back(case, seed, data) -> None:
    """With all its values; and no others where tags say all bounds, as those of a type with a name."""
    type, table = case
    again = read_again(type, table)
    if again is None:
        return
    dice = random.Random(seed)
    value = parse_json(dumps(data.draw(values_of(type, table)), type, table))
    for other in (value, *(edited(dice, value) for _ in range(4))):
        with suppress(Undecided):
            mine = is_of_type(other, type, table)
            read = is_of_type(other, Named(again.root), again.types)
            assert read or not mine, other
            assert read == mine or not bounds_as_tags(type), other


def test_names_that_typescript_has_taken_are_changed() -> None:
    table = {"Object": Bool, "crew": Bool, "Crew": Bool, "a.b": Bool, "class": Bool}
    text = write_types({name: AliasType(name, Bool()) for name in table}).text
    for line in (
        "export type Object_ = boolean;",
        "isCrew(x: unknown): x is crew",
        "isCrew_(x: unknown): x is Crew",
        "x is a_b",
        "x is class_",
    ):
        assert line in text


def test_a_program_without_types_is_a_module() -> None:
    text, found = write_target(Source("p.sgl", "pub pure fn one() -> int:\n    return 1\n"), "typescript")
    assert (text, found) == ("export {};\n", [])


def test_a_lost_grammar_is_told_in_the_text() -> None:
    source = Source(
        "p.sgl", 'grammar Money:\n    start: /[0-9]+/ " EUR"\n\npub record Bill:\n    total: Money\n'
    )
    text, found = write_target(source, "typescript")
    assert text == "" and {d.code for d in found if d.severity == "error"} == {"E0817"}
    text, _ = write_target(source, "typescript", allow_wider=True)
    assert "// Lost: a grammar, at Money; instead: any string\n" in text


def test_bounds_behind_a_default_are_read_back() -> None:
    field = FieldType("pieces", Int(1, 99), has_default=True, default=1, doc="how many")
    text = write_types({"Order": RecordType("Order", (field,))}).text
    assert "// how many; 1 if left out @asType integer @minimum 1 @maximum 99" in text
    read = read_typescript(text.partition("export function")[0], "Order", "Order")
    (record,) = read.types.values()
    assert isinstance(record, RecordType) and record.fields[0].type == Int(1, 99)


def test_comments_behind_an_alias_are_its_own() -> None:
    text = (
        "export type Age = number;  // in years @asType integer @minimum 0\ninterface A { age: Age }  // no"
    )
    read = read_typescript(text, "A", "A")
    age, record = read.types["Age"], read.types["A"]
    assert isinstance(age, AliasType) and (age.type, age.doc) == (Int(0), "in years")
    assert isinstance(record, RecordType) and record.doc == ""
