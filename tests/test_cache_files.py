"""Files of caches: whole or not at all, and not believed where others could have written them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sglc import cache_files
from sglc.cache_files import is_trusted, keep, write_atomically


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "entry"
    write_atomically(path, b"first")
    with path.open("rb") as reader:
        write_atomically(path, b"sec", b"ond")
        assert reader.read() == b"first"
    assert path.read_bytes() == b"second"
    assert os.listdir(tmp_path) == ["entry"]


def test_nothing_is_left_behind_where_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "entry"
    write_atomically(path, b"first")

    def full(source: str, target: Path) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(cache_files.os, "replace", full)
    with pytest.raises(OSError, match="no space left"):
        write_atomically(path, b"second")
    keep(path, b"third")
    assert path.read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["entry"]


def test_a_cache_makes_its_folders_and_is_silent_where_it_cannot(tmp_path: Path) -> None:
    keep(tmp_path / "some" / "folder" / "entry", b"data")
    assert (tmp_path / "some" / "folder" / "entry").read_bytes() == b"data"
    (tmp_path / "file").touch()
    keep(tmp_path / "file" / "entry", b"data")


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
@pytest.mark.parametrize(("mode", "trusted"), [(0o600, True), (0o644, True), (0o664, False), (0o602, False)])
def test_files_that_others_can_write_are_not_trusted(tmp_path: Path, mode: int, trusted: bool) -> None:
    path = tmp_path / "entry"
    write_atomically(path, b"data")
    with path.open("rb") as file:
        assert is_trusted(file)
    path.chmod(mode)
    with path.open("rb") as file:
        assert is_trusted(file) is trusted
