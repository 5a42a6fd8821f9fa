"""Finding modules: where paths lead, and that one file is one source."""

from __future__ import annotations

import pytest

from sglc.check.program import check
from sglc.library import MAX_BYTES, Library, LibraryError, project_root
from sglc.source import Source


@pytest.fixture
def project(tmp_path):
    """A project with a main file, a neighbour, and a module in a folder."""
    (tmp_path / "sgl.toml").write_text("")
    (tmp_path / "parts").mkdir()
    (tmp_path / "main.sgl").write_text("use ./crew (a)\nuse parts.crew (b)\n")
    (tmp_path / "crew.sgl").write_text("pub const a = 1\n")
    (tmp_path / "parts" / "crew.sgl").write_text("use ./inner (c)\nuse ../crew (a)\n\npub const b = a + c\n")
    (tmp_path / "parts" / "inner.sgl").write_text("pub const c = 2\n")
    return tmp_path


def opened(path) -> Source:
    return Source(str(path), path.read_text())


def test_modules_of_the_standard_library_are_found_by_name():
    library = Library()
    source = library.find("std.text", Source("main.sgl", ""))
    assert source is not None and "email" in source.text
    assert source.name == "std/text.sgl"
    assert library.module_name(source) == "std.text"
    assert library.find("std.nothing", source) is None
    assert library.find("std.text.email", source) is None
    names = ("text", "time", "reason", "math", "lists", "checks", "units", "documents", "extract", "classify")
    assert {f"std.{name}" for name in names} <= set(library.standard_modules())


def test_a_path_with_a_dot_is_beside_the_importing_file(project):
    library = Library()
    main = opened(project / "main.sgl")
    near = library.find("./crew", main)
    inner = library.find("./inner", opened(project / "parts" / "crew.sgl"))
    assert near is not None and near.text == "pub const a = 1\n"
    assert inner is not None and library.module_name(inner) == "parts.inner"
    assert library.find("./inner", main) is None


def test_other_paths_are_relative_to_the_project(project):
    library = Library()
    inner = opened(project / "parts" / "inner.sgl")
    assert project_root(inner) == project
    found = library.find("parts.crew", inner)
    assert found is not None and library.module_name(found) == "parts.crew"
    assert library.find("app.crew", inner).text == "pub const a = 1\n"


def test_without_a_project_file_the_root_is_the_folder_of_the_main_file(tmp_path):
    (tmp_path / "main.sgl").write_text("")
    assert project_root(opened(tmp_path / "main.sgl")) == tmp_path


def test_one_file_is_one_source(project):
    library = Library()
    main = opened(project / "main.sgl")
    library.add(main)
    first = library.find("./crew", main)
    second = library.find("../crew", opened(project / "parts" / "crew.sgl"))
    assert first is second
    assert library.find("main", opened(project / "crew.sgl")) is main


def test_given_roots_come_instead_of_the_project(project, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "extra.sgl").write_text("pub const x = 1\n")
    library = Library(other, project)
    main = opened(project / "main.sgl")
    assert library.find("extra", main) is not None
    assert library.find("parts.crew", main) is not None


@pytest.mark.parametrize("path", ["/etc/passwd", "", "a b", "./a\0b", "./a;b"])
def test_strange_paths_lead_nowhere(project, path):
    assert Library().find(path, opened(project / "main.sgl")) is None


def test_files_that_are_no_text_or_too_large_are_refused(project):
    (project / "bytes.sgl").write_bytes(b"\xff\xfe")
    (project / "large.sgl").write_bytes(b"#" * (MAX_BYTES + 1))
    main = opened(project / "main.sgl")
    with pytest.raises(LibraryError, match="UTF-8"):
        Library().find("./bytes", main)
    with pytest.raises(LibraryError, match="larger than 4 MiB"):
        Library().find("./large", main)


def test_included_texts_are_read_beside_the_importer(project):
    (project / "note.md").write_text("Be kind.\n")
    library = Library()
    main = opened(project / "main.sgl")
    assert library.read_text("note.md", main) == "Be kind.\n"
    assert library.read_text("none.md", main) is None
    with pytest.raises(LibraryError, match="absolute"):
        library.read_text(str(project / "note.md"), main)


def test_a_program_of_several_files_is_checked_whole(project):
    (project / "main.sgl").write_text(
        "use ./crew (a)\nuse parts.crew (b)\n\npub pure fn f() -> int:\n    return a + b\n"
    )
    program, diagnostics = check(opened(project / "main.sgl"), Library())
    assert diagnostics == []
    assert program is not None
    assert [module.name for module in program.modules] == ["", "crew", "parts.inner", "parts.crew"]


def test_a_circle_of_files_is_named(project):
    (project / "crew.sgl").write_text("use parts.inner (c)\n\npub const a = c\n")
    (project / "parts" / "inner.sgl").write_text("use app.crew (a)\n\npub const c = a\n")
    (project / "main.sgl").write_text("use ./crew (a)\n\npub pure fn f() -> int:\n    return a\n")
    _, diagnostics = check(opened(project / "main.sgl"), Library())
    assert [d.code for d in diagnostics] == ["E0214"]
    assert diagnostics[0].reason == "crew → parts.inner → crew"


def test_a_file_that_cannot_be_read_is_a_finding(project):
    (project / "crew.sgl").write_bytes(b"\xff")
    _, diagnostics = check(opened(project / "main.sgl"), Library())
    assert {d.code for d in diagnostics} == {"E0213"}
    assert all("UTF-8" in d.reason for d in diagnostics)
