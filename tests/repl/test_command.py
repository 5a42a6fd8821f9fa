"""`sglc repl` with lines from elsewhere: its options, files, exit codes."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import Cli
from command_line import cli as cli
from command_line import good as good
from sglc.commands.editing.tinted import TINTS, TintedText
from sglc.commands.editing.typed_history import history_file, is_secret
from sglc.driver import compile_file
from sglc.repl.completion import complete
from typed.at_prompts import console_of, session_of, typed


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> object:
    def given(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))

    return given


def test_lines_are_answered_on_stdout(cli: Cli, lines: object) -> None:
    lines("1 + 1\nlet x = 3\nx\n")  # type: ignore[operator]
    assert cli("repl") == (0, "2 : int\n3 : int\n", "")


def test_a_refused_line_fails_in_the_end(cli: Cli, lines: object) -> None:
    lines("zz\n1 + 1\n")  # type: ignore[operator]
    code, out, _ = cli("repl")
    assert code == 1 and "E0201" in out and out.endswith("2 : int\n")


@pytest.mark.parametrize("text", [":nothing\n", ":load none.sgl\n", ":load \0\n", ":save \ud800\n"])
def test_a_refused_command_fails_in_the_end(cli: Cli, lines: object, text: str) -> None:
    lines(text)  # type: ignore[operator]
    assert cli("repl")[0] == 1


def test_quit_leaves_the_rest_alone(cli: Cli, lines: object) -> None:
    lines("1\n:quit\n2\n")  # type: ignore[operator]
    code, out, _ = cli("repl")
    assert code == 0 and out.count("\n") == 1


def test_a_file_is_there_from_the_beginning(cli: Cli, lines: object, good: Path, tmp_path: Path) -> None:
    script = tmp_path / "s.json"
    script.write_text('{"feel.mood": "furious"}', encoding="utf-8")
    lines('feel("a")\n')  # type: ignore[operator]
    code, out, _ = cli("repl", good, "--model", f"scripted:{script}", "--seed", "3")
    assert code == 0 and out.endswith('furious\n"furious" : Mood\n')


def test_a_file_with_errors_ends_it(cli: Cli, lines: object, tmp_path: Path) -> None:
    bad = tmp_path / "bad.sgl"
    bad.write_text("fn f() -> int:\n    return zz\n", encoding="utf-8")
    lines("1 + 1\n")  # type: ignore[operator]
    code, out, _ = cli("repl", bad)
    assert code == 1 and f"{bad}:2:12" in out and "2 : int" not in out


def test_a_file_is_looked_for_beside_the_program(cli: Cli, lines: object, tmp_path: Path) -> None:
    (tmp_path / "crew.sgl").write_text("pub fn two() -> int:\n    return 2\n", encoding="utf-8")
    main = tmp_path / "main.sgl"
    main.write_text("use ./crew (two)\n\nfn four() -> int:\n    return two() * 2\n", encoding="utf-8")
    lines("four()\n")  # type: ignore[operator]
    assert cli("repl", main)[:2] == (0, f"{main} is taken in\n4 : int\n")


def test_a_file_without_declarations_is_taken_in(cli: Cli, lines: object, tmp_path: Path) -> None:
    empty = tmp_path / "nothing yet .sgl"
    empty.write_text("# later\n", encoding="utf-8")
    lines("1 + 1\n")  # type: ignore[operator]
    assert cli("repl", empty)[:2] == (0, f"{empty} is taken in\n2 : int\n")


def test_a_closed_stdin_is_an_empty_one(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert cli("repl") == (0, "", "")


def test_bad_options_are_refused(cli: Cli) -> None:
    assert cli("repl", "--seed", "-1")[0] == 2
    assert cli("repl", "--max-tokens", "0")[0] == 2


def test_bytes_that_are_no_text_are_told() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "sglc", "repl"],
        input=b"1 + 1\n\xff\xfe\n",
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1 and b"Traceback" not in done.stderr
    assert b"not UTF-8" in done.stderr or b"E0133" in done.stdout


def test_what_was_typed_is_saved_as_a_program(tmp_path: Path) -> None:
    session = session_of(tmp_path, {"session.it": "calm"})
    path = tmp_path / "saved.sgl"
    text = (
        "enum Mood: calm, furious\nuser: | Hi\nassistant: | I am ?{it: Mood}.\n"
        f"let again = it\n:save {path}\nlet again = again\n:save {path}2\n"
    )
    assert "written to" in typed(session, text)
    found = compile_file(path)
    assert found.program is not None and list(found.program.entry) == ["conversation"]
    assert path.stat().st_mode & 0o077 == 0
    again = (tmp_path / "saved.sgl2").read_text(encoding="utf-8")
    assert "# typed at a prompt:\n# user: | Hi" in again
    fresh = session_of(tmp_path, {})
    assert f"{path} is taken in" in typed(fresh, f":load {path}\n")
    assert fresh.state.names() == ["Mood", "conversation"]


def test_the_newest_run_is_written_as_a_trace(cli: Cli, tmp_path: Path) -> None:
    session = session_of(tmp_path, {"session.it": "4"})
    path = tmp_path / "run.jsonl"
    typed(session, f"user: | Hi\n| ?{{it: int in 0..9}}\n1 + 1\n:trace {path}\n")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert rows[0]["event"] == "start" and rows[-1]["event"] == "finish"
    assert [row["text"] for row in rows if row["event"] == "hole_end"] == ["4"]
    assert cli("show", path)[0] == 0


def test_files_that_cannot_be_written_are_told(tmp_path: Path) -> None:
    session = session_of(tmp_path, {})
    missing = tmp_path / "none" / "x"
    shown = typed(session, f"| ?{{it: int in 0..9}}\n:save {missing}\n:trace {missing}\n")
    assert shown.count("E0805") == 2


def test_text_is_tinted_by_its_probability() -> None:
    out = io.StringIO()
    sink = TintedText(out, color=True)
    sink.write("I am ", False)
    sink.begin()
    for logprob in (-0.01, -0.5, -1.5, -5.0):
        sink.probability(logprob)
        sink.write("x", True)
    sink.finish()
    styles = [style for _, style in TINTS]
    assert out.getvalue() == "\x1b[90mI am " + "".join(f"\x1b[0m{style}x" for style in styles) + "\x1b[0m\n"


def test_text_without_a_hole_is_not_repeated() -> None:
    out = io.StringIO()
    sink = TintedText(out, color=False)
    sink.write("typed", False)
    sink.finish()
    assert out.getvalue() == ""


@pytest.mark.parametrize(
    "text",
    [
        'let key = "sk-abcdefghijklmnop"',
        "password = 'x'",
        'let api_key = "a"',
        "Authorization: Bearer abcdefghijklmnop",
        "https://me:secret@example.org",
        "-----BEGIN PRIVATE KEY-----",
        "AKIAABCDEFGHIJKLMNOP",
    ],
)
def test_secrets_are_known(text: str) -> None:
    assert is_secret(text)


@pytest.mark.parametrize("text", ["let x = 1", "user: | What is a token?", "fn pass_on(key: str): | ${key}"])
def test_what_is_no_secret_is_kept(text: str) -> None:
    assert not is_secret(text)


def test_the_history_is_its_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = history_file()
    assert path is not None and path.stat().st_mode & 0o077 == 0
    path.chmod(0o644)
    assert history_file() == path and path.stat().st_mode & 0o077 == 0
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    assert history_file() is None


def test_completions(tmp_path: Path) -> None:
    session = session_of(tmp_path, {})
    console = console_of(session, io.StringIO())
    console.feed("let answer = 1\n")
    console.feed("enum Answers: one, two")

    def found(text: str) -> list[str]:
        return [each.text for each in complete(session, text, (":type", ":time", ":load"))]

    assert found("ans") == ["answer"] and found("Ans") == ["Answers"]
    assert found(":ty") == [":type"] and found(":type ans") == ["answer"]
    assert found("let x: decim") == ["decimal"] and "user:" in found("us") and found("ens")
    assert found("| ans") == [] and found("| ${ans") == ["answer"] and found("| ${answer} ans") == []
    assert found("answer.a") == [] and found("") == [] and found("zzzz") == []
    (tmp_path / "crew.sgl").write_text("", encoding="utf-8")
    assert found(f":load {tmp_path}/cr") == ["crew.sgl"] and found(":load a\0/b") == []


def test_without_the_extra_lines_are_read_as_they_are(
    cli: Cli, lines: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines("1 + 1\n")  # type: ignore[operator]
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setitem(sys.modules, "prompt_toolkit", None)
    monkeypatch.delitem(sys.modules, "sglc.commands.editing.prompt_face", raising=False)
    code, out, err = cli("repl")
    assert code == 0 and "sgl> 2" in out
    assert "pip install 'sglc[repl]' adds editing, history and completion" in err
