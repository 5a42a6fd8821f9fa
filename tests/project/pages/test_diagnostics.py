"""The page of diagnostics is what the catalogue says, and no group of codes is without a heading."""

from __future__ import annotations

from checkout import ROOT
from sglc.diagnostics.catalogue.codes import CATALOGUE
from supported.diagnostics import GROUPS, page

PAGE = ROOT / "docs" / "diagnostics.md"


def test_the_page_is_what_the_catalogue_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "`make docs` writes the page"


def test_every_code_has_an_entry_and_examples_whole() -> None:
    text = page()
    assert {code[:3] for code in CATALOGUE} <= set(GROUPS)
    for code, entry in CATALOGUE.items():
        assert f"\n### {code}\n" in text and f"[{code}](#{code.lower()})" in text
        assert entry.explanation.strip() in text
        assert entry.bad.strip("\n") in text and entry.good.strip("\n") in text
