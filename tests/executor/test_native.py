"""The native executor: right against numpy and transformers, the same to the last bit however it is fed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from checkout import DOCS

pytest.importorskip("llvmlite")

from fakes.small_models import small_definition, small_tokenizer
from oracles.llama_reference import CONFIGS, VOCABULARY, config_of, logits, random_weights, write_model
from sglc.runtime.executor import native
from sglc.runtime.executor.choose import load_executor
from sglc.runtime.executor.native import NativeExecutor
from sglc.runtime.executor.plan import ExecutorError, Piece
from sglc.runtime.executor.thread_pool import ThreadPool
from sglc.runtime.kv.blocks import BLOCK_TOKENS
from sglc.runtime.model import load
from sglc.runtime.model.weights.errors import ModelError
from sglc.runtime.model.weights.family import Family, NotNativeError, family_of
from sglc.runtime.model.weights.packed import PackedModel, open_packed, pack

BLOCKS = 64


class Weights:
    """A `Source` of weights in memory."""

    def __init__(self, weights: dict[str, np.ndarray]) -> None:
        self.weights = weights

    def matrix(self, name: str) -> Any:
        from sglc.kernels.llama.weight_layout import quantised

        return quantised(self.weights[name], 8)

    def vector(self, name: str) -> np.ndarray:
        return self.weights[name]


@cache
def model(kind: str) -> tuple[Family, dict[str, np.ndarray], PackedModel]:
    family = family_of(config_of(kind))
    weights = random_weights(family)
    with TemporaryDirectory() as folder:
        pack(Weights(weights), family, Path(folder, "packed"), "test")
        packed = open_packed(Path(folder, "packed"), family, "test")
    assert packed is not None
    return family, weights, packed


def executor_of(kind: str, threads: int | None = 2) -> NativeExecutor:
    family, _, packed = model(kind)
    executor = NativeExecutor(kind, small_tokenizer(), family, packed, threads)
    executor.reserve(BLOCKS)
    return executor


def random_tokens(count: int, seed: int) -> list[int]:
    return np.random.default_rng(seed).integers(0, VOCABULARY, count).tolist()


class Branch:
    """A sequence with scattered blocks of its own."""

    def __init__(self, executor: NativeExecutor, first: int) -> None:
        self.executor, self.next = executor, first
        self.tokens: list[int] = []
        self.table: list[int] = []

    def feed(self, tokens: list[int], wanted: int = 1) -> Piece:
        start = len(self.tokens)
        self.tokens += tokens
        while len(self.table) * BLOCK_TOKENS < len(self.tokens):
            self.table.append(self.next % BLOCKS)
            self.next += 5
        return Piece(list(self.table), start, tokens, wanted)


@cache
def alone(kind: str) -> np.ndarray:
    """Logits of 75 tokens of one sequence, token by token in one thread."""
    executor = executor_of(kind, 1)
    branch = Branch(executor, 3)
    rows = [executor.run([branch.feed([token])]).copy() for token in random_tokens(75, 1)]
    executor.close()
    return np.concatenate(rows)


@pytest.mark.slow
@pytest.mark.parametrize("kind", CONFIGS)
def test_logits_are_those_of_the_plain_computation(kind: str) -> None:
    """Against numpy with inputs of linear layers rounded to bytes: what is left are single bytes."""
    family, weights, _ = model(kind)
    rows, expected = alone(kind), logits(family, weights, random_tokens(75, 1), quantise=True)
    assert rows.shape == (75, VOCABULARY) and rows.dtype == np.float32
    away = np.abs(rows - expected) / expected.std()
    # Sums are rounded a little otherwise, and bytes go the other way now and then; the error is as large.
    assert away.max() < 0.25 and away.mean() < 0.02
    exact = logits(family, weights, random_tokens(75, 1))
    assert np.abs(rows - exact).mean() < 1.15 * np.abs(expected - exact).mean()
    exact = logits(family, weights, random_tokens(75, 1))
    assert np.abs(rows - exact).mean() < 0.05 * expected.std()


@pytest.mark.slow
@pytest.mark.parametrize("kind", CONFIGS)
def test_the_plain_computation_is_that_of_transformers(kind: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from transformers import AutoModelForCausalLM

    family, weights, _ = model(kind)
    write_model(tmp_path, config_of(kind), weights)
    plain = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32, attn_implementation="eager")
    tokens = random_tokens(75, 1)
    with torch.inference_mode():
        rows = plain(torch.tensor([tokens]), use_cache=False).logits[0].numpy()
    expected = logits(family, weights, tokens)
    np.testing.assert_allclose(rows, expected, atol=2e-4 * expected.std(), rtol=1e-4)


@pytest.mark.parametrize("kind", CONFIGS)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_results_do_not_depend_on_how_tokens_come(kind: str, threads: int) -> None:
    """Chunks, batches, other blocks, cuts and threads: equal to the last bit."""
    tokens, expected = random_tokens(75, 1), alone(kind)
    executor = executor_of(kind, threads)
    whole = Branch(executor, 0)
    assert np.array_equal(executor.run([whole.feed(tokens, 75)]), expected)

    a, b, c = Branch(executor, 1), Branch(executor, 2), Branch(executor, 3)
    executor.run([a.feed(tokens[:13], 0), b.feed(tokens[:33], 0), c.feed(tokens[:1], 1)])
    rows = executor.run([a.feed(tokens[13:20], 3), b.feed(tokens[33:34]), c.feed(tokens[1:60], 59)])
    assert np.array_equal(rows, np.concatenate([expected[17:20], expected[33:34], expected[1:60]]))

    # Other tokens, then back: what was there is computed over.
    executor.run([b.feed(random_tokens(20, 7), 0)])
    back = Piece(b.table, 30, tokens[30:50], 20)
    rows = executor.run([a.feed(tokens[20:22], 2), back])
    assert np.array_equal(rows, np.concatenate([expected[20:22], expected[30:50]]))

    # A token of each, whose logits are wanted of one, of none, and of both.
    rows = executor.run([a.feed(tokens[22:23], 0), c.feed(tokens[60:61])])
    assert np.array_equal(rows, expected[60:61])
    assert not len(executor.run([a.feed(tokens[23:24], 0), c.feed(tokens[61:62], 0)]))
    rows = executor.run([a.feed(tokens[24:25]), c.feed(tokens[62:63])])
    assert np.array_equal(rows, expected[[24, 62]])
    executor.close()


def test_long_steps_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """More tokens than one native call takes, over the borders of pieces."""
    tokens, expected = random_tokens(75, 1), alone("llama")
    monkeypatch.setattr(native, "MOST_ROWS", 32)
    executor = executor_of("llama")
    a, b, c = Branch(executor, 1), Branch(executor, 2), Branch(executor, 3)
    rows = executor.run([a.feed(tokens[:20], 4), b.feed(tokens, 70), c.feed(tokens[:9], 0)])
    assert np.array_equal(rows, np.concatenate([expected[16:20], expected[5:]]))
    executor.close()


def test_blocks_go_out_and_come_back() -> None:
    tokens, expected = random_tokens(75, 1), alone("mistral")
    executor = executor_of("mistral")
    branch = Branch(executor, 1)
    executor.run([branch.feed(tokens[:40], 0)])
    kept = [executor.read_block(block) for block in branch.table]
    assert {len(data) for data in kept} == {executor.block_bytes}
    moved = [50, 51, 52]
    executor.write_block(50, kept[0])
    executor.copy_block(branch.table[1], 51)
    executor.write_block(52, kept[2])
    executor.reserve(BLOCKS + 30)  # what the pool holds is kept
    rows = executor.run([Piece(moved, 40, tokens[40:41], 1)])
    assert np.array_equal(rows, expected[40:41])
    assert executor.read_block(50) == kept[0]
    with pytest.raises(ValueError, match="a block has"):
        executor.write_block(3, b"short")
    executor.close()


@pytest.mark.parametrize(
    ("piece", "reason"),
    [
        (Piece([0], 0, [], 0), "positions"),
        (Piece([0], -1, [1], 1), "positions"),
        (Piece([0] * 40, 510, [1, 2, 3], 1), "window of 512"),
        (Piece([0], 0, [1], 2), "logits of 2 of 1"),
        (Piece([0], 0, [VOCABULARY], 1), "a token that"),
        (Piece([0], 0, [-1], 1), "a token that"),
        (Piece([0], 16, [1], 1), "1 blocks for 17"),
        (Piece([BLOCKS], 0, [1], 1), "a block that a pool of 64"),
        (Piece([-1], 0, [1], 1), "a block that"),
    ],
)
def test_a_wrong_piece_is_refused(piece: Piece, reason: str) -> None:
    executor = executor_of("llama", 1)
    with pytest.raises(ExecutorError, match=reason):
        executor.run([piece])
    executor.close()
    with pytest.raises(ExecutorError, match="closed"):
        executor.run([Piece([0], 0, [1], 1)])


# -- threads ----------------------------------------------------------------------------------------------


def test_an_interrupt_leaves_no_thread_behind() -> None:
    """Wherever it comes, before, in or behind the caller's part: all parts run once, and it is raised."""
    for moment in range(4):
        pool = ThreadPool(3)
        ran: list[int] = []
        begun = threading.Barrier(3)

        def part(number: int, count: int, ran: list[int] = ran, begun: threading.Barrier = begun) -> None:
            begun.wait(10)
            ran.append(number)
            if number == 0:
                raise KeyboardInterrupt

        def interrupted() -> None:
            raise KeyboardInterrupt

        class Lock:
            """Releases, then is interrupted."""

            def __init__(self, lock: Any) -> None:
                self.lock = lock

            def release(self) -> None:
                self.lock.release()
                interrupted()

            def acquire(self) -> None:
                self.lock.acquire()

        if moment:
            pool._park()
            pool._starts = [Lock(each) if moment & 1 << i else each for i, each in enumerate(pool._starts)]
        with pytest.raises(KeyboardInterrupt):
            pool.run(part, (), (), 3)
        assert sorted(ran) == [0, 1, 2]
        pool._starts = [getattr(each, "lock", each) for each in pool._starts]
        begun.reset()
        with pytest.raises(KeyboardInterrupt):
            pool.run(part, (), (), 3)
        assert sorted(ran) == [0, 0, 1, 1, 2, 2]
        pool.close()
        assert not pool._threads


# -- which models ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "change", "reason"),
    [
        ("llama", {"model_type": "gemma"}, "architecture is gemma"),
        ("llama", {"attention_bias": True}, "biases"),
        ("llama", {"mlp_bias": True}, "biases"),
        ("llama", {"hidden_act": "gelu"}, "activation function is gelu"),
        ("llama", {"head_dim": 40}, "heads of 40"),
        ("llama", {"hidden_size": 72}, "width of 72"),
        ("llama", {"num_key_value_heads": 4}, "6 heads share 4"),
        ("llama", {"rope_parameters": {"rope_type": "yarn", "factor": 2.0}}, "scaled as yarn"),
        ("llama", {"rope_parameters": {"full_attention": {"rope_theta": 1.0}}}, "different ways"),
        ("llama", {"quantization_config": {"bits": 4}}, "quantised"),
        ("llama", {"layer_types": ["full_attention", "linear_attention"]}, "different kinds"),
        ("llama", {"hidden_size": "many"}, "not understood"),
        ("qwen2", {"layer_types": ["full_attention", "linear_attention"]}, "not known"),
        ("qwen3", {"attention_bias": True}, "biases"),
    ],
)
def test_what_is_not_computed_is_refused(kind: str, change: dict[str, Any], reason: str) -> None:
    with pytest.raises(NotNativeError, match=reason):
        family_of({**config_of(kind), **change})


@pytest.mark.slow
@pytest.mark.parametrize(
    "rope",
    [
        {"rope_type": "default", "rope_theta": 10000.0},
        {"rope_type": "linear", "rope_theta": 500.0, "factor": 4.0},
        {
            "rope_type": "llama3",
            "rope_theta": 500000.0,
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 256,
        },
    ],
    ids=lambda rope: rope["rope_type"],
)
def test_rotations_are_those_of_transformers(rope: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    from transformers.models.llama.configuration_llama import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    config = {**config_of("llama"), "head_dim": 128, "rope_parameters": rope}
    cosines, sines = family_of(config).angles(0, 512)
    wanted = LlamaRotaryEmbedding(LlamaConfig.from_dict(config))(torch.zeros(1), torch.arange(512)[None])
    for found, right in zip((cosines, sines), wanted, strict=True):
        np.testing.assert_allclose(found, right[0, :, :64].numpy(), atol=1e-4)


# -- from a name to an executor -------------------------------------------------------------------------


def folder_of(kind: str, place: Path, **change: Any) -> Path:
    folder = place / kind
    _, weights, _ = model(kind)
    write_model(folder, {**config_of(kind), **change}, weights)
    (folder / "tokenizer.json").write_text(small_definition())
    return folder


@pytest.mark.slow
def test_a_folder_is_loaded_and_its_packed_weights_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SGLC_CACHE_DIR", str(tmp_path / "cache"))
    folder = folder_of("qwen3", tmp_path)
    done = []
    executor = load_executor(str(folder), progress=lambda doing, *_: done.append(doing), threads=2)
    assert executor.kind == "native" and executor.invariant and "packing the weights" in done
    executor.reserve(BLOCKS)
    tokens = random_tokens(75, 1)
    assert np.array_equal(executor.run([Branch(executor, 1).feed(tokens, 75)]), alone("qwen3"))  # type: ignore[arg-type]
    executor.close()
    (kept,) = (tmp_path / "cache" / "native").glob("*.bin")

    done.clear()
    load_executor(str(folder), progress=lambda doing, *_: done.append(doing)).close()
    assert not done
    damaged = bytearray(kept.read_bytes())
    damaged[70000] ^= 1
    kept.write_bytes(damaged)
    load_executor(str(folder), progress=lambda doing, *_: done.append(doing)).close()
    assert done  # made again
    os.utime(folder / "model.safetensors", ns=(1, 1))
    load_executor(str(folder), kind="native", dtype="q4").close()
    assert len(list((tmp_path / "cache" / "native").glob("*.bin"))) == 2


@pytest.mark.slow
def test_a_model_that_is_not_native_is_refused_or_goes_to_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.setenv("SGLC_CACHE_DIR", str(tmp_path / "cache"))
    folder = folder_of("llama", tmp_path, rope_parameters={"rope_type": "dynamic", "factor": 2.0})
    with pytest.raises(ModelError) as raised:
        load_executor(str(folder), kind="native")
    assert "scaled as dynamic" in str(raised.value.why)
    for arguments in (
        {"kind": "native", "dtype": "float32"},
        {"kind": "native", "device": "cuda"},
        {"kind": "torch", "dtype": "q8"},
        {"dtype": "q4"},
    ):
        with pytest.raises(ModelError):
            load_executor(str(folder), **arguments)  # type: ignore[arg-type]
    shutil.rmtree(folder)
    folder = folder_of("llama", tmp_path)
    executor = load_executor(str(folder), dtype="float32", threads=1)
    assert executor.kind == "torch"
    executor.close()


def test_weights_that_do_not_fit_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SGLC_CACHE_DIR", str(tmp_path / "cache"))
    folder = folder_of("llama", tmp_path, intermediate_size=128)
    with pytest.raises(ModelError, match="do not fit"):
        load_executor(str(folder))
    assert not list((tmp_path / "cache" / "native").iterdir())
    folder = folder_of("llama", tmp_path, num_hidden_layers=3)
    with pytest.raises(ModelError) as raised:
        load_executor(str(folder))
    assert "model.layers.2" in str(raised.value.why)


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.skipif(
    not (load.cached_folder(load.DEFAULT) or load.package_file()), reason="no SmolLM2 weights at hand"
)
def test_smollm2_is_close_to_its_exact_weights() -> None:
    """Against transformers in float32 on the same GGUF file, on a page of prose."""
    torch = pytest.importorskip("torch")
    from sglc.runtime.model.transformers_model import TransformersModel

    folder = load.resolve(load.DEFAULT)
    executor = load_executor(load.DEFAULT, kind="native")
    text = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    tokens = executor.tokenizer.encode(text)[:300]
    executor.reserve(30)
    rows = torch.tensor(executor.run([Piece(list(range(30)), 0, tokens, len(tokens))]).copy())
    executor.close()
    plain = TransformersModel.from_directory(folder, dtype="float32")
    right = torch.tensor(plain.forward(plain.new_cache(), tokens, every=True))
    right, rows = right.log_softmax(-1), rows.log_softmax(-1)
    assert (right.exp() * (right - rows)).sum(-1).mean() < 5e-3
    assert (right.argmax(-1) == rows.argmax(-1)).float().mean() > 0.95


@pytest.mark.slow
def test_the_native_path_does_not_import_torch(tmp_path: Path) -> None:
    folder = folder_of("llama", tmp_path)
    code = (
        "import sys; from sglc.runtime.executor.choose import load_executor; "
        f"e = load_executor({str(folder)!r}); e.close(); "
        "print(e.kind, sorted({'torch', 'transformers', 'safetensors'} & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "SGLC_CACHE_DIR": str(tmp_path / "cache")},
    )
    assert run.stdout.split("\n")[0] == "native []"
