"""`--workers N --tensor-parallel M`: a worker is several processes that share its model."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from command_line import Cli, cli
from command_line_files import write
from late import Late
from sglc.runtime.cluster.group_links import GroupLink, variables
from sglc.runtime.cluster.messages import read, written

__all__ = ["cli"]
torch = Late("torch")
PROGRAM = """\
fn pick(text: str) -> int:
    | ${text} has ?{n: int in 0..99 temp 0}
    return n
"""
ROWS = [{"text": f"row {n} of some" + " more" * n} for n in range(4)]


def test_a_group_has_the_variables_of_torchrun(tmp_path: Path) -> None:
    ranks = [variables(rank, 3, tmp_path, 2) for rank in range(3)]
    assert [(each["RANK"], each["LOCAL_RANK"]) for each in ranks] == [("0", "0"), ("1", "1"), ("2", "2")]
    assert {(each["WORLD_SIZE"], each["OMP_NUM_THREADS"]) for each in ranks} == {("3", "2")}
    assert len({each["SGLC_RENDEZVOUS"] for each in ranks}) == 1


def test_groups_are_workers(cli: Cli, tmp_path: Path) -> None:
    program = write(tmp_path / "p.sgl", PROGRAM)
    code, _, err = cli("run", str(program), "--tensor-parallel", "2")
    assert code == 2 and "--tensor-parallel needs --workers" in err


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small Llama of random weights, whose likeliest tokens are far ahead of the others."""
    pytest.importorskip("torch")
    pytest.importorskip("accelerate", reason="transformers divides models only beside accelerate")
    from fakes.small_models import small_definition
    from fakes.tiny_decoders import tiny_decoder

    folder = tmp_path_factory.mktemp("model")
    made: Any = tiny_decoder("llama")
    with torch.no_grad():
        made.lm_head.weight.mul_(40)
    made.save_pretrained(folder)
    write(folder / "tokenizer.json", small_definition())
    return folder


def rows(cli: Cli, folder: Path, model: Path, out: str, *more: str) -> dict[int, object]:
    program = write(folder / "p.sgl", PROGRAM)
    data = write(folder / "rows.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS))
    files = ["--data", str(data), "--out", str(folder / out), "--executor", "torch", "--threads", "1"]
    code, _, err = cli("run", str(program), "--model", str(model), *files, *more)
    assert code == 0, err
    lines = (folder / out).read_text(encoding="utf-8").splitlines()
    return {each["row"]: each["value"] for each in map(json.loads, lines)}


@pytest.mark.slow
def test_two_processes_that_share_a_model_answer_as_one(cli: Cli, tmp_path: Path, model: Path) -> None:
    one = rows(cli, tmp_path, model, "one.jsonl", "--dtype", "float32")
    more = ("--dtype", "float32", "--workers", "1", "--tensor-parallel", "2")
    assert rows(cli, tmp_path, model, "two.jsonl", *more) == one
    assert len(one) == len(ROWS) and len(set(one.values())) > 1


@pytest.mark.slow
def test_a_model_that_cannot_be_divided_ends_the_command(cli: Cli, tmp_path: Path, model: Path) -> None:
    program = write(tmp_path / "p.sgl", PROGRAM)
    data = write(tmp_path / "rows.jsonl", json.dumps(ROWS[0]))
    files = ["--data", str(data), "--out", str(tmp_path / "out.jsonl"), "--model", str(model)]
    more = ("--executor", "native", "--workers", "1", "--tensor-parallel", "2")
    code, _, err = cli("run", str(program), *files, *more)
    assert code == 1 and "computes on one CPU, not on several processes" in err


@pytest.mark.slow
@pytest.mark.parametrize("dying", [0, 1])
def test_where_one_process_dies_the_group_does(dying: int) -> None:
    """The first one would wait for the other one for ever."""

    async def whole() -> None:
        group = await GroupLink.start(2, 1)
        folder, processes = group._folder, [each.process for each in (group._first, *group._others)]
        assert folder.is_dir() and folder.stat().st_mode & 0o077 == 0
        os.kill(processes[dying].pid, signal.SIGKILL)
        assert await group.receive() is None
        await group.close(kill=True)
        assert all(each.poll() is not None for each in processes) and not folder.exists()

    asyncio.run(asyncio.wait_for(whole(), 60))


def pure_setup() -> str:
    """The line that sets a worker up for a function that asks nothing."""
    from sglc.driver import compile_source
    from sglc.runtime.cluster.setup import ProgramSetup, WorkerSetup
    from sglc.source import Source

    program = compile_source(Source("p.sgl", "pub fn f() -> int:\n    return 7\n")).program
    assert program is not None
    return WorkerSetup((ProgramSetup(program, {}),)).line()


@pytest.mark.slow
def test_a_group_ends_in_peace() -> None:
    """Without a model the others have nothing to follow; they end with the first one."""

    async def whole() -> None:
        group = await GroupLink.start(2, 1)
        processes = [each.process for each in (group._first, *group._others)]
        group.send(pure_setup())
        line = await group.receive()
        assert line is not None and "ready" in read(line)
        group.send(written(end=True))
        while await group.receive() is not None:
            pass
        await group.close()
        assert [each.poll() for each in processes] == [0, 0]

    asyncio.run(asyncio.wait_for(whole(), 60))


@pytest.mark.slow
def test_an_actor_of_ray_hands_messages_on_to_its_group() -> None:
    from sglc.runtime.cluster.messages import Asked, call_line
    from sglc.runtime.cluster.ray_links import LineWorker

    worker = LineWorker(2, 1)
    worker.put(pure_setup())
    told = [read(line) for line in worker.take()]
    assert "ready" in told[0]
    worker.put(call_line(1, Asked("f", "{}")))
    while not any("answer" in each for each in told):
        told += map(read, worker.take())
    assert [each["value"] for each in told if "answer" in each] == ["7"]
    worker.put(written(end=True))
    while worker.take():
        pass
