"""`sglc build -O`, `--print-passes`, `--time-passes`, `--verify-each`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import Cli
from sglc import driver
from sglc.passes import pipeline
from sglc.passes.pipeline import Pass

PROGRAM = """\
pub fn f(name: str) -> str:
    user:
        | Name a friend.
        | Of ${name}.
    assistant:
        | ?{friend: str max 5 chars}
    return friend
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "p.sgl"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


def test_passes_are_printed_with_what_they_changed(cli: Cli, program: Path) -> None:
    code, out, err = cli("build", program, "--print-passes")
    assert code == 0 and out.startswith(str(program.with_suffix(".sglb")))
    heads = [line for line in err.split("\n") if line.startswith("; pass")]
    assert [head.split(":")[0] for head in heads] == [
        f"; pass {number}, {step.name}" for number, step in enumerate(pipeline.PASSES, 1)
    ]
    fold = next(head for head in heads if "fold" in head)
    assert fold.endswith(" changes @f (16 operations before, 16 after)")
    assert '  text "Name a friend."\n  text "\\n"\n' in err
    assert '  text "Name a friend.\\nOf "\n' in err


def test_one_pass_is_printed_before_and_after(cli: Cli, program: Path) -> None:
    code, _, err = cli("build", program, "--print-passes=merge_text")
    assert code == 0 and err.count("; pass") == 1
    before, after = err.split("; after")
    assert 'text "Name a friend."\n' in before and "Of " in before
    assert 'text "Name a friend.\\nOf "\n' in after


@pytest.mark.parametrize(("name", "level"), [("fold", 0), ("unroll", 1)])
def test_a_pass_that_the_level_leaves_out_is_not_printed_in_silence(
    cli: Cli, program: Path, name: str, level: int
) -> None:
    code, _, err = cli("build", program, f"--print-passes={name}", f"-O{level}")
    assert code == 2 and f"-O{level} does not run '{name}'" in err
    assert cli("build", program, f"--print-passes={name}", f"-O{level + 1}")[0] == 0


def test_the_stage_shows_what_the_level_made(cli: Cli, program: Path) -> None:
    first = cli("build", program, "--emit", "ir", "-O0")[1]
    assert first.count("\n  line\n") == 3
    for level in ("-O1", "-O2"):
        assert cli("build", program, "--emit", "ir", level)[1].count("\n  line\n") == 2
    assert cli("build", program, "--emit", "ir")[1] == cli("build", program, "--emit", "ir", "-O2")[1]


def test_times_of_passes(cli: Cli, program: Path) -> None:
    code, _, err = cli("build", program, "--time-passes")
    lines = err.rstrip("\n").split("\n")
    assert code == 0
    assert [line.split()[0] for line in lines] == ["pass", *(step.name for step in pipeline.PASSES), "all"]
    assert all(float(line.split()[1]) >= 0 for line in lines[1:])


def test_an_unsound_pass_is_named(cli: Cli, program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    def breaks(module):
        function = module.functions[0]
        block = replace(function.blocks[0], ops=())
        return replace(module, functions=(replace(function, blocks=(block, *function.blocks[1:])),))

    monkeypatch.setattr(pipeline, "PASSES", (*pipeline.PASSES, Pass("breaks", breaks)))
    code, _, err = cli("build", program, "--verify-each")
    assert code == 70 and "breaks" in err
    assert driver.DEFAULT.verify is False


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--print-passes=soup"], "there is no pass 'soup'; passes are inline, dead_code"),
        (["-O3"], "0<=x<=2"),
    ],
)
def test_what_is_not_there_is_refused(cli: Cli, program: Path, arguments: list[str], said: str) -> None:
    code, out, err = cli("build", program, *arguments)
    assert code == 2 and said in err and out == ""
    assert not program.with_suffix(".sglb").exists()


def events(trace: Path) -> list[dict]:
    """What a trace tells without times and places; neighbouring texts are one."""
    found: list[dict] = []
    for line in trace.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        for name in ("span", "seconds", "t"):
            event.pop(name, None)
        if found and found[-1]["event"] == event["event"] == "text":
            found[-1]["text"] += event["text"]
        else:
            found.append(event)
    return found


def test_a_program_runs_alike_at_every_level(cli: Cli, good: Path, script: str, tmp_path: Path) -> None:
    seen = []
    for level in ("-O0", "-O1", "-O2"):
        trace = tmp_path / f"{level}.jsonl"
        code, out, _ = cli("run", good, level, "--arg", "text=Hi", "--model", script, "--trace", trace)
        assert (code, out) == (0, '"furious"\n')
        seen.append(events(trace))
    assert seen[0] == seen[1] == seen[2] and seen[0][-1]["event"] == "finish"
