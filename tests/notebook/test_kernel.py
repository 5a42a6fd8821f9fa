"""Notebooks as a kernel of Python runs them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checkout import ROOT
from judges.viewer_pieces import sound

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")
pytest.importorskip("IPython", reason="the extra notebook is not installed")
pytestmark = pytest.mark.slow


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Runs a notebook; gives it with its outputs."""
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.setenv("PYTHONSAFEPATH", "1")

    def runs(notebook: Any, *, allow_errors: bool = False) -> Any:
        client = nbclient.NotebookClient(
            notebook,
            timeout=300,
            kernel_name="python3",
            allow_errors=allow_errors,
            resources={"metadata": {"path": str(tmp_path)}},
        )
        client.execute()
        return notebook

    yield runs


def book(*cells: str) -> Any:
    """A notebook of cells of code."""
    made = nbformat.v4.new_notebook()
    made.cells = [nbformat.v4.new_code_cell(each) for each in cells]
    return made


def outputs(cell: Any, kind: str) -> list[str]:
    """The outputs of a cell in one form."""
    return [each["data"][kind] for each in cell.outputs if kind in each.get("data", {})]


def test_cells_share_a_session_and_show_their_runs(run: Any, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"mood.m": "furious", "session.it": "calm"}), encoding="utf-8")
    made = run(
        book(
            f"%load_ext sglc.notebook\n%sgl_model scripted:{script}",
            "%%sgl\nenum Mood: calm, furious\nfn mood(t: str) -> Mood:\n    user: | Of ${t}?\n"
            "    assistant: | ?{m: Mood}\n    return m",
            "mood('</div><script>alert(1)</script>') is Mood.furious",
            "mood.run('</div><script>alert(1)</script>')",
            'value = %sgl mood("a")\nvalue',
            "%%sgl --seed 3\nuser: | Hi\n| ?{it: Mood}",
            "%sgl it",
            "%%sgl\nlet x: str = 1 +\n    it",
            "%sgl it",
        ),
        allow_errors=True,
    )
    declared, called, shown, line, said, asked, wrong, after = made.cells[1:]
    assert declared.outputs == []
    assert outputs(called, "text/plain") == ["True"]
    (picture,) = outputs(shown, "text/html")
    piece = sound(picture)
    assert "</div><script>alert(1)</script>" in piece.plain and "furious" in piece.plain
    assert "mood of session" in outputs(shown, "text/plain")[0]
    assert outputs(line, "text/plain")[-1] == "<Mood.furious: 'furious'>"
    sound(outputs(line, "text/html")[0])
    assert "calm" in sound(outputs(said, "text/html")[0]).plain
    assert outputs(asked, "text/plain") == ["<Mood.calm: 'calm'>"]
    (findings,) = outputs(wrong, "text/html")
    assert f"In[{wrong.execution_count}]:1:1" in findings and "E0113" in findings
    assert wrong.outputs[-1]["ename"] == "CellError"
    assert outputs(after, "text/plain") == ["<Mood.calm: 'calm'>"]


@pytest.mark.model
def test_the_example_runs(run: Any) -> None:
    kept = nbformat.read(ROOT / "examples" / "notebook.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in kept.cells), "outputs are not kept in the repository"
    made = run(kept)
    cells = [cell for cell in made.cells if cell.cell_type == "code"]
    pictures = [each for cell in cells for each in outputs(cell, "text/html")]
    assert len(pictures) == 3
    for each in pictures:
        assert "probability" in (text := sound(each).text) or "'gold'" in text
    values = [outputs(cell, "text/plain")[-1] for cell in cells if outputs(cell, "text/plain")]
    assert any(value.startswith("(True, ") for value in values)
    assert values[-1] in ("'blue'", "'grey'", "'gold'")
