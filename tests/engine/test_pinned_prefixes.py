"""Which prefixes stay pinned, as much of them as there is room for."""

from __future__ import annotations

from fakes.engine_bench import EngineBench
from sglc.runtime.kv.blocks import BLOCK_TOKENS


def tokens(first: int, blocks: int) -> list[int]:
    return [first, *range(1, blocks * BLOCK_TOKENS)]


def pinned(bench: EngineBench, *named: tuple[list[int], int]) -> None:
    """Name each prefix with its users, in order, and compute each with something behind it."""

    async def job() -> None:
        for prefix, users in named:
            bench.engine.pin(prefix, users)
        for prefix, _ in named:
            branch = bench.branch([*prefix, 3])
            await bench.check(branch)
            branch.close()

    bench.run(job())


def stays(bench: EngineBench, prefix: list[int]) -> int:
    """How many of the tokens are in memory once all that nobody holds is evicted."""
    bench.cache.clear()
    return bench.cache.computed(prefix)


def test_what_prefixes_share_counts_once() -> None:
    bench = EngineBench(blocks=40)
    shared = tokens(50, 7)
    each = [[*shared, 60 + number, *range(BLOCK_TOKENS - 1)] for number in range(3)]
    pinned(bench, *((prefix, 1) for prefix in each))
    stats = bench.cache.stats()
    assert (stats.pins, stats.pinned) == (3, 10) and stats.pinned <= 40 // 4
    assert [stays(bench, prefix) for prefix in each] == [8 * BLOCK_TOKENS] * 3


def test_those_of_many_functions_outlive_those_of_few_and_newer_ones_older_ones() -> None:
    bench = EngineBench(blocks=40)
    first, often, second, third = (tokens(50 + number, 4) for number in range(4))
    pinned(bench, (first, 1), (often, 3), (second, 1), (third, 1))
    assert bench.cache.stats().pins == 2
    assert [stays(bench, each) for each in (first, often, second, third)] == [0, 64, 0, 64]


def test_a_prefix_that_was_given_up_is_pinned_when_it_is_computed_again() -> None:
    bench = EngineBench(blocks=40)
    first, second = tokens(50, 8), tokens(51, 8)
    pinned(bench, (first, 1), (second, 1))
    assert stays(bench, first) == 0
    pinned(bench, (first, 1))
    assert stays(bench, first) == 8 * BLOCK_TOKENS and stays(bench, second) == 0


def test_of_a_prefix_longer_than_the_share_its_beginning_is_pinned() -> None:
    bench = EngineBench(blocks=40)
    pinned(bench, (tokens(50, 20), 1))
    assert bench.cache.stats().pinned == 10
    assert stays(bench, tokens(50, 20)) == 10 * BLOCK_TOKENS


def test_a_pool_too_small_for_pins_pins_nothing() -> None:
    bench = EngineBench(blocks=3)
    pinned(bench, (tokens(50, 1), 1))
    assert bench.cache.stats().pins == 0
