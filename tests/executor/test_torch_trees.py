"""Trees of drafts in the torch executor: logits at a token are those of its path as a chain."""

from __future__ import annotations

import asyncio
import copy
from functools import cache
from typing import Any

import numpy as np
import pytest

from fakes.priced_cost import PricedCost
from fakes.small_models import small_tokenizer
from fakes.tiny_decoders import KINDS, tiny_decoder
from late import Late
from sglc.driver import compile_source
from sglc.runtime.engine.open import open_engine
from sglc.runtime.executor.plan import ExecutorError, Piece
from sglc.runtime.kv.blocks import BLOCK_TOKENS
from sglc.runtime.session import Session
from sglc.source import Source

torch = Late("torch")
torch_executor = Late("sglc.runtime.executor.torch_executor")

PARENTS = [-1, 0, 1, -1, 1, 3, 4, 3]
WIDE = [-1, -1, -1, 1, 1]


@cache
def plain(kind: str) -> Any:
    torch.set_num_threads(1)
    return tiny_decoder(kind)


def executor_of(kind: str) -> Any:
    executor = torch_executor.TorchExecutor(copy.deepcopy(plain(kind)), small_tokenizer(), kind)
    executor.reserve(64)
    return executor


def tokens_of(count: int, seed: int) -> list[int]:
    return np.random.default_rng(seed).integers(0, small_tokenizer().size, count).tolist()


def path_of(tokens: list[int], parents: list[int], node: int) -> list[int]:
    path: list[int] = []
    while node >= 0:
        path.insert(0, tokens[node])
        node = parents[node]
    return path


def agree(rows: np.ndarray, chain: np.ndarray) -> None:
    """To 1e-5, relative to the spread of the logits where that is above 1."""
    assert np.abs(rows - chain).max() <= 1e-5 * max(1.0, float(chain.std()))


def chain_rows(executor: Any, table: list[int], start: int, path: list[int]) -> np.ndarray:
    """Logits after the last token of a path, computed as a chain behind what lies in the table."""
    return executor.run([Piece(table, start, path)])[0]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("before", [3, 45])
def test_logits_of_a_tree_are_those_of_its_paths(kind: str, before: int) -> None:
    """Trees of two shapes, a chain and a single token in one step; behind a common beginning, so that it is
    read once, and with sliding windows that end before the trees."""
    executor = executor_of(kind)
    prompt = tokens_of(before + 16, 1)
    tables = [[20 * each + 2 * block for block in range(8)] for each in range(3)]
    for table in tables:
        executor.run([Piece(table, 0, prompt, 0)])
    first, second = tokens_of(10, 2), tokens_of(6, 3)
    start = len(prompt)
    rows = executor.run(
        [
            Piece(tables[0], start, first, 9, PARENTS),  # a token that was drawn, one more, then the tree
            Piece(tables[1], start, second, 6, WIDE),
            Piece(tables[2], start, [5, 6, 7], 1),
        ]
    )
    cases = [(tables[0], first, PARENTS, rows[:9]), (tables[1], second, WIDE, rows[9:15])]
    for table, tokens, parents, found in cases:
        begin = len(tokens) - len(parents)
        for node in range(-1, len(parents)):
            path = tokens[:begin] + path_of(tokens[begin:], parents, node)
            agree(found[node + 1], chain_rows(executor, table, start, path))
    agree(rows[15], chain_rows(executor, tables[2], start, [5, 6, 7]))
    with torch.inference_mode():
        whole = [*prompt, *first[:2], *path_of(first[2:], PARENTS, 6)]
        logits = plain(kind)(torch.tensor([whole]), use_cache=False).logits[0, -1].numpy()
    np.testing.assert_allclose(rows[7], logits, atol=2e-4 * logits.std(), rtol=1e-4)


@pytest.mark.parametrize("kind", ["llama", "mistral", "gpt2"])
def test_moved_keys_and_values_are_those_of_the_path_as_a_chain(kind: str) -> None:
    """Over a block's end, and onto places that are read in the same move."""
    executor = executor_of(kind)
    prompt = tokens_of(13, 1)
    table, other = [3, 9, 5], [1, 2, 4]
    tokens = tokens_of(8, 2)
    path, places = path_of(tokens, PARENTS, 6), [0, 1, 4, 6]
    rows = executor.run([Piece(table, 0, [*prompt, *tokens], 1, PARENTS)])
    assert len(rows) == 1

    def place(position: int) -> int:
        return table[position // BLOCK_TOKENS] * BLOCK_TOKENS + position % BLOCK_TOKENS

    held = executor.read_places([place(13 + number) for number in places])
    executor.write_places([place(13 + at) for at in range(len(places))], held)
    executor.run([Piece(other, 0, [*prompt, *path], 1)])
    end = 13 + len(path)
    found, expected = (executor.run([Piece(each, end, [7, 8], 2)]) for each in (table, other))
    agree(found, expected)


@pytest.mark.parametrize(
    ("piece", "message"),
    [
        (Piece([0], 0, [1, 2, 3], 1, [-1, 1]), "does not follow an earlier one"),
        (Piece([0], 0, [1, 2, 3], 1, [-2, -1]), "does not follow an earlier one"),
        (Piece([0], 0, [1, 2], 1, [-1, 0]), "a token before it"),
    ],
)
def test_what_is_no_tree_is_refused(piece: Piece, message: str) -> None:
    with pytest.raises(ExecutorError, match=message):
        executor_of("llama").run([piece])


PROGRAM = """
record Note:
    who: str matching /[a-z]{2,6}( [a-z]{2,6}){0,2}/
    pages: [int in 1..40; 1..3]

pub fn notes(warmth: float) -> str:
    user: | the answer the answer
    assistant:
        | ?{first: Note temp warmth} and ?{line: str max 30 chars temp warmth}
        | ?{mood: "calm" | "cheerful" | "worried" temp warmth}
    return "${first} ${line} ${mood}"
"""


def written(kind: str, draft: str | None, seeds: range) -> tuple[list[Any], list[Piece]]:
    """Texts of a program, sampled and greedy, two at a time; and the trees that were computed."""
    program = compile_source(Source("notes.sgl", PROGRAM)).program
    assert program is not None
    executor = executor_of(kind)
    trees: list[Piece] = []
    step = executor.step

    def noted(pieces: Any) -> Any:
        trees.extend(piece for piece in pieces if piece.parents)
        return step(pieces)

    executor.step = noted
    engine = open_engine(executor, memory=64 * executor.block_bytes, speculate=True)
    engine.cost = None if draft is None else PricedCost(lambda rows: 0.004)
    if draft is not None and draft != "none":
        other = executor_of(draft)
        engine.draft = open_engine(other, memory=64 * other.block_bytes, speculate=True)
        engine.draft.cost = PricedCost(lambda rows: 1e-6)
        for each in (engine, engine.draft):
            each.cost.record(1, 1.0)
    session = Session(program, engine)

    async def together(seed: int) -> list[Any]:
        runs = (session.run("notes", {"warmth": warmth}, seed=seed) for warmth in (0.0, 0.9))
        return [(each.text, each.statistics.output_tokens) for each in await asyncio.gather(*runs)]

    texts = [asyncio.run(together(seed)) for seed in seeds]
    engine.cache.check()
    stats = engine.get_cache_stats()
    assert stats.held == stats.pinned
    return texts, trees


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "draft"), [("llama", "llama"), ("mistral", "llama"), ("gpt2", "none")])
def test_programs_write_the_same_with_trees(kind: str, draft: str) -> None:
    plain_texts, _ = written(kind, None, range(3))
    texts, trees = written(kind, draft, range(3))
    assert texts == plain_texts
    assert len(trees) > 2
