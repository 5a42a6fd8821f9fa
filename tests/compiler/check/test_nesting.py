"""Nothing that nests, in programs or in data, breaks through: it works, or a diagnostic says why not."""

from __future__ import annotations

import json

import pytest

import sglc
from sglc.bytecode.disasm import disassemble
from sglc.cli import main
from sglc.diagnostics.catalogue.codes import CATALOGUE
from sglc.driver import compile_source
from sglc.schema.core.errors import SchemaFault
from sglc.source import Source
from sglc.types.schema_language import SchemaTextError, schema_text_of
from sglc.types.values import MAX_DEPTH, RecordValue, is_too_deep
from strategies.nests import FORMS

LONG_RUNNING = ("elifs", "functions", "parts", "rules_two")
"""Forms that need seconds, not levels, at 5,000: they nest a tenth as often."""
WITHIN = (
    "aliases",
    "alias_lists",
    "alias_unions",
    "records",
    "records_down",
    "records_in_lists",
    "unions",
    "schemas",
    "schema_arrays",
    "type_lists",
    "type_tuples",
    "lists",
    "maps",
    "calls",
    "ifs",
    "parts",
    "rules",
    "elifs",
    "constants_down",
    "values",
    "values_equal",
    "values_returned",
    "values_records",
    "values_matched",
)


@pytest.mark.slow
@pytest.mark.parametrize("levels", [100, 5_000])
@pytest.mark.parametrize("form", FORMS)
def test_programs_that_nest_are_built_or_refused(form, levels):
    if form in LONG_RUNNING:
        levels //= 10
    result = compile_source(Source("nest.sgl", FORMS[form](levels)))
    if result.program is None:
        assert all(found.code in CATALOGUE for found in result.diagnostics)
    else:
        assert disassemble(result.program, sources=True)


@pytest.mark.slow
@pytest.mark.parametrize("form", WITHIN)
def test_what_is_within_the_limits_is_built_and_run(form, tmp_path, capsys):
    """Forty levels of anything are no fault; functions without arguments are run, holes drawn at random."""
    text = FORMS[form](40)
    path = tmp_path / "nest.sgl"
    if "fn f() -> str:\n    user" in text:
        text += 'test "any":\n    fuzz f() times 2:\n        expect it == it\n'
    path.write_text(text, encoding="utf-8")
    assert main(["build", str(path), "-o", str(tmp_path / "nest.sglb")]) == 0, capsys.readouterr().err
    assert main(["disasm", str(tmp_path / "nest.sglb")]) == 0
    if "fuzz f()" in text:
        assert main(["test", str(path)]) == 0, capsys.readouterr()
    elif "pure fn f() ->" in text:
        sglc.loads(text).f()


def nested(kind: str, levels: int):
    value = 1
    for _ in range(levels):
        value = [value] if kind == "list" else {"a": value}
    return value


JSON = sglc.loads(
    'pub pure fn back(a: json) -> json:\n    return a\npub pure fn text(a: json) -> str:\n    return "${a}"\n'
    "pub pure fn same(a: json) -> bool:\n    return a == a and a in [a] and [a, a].count(a) == 2\n"
)
CHAIN = sglc.loads("record R:\n    a: R?\npub pure fn f(a: R) -> R:\n    return a\n")


@pytest.mark.parametrize("kind", ["list", "map"])
def test_values_nest_as_deep_as_is_said(kind):
    value = nested(kind, MAX_DEPTH)
    assert JSON.back(value) == value and JSON.same(value)
    assert JSON.text(value) == json.dumps(value)


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 300, 1_000, 5_000])
@pytest.mark.parametrize("kind", ["list", "map"])
def test_deeper_arguments_are_refused(kind, levels):
    for function in (JSON.back, JSON.text, JSON.same):
        with pytest.raises(TypeError, match=r"E0715(.|\n)*nested deeper than 100 levels"):
            function(nested(kind, levels))


@pytest.mark.parametrize("levels", [300, 1_000, 5_000])
def test_deeper_records_are_refused(levels):
    data = None
    for _ in range(levels):
        data = {"a": data}
    with pytest.raises(TypeError, match="nested deeper than 100 levels"):
        CHAIN.f(data)
    made = CHAIN.R(None)
    with pytest.raises(TypeError, match="nested deeper than 100 levels"):
        for _ in range(levels):
            made = CHAIN.R(made)


def test_a_value_that_contains_itself_is_refused():
    circle: list[object] = []
    circle.append(circle)
    with pytest.raises(TypeError, match="nested deeper"):
        JSON.back(circle)


@pytest.mark.parametrize("levels", [300, 1_000, 5_000])
def test_results_are_what_could_be_passed_back(levels):
    """What a program makes that is deeper fails in the program, not in who called it."""
    for form in ("values_returned", "values_records"):
        with pytest.raises(sglc.RunError, match="nested deeper than 100 levels"):
            sglc.loads(FORMS[form](levels)).f()
    for form in ("values", "values_equal", "values_matched"):
        try:
            sglc.loads(FORMS[form](levels)).f()
        except sglc.RunError as fault:
            assert "nested too deeply" in str(fault)


@pytest.mark.parametrize("levels", [101, 500, 5_000, 100_000])
def test_files_of_arguments_may_nest_as_they_like(tmp_path, capsys, levels):
    program = tmp_path / "p.sgl"
    program.write_text("pub pure fn f(a: json) -> int:\n    return 1\n", encoding="utf-8")
    text = '{"a": ' + "[" * levels + "]" * levels + "}"
    (tmp_path / "args.json").write_text(text, encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text(text + "\n", encoding="utf-8")
    assert main(["run", str(program), "--args", str(tmp_path / "args.json")]) in (1, 2)
    rows = ["--data", str(tmp_path / "rows.jsonl"), "--out", str(tmp_path / "out.jsonl")]
    assert main(["run", str(program), *rows]) in (1, 2)
    value = "[" * levels + "]" * levels
    if levels < 50_000:
        assert main(["run", str(program), "--arg", f"a={value}"]) in (1, 2)
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err and "internal" not in shown.err


@pytest.mark.parametrize("levels", [51, 300, 1_000, 5_000, 100_000])
def test_schemas_that_nest_too_deeply_are_refused(levels):
    text = '{"properties": {"a": ' * levels + "{}" + "}}" * levels
    with pytest.raises((SchemaTextError, SchemaFault), match="nested"):
        schema_text_of(text)


def test_levels_are_counted_as_brackets_are():
    for levels, deep in ((0, False), (MAX_DEPTH, False), (MAX_DEPTH + 1, True)):
        assert is_too_deep(nested("list", levels)) == deep
    shared: list[object] = []
    for _ in range(90):
        shared = [shared, shared]
    assert not is_too_deep(shared)
    assert is_too_deep(RecordValue("R", {"a": nested("map", MAX_DEPTH)}))


def test_types_that_share_parts_are_looked_at_once():
    """Each record uses the one before twice: what is known of it does not double at each of 40 levels."""
    chain = "".join(f"record R{n + 1}:\n    a: R{n}?\n    b?: R{n}\n" for n in range(40))
    text = f"record R0:\n    a: int\n{chain}pub fn f() -> R40:\n    user: | Go.\n"
    result = compile_source(Source("x.sgl", text + "    assistant: | ?{x: R40}\n    return x\n"))
    assert result.program is not None, result.diagnostics
