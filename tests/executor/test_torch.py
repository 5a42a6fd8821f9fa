"""The torch executor: logits of ragged steps over blocks are those of the plain model on each sequence."""

from __future__ import annotations

import copy
import os
import platform
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fakes.small_models import small_definition, small_tokenizer
from fakes.tiny_decoders import KINDS, tiny_decoder
from late import Late
from oracles.decoding.noise import score
from sglc.runtime.executor.freed_memory import keep_freed_memory
from sglc.runtime.executor.plan import ExecutorError, Picking, Piece
from sglc.runtime.kv.blocks import BLOCK_TOKENS
from sglc.runtime.model.weights.errors import ModelError

torch = Late("torch")
torch_executor = Late("sglc.runtime.executor.torch_executor")

BLOCKS = 200


@cache
def plain(kind: str) -> Any:
    torch.set_num_threads(1)
    return tiny_decoder(kind)


def executor_of(kind: str) -> torch_executor.TorchExecutor:
    executor = torch_executor.TorchExecutor(copy.deepcopy(plain(kind)), small_tokenizer(), kind)
    executor.reserve(BLOCKS)
    return executor


def random_tokens(count: int, seed: int) -> list[int]:
    return np.random.default_rng(seed).integers(0, small_tokenizer().size, count).tolist()


class Branch:
    """A sequence with blocks of its own, and the oracle: the plain model on all of its tokens at once."""

    free = 0

    def __init__(self, executor: torch_executor.TorchExecutor, kind: str) -> None:
        self.executor, self.kind = executor, kind
        self.tokens: list[int] = []
        self.table: list[int] = []

    def feed(self, tokens: list[int], wanted: int = 1) -> Piece:
        start = len(self.tokens)
        self.tokens = self.tokens + tokens
        while len(self.table) * BLOCK_TOKENS < len(self.tokens):
            Branch.free = (Branch.free + 7) % BLOCKS  # scattered: 7 and 200 have no common divisor
            self.table = [*self.table, Branch.free]
        return Piece(self.table, start, tokens, wanted)

    def fork(self) -> Branch:
        """Shares whole blocks, copies the partial one."""
        other = Branch(self.executor, self.kind)
        other.tokens = list(self.tokens)
        whole = len(self.tokens) // BLOCK_TOKENS
        other.table = list(self.table[:whole])
        if len(self.tokens) % BLOCK_TOKENS:
            Branch.free = (Branch.free + 7) % BLOCKS
            self.executor.copy_block(self.table[whole], Branch.free)
            other.table.append(Branch.free)
        return other

    def cut(self, length: int) -> None:
        self.tokens = self.tokens[:length]
        self.table = self.table[: -(-length // BLOCK_TOKENS)]

    def expected(self, wanted: int = 1) -> np.ndarray:
        with torch.inference_mode():
            logits = plain(self.kind)(torch.tensor([self.tokens]), use_cache=False).logits[0]
        return logits[len(logits) - wanted :].numpy()


def close(rows: np.ndarray, expected: list[np.ndarray]) -> None:
    right = np.concatenate(expected)
    assert rows.dtype == np.float32 and rows.shape == right.shape
    np.testing.assert_allclose(rows, right, atol=2e-4 * right.std(), rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_logits_are_those_of_the_plain_model(kind: str) -> None:
    Branch.free = 0
    executor = executor_of(kind)
    base = Branch(executor, kind)
    executor.run([base.feed(random_tokens(100, 1), 0)])
    prompt = Branch(executor, kind)
    rows = executor.run([prompt.feed(random_tokens(45, 2), 3)])
    close(rows, [prompt.expected(3)])

    # One step: suffixes of forks, a fresh prompt, a token, a chunk in the middle, drafts.
    a, b, c = base.fork(), base.fork(), base.fork()
    fresh = Branch(executor, kind)
    rows = executor.run(
        [
            a.feed(random_tokens(9, 3), 2),
            fresh.feed(random_tokens(33, 4)),
            b.feed([5]),
            prompt.feed(random_tokens(40, 5), 0),
            c.feed(random_tokens(4, 6), 4),
        ]
    )
    close(rows, [a.expected(2), fresh.expected(), b.expected(), c.expected(4)])

    # All decode, of unlike lengths, many behind one beginning; twice, so that blocks fill up.
    others = [base.fork() for _ in range(12)]
    for turn in range(2):
        branches = [a, fresh, b, prompt, c, *others]
        rows = executor.run(
            [branch.feed(random_tokens(1, 20 * turn + i)) for i, branch in enumerate(branches)]
        )
        close(rows, [branch.expected() for branch in branches])

    # Cut back, also by more than a block, then other tokens over the old ones.
    a.cut(97)
    prompt.cut(40)
    rows = executor.run([a.feed(random_tokens(3, 8), 3), prompt.feed(random_tokens(20, 9), 1)])
    close(rows, [a.expected(3), prompt.expected()])


def test_a_prompt_may_be_cut_into_pieces_in_any_way() -> None:
    Branch.free = 0
    executor = executor_of("mistral")
    tokens = random_tokens(120, 11)
    for cuts in ([120], [50, 70], [1, 2, 3, 114], [33, 33, 54], [16] * 7 + [8]):
        branch = Branch(executor, "mistral")
        start, parts = 0, []
        for cut in cuts:
            parts.append(executor.run([branch.feed(tokens[start : start + cut], cut)]).copy())
            start += cut
        close(np.concatenate(parts), [branch.expected(120)])


@pytest.mark.parametrize("kind", ["llama", "mistral", "gemma2", "gpt2"])
def test_blocks_of_several_sequences_may_follow_each_other(kind: str) -> None:
    executor = executor_of(kind)
    prompts = [random_tokens(20, 31 + place) for place in range(4)]
    tables = [[2 * place, 2 * place + 1] for place in range(4)]
    rows = [executor.run([Piece(*each) for each in zip(tables, [0] * 4, prompts, [1] * 4, strict=True)])]
    rows.append(executor.run([Piece(table, 20, [place], 1) for place, table in enumerate(tables)]))
    for length, found in zip((20, 21), rows, strict=True):
        right = Branch(executor, kind)
        expected = []
        for place, prompt in enumerate(prompts):
            right.tokens = [*prompt, place][:length]
            expected.append(right.expected())
        close(found, expected)


def test_blocks_go_out_and_come_back() -> None:
    Branch.free = 0
    executor = executor_of("gemma2")
    branch = Branch(executor, "gemma2")
    executor.run([branch.feed(random_tokens(40, 1), 0)])
    kept = [executor.read_block(block) for block in branch.table]
    assert {len(data) for data in kept} == {executor.block_bytes}
    assert executor.block_bytes == 3 * 2 * 2 * 8 * BLOCK_TOKENS * 4
    executor.reserve(BLOCKS + 30)
    table = list(range(BLOCKS, BLOCKS + 3))
    for block, data in zip(table, kept, strict=True):
        executor.write_block(block, data)
    branch.table = table
    close(executor.run([branch.feed([3])]), [branch.expected()])
    with pytest.raises(ValueError, match="a block has"):
        executor.write_block(0, b"short")


def test_executors_of_one_model_know_each_other_and_no_other() -> None:
    one, same = executor_of("llama"), executor_of("llama")
    assert one.identity == same.identity
    other = copy.deepcopy(plain("llama"))
    with torch.no_grad():
        other.model.layers[1].mlp.up_proj.weight.mul_(1.01)
    rotated = tiny_decoder("llama", rope_parameters={"rope_type": "default", "rope_theta": 123.0})
    narrow = copy.deepcopy(plain("llama")).bfloat16()
    for model in (other, rotated, narrow):
        assert torch_executor.TorchExecutor(model, small_tokenizer(), "llama").identity != one.identity


def test_growing_the_pool_keeps_what_it_holds() -> None:
    Branch.free = 0
    executor = executor_of("llama")
    branch = Branch(executor, "llama")
    executor.run([branch.feed(random_tokens(40, 1), 0)])
    executor.reserve(3 * BLOCKS)
    executor.reserve(10)
    assert executor.pool.blocks == 3 * BLOCKS
    close(executor.run([branch.feed([3])]), [branch.expected()])


def test_no_logits_are_made_where_none_are_wanted() -> None:
    Branch.free = 0
    executor = executor_of("llama")
    branch = Branch(executor, "llama")
    assert executor.run([branch.feed([1, 2, 3], 0)]).shape == (0, small_tokenizer().size)


@pytest.mark.parametrize(
    ("piece", "message"),
    [
        (Piece([0], 0, []), "no tokens"),
        (Piece([0], -1, [1]), "no tokens"),
        (Piece([0], 0, [1], 2), "more rows"),
        (Piece([0], 10, [1] * 7), "too short"),
        (Piece([BLOCKS], 0, [1]), "does not have"),
        (Piece([-1], 0, [1]), "does not have"),
        (Piece([0], 0, [10_000]), "vocabulary"),
        (Piece([0], 0, [-1]), "vocabulary"),
        (Piece(list(range(33)), 512, [1]), "beyond"),
    ],
)
def test_pieces_that_do_not_fit_are_refused_and_nothing_is_lost(piece: Piece, message: str) -> None:
    Branch.free = 0
    executor = executor_of("llama")
    branch = Branch(executor, "llama")
    executor.run([branch.feed(random_tokens(20, 1), 0)])
    with pytest.raises(ExecutorError, match=message):
        executor.run([branch.feed([7]), piece])
    branch.cut(20)
    close(executor.run([branch.feed([7])]), [branch.expected()])


def test_two_pieces_cannot_write_one_place() -> None:
    executor = executor_of("llama")
    with pytest.raises(ExecutorError, match="one place"):
        executor.run([Piece([3], 0, [1, 2]), Piece([3], 1, [1])])


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "sinks": ("gpt_oss", {"num_local_experts": 4, "num_experts_per_tok": 2}, "s_aux"),
    "a slope for positions": ("bloom", {"n_head": 6, "n_layer": 2}, "attention be replaced"),
    "a recurrent layer": ("qwen3_next", {}, "linear_attention"),
    "a state space": ("mamba", {}, "attention"),
    "attention both ways": ("gemma3_text", {"use_bidirectional_attention": True}, "later positions"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_what_the_attention_does_not_do_is_refused_at_load(case: tuple[str, dict[str, Any], str]) -> None:
    kind, settings, message = case
    with pytest.raises(ModelError, match=message):
        torch_executor.TorchExecutor(tiny_decoder(kind, **settings), small_tokenizer(), kind)


def test_a_model_that_does_something_else_besides_is_refused() -> None:
    model = tiny_decoder("llama")
    first = model.model.layers[0].self_attn

    def with_a_bias(*arguments: Any, **named: Any) -> Any:
        out, weights = type(first).forward(first, *arguments, **named)
        return out + (first.config._attn_implementation == "sdpa"), weights

    first.forward = with_a_bias
    with pytest.raises(ModelError, match="does more than it says"):
        torch_executor.TorchExecutor(model, small_tokenizer(), "odd")


def test_rotations_that_change_with_the_length_bound_the_context() -> None:
    factors = {"short_factor": [1.0] * 4, "long_factor": [4.0] * 4}
    rotation = {"rope_type": "longrope", "rope_theta": 1e4, **factors}
    model = tiny_decoder("llama", rope_parameters={**rotation, "original_max_position_embeddings": 128})
    assert torch_executor.TorchExecutor(model, small_tokenizer(), "scaled").context_length == 128


def test_tokens_are_picked_where_the_logits_are() -> None:
    Branch.free = 0
    executor = executor_of("llama")
    branch = Branch(executor, "llama")
    piece = branch.feed(random_tokens(30, 1), 6)
    logits = executor.run([piece]).copy()
    size = logits.shape[1]
    generator = np.random.default_rng(3)
    allowed = generator.random((6, size)) < 0.1
    allowed[4] = False
    words = np.zeros((6, -(-size // 32) * 32), dtype=bool)
    words[:, :size] = allowed
    masks = np.packbits(words, axis=1, bitorder="little").view(np.int32)
    pickings = [Picking(), Picking(0.7, 1), Picking(0.7, 2**40), Picking(2.0, 3), Picking(), Picking()]
    tokens = executor.pick(executor.launch([piece]), range(6), masks, pickings).tokens

    legal = np.where(allowed, logits.astype(np.float64), -np.inf)
    assert tokens[0] == legal[0].argmax() and tokens[5] == legal[5].argmax() and tokens[4] == -1
    for row in (1, 2, 3):
        warmth, key, top = pickings[row].temperature, pickings[row].key, legal[row].max()
        scores = [score(legal[row][id], top, warmth, id, key) for id in range(size)]
        assert scores[tokens[row]] >= max(scores) - 1e-4

    free = executor.pick(executor.launch([piece]), range(6), None, [Picking()] * 6)
    assert free.tokens.tolist() == logits.argmax(1).tolist() and free.rows.shape == (0, size)

    some = executor.pick(executor.launch([piece]), [1, 5], masks[[1, 5]], [pickings[1], pickings[5]])
    assert some.tokens.tolist() == tokens[[1, 5]].tolist()
    assert np.array_equal(some.rows, logits[[0, 2, 3, 4]])


# -- threads and memory ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts threads by /proc")
def test_loading_leaves_no_threads_behind(tmp_path: Path) -> None:
    """A second team of OpenMP's threads would slow down the one that computes steps."""
    tiny_decoder("llama", hidden_size=480, intermediate_size=960).save_pretrained(tmp_path)
    (tmp_path / "tokenizer.json").write_text(small_definition(), encoding="utf-8")
    script = (
        "import os, sys, time, torch; torch.set_num_threads(2)\n"
        "from sglc.runtime.executor.torch_executor import TorchExecutor\n"
        "threads = lambda: len(os.listdir('/proc/self/task'))\n"
        "before = threads()\n"
        "executor = TorchExecutor.from_directory(sys.argv[1], dtype='bfloat16', threads=2)\n"
        "for _ in range(100):\n"
        "    if threads() > before: time.sleep(0.1)  # those that read the weights are ending\n"
        "print(threads() - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script, str(tmp_path)], capture_output=True, text=True, timeout=300
    )
    assert done.stdout.strip() == "0", done.stderr


def test_steps_of_prompts_are_as_large_as_their_activations_allow() -> None:
    class Config:
        hidden_size, intermediate_size = 4096, 14336

    assert torch_executor.prompt_tokens(Config(), torch.bfloat16) == (256 << 20) // (
        2 * (8 * 4096 + 3 * 14336)
    )
    Config.hidden_size, Config.intermediate_size = 64, 128
    assert torch_executor.prompt_tokens(Config(), torch.bfloat16) == 4096
    Config.hidden_size, Config.intermediate_size = 1 << 20, 1 << 22
    assert torch_executor.prompt_tokens(Config(), torch.float32) == 256


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="an option of glibc")
def test_freed_memory_is_kept() -> None:
    assert keep_freed_memory()
