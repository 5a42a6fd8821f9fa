"""What is pinned before a run is what the run computes, and that it is known changes nothing of the run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from fakes.small_models import MadeUpModel, small_tokenizer
from sglc.bytecode.code import Program
from sglc.driver import compile_file, compile_source
from sglc.options import CompileOptions
from sglc.runtime.beginnings import MOST_MESSAGES, OPEN_END
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.engine.scheduling.branch import Branch
from sglc.runtime.errors import SglError
from sglc.runtime.model import load
from sglc.runtime.model.scripted import ScriptedCache
from sglc.runtime.session import Session
from sglc.source import Source
from sglc.types.type import Str

needs_model = pytest.mark.skipif(
    not (load.cached_folder(load.DEFAULT) or load.package_file()), reason="no SmolLM2: not installed"
)

BEHIND = ("Answer: ", "Today is Mon", 'Say "', "(", "12", "It", "a, b, ", "")
"""Texts before a hole, which end in the middle of words and behind them."""
TYPES = (
    '"Monday" | "Month"',
    '"day" | "daylight"',
    '"yes"',
    "R",
    "S",
    "[R; 1..2]",
    "[str max 5 chars; 1..2]",
    "(int in 0..9, bool)",
    "int in 100..199",
    "str matching /(foo|fob)[a-z]{1,3}/",
    "str matching /-{3,4}x/",
    "str max 4 chars",
    "one of xs",
)
"""Types of holes. The values of most begin alike."""
PROGRAM = """
record R:
    name: str max 6 chars
    size: int in 0..99
record S:
    note: bool?
    number: int in 0..99 = 1
fn f(xs: [str] = ["Monday", "Month"]) -> str:
{body}
    return "${{a}}"
"""
ROLES = """    user: | Which?
    assistant:
        | {before}?{{a: {type} temp 1.0}}{behind}
"""
PLAIN = "    | {before}?{{a: {type} temp 1.0}}{behind}\n"


class Model:
    """A made-up model over a vocabulary, as an engine wants it."""

    name, context_length = "made up", 1 << 20

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self._logits = MadeUpModel(tokenizer.size)

    def new_cache(self) -> ScriptedCache:
        return ScriptedCache()

    def forward(self, cache: ScriptedCache, tokens: Any, every: bool = False) -> Any:
        rows = []
        for token in tokens:
            cache.tokens.append(token)
            rows.append(self._logits(tuple(cache.tokens)))
        return np.stack(rows) if every else rows[-1].copy()


class Watching(ReferenceEngine):
    """Keeps what it is told to pin, and what branches hold when they are given back."""

    def __init__(self, tokenizer: Any) -> None:
        super().__init__(Model(tokenizer))
        self.pinned: list[tuple[int, ...]] = []
        self.held: list[tuple[int, ...]] = []

    def pin(self, tokens: Sequence[int], users: int = 1) -> None:
        self.pinned.append(tuple(tokens))

    def put_back(self, branch: Branch) -> None:
        self.held.append(tuple(branch.tokens))
        super().put_back(branch)


def compiled(body: str, level: int = 2) -> Program:
    found = compile_source(Source("f.sgl", PROGRAM.format(body=body)), CompileOptions(level))
    assert found.program is not None, found.diagnostics
    return found.program


def seen(program: Program, tokenizer: Any, seed: int) -> tuple[Any, Watching]:
    """Value, text, events and counts of a run, and the engine behind it."""
    engine = Watching(tokenizer)
    events: list[tuple[str, Any]] = []

    def listen(event: Any) -> None:
        events.append((event.kind, {key: each for key, each in event.data.items() if key != "seconds"}))

    try:
        run = Session(program, engine).run("f", seed=seed, trace=listen, detailed=True)
        result = asyncio.run(run)
    finally:
        engine.close()
    took = result.statistics
    counts = (took.sampled_tokens, took.forced_tokens, took.output_tokens, took.forwards)
    return (result.value, result.text, events, counts, engine.held), engine


def same_run(form: str, tokenizer: Any, before: str, type: str, behind: str, seed: int) -> bool:
    """Checks one hole; whether its beginning was known and is among what was pinned."""
    program = compiled(form.format(before=before, type=type, behind=behind))
    without = replace(
        program, prefixes=(), holes=tuple(replace(h, begins="", ends="") for h in program.holes)
    )
    known, engine = seen(program, tokenizer, seed)
    unknown, _ = seen(without, tokenizer, seed)
    assert known == unknown
    [prefix] = program.prefixes
    [held] = engine.held or [()]
    text = known[1]
    hole = program.holes[0]
    assert text.count(prefix.messages[-1].text) >= 1
    assert prefix.ahead == len(hole.begins)
    if held:  # else there was one value only, and the model was not asked
        assert all(held[: len(tokens)] == tokens for tokens in engine.pinned)
    return bool(hole.begins) and bool(held)


@cache
def big() -> Any:
    return load.load_tokenizer()


@pytest.mark.slow
@needs_model
@pytest.mark.parametrize("behind", ["", ", then."])
def test_what_is_known_ahead_changes_nothing_and_is_computed(behind: str) -> None:
    random = Random(behind)
    known = [
        same_run(ROLES, big(), before, type, behind, random.randrange(100))
        for before, type in product(BEHIND, TYPES)
        if not (behind and type == "str max 4 chars")  # its text could go on with what follows
    ]
    assert sum(known) > len(known) // 2


def test_what_is_known_ahead_with_a_small_tokenizer_and_without_roles() -> None:
    known = [
        same_run(PLAIN, small_tokenizer(), before, type, "", seed)
        for seed, (before, type) in enumerate(product(("the an", "x"), TYPES))
        if "{" not in type and not type[0].isupper() and "[" not in type
    ]
    assert sum(known) >= 4


def test_what_is_pinned_ends_before_what_may_become_other_tokens() -> None:
    program = compiled('    | the the the the ?{a: "an" | "ano"}\n')
    _, engine = seen(program, small_tokenizer(), 0)
    [pinned] = engine.pinned
    [held] = engine.held
    whole = small_tokenizer().encode("the the the the an")
    assert len(whole) > OPEN_END and list(held[: len(pinned)]) == list(pinned)
    assert list(pinned)[-len(whole) + OPEN_END :] == whole[:-OPEN_END]


@needs_model
def test_of_many_messages_the_first_are_tokenised() -> None:
    messages = "".join(f"    user: | Question {number}?\n" for number in range(MOST_MESSAGES + 6))
    program = compiled(messages + '    assistant: | ?{a: "Monday" | "Month"}\n')
    _, engine = seen(program, big(), 0)
    [pinned] = engine.pinned
    [held] = engine.held
    assert held[: len(pinned)] == pinned
    text = big().bytes_of(pinned).decode()
    assert f"Question {MOST_MESSAGES - 2}?" in text and f"Question {MOST_MESSAGES}" not in text


THEME = "a lighthouse at the end of the world"
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.sgl"))


@pytest.mark.slow
@needs_model
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_runs_of_the_examples_compute_what_was_pinned(path: Path) -> None:
    program = compile_file(path).program
    assert program is not None
    engine = Watching(big())
    session = Session(program, engine)
    asked = {name for prefix in program.prefixes for name in prefix.functions}
    for name, code in session.functions.items():
        given = {each.name: THEME for each in code.parameters if not each.has_default}
        if name not in asked or any(program.types[each.type] != Str() for each in code.parameters):
            continue
        engine.held.clear()
        with suppress(SglError):  # what a made-up model writes may be too long, or fail an `ensure`
            asyncio.run(session.run(name, given, max_tokens=60))
        pins = [
            pin for pin, one in zip(engine.pinned, program.prefixes, strict=True) if name in one.functions
        ]
        shortest = min(pins, key=len)
        assert any(held[: len(shortest)] == shortest for held in engine.held), name
    engine.close()
