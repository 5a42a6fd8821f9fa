"""docs/ARCHITECTURE.md: every package has a row with its docstring, and every path that pages name exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from checkout import DOCS, ROOT
from source_tree import MAPPED

PAGE = DOCS / "ARCHITECTURE.md"
ROW = re.compile(r"^\| `([\w/]+)/` \| (.*) \|$", re.M)
PATH = re.compile(r"`((?:sglc|runtime|kernels|grammar|stdlib|tests|docs|examples)/[\w./-]*)`")
PAGES = [PAGE, DOCS / "GLOSSARY.md", ROOT / "CONTRIBUTING.md"]


def docstrings() -> dict[str, str]:
    """Folder of each package to the first paragraph of its docstring."""
    faces = [path for folder in ("sglc", *MAPPED) for path in (ROOT / folder).rglob("__init__.py")]
    found = {}
    for face in faces:
        text = ast.get_docstring(ast.parse(face.read_text(encoding="utf-8"))) or ""
        found[str(face.parent.relative_to(ROOT))] = " ".join(text.split("\n\n")[0].split())
    return found


def with_docstrings(page: str, said: dict[str, str]) -> str:
    """The page with the docstring of each package in its row; rows of what is no package stay."""
    return ROW.sub(lambda row: f"| `{row[1]}/` | {said.get(row[1], row[2])} |", page)


def test_every_package_has_a_row_with_its_docstring(request: pytest.FixtureRequest) -> None:
    page = PAGE.read_text(encoding="utf-8")
    said = docstrings()
    if request.config.getoption("--update-golden"):
        page = with_docstrings(page, said)
        PAGE.write_text(page, encoding="utf-8")
    rows = ROW.findall(page)
    assert sorted(folder for folder, _ in rows) == sorted(said)
    assert dict(rows) == said


def test_a_row_takes_over_the_docstring_of_its_package() -> None:
    page = "| `sglc/ir/` | Old. |\n| `sglc/none/` | Stays. |\n"
    assert with_docstrings(page, {"sglc/ir": "New."}) == "| `sglc/ir/` | New. |\n| `sglc/none/` | Stays. |\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_that_the_page_names_exist(page: Path) -> None:
    named = PATH.findall(page.read_text(encoding="utf-8"))
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_a_path_is_found_in_the_text_and_not_in_a_command() -> None:
    text = "`sglc/ir/ops.py`, `tests/`, `pytest tests/project`, `README.md` and `runtime/kv/`"
    assert PATH.findall(text) == ["sglc/ir/ops.py", "tests/", "runtime/kv/"]
