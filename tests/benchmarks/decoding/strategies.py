"""What strategies of holes compute: walks and local draws, choices, particles, beams beside transformers.

    python tests/benchmarks/decoding/strategies.py [--draws 24] [--repeats 9] [--counts] [--peers]

The model is SmolLM2-135M. Counts (walks, tokens, passes) do not depend on the machine. Times are processor
time of all threads, the least of the repeats; `--counts` leaves out what is timed. With `--peers`
transformers' beam search runs on the same weights in float32, its tokens restricted to the same digits.
`--markdown PAGE` writes the page.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from report import surroundings, write_page
from sglc.driver import compile_source
from sglc.runtime.decoding.strategies.attempt import Attempts
from sglc.runtime.engine.load import load_engine
from sglc.runtime.errors import SglError
from sglc.runtime.model.load import DEFAULT, resolve
from sglc.runtime.results import RunResult
from sglc.runtime.session import Session
from sglc.source import Source

HOLES = {
    "`int in 1..100`": ("How many of a hundred people like rain?", "int in 1..100"),
    "five words": ("Will it work?", '"yes, certainly" | "yes, perhaps" | "no" | "no, never" | "maybe"'),
    "enum of six": ("Which desk handles a broken lamp?", "Desk"),
    "a date": ("When was the house built?", "str matching /(19|20)[0-9]{2}-[01][0-9]-[0-3][0-9]/"),
    "`str max 60 chars`": ("Describe a lighthouse in one short sentence.", "str max 60 chars"),
}
DIGITS = 6
"""Tokens of the texts that beams are compared on. SmolLM2 writes each digit as a token."""
WORDS = """Measured with SmolLM2-135M. *Computed* are tokens whose logits were asked for, restarts included.
Counts do not depend on the machine. Times are processor time of all threads, the least of the repeats, on a
machine that was busy with other work."""


def program(question: str, hole: str) -> str:
    """A function that asks for one hole."""
    return (
        "enum Desk: billing, repairs, sales, returns, parts, other\n\n"
        f"pub fn f():\n    user: | {question}\n    assistant: | ?{{x: {hole}}}\n"
    )


class Bench:
    """Runs programs on one engine."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine

    def session(self, text: str) -> Session:
        compiled = compile_source(Source("bench.sgl", text))
        assert compiled.program is not None, [each.message for each in compiled.diagnostics]
        return Session(compiled.program, self.engine)

    def run(self, session: Session, seed: int = 0) -> RunResult:
        return asyncio.run(session.run("f", {}, seed=seed, pressure=False))

    def least(self, work: Callable[[], object], repeats: int) -> float:
        """Least processor time of some work in milliseconds; once before that it is not timed."""
        work()
        found = []
        for _ in range(repeats):
            begun = time.process_time()
            work()
            found.append(time.process_time() - begun)
        return 1e3 * min(found)


@contextmanager
def by_walks() -> Iterator[None]:
    """Within it no hole has few enough texts to be scored at once."""
    plain = Attempts.longest_of_few
    Attempts.longest_of_few = lambda self: None  # type: ignore[method-assign]
    try:
        yield
    finally:
        Attempts.longest_of_few = plain  # type: ignore[method-assign]


FINITE = ("`int in 1..100`", "five words", "enum of six")


def at_once(bench: Bench, draws: int) -> list[str]:
    """Computed tokens and steps a draw: local, by walks, and with all places in one step."""
    lines = [
        "| hole | local: computed | steps | by walks: computed | steps | at once: computed | steps "
        f"| {draws} draws at once: computed | steps | p(L) |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name in FINITE:
        question, hole = HOLES[name]
        figures = [_counted(bench, program(question, f"{hole} temp 1.0"), draws)]
        text = program(question, f"{hole} temp 1.0 decode exact(tries = 2000)")
        with by_walks():
            figures.append(_counted(bench, text, draws))
        figures.append(_counted(bench, text, draws))
        several = program(question, f"{hole} temp 1.0 n {draws} decode exact(tries = 2000)")
        figures.append(_counted(bench, several, 1))
        shown = " | ".join(f"{computed:.1f} | {steps:.1f}" for computed, steps in figures)
        bound = _exact(bench, text, 1)[0].bound
        lines.append(f"| {name} | {shown} | {math.exp(bound):.2g} |")
        print(lines[-1], flush=True)
    return lines


def _counted(bench: Bench, text: str, runs: int) -> tuple[float, float]:
    """Tokens whose logits were asked for, and steps of the engine, a run. The prompt is computed before."""
    session = bench.session(text)
    bench.run(session, runs)
    before, sampled = bench.engine.statistics.forwards, 0
    for seed in range(runs):
        sampled += bench.run(session, seed).statistics.sampled_tokens
    return sampled / runs, (bench.engine.statistics.forwards - before) / runs


def walks(bench: Bench, draws: int) -> list[str]:
    """Computed tokens a draw: local, a first exact draw by walks, and draws of one tree."""
    lines = [
        "| hole | local: computed | first exact draw: walks | computed "
        "| draws of one tree: walks | computed | p(L) at most |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, (question, hole) in HOLES.items():
        local = bench.session(program(question, f"{hole} temp 1.0"))
        computed = [bench.run(local, seed).holes[0].sampled for seed in range(draws)]
        several = program(question, f"{hole} temp 1.0 n {draws} decode exact(tries = 2000)")
        with by_walks():
            first = _exact(bench, program(question, f"{hole} temp 1.0 decode exact(tries = 2000)"), draws)
            shared = _exact(bench, several, 1)
        bound = min((each.bound or 0.0 for each in shared or first), default=math.nan)
        lines.append(
            f"| {name} | {_mean(computed)} | {_mean([e.walks for e in first])} | "
            f"{_mean([e.sampled for e in first])} | {_mean([e.walks for e in shared])} | "
            f"{_mean([e.sampled for e in shared])} | {math.exp(bound):.2g} |"
        )
        print(lines[-1], flush=True)
    return lines


def _exact(bench: Bench, text: str, runs: int) -> list[Any]:
    """Records of the holes of some runs; none of a run that has found no text."""
    session, found = bench.session(text), []
    for seed in range(runs):
        try:
            found += bench.run(session, seed).holes
        except SglError as error:
            print("   ", error.message, flush=True)
    return found


def _mean(values: list[Any]) -> str:
    return f"{sum(values) / len(values):.1f}" if values else "-"


def choices(bench: Bench, repeats: int) -> list[str]:
    """`choose` beside `select … by sum`, of six options."""
    question = "Which desk handles a broken lamp?"
    holes = {
        "`select by sum`": "select Desk by sum",
        "`choose`": "choose Desk temp 1.0",
        "`choose`, `decode local`": "choose Desk temp 1.0 decode local",
    }
    work = {name: bench.session(program(question, hole)) for name, hole in holes.items()}
    lines = ["| six options | ms | passes |", "|---|--:|--:|"]
    for name, session in work.items():
        took = bench.least(lambda session=session: bench.run(session), repeats)  # type: ignore[misc]
        passes = bench.run(session).statistics.forwards
        lines.append(f"| {name} | {took:.1f} | {passes} |")
        print(lines[-1], flush=True)
    return lines


def particles(bench: Bench, repeats: int) -> list[str]:
    """A step of eight particles beside a step of eight samples."""
    question = "Describe a lighthouse in one short sentence."
    lines = ["| eight texts of at most 60 characters | ms a step | steps |", "|---|--:|--:|"]
    for name, options in (("`n 8`", "n 8"), ("`decode smc(8)`", "decode smc(8)")):
        session = bench.session(program(question, f"str max 60 chars temp 1.0 {options}"))
        took = bench.least(lambda session=session: bench.run(session, 1), repeats)  # type: ignore[misc]
        before = bench.engine.statistics.forwards
        bench.run(session, 1)
        steps = bench.engine.statistics.forwards - before
        lines.append(f"| {name} | {took / steps:.1f} | {steps} |")
        print(lines[-1], flush=True)
    return lines


def beams(repeats: int) -> list[str]:
    """Four beams over digits, beside transformers on the same weights in float32."""
    import torch
    from transformers import AutoModelForCausalLM

    questions = ("The year and month of the moon landing as digits: ", "Pi begins with 3.", "My number is ")
    engine = load_engine(DEFAULT, executor="torch", dtype="float32")
    bench, tokenizer = Bench(engine), engine.model.tokenizer
    model = AutoModelForCausalLM.from_pretrained(resolve(DEFAULT), dtype=torch.float32).eval()
    digits = [tokenizer.encode(str(digit))[0] for digit in range(10)]
    lines = ["| four beams, six digits | texts | ms |", "|---|---|--:|"]
    ours, theirs, took, peer = [], [], 0.0, 0.0
    for question in questions:
        text = f"pub fn f():\n    | {question}?{{x: str matching /[0-9]{{{DIGITS}}}/ decode beam(4)}}\n"
        session = bench.session(text)
        ours.append(bench.run(session).holes[0].text)
        took += bench.least(lambda session=session: bench.run(session), repeats)  # type: ignore[misc]
        before = torch.tensor([[*_start(tokenizer), *tokenizer.encode(question)]])

        def search(before: Any = before) -> Any:
            return model.generate(
                before,
                attention_mask=torch.ones_like(before),
                num_beams=4,
                do_sample=False,
                max_new_tokens=DIGITS,
                min_new_tokens=DIGITS,
                length_penalty=0.0,
                pad_token_id=0,
                prefix_allowed_tokens_fn=lambda batch, tokens: digits,
            )

        theirs.append(tokenizer.bytes_of(search()[0, before.shape[1] :].tolist()).decode())
        peer += bench.least(search, repeats)
    engine.close()
    lines.append(f"| sglc, torch executor | {', '.join(ours)} | {took / len(questions):.0f} |")
    lines.append(f"| transformers | {', '.join(theirs)} | {peer / len(questions):.0f} |")
    print(*lines[-2:], sep="\n", flush=True)
    return lines


def _start(tokenizer: Any) -> list[int]:
    """What a text without roles begins with."""
    return [tokenizer.bos_id] if tokenizer.bos_id is not None else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=24)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--counts", action="store_true")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--markdown", metavar="PAGE")
    given = parser.parse_args()
    engine = load_engine(DEFAULT)
    bench = Bench(engine)
    parts = ["## Few texts", "\n".join(at_once(bench, given.draws))]
    parts += ["## Exact draws by walks", "\n".join(walks(bench, given.draws))]
    if not given.counts:
        parts += ["## Choices", "\n".join(choices(bench, given.repeats))]
        parts += ["## Particles", "\n".join(particles(bench, given.repeats))]
    engine.close()
    if given.peers:
        parts += ["## Beams", "\n".join(beams(given.repeats))]
    if given.markdown:
        write_page(given.markdown, "Strategies of holes", WORDS, "\n\n".join(parts), surroundings())


if __name__ == "__main__":
    main()
