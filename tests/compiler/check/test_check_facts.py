"""What the checker hands to the lowering: facts of holes, bound arguments, retries, conversions."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sglc.check.core.result import (
    BuiltinSymbol,
    ConstantSymbol,
    DefaultArgument,
    ElementSymbol,
    FunctionSymbol,
    LocalSymbol,
    RecordSymbol,
)
from sglc.check.program import check
from sglc.library import Library
from sglc.source import Source
from sglc.syntax.tree import ast
from sglc.types.type import Alternatives, Constant, Dec, Int, Named, Str
from sglc.types.values import EnumValue, RecordValue


def checked(text: str):
    """The main module of a program without findings."""
    program, diagnostics = check(Source("program.sgl", text), Library())
    assert program is not None
    assert [d.message for d in diagnostics if d.severity != "note"] == []
    return program.main


def hole(body: str, parameters: str = ""):
    """The facts of the only hole of a function with this body."""
    module = checked(f"pub fn f({parameters}):\n" + "".join(f"    {line}\n" for line in body.split("\n")))
    (facts,) = module.holes.values()
    return facts


def nodes(node, kind):
    """All nodes of a class below a node, in the order of the text."""
    found = []
    if isinstance(node, kind):
        found.append(node)
    if isinstance(node, tuple):
        for part in node:
            found += nodes(part, kind)
    elif hasattr(node, "__dataclass_fields__") and not isinstance(node, Source):
        for name in node.__dataclass_fields__:
            if name not in ("span", "source", "keyword"):
                found += nodes(getattr(node, name), kind)
    return found


@pytest.mark.parametrize(
    ("line", "stops", "end"),
    [
        ("| ?{n: int}", ("\n",), True),
        ("| ?{n: int} apples", (" apples",), False),
        ("| ?{n: int} of ${k}", (" of ",), False),
        ("| ?{n: [int; ..2]}${k}", ("\n",), True),
        ('| ?{n: str max 9 chars until ";"}; more', (";", "; more"), False),
        ('| ?{n: str max 9 chars until ";"}', (";", "\n"), True),
        ("| ?{n: str}, then", (", then",), False),
        ("| ?{n: choose bool}.", (".",), False),
    ],
)
def test_a_hole_ends_where_the_text_after_it_begins(line, stops, end):
    facts = hole(line if "${k}" in line else f"{line}\n| ${{k}}", "k: int")
    assert (facts.stops, facts.end_of_message) == (stops, end)


def test_text_glued_from_the_next_line_ends_a_hole_too():
    assert hole("| ?{n: int}\\\n| km").stops == ("km",)
    assert hole("| ?{n: int}\\\n| ").stops == ("\n",)


@pytest.mark.parametrize(
    ("last", "stop"),
    [
        ("note?: str max 400 chars", "\n\n"),
        ("steps: [str max 400 chars; 1..3]", "\n\n"),
        ("note?: str max 400 chars\n    size: int in 1..3", "\n"),
        ("steps: [str max 400 chars; 3]", "\n"),
    ],
)
def test_a_newline_ends_yaml_only_where_no_line_may_follow(last, stop):
    """However long the texts before that place may be."""
    record = f"record Recipe:\n    title: str min 3 chars max 400 chars\n    {last}\n\n"
    module = checked(f"{record}pub fn f():\n    user: | a\n    assistant: | ?{{n: Recipe as yaml}}\n")
    (facts,) = module.holes.values()
    assert facts.stops == (stop,)


def test_only_a_bare_str_gets_its_stop_from_the_text_after_it():
    assert hole("| ?{n: str}; x").type == Str(until=("; x",))
    assert hole('| ?{n: str until "."}. x').type == Str(until=(".",))
    assert hole("| ?{n: int}; x").type == Int()


def test_an_until_option_belongs_to_the_type():
    facts = hole('let n = gen str until "a" until "b"\n| ${n}')
    assert facts.type == Str(until=("a", "b"))
    assert facts.stops == ("a", "b", "\n")
    assert facts.name == "n" and facts.slot == "n"


def test_options_known_now_give_a_type_and_others_do_not():
    assert hole('| ?{n: choose ["a", "b"]}').type == Alternatives((Constant("a"), Constant("b")))
    assert hole("| ?{n: choose xs}", "xs: [str]").type is None
    assert hole("| ?{n: select bool by sum}").type is not None


def test_slots_of_one_name_differ():
    module = checked(
        "pub pure fn f(n: int) -> int:\n    var sum = 0\n    for i in 0..<n:\n        sum += i\n"
        "    for i in 0..<n:\n        sum += i\n    return sum\n"
    )
    slots = [module.symbols[id(loop)].slot for loop in nodes(module.module, ast.For)]
    assert slots == ["i", "i.2"]
    read = [module.symbols[id(r)].slot for r in nodes(module.module, ast.Reference) if r.name == "i"]
    assert read == slots


def test_arguments_are_in_the_order_of_the_parameters():
    module = checked(
        "record Point:\n    x: int\n    y: int = 7\n    note?: str\n\n"
        "pure fn area(width: int, height: int = 2) -> int:\n    return width * height\n\n"
        'pub pure fn f() -> int:\n    let p = Point(note = "a", x = 1)\n'
        "    return area(height = p.x, width = 3)\n"
    )
    calls = nodes(module.module, ast.Call)
    point, area = calls
    x, y, note = module.arguments[id(point)]
    assert (x.value, y, note.parts) == (1, DefaultArgument(7), ("a",))
    width, height = module.arguments[id(area)]
    assert (width.value, height.name.text) == (3, "x")
    assert module.symbols[id(point.function)] == RecordSymbol("Point")
    assert module.symbols[id(area)] == FunctionSymbol("area")


def test_methods_leave_out_the_receiver_and_by_sees_the_element():
    module = checked(
        "record City:\n    people: int\n\n"
        "pub pure fn f(xs: [City], m: {str: int}) -> int:\n"
        '    return xs.max(by = people + it.people).people + m.get("a", 0) + len(m.keys)\n'
    )
    get, most = nodes(module.module, ast.Call)[0:2]
    calls = {
        c.function.name.text: c
        for c in nodes(module.module, ast.Call)
        if isinstance(c.function, ast.Attribute)
    }
    assert get is not most
    assert len(module.arguments[id(calls["max"])]) == 1
    assert len(module.arguments[id(calls["get"])]) == 2
    assert module.symbols[id(calls["max"])] == BuiltinSymbol(".max")
    names = {r.name: module.symbols[id(r)] for r in nodes(module.module, ast.Reference)}
    assert names["people"] == ElementSymbol("people")
    assert names["it"] == ElementSymbol(None)
    keys = next(a for a in nodes(module.module, ast.Attribute) if a.name.text == "keys")
    assert module.symbols[id(keys)] == BuiltinSymbol(".keys")


def test_a_retry_draws_the_latest_hole_of_the_condition_again():
    module = checked(
        "pub fn f(top: int) -> int:\n    user: | x\n    assistant: | ?{a: int} ?{b: int}, ?{c: int}\n"
        "    let sum = a + b\n"
        '    ensure sum < top else "large"\n        retry 2 repair\n    return c\n'
    )
    (ensure,) = nodes(module.module, ast.Ensure)
    holes = {facts.name: key for key, facts in module.holes.items()}
    assert id(module.retries[id(ensure)]) == holes["b"]


def test_values_that_only_a_check_can_prove_are_marked():
    module = checked(
        "pure fn small(n: int in 0..9, d: decimal) -> decimal:\n    return n * d\n\n"
        "pub pure fn f(k: int) -> decimal:\n    return small(k, k)\n"
    )
    (call,) = nodes(module.module, ast.Call)
    due = [module.coercions.get(id(argument.value)) for argument in call.arguments]
    assert due == [Int(0, 9), Dec()]


def test_an_assignment_with_an_operator_is_checked_as_a_whole():
    module = checked(
        "pub pure fn f(k: int) -> int:\n    var n: int in 0..9 = 0\n    n += k\n    var m = 0\n    m += k\n"
        "    return n + m\n"
    )
    first, second = nodes(module.module, ast.Assign)
    assert module.coercions.get(id(first)) == Int(0, 9)
    assert id(second) not in module.coercions


def test_a_value_that_always_fits_is_not_marked():
    module = checked(
        "pure fn small(n: int in 0..9) -> int:\n    return n\n\n"
        "pub pure fn f(k: int in 1..3) -> int:\n    return small(k)\n"
    )
    assert module.coercions == {}


def test_constants_are_folded_and_converted():
    module = checked(
        "enum Mood: calm, glad\nrecord Row:\n    share: decimal = 1\n    mood: Mood = calm\n\n"
        "const BASE = 2\nconst ROW = Row(BASE + 1, glad)\nconst DEFAULT = Row()\n\n"
        "pub pure fn f() -> [Row]:\n    return [ROW, DEFAULT]\n"
    )
    made, default = (
        module.symbols[id(item)].value
        for display in nodes(module.module, ast.ListDisplay)
        for item in display.items
    )
    assert made == RecordValue("Row", {"share": Decimal(3), "mood": EnumValue("Mood", "glad")})
    assert default == RecordValue("Row", {"share": Decimal(1), "mood": EnumValue("Mood", "calm")})
    assert isinstance(made.fields["share"], Decimal)


def test_enum_members_are_read_by_the_type_that_is_due():
    module = checked(
        "enum Light: red, green\npub enum Wine: red, white\n\n"
        "pure fn g(light: Light) -> bool:\n    return light == red\n\n"
        "pub pure fn f() -> bool:\n    return g(red)\n"
    )
    members = [module.symbols[id(r)] for r in nodes(module.module, ast.Reference) if r.name == "red"]
    assert members == [ConstantSymbol(EnumValue("Light", "red"))] * 2


def test_names_of_imported_modules_are_qualified():
    program, diagnostics = check(
        Source(
            "program.sgl",
            "use std.time (Weekday, weekday)\n\n"
            'pub pure fn f(day: Weekday) -> bool:\n    return day == weekday("2024-02-29")\n',
        ),
        Library(),
    )
    assert diagnostics == [] and program is not None
    assert [module.name for module in program.modules] == ["", "std.time"]
    assert {"std.time.Weekday", "std.time.date"} <= set(program.table)
    function = program.main.module.declarations[1]
    assert program.main.resolved[id(function.parameters[0].type)] == Named("std.time.Weekday")


def test_a_mock_holds_the_value_of_the_holes_type():
    module = checked(
        "pub fn ask() -> decimal:\n    | ?{n: decimal}\n    return n\n\n"
        'test "two":\n    mock ask.n = 2\n    expect ask() == 2\n'
    )
    (mock,) = nodes(module.module, ast.Mock)
    value = module.constants[id(mock.value)]
    assert value == 2 and isinstance(value, Decimal)
    assert module.symbols[id(mock)] == FunctionSymbol("ask")


def test_a_schema_is_a_constant_text():
    module = checked("record P:\n    x: int\n\npub fn f() -> P:\n    | ${schema(P)} ?{p: P}\n    return p\n")
    (schema,) = nodes(module.module, ast.SchemaOf)
    assert '"x"' in module.constants[id(schema)]


def test_symbols_are_local_within_their_function():
    module = checked(
        "pub pure fn f(n: int) -> int:\n    return n\n\npub pure fn g(n: int) -> int:\n    return n + 1\n"
    )
    assert {module.symbols[id(p)] for p in nodes(module.module, ast.Parameter)} == {LocalSymbol("n", "n")}
