"""No name, doc comment or text of a program breaks the notation of a target, or becomes code of it.

Those of `strategies.programs.hostile_names` call `INJECTED` where they get out of a string or a comment. Each
target's own parser reads what is written; Python's and TypeScript's say whether the name is used.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import types
from pathlib import Path
from random import Random

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings

from example_budget import examples
from fakes import sglang_double
from judges.llama_cpp import judged, needs_llama_cpp
from judges.strict_mode import check_request
from judges.typescript_compiler import compiled, needs_compiler
from judges.written_modules import agree
from oracles.lark_oracle import lark_accepts, lark_of
from sglc.cfg.notation.ebnf import read_ebnf
from sglc.driver import write_target
from sglc.source import Source
from sglc.targets import json_schema, pydantic_models, stubs, typescript
from strategies.programs.hostile_names import (
    MARK,
    HostileProgram,
    hostile_program,
    hostile_programs,
    hostile_table,
    hostile_tables,
)

CARD = '{"note": "x"}'


def no_code(text: str) -> None:
    """A Python module that uses nothing that a text names."""
    for node in ast.walk(ast.parse(text)):
        assert not (isinstance(node, ast.Name) and node.id == MARK), text


def written(program: HostileProgram, target: str, hole: str = "") -> str:
    text, found = write_target(Source("p.sgl", program.text), target, allow_wider=True, hole=hole)
    assert text, [each.message for each in found if each.severity == "error"]
    return text


@pytest.mark.slow
@settings(max_examples=examples(24), suppress_health_check=list(HealthCheck))
@given(hostile_tables())
def test_tables_of_types(table) -> None:
    schema = json.loads(json_schema.write_types(table).text)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert list(schema["$defs"]) == list(table)
    no_code(stubs.write_stubs(table, []).text)
    models = pydantic_models.write_types(table).text
    no_code(models)
    module = types.ModuleType("written_models")
    sys.modules[module.__name__] = module
    exec(compile(models, "written_models.py", "exec"), module.__dict__)
    for made in list(vars(module).values()):
        if isinstance(made, type) and made.__module__ == module.__name__ and hasattr(made, "model_rebuild"):
            made.model_rebuild()


@pytest.mark.slow
@settings(max_examples=examples(10), suppress_health_check=list(HealthCheck))
@given(hostile_programs())
def test_programs(program: HostileProgram) -> None:
    source = Source("p.sgl", program.text)
    for target in ("stubs", "pydantic", "python", "sglang"):
        no_code(written(program, target))
    jsonschema.Draft202012Validator.check_schema(json.loads(written(program, "json-schema")))
    for requests in json.loads(written(program, "openai")).values():
        for each in requests:
            check_request({"model": "m", **each["request"]})
    agree(source, program.function, {program.argument: "Ann"}, seeds=1)


@settings(max_examples=examples(25), suppress_health_check=list(HealthCheck))
@given(hostile_programs())
def test_functions_of_sglang_run(program: HostileProgram) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "sglang", sglang_double.double())
        namespace: dict = {}
        exec(compile(written(program, "sglang"), "written.py", "exec"), namespace)
        (function,) = (each for name, each in namespace.items() if hasattr(each, "__code__"))
        answers = iter(("plain", CARD))
        state = sglang_double.State(lambda text, settings: next(answers))
        function(state, "Ann")
    assert state.values == dict(zip(program.holes, ("plain", CARD), strict=True))


@pytest.mark.slow
@settings(max_examples=examples(25), suppress_health_check=list(HealthCheck))
@given(hostile_programs())
def test_holes(program: HostileProgram) -> None:
    word, _ = program.holes
    for hole in program.holes:
        read_ebnf(written(program, "ebnf", hole))
        re.compile(written(program, "regex", hole).removesuffix("\n"))
    assert re.fullmatch(written(program, "regex", word).removesuffix("\n"), "plain")
    grammar = lark_of(written(program, "lark", word), start="root")
    assert lark_accepts(grammar, "plain") and not lark_accepts(grammar, MARK)


@needs_llama_cpp
@pytest.mark.slow
def test_llama_cpp_reads_the_holes() -> None:
    programs = [hostile_program(Random(seed)) for seed in range(examples(40))]
    cases = [(written(each, "gbnf", each.holes[0]), ["plain", MARK]) for each in programs]
    assert judged(cases) == [[True, False]] * len(cases)


@needs_compiler
@pytest.mark.slow
def test_the_compiler_of_typescript_finds_no_code(tmp_path: Path) -> None:
    """`INJECTED` is no name that the compiler knows."""
    count = examples(60)
    modules = {f"t{n}": typescript.write_types(hostile_table(Random(n))).text for n in range(count)}
    modules |= {f"p{n}": written(hostile_program(Random(n)), "typescript") for n in range(count)}
    compiled(tmp_path, modules)


@pytest.mark.slow
def test_mypy_accepts_the_modules(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    for n in range(4):
        program = hostile_program(Random(n))
        for target in ("python", "pydantic"):
            (tmp_path / f"{target}{n}.py").write_text(written(program, target), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *(path.name for path in tmp_path.glob("*.py"))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
