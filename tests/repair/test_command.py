"""`sglc repair`: commands that write text, what is printed, how it fails."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import Cli
from command_line import cli as cli
from sglc.commands.repair import KEPT, PLAIN, PUT, WRONG, drawn
from sglc.runtime.repair.result import Correction

WRITER = """\
import os, pathlib, sys, time
prompt = sys.stdin.read()
log = pathlib.Path({log!r})
log.write_text(log.read_text() + repr(prompt) + "\\n" if log.exists() else repr(prompt) + "\\n")
pathlib.Path({log!r} + ".pid").write_text(str(os.getpid()))
sys.stdout.write({answers!r}[log.read_text().count("\\n") - 1])
sys.stdout.flush()
time.sleep(60 if {stays!r} else 0)
sys.exit({code!r})
"""


def writer(folder: Path, *answers: str, stays: bool = False, code: int = 0) -> str:
    """A command that gives these answers, one a call, and notes its prompts in the file `log`."""
    script = folder / "writer.py"
    log = str(folder / "log")
    script.write_text(WRITER.format(log=log, answers=answers, stays=stays, code=code), encoding="utf-8")
    return f"{sys.executable} {script}"


def prompts(folder: Path) -> list[str]:
    return [eval(line) for line in (folder / "log").read_text(encoding="utf-8").splitlines()]


def test_a_text_is_printed_and_corrections_are_drawn(tmp_path: Path, cli: Cli) -> None:
    command = writer(tmp_path, "[1; 2]", " 3]")
    found = cli("repair", "--regex", r"\[\d(, \d)+\]", "--command", command, "--prompt", "Numbers: ", "-v")
    assert found == (0, "[1, 3]\n", "[1[-; 2]-]{+, +}3]\n")
    assert prompts(tmp_path) == ["Numbers: [", "Numbers: [1, "]


def test_everything_as_json(tmp_path: Path, cli: Cli) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text('{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}')
    command = writer(tmp_path, '{"n": x}', "}")
    code, out, err = cli("repair", "--schema", schema, "--command", command, "--prompt", "", "--json")
    found = json.loads(out)
    assert (code, err, found["ok"], found["text"], found["value"]) == (0, "", True, '{"n": 0}', {"n": 0})
    assert found["corrections"] == [{"at": 6, "wrong": "x}", "put": "0", "by": "completion"}]
    assert (found["calls"], found["written"], found["ended"]) == (2, 9, "stopped")


def test_types_of_a_file(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "moods.sgl"
    file.write_text("enum Mood: calm, furious\n", encoding="utf-8")
    command = writer(tmp_path, '["furious", ', '"calm"]')
    arguments = ("--command", command, "--prompt", "p", "--json")
    code, out, _ = cli("repair", file, "--type", "[Mood]", *arguments)
    assert (code, json.loads(out)["value"]) == (0, ["furious", "calm"])
    code, _, err = cli("repair", file, "--type", "[Moood]", *arguments)
    assert code == 1 and "did you mean `Mood`?" in err


def test_the_command_is_killed_at_the_first_illegal_byte(tmp_path: Path, cli: Cli) -> None:
    command = writer(tmp_path, "12x", stays=True)
    assert cli("repair", "--type", "int in 1..500", "--command", command, "--prompt", "")[:2] == (0, "12\n")
    pid = int((tmp_path / "log.pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_command_is_killed_when_the_time_is_up(tmp_path: Path, cli: Cli) -> None:
    """A shell writes at once, long before that."""
    command = f"echo $$ > {tmp_path}/pid; printf 1; exec sleep 60"
    bounds = ("--timeout", "1", "--json", "-v", "--shell")
    code, out, err = cli("repair", "--regex", "12*3", "--command", command, "--prompt", "", *bounds)
    found = json.loads(out)
    assert (code, found["ok"], found["partial"]) == (1, False, "1") and "1.0 seconds have passed" in err
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_bounds_and_shortest_endings(tmp_path: Path, cli: Cli) -> None:
    arguments = ("repair", "--regex", "([ab] )*c", "--prompt", "", "--max-corrections", "2")
    command = writer(tmp_path, *["a?"] * 9)
    code, out, err = cli(*arguments, "--command", command)
    assert (code, out) == (1, "") and "error[E0701]: Truncated" in err and "a a " in err
    assert cli(*arguments, "--command", command, "--complete")[:2] == (0, "a a c\n")


def test_a_command_that_fails(tmp_path: Path, cli: Cli) -> None:
    command = writer(tmp_path, "a", code=3)
    code, out, err = cli("repair", "--regex", "ab", "--command", command, "--prompt", "")
    assert (code, out) == (0, "ab\n"), "the text is complete before it ends"
    command = writer(tmp_path, *["1"] * 9, code=3)
    code, out, err = cli("repair", "--regex", "1[0-9]{3}", "--command", command, "--prompt", "")
    assert (code, out) == (1, "") and "ended with exit code 3" in err


def test_a_shell_runs_it_only_if_asked(tmp_path: Path, cli: Cli) -> None:
    arguments = ("repair", "--regex", "a*", "--prompt", "aa", "--command", "cat | tr x a")
    assert cli(*arguments)[0] == 1, "cat is given words that are no files"
    assert cli(*arguments, "--shell")[:2] == (0, "aa\n")


def test_a_draft_model(tmp_path: Path, cli: Cli) -> None:
    script = tmp_path / "script.json"
    script.write_text("[]", encoding="utf-8")
    command = writer(tmp_path, "?", "?")
    found = cli(
        *("repair", "--regex", "[a-e]x", "--command", command, "--prompt", "p", "-v"),
        *("--draft", f"scripted:{script}"),
    )
    assert found == (0, "ex\n", "[-?-]{+e+}x\n")
    assert cli("repair", "--regex", "a", "--command", command, "--prompt", "", "--draft", "/nowhere")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "exactly one of --schema"),
        (["--regex", "a", "--type", "int"], "exactly one of --schema"),
        (["x.sgl", "--regex", "a"], "it goes with --type"),
        (["--regex", "["], "--regex: this [ is never closed"),
        (["--regex", "a", "--command", "no-such-program-anywhere"], "there is no program"),
        (["--regex", "a", "--command", "'"], "--command: No closing quotation"),
        (["--regex", "a", "--max-calls", "0"], "--max-calls"),
    ],
)
def test_wrong_usage(arguments: list[Any], message: str, cli: Cli) -> None:
    code, out, err = cli(
        "repair", *arguments, "--prompt", "", *([] if "--command" in arguments else ["--command", "true"])
    )
    assert (code, out) == (2, "") and message in err


def test_faults_of_files(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "none.json").write_text('{"type": "integer", "enum": ["x"]}')
    end = ("--command", "true", "--prompt", "")
    assert "E0804" in cli("repair", "--schema", tmp_path / "bad.json", *end)[2]
    assert "no JSON value satisfies" in cli("repair", "--schema", tmp_path / "none.json", *end)[2]
    assert "E0801" in cli("repair", "--grammar", tmp_path / "missing.lark", *end)[2]
    assert "E0801" in cli("repair", tmp_path / "missing.sgl", "--type", "int", *end)[2]


def test_drawing() -> None:
    corrections = (Correction(2, "x\x1b", "cd", "draft"), Correction(5, "y" * 61, "", "end"))
    assert drawn("abcde", corrections, color=False) == f"ab[-x\\u001b-]{{+cd+}}e[-{'y' * 60}…-]"
    assert drawn("abcde", corrections[:1], color=True) == (
        f"{KEPT}ab{PLAIN}{WRONG}x\\u001b{PLAIN}{PUT}cd{PLAIN}{KEPT}e{PLAIN}"
    )


def test_the_command_writes_a_trace_that_show_draws(tmp_path: Path, cli: Cli) -> None:
    trace, page = tmp_path / "run.jsonl", tmp_path / "run.html"
    command = writer(tmp_path, "[1; <b>]", " 3]")
    arguments = ("repair", "--regex", r"\[\d(, \d)+\]", "--command", command, "--prompt", "Numbers: ")
    assert cli(*arguments, "--trace", trace)[:2] == (0, "[1, 3]\n")
    assert trace.stat().st_mode & 0o777 == 0o600
    code, out, err = cli("show", trace)
    assert (code, err) == (0, "") and "Numbers: ⟦[1~~; <b>]~~++, ++3]⟧" in out
    assert "answer 1: 1 of " in out and "answer 2: 2 of 3 characters kept" in out
    assert cli("show", trace, "--html", page)[0] == 0
    html = page.read_text(encoding="utf-8")
    assert "&lt;b&gt;" in html and 'class="wrong' in html and '<ins title="put in by forced">, </ins>' in html
    code, _, err = cli(*arguments, "--trace", tmp_path / "no" / "run.jsonl")
    assert code == 1 and "error[E0805]" in err and "cannot be written" in err


def test_the_trace_of_a_command_that_fails_is_whole(tmp_path: Path, cli: Cli) -> None:
    trace = tmp_path / "run.jsonl"
    arguments = ("repair", "--regex", "([ab] )*c", "--prompt", "", "--max-corrections", "2", "--trace", trace)
    assert cli(*arguments, "--command", writer(tmp_path, *["a?"] * 9))[0] == 1
    code, out, _ = cli("show", trace)
    assert code == 0 and "⟦a~~?~~++ ++a~~?~~++ ++…⟧" in out and "✗ Truncated" in out
