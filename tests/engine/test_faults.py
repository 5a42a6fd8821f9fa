"""Programs on the batching engine when something goes wrong: who is not concerned gets what it gets alone.

Who is concerned gets an error that says what happened, and nothing is held afterwards.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from fakes.fake_executor import FakeExecutor, FakeModel
from fakes.small_models import small_tokenizer
from sglc.driver import compile_source
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.open import open_engine
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.engine.scheduling.schedule import StepLimits
from sglc.runtime.errors import SglError
from sglc.runtime.executor.plan import ExecutorError, Piece
from sglc.runtime.kv.blocks import BLOCK_TOKENS
from sglc.runtime.session import Session
from sglc.source import Source

PROGRAM = """
record Item:
    name: str max 12 chars
    count: int in 0..99

fn item(about: str) -> Item:
    system: | You sort things.
    user: | ${about}
    assistant: | ?{made: Item}
    return made

fn careful(about: str) -> str:
    system: | You sort things.
    user: | ${about}
    try:
        assistant: | ?{name: str max 12 chars until "."}
        return name
    except Backend:
        return "none"

fn both(about: str) -> [str]:
    system: | You sort things.
    user: | ${about}
    let found = fork i in 0..<2 seed i:
        if i > 0:
            user: | and thirteen
        assistant: | ?{made: Item}
        yield made.name
    return [each.value for each in found]

fn uneven(about: str) -> [str]:
    user: | ${about}
    let found = fork i in 0..<2:
        if i > 0:
            assistant: | ?{long: str max 90 chars}
            yield long
        else:
            assistant: | ?{short: bool}
            yield "${short}"
    return [each.value for each in found]
"""
THINGS = ("the answer", "another theatre", "12.50 and -3", "été à Zürich", "anthem", "tags", "age 7", "there")


@cache
def program() -> Any:
    compiled = compile_source(Source("things.sgl", PROGRAM))
    assert compiled.program is not None, compiled.diagnostics
    return compiled.program


async def outcome(session: Session, about: str, function: str = "item") -> tuple[Any, ...]:
    """What came of one run, errors included."""
    try:
        result = await session.run(function, {"about": about})
    except SglError as error:
        return error.name, error.message
    return result.value, result.text


@cache
def alone() -> dict[str, tuple[Any, ...]]:
    """What each run gives on the reference engine, with nothing beside it."""
    engine = ReferenceEngine(FakeModel(small_tokenizer()))
    session = Session(program(), engine)
    found = {about: asyncio.run(outcome(session, about)) for about in THINGS}
    engine.close()
    assert all(len(text) == 2 and "Item" in repr(text[0]) for text in found.values())
    return found


class FaultyExecutor(FakeExecutor):
    """Calls `before` with the number of each step, in the worker thread; it may raise. A step of more than
    `most` pieces has no memory."""

    def __init__(self, context_length: int = 4096) -> None:
        super().__init__(small_tokenizer(), context_length)
        self.before: Callable[[int], object] = lambda step: None
        self.most = 1000
        self.ran = 0

    def run(self, pieces: Sequence[Piece]) -> np.ndarray:
        self.ran += 1
        self.before(self.ran)
        if len(pieces) > self.most:
            raise ExecutorError("out of memory")
        return super().run(pieces)


class Bench:
    """Programs on an engine whose executor fails when it is told to."""

    def __init__(self, blocks: int = 4000, context_length: int = 4096, **options: Any) -> None:
        self.executor = FaultyExecutor(context_length)
        self.engine: BatchingEngine = open_engine(
            self.executor, memory=blocks * self.executor.block_bytes, **options
        )
        self.session = Session(program(), self.engine)

    async def all(self, things: Sequence[str] = THINGS) -> list[tuple[Any, ...]]:
        """All programs at the same time."""
        return list(await asyncio.gather(*(outcome(self.session, about) for about in things)))

    def check(self) -> None:
        """Nothing is held, nothing waits, and the memory is consistent."""
        self.engine.cache.check()
        stats = self.engine.get_cache_stats()
        assert stats.sequences == 0 and stats.held == stats.pinned
        assert not self.engine._waiting


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.check()
    made.engine.close()


def containing(text: str) -> Callable[[Piece], bool]:
    """Pieces whose tokens stand for a text that has this in it."""
    token_bytes = small_tokenizer().token_bytes
    return lambda piece: text.encode() in b"".join(token_bytes[token] or b"" for token in piece.tokens)


# -- memory and window -----------------------------------------------------------------------------------


def test_what_no_pool_holds_is_an_error_of_one_program() -> None:
    bench = Bench(blocks=30)
    long = "the answer is there " * 200

    async def job() -> list[tuple[Any, ...]]:
        return await bench.all([*THINGS[:4], long, *THINGS[4:]])

    texts = asyncio.run(job())
    refused = texts.pop(4)
    assert texts == list(alone().values())
    assert refused[0] == "Backend" and "memory for keys and values" in refused[1]
    bench.check()
    assert asyncio.run(bench.all()) == list(alone().values())


def test_a_crowded_pool_computes_again_what_it_gave_away() -> None:
    longest = max(len(small_tokenizer().encode(str(text))) for _, text in alone().values())
    bench = Bench(blocks=2 * (longest // BLOCK_TOKENS + 4))
    assert asyncio.run(bench.all()) == list(alone().values())
    bench.check()


def test_a_request_longer_than_the_window_says_so() -> None:
    bench = Bench(context_length=160)
    long = "the answer is there " * 100

    async def job() -> list[tuple[Any, ...]]:
        return await bench.all([long, *THINGS])

    refused, *texts = asyncio.run(job())
    assert refused[0] == "Budget" and "160" in refused[1]
    assert texts == [alone()[about] for about in THINGS]
    bench.check()


# -- the executor ----------------------------------------------------------------------------------------


def test_an_error_of_the_executor_concerns_one_program(bench: Bench) -> None:
    bench.executor.fault = containing("Zürich")
    texts = dict(zip(THINGS, asyncio.run(bench.all()), strict=True))
    failed = texts.pop("été à Zürich")
    assert failed[0] == "Backend" and "cannot be computed" in failed[1]
    assert texts == {about: alone()[about] for about in texts}
    bench.executor.fault = None
    assert asyncio.run(bench.all()) == list(alone().values())


def test_what_is_too_much_for_a_step_is_computed_piece_by_piece(bench: Bench) -> None:
    bench.executor.most = 1
    assert asyncio.run(bench.all()) == list(alone().values())
    assert bench.engine.measure.largest > 1


def test_an_executor_that_is_lost_is_an_error_of_every_program(bench: Bench) -> None:
    def fail(step: int) -> None:
        if step > 3:
            raise RuntimeError("the device is gone")

    bench.executor.before = fail
    for text in asyncio.run(bench.all()):
        assert text[0] == "Backend" and "the device is gone" in text[1]
    bench.check()
    bench.executor.before = lambda step: None
    assert asyncio.run(bench.all()) == list(alone().values())


def test_a_program_can_go_on_after_an_error_of_the_executor(bench: Bench) -> None:
    bench.executor.fault = containing("theatre")

    async def job() -> list[tuple[Any, ...]]:
        return list(await asyncio.gather(*(outcome(bench.session, about, "careful") for about in THINGS[:3])))

    texts = asyncio.run(job())
    assert texts[1][0] == "none"
    assert all(text[0] != "none" for text in (texts[0], texts[2]))


def test_a_branch_that_fails_ends_its_program_and_no_other(bench: Bench) -> None:
    bench.executor.fault = containing("thirteen")

    async def job() -> list[Any]:
        failing = outcome(bench.session, THINGS[0], "both")
        return list(await asyncio.gather(failing, *(outcome(bench.session, about) for about in THINGS)))

    failed, *texts = asyncio.run(job())
    assert failed[0] == "Backend" and "cannot be computed" in failed[1]
    assert texts == list(alone().values())


# -- giving up -------------------------------------------------------------------------------------------


def test_programs_cancelled_in_the_middle_of_a_step_leave_the_others(bench: Bench) -> None:
    async def job() -> list[Any]:
        loop = asyncio.get_running_loop()
        tasks = [asyncio.ensure_future(outcome(bench.session, about)) for about in THINGS]
        done = threading.Event()

        def cancel(step: int) -> None:
            """The loop cancels a program while this step runs."""
            if 2 <= step < 6:
                done.clear()
                loop.call_soon_threadsafe(lambda: (tasks[step].cancel(), done.set()))
                assert done.wait(10)

        bench.executor.before = cancel
        return list(await asyncio.gather(*tasks, return_exceptions=True))

    texts = asyncio.run(job())
    cancelled = [index for index, text in enumerate(texts) if isinstance(text, asyncio.CancelledError)]
    assert cancelled == [2, 3, 4, 5]
    kept = [index for index in range(len(THINGS)) if index not in cancelled]
    assert [texts[index] for index in kept] == [alone()[THINGS[index]] for index in kept]


def test_a_fork_given_up_when_some_branches_have_ended_holds_nothing(bench: Bench) -> None:
    async def job() -> None:
        give_up = asyncio.get_running_loop().call_soon_threadsafe
        for last in range(2, 9):
            task = asyncio.ensure_future(bench.session.run("uneven", {"about": "there"}))
            bench.executor.ran = 0
            bench.executor.before = lambda step, last=last, task=task, give_up=give_up: (
                give_up(task.cancel) if step == last else None
            )
            await asyncio.wait([task])
            given_up.append(task.cancelled())  # a last step may answer before the loop comes to cancel
            assert bench.engine.get_cache_stats().sequences == 0

    given_up: list[bool] = []
    asyncio.run(job())
    assert given_up[:3] == [True] * 3


def test_a_timeout_of_one_program_leaves_the_others(bench: Bench) -> None:
    slow = threading.Event()

    async def job() -> list[Any]:
        async def late() -> tuple[Any, ...]:
            try:
                result = await bench.session.run("item", {"about": "there"}, timeout=0.001)
            except SglError as error:
                return error.name, error.message
            return result.value, result.text

        bench.executor.before = lambda step: slow.wait(0.02)
        return list(await asyncio.gather(late(), *(outcome(bench.session, about) for about in THINGS[:4])))

    failed, *texts = asyncio.run(job())
    assert failed[0] == "Timeout"
    assert texts == [alone()[about] for about in THINGS[:4]]


def test_an_interrupt_in_the_middle_of_a_batch_keeps_what_was_finished() -> None:
    # Without drafts, whose number is a matter of times, programs always end in different steps.
    bench = Bench(speculate=False)
    finished: dict[str, tuple[Any, ...]] = {}

    async def job(things: Sequence[str]) -> None:
        async def one(about: str) -> None:
            finished[about] = await outcome(bench.session, about)

        await asyncio.gather(*map(one, things))

    def interrupt(step: int) -> None:
        if finished and bench.executor.ran < 1000:
            bench.executor.ran = 1000
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    bench.executor.before = interrupt
    # A process that a shell has put into the background ignores interrupts.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(job(THINGS))
    finally:
        signal.signal(signal.SIGINT, handler)
    assert 0 < len(finished) < len(THINGS)
    asyncio.run(job([about for about in THINGS if about not in finished]))
    assert finished == alone()
    bench.check()
    bench.engine.close()


# -- the tier on disk ------------------------------------------------------------------------------------


def test_a_full_tier_on_disk_loses_nothing(tmp_path: Path) -> None:
    bench = Bench(blocks=24, disk=tmp_path / "tier", disk_bytes=700)
    for _ in range(2):
        assert asyncio.run(bench.all()) == list(alone().values())
    disk = bench.engine.get_cache_stats().disk
    assert disk is not None and disk.bytes <= 700 and disk.removals + disk.write_faults > 0
    bench.check()


def test_a_later_engine_finds_what_an_earlier_one_saved_at_its_end(tmp_path: Path) -> None:
    bench = Bench(blocks=64, disk=tmp_path / "tier")
    assert asyncio.run(bench.all()) == list(alone().values())
    bench.engine.close()
    again = Bench(blocks=64, disk=tmp_path / "tier")
    assert asyncio.run(again.all()) == list(alone().values())
    disk = again.engine.get_cache_stats().disk
    assert disk is not None and disk.reads > 0 and disk.corrupt == 0
    again.check()


def test_a_corrupt_tier_on_disk_is_computed_again(tmp_path: Path) -> None:
    folder = tmp_path / "tier"
    bench = Bench(blocks=24, disk=folder)
    assert asyncio.run(bench.all()) == list(alone().values())
    bench.check()
    files = sorted(folder.glob("*.kv"))
    assert files
    for index, file in enumerate(files):
        data = bytearray(file.read_bytes())
        if index % 3 == 0:
            data[-1] ^= 1
        elif index % 3 == 1:
            del data[len(data) // 2 :]
        file.write_bytes(data)
    again = Bench(blocks=24, disk=folder)
    for _ in range(2):
        assert asyncio.run(again.all()) == list(alone().values())
    disk = again.engine.get_cache_stats().disk
    assert disk is not None and disk.corrupt > 0 and disk.reads > 0
    again.check()


def test_a_tier_that_cannot_be_written_is_a_tier_without_blocks(tmp_path: Path) -> None:
    place = tmp_path / "tier"
    place.write_text("a file stands where the folder should be")
    bench = Bench(blocks=24, disk=place)
    assert asyncio.run(bench.all()) == list(alone().values())
    disk = bench.engine.get_cache_stats().disk
    assert disk is not None and disk.write_faults > 0 and disk.blocks == 0
    bench.check()


# -- all of it -------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(10))
@given(
    failing=st.sets(st.integers(1, 60), max_size=12),
    cancelled=st.dictionaries(st.integers(1, 40), st.integers(0, len(THINGS) - 1), max_size=4),
    blocks=st.integers(24, 80),
    most=st.sampled_from([1, 3, 64]),
)
def test_whatever_fails_and_is_given_up_the_others_are_right(
    failing: set[int], cancelled: dict[int, int], blocks: int, most: int
) -> None:
    bench = Bench(blocks=blocks, limits=StepLimits(tokens=48, requests=most))

    async def job() -> list[Any]:
        loop = asyncio.get_running_loop()
        tasks = [asyncio.ensure_future(outcome(bench.session, about)) for about in THINGS]

        def meddle(step: int) -> None:
            if step in cancelled:
                loop.call_soon_threadsafe(tasks[cancelled[step]].cancel)
            if step in failing:
                raise ExecutorError(f"step {step} failed")

        bench.executor.before = meddle
        return list(await asyncio.gather(*tasks, return_exceptions=True))

    for index, text in enumerate(asyncio.run(job())):
        if isinstance(text, asyncio.CancelledError):
            assert index in cancelled.values()
        elif text[0] == "Backend":
            assert "failed" in text[1] and failing
        else:
            assert text == alone()[THINGS[index]]
    bench.check()
    bench.executor.before = lambda step: None
    assert asyncio.run(bench.all()) == list(alone().values())
    bench.engine.close()
