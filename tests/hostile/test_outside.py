"""A program reads files of its project alone, however a path leaves it, unless that is allowed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import sglc
from sglc.cli import main
from sglc.driver import compile_file, compile_source, emit_stage
from sglc.library import Library, LibraryError
from sglc.options import CompileOptions
from sglc.source import Source

FILES = {
    "crew.sgl": "pub const A = 1\n",
    "notes.md": "a secret\n",
    "sum.lark": 'start: "1" ("+" "1")*\n',
    "user.json": '{"type": "integer", "minimum": 3}\n',
    "shop.sql": "create table t (a integer not null);\n",
    "answers.ts": "export interface T { a: string }\n",
}
WRITTEN = {
    "use": ("use {}crew (A)\n", "    | ${{A}}\n"),
    "include": ("", '    include "{}notes.md"\n'),
    "grammar": ('import grammar "{}sum.lark"\n', "    | ?{{y: Sum max 9 tok}}\n"),
    "json schema": ("", '    | ?{{y: json schema "{}user.json" max 9 tok}}\n'),
    "sql": ('type T = sql table "{}shop.sql"\n', "    | ${{schema(T)}}\n"),
    "typescript": ('type T = typescript "{}answers.ts"\n', "    | ${{schema(T)}}\n"),
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder `project` of a program, and files that it may not read beside it."""
    (tmp_path / "project").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def program(place: Path, kind: str, before: str, folder: str = "project") -> Path:
    """A program that names a file of this kind with `before` in front."""
    head, line = (part.format(before) for part in WRITTEN[kind])
    file = place / folder / "main.sgl"
    file.parent.mkdir(exist_ok=True)
    body = '    | ?{x: int in 0..9}\n    return x\n\ntest "t":\n    expect 1 == 1\n'
    file.write_text(head + "pub fn f() -> int:\n" + line + body)
    return file


def codes(file: Path, allow: bool = False) -> list[str]:
    return [d.code for d in compile_file(file, CompileOptions(allow_outside=allow)).diagnostics]


@pytest.mark.parametrize("kind", WRITTEN)
def test_what_lies_beside_the_project_is_read_only_where_that_is_allowed(place, kind):
    file = program(place, kind, "../")
    found = compile_file(file).diagnostics
    assert [d.code for d in found] == ["E0138"]
    assert "secret" not in repr(found) and "--allow-outside" in found[0].hint
    assert codes(file, allow=True) == []


@pytest.mark.parametrize("kind", [kind for kind in WRITTEN if kind != "use"])
def test_absolute_paths_are_no_way_out(place, kind):
    assert codes(program(place, kind, f"{place}/")) == ["E0138"]
    assert codes(program(place, kind, f"{place}/"), allow=True) == []
    assert codes(program(place, kind, "/no/such/folder/")) == ["E0138"]
    for name, text in FILES.items():
        (place / "project" / name).write_text(text, encoding="utf-8")
    assert codes(program(place, kind, f"{place}/project/")) == ["E0138"]
    assert codes(program(place, kind, "")) == []


@pytest.mark.parametrize("kind", WRITTEN)
def test_symbolic_links_are_no_way_out(place, kind):
    for name in FILES:
        os.symlink(place / name, place / "project" / name)
    os.symlink(place, place / "project" / "up")
    for before in ("./", "up/", "./up/"):
        if kind == "use" and before == "up/":
            continue
        assert codes(program(place, kind, before)) == ["E0138"], before
        assert codes(program(place, kind, before), allow=True) == [], before


def test_links_inside_the_project_are_followed(place):
    (place / "project" / "deep").mkdir()
    (place / "project" / "deep" / "real.md").write_text("a note\n")
    os.symlink(place / "project" / "deep" / "real.md", place / "project" / "notes.md")
    assert codes(program(place, "include", "")) == []


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_project_file_makes_the_folder_around_the_project(place, kind):
    file = program(place, kind, "../")
    (place / "sgl.toml").write_text("")
    assert codes(file) == []
    # The nearest one counts: a project inside of another is one of its own.
    (place / "project" / "sgl.toml").write_text("")
    assert codes(file) == ["E0138"]


def test_a_module_reads_what_its_program_may_read(place):
    (place / "sgl.toml").write_text("")
    (place / "parts").mkdir()
    (place / "parts" / "sgl.toml").write_text("")
    (place / "parts" / "text.sgl").write_text('pub part rules():\n    include "../notes.md"\n')
    file = place / "project" / "main.sgl"
    file.write_text(
        "use ../parts/text (rules)\n\npub fn f() -> int:\n    part rules()\n    | ?{x: int}\n    return x\n"
    )
    assert codes(file) == []
    (place / "notes.md").unlink()
    os.symlink("/etc/hostname", place / "notes.md")
    assert codes(file) == ["E0138"]


def test_files_that_a_schema_refers_to_stay_inside(place):
    (place / "project" / "a.json").write_text('{"$ref": "b.json"}')
    os.symlink(place / "user.json", place / "project" / "b.json")
    file = place / "project" / "main.sgl"
    file.write_text('pub fn f() -> json:\n    | ?{x: json schema "a.json" max 9 tok}\n    return x\n')
    (fault,) = compile_file(file).diagnostics
    assert fault.code == "E0354" and "may read what lies in" in fault.reason
    assert codes(file, allow=True) == []


def test_paths_that_no_system_has_are_refused_without_a_fault(place):
    for path in ("a\\0b", "x" * 5000, "../" * 2000 + "x", "~/x", "./././"):
        file = place / "project" / "main.sgl"
        file.write_text(f'pub fn f() -> int:\n    include "{path}"\n    | ?{{x: int}}\n    return x\n')
        assert codes(file)[0] in ("E0211", "E0138")
    os.symlink("loop.md", place / "project" / "loop.md")
    file.write_text('pub fn f() -> int:\n    include "loop.md"\n    | ?{x: int}\n    return x\n')
    assert codes(file)[0] in ("E0211", "E0138")


def test_folders_that_a_library_is_made_with_may_be_read(place):
    source = Source(str(place / "project" / "main.sgl"), "")
    library = Library(place)
    library.add(source)
    assert library.find("crew", source) is not None
    with pytest.raises(LibraryError, match="may read what lies in"):
        Library().find("../crew", source)
    assert Library(allow_outside=True).find("../crew", source) is not None


@pytest.mark.parametrize("command", [["check"], ["build"], ["build", "--emit", "ir"], ["test"], ["disasm"]])
def test_commands_take_the_option(place, command, capsys):
    file = program(place, "include", "../")
    assert main([*command, str(file)]) == 1
    assert "E0138" in capsys.readouterr().err
    assert main([*command, "--allow-outside", str(file)]) == 0


def test_fixing_and_running_take_the_option(place, capsys, tmp_path):
    file = program(place, "include", "../")
    for command in (["check", "--fix"], ["check", "--json"], ["run", "--model", "scripted:no/such/file"]):
        assert main([*command, str(file)]) == 1
        told = capsys.readouterr()
        assert "E0138" in told.err + told.out
        main([*command, "--allow-outside", str(file)])
        told = capsys.readouterr()
        assert "E0138" not in told.err + told.out


def test_python_takes_the_option(place):
    file = program(place, "include", "../")
    with pytest.raises(sglc.CompileError, match="E0138"):
        sglc.load(file)
    assert sglc.load(file, allow_outside=True).f.__name__ == "f"
    text = file.read_text()
    with pytest.raises(sglc.CompileError, match="E0138"):
        sglc.loads(text, path=file)
    assert sglc.loads(text, path=file, allow_outside=True).f.__name__ == "f"


def test_stages_take_the_option(place):
    file = program(place, "include", "../")
    source = Source(str(file), file.read_text())
    assert emit_stage(source, "ir")[0] == ""
    assert "a secret" in emit_stage(source, "ir", CompileOptions(allow_outside=True))[0]
    assert compile_source(source, library=Library(allow_outside=True)).program is not None
