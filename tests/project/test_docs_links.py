"""What pages, docstrings and comments point at exists: files, headings, and pages of docs/decisions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = next(folder for folder in Path(__file__).resolve().parents if (folder / "pyproject.toml").is_file())
SECTIONS = ["Status", "Context", "Decision", "Consequences"]
FENCE = re.compile(r"^```.*?^```", re.M | re.S)
CODE = re.compile(r"`[^`\n]+`")
LINK = re.compile(r"\]\(([^()\s]+)\)")
NAMED = re.compile(r"(?<![\w./-])docs/[\w./-]*\w")
HEADING = re.compile(r"^#{1,6} (.+)$", re.M)
INDEX_ROW = re.compile(r"^\| (\d+) \| \[(.+)\]\((.+\.md)\) \| (.+) \|$", re.M)
MERGED_ROW = re.compile(r"^\| (\d+) \| .+ \| \[(\d+)\]\((.+\.md)\) \|$", re.M)


def files(*endings: str) -> list[Path]:
    """Files of the project with these endings; not those of environments, packages, builds and caches."""
    own = [
        path
        for path in ROOT.iterdir()
        if not path.name.startswith(".") and path.name not in ("build", "dist")
    ]
    inside = [path for folder in own if folder.is_dir() for path in folder.rglob("*")]
    found = [path for path in (*own, *inside) if path.name.endswith(endings) and path.is_file()]
    return [path for path in found if "node_modules" not in path.parts]


def prose(page: Path) -> str:
    """The text of a page without its fenced blocks."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found: set[str] = set()
    for heading in HEADING.findall(prose(page)):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        count = 0
        while name in found:
            count += 1
            name = f"{anchor}-{count}"
        found.add(name)
    return found


def broken_links(page: Path) -> Iterator[str]:
    """Relative links of a page that lead to no file, or to no heading of it."""
    for target in LINK.findall(CODE.sub("", prose(page))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            yield target


def decisions() -> dict[int, Path]:
    """The pages of docs/decisions by their number."""
    pages = sorted((ROOT / "docs" / "decisions").glob("[0-9][0-9][0-9]-*.md"))
    found = {int(page.name[:3]): page for page in pages}
    assert len(found) == len(pages), "two pages have the same number"
    return found


@pytest.mark.slow
def test_relative_links_lead_to_files_and_headings() -> None:
    pages = files(".md")
    broken = [f"{page.relative_to(ROOT)}: {link}" for page in pages for link in broken_links(page)]
    assert pages
    assert broken == []


def test_a_link_to_no_file_or_heading_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One `two`, three\n[a](page.md#one-two-three) [b](#one) [c](no.md) [d](https://x.y/z)\n"
        "```\n[e](none.md)\n```\n",
        encoding="utf-8",
    )
    assert list(broken_links(page)) == ["#one", "no.md"]


@pytest.mark.slow
def test_paths_in_docs_that_are_named_exist() -> None:
    """`docs/...` in pages, docstrings, comments and settings, links or not."""
    missing = [
        f"{file.relative_to(ROOT)}: {name}"
        for file in files(".md", ".py", ".toml", ".sgl", ".lark", ".yml")
        if file != Path(__file__).resolve()
        for name in NAMED.findall(file.read_text(encoding="utf-8"))
        if not (ROOT / name).exists()
    ]
    assert missing == []


@pytest.mark.parametrize("page", decisions().values(), ids=lambda page: page.stem)
def test_a_decision_has_its_sections_in_order(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.match(rf"# {int(page.name[:3])}\. \S", text)
    headings = re.findall(r"^## (.+)$", text, re.M)
    assert [heading for heading in headings if heading in SECTIONS] == SECTIONS


def test_the_index_has_every_decision_with_its_title() -> None:
    index = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    listed = [(int(number), title, name) for number, title, name, _ in INDEX_ROW.findall(index)]
    pages = [
        (number, page.read_text(encoding="utf-8").split("\n", 1)[0].partition(". ")[2], page.name)
        for number, page in decisions().items()
    ]
    assert listed == pages


BEING_WRITTEN = {68}
"""Numbers of decisions whose pages are still to come."""


def test_every_number_without_a_page_says_which_page_took_it_over() -> None:
    index = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    merged = {int(number): (int(into), name) for number, into, name in MERGED_ROW.findall(index)}
    pages = decisions()
    numbers = sorted((*pages, *merged))
    assert len(numbers) == len(set(numbers))
    assert set(range(1, max(pages) + 1)) - set(numbers) <= BEING_WRITTEN
    assert all(pages[into].name == name for into, name in merged.values())
