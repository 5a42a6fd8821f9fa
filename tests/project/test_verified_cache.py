"""A file that was verified is not read again until it changes."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sglc.runtime.model.weights import packed, verified
from sglc.runtime.model.weights.verified import SUFFIX, is_marked, mark


@pytest.fixture(autouse=True)
def old_files_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of tests are new."""
    monkeypatch.setattr(verified, "RECENT", -1.0)


def file_of(folder: Path) -> Path:
    path = folder / "weights.bin"
    path.write_bytes(b"weights" * 100)
    mark(path, path.stat(), "digest")
    return path


def test_a_mark_is_found_again(tmp_path: Path) -> None:
    path = file_of(tmp_path)
    assert is_marked(path, path.stat(), "digest")
    assert not is_marked(path, path.stat(), "another")
    assert sorted(os.listdir(tmp_path)) == ["weights.bin", "weights.bin" + SUFFIX]


def touched(path: Path) -> None:
    os.utime(path, ns=(1, 1))


def longer(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"!")


def replaced(path: Path) -> None:
    facts = path.stat()
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    os.utime(other, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    os.replace(other, path)


def unmarked(path: Path) -> None:
    path.with_name(path.name + SUFFIX).unlink()


def broken_mark(path: Path) -> None:
    path.with_name(path.name + SUFFIX).write_text("{")


def mark_of_others(path: Path) -> None:
    path.with_name(path.name + SUFFIX).chmod(0o666)


@pytest.mark.parametrize("change", [touched, longer, replaced, unmarked, broken_mark, mark_of_others])
def test_what_has_changed_is_verified_again(change: Callable[[Path], None], tmp_path: Path) -> None:
    path = file_of(tmp_path)
    change(path)
    assert not is_marked(path, path.stat(), "digest")


def test_a_copied_folder_is_verified_again(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    file_of(tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    copy = tmp_path / "b" / "weights.bin"
    assert not is_marked(copy, copy.stat(), "digest")


def test_a_file_that_was_just_written_is_not_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verified, "RECENT", 60.0)
    path = file_of(tmp_path)
    assert not is_marked(path, path.stat(), "digest") and os.listdir(tmp_path) == ["weights.bin"]


def test_a_mark_that_cannot_be_written_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    path = file_of(tmp_path)
    assert not is_marked(path, path.stat(), "digest")


def test_packed_weights_are_hashed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llvmlite")
    from oracles.llama_reference import config_of, random_weights, write_model
    from sglc.runtime.model.weights.family import family_of

    family = family_of(config_of("llama"))
    write_model(tmp_path, config_of("llama"), random_weights(family))
    path = tmp_path / packed.NAME
    packed.pack(packed.FolderSource(tmp_path, 8), family, path, "one")
    hashed: list[int] = []
    real = packed.hashlib.sha256

    def counting(data: bytes = b"") -> object:
        hashed.append(len(data))
        return real(data)

    monkeypatch.setattr(packed.hashlib, "sha256", counting)
    size = path.stat().st_size - packed.HEAD
    assert packed.open_packed(path, family, "one") is not None and size in hashed
    hashed.clear()
    again = packed.open_packed(path, family, "one")
    assert again is not None and size not in hashed
    assert json.loads((tmp_path / (packed.NAME + SUFFIX)).read_text())["sha256"] == again.digest
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert packed.open_packed(path, family, "one") is None
