"""Beginnings that were computed ahead: later runs read them, and say the same; others never see them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from checkout import EXAMPLES
from fakes.fake_executor import FakeExecutor
from fakes.small_models import small_tokenizer
from sglc.bytecode.code import Program
from sglc.cli import main
from sglc.commands.building import masks
from sglc.driver import compile_source
from sglc.runtime.engine import load
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.open import open_engine
from sglc.runtime.kv.blocks import BLOCK_TOKENS
from sglc.runtime.session import Session
from sglc.source import Source

BLOCK = FakeExecutor.block_bytes
SOURCE = """\
fn rate(theme: str) -> int:
    system: | You rate themes for stories. Answer with one number from one to nine, the higher the better.
    user: | Theme: ${theme}
    assistant: | ?{found: int in 1..9}
    return found
"""


def program() -> Program:
    found = compile_source(Source("rate.sgl", SOURCE)).program
    assert found is not None
    return found


def engine(folder: Path | None, identity: str = "fake", *, writes: bool = False) -> BatchingEngine:
    executor = FakeExecutor(small_tokenizer())
    executor.identity = identity  # type: ignore[misc]
    return open_engine(executor, memory=400 * BLOCK, disk=folder, disk_writes=writes)


def prefilled(folder: Path) -> list[int]:
    """Keep the beginnings of the program; returns their tokens."""
    made = engine(folder, writes=True)
    try:
        return asyncio.run(Session(program(), made).prefill())
    finally:
        made.close()


def ran(folder: Path | None, identity: str = "fake") -> tuple[object, str, int, int]:
    """Value and text of a run, the tokens it found and the files it read."""
    made = engine(folder, identity)
    try:
        result = asyncio.run(Session(program(), made).run("rate", {"theme": "the deep sea"}, seed=1))
    finally:
        made.close()
    stats = made.get_cache_stats()
    reads = stats.disk.reads if stats.disk is not None else 0
    return result.value, result.text, made.statistics.tokens_reused, reads


def test_a_run_reads_what_was_computed_ahead_and_says_the_same(tmp_path: Path) -> None:
    beginnings = prefilled(tmp_path)
    before = ran(None)
    after = ran(tmp_path)
    assert after[:2] == before[:2] and before[2:] == (0, 0)
    shared = min(beginnings) // BLOCK_TOKENS
    assert after[2] >= shared * BLOCK_TOKENS > 0 and after[3] >= shared


def test_nothing_is_added_by_runs_that_only_read(tmp_path: Path) -> None:
    prefilled(tmp_path)
    files = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    ran(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == files


def test_another_model_or_quantisation_reads_nothing(tmp_path: Path) -> None:
    prefilled(tmp_path)
    assert ran(tmp_path, identity="another")[2:] == (0, 0)


def test_damaged_beginnings_are_computed_again(tmp_path: Path) -> None:
    prefilled(tmp_path)
    for path in tmp_path.iterdir():
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(data)
    assert ran(tmp_path)[:2] == ran(None)[:2]
    assert ran(tmp_path)[2:] == (0, 0)


def test_the_folder_is_that_of_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SGLC_CACHE_DIR", str(tmp_path))
    assert load.prefilled_folder() is None
    (tmp_path / "beginnings").mkdir()
    assert load.prefilled_folder() == load.prefill_folder() == tmp_path / "beginnings"


def test_the_command_keeps_beginnings_and_runs_find_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(load, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(masks, "masks_folder", lambda: tmp_path / "cache" / "masks")
    # A quarter of the memory would be millions of blocks of this executor.
    monkeypatch.setattr(
        load, "open_engine", lambda made, **named: open_engine(made, **{**named, "memory": 400 * BLOCK})
    )
    monkeypatch.setattr(load, "load_executor", lambda *_, **__: FakeExecutor(small_tokenizer()))
    monkeypatch.setattr("sglc.runtime.model.load.load_tokenizer", lambda name: small_tokenizer())
    file = tmp_path / "rate.sgl"
    file.write_text(SOURCE, encoding="utf-8")
    arguments = ["run", str(file), "--arg", "theme=the deep sea", "--json"]
    assert main(arguments) == 0
    first = capsys.readouterr().out
    assert main(["build", str(file), "--model", "tiny", "--prefill"]) == 0
    assert f"{tmp_path / 'cache' / 'beginnings'}: beginnings of " in capsys.readouterr().out
    assert main([*arguments, "--stats=json"]) == 0
    out, err = capsys.readouterr()
    assert out.partition('"statistics"')[0] == first.partition('"statistics"')[0]
    assert '"tokens_reused": 0' not in err and '"reads": 0' not in err


def test_prefill_goes_with_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", str(EXAMPLES / "route.sgl"), "-o", str(tmp_path / "x.sglb"), "--prefill"]) == 2
    assert "--prefill goes with --model" in capsys.readouterr().err
