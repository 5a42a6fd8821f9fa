"""Programs whose tokens are drawn where the logits are: texts, errors and accounts are those of the host."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkout import EXAMPLES
from example_budget import examples
from fakes.drawing_executor import DrawingFake
from fakes.fake_executor import FakeExecutor, FakeModel
from fakes.small_models import CHAT, small_definition, small_tokenizer
from fakes.tiny_decoders import tiny_decoder
from late import Late
from sglc.driver import compile_file, compile_source
from sglc.runtime.decoding.conversations.conversation import Conversation, Encoder
from sglc.runtime.decoding.hole_decoder import HoleDecoder
from sglc.runtime.decoding.requests import Budget, Constraints, HoleRequest, HoleResult, Silent, Timing
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.open import open_engine
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.engine.scheduling.schedule import StepLimits
from sglc.runtime.errors import SglError
from sglc.runtime.executor.plan import ExecutorError, Picking, Piece
from sglc.runtime.session import Session
from sglc.runtime.tokenizer import Tokenizer
from sglc.source import Source
from sglc.types.language.language import language
from sglc.types.type import (
    Bool,
    EnumType,
    Int,
    Named,
    Type,
)
from strategies import sample_types

torch = Late("torch")
torch_executor = Late("sglc.runtime.executor.torch_executor")

TABLE = {**sample_types.TABLE, "Loud": EnumType("Loud", ("YES", "NO"))}
SAMPLINGS = [Sampling(), Sampling(0.9), Sampling(1.3, top_k=12), Sampling(0.8, top_p=0.9, min_p=0.02)]


class Recorder(Silent):
    """Keeps what a hole reports."""

    def __init__(self, detailed: bool) -> None:
        self.detailed = detailed
        self.seen: list[Any] = []
        self.logprobs: list[float] = []

    def piece(self, text: str, forced: bool) -> None:
        self.seen.append((text, forced))

    def token(self, drawn: Sampled, data: bytes, allowed: int, draft: object = None) -> None:
        self.seen.append((drawn.token, data, allowed))
        self.logprobs.append(drawn.logprob)


class Wish:
    """Steers a hole to the tokens that begin with one byte."""

    def __init__(self, byte: bytes) -> None:
        tokens = small_tokenizer().token_bytes
        self.tokens = [token for token, data in enumerate(tokens) if data and data.startswith(byte)]

    def adjust(self, logits: np.ndarray, prefix: bytes, written: bytes) -> np.ndarray:
        logits = logits.copy()
        logits[self.tokens] += 8
        return logits


class Bench:
    """Holes filled side by side on one engine."""

    def __init__(self, executor: Any, **options: Any) -> None:
        self.executor = executor
        self.engine: BatchingEngine = open_engine(executor, memory=2000 * executor.block_bytes, **options)
        self.vocabulary = executor.tokenizer.vocabulary()
        self.constraints = Constraints()
        self.timing = Timing()

    async def fill(
        self, type: Type, prompt: str = "", detailed: bool = False, **more: Any
    ) -> tuple[HoleResult | str, Any, list[float]]:
        """The result or the error, all that could be seen of the way to it, and the probabilities."""
        tokenizer = self.executor.tokenizer
        talk = Conversation(encoder=Encoder(tokenizer), chat=tokenizer.chat, open_branch=self.engine.open)
        talk.role("user")
        talk.text("the question")
        talk.end_role()
        talk.role("assistant")
        talk.text(prompt)
        recorder = Recorder(detailed)
        more.setdefault("stops", ("\n",))
        more.setdefault("budget", Budget(60, "test"))
        request = HoleRequest("f.x", str(type), language(type, TABLE), **more)
        parts = (self.vocabulary, self.constraints, request, recorder, self.timing, 512, int)
        result: HoleResult | str
        try:
            found = await HoleDecoder(talk, *parts).run()
        except SglError as error:
            result = f"{error.name}: {error.message} ({error.hint}) {error.partial!r}"
        else:
            assert found.picking > 0 and found.first > 0
            result = replace(found, logprob=0.0, work=replace(found.work, seconds=0.0, queued=0.0))
        seen = recorder.seen, talk.tokens(), tuple(talk.branch.tokens)
        talk.close()
        return result, seen, recorder.logprobs

    def together(self, holes: Sequence[tuple[Type, dict[str, Any]]]) -> list[tuple[Any, Any, list[float]]]:
        async def job() -> list[Any]:
            return await asyncio.gather(*(self.fill(type, **more) for type, more in holes))

        found = asyncio.run(job())
        self.engine.cache.check()
        assert self.engine.cache.stats().sequences == 0
        return found


@cache
def decoder() -> Any:
    torch.set_num_threads(1)
    return tiny_decoder("llama")


def drawing_executor(draws: bool) -> torch_executor.TorchExecutor:
    return torch_executor.TorchExecutor(copy.deepcopy(decoder()), small_tokenizer(), "tiny", draws=draws)


def same(ours: list[tuple[Any, Any, list[float]]], theirs: list[tuple[Any, Any, list[float]]]) -> None:
    for (result, seen, logprobs), (expected, shown, scores) in zip(ours, theirs, strict=True):
        assert (result, seen) == (expected, shown)
        assert logprobs == pytest.approx(scores, abs=1e-4)


# -- the torch executor --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
def test_the_torch_executor_writes_what_the_host_draws(sampling: Sampling) -> None:
    """Holes of all types side by side, some of them watched token by token, some steered on the host."""
    holes = [
        (
            type,
            {
                "sampling": sampling,
                "seed": seed,
                "prompt": prompt,
                "detailed": seed % 2 == 0,
                "answer": Wish(b"a") if seed == 3 else None,
            },
        )
        for type in sample_types.TYPES
        for seed, prompt in ((1, ""), (2, "the an"), (3, "Answer: "))
    ]
    benches = [Bench(drawing_executor(draws)) for draws in (True, False)]
    ours, theirs = (bench.together(holes) for bench in benches)
    same(ours, theirs)
    assert not any(isinstance(result, str) for result, _, _ in ours)
    assert benches[0].engine.statistics.forwards == benches[1].engine.statistics.forwards
    assert len(benches[0].timing.outside) == len(benches[1].timing.outside)
    assert min(benches[0].timing.outside) > 0


@pytest.mark.slow
@pytest.mark.parametrize("limit", [4, 9, 25])
def test_budgets_are_kept_as_on_the_host(limit: int) -> None:
    holes = [
        (type, {"budget": Budget(limit, "test"), "seed": seed, "sampling": Sampling(1.0)})
        for type in sample_types.TYPES
        for seed in range(3)
    ]
    same(*(Bench(drawing_executor(draws)).together(holes) for draws in (True, False)))


class Certain(FakeExecutor):
    """Gives one token all probability. For `DrawingFake` to be mixed into."""

    token = 0

    def _run(self, pieces: Sequence[Piece]) -> np.ndarray:
        rows = super()._run(pieces)
        rows[:] = -np.inf
        rows[:, self.token] = 1.0
        return rows


class CertainDrawing(DrawingFake, Certain):
    pass


def test_errors_are_told_in_the_same_words() -> None:
    """Where the model gives no legal token a chance, and where the tokenizer has none."""
    definition = json.loads(small_definition())  # without two letters
    definition["model"]["vocab"] = {
        name: token for name, token in definition["model"]["vocab"].items() if name not in {"Y", "N"}
    }
    poor = Tokenizer(definition, chat_template=CHAT)
    texts = []
    for kind in (CertainDrawing, Certain):
        executor = kind(small_tokenizer())
        executor.token = small_tokenizer().encode("answer")[0]
        refused = Bench(executor).together([(Int(10, 99), {}), (Bool(), {})])
        missing = Bench(kind(poor)).together([(Named("Loud"), {})])
        texts.append([result for result, _, _ in refused + missing])
    assert texts[0] == texts[1]
    assert [str(text).partition(":")[0] for text in texts[0]] == ["Backend", "Backend", "Unsupported"]
    assert "gives no legal token of hole `f.x` any probability" in texts[0][0]
    assert "no token of this model can go on in hole `f.x`" in texts[0][2]


# -- whole programs ------------------------------------------------------------------------------------

RUNS: list[tuple[str, str, dict[str, Any]]] = [
    ("ideas", "name_it", {"thing": "a lighthouse"}),
    ("tree", "take_apart", {"machine": "a pump"}),
    ("route", "ticket", {"message": "thanks, all is well"}),
    ("character", "crew", {"theme": "the deep sea"}),
    ("things", "item", {"about": "the answer"}),
    ("things", "drawn", {"about": "another theatre"}),
    ("things", "judged", {"about": "tags"}),
    ("things", "forked", {"about": "there"}),
]
PROGRAM = """
record Item:
    name: str max 12 chars
    count: int in 0..99

pure fn short(text: str) -> alive | dead | final:
    return dead if len(text) > 24 or "a" in text else final

fn item(about: str) -> Item:
    user: | ${about}
    assistant: | ?{made: Item}
    return made

fn drawn(about: str) -> str:
    user: | ${about}
    assistant:
        | ?{numbers: int in 0..999999 n 4 temp 1.2}
        | ?{first: str max 20 chars temp 0.9 top_k 9}
        | ?{second: str max 20 chars temp 1.1 top_p 0.8 min_p 0.01}
        | ?{number: int in 1..99 temp 1}
        ensure number > 60 else "too small"
            retry 2 resample
    return "${numbers} ${first} ${second} ${number}"

fn judged(about: str) -> str:
    user: | ${about}
    assistant:
        | ?{line: str max 40 chars where short(line)}
        | It is ?{kind: choose ["a letter", "a list", "a lament"]} or ?{other: select ["one", "two"]}
    return "${line} ${kind} ${other.top}"

fn forked(about: str) -> [str]:
    user: | ${about}
    let found = fork i in 0..<3 seed i:
        assistant: | ?{text: str max 20 chars temp 1.0}
        yield text
    return [each.value for each in found]
"""


@cache
def program(name: str) -> Any:
    if name == "things":
        compiled = compile_source(Source("things.sgl", PROGRAM))
    else:
        compiled = compile_file(EXAMPLES / f"{name}.sgl")
    assert compiled.program is not None, compiled.diagnostics
    return compiled.program


async def outcome(session: Session, function: str, arguments: dict[str, Any], seed: int) -> tuple[Any, ...]:
    """What came of one run, errors included."""
    try:
        result = await session.run(function, arguments, seed=seed)
    except SglError as error:
        return error.name, error.message, error.partial
    counts = result.statistics
    return result.value, result.text, counts.sampled_tokens, counts.forced_tokens


def all_runs(engine: Any, together: bool = True) -> list[tuple[Any, ...]]:
    sessions = {name: Session(program(name), engine) for name, _, _ in RUNS}

    async def job() -> list[tuple[Any, ...]]:
        jobs = [
            outcome(sessions[name], function, arguments, seed)
            for seed in (0, 1)
            for name, function, arguments in RUNS
        ]
        return list(await asyncio.gather(*jobs)) if together else [await job for job in jobs]

    return asyncio.run(job())


@cache
def alone() -> list[tuple[Any, ...]]:
    """What every run gives on the reference engine, one after the other."""
    engine = ReferenceEngine(FakeModel(small_tokenizer()))
    found = all_runs(engine, together=False)
    engine.close()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("crowded", [False, True])
@pytest.mark.parametrize("speculate", [False, True])
def test_programs_side_by_side_give_what_each_gives_on_the_host_alone(crowded: bool, speculate: bool) -> None:
    executor = DrawingFake(small_tokenizer())
    limits = StepLimits(tokens=40, requests=5) if crowded else None
    memory = executor.block_bytes * (90 if crowded else 4000)
    engine = open_engine(executor, memory=memory, limits=limits, speculate=speculate)
    assert all_runs(engine) == alone()
    assert sum(executor.picked) > 300 and max(executor.picked) > 1
    engine.cache.check()
    stats = engine.cache.stats()
    assert stats.held == stats.pinned and stats.sequences == 0
    engine.close()


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(6))
@given(
    failing=st.sets(st.integers(1, 60), max_size=8),
    unpicked=st.sets(st.integers(1, 60), max_size=8),
    cancelled=st.dictionaries(st.integers(1, 40), st.integers(0, 2 * len(RUNS) - 1), max_size=4),
    most=st.sampled_from([1, 3, 64]),
)
def test_whatever_fails_and_is_given_up_the_others_are_right(
    failing: set[int], unpicked: set[int], cancelled: dict[int, int], most: int
) -> None:
    class Faulty(DrawingFake):
        ran = picks = 0

        def _run(self, pieces: Sequence[Piece]) -> np.ndarray:
            self.ran += 1
            if self.ran in cancelled:
                loop.call_soon_threadsafe(tasks[cancelled[self.ran]].cancel)
            if self.ran in failing:
                raise ExecutorError(f"step {self.ran} failed")
            return super()._run(pieces)

    def pick(pickings: Sequence[Picking]) -> None:
        executor.picks += 1
        if executor.picks in unpicked:
            raise ExecutorError(f"pick {executor.picks} failed")

    executor = Faulty(small_tokenizer())
    executor.before_pick = pick
    limits = StepLimits(tokens=48, requests=most)
    engine = open_engine(executor, memory=400 * executor.block_bytes, limits=limits, speculate=False)
    sessions = {name: Session(program(name), engine) for name, _, _ in RUNS}

    async def job() -> list[Any]:
        nonlocal loop
        loop = asyncio.get_running_loop()
        for seed in (0, 1):
            for name, function, arguments in RUNS:
                tasks.append(asyncio.ensure_future(outcome(sessions[name], function, arguments, seed)))
        return list(await asyncio.gather(*tasks, return_exceptions=True))

    loop: Any = None
    tasks: list[asyncio.Task[Any]] = []
    for index, found in enumerate(asyncio.run(job())):
        if isinstance(found, asyncio.CancelledError):
            assert index in cancelled.values()
        elif found[0] == "Backend":
            assert "failed" in found[1] and (failing or unpicked)
        else:
            assert found == alone()[index]
    engine.cache.check()
    assert engine.cache.stats().sequences == 0
    engine.close()
