"""The session of a notebook without a kernel: names, models, lines, findings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("IPython", reason="the extra notebook is not installed")

from sglc.notebook.book import Line, Notebook, read_line
from sglc.notebook.functions import NotebookFunction, TracedRun
from sglc.notebook.pictures import CellError, Findings, Picture
from sglc.python.errors import RunError

ENUM = "enum Mood: calm, furious\n"
ASK = "fn mood(t: str) -> Mood:\n    user: | ${t}\n    assistant: | ?{m: Mood}\n    return m"
MOOD = ENUM + ASK


class Shell:
    """What a notebook needs of IPython's."""

    def __init__(self) -> None:
        self.user_ns: dict[str, Any] = {"In": ["", "a cell"]}


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Notebook]:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"mood.m": "furious", "session.it": "calm"}), encoding="utf-8")
    made = Notebook(Shell())
    made.model(f"scripted:{script}")
    made.shown = []  # type: ignore[attr-defined]
    monkeypatch.setattr(made, "_show", made.shown.append)  # type: ignore[attr-defined]
    yield made


def test_functions_and_types_become_names(book: Notebook) -> None:
    book.line_or_cell("", MOOD)
    names = book.shell.user_ns
    mood = names["mood"]
    assert isinstance(mood, NotebookFunction) and mood("a") is names["Mood"].furious
    assert str(mood.signature).startswith("(t: str)") and "mood(t: str)" in repr(mood)


def test_only_the_functions_that_are_named_become_names(book: Notebook) -> None:
    two = "fn one() -> int:\n    return 1\n\nfn two() -> int:\n    return 2"
    book.line_or_cell("two", two)
    assert "two" in book.shell.user_ns and "one" not in book.shell.user_ns
    with pytest.raises(CellError, match="no function three to become a name; functions: one, two"):
        book.line_or_cell("three", "fn two() -> int:\n    return 4\n")
    assert book.shell.user_ns["two"]() == 2, "nothing of the cell was taken in"


def test_a_name_means_the_newest_function(book: Notebook) -> None:
    book.line_or_cell("", "fn one() -> int:\n    return 1\n\nfn next() -> int:\n    return one() + 1")
    following = book.shell.user_ns["next"]
    assert following() == 2
    book.line_or_cell("", "fn one() -> int:\n    return 10")
    assert following() == 11 and book.shell.user_ns["one"]() == 10


def test_a_function_that_is_set_aside_loses_its_name(book: Notebook) -> None:
    book.line_or_cell("", "fn one() -> int:\n    return 1\n\nfn following() -> int:\n    return one() + 1")
    book.line_or_cell("", 'fn one() -> str:\n    return "a"')
    assert "following" not in book.shell.user_ns
    (told,) = book.shown  # type: ignore[attr-defined]
    assert isinstance(told, Findings) and "following is set aside" in repr(told)


def test_run_gives_the_run_and_its_picture(book: Notebook) -> None:
    book.line_or_cell("", MOOD)
    run = book.shell.user_ns["mood"].run("a")
    assert isinstance(run, TracedRun) and run.value is book.shell.user_ns["Mood"].furious
    assert run.holes[0].text == "furious" and run.statistics.holes == 1 and "value" in dir(run)
    assert "sglc-run" in run._repr_html_() and "mood of session" in repr(run)


def test_runs_can_be_heard_beside_their_picture(book: Notebook) -> None:
    book.line_or_cell("", MOOD)
    heard: list[Any] = []
    run = book.shell.user_ns["mood"].run("a", trace_=heard.append)
    assert heard and len(run.picture.events) == len(heard)


def test_a_line_gives_its_value_and_shows_its_run(book: Notebook) -> None:
    book.line_or_cell("", MOOD)
    assert book.line_or_cell("1 + 1") == 2 and book.shown == []  # type: ignore[attr-defined]
    assert book.line_or_cell('mood("a")').name == "furious"
    assert [type(each) for each in book.shown] == [Picture]  # type: ignore[attr-defined]


def test_cells_are_one_conversation(book: Notebook) -> None:
    book.line_or_cell("", "enum Mood: calm, furious\nuser: | Hi")
    assert book.line_or_cell("", "| ?{it: Mood}\nit").name == "calm"
    assert book.session.state.said.messages == (("user", "Hi"), ("assistant", "calm"))


def test_a_faulty_cell_raises_and_changes_nothing(book: Notebook) -> None:
    book.line_or_cell("", "let x = 1")
    with pytest.raises(CellError) as raised:
        book.line_or_cell("", "let y = 2\nlet <b> = zz\n")
    (told,) = book.shown  # type: ignore[attr-defined]
    html = told._repr_html_()
    assert "In[1]:2:" in html and "<b>" not in html and "&lt;b&gt;" in html
    assert raised.value._render_traceback_() == [str(raised.value)]
    assert set(book.session.state.variables) == {"x"}


def test_the_model_and_the_seed_of_a_cell_are_its_own(book: Notebook, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text(json.dumps({"calm.m": "calm"}), encoding="utf-8")
    usual = book.session.models.name
    book.line_or_cell("", MOOD)
    book.line_or_cell(
        f"--model scripted:{tmp_path / 'other.json'} --seed 5", MOOD[25:].replace("mood(", "calm(")
    )
    names = book.shell.user_ns
    assert names["calm"]("a").name == "calm" and names["mood"]("a").name == "furious"
    assert book.model("") == usual and book.session.seed == 0


def test_functions_of_python_beside_the_notebook_may_be_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "doubling_beside.py").write_text("def double(n: int) -> int:\n    return n * 2\n")
    book = Notebook(Shell())
    double = 'extern py "doubling_beside:double" fn double(n: int) -> int effects read'
    book.line_or_cell("", double + "\n\nfn four() -> int:\n    return double(2)")
    assert book.line_or_cell("double(4)") == 8 and book.shell.user_ns["four"]() == 4


def test_an_error_of_a_run_points_at_its_cell(book: Notebook) -> None:
    book.line_or_cell("", MOOD)
    book.line_or_cell("", 'error Stuck(why: str)\n\nfn dig() -> int:\n    raise Stuck("deep")')
    with pytest.raises(RunError) as raised:
        book.shell.user_ns["dig"]()
    assert raised.value.name == "Stuck" and " --> In[1]:4:5" in str(raised.value)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("", Line()),
        ("--model smollm2", Line("smollm2")),
        ("--model=smollm2 --seed=3 f g", Line("smollm2", 3, ("f", "g"))),
        ("--model 'scripted:a b.json'", Line("scripted:a b.json")),
    ],
)
def test_what_stands_behind_the_word_is_read(line: str, meant: Line) -> None:
    assert read_line(line) == meant


@pytest.mark.parametrize("line", ["--seed", "--seed -1", "--seed x", "--other", "a.b", "'", "--model"])
def test_what_cannot_be_read_is_said(line: str) -> None:
    with pytest.raises(CellError, match="%%sgl"):
        read_line(line)
