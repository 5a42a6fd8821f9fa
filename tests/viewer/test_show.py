"""`sglc show`: pictures of recorded runs, and clear words about traces that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkout import DOCS
from command_line import Cli
from sglc.viewer.building import DEEPEST, MOST_DETAILED
from sglc.viewer.reading import LONGEST_LINE, MOST_BYTES, MOST_EVENTS


@pytest.fixture
def trace(good: Path, script: str, cli: Cli) -> Path:
    """The trace of a run, with candidates."""
    path = good.parent / "run.jsonl"
    code, _, _ = cli(
        *("run", good, "--arg", "text=<b>Hi", "--model", script, "--trace", path, "--trace-top", "3")
    )
    assert code == 0
    return path


def test_a_run_is_shown(trace: Path, cli: Cli) -> None:
    code, out, err = cli("show", trace)
    assert (code, err) == (0, "")
    assert "feel of good.sgl" in out and "How does the writer feel? <b>Hi 1" in out and "⟦furious⟧" in out
    assert "\x1b" not in out and "legal tokens" not in out
    code, out, _ = cli("show", trace, "-v")
    assert code == 0 and "legal tokens 2" in out and "~~" in out


def test_colours_are_an_option(trace: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, _ = cli("--color", "always", "show", trace)
    assert code == 0 and "\x1b[" in out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in cli("show", trace)[1]


def test_a_page_is_written(trace: Path, cli: Cli) -> None:
    page = trace.parent / "run.html"
    code, out, err = cli("show", trace, "--html", page)
    assert (code, out, err) == (0, "", "")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>") and "&lt;b&gt;Hi" in text and "<b>Hi" not in text
    assert not list(trace.parent.glob("*.part"))
    assert page.stat().st_mode & 0o777 == 0o600, "it holds what the trace holds"
    page.chmod(0o644)
    assert cli("show", trace, "--html", page)[0] == 0
    assert page.stat().st_mode & 0o777 == 0o644


def test_a_page_that_cannot_be_written_is_told(trace: Path, cli: Cli) -> None:
    code, _, err = cli("show", trace, "--html", trace.parent / "no-such-folder" / "run.html")
    assert code == 1 and "error[E0805]" in err and "cannot be written" in err


def test_files_that_cannot_be_read(trace: Path, cli: Cli) -> None:
    for path, code_, words in (
        (trace.parent / "rum.jsonl", "E0801", "there is no file"),
        (trace.parent, "E0801", "is a folder"),
    ):
        code, out, err = cli("show", path)
        assert (code, out) == (1, "") and code_ in err and words in err


def test_files_that_are_no_trace(tmp_path: Path, cli: Cli) -> None:
    for data, reason in ((b"", "it is empty"), (b"hello\n", "line 1"), (b"\0" * 100, "line 1")):
        path = tmp_path / "x.jsonl"
        path.write_bytes(data)
        code, out, err = cli("show", path)
        assert (code, out) == (1, "") and "error[E0804]" in err and reason in err and "Traceback" not in err


def test_what_is_sound_is_shown_and_damaged_lines_are_told(trace: Path, cli: Cli) -> None:
    lines = trace.read_bytes().splitlines(keepends=True)
    trace.write_bytes(b"".join([*lines[:3], b"{oops\n", b'{"v": 9, "event": "text"}\n', *lines[3:]]))
    code, out, err = cli("show", trace)
    assert code == 1 and "⟦furious⟧" in out
    assert "line 4 was left out: it is not JSON" in out and "line 5 was left out: it is of version 9" in out
    assert "error[E0804]: line 4 of" in err and "error[E0820]: line 5 of" in err


def test_a_run_that_was_cut_short_is_shown_as_far_as_it_goes(trace: Path, cli: Cli) -> None:
    data = trace.read_bytes()
    at = data.index(b'"event": "hole_end"')
    trace.write_bytes(data[: at + 4])
    code, out, err = cli("show", trace)
    assert (code, err) == (0, "")
    assert "not finished" in out and "is unfinished: the run was cut short" in out and "…⟧" in out


def test_a_trace_of_another_version_alone_is_refused(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"v": 2, "event": "start"}\n')
    code, out, err = cli("show", path)
    assert (code, out) == (1, "") and "error[E0820]" in err and "version 1 can be read" in err


def test_the_trace_of_the_page_is_whole_and_its_picture_small(cli: Cli) -> None:
    code, out, err = cli("show", DOCS / "pictures" / "crew.jsonl")
    assert (code, err) == (0, "") and "crew.member" in out and "left out" not in out
    assert (DOCS / "pictures" / "crew.png").stat().st_size < 100_000


def test_the_page_tells_the_limits() -> None:
    page = (DOCS / "show.md").read_text(encoding="utf-8")
    limits = (
        *(
            f"{MOST_EVENTS:,} events",
            f"{MOST_BYTES >> 20} MiB of lines",
            f"{MOST_DETAILED:,} tokens with details",
        ),
        *(f"{DEEPEST} groups", f"{LONGEST_LINE >> 20} MiB a line"),
    )
    assert all(limit in page for limit in limits)
