"""Programs compiled before are found again, and only those."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from command_line_files import write
from sglc.bytecode.serial import dumps
from sglc.commands.shared import compiled
from sglc.commands.shared.invocation import Invocation
from sglc.commands.shared.programs import load_program
from sglc.driver import compile_source
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


def test_programs_of_several_files_are_compiled_each_time(
    tmp_path: Path, cache: Path, compilations: list[str]
) -> None:
    write(tmp_path / "other.sgl", "pub const a = 1\n")
    path = write(tmp_path / "p.sgl", "use ./other (a)\n\npub pure fn f() -> int:\n    return a\n")
    first = load(path)
    write(tmp_path / "other.sgl", "pub const a = 2\n")
    assert load(path) != first and len(compilations) == 2 and not cache.exists()


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
    for number in range(6):
        source = Source(f"p{number}.sgl", PLAIN)
        compiled.keep(source, CompileOptions(), program, cache)
        os.utime(cache / compiled.name_of(source, CompileOptions()), ns=(number, number))
    kept = {entry.name for entry in cache.iterdir()}
    assert (
        kept >= {compiled.name_of(Source(f"p{number}.sgl", PLAIN), CompileOptions()) for number in (4, 5)}
        and len(kept) <= 3
    )


def test_faults_are_told_every_time(tmp_path: Path, cache: Path, compilations: list[str]) -> None:
    from sglc.commands.shared.invocation import CommandFailed

    path = write(tmp_path / "p.sgl", PLAIN.replace("n + 1", "m"))
    for _ in range(2):
        with pytest.raises(CommandFailed):
            load(path)
    assert len(compilations) == 2 and not cache.exists()
