"""The extension for VS Code: its manifest, its snippets, its pure parts, and what it is packed to."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from checkout import ROOT
from sglc.diagnostics.diagnostic import has_errors
from sglc.driver import compile_source
from sglc.source import Source
from sglc.testing import run_tests

FOLDER = ROOT / "grammar" / "editors" / "vscode"
VIEW = ROOT / "runtime" / "serve" / "ui" / "static"
MANIFEST: dict[str, Any] = json.loads((FOLDER / "package.json").read_text())
GIVES: dict[str, Any] = MANIFEST["contributes"]
SNIPPETS: dict[str, Any] = json.loads((FOLDER / "snippets" / "sgl.json").read_text())
PLACE = re.compile(r"(?<!\\)\$\{\d+:((?:[^{}\\]|\\.)*)\}|(?<!\\)\$\{\d+\|([^,|]*)[^}]*\|\}")
LARGEST = 1_000_000
"""Bytes of the packed extension."""
LARGEST_PICTURE = 150_000


def default_text(snippet: dict[str, Any]) -> str:
    """What a snippet writes where its places are left as they are (syntax of TextMate's snippets)."""
    text = "\n".join(snippet["body"])
    text = PLACE.sub(lambda found: found[1] if found[1] is not None else found[2], text)
    return text.replace("\\$", "$").replace("\\}", "}") + "\n"


@pytest.mark.parametrize("name", SNIPPETS)
def test_the_default_text_of_a_snippet_compiles(name: str) -> None:
    text = default_text(SNIPPETS[name])
    assert "${1" not in text and "\\" not in text.replace("\\n", "")
    if text.startswith("?{"):
        text = f"fn f() -> str:\n    assistant: | {text}    return name\n"
    assert not has_errors(compile_source(Source("snippet.sgl", text)).diagnostics), text


def test_snippets_have_prefixes_of_their_own() -> None:
    prefixes = [each["prefix"] for each in SNIPPETS.values()]
    assert len(prefixes) >= 12 and len(set(prefixes)) == len(prefixes)


def test_the_first_program_compiles_and_its_tests_pass() -> None:
    source = Source("first.sgl", (FOLDER / "media" / "first.sgl").read_text())
    result = compile_source(source)
    assert result.diagnostics == [] and result.program is not None
    reports = list(run_tests(result.program))
    assert len(reports) == 2 and all(each.passed for each in reports)


def test_every_command_is_registered_and_every_lens_has_one() -> None:
    told = {each["command"] for each in GIVES["commands"]}
    registered = set(re.findall(r'^    "(sgl\.\w+)":', (FOLDER / "src" / "extension.ts").read_text(), re.M))
    assert told == registered
    assert {f"sgl.{action}" for action in ("run", "fuzz", "test", "debug", "preview", "plan")} <= told
    used = {each["command"] for menu in GIVES["menus"].values() for each in menu}
    used |= {each["command"] for each in GIVES["keybindings"]}
    assert used <= told
    named = re.findall(r"command:(sgl\.\w+)", json.dumps(GIVES["walkthroughs"]))
    assert named and set(named) <= told


def test_settings_are_described_read_and_restricted() -> None:
    settings = GIVES["configuration"]["properties"]
    page = (FOLDER / "README.md").read_text()
    assert [name for name in settings if f"`{name}`" not in page] == []
    assert all("description" in each or "markdownDescription" in each for each in settings.values())
    trust = MANIFEST["capabilities"]["untrustedWorkspaces"]
    assert trust["supported"] == "limited" and set(trust["restrictedConfigurations"]) <= set(settings)
    assert {"sgl.path", "sgl.model", "sgl.run.arguments", "sgl.allowOutside"} <= set(
        trust["restrictedConfigurations"]
    )


def test_files_that_the_manifest_and_the_page_name_are_there() -> None:
    named = re.findall(r'"\.?/?((?:media|pictures|snippets|syntaxes)/[\w./-]+)"', json.dumps(MANIFEST))
    named += re.findall(r"\]\((pictures/[\w.-]+)\)", (FOLDER / "README.md").read_text())
    assert len(named) > 8 and [each for each in named if not (FOLDER / each).is_file()] == []
    for picture in (FOLDER / "pictures").glob("*.png"):
        assert picture.stat().st_size < LARGEST_PICTURE, picture.name


def test_the_problem_matcher_reads_what_check_writes() -> None:
    first, second = (re.compile(each["regexp"]) for each in GIVES["problemMatchers"][0]["pattern"])
    found = first.match("error[E0201]: there is no `b` here")
    assert found is not None and found.groups() == ("error", "E0201", "there is no `b` here")
    place = second.match(" --> src/a.sgl:2:12")
    assert place is not None and place.groups() == ("src/a.sgl", "2", "12")


def test_every_colour_of_the_page_of_runs_is_one_of_the_theme() -> None:
    colour = re.compile(r"(--[\w-]+): *([^;]+);")
    of_page = dict(colour.findall((VIEW / "style.css").read_text()))
    of_editor = dict(colour.findall((FOLDER / "media" / "trace.css").read_text()))
    assert set(of_page) == set(of_editor)
    assert all("var(--vscode-" in each and "#" not in each for each in of_editor.values())


def test_the_lock_file_names_no_host() -> None:
    assert "resolved" not in (FOLDER / "package-lock.json").read_text()
    assert "omit-lockfile-registry-resolved=true" in (FOLDER / ".npmrc").read_text()


def test_pages_make_no_markup_of_texts() -> None:
    for script in (FOLDER / "src" / "pages").glob("*.ts"):
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", script.read_text())


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the extension with its packages, and of the page of `sglc view`, which it packs."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("no npm and node on PATH")
    root = tmp_path_factory.mktemp("extension")
    copy = root / FOLDER.relative_to(ROOT)
    shutil.copytree(VIEW, root / VIEW.relative_to(ROOT))
    shutil.copytree(FOLDER, copy, ignore=shutil.ignore_patterns("node_modules", "dist", "*.vsix"))
    fetched = subprocess.run([npm, "ci", "--no-audit"], cwd=copy, capture_output=True, text=True, timeout=600)
    if fetched.returncode != 0:
        if re.search(r"ENOTFOUND|ECONN|ETIMEDOUT|EAI_AGAIN|network|E40[134]", fetched.stderr):
            pytest.skip("no packages can be fetched")
        pytest.fail(fetched.stderr)
    return copy


def npm(folder: Path, *words: str) -> str:
    done = subprocess.run(["npm", *words], cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_parts_without_an_editor_pass_their_tests(packages: Path) -> None:
    said = npm(packages, "test")
    assert re.search(r"(#|ℹ) fail 0\b", said) and re.search(r"(#|ℹ) pass [1-9]\d\b", said)


@pytest.mark.slow
def test_it_packs_to_a_small_file_with_all_it_needs(packages: Path) -> None:
    npm(packages, "run", "package")
    packed = packages / "sgl.vsix"
    assert packed.stat().st_size < LARGEST
    with zipfile.ZipFile(packed) as archive:
        names = {each.removeprefix("extension/").lower() for each in archive.namelist()}
        page = archive.read("extension/readme.md").decode()
    wanted = {"package.json", "readme.md", "license.txt", "language-configuration.json"}
    wanted |= {"syntaxes/sgl.tmlanguage.json", "snippets/sgl.json", "media/pages.css", "media/icon.png"}
    wanted |= {"dist/view.css", "media/trace.css"}
    wanted |= {"dist/extension.js", "dist/run.js", "dist/preview.js", "dist/trace.js"}
    wanted |= set(re.findall(r"\]\((pictures/[\w.-]+)\)", page))
    assert wanted <= names
    assert not [each for each in names if re.search(r"node_modules|\.ts$|tests/|trial/|\.map$|lock", each)]
