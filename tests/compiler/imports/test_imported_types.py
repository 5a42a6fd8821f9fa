"""`sql table` and `typescript` in programs: names, places of faults, values from outside and in Python."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path

import pytest

import sglc
from sglc.bytecode.serial import dumps, loads
from sglc.check.program import check
from sglc.cli import main
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.driver import compile_file, compile_source
from sglc.library import Library
from sglc.options import CompileOptions
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.session import Session
from sglc.source import Source
from sglc.types.type import Named, RecordType

SHAPES = (
    "interface Circle { kind: 'circle'; r: number } interface Square { kind: 'square'; side: number } "
    "interface Pic { shapes: Shape[]; best: Shape; first?: Circle } type Shape = Circle | Square"
)
HEAD = f"""type Shape = typescript Shape from "{SHAPES}"
type Pic = typescript Pic from "{SHAPES}"
"""


def found(text: str) -> list[Diagnostic]:
    return [d for d in check(Source("p.sgl", text), Library())[1] if d.severity == "error"]


def run(text: str, name: str, **arguments: object) -> object:
    result = compile_source(Source("p.sgl", text), CompileOptions())
    assert result.program is not None, result.diagnostics
    engine = ReferenceEngine(ScriptedModel())
    try:
        return asyncio.run(Session(result.program, engine).run(name, arguments)).value
    finally:
        engine.close()


def test_what_comes_from_one_text_fits_together() -> None:
    text = HEAD + (
        "pure fn area(shape: Shape) -> float:\n"
        "    match shape:\n"
        "        case Circle(r = r): return 3 * r * r\n"
        "        case Square(side = s): return s * s\n\n"
        "pub pure fn total(pic: Pic) -> str:\n"
        '    return "${sum([area(s) for s in pic.shapes])} ${pic.best.kind} ${pic.first == null}"\n'
    )
    best = {"kind": "circle", "r": 1}
    pic = {"shapes": [best, {"kind": "square", "side": 2}], "best": best}
    assert run(text, "total", pic=pic) == "7.0 circle true"


def test_names_of_declarations() -> None:
    text = (
        HEAD
        + 'type Big = typescript Circle from "'
        + SHAPES
        + '"\ntype Twin = typescript Shape from "'
        + SHAPES
        + '"\n'
    )
    program = check(Source("p.sgl", text), Library())[0]
    assert program is not None
    assert {"Shape", "Pic", "Big", "Shape.Square", "Twin"} <= set(program.table)
    assert program.table["Twin"].type == Named("Shape")  # type: ignore[union-attr]
    assert not {"Circle", "Square", "Shape.Circle"} & set(program.table)


def test_a_source_without_a_name_stands_anywhere(tmp_path: Path) -> None:
    rows = '[sql table "create table t (a int not null)"; ..2]'
    path = tmp_path / "p.sgl"
    path.write_text(
        f"pub fn f() -> {rows}:\n    user: | Rows?\n    assistant: | ?{{rows: {rows}}}\n    return rows\n\n"
        'test "rows":\n    fuzz f() times 20:\n        expect all([row.a < 10 ** 18 for row in it])\n'
    )
    program = compile_file(path, CompileOptions()).program
    assert program is not None
    assert len([name for name in program.table if name.endswith(".t")]) == 1
    assert main(["test", str(path)]) == 0


def test_fields_that_are_no_words() -> None:
    text = (
        'type Row = sql table "create table t (\\"unit price\\" numeric(6,2) not null, '
        'class text not null)"\n'
        "pub pure fn price(row: Row) -> str:\n"
        '    return "${row["unit price"]} ${row.class}"\n'
    )
    assert run(text, "price", row={"unit price": Decimal("1.50"), "class": "a"}) == "1.50 a"
    (fault,) = found(text.replace('["unit price"]', '["unit prise"]'))
    assert fault.code == "E0209" and 'did you mean "unit price"?' in fault.hint


def test_python_sees_them_as_classes(tmp_path: Path) -> None:
    path = tmp_path / "p.sgl"
    path.write_text(
        'pub type Row = sql table "create table t (\\"unit price\\" int not null, \\"2nd\\" int not null, '
        '\\"unit-price\\" int not null, class int)"\n'
        "pub pure fn same(row: Row) -> Row:\n    return row\n"
    )
    module = sglc.load(path, model=ScriptedModel())
    row = module.same({"unit price": 1, "2nd": 2, "unit-price": 3})
    assert (row.unit_price, row.field_2nd, row.unit_price_, row.class_) == (1, 2, 3, None)
    assert module.same(row) == row


@pytest.mark.parametrize(
    ("source", "at"),
    [
        ('sql table "create table t (a blob)"', "blob"),
        ('sql table "create table t (\\"a\\" int, b \\u{62}lob)"', "\\u{62}lob"),
        ('typescript "interface A { a: \\"x\\"; b: Date }"', "Date"),
        ('sql table u from "create table t (a int)"', 'sql table u from "create table t (a int)"'),
    ],
)
def test_a_fault_is_shown_where_it_stands(source: str, at: str) -> None:
    (fault,) = found(f"pub type row = {source}\n")
    assert fault.code == "E0356"
    assert fault.span is not None and fault.span.text == at


def test_files_lie_beside_the_source_and_become_part_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "t.sql").write_text(
        "-- people\ncreate table t (\n  a int,\n  b blob\n);\ncreate table u (a int);"
    )
    path = tmp_path / "p.sgl"
    path.write_text('pub type Row = sql table T from "t.sql"\n')
    (fault,) = compile_file(path, CompileOptions()).diagnostics
    assert fault.span is not None and fault.span.source.name == "t.sql"
    assert fault.span.source.position(fault.span.start) == (4, 5)
    assert fault.secondary[0].span.source.name == str(path) or fault.secondary[0].text == "read here"
    path.write_text(
        'pub type Row = sql table u from "t.sql"\npub pure fn f(row: Row) -> Row:\n    return row\n'
    )
    program = compile_file(path, CompileOptions()).program
    assert program is not None
    (tmp_path / "t.sql").unlink()
    again, faults = loads(dumps(program))
    assert faults == [] and again == program
    assert isinstance(again.table["Row"], RecordType)
    (missing,) = compile_file(path, CompileOptions()).diagnostics
    assert missing.code == "E0211"


OVERLAP = 'pub type A = typescript "type A = { a: string } | { a: string; b?: number }"\n'
ENDLESS = """type Tree = typescript "interface Tree { next: Tree }"
pub fn f() -> Tree:
    | ?{t: Tree max 9 tok}
    return t
"""
UNBOUNDED = """pub fn f() -> str:
    | ?{t: typescript "interface A { a: string }"}
    return t.a
"""
PARAMETERS = 'pub type A(x: int) = sql table "create table t (a int)"\n'
REFINED = 'pub type A = sql table "create table t (a int)" max 3 chars\n'


@pytest.mark.parametrize(
    ("text", "code"),
    [(OVERLAP, "E0308"), (ENDLESS, "E0303"), (UNBOUNDED, "E0331"), (PARAMETERS, "E0353"), (REFINED, "E0306")],
    ids=["overlap", "endless", "unbounded", "parameters", "refined"],
)
def test_they_are_checked_like_other_types(text: str, code: str) -> None:
    assert code in [fault.code for fault in found(text)]


WORD = """pub record Box:
    WORD: int

pure fn f(WORD: int) -> int:
    let box = Box(WORD)
    return box.WORD + WORD
"""


@pytest.mark.parametrize("name", ["sql", "table", "typescript", "from"])
def test_the_words_are_still_names(name: str) -> None:
    assert run(WORD.replace("WORD", name), "f", **{name: 2}) == 4
