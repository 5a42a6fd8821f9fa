"""The tier on disk: what is evicted comes back, and no fault of a disk does more than cost time."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from oracles.kv_model import Model, evict_all, released, run, text
from sglc.runtime.kv.cache import KVCache
from sglc.runtime.kv.disk import FAULTS_IN_A_ROW, DiskTier

FILE = 23 + 32 + 8 * 16
"""Bytes of a file: the mark of the format, the digest, and a block of the model."""


def tier(folder: Path, blocks: int = 100, identity: str = "model") -> DiskTier:
    return DiskTier(folder / "kv", blocks * FILE, identity)


def spilled(folder: Path, disk: DiskTier | None = None) -> Model:
    """A cache whose 48 tokens 0, 1, … have been evicted to disk."""
    model = Model(6, disk=disk or tier(folder))
    released(model, run(0, 48))
    evict_all(model)
    assert model.cache.computed(run(0, 48)) == 0
    return model


def found(model: Model, tokens: list[int]) -> int:
    """How much of some tokens is found; contents and counts are checked."""
    sequence = model.cache.open(tokens)
    model.open.append((sequence, list(sequence.tokens)))
    model.check()
    return sequence.length


def files(folder: Path) -> list[Path]:
    return sorted((folder / "kv").glob("*.kv"))


def test_what_was_evicted_is_read_back(tmp_path: Path) -> None:
    model = spilled(tmp_path)
    assert found(model, run(0, 50)) == 48
    stats = model.cache.stats().disk
    assert stats is not None
    assert (stats.blocks, stats.bytes, stats.writes, stats.reads) == (3, 3 * FILE, 3, 3)
    assert sum(path.stat().st_size for path in files(tmp_path)) == stats.bytes


def test_a_tier_that_is_only_read_keeps_what_is_there(tmp_path: Path) -> None:
    """Nothing is written, nothing makes room, and no folder is made."""
    spilled(tmp_path)
    before = files(tmp_path)
    model = Model(6, disk=DiskTier(tmp_path / "kv", FILE, "model", writes=False))
    assert found(model, run(0, 50)) == 48
    released(model, run(100, 48))
    evict_all(model)
    assert files(tmp_path) == before
    DiskTier(tmp_path / "none", FILE, "model", writes=False)
    assert not (tmp_path / "none").exists()


def test_a_block_is_read_back_into_the_middle_of_a_sequence(tmp_path: Path) -> None:
    model = spilled(tmp_path)
    sequence = model.cache.open([])
    sequence.reserve(20)
    model.compute(sequence, run(0, 20))
    sequence.commit(run(0, 20))
    assert sequence.reuse(run(20, 20)) == 12
    model.open.append((sequence, run(0, 32)))
    model.check()


def test_a_block_that_is_on_disk_is_not_written_again(tmp_path: Path) -> None:
    model = spilled(tmp_path)
    for _ in range(3):
        model.cache.open(run(0, 48)).release()
        evict_all(model)
    stats = model.cache.stats().disk
    assert stats is not None and (stats.writes, stats.reads) == (3, 9)


def test_only_whole_blocks_are_written(tmp_path: Path) -> None:
    model = Model(6, disk=tier(tmp_path))
    released(model, run(0, 40))
    evict_all(model)
    stats = model.cache.stats()
    assert stats.evictions == 3 and len(files(tmp_path)) == 2


def test_what_a_cut_sequence_takes_back_is_written_first(tmp_path: Path) -> None:
    model = Model(3, disk=tier(tmp_path))
    released(model, run(0, 48))
    model.begin(run(0, 48))
    model.cut(0, 20)
    model.extend(0, run(70, 28))
    model.end(0)
    evict_all(model)
    assert found(model, run(0, 48)) == 48


def test_a_later_process_finds_the_files_of_the_same_model_only(tmp_path: Path) -> None:
    spilled(tmp_path)
    assert found(Model(6, disk=tier(tmp_path)), run(0, 48)) == 48
    assert found(Model(6, disk=tier(tmp_path, identity="other weights")), run(0, 48)) == 0


def test_saving_keeps_what_was_never_evicted(tmp_path: Path) -> None:
    model = Model(10, disk=tier(tmp_path))
    released(model, run(0, 48))
    model.cache.save()
    assert model.cache.computed(run(0, 48)) == 48
    assert found(Model(6, disk=tier(tmp_path)), run(0, 48)) == 48


def test_beginnings_are_saved_first(tmp_path: Path) -> None:
    model = Model(10, disk=tier(tmp_path))
    released(model, run(0, 48))
    released(model, run(500, 32))
    model.cache.save(3)
    again = Model(10, disk=tier(tmp_path))
    assert (found(again, run(0, 48)), found(again, run(500, 32))) == (32, 16)


def test_the_same_tokens_behind_other_tokens_are_another_block(tmp_path: Path) -> None:
    model = spilled(tmp_path)
    assert found(model, [*run(16, 16), *run(16, 16)]) == 0


def test_the_tier_holds_no_more_than_its_limit(tmp_path: Path) -> None:
    disk = tier(tmp_path, 4)
    model = Model(6, disk=disk)
    for first in range(0, 1000, 100):
        released(model, run(first, 32))
    evict_all(model)
    stats = disk.stats()
    assert stats.blocks == 4 and stats.bytes == 4 * FILE == sum(p.stat().st_size for p in files(tmp_path))
    assert stats.removals == stats.writes - 4 > 0
    assert found(model, run(900, 32)) == 32
    assert found(model, run(0, 32)) == 0
    smaller = tier(tmp_path, 2)
    assert len(files(tmp_path)) == smaller.stats().blocks == 2


def test_a_block_used_lately_stays_on_disk(tmp_path: Path) -> None:
    disk = tier(tmp_path, 3)
    model = spilled(tmp_path, disk)
    model.cache.open(run(0, 16)).release()
    released(model, run(500, 32))
    evict_all(model)
    assert found(model, run(0, 48)) == 16


def damage_content(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def damage_mark(path: Path) -> None:
    path.write_bytes(b"?" + path.read_bytes()[1:])


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def lengthen(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"x")


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [damage_content, damage_mark, cut_short, lengthen, empty])
def test_a_corrupt_file_is_noticed_counted_and_removed(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    model = spilled(tmp_path)
    for path in files(tmp_path):
        damage(path)
    assert found(model, run(0, 48)) == 0
    stats = model.cache.stats().disk
    assert stats is not None and (stats.corrupt, stats.blocks, stats.reads) == (1, 2, 0)
    assert len(files(tmp_path)) == 2


def test_a_file_under_another_files_name_is_corrupt(tmp_path: Path) -> None:
    model = spilled(tmp_path)
    one, *others = files(tmp_path)
    for other in others:
        other.write_bytes(one.read_bytes())
    assert found(model, run(0, 48)) in (0, 16)
    assert model.cache.disk is not None and model.cache.disk.stats().corrupt == 1


def test_files_that_are_gone_are_misses(tmp_path: Path) -> None:
    model = spilled(tmp_path)
    for path in files(tmp_path):
        path.unlink()
    assert found(model, run(0, 48)) == 0
    assert model.cache.disk is not None and model.cache.disk.stats().read_faults == 1


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_files_are_private_and_files_that_others_can_write_are_not_read(tmp_path: Path) -> None:
    model = spilled(tmp_path)
    assert (tmp_path / "kv").stat().st_mode & 0o777 == 0o700
    for path in files(tmp_path):
        assert path.stat().st_mode & 0o777 == 0o600
        path.chmod(0o666)
    assert found(model, run(0, 48)) == 0
    assert model.cache.disk is not None and model.cache.disk.stats().read_faults == 1


def test_a_folder_that_cannot_be_made_is_survived(tmp_path: Path) -> None:
    (tmp_path / "kv").write_text("a file where the folder should be")
    model = spilled(tmp_path)
    assert found(model, run(0, 48)) == 0
    stats = model.cache.stats().disk
    assert stats is not None and (stats.blocks, stats.writes, stats.write_faults) == (0, 0, 4)


def test_a_full_disk_is_given_up_after_some_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = tier(tmp_path)
    model = spilled(tmp_path, disk)

    def full(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        released(model, run(500, 96))
        evict_all(model)
        assert disk.stats().write_faults == 6 and disk.stats().writing
        released(model, run(700, 96))
        evict_all(model)
    assert disk.stats().write_faults == FAULTS_IN_A_ROW and not disk.stats().writing
    assert not list((tmp_path / "kv").glob("*.part")), "nothing half written is left"
    released(model, run(900, 32))
    evict_all(model)
    assert disk.stats().writes == 3
    assert found(model, run(0, 48)) == 48, "what is there is still read"


def test_faults_that_pass_do_not_end_writing(tmp_path: Path) -> None:
    disk = tier(tmp_path)
    for turn in range(3):
        for number in range(FAULTS_IN_A_ROW - 1):
            disk.write(disk.name(b"x", (turn, number)), lambda: 1 // 0)  # type: ignore[arg-type,return-value]
        disk.write(disk.name(b"x", (turn,)), lambda: b"data")
    assert disk.stats().writing and disk.stats().writes == 3


def test_a_limit_below_one_block_is_a_tier_without_blocks(tmp_path: Path) -> None:
    disk = DiskTier(tmp_path / "kv", FILE - 1, "model")
    model = spilled(tmp_path, disk)
    assert found(model, run(0, 48)) == 0 and disk.stats().bytes == 0
    with pytest.raises(ValueError, match="a tier of -1 bytes"):
        DiskTier(tmp_path, -1, "model")


def test_an_executor_that_cannot_read_a_block_does_not_stop_eviction(tmp_path: Path) -> None:
    def fail(block: int) -> bytes:
        raise RuntimeError("device lost")

    model = Model(6, disk=tier(tmp_path))
    model.cache._read_block = fail
    released(model, run(0, 48))
    evict_all(model)
    stats = model.cache.stats()
    assert stats.evictions == 3 and stats.disk is not None and stats.disk.write_faults == 3


def test_a_block_that_cannot_be_put_back_is_not_lost(tmp_path: Path) -> None:
    def fail(block: int, data: bytes) -> None:
        raise RuntimeError("device lost")

    model = spilled(tmp_path)
    model.cache._write_block = fail
    with pytest.raises(RuntimeError):
        model.cache.open(run(0, 48))
    model.check()
    assert not model.cache.sequences and len(model.cache.pool.free) == 6


def test_files_left_behind_by_a_process_that_died_are_removed_in_time(tmp_path: Path) -> None:
    (tmp_path / "kv").mkdir()
    old, new = tmp_path / "kv" / "a.part", tmp_path / "kv" / "b.part"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 7200,) * 2)
    tier(tmp_path)
    assert not old.exists() and new.exists()


def test_a_tier_needs_the_means_to_move_blocks(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="needs read_block and write_block"):
        KVCache(4, 1, copy_block=lambda a, b: None, disk=tier(tmp_path))


def test_random_use_with_a_small_tier_and_damaged_files(tmp_path: Path) -> None:
    chance = random.Random(7)
    model = Model(14, disk=tier(tmp_path, 20))
    for step in range(300):
        tokens = text(chance.randrange(3), chance.randrange(100), [chance.randrange(3)])
        model.begin(tokens)
        model.extend(-1, tokens[len(model.open[-1][1]) :] or [1], chance.random() < 0.2)
        while len(model.open) > 1 and chance.random() < 0.8:
            model.end(chance.randrange(len(model.open)))
        if step % 10 == 0:
            model.check()
            for path in files(tmp_path):
                if chance.random() < 0.2:
                    chance.choice([damage_content, cut_short, Path.unlink])(path)
    disk = model.cache.stats().disk
    assert disk is not None and disk.reads and disk.removals and disk.corrupt and disk.read_faults
    assert disk.bytes <= disk.limit
    model.close()


def test_files_that_another_process_takes_away_are_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spilled(tmp_path)
    (tmp_path / "kv" / "unfinished.part").write_bytes(b"")
    gone = ("unfinished.part", files(tmp_path)[0].name)
    scandir = os.scandir

    def vanishing(folder: Path) -> nullcontext[list[os.DirEntry[str]]]:
        with scandir(folder) as entries:
            listed = list(entries)
        for name in gone:
            (folder / name).unlink()
        return nullcontext(listed)

    monkeypatch.setattr(os, "scandir", vanishing)
    stats = tier(tmp_path).stats()
    assert (stats.blocks, stats.write_faults) == (2, 0)
