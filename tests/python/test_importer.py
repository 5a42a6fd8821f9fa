"""Programs as Python modules: found, typed, reloaded, refused with the reason."""

from __future__ import annotations

import copy
import importlib
import json
import linecache
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import sglc
import sglc.importer as importer

PROGRAM = """\
pub enum Post: pilot, medic

pub record Crew:
    name: str
    post: Post

## Makes one.
pub pure fn made(name: str, class: Post = medic) -> Crew:
    return Crew(name, class)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on `sys.path`; what is imported from it is forgotten afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    importer.install()
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def write(path: Path, text: str = PROGRAM) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    importlib.invalidate_caches()
    return path


def test_a_program_is_a_module(folder: Path) -> None:
    path = write(folder / "crew_one.sgl")
    module = importlib.import_module("crew_one")
    assert module.__file__ == str(path) and module.__spec__ is not None
    member = module.made("Ada", class_=module.Post.pilot)
    assert member == module.Crew("Ada", module.Post.pilot)
    assert copy.deepcopy(member) == member
    assert sorted(module.__all__) == ["Crew", "Post", "made"]
    assert importer.module_of(module).functions["made"] is module.made
    assert "pub record Crew" in linecache.getline(str(path), 3)


def test_a_name_that_is_not_there_is_told_like_that_of_a_loaded_program(folder: Path) -> None:
    write(folder / "crew_two.sgl")
    module = importlib.import_module("crew_two")
    with pytest.raises(AttributeError, match="did you mean `made`"):
        _ = module.mad
    with pytest.raises(ImportError):
        exec("from crew_two import nobody", {})


def test_a_program_in_a_package(folder: Path) -> None:
    write(folder / "parts_pkg" / "__init__.py", "")
    write(folder / "parts_pkg" / "shapes.sgl", "pub record Dot:\n    x: int\n")
    text = "use ./shapes (Dot)\n\npub pure fn at(dot: Dot) -> int:\n    return dot.x\n"
    write(folder / "parts_pkg" / "crew.sgl", text)
    crew = importlib.import_module("parts_pkg.crew")
    shapes = importlib.import_module("parts_pkg.shapes")
    assert crew.at(shapes.Dot(3)) == 3
    assert sys.modules["parts_pkg"].crew is crew


def test_a_bare_folder_of_the_name_does_not_hide_a_program_and_python_does(folder: Path) -> None:
    write(folder / "crew_bare" / "data.txt", "no package")
    write(folder / "crew_bare.sgl")
    assert importlib.import_module("crew_bare").made("A").name == "A"
    write(folder / "crew_both.sgl")
    write(folder / "crew_both.py", "made = 'Python'\n")
    assert importlib.import_module("crew_both").made == "Python"


def test_a_compiled_program_is_found_where_its_source_is_not(folder: Path) -> None:
    from sglc.cli import main

    source = write(folder / "crew_built.sgl")
    assert main(["build", str(source)]) == 0
    source.unlink()
    importlib.invalidate_caches()
    assert importlib.import_module("crew_built").made("A").name == "A"


def test_errors_are_compile_errors_with_the_line(folder: Path) -> None:
    write(folder / "crew_bad.sgl", "pub record Crew:\n    post: Pst\n")
    with pytest.raises(sglc.CompileError) as caught:
        importlib.import_module("crew_bad")
    assert "crew_bad.sgl:2:11" in str(caught.value) and "post: Pst" in str(caught.value)
    assert "crew_bad" not in sys.modules
    write(folder / "crew_bytes.sgl").write_bytes(b"\xff\xfe")
    with pytest.raises(sglc.CompileError, match="E0802"):
        importlib.import_module("crew_bytes")


def test_reload_takes_the_changed_program_whole(folder: Path) -> None:
    path = write(folder / "crew_again.sgl")
    module = importlib.import_module("crew_again")
    write(path, "pub pure fn other() -> int:\n    return 3\n")
    assert importlib.reload(module) is module
    assert module.other() == 3 and not hasattr(module, "made") and module.__all__ == ["other"]
    write(path, "pub fn broken(\n")
    with pytest.raises(sglc.CompileError):
        importlib.reload(module)
    assert module.other() == 3, "what worked goes on working"


@pytest.mark.slow
def test_what_was_compiled_before_needs_no_compiler(folder: Path) -> None:
    write(folder / "crew_kept.sgl")
    code = (
        "import json, sys, sglc.importer, crew_kept\n"
        "print(json.dumps([crew_kept.made('A').name, 'sglc.driver' in sys.modules, 'torch' in sys.modules]))"
    )
    for compiled in (True, False):
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
        )
        assert json.loads(done.stdout) == ["A", compiled, False]


def test_model_and_options_are_those_that_were_configured(folder: Path) -> None:
    write(folder / "crew_model.sgl")
    with pytest.raises(TypeError, match="no option `modle`"):
        importer.configure(modle="x")  # type: ignore[call-arg]
    try:
        importer.configure("scripted:none.json", threads=1)
        module = importlib.import_module("crew_model")
    finally:
        importer.configure()
    assert importer.module_of(module).model == "scripted:none.json"
    with pytest.raises(TypeError, match="json is no program"):
        importer.module_of(json)


def test_uninstalled_it_finds_nothing_and_installed_twice_it_stands_once(folder: Path) -> None:
    write(folder / "crew_off.sgl")
    importer.uninstall()
    try:
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("crew_off")
    finally:
        importer.install()
        importer.install()
    assert sum(isinstance(finder, importer.SglFinder) for finder in sys.meta_path) == 1


def test_the_module_as_a_command_lists_programs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder / "crew_list.sgl")
    write(folder / "crew-dash.sgl")
    write(folder / "crew_wrong.sgl", "pub fn broken(\n")
    write(folder / "wave.sgl")
    assert importer.main([]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if str(folder) in line]
    assert [line.split()[0] for line in lines] == ["wave", "crew_wrong", "crew_list", "crew-dash"]
    assert "wave.py comes first" in lines[0] and "is no name of Python" in lines[3]
    assert importer.main(["crew_list", "crew_wrong", "json"]) == 1
    said = capsys.readouterr()
    assert "made(name: str" in said.out
    assert "crew_wrong.sgl:1" in said.err and "json is no program" in said.err
