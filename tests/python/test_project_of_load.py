"""`sglc.load` reads `sgl.toml` as `sglc run` does, and what Python says wins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sglc

PROGRAM = """pub fn f() -> str using big or main:
    user: | q
    assistant: | ?{a: line max 9 chars}
    return a

pub fn g() -> str:
    user: | q
    assistant: | ?{a: line max 9 chars}
    return a
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    for name in ("one", "two"):
        (tmp_path / f"{name}.json").write_text(json.dumps([name]))
    text = (
        '[models]\nbig = "scripted:two.json"\nother = "no/such"\n[models.main]\nuse = "scripted:one.json"\n'
    )
    (tmp_path / "sgl.toml").write_text(text + "[run]\nseed = 5\nmax_tokens = 50\n[engine]\nmax_queue = 3\n")
    path = tmp_path / "p.sgl"
    path.write_text(PROGRAM)
    return path


def test_models_engine_and_options_of_calls_are_the_project_s(program: Path) -> None:
    module = sglc.load(program)
    assert module.f() == "two" and module.g() == "one"
    assert module._options.max_queue == 3 and "other" not in module._models
    assert module.g._split((), {})[1] == {"seed": 5, "max_tokens": 50}


def test_what_python_says_wins(program: Path) -> None:
    own = f"scripted:{program.parent}/two.json"
    module = sglc.load(program, own, max_queue=7, models={"big": f"scripted:{program.parent}/one.json"})
    assert module.f() == "one" and module.g() == "two" and module._options.max_queue == 7
    assert module.g._split((), {"seed_": 0, "max_tokens_": None})[1] == {"seed": 0, "max_tokens": None}


def test_it_can_be_left_unread(program: Path) -> None:
    module = sglc.load(program, project=False)
    assert (module.model, module._models, module._defaults) == ("smollm2", {}, {})
    (program.parent / "sgl.toml").write_text("[rum]\n")
    assert sglc.load(program, project=False).model == "smollm2"
    with pytest.raises(sglc.CompileError, match="E0825"):
        sglc.load(program)


def test_a_text_has_a_project_only_where_it_is_asked_for(program: Path) -> None:
    assert sglc.loads(PROGRAM, path=program).model == "smollm2"
    assert sglc.loads(PROGRAM, path=program, project=True).model == f"scripted:{program.parent}/one.json"


def test_a_function_of_python_has_none() -> None:
    @sglc.sgl_function(project=True)
    def f(s) -> str:  # type: ignore[no-untyped-def]
        s += "a" + s.gen("b", regex="c")
        return s["b"]

    with pytest.raises(TypeError, match="`project` is an option of load"):
        f.compile()
