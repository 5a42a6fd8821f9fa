"""The files of the page: their size, what they never do, and the one file that is made of them."""

from __future__ import annotations

import base64
import hashlib
import re
import tomllib

import pytest

from checkout import ROOT
from hostile.traces import HOSTILE
from sglc.runtime.serve.ui.assets import MEDIA_TYPES, Trace, assets, script, whole_page

MODULES = sorted(name for name in assets() if name.endswith(".js"))
FOLDER = ROOT / "runtime" / "serve" / "ui" / "static"
SVG_NAMES = "http://www.w3.org/2000/svg"


def test_the_page_is_small() -> None:
    assert sum(len(data) for data in assets().values()) <= 150_000


def test_every_file_is_package_data_and_served() -> None:
    lying = {path.name for path in FOLDER.iterdir()}
    assert lying == set(assets()) and {"." + name.rpartition(".")[2] for name in lying} <= set(MEDIA_TYPES)
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert known["package-data"]["sglc.runtime.serve.ui"] == ["static/*"]
    assert "sglc.runtime.serve.ui" in known["packages"]


@pytest.mark.parametrize("name", sorted(assets()))
def test_nothing_is_asked_of_others_and_no_text_becomes_code(name: str) -> None:
    text = assets()[name].decode()
    assert not re.search(r"\bhttps?:", text.replace(SVG_NAMES, ""))
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function\b", text
    )
    assert not re.search(r"setTimeout\(['\"`]|\bon[a-z]+=|javascript:|import\(|@import|\burl\(", text)
    assert not re.search(r"localStorage|document\.cookie|XMLHttpRequest|WebSocket|sendBeacon", text)


def test_modules_import_modules_that_there_are() -> None:
    for name in MODULES:
        text = assets()[name].decode()
        for names, source in re.findall(r'^import (\{[^}]*\}) from "\./([^"]*)";$', text, re.MULTILINE):
            given = set(
                re.findall(r"^export (?:async )?(?:function\*?|class|const|let) (\w+)", _text(source), re.M)
            )
            wanted = {each.strip() for each in names.strip("{}").split(",") if each.strip()}
            assert wanted <= given, (name, source, wanted - given)
        assert len(re.findall(r"\bimport\b.*\bfrom\b", text)) == len(re.findall(r"^import ", text, re.M))


def test_names_at_the_top_of_modules_are_unique() -> None:
    found: dict[str, str] = {}
    for name in MODULES:
        pattern = r"^(?:export )?(?:async )?(?:function\*?|class|const|let) (\w+)"
        for top in re.findall(pattern, _text(name), re.MULTILINE):
            assert top not in found, f"`{top}` is at the top of {name} and of {found[top]}"
            found[top] = name
    whole = script()
    assert "import " not in re.sub(r"//.*|/\*.*?\*/", "", whole) and "\nexport " not in whole
    assert all(_text(name).splitlines()[0] in whole for name in MODULES)


def _text(name: str) -> str:
    return assets()[name].decode()


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_the_policy_allows_the_script_and_the_style_of_the_page_alone() -> None:
    page = whole_page([Trace("run.jsonl", '{"v": 1, "event": "start"}\n')])
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    rules = dict(each.split(" ", 1) for each in policy.replace("&#x27;", "'").split("; "))
    [code] = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    [style] = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert rules["default-src"] == "'none'" and "connect-src" not in rules
    assert rules["script-src"] == f"'{_digest(code)}'" and rules["style-src"] == f"'{_digest(style)}'"
    assert rules["trusted-types"] == "'none'" and rules["require-trusted-types-for"] == "'script'"
    assert page.count("<script") == 2 and "src=" not in page and 'data-mode="file"' in page


def test_traces_cannot_leave_their_place() -> None:
    text = "".join(f"{each}\n" for each in HOSTILE) + "<!--<script>"
    page = whole_page([Trace('"><script>alert(1)</script>', text)])
    [(name, block)] = re.findall(r'<script type="text/plain" data-trace="([^"]*)">(.*?)</script>', page, re.S)
    assert "<" not in name and "<" not in block
    assert page.count("<script") == 2
