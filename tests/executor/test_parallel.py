"""One model on two processes: rank 0 asks, the other follows, and logits are those of one process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkout import SUPPORT
from late import Late
from sglc.runtime.executor.plan import Piece
from sglc.runtime.model.weights.errors import ModelError

torch = Late("torch")
parallel = Late("sglc.runtime.executor.parallel")

NUMBERS = st.lists(st.integers(0, 10**6), min_size=1, max_size=6)
PIECES = st.builds(Piece, NUMBERS, st.integers(0, 10**6), NUMBERS, st.integers(0, 6), parents=st.just(()))


@given(st.lists(PIECES, max_size=5))
@settings(max_examples=50, deadline=None)
def test_pieces_travel_as_numbers(pieces: list[Piece]) -> None:
    assert parallel.decode(parallel.encode(pieces)) == pieces


def test_a_second_model_cannot_be_divided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other processes follow one executor; a second one would wait for them for ever."""
    monkeypatch.setattr("sglc.runtime.executor.parallel._following", ["first"])
    with pytest.raises(ModelError, match="a second model cannot be divided") as refused:
        parallel.ParallelExecutor.from_directory(tmp_path, name="second")
    assert (refused.value.where, refused.value.why) == (
        "second",
        "the other processes compute first and follow no other model",
    )


RANK = """
import os
import sys
sys.path.insert(0, sys.argv[1])
import torch
torch.set_num_threads(1)
import numpy as np
from sglc.runtime.executor.parallel import ParallelExecutor
from sglc.runtime.executor.plan import ExecutorError, Piece

executor = ParallelExecutor.from_directory(sys.argv[2], dtype="float32")
if executor.rank:
    executor.follow()
else:
    tokens = np.random.default_rng(0).integers(0, 300, 60).tolist()
    executor.reserve(10)
    try:
        executor.run([Piece([0], 0, [10_000])])
    except ExecutorError:
        pass
    else:
        raise AssertionError("a token beyond the vocabulary was taken")
    parts = [executor.run([Piece([5, 1, 7, 2], 0, tokens[:50], 50)]).copy()]
    executor.copy_block(2, 4)
    moved = executor.read_block(5)
    assert len(moved) == executor.block_bytes, len(moved)
    executor.reserve(20)
    executor.write_block(15, moved)
    table = [15, 1, 7, 4]
    parts.append(executor.run([Piece([8], 0, tokens[:3], 0), Piece(table, 50, tokens[50:], 10)]).copy())
    np.save(sys.argv[3], np.concatenate(parts))
    executor.close()
os.write(1, f"rank {executor.rank} done {executor.block_bytes}\\n".encode())
torch.distributed.destroy_process_group()
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["llama"])
def test_two_processes_compute_what_one_does(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("accelerate", reason="transformers divides models only beside accelerate")
    from fakes.small_models import small_definition
    from fakes.tiny_decoders import tiny_decoder

    model = tiny_decoder(kind)
    model.save_pretrained(tmp_path / "model")
    (tmp_path / "model" / "tokenizer.json").write_text(small_definition(), encoding="utf-8")
    script = tmp_path / "rank.py"
    script.write_text(RANK, encoding="utf-8")
    rows = tmp_path / "rows.npy"
    run = subprocess.run(
        [
            sys.executable,
            "-P",
            "-m",
            "torch.distributed.run",
            "--standalone",
            "--nproc-per-node",
            "2",
            str(script),
            str(SUPPORT),
            str(tmp_path / "model"),
            str(rows),
        ],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    size = 3 * 2 * 2 * 8 * 16 * 4
    assert sorted(run.stdout.split("\n"))[1:] == [f"rank {rank} done {size}" for rank in (0, 1)]
    tokens = torch.from_numpy(np.random.default_rng(0).integers(0, 300, 60))[None]
    with torch.inference_mode():
        expected = model(tokens, use_cache=False).logits[0].numpy()
    np.testing.assert_allclose(np.load(rows), expected, atol=2e-4 * expected.std(), rtol=1e-4)
