"""`sglc view`: traces in, one private page out; what is no trace is told."""

from __future__ import annotations

import subprocess
import sys
import webbrowser
from pathlib import Path

import pytest

from command_line import Cli, cli  # noqa: F401
from serving.page_traces import eventful
from sglc.commands.viewing import view


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "run.jsonl"
    path.write_text(eventful(), encoding="utf-8")
    return path


def test_a_page_with_two_runs(cli: Cli, trace: Path, tmp_path: Path) -> None:  # noqa: F811
    other, out = tmp_path / "other.jsonl", tmp_path / "page.html"
    other.write_text(eventful(mood="cross"), encoding="utf-8")
    code, printed, _ = cli("view", trace, other, "--out", out, "--no-browser")
    text = out.read_text(encoding="utf-8")
    assert code == 0 and printed.strip() == str(out)
    assert 'data-trace="run.jsonl"' in text and 'data-trace="other.jsonl"' in text
    assert out.stat().st_mode & 0o777 == 0o600


def test_a_browser_is_opened(cli: Cli, trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    code, printed, told = cli("view", trace)
    assert code == 0 and not printed and "1 run in " in told
    [address] = opened
    page = Path(address.removeprefix("file://"))
    assert page.parent.stat().st_mode & 0o777 == 0o700 and "data-trace" in page.read_text()
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    code, printed, _ = cli("view", trace)
    assert code == 0 and Path(printed.strip()).exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is empty"),
        ("no trace\n", "not JSON"),
        ('{"v": 9, "event": "start"}\n', "version"),
        ("[1, 2]\n" * 3, "no event"),
    ],
)
def test_what_is_no_trace(cli: Cli, tmp_path: Path, text: str, words: str) -> None:  # noqa: F811
    path, out = tmp_path / "run.jsonl", tmp_path / "page.html"
    path.write_text(text)
    code, _, told = cli("view", path, "--out", out, "--no-browser")
    assert code == 1 and "E0804" in told and words in told and not out.exists()


def test_what_cannot_be_read_or_written(cli: Cli, trace: Path, tmp_path: Path) -> None:  # noqa: F811
    code, _, told = cli("view", tmp_path / "none.jsonl", "--no-browser")
    assert code == 1 and "none.jsonl" in told
    code, _, told = cli("view", trace, "--out", tmp_path / "no" / "page.html", "--no-browser")
    assert code == 1 and "E0805" in told
    assert cli("view")[0] == 2


def test_lines_and_files_have_bounds(
    cli: Cli,  # noqa: F811
    trace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from sglc.viewer import reading

    monkeypatch.setattr(reading, "LONGEST_LINE", 1000)
    monkeypatch.setattr(view, "MOST_BYTES", len(trace.read_bytes()) + 40)
    with trace.open("a") as file:
        file.write('{"v": 1, "event": "text", "text": "' + "x" * 5000 + '"}\n')
        file.write('{"v": 1, "event": "text"}\n' * 9)
    out = tmp_path / "page.html"
    assert cli("view", trace, "--out", out, "--no-browser")[0] == 0
    text = out.read_text()
    assert "#line too long\n" in text and "xxxx" not in text and 'data-trace="run.jsonl" data-cut>' in text


def test_it_needs_no_extra(trace: Path, tmp_path: Path) -> None:
    """Nothing of the server's packages is imported, nor torch."""
    out = tmp_path / "page.html"
    code = (
        "import sys\n"
        "for name in ('starlette', 'uvicorn', 'httptools', 'websockets', 'torch', 'prometheus_client'):\n"
        "    sys.modules[name] = None\n"
        "from sglc.cli import main\n"
        f"sys.argv = ['sglc', 'view', {str(trace)!r}, '--out', {str(out)!r}, '--no-browser']\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert out.exists()
