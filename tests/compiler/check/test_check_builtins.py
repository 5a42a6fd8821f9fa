"""Every built-in function and method: the type that the table gives it and the value that running gives."""

from __future__ import annotations

import pytest

from sglc.check.names.builtins import FUNCTIONS, LIST_METHODS, MAP_METHODS, STR_METHODS
from sglc.check.program import check
from sglc.check.types.kinds import show
from sglc.driver import compile_source
from sglc.library import Library
from sglc.source import Source
from sglc.testing import run_tests

HEAD = """\
record City:
    id: int
    name: str

enum Size: small, large

const XS = [3, 1, 2, 3]
const CITIES = [City(2, "Oslo"), City(1, "Bern")]
const M = {"a": 1, "b": 2}

"""
ROWS = [
    ("len(XS)", "int", "4"),
    ('len("äö")', "int", "2"),
    ("len(M)", "int", "2"),
    ('len((1, "a"))', "int", "2"),
    ("sum(XS)", "int", "9"),
    ("sum([0.5, 1])", "decimal", "1.5"),
    ("sum([])", "int", "0"),
    ("min(XS)", "int", "1"),
    ("max(XS)", "int", "3"),
    ("max(1, 2.5)", "decimal", "2.5"),
    ('min("b", "a")', "str", '"a"'),
    ("sorted(XS)", "[int]", "[1, 2, 3, 3]"),
    ("reversed(XS)", "[int]", "[3, 2, 1, 3]"),
    ("str(1.25)", "str", '"1.25"'),
    ("str(small)", "str", '"small"'),
    ("str(true)", "str", '"true"'),
    ("int(2.9)", "int", "2"),
    ("int(-2.9)", "int", "-2"),
    ('int("12")', "int", "12"),
    ('decimal("1.25")', "decimal", "1.25"),
    ("decimal(2)", "decimal", "2"),
    ("float(0.5) == float(0.5)", "bool", "true"),
    ("round(2.5)", "int", "2"),
    ("round(3.5)", "int", "4"),
    ("round(1.255, 2)", "decimal", "1.26"),
    ("abs(-3)", "int", "3"),
    ("abs(-0.5)", "decimal", "0.5"),
    ('trust("x") + "y"', "str", '"xy"'),
    ("trust(XS)", "[int; 4..4]", "[3, 1, 2, 3]"),
    ("any([false, true])", "bool", "true"),
    ("all([false, true])", "bool", "false"),
    ("any([])", "bool", "false"),
    ("all([])", "bool", "true"),
    ('zip(XS, ["a", "b"])', "[(int, str)]", '[(3, "a"), (1, "b")]'),
    ("enumerate(XS)[1]", "(int, int)", "(1, 1)"),
    ("keys(M)", "[str]", '["a", "b"]'),
    ("values(M)", "[int]", "[1, 2]"),
    ('"aB".upper()', "str", '"AB"'),
    ('"aB".lower()', "str", '"ab"'),
    ('"a bc".title()', "str", '"A Bc"'),
    ('" a ".strip()', "str", '"a"'),
    ('"a,b".split(",")', "[str]", '["a", "b"]'),
    ('"a  b".split()', "[str]", '["a", "b"]'),
    ('", ".join(["a", "b"])', "str", '"a, b"'),
    ('"aba".replace("a", "c")', "str", '"cbc"'),
    ('"abc".starts_with("ab")', "bool", "true"),
    ('"abc".ends_with("ab")', "bool", "false"),
    ('"abc".contains("b")', "bool", "true"),
    ('"abc".find("c")', "int", "2"),
    ('"abc".find("x")', "int", "-1"),
    ('"aXaXa".count("a")', "int", "3"),
    ('"a\\nb".lines()', "[str]", '["a", "b"]'),
    ('" a  b ".words()', "[str]", '["a", "b"]'),
    ("XS.max()", "int", "3"),
    ("CITIES.max(by = id).name", "str", '"Oslo"'),
    ("CITIES.min(by = len(it.name)).id", "int", "2"),
    ("XS.min()", "int", "1"),
    ("XS.sort()", "[int]", "[1, 2, 3, 3]"),
    ("[c.id for c in CITIES.sort(by = name)]", "[int]", "[1, 2]"),
    ("XS.sort(by = -it)", "[int]", "[3, 3, 2, 1]"),
    ("XS.map(it * 2)", "[int]", "[6, 2, 4, 6]"),
    ("XS.map(x => [x].map(y => y * x))", "[[int]]", "[[9], [1], [4], [9]]"),
    ("XS.map(str)", "[str]", '["3", "1", "2", "3"]'),
    ("CITIES.map(name)", "[str]", '["Oslo", "Bern"]'),
    ("CITIES.filter(id > 1).map(it.id)", "[int]", "[2]"),
    ("XS.filter(x => x % 2 == 0)", "[int]", "[2]"),
    ("[1, null, 3].filter(it != null)", "[int]", "[1, 3]"),
    ("[1, null, 3].filter(x => x != null and x > 1).map(it + 1)", "[int]", "[4]"),
    ("[[1, null], [null]].filter(it.any(it != null))", "[[int?]]", "[[1, null]]"),
    ("XS.any(it > 2)", "bool", "true"),
    ("XS.all(each = it > 2)", "bool", "false"),
    ("[0, 1].all(it > 0 and 1 // it > 0)", "bool", "false"),
    ("XS.group(it % 2)", "[(int, [int])]", "[(1, [3, 1, 3]), (0, [2])]"),
    ("CITIES.group(by = len(name)).map(it[1][0].id)", "[int]", "[2]"),
    ("XS.group(by = x => x > 1)", "[(bool, [int])]", "[(true, [3, 2, 3]), (false, [1])]"),
    ("XS.sort(by = x => -x)", "[int]", "[3, 3, 2, 1]"),
    ("XS.max(by = str)", "int", "3"),
    ("XS.first()", "int", "3"),
    ("XS.last", "int", "3"),
    ("CITIES.by_id(1).name", "str", '"Bern"'),
    ("XS.contains(2)", "bool", "true"),
    ("XS.count(3)", "int", "2"),
    ('XS.join("-")', "str", '"3-1-2-3"'),
    ('M.get("a")', "int?", "1"),
    ('M.get("c")', "int?", "null"),
    ('M.get("c", 7)', "int", "7"),
    ("M.keys", "[str]", '["a", "b"]'),
    ("M.values()", "[int]", "[1, 2]"),
    ('M.contains("b")', "bool", "true"),
    ("7 / 2", "decimal", "3.5"),
    ("7 // 2", "int", "3"),
    ("7 % 2", "int", "1"),
    ("-7 // 2", "int", "-4"),
    ("-7 % 2", "int", "1"),
    ("2 ** 3", "int", "8"),
    ('"abc"[1]', "str", '"b"'),
    ('"abc"[1:]', "str", '"bc"'),
    ("XS[:2]", "[int]", "[3, 1]"),
    ('M["b"]', "int", "2"),
    ("2 in XS", "bool", "true"),
    ('"b" in M', "bool", "true"),
    ("3 in 1..3", "bool", "true"),
    ("3 in 1..<3", "bool", "false"),
    ("3 in 1..=3", "bool", "true"),
    ('"b" in "abc"', "bool", "true"),
    ("XS contains 9", "bool", "false"),
    ('"ab1" matches /[a-z]+[0-9]/', "bool", "true"),
    ("[x * x for x in XS if x > 1]", "[int]", "[9, 4, 9]"),
    ("1 if XS == [] else 2", "int", "2"),
    ('"${XS} ${small} ${1 + 1}"', "str", '"[3, 1, 2, 3] small 2"'),
]


@pytest.mark.slow
@pytest.mark.parametrize(("expression", "type", "value"), ROWS, ids=[row[0] for row in ROWS])
def test_an_expression_has_the_type_that_is_told(expression, type, value):
    text = f"{HEAD}pub pure fn f() -> bool:\n    let it_is = {expression}\n    return it_is == {value}\n"
    program, diagnostics = check(Source("program.sgl", text), Library())
    errors = [d.message for d in diagnostics if d.severity == "error"]
    assert errors == []
    function = next(
        d for d in program.main.module.declarations if hasattr(d, "parameters") and hasattr(d, "body")
    )
    assert show(program.main.types[id(function.body[0].value)]) == type


def test_running_gives_the_values_that_are_told():
    lines = "".join(f"    expect ({expression}) == {value}\n" for expression, _, value in ROWS)
    program = compile_source(Source("program.sgl", f'{HEAD}test "all":\n{lines}')).program
    assert program is not None
    (report,) = run_tests(program)
    assert report.passed, [(d.message, d.span.text if d.span else "") for d in report.failures]
    assert report.expectations == len(ROWS)


def test_every_row_of_the_table_is_tried():
    tried = " ".join(row[0] for row in ROWS)
    for name in FUNCTIONS:
        assert f"{name}(" in tried
    for name in [*STR_METHODS, *LIST_METHODS, *MAP_METHODS]:
        assert f".{name}" in tried
