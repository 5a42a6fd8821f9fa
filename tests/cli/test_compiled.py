"""Programs compiled before are found again, and only those."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from checkout import ROOT
from command_line_files import write
from sglc import compiled
from sglc.bytecode.serial import dumps
from sglc.commands.shared.invocation import CommandFailed, Invocation
from sglc.commands.shared.programs import build_path, load_program
from sglc.driver import compile_source
from sglc.library import Library
from sglc.options import CompileOptions
from sglc.source import Source

TEXT = "use std.text (email)\n\npub pure fn f(n: int) -> int:\n    return n + 1\n"
PLAIN = "pub pure fn f(n: int) -> int:\n    return n + 1\n"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SGLC_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "programs"


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Sources that were compiled, in order."""
    seen: list[str] = []

    def watched(source: Source, *values: Any, **named: Any) -> Any:
        seen.append(source.text)
        return compile_source(source, *values, **named)

    monkeypatch.setattr("sglc.driver.compile_source", watched)
    return seen


def load(path: Path) -> bytes:
    return dumps(load_program(Invocation(), path))


@pytest.mark.parametrize("text", [TEXT, PLAIN])
def test_a_program_is_compiled_once(text: str, tmp_path: Path, cache: Path, compilations: list[str]) -> None:
    path = write(tmp_path / "p.sgl", text)
    first = load(path)
    assert load(path) == first and compilations == [text]
    assert len(list(cache.iterdir())) == 1


def test_another_text_path_or_compiler_is_another_program(
    tmp_path: Path, cache: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "p.sgl", PLAIN)
    load(path)
    load(write(tmp_path / "q.sgl", PLAIN))
    load(write(path, PLAIN + "\n"))
    assert len(compilations) == 3
    monkeypatch.setattr(compiled, "COMPILER", compiled.COMPILER[:-1])
    load(path)
    assert len(compilations) == 4


def test_a_changed_file_of_the_compiler_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "a_compiler"
    package.mkdir()
    write(package / "__init__.py", "")
    inner = write(package / "stage.py", "X = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(compiled, "COMPILER", ("a_compiler",))
    source = Source("p.sgl", PLAIN)
    before = compiled.name_of(source, CompileOptions())
    assert compiled.name_of(source, CompileOptions()) == before
    state = inner.stat()
    os.utime(inner, ns=(state.st_atime_ns, state.st_mtime_ns + 1_000_000))
    assert compiled.name_of(source, CompileOptions()) != before


MAIN = """\
use ./parts.greeting (hello)
use lib.words (word)

type Item = json schema "item.json"

pub pure fn f(item: Item) -> str:
    return "${hello}${word}${item}"
"""
FILES = {
    "p.sgl": MAIN.replace("./parts.greeting", "./parts/greeting"),
    "parts/greeting.sgl": "use ./inner (a)\n\npub const hello = a\n",
    "parts/inner.sgl": 'pub const a = "a"\n',
    "lib/words.sgl": 'pub const word = "w"\n',
    "item.json": '{"$ref": "other.json"}',
    "other.json": '{"type": "integer"}',
}
CHANGES = {
    "an imported module": {"parts/greeting.sgl": 'pub const hello = "b"\n'},
    "a module of a module": {"parts/inner.sgl": 'pub const a = "b"\n'},
    "a module of the project": {"lib/words.sgl": 'pub const word = "v"\n'},
    "an included schema": {"item.json": '{"type": "string"}'},
    "a schema of a schema": {"other.json": '{"type": "string"}'},
}


def project(folder: Path) -> Path:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        write(folder / name, text)
    return folder / "p.sgl"


@pytest.mark.parametrize("change", CHANGES)
def test_a_program_of_several_files_is_compiled_when_one_of_them_changes(
    change: str, tmp_path: Path, cache: Path, compilations: list[str]
) -> None:
    path = project(tmp_path)
    first = load(path)
    assert load(path) == first and len(compilations) == 1
    for name, text in CHANGES[change].items():
        write(tmp_path / name, text)
    second = load(path)
    assert second != first and len(compilations) == 2
    assert load(path) == second and len(compilations) == 2
    project(tmp_path)
    assert load(path) == first and len(list(cache.iterdir())) == 1


def test_a_file_that_takes_the_place_of_another_is_seen(
    tmp_path: Path, cache: Path, compilations: list[str]
) -> None:
    """A path of the project `app.x` is looked for in `app/x.sgl` first, then in `x.sgl`."""
    write(tmp_path / "x.sgl", "pub const a = 1\n")
    path = write(tmp_path / "p.sgl", "use app.x (a)\n\npub pure fn f() -> int:\n    return a\n")
    first = load(path)
    (tmp_path / "app").mkdir()
    write(tmp_path / "app" / "x.sgl", "pub const a = 2\n")
    assert load(path) != first and len(compilations) == 2


def test_a_link_that_leads_out_of_the_project_later_is_seen(
    tmp_path: Path, cache: Path, compilations: list[str]
) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    write(inside / "other.sgl", "pub const a = 1\n")
    path = write(inside / "p.sgl", "use ./other (a)\n\npub pure fn f() -> int:\n    return a\n")
    load(path)
    (inside / "other.sgl").rename(tmp_path / "other.sgl")
    (inside / "other.sgl").symlink_to(tmp_path / "other.sgl")
    with pytest.raises(CommandFailed):
        load(path)


def test_an_unchanged_program_of_several_files_is_not_parsed(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = project(tmp_path)
    built, _ = build_path(path)
    assert built is not None

    def never(*_: Any) -> None:
        raise AssertionError("parsed again")

    monkeypatch.setattr("sglc.check.program.parse", never)
    monkeypatch.setattr("sglc.bytecode.serial.loads", never)
    again, found = build_path(path)
    assert again is not None and (again.data, again.functions, found) == (built.data, ("f",), [])


@pytest.mark.slow
def test_every_module_that_a_compile_imports_is_of_the_digest(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from sglc.driver import compile_source\n"
        "from sglc.source import Source\n"
        "for path in map(Path, sys.argv[1:]): compile_source(Source(str(path), path.read_text()))\n"
        "print(*[name for name in sys.modules if name.startswith('sglc.')])"
    )
    programs = sorted(str(path) for path in (ROOT / "examples").glob("*.sgl"))
    done = subprocess.run([sys.executable, "-P", "-c", code, *programs], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    harmless = ("sglc.cache_files", "sglc.check.show_types")
    assert [
        name
        for name in done.stdout.split()
        if name not in harmless and not any(f"{name}.".startswith(f"{known}.") for known in compiled.COMPILER)
    ] == []


WARNED = "pub pure fn f(n: int) -> int:\n    let unused = 1\n    return n + 1\n"


def test_warnings_are_told_every_time_that_they_are_wanted(
    tmp_path: Path, cache: Path, compilations: list[str]
) -> None:
    path = write(tmp_path / "p.sgl", WARNED)
    first = build_path(path)[1]
    assert [one.severity for one in first] == ["warning"]
    assert [one.message for one in build_path(path)[1]] == [first[0].message] and len(compilations) == 2
    load(path)
    assert len(compilations) == 2


def test_a_forged_program_that_would_run_is_compiled_again(
    tmp_path: Path, cache: Path, compilations: list[str]
) -> None:
    path = write(tmp_path / "p.sgl", PLAIN)
    first = load(path)
    made = compiled.Compiled(b"SGLB nonsense", ("f",), warned=False)
    compiled.keep(Source(str(path), PLAIN), CompileOptions(), made, Library(), cache)
    assert load(path) == first and len(compilations) == 2


def test_levels_and_permissions_are_programs_of_their_own(
    tmp_path: Path, cache: Path, compilations: list[str]
) -> None:
    path = write(tmp_path / "p.sgl", PLAIN)
    for options in (CompileOptions(), CompileOptions(level=0), CompileOptions(allow_outside=True)):
        build_path(path, options)
        build_path(path, options)
    assert len(compilations) == 3
    build_path(path, CompileOptions(verify=True))
    build_path(path, observe=lambda step: None)
    assert len(compilations) == 5


@pytest.mark.parametrize("damage", [b"", b"nonsense", None])
def test_a_damaged_entry_is_compiled_again(
    damage: bytes | None, tmp_path: Path, cache: Path, compilations: list[str]
) -> None:
    path = write(tmp_path / "p.sgl", PLAIN)
    first = load(path)
    (entry,) = cache.iterdir()
    data = bytearray(entry.read_bytes())
    data[len(data) // 2] ^= 1
    entry.write_bytes(bytes(data) if damage is None else damage)
    assert load(path) == first and len(compilations) == 2
    assert load(path) == first and len(compilations) == 2


def test_a_cache_that_cannot_be_written_is_no_fault(
    tmp_path: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SGLC_CACHE_DIR", str(write(tmp_path / "file", "")))
    path = write(tmp_path / "p.sgl", PLAIN)
    assert load(path) == load(path) and len(compilations) == 2


def test_the_cache_is_bounded(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "KEPT", 3)
    program = compile_source(Source("p.sgl", PLAIN)).program
    assert program is not None
    made = compiled.Compiled.of(program, warned=False)
    for number in range(6):
        source = Source(f"p{number}.sgl", PLAIN)
        compiled.keep(source, CompileOptions(), made, Library(), cache)
        os.utime(cache / compiled.name_of(source, CompileOptions()), ns=(number, number))
    kept = {entry.name for entry in cache.iterdir()}
    assert (
        kept >= {compiled.name_of(Source(f"p{number}.sgl", PLAIN), CompileOptions()) for number in (4, 5)}
        and len(kept) <= 3
    )


def test_the_bytes_of_the_cache_are_bounded(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "KEPT_BYTES", 2500)
    for number in range(6):
        source = Source(f"p{number}.sgl", PLAIN)
        made = compiled.Compiled(b"x" * 1000, (), warned=False)
        compiled.keep(source, CompileOptions(), made, Library(), cache)
        os.utime(cache / compiled.name_of(source, CompileOptions()), ns=(number, number))
    assert len(list(cache.iterdir())) == 2


def test_faults_are_told_every_time(tmp_path: Path, cache: Path, compilations: list[str]) -> None:
    path = write(tmp_path / "p.sgl", PLAIN.replace("n + 1", "m"))
    for _ in range(2):
        with pytest.raises(CommandFailed):
            load(path)
    assert len(compilations) == 2 and not cache.exists()
