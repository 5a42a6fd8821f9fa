"""Files of caches: whole or not at all, and not believed where others could have written them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sglc import cache_files
from sglc.cache_files import Untrusted, is_trusted, keep, read_own, write_atomically


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


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
@pytest.mark.parametrize(
    ("file", "folder", "owner", "trusted"),
    [
        (0o600, 0o700, None, True),
        (0o644, 0o755, None, True),
        (0o664, 0o700, None, False),
        (0o600, 0o770, None, False),
        (0o600, 0o777, None, False),
        (0o600, 0o1777, None, False),
        (0o600, 0o700, "file", False),
        (0o600, 0o700, "folder", False),
    ],
)
def test_a_cache_is_read_only_where_nobody_else_could_have_written(
    tmp_path: Path, file: int, folder: int, owner: str | None, trusted: bool
) -> None:
    path = tmp_path / "cache" / "entry"
    keep(path, b"data")
    assert path.parent.stat().st_mode & 0o777 == 0o700 and path.stat().st_mode & 0o777 == 0o600
    assert read_own(path) == b"data"
    path.chmod(file)
    path.parent.chmod(folder)
    if owner is not None:
        if os.getuid():
            pytest.skip("only the administrator gives files away")
        os.chown(path if owner == "file" else path.parent, 12345, -1)
    if trusted:
        assert read_own(path) == b"data"
    else:
        with pytest.raises(Untrusted, match="another user, or others can write"):
            read_own(path)


def test_more_than_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "entry"
    keep(path, b"data")
    with pytest.raises(OSError, match="more than 3 bytes"):
        read_own(path, 3)


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
def test_folders_of_the_cache_are_private_whatever_the_umask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SGLC_CACHE_DIR", str(tmp_path / "cache"))
    old = os.umask(0)
    try:
        keep(tmp_path / "cache" / "kind" / "entry", b"data")
        (tmp_path / "cache" / "wide").mkdir()
        keep(tmp_path / "cache" / "wide" / "entry", b"data")
        (tmp_path / "elsewhere").mkdir()
        keep(tmp_path / "elsewhere" / "entry", b"data")
    finally:
        os.umask(old)
    modes = {name: (tmp_path / name).stat().st_mode & 0o777 for name in ("cache", "cache/kind", "cache/wide")}
    assert modes == {"cache": 0o700, "cache/kind": 0o700, "cache/wide": 0o755}
    assert (tmp_path / "elsewhere").stat().st_mode & 0o777 == 0o777  # not ours to change
    assert read_own(tmp_path / "cache" / "wide" / "entry") == b"data"


# -- what is kept in the cache -------------------------------------------------------------------------


def trie() -> tuple[str, Callable[[], object]]:
    from sglc.runtime.mask.vocabulary import disk_cache
    from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

    vocabulary = Vocabulary([b"a", b"ab", b"b", b"a"], [])
    disk_cache.save(vocabulary.digest, vocabulary.trie)
    return "tries", lambda: disk_cache.load(vocabulary.digest, vocabulary.size)


def program() -> tuple[str, Callable[[], object]]:
    from sglc import compiled
    from sglc.driver import compile_source
    from sglc.library import Library
    from sglc.options import CompileOptions
    from sglc.source import Source

    source = Source("a.sgl", "pure fn f() -> int:\n    return 3\n")
    made = compile_source(source).program
    assert made is not None
    folder = cache_files.cache_folder() / "programs"
    whole = compiled.Compiled.of(made, warned=False)
    compiled.keep(source, CompileOptions(), whole, Library(), folder)
    return "programs", lambda: compiled.find(source, CompileOptions(), folder)


def masks() -> tuple[str, Callable[[], object]]:
    from sglc.automata.term import Language, Words
    from sglc.runtime.mask.artifact.build import tabulate
    from sglc.runtime.mask.artifact.places import MaskPlaces, masks_folder, save_tables
    from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

    vocabulary = Vocabulary([b"a", b"ab", b"b"], [])
    language = Language(Words(frozenset({b"ab"})))
    save_tables(masks_folder(), language, vocabulary, tabulate(language, vocabulary))
    return "masks", lambda: MaskPlaces(folders=[masks_folder()]).find(language, vocabulary)


def digests() -> tuple[str, Callable[[], object]]:
    import json

    from sglc.runtime.model import load

    model = cache_files.cache_folder() / "model.gguf"
    model.parent.mkdir(exist_ok=True)
    model.write_bytes(b"GGUF")
    right = load._file_digest(model, None)
    memory = load.cache_directory() / "digests.json"
    known = json.loads(memory.read_text())
    keep(memory, json.dumps(dict.fromkeys(known, "0" * 64)).encode())

    def find() -> object:
        found = load._file_digest(model, None)
        return None if found == right else found

    return "models", find


def tables() -> tuple[str, Callable[[], object]]:
    from sglc.lalr import tables

    path = cache_files.cache_folder() / "lalr" / "entry.json"
    tables._write(path, "digest", {"a": 1})
    return "lalr", lambda: tables._read(path, "digest")


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
@pytest.mark.parametrize("place", ["file", "folder"])
@pytest.mark.parametrize("kind", [trie, program, masks, digests, tables])
def test_nothing_that_is_kept_is_taken_from_others(
    kind: Callable[[], tuple[str, Callable[[], object]]],
    place: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SGLC_CACHE_DIR", str(tmp_path / "cache"))
    folder, find = kind()
    assert find() is not None
    if place == "folder":
        (tmp_path / "cache" / folder).chmod(0o777)
    else:
        for path in (tmp_path / "cache" / folder).iterdir():
            path.chmod(0o666)
    assert find() is None


def test_a_trie_is_of_the_vocabulary_that_it_was_made_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checksum covers the name: another's file under this name is not taken."""
    from sglc.runtime.mask.vocabulary import disk_cache
    from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

    monkeypatch.setenv("SGLC_CACHE_DIR", str(tmp_path / "cache"))
    one, other = Vocabulary([b"a", b"ab", b"b"], []), Vocabulary([b"b", b"a", b"ab"], [])
    disk_cache.save(one.digest, one.trie)
    stored = disk_cache._path(one.digest)
    stored.rename(disk_cache._path(other.digest))
    assert disk_cache.load(other.digest, other.size) is None


@pytest.mark.parametrize("change", ["end too far", "end inside", "depth jumps"])
def test_a_trie_that_is_none_is_refused(change: str) -> None:
    """Walks skip subtrees by `end` and keep a state for each depth: neither may lead them astray."""
    import dataclasses

    from sglc.runtime.mask.vocabulary import disk_cache
    from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

    right = Vocabulary([b"a", b"ab", b"abc", b"b", b"bc"], []).trie
    assert disk_cache._sound(right, 5)
    end, depth = right.end.copy(), right.depth.copy()
    if change == "end too far":
        end[1] = 4
    elif change == "end inside":
        end[0] = 2
    else:
        depth[1] = 3
    assert not disk_cache._sound(dataclasses.replace(right, end=end, depth=depth), 5)
