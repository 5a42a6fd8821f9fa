"""`sglc fmt`."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

UNTIDY = "fn f( n:int )->int :\n  return n+1\n"
TIDY = "fn f(n: int) -> int:\n    return n + 1\n"
FAULTY = "fn f(:\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "untidy.sgl").write_text(UNTIDY)
    (tmp_path / "tidy.sgl").write_text(TIDY)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "untidy.sgl").write_text(UNTIDY)
    (tmp_path / "notes.txt").write_text(UNTIDY)
    return tmp_path


def test_programs_are_written_and_named(cli, folder):
    file = folder / "untidy.sgl"
    file.chmod(0o640)
    code, out, err = cli("fmt", folder)
    assert (code, out) == (0, f"{file}: formatted\n")
    assert err == "1 file formatted, 1 file unchanged\n"
    assert file.read_text() == TIDY and file.stat().st_mode & 0o777 == 0o640
    assert (folder / ".hidden" / "untidy.sgl").read_text() == UNTIDY
    assert sorted(os.listdir(folder)) == [".hidden", "notes.txt", "tidy.sgl", "untidy.sgl"]
    assert cli("fmt", folder) == (0, "", "2 files unchanged\n")


def test_a_link_stays_a_link(cli, folder):
    link = folder / "link.sgl"
    link.symlink_to(folder / "untidy.sgl")
    assert cli("fmt", link)[0] == 0
    assert link.is_symlink() and (folder / "untidy.sgl").read_text() == TIDY


def test_check_names_and_fails_and_writes_nothing(cli, folder):
    code, out, err = cli("fmt", "--check", folder)
    assert (code, out) == (1, f"{folder / 'untidy.sgl'}: would change\n")
    assert err == "1 file would change, 1 file unchanged\n"
    assert (folder / "untidy.sgl").read_text() == UNTIDY
    assert cli("fmt", "--check", folder / "tidy.sgl")[0] == 0


def test_diff_prints_what_would_change(cli, folder):
    code, out, _ = cli("fmt", "--diff", folder)
    assert code == 1
    assert out.splitlines()[3:] == [
        "-fn f( n:int )->int :",
        "-  return n+1",
        "+fn f(n: int) -> int:",
        "+    return n + 1",
    ]
    assert (folder / "untidy.sgl").read_text() == UNTIDY


def test_a_file_with_errors_is_left_alone_and_the_others_are_formatted(cli, folder):
    (folder / "faulty.sgl").write_text(FAULTY)
    code, out, err = cli("fmt", folder)
    assert code == 1 and out == f"{folder / 'untidy.sgl'}: formatted\n"
    assert "error[E0106]" in err
    assert err.endswith("1 file formatted, 1 file unchanged, 1 file with errors left alone\n")
    assert (folder / "faulty.sgl").read_text() == FAULTY


def test_warnings_of_syntax_are_not_errors(cli, tmp_path):
    file = tmp_path / "p.sgl"
    file.write_text("fn f():\n    user: | x \n")
    assert cli("fmt", file) == (0, "", "1 file unchanged\n")


def test_line_ends_and_a_byte_order_mark_are_put_in_order(cli, tmp_path):
    file = tmp_path / "p.sgl"
    file.write_bytes(b"\xef\xbb\xbf" + TIDY.replace("\n", "\r\n").encode())
    code, out, _ = cli("fmt", "--diff", file)
    assert code == 1 and "-\ufefffn f" in out
    assert cli("fmt", file)[0] == 0
    assert file.read_bytes() == TIDY.encode()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "FILE"),
        (["-", "a.sgl"], "no files go with it"),
        (["a.sgl", "--stdin-name", "x"], "goes with -"),
        (["a.sglb"], "compiled already"),
    ],
)
def test_wrong_usage(cli, arguments, said):
    code, _, err = cli("fmt", *arguments)
    assert code == 2 and said in err


def test_files_that_cannot_be_read_are_told(cli, tmp_path):
    (tmp_path / "binary.sgl").write_bytes(b"\xff\xfe\0")
    (tmp_path / "empty").mkdir()
    for path, said in (("missing.sgl", "E0801"), ("binary.sgl", "E0802"), ("empty", "E0801")):
        code, out, err = cli("fmt", tmp_path / path)
        assert (code, out) == (1, "") and said in err


def from_stdin(cli, monkeypatch, text: bytes, *arguments: str) -> tuple[int, str, str]:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    return cli("fmt", "-", *arguments)


def test_stdin_goes_to_stdout(cli, monkeypatch):
    assert from_stdin(cli, monkeypatch, UNTIDY.encode()) == (0, TIDY, "")
    assert from_stdin(cli, monkeypatch, TIDY.encode(), "--check") == (0, "", "")
    code, out, _ = from_stdin(cli, monkeypatch, UNTIDY.encode(), "--check", "--stdin-name", "p.sgl")
    assert (code, out) == (1, "p.sgl: would change\n")
    code, out, _ = from_stdin(cli, monkeypatch, UNTIDY.encode(), "--diff", "--stdin-name", "p.sgl")
    assert code == 1 and out.startswith("--- a/p.sgl\n+++ b/p.sgl\n")
    code, out, err = from_stdin(cli, monkeypatch, FAULTY.encode(), "--stdin-name", "p.sgl")
    assert (code, out) == (1, "") and "p.sgl:1:5" in err
    code, out, err = from_stdin(cli, monkeypatch, b"#" * (4 * 1024 * 1024 + 1))
    assert (code, out) == (1, "") and "E0802" in err


def test_nothing_of_the_checker_and_of_torch_is_imported(folder):
    code = (
        "import sys; from sglc.cli import main; main(sys.argv[1:])\n"
        "print([n for n in sys.modules if n.startswith(('sglc.check', 'sglc.types', 'torch'))])"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, "fmt", str(folder)], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_fault_of_the_formatter_writes_nothing(cli, folder, monkeypatch):
    monkeypatch.setattr("sglc.format.formatter.joined", lambda rows: "const A = 1\n")
    code, _, err = cli("fmt", folder / "untidy.sgl")
    assert code == 70 and "Unfaithful" in err
    assert (folder / "untidy.sgl").read_text() == UNTIDY
