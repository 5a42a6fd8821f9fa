"""The command line as a person meets it: help, exit codes, plain output, JSON for tools, our own faults."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from checkout import ROOT
from command_line import Cli
from sglc import __version__
from sglc.cli import COMMANDS

# -- help ------------------------------------------------------------------------------------------


def test_help_lists_every_command_and_the_exit_codes(cli: Cli) -> None:
    code, out, _ = cli("--help")
    assert code == 0
    for name, line in COMMANDS.items():
        assert name in out and line in out
    assert "Exit codes: 0 ok, 1" in out


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_teaches_by_example(name: str, cli: Cli) -> None:
    code, out, _ = cli(name, "--help")
    assert code == 0
    assert f"  sglc {name}" in out.split("Example", 1)[1]


def test_the_version_is_printed(cli: Cli) -> None:
    assert cli("--version") == (0, f"sglc, version {__version__}\n", "")


# -- wrong usage is 2 --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chekc", "x.sgl"], "did you mean `check`?"),
        (["program.sgl"], "did you mean `sglc run program.sgl`?"),
        (["check"], "Missing argument"),
        (["build", "x.sgl", "--emit", "soup"], "soup"),
        (["run", "x.sgl", "--data", "rows.jsonl"], "--data and --out go together"),
        (["run", "x.sgl", "--seed", "-1"], "--seed"),
        (["run", "x.sgl", "--timeout", "0"], "--timeout"),
        (["run", "x.sgl", "--retry-errors"], "belongs to --data"),
        (["build", "x.sglb"], "compiled already"),
        (["check", "--nonsense", "x.sgl"], "nonsense"),
    ],
)
def test_wrong_usage_is_told_and_exits_with_2(arguments: list[str], message: str, cli: Cli) -> None:
    code, out, err = cli(*arguments)
    assert code == 2 and out == ""
    assert message in err


# -- check, build, disasm, explain -------------------------------------------------------------------


def test_check_says_that_all_is_well(good: Path, cli: Cli) -> None:
    assert cli("check", good) == (0, "1 file: all is well\n", "")


def test_check_as_json_is_one_object(good: Path, cli: Cli) -> None:
    code, out, err = cli("check", "--json", good)
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "ok": True,
        "files": [str(good)],
        "errors": 0,
        "warnings": 0,
        "diagnostics": [],
    }


def test_check_as_json_has_code_and_place(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "bad.sgl"
    path.write_text("pub pure fn f() -> int:\n    return missing\n", encoding="utf-8")
    code, out, _ = cli("check", "--json", path)
    result = json.loads(out)
    assert code == 1 and result["errors"] == 1 and not result["ok"]
    assert result["diagnostics"][0]["code"].startswith("E02")
    assert "missing" in result["diagnostics"][0]["message"]


def test_warnings_fail_only_when_strict(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "unused.sgl"
    path.write_text("pub pure fn f() -> int:\n    let spare = 1\n    return 2\n", encoding="utf-8")
    code, _, err = cli("check", path)
    assert code == 0 and "1 warning" in err
    assert cli("check", "--strict", path)[0] == 1


def test_build_writes_beside_the_source_and_twice_the_same(good: Path, cli: Cli) -> None:
    code, out, _ = cli("build", good)
    target = good.with_suffix(".sglb")
    assert code == 0 and out.startswith(f"{target}: ") and "functions: feel" in out
    first = target.read_bytes()
    assert cli("build", good, "--json")[0] == 0
    assert target.read_bytes() == first
    assert [path.name for path in sorted(good.parent.iterdir())] == ["good.sgl", "good.sglb"]


@pytest.mark.parametrize("stage", ["tokens", "ast", "types", "ir", "bytecode"])
def test_every_stage_can_be_printed(stage: str, good: Path, cli: Cli) -> None:
    code, out, err = cli("build", good, "--emit", stage)
    assert (code, err) == (0, "")
    assert "feel" in out


def test_build_into_a_missing_folder_is_told(good: Path, cli: Cli) -> None:
    code, _, err = cli("build", good, "-o", good.parent / "no" / "x.sglb")
    assert code == 1
    assert "cannot be written" in err and "No such file or directory" in err


def test_disasm_reads_both_kinds_of_file(good: Path, cli: Cli) -> None:
    cli("build", good)
    from_source = cli("disasm", good)
    from_file = cli("disasm", good.with_suffix(".sglb"))
    assert from_source[0] == from_file[0] == 0
    assert "GEN" in from_source[1] and "feel" in from_file[1]


def test_explain_lists_and_explains(cli: Cli) -> None:
    code, out, _ = cli("explain")
    assert code == 0
    first = out.splitlines()[0].split()[0]
    code, out, _ = cli("explain", first.lower())
    assert code == 0 and out.startswith(f"{first}: ")
    assert json.loads(cli("explain", first, "--json")[1])["code"] == first
    assert len(json.loads(cli("explain", "--json")[1])) == len(cli("explain")[1].splitlines())


def test_explain_of_an_unknown_code_fails(cli: Cli) -> None:
    code, _, err = cli("explain", "E9999")
    assert code == 1 and "there is no code E9999" in err


# -- run ---------------------------------------------------------------------------------------------


def test_a_piped_run_prints_the_value_alone(good: Path, script: str, cli: Cli) -> None:
    assert cli("run", good, "--arg", "text=Where is it?!", "--model", script) == (0, '"furious"\n', "")


def test_verbose_shows_the_text_on_stderr(good: Path, script: str, cli: Cli) -> None:
    code, out, err = cli("run", good, "feel", "--arg", "text=x", "--model", script, "--verbose")
    assert (code, out) == (0, '"furious"\n')
    assert err.startswith("furious\n")


def test_a_run_as_json_has_value_text_and_statistics(good: Path, script: str, cli: Cli) -> None:
    code, out, _ = cli("run", good, "--arg", "text=x", "--model", script, "--json")
    result = json.loads(out)
    assert code == 0 and result["ok"]
    assert (result["value"], result["text"]) == ("furious", "furious")
    assert result["statistics"]["forwards"] >= 1


def test_a_compiled_file_runs_like_its_source(good: Path, script: str, cli: Cli) -> None:
    cli("build", good)
    target = good.with_suffix(".sglb")
    assert cli("run", target, "--arg", "text=x", "--model", script) == (0, '"furious"\n', "")


def test_arguments_come_from_a_file_and_single_ones_win(good: Path, script: str, cli: Cli) -> None:
    arguments = good.with_suffix(".json")
    arguments.write_text('{"text": "x", "times": 9}', encoding="utf-8")
    assert cli("run", good, "--args", arguments, "--model", script)[0] == 1
    assert cli("run", good, "--args", arguments, "--arg", "times=3", "--model", script)[0] == 0


def test_a_pure_function_needs_no_model(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "p.sgl"
    path.write_text("pub pure fn twice(x: int) -> int:\n    return 2 * x\n", encoding="utf-8")
    assert cli("run", path, "--arg", "x=21", "--model", "no-such-model") == (0, "42\n", "")


def test_decimals_are_printed_exactly(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "price.sgl"
    path.write_text(
        "fn double(price: decimal) -> decimal:\n"
        "    user: | ${price}\n"
        "    assistant: | ?{ok: bool}\n"
        "    return price * 2 if ok else price\n",
        encoding="utf-8",
    )
    script = tmp_path / "script.json"
    script.write_text('["true"]', encoding="utf-8")
    code, out, err = cli("run", path, "--arg", "price=0.1000000001", "--model", f"scripted:{script}")
    assert (code, out) == (0, "0.2000000002\n"), err


def test_a_trace_has_versioned_events(good: Path, script: str, cli: Cli) -> None:
    trace = good.parent / "trace.jsonl"
    code, _, err = cli("run", good, "--arg", "text=x", "--model", script, "--trace", trace)
    assert code == 0, err
    events = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    assert {event["v"] for event in events} == {1}
    kinds = [event["event"] for event in events]
    assert "hole_start" in kinds and kinds[-1] == "finish"


# -- rows --------------------------------------------------------------------------------------------


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    lines = [{"text": "a"}, {"text": "b", "times": 7}, {"text": "c"}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def results(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_rows_are_run_and_a_bad_one_is_recorded(good: Path, script: str, rows: Path, cli: Cli) -> None:
    out = rows.with_name("results.jsonl")
    code, stdout, err = cli("run", good, "--data", rows, "--out", out, "--model", script)
    assert (code, stdout) == (1, "")
    assert "3 rows, 1 failed" in err
    found = results(out)
    assert [(entry["row"], entry["ok"]) for entry in found] == [(0, True), (1, False), (2, True)]
    assert found[0]["value"] == "furious"
    assert "times" in str(found[1]["error"])


def test_finished_rows_are_not_run_again(good: Path, script: str, rows: Path, cli: Cli) -> None:
    out = rows.with_name("results.jsonl")
    cli("run", good, "--data", rows, "--out", out, "--model", script)
    before = out.read_bytes()
    code, _, err = cli("run", good, "--data", rows, "--out", out, "--model", script)
    assert code == 1 and "3 rows of 3 already" in err
    assert out.read_bytes() == before
    rows.write_text(rows.read_text(encoding="utf-8").replace('"times": 7', '"times": 2'), encoding="utf-8")
    code, _, err = cli("run", good, "--data", rows, "--out", out, "--model", script, "--retry-errors")
    assert code == 0 and "2 rows of 3 already" in err
    assert sorted(int(str(entry["row"])) for entry in results(out)) == [0, 1, 2]


def test_the_failure_of_a_row_that_was_changed_counts_no_more(
    good: Path, script: str, rows: Path, cli: Cli
) -> None:
    out = rows.with_name("results.jsonl")
    cli("run", good, "--data", rows, "--out", out, "--model", script)
    rows.write_text(rows.read_text(encoding="utf-8").replace('"times": 7', '"times": 2'), encoding="utf-8")
    code, _, err = cli("run", good, "--data", rows, "--out", out, "--model", script)
    assert code == 0 and "3 rows, 0 failed" in err
    assert len(results(out)) == 4


# -- models ------------------------------------------------------------------------------------------


def test_models_lists_the_default_model(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SGLC_CACHE_DIR", str(tmp_path))
    code, out, err = cli("models", "--json")
    assert (code, err) == (0, "")
    first = json.loads(out)[0]
    assert first["name"] == "smollm2" and first["state"]
    assert cli("models")[1].startswith(f"smollm2: {first['state']}")


def test_fetching_an_unknown_model_is_told(cli: Cli) -> None:
    code, out, err = cli("models", "fetch", "no-such-model")
    assert (code, out) == (1, "") and "no-such-model" in err and "E0807" in err


# -- colour, speed, faults of our own ------------------------------------------------------------------


def test_colour_only_when_asked_for_or_on_a_terminal(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "bad.sgl"
    path.write_text("pub pure fn f() -> int:\n    return missing\n", encoding="utf-8")
    assert "\x1b[" not in cli("check", path)[2]
    assert "\x1b[" in cli("--color", "always", "check", path)[2]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["check", "build", "disasm", "test"])
def test_compiling_and_testing_never_load_torch(command: str, good: Path) -> None:
    code = (
        "import sys\n"
        "from sglc.cli import main\n"
        f"code = main([{command!r}, {str(good)!r}])\n"
        "heavy = {'torch', 'transformers', 'tokenizers', 'rich', 'jinja2'} & set(sys.modules)\n"
        "sys.exit(code or (f'loaded {heavy}' if heavy else 0))\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_importing_sglc_is_light() -> None:
    code = (
        "import sys, sglc\n"
        "heavy = {'torch', 'transformers', 'numpy', 'lark', 'llvmlite', 'click'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_module_runs_as_a_program_in_the_checkout(good: Path) -> None:
    root = ROOT
    done = subprocess.run(
        [sys.executable, "-m", "sglc", "check", str(good)], cwd=root, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "1 file: all is well\n"), done.stderr


def test_a_fault_of_ours_is_owned(good: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    import sglc.check.program

    def broken(*arguments: object) -> object:
        raise KeyError("slot")

    monkeypatch.setattr(sglc.check.program.Workspace, "check", broken)
    code, out, err = cli("check", good)
    assert (code, out) == (70, "")
    assert f"internal error while checking {good}: KeyError: 'slot'" in err
    assert "Please report it" in err and "Traceback" not in err
    code, _, err = cli("--traceback", "check", good)
    assert code == 70 and "Traceback" in err and "in broken" in err


def test_a_reader_that_leaves_is_no_fault(good: Path) -> None:
    done = subprocess.run(
        f"{sys.executable} -P -m sglc explain | head -n 1", shell=True, capture_output=True, text=True
    )
    assert done.stderr == "" and len(done.stdout.splitlines()) == 1
