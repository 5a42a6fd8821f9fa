"""Bad input, each met by a clear message: code, place, reason, and exit code 1; never a traceback."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_line import GOOD, Cli, cli, good, script
from command_line_files import SLOW, hear_interrupts, write

__all__ = ["cli", "good", "script"]


def check(tmp_path: Path, cli: Cli, text: str) -> str:
    """What `sglc check` says about a program that it refuses."""
    code, out, err = cli("check", write(tmp_path / "bad.sgl", text))
    assert code == 1 and out == ""
    assert "Traceback" not in err and "internal error" not in err
    assert "bad.sgl:" in err
    return err


# -- programs ------------------------------------------------------------------------------------------


def test_several_syntax_errors_are_told_in_one_run(tmp_path: Path, cli: Cli) -> None:
    err = check(
        tmp_path,
        cli,
        "fn one() -> int\n    return 1\n\n"
        "pure fn two() -> int:\n    let x = (1 + \n    return 2\n\n"
        "pure fn three() -> int:\n    return 3 +\n",
    )
    assert "bad.sgl:1:15" in err and "bad.sgl:5:13" in err and "bad.sgl:9:14" in err
    assert " errors" in err.splitlines()[-2]


def test_an_unknown_name_is_told_with_the_nearest(tmp_path: Path, cli: Cli) -> None:
    err = check(tmp_path, cli, "pure fn f(theme: str) -> str:\n    return thme\n")
    assert "thme" in err and "did you mean" in err and "theme" in err


def test_a_wrong_type_is_told(tmp_path: Path, cli: Cli) -> None:
    err = check(tmp_path, cli, 'pure fn f() -> int:\n    return "one"\n')
    assert "int" in err and "str" in err


def test_contradictory_constraints_are_told(tmp_path: Path, cli: Cli) -> None:
    err = check(
        tmp_path,
        cli,
        "fn f() -> str:\n    user: | x\n"
        "    assistant: | ?{a: str matching /[a-z]{9}/ max 4 chars}\n    return a\n",
    )
    assert "a" in err and ("no value" in err or "nothing" in err or "empty" in err)


def test_an_unbounded_hole_is_told(tmp_path: Path, cli: Cli) -> None:
    err = check(tmp_path, cli, "fn f() -> str:\n    user: | x\n    assistant: | ?{a: str}\n    return a\n")
    assert "bound" in err and "max" in err


def test_a_stop_that_can_occur_inside_its_value_is_told(tmp_path: Path, cli: Cli) -> None:
    err = check(
        tmp_path,
        cli,
        "fn f() -> str:\n    user: | x\n"
        "    assistant: | ?{a: str matching /[a-z ]{1,20}/} and more\n    return a\n",
    )
    assert " and" in err


def test_a_type_that_has_not_the_form_is_told_by_name(tmp_path: Path, cli: Cli) -> None:
    err = check(
        tmp_path,
        cli,
        "fn f(x: str) -> str:\n    user: | ${x}\n    assistant: | ?{a: [int; 2] as csv}\n    return x\n",
    )
    assert "cannot be written as CSV" in err and "E0377" in err


# -- arguments -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the argument text is missing"),
        (["--arg", "text"], "is not NAME=VALUE"),
        (["--arg", "text=a", "--arg", "text=b"], "given twice"),
        (["--arg", "text=a", "--arg", "tmes=2"], "did you mean times?"),
        (["--arg", "text=a", "--arg", "times=7"], "the value of times is no int in 1..3"),
        (["--arg", "text=a", "--arg", "times=two"], "the value of times is no int in 1..3"),
        (["--arg", "text=a\udcff"], "the value of text is no str"),
        (["--args", "missing.json"], "there is no file missing.json"),
    ],
)
def test_a_bad_argument_is_told(
    arguments: list[str], message: str, good: Path, script: str, cli: Cli
) -> None:
    code, out, err = cli("run", good, "--model", script, *arguments)
    assert (code, out) == (1, "")
    assert message in err


def test_all_bad_arguments_are_told_at_once(good: Path, script: str, cli: Cli) -> None:
    code, _, err = cli("run", good, "--model", script, "--arg", "tmes=2", "--arg", "times=7")
    assert code == 1 and "3 errors" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "holds no JSON object"),
        ("{text: 1}", "is not JSON"),
        ('{"text": NaN}', "NaN is no number"),
        ("{" * 100_000, "is not JSON"),
        ('{"text": 5}', "the value of text is no str"),
    ],
)
def test_a_bad_file_of_arguments_is_told(text: str, message: str, good: Path, script: str, cli: Cli) -> None:
    path = write(good.with_name("arguments.json"), text)
    code, _, err = cli("run", good, "--model", script, "--args", path)
    assert code == 1 and message in err


def test_an_unknown_function_is_told_with_the_nearest(good: Path, script: str, cli: Cli) -> None:
    code, _, err = cli("run", good, "fel", "--model", script)
    assert code == 1 and "did you mean feel?" in err


def test_a_refusal_as_json_is_json(good: Path, script: str, cli: Cli) -> None:
    code, out, err = cli("run", good, "--model", script, "--json")
    assert (code, err) == (1, "")
    assert json.loads(out)["diagnostics"][0]["message"] == "the argument text is missing"


# -- files ---------------------------------------------------------------------------------------------


def test_a_missing_program_is_told_with_its_neighbour(good: Path, cli: Cli) -> None:
    code, _, err = cli("check", good.with_name("god.sgl"))
    assert code == 1 and "there is no file" in err and "good.sgl" in err


def test_a_folder_is_no_program(tmp_path: Path, cli: Cli) -> None:
    code, _, err = cli("build", tmp_path)
    assert code == 1 and "is a folder" in err
    code, _, err = cli("check", tmp_path)
    assert code == 1 and "there is no program in the folder" in err


def test_a_file_that_is_no_text_is_told(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "x.sgl"
    path.write_bytes(b"fn f()\n\xff\xfe\n")
    code, _, err = cli("check", path)
    assert code == 1 and "is not UTF-8 text" in err and "line 2" in err


@pytest.fixture
def built(good: Path, cli: Cli) -> Path:
    assert cli("build", good)[0] == 0
    return good.with_suffix(".sglb")


@pytest.mark.parametrize("command", ["run", "disasm", "check"])
def test_a_damaged_artefact_is_told(command: str, built: Path, cli: Cli) -> None:
    data = bytearray(built.read_bytes())
    data[len(data) // 2] ^= 0x10
    built.write_bytes(data)
    code, out, err = cli(command, built)
    assert (code, out) == (1, "") and "E06" in err and "damaged" in err


def test_a_cut_off_artefact_is_told(built: Path, cli: Cli) -> None:
    whole = built.read_bytes()
    for length in (0, 3, 10, len(whole) // 2, len(whole) - 1):
        built.write_bytes(whole[:length])
        code, _, err = cli("disasm", built)
        assert code == 1 and "E06" in err and "Traceback" not in err


def test_an_artefact_of_another_version_is_told(built: Path, cli: Cli) -> None:
    from sglc.bytecode import serial

    data = bytearray(built.read_bytes())
    place = len(serial.MAGIC)
    data[place] = (data[place] + 1) % 256
    built.write_bytes(data)
    code, _, err = cli("disasm", built)
    assert code == 1 and "E0602" in err and "this sglc reads format" in err


def test_text_with_the_name_of_an_artefact_is_told(tmp_path: Path, cli: Cli) -> None:
    code, _, err = cli("run", write(tmp_path / "x.sglb", GOOD))
    assert code == 1 and "E06" in err


# -- models --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["./no-such-folder", "no-such.gguf", "scripted:no-such.json"])
def test_a_missing_model_is_told(model: str, good: Path, cli: Cli) -> None:
    code, _, err = cli("run", good, "--arg", "text=x", "--model", model)
    assert code == 1 and model.removeprefix("scripted:") in err and "Traceback" not in err


def test_a_model_folder_with_missing_files_is_told(good: Path, tmp_path: Path, cli: Cli) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    write(folder / "config.json", '{"model_type": "llama"}')
    code, _, err = cli("run", good, "--arg", "text=x", "--model", folder)
    assert code == 1 and "tokenizer" in err and "Traceback" not in err


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A folder with a tiny random model whose tokenizer has every byte but the capital letters."""
    from fakes.model_folders import folder_of

    folder = tmp_path / "tiny"
    shutil.copytree(folder_of("llama"), folder)
    definition = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = definition["model"]["vocab"]
    definition["model"]["vocab"] = {
        name: token for name, token in vocabulary.items() if not "A" <= name <= "Z"
    }
    write(folder / "tokenizer.json", json.dumps(definition))
    return folder


@pytest.mark.slow
def test_a_tokenizer_without_the_needed_bytes_is_told(tmp_path: Path, tiny: Path, cli: Cli) -> None:
    path = write(tmp_path / "p.sgl", 'fn f() -> str:\n    | answer: ?{a: "YES" | "NO"}\n    return a\n')
    code, out, err = cli("run", path, "--model", tiny)
    assert (code, out) == (1, "") and "internal error" not in err
    assert "no token of this model can go on in hole `f.a`" in err and "p.sgl:2:" in err
    assert "no token with 'A', 'B'" in err


@pytest.mark.slow
def test_a_context_window_that_is_too_small_is_told(tmp_path: Path, tiny: Path, cli: Cli) -> None:
    path = write(tmp_path / "p.sgl", "fn f(x: str) -> int:\n    | ${x} ?{a: int in 10..99}\n    return a\n")
    code, out, err = cli("run", path, "--model", tiny, "--arg", "x=" + "long " * 200)
    assert (code, out) == (1, "") and "internal error" not in err
    assert "600" in err and "p.sgl:2:" in err


# -- the run itself ------------------------------------------------------------------------------------


def test_an_error_of_the_run_shows_its_place_and_partial(tmp_path: Path, cli: Cli) -> None:
    path = write(
        tmp_path / "p.sgl",
        "fn f() -> int:\n"
        "    user: | x\n"
        "    assistant:\n"
        "        | ?{a: int in 1..9}\n"
        '        ensure a > 5 else "too small"\n'
        "    return a\n",
    )
    model = write(tmp_path / "s.json", '["3"]')
    code, out, err = cli("run", path, "--model", f"scripted:{model}")
    assert (code, out) == (1, "")
    assert "Rejected" in err and "too small" in err and "p.sgl:5:" in err and "^" in err


def test_a_budget_that_runs_out_is_told(good: Path, tmp_path: Path, cli: Cli) -> None:
    path = write(
        tmp_path / "p.sgl",
        "fn f() -> str:\n    user: | x\n    assistant: | ?{a: str min 20 chars max 60 chars}\n    return a\n",
    )
    model = write(tmp_path / "s.json", '["abcdefghijklmnopqrstuvwxyz"]')
    code, _, err = cli("run", path, "--model", f"scripted:{model}", "--max-tokens", "5")
    assert code == 1 and ("Budget" in err or "Truncated" in err)


def test_a_timeout_is_told(tmp_path: Path, cli: Cli) -> None:
    path = write(tmp_path / "slow.sgl", SLOW)
    model = write(tmp_path / "s.json", "[]")
    code, _, err = cli("run", path, "--model", f"scripted:{model}", "--timeout", "0.2")
    assert code == 1 and "Timeout" in err and "internal error" not in err


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
def test_an_interrupt_prints_what_there_is_and_exits_with_130(tmp_path: Path) -> None:
    path = write(tmp_path / "slow.sgl", SLOW)
    model = write(tmp_path / "s.json", "[]")
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "sglc", "run", str(path), "--model", f"scripted:{model}", "--verbose"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_interrupts,
    )
    assert process.stderr is not None
    seen = process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert len(seen) >= 30 and out == ""
    assert "Cancelled" in err and "Traceback" not in err


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
def test_an_interrupt_keeps_finished_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "p.sgl", SLOW.replace("slow()", "slow(n: int)").replace("2000", "300 * n"))
    rows = write(tmp_path / "rows.jsonl", '{"n": 0}\n{"n": 0}\n{"n": 9}\n')
    model = write(tmp_path / "s.json", "[]")
    out = tmp_path / "out.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "sglc", "run", str(path), "--model", f"scripted:{model}"]
        + ["--data", str(rows), "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_interrupts,
    )
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not (out.exists() and out.read_bytes().count(b"\n") >= 2):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "2 of 3 rows finished and kept" in err
    assert [json.loads(line)["row"] for line in out.read_text(encoding="utf-8").splitlines()] == [0, 1]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_keeps_what_is_written_and_is_told(good: Path, script: str, cli: Cli) -> None:
    rows = write(good.with_name("rows.jsonl"), '{"text": "a"}\n{"text": "b"}\n')
    code, _, err = cli("run", good, "--data", rows, "--out", "/dev/full", "--model", script)
    assert code == 1
    assert "/dev/full cannot be written" in err and "No space left on device" in err
    assert "0 of 2 rows finished and kept" in err


@pytest.mark.parametrize("trace", ["/dev/full", "no-such-folder/trace.jsonl"])
def test_a_trace_that_cannot_be_written_is_told(trace: str, good: Path, script: str, cli: Cli) -> None:
    code, out, err = cli("run", good, "--arg", "text=x", "--model", script, "--trace", trace)
    assert (code, out) == (1, "")
    assert f"{trace} cannot be written" in err and "Traceback" not in err


def test_a_bad_row_file_is_told(good: Path, script: str, cli: Cli) -> None:
    rows = write(good.with_name("rows.jsonl"), '{"text": "a"}\nnonsense\n')
    code, _, err = cli("run", good, "--data", rows, "--out", good.with_name("o.jsonl"), "--model", script)
    assert code == 1 and "line 2: no JSON" in err


def test_a_file_that_holds_no_results_is_left_alone(good: Path, script: str, cli: Cli) -> None:
    rows = write(good.with_name("rows.jsonl"), '{"text": "a"}\n')
    for out in (rows, good):
        before = out.read_bytes()
        code, _, err = cli("run", good, "--data", rows, "--out", out, "--model", script)
        assert code == 1 and f"{out} holds no results" in err and "internal error" not in err
        assert out.read_bytes() == before


def test_a_row_that_has_no_utf_8_is_a_failed_row(good: Path, script: str, cli: Cli) -> None:
    rows = write(good.with_name("rows.jsonl"), '{"text": "\\ud800"}\n{"text": "b"}\n')
    out = good.with_name("out.jsonl")
    code, _, err = cli("run", good, "--data", rows, "--out", out, "--model", script)
    assert code == 1 and "2 rows, 1 failed" in err
    assert sorted(json.loads(line)["ok"] for line in out.read_text(encoding="utf-8").splitlines()) == [0, 1]


@pytest.fixture
def started(good: Path, script: str) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the program as a process of its own, with the given stdout."""
    command = [sys.executable, "-P", "-m", "sglc", "run", str(good), "--arg", "text=x", "--model", script]

    def run(*more: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *more], stderr=subprocess.PIPE, text=True, check=False, timeout=60, **options
        )

    return run


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_an_output_that_takes_no_more_is_told(started: Any, form: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = started(*form, stdout=full)
    assert done.returncode == 1
    assert "the output cannot be written" in done.stderr and "No space left" in done.stderr
    assert "internal error" not in done.stderr and "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="pipes as on POSIX")
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_reader_that_has_left_ends_the_command_with_141(started: Any, form: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = started(*form, stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="closed as on POSIX")
def test_a_closed_output_is_no_fault(started: Any) -> None:
    done = started(preexec_fn=lambda: os.close(1))
    assert (done.returncode, done.stderr) == (0, "")
