"""The memory of keys and values, case by case: sharing, copies, refusals, eviction, pins, accounts."""

from __future__ import annotations

import pytest

from oracles.kv_model import Model, press, released, run, written
from sglc.runtime.kv.accounts import MAX_OWNERS, OTHERS
from sglc.runtime.kv.blocks import BLOCK_TOKENS, BlockPool, PoolFull
from sglc.runtime.kv.cache import KVCache
from sglc.runtime.kv.eviction import Policy

# -- sharing -----------------------------------------------------------------------------------------------


def test_whole_blocks_are_shared_and_the_last_one_is_copied() -> None:
    model = Model(20)
    first = written(model, run(0, 40))
    second = model.cache.open(run(0, 38))
    assert second.length == 38
    assert second.table[:2] == first.table[:2]
    assert second.table[2] != first.table[2]
    assert model.content[second.table[2]][:6] == model.content[first.table[2]][:6]


def test_a_match_ends_anywhere_inside_of_a_block() -> None:
    model = Model(40)
    released(model, run(0, 64))
    for length in (1, 15, 16, 17, 31, 33, 50, 63, 64):
        sequence = model.cache.open([*run(0, length), 999])
        assert sequence.length == length
        sequence.release()
        model.cache.check()


def test_of_many_continuations_the_one_most_alike_is_found() -> None:
    model = Model(600)
    for value in range(70):
        released(model, [*run(0, 20), value % 3, value % 7, value % 11, value])
    sequence = model.cache.open([*run(0, 20), 2, 4, 10, 1000])
    assert sequence.length == 23


def test_what_is_being_written_is_found_before_its_block_is_full() -> None:
    model = Model(20)
    writer = written(model, run(0, 21))
    reader = model.cache.open(run(0, 30))
    assert reader.length == 21
    writer.rollback(18)
    reader.release()
    model.cache.clear()
    assert model.cache.computed(run(0, 30)) == 18


def test_tokens_behind_a_whole_block_are_found_as_they_are_written() -> None:
    model = Model(20)
    written(model, run(0, 16))
    for token in range(16, 20):
        model.extend(0, [token])
        assert model.cache.computed(run(0, 30)) == token + 1


def test_a_sequence_takes_over_what_others_computed_since() -> None:
    model = Model(20)
    waiting = model.cache.open(run(0, 50))
    assert waiting.length == 0
    writer = written(model, run(0, 45))
    assert waiting.reuse(run(0, 50)) == 45
    assert waiting.table[:2] == writer.table[:2]
    assert waiting.reuse(run(45, 5)) == 0
    model.open.append((waiting, run(0, 45)))
    model.check()


def test_two_that_compute_the_same_block_keep_one() -> None:
    model = Model(20)
    one, other = model.cache.open(run(0, 16)), model.cache.open(run(0, 16))
    for sequence in (one, other):
        sequence.reserve(16)
        model.compute(sequence, run(0, 16))
    assert one.table != other.table
    one.commit(run(0, 16))
    other.commit(run(0, 16))
    assert one.table == other.table
    stats = model.cache.stats()
    assert (stats.adopted, stats.held) == (1, 1)


def test_ends_of_released_sequences_do_not_pile_up() -> None:
    model = Model(20)
    for length in (3, 5, 4, 9, 20):
        released(model, run(0, length))
    assert model.cache.stats().cached == 2


# -- forks and rollbacks -----------------------------------------------------------------------------------


def test_a_fork_costs_no_block_until_someone_writes() -> None:
    model = Model(20)
    first = written(model, run(0, 20))
    forks = [first.fork() for _ in range(5)]
    assert model.cache.stats().held == 2
    forks[0].reserve(1)
    assert forks[0].table[0] == first.table[0] and forks[0].table[1] != first.table[1]
    assert model.cache.stats().held == 3
    for fork in forks:
        fork.release()
    before = model.cache.stats().copies
    first.reserve(1)
    assert model.cache.stats().copies == before, "nobody else is there to copy for"


def test_a_fork_taken_during_a_step_does_not_see_what_the_step_writes() -> None:
    model = Model(20)
    first = written(model, run(0, 20))
    first.reserve(12)
    fork = first.fork()
    model.compute(first, run(20, 12))
    first.commit(run(20, 12))
    model.open[0] = (first, run(0, 32))
    model.open.append((fork, run(0, 20)))
    model.check()
    model.extend(1, run(70, 12))
    model.check()
    assert first.table[1] != fork.table[1]


def test_a_rollback_behind_a_fork_does_not_write_over_what_the_fork_has() -> None:
    model = Model(20)
    first = written(model, run(0, 24))
    model.fork(0)
    model.cut(0, 20)
    model.extend(0, [90, 91])
    model.check()
    assert first.table[1] != model.open[1][0].table[1]


def test_room_that_was_reserved_is_gone_where_blocks_are_found() -> None:
    model = Model(20)
    waiting = model.cache.open(run(0, 64))
    waiting.reserve(64)
    model.open.append((waiting, []))
    written(model, run(0, 32))
    model.reuse(0, run(0, 64))
    model.check()
    assert waiting.length == 32
    with pytest.raises(ValueError, match="room for 32"):
        waiting.commit([1])


def test_a_rollback_into_a_shared_block_copies_it_when_it_is_written_to() -> None:
    model = Model(20)
    first = written(model, run(0, 48))
    second = written(model, run(0, 48))
    assert first.table == second.table
    second.rollback(20)
    second.reserve(1)
    assert second.table[0] == first.table[0] and second.table[1] != first.table[1]
    model.open[1] = (second, run(0, 20))
    model.check()
    assert model.cache.computed(run(0, 48)) == 48


def test_room_must_be_reserved_again_after_a_rollback() -> None:
    model = Model(20)
    sequence = written(model, run(0, 32))
    sequence.rollback(20)
    with pytest.raises(ValueError, match="room for 20 positions"):
        sequence.commit([1])
    with pytest.raises(ValueError, match="cannot keep 21 of 20"):
        sequence.rollback(21)


def test_drafts_that_were_wrong_are_rolled_back_within_their_room() -> None:
    model = Model(20)
    sequence = written(model, run(0, 20))
    sequence.reserve(5)
    table = list(sequence.table)
    model.compute(sequence, run(20, 5))
    sequence.commit(run(20, 5))
    sequence.rollback(22)
    sequence.reserve(3)
    assert sequence.table == table


def test_a_released_sequence_is_of_no_use() -> None:
    model = Model(20)
    sequence = written(model, run(0, 20))
    sequence.release()
    sequence.release()
    for use in (lambda: sequence.reserve(1), sequence.fork, lambda: sequence.reuse([1])):
        with pytest.raises(ValueError, match="has been released"):
            use()
    with pytest.raises(ValueError, match="room for 0"):
        sequence.commit([1])


# -- a full pool -------------------------------------------------------------------------------------------


def test_a_full_pool_refuses_and_changes_nothing() -> None:
    model = Model(4)
    first = written(model, run(0, 40))
    released(model, run(500, 10))
    before = model.state()
    with pytest.raises(PoolFull) as refused:
        first.reserve(30)
    assert (refused.value.needed, refused.value.available) == (2, 1)
    assert model.state() == before and model.cache.stats().evictions == 0
    first.reserve(20)
    assert model.cache.stats().evictions == 1


def test_the_last_token_can_be_computed_again_in_a_full_pool() -> None:
    model = Model(3)
    sequence = written(model, run(0, 48))
    sequence.rollback(47)
    sequence.reserve(1)
    model.compute(sequence, [47])
    sequence.commit([47])
    model.check()
    assert model.cache.stats().copies == 0


def test_a_sequence_that_was_cut_may_fill_the_pool_again() -> None:
    model = Model(3)
    sequence = written(model, run(0, 48))
    model.cut(0, 20)
    model.extend(0, run(70, 28))
    model.check()
    assert sequence.length == 48 and not model.refusals
    assert (model.cache.stats().copies, model.cache.stats().evictions) == (0, 1)


def test_a_beginning_is_taken_as_it_is_if_only_its_block_could_be_evicted() -> None:
    model = Model(3)
    released(model, run(0, 40))
    sequence = model.cache.open([*run(0, 36), 7])
    assert sequence.length == 36
    model.open.append((sequence, run(0, 36)))
    model.check()
    assert model.cache.stats().copies == 0


def test_a_copy_that_fails_leaves_everything_in_place() -> None:
    def fail(source: int, target: int) -> None:
        raise RuntimeError("no device")

    model = Model(10)
    first = written(model, run(0, 20))
    model.cache._copy_block = fail
    fork = first.fork()
    before = model.cache.stats()
    with pytest.raises(RuntimeError):
        fork.reserve(1)
    with pytest.raises(RuntimeError):
        model.cache.open(run(0, 18))
    model.cache.check()
    assert model.cache.stats().held == before.held and len(model.cache.sequences) == 2


def test_a_pool_grows_and_does_not_shrink() -> None:
    model = Model(2)
    sequence = written(model, run(0, 32))
    with pytest.raises(PoolFull):
        sequence.reserve(1)
    model.cache.grow(3)
    model.content.append([0] * BLOCK_TOKENS)
    model.extend(0, [5])
    model.check()
    with pytest.raises(ValueError, match="cannot shrink"):
        model.cache.grow(2)
    with pytest.raises(ValueError, match="at least one block"):
        BlockPool(0)


# -- eviction ----------------------------------------------------------------------------------------------


def left(model: Model, runs: dict[str, list[int]]) -> dict[str, int]:
    """How much of each run is findable."""
    return {name: model.cache.computed(tokens) for name, tokens in runs.items()}


def test_lru_gives_up_what_was_let_go_first_from_its_end_on() -> None:
    model = Model(12)
    runs = {"a": run(0, 32), "b": run(100, 32), "c": run(200, 32)}
    for tokens in runs.values():
        released(model, tokens)
    model.cache.open(runs["a"]).release()
    seen = []
    for _ in range(6):
        press(model, 1)
        seen.append(tuple(left(model, runs).values()))
    assert seen == [(32, 16, 32), (32, 0, 32), (32, 0, 16), (32, 0, 0), (16, 0, 0), (0, 0, 0)]


def test_lfu_gives_up_what_was_used_least() -> None:
    model = Model(12, "lfu")
    runs = {"a": run(0, 16), "b": run(100, 16), "c": run(200, 16)}
    for name, uses in (("a", 3), ("b", 1), ("c", 2)):
        released(model, runs[name])
        for _ in range(uses):
            model.cache.open(runs[name]).release()
    seen = []
    for _ in range(3):
        press(model, 1)
        seen.append([name for name, found in left(model, runs).items() if found])
    assert seen == [["a", "c"], ["a"], []]


def test_what_several_computed_counts_as_used_by_all() -> None:
    model = Model(12, "lfu")
    pair = [model.cache.open(run(0, 16)), model.cache.open(run(0, 16))]
    for sequence in pair:
        sequence.reserve(16)
    for sequence in pair:
        model.compute(sequence, run(0, 16))
        sequence.commit(run(0, 16))
    for sequence in pair:
        sequence.release()
    released(model, run(100, 16))
    press(model, 1)
    assert (model.cache.computed(run(0, 16)), model.cache.computed(run(100, 16))) == (16, 0)


@pytest.mark.parametrize("policy", ["lru", "lfu"])
def test_the_order_is_that_of_a_scan_over_all_leaves(policy: Policy) -> None:
    """An oracle without a heap: at every eviction the leaf that nobody holds with the least rank goes."""
    model = Model(40, policy)
    tree = model.cache.tree
    for step in range(300):
        tokens = [step * 7 % 5, *run(step * step % 11 * 100, 10 + step % 40)]
        sequence = model.cache.open(tokens)
        rest = tokens[sequence.length :]
        while True:
            needed = -(-len(tokens) // BLOCK_TOKENS) - len(sequence.table)
            leaves = [node for node in tree.nodes() if not node.active and not node.children]
            if needed <= len(model.cache.pool.free):
                break
            expected = min(leaves, key=lambda node: (node.uses if policy == "lfu" else 0, node.used))
            evicted = tree.evict()
            assert evicted is expected
            model.cache.pool.release(evicted.block)
        sequence.reserve(len(rest))
        sequence.commit(rest)
        sequence.release()
    model.cache.check()


def test_the_heap_stays_in_proportion_to_the_tree() -> None:
    model = Model(40)
    runs = [run(k * 100, 20) for k in range(10)]
    for tokens in runs:
        released(model, tokens)
    for step in range(2000):
        model.cache.open(runs[step % 10]).release()
    assert len(model.cache.tree.heap) < 200
    model.cache.check()


def test_what_is_shared_by_an_open_sequence_is_not_evicted() -> None:
    model = Model(4)
    released(model, run(0, 48))
    sequence = model.cache.open(run(0, 16))
    press(model, 2)
    assert model.cache.computed(run(0, 48)) == 16
    with pytest.raises(PoolFull):
        press(model, 1)
    sequence.release()
    press(model, 1)
    assert model.cache.computed(run(0, 48)) == 0


# -- pins --------------------------------------------------------------------------------------------------


def test_a_pinned_prefix_stays_until_it_is_unpinned_as_often() -> None:
    model = Model(6)
    released(model, run(0, 48))
    assert model.cache.pin(run(0, 40)) == 40
    assert model.cache.pin(run(0, 40)) == 40
    stats = model.cache.stats()
    assert (stats.pinned, stats.held, stats.cached) == (3, 3, 0)
    model.cache.unpin(run(0, 40))
    with pytest.raises(PoolFull):
        press(model, 1)
    assert model.cache.computed(run(0, 48)) == 48
    model.cache.unpin(run(0, 40))
    press(model, 3)
    assert model.cache.computed(run(0, 48)) == 0
    with pytest.raises(ValueError, match="not pinned"):
        model.cache.unpin(run(0, 40))


def test_a_pinned_end_goes_with_its_pin_once_a_longer_block_covers_it() -> None:
    model = Model(6)
    released(model, run(0, 20))
    model.pin(run(0, 20))
    released(model, run(0, 24))
    assert model.cache.stats().cached == 1
    model.unpin(0)
    model.check()
    assert model.cache.stats().cached == 2 and model.cache.computed(run(0, 24)) == 24


def test_pinning_again_takes_in_what_was_computed_since() -> None:
    model = Model(6)
    assert model.cache.pin(run(0, 40)) == 0
    released(model, run(0, 40))
    assert model.cache.pin(run(0, 40)) == 40
    model.cache.unpin(run(0, 40))
    assert model.cache.stats().pinned == 3
    model.cache.unpin(run(0, 40))
    assert model.cache.stats().pinned == 0
    model.cache.check()


# -- accounts ----------------------------------------------------------------------------------------------


def test_accounts_say_what_was_reused_and_by_whom() -> None:
    model = Model(40)
    written(model, run(0, 40), "a")
    written(model, run(0, 80), "b")
    stats = model.cache.stats()
    assert (stats.owners["a"].tokens_looked_up, stats.owners["a"].tokens_reused) == (40, 0)
    assert (stats.owners["b"].tokens_looked_up, stats.owners["b"].tokens_reused) == (80, 40)
    assert (stats.owners["a"].blocks, stats.owners["b"].blocks) == (3, 5)
    assert stats.hit_rate == 40 / 120 and stats.owners["b"].hit_rate == 0.5
    assert (stats.blocks, stats.held, stats.sequences) == (40, 6, 2)
    assert stats.bytes == 40 * 128 and stats.bytes_held == 6 * 128


def test_asking_again_for_the_same_tokens_counts_them_once() -> None:
    model = Model(40)
    waiting = model.cache.open(run(0, 40))
    for _ in range(3):
        waiting.reuse(run(0, 40))
    assert model.cache.stats().tokens_looked_up == 40
    written(model, run(0, 20))
    waiting.reuse(run(0, 40))
    stats = model.cache.stats()
    assert (stats.tokens_looked_up, stats.tokens_reused) == (60, 20)


def test_tokens_are_looked_up_again_after_a_rollback() -> None:
    model = Model(40)
    sequence = written(model, run(0, 40))
    sequence.rollback(10)
    assert sequence.reuse(run(10, 30)) == 22
    stats = model.cache.stats()
    assert (stats.tokens_looked_up, stats.tokens_reused) == (70, 22)


def test_owners_beyond_the_bound_are_added_up() -> None:
    model = Model(40)
    kept = written(model, run(0, 20), "first")
    for number in range(MAX_OWNERS + 10):
        model.cache.open(run(0, 5), f"program {number}").release()
    stats = model.cache.stats()
    assert len(stats.owners) <= MAX_OWNERS + 1
    assert "first" not in stats.owners and stats.owners[OTHERS].blocks == len(kept.table)
    assert stats.tokens_looked_up == 20 + 5 * (MAX_OWNERS + 10)
    assert sum(owner.tokens_looked_up for owner in stats.owners.values()) == stats.tokens_looked_up


def test_a_cache_that_cannot_work_is_refused() -> None:
    with pytest.raises(ValueError, match="no eviction policy"):
        KVCache(4, 1, copy_block=lambda a, b: None, policy="fifo")  # type: ignore[arg-type]


def test_a_thousand_sequences_over_one_prefix() -> None:
    model = Model(3000)
    prefix = run(0, 600)
    model.cache.pin(prefix)
    first = written(model, prefix)
    sequences = [model.cache.open([*prefix, 5000 + number]) for number in range(1000)]
    assert all(sequence.length == 600 for sequence in sequences)
    for sequence in sequences:
        sequence.reserve(2)
        sequence.commit([sequence.tokens[-1] + 1, 7])
    stats = model.cache.stats()
    assert stats.held == 37 + 1001
    assert stats.hit_rate > 0.99
    first.release()
    for sequence in sequences:
        sequence.release()
    model.cache.check()
