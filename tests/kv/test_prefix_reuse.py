"""What programs do again costs only what is new: retries, options, branches, caught errors, later rows.

Counted at the executor: tokens of all pieces, for a prompt of hundreds of tokens that must be read once.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fakes.fake_executor import FakeExecutor
from fakes.small_models import small_tokenizer
from sglc.driver import compile_file
from sglc.runtime.engine.open import open_engine
from sglc.runtime.session import Session
from sglc.types.model_use import MAIN

LONG = "Read this with care, for it is long and it matters. " * 12

TURN = 90
"""Tokens that a repair adds to the conversation, at most: the rejected value, the reason, a new turn."""

OPENING = 16
"""Tokens that open a message, which each branch does by itself."""

HEAD = f"""\
error Wrong

fn f(text: str = "{LONG}") -> int:
    system: | You count.
    user: | ${{text}}
"""

PROGRAMS = {
    "a retry": HEAD
    + """    assistant: | ?{n: int in 0..999999}
    ensure n % 16 == 3 else "no"
        retry 60 resample
    return n
""",
    "a repair": HEAD
    + """    assistant: | ?{n: int in 0..999999 temp 1.5}
    ensure n % 4 == 3 else "no"
        retry 60 repair
    return n
""",
    "options": HEAD
    + """    assistant: | ?{n: select ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]}
    return 1
""",
    "branches": HEAD
    + """    let all = fork i in 0..<8 seed i:
        assistant: | ?{n: int in 0..999 temp 1.0}
        yield n
    return len(all)
""",
    "samples": HEAD
    + """    assistant: | ?{n: int in 0..999 n 8 temp 1.0}
    return len(n)
""",
    "a caught error": HEAD
    + """    var tries = 0
    while tries < 6 limit 9:
        try:
            assistant: | ?{n: int in 0..999 temp 1.0}
            tries = tries + 1
            raise Wrong()
        except Wrong:
            tries = tries + 0
        tries = tries + 1
    return tries
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_prompt_is_read_once(name: str, tmp_path: Path) -> None:
    path = tmp_path / "p.sgl"
    path.write_text(PROGRAMS[name], encoding="utf-8")
    compiled = compile_file(path)
    assert compiled.program is not None, compiled.diagnostics
    executor = FakeExecutor(small_tokenizer())
    engine = open_engine(executor, memory=executor.block_bytes * 4000)
    session = Session(compiled.program, engine)
    prompt = len(session._served.by_name[MAIN].encoder.encode(LONG))
    assert prompt > 2 * TURN

    async def fed(seed: int) -> tuple[int, int]:
        """Tokens computed in a run, and how many its own words may have taken."""
        start = len(executor.steps)
        result = await session.run("f", {}, seed=seed)
        pieces = [piece for step in executor.steps[start:] for piece in step]
        turns = TURN * result.statistics.retries if name == "a repair" else 0
        turns += 8 * OPENING if name == "branches" else 0
        return sum(len(piece.tokens) for piece in pieces), sum(piece.wanted for piece in pieces) + turns + 64

    computed, own = asyncio.run(fed(0))
    assert prompt <= computed < prompt + own
    computed, own = asyncio.run(fed(1))
    assert computed < own
    engine.close()
