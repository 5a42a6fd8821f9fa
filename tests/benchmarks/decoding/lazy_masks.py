"""Tokens drawn with and without asking for single tokens first: time on masks and draws, and the same texts.

    python -P tests/benchmarks/decoding/lazy_masks.py [--model smollm2] [--fills 12] [--markdown PAGE]

Holes are records whose fields have new names in every fill, so that each mask is met for the first time, and
the same record filled again. A fill is done twice: asking for single tokens, the likeliest first, with the
whole mask as the fallback (`sglc.runtime.engine.sampling.lazy`), and with whole masks alone, in turns first.
Time is the processor time of masks and draws (`mask_seconds` of `--stats`), a drawn token. Texts must be
equal.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from report import surroundings, write_page
from sglc.driver import compile_source
from sglc.runtime.engine.base import Engine
from sglc.runtime.engine.load import load_engine
from sglc.runtime.engine.sampling import lazy
from sglc.runtime.metrics.collector import Collector
from sglc.runtime.session import Session
from sglc.source import Source

PROGRAM = """\
record Note{number}:
    title{number}: str max 60 chars
    body{number}: str max 160 chars
    tags{number}: [str max 20 chars; 1..4]
    stars{number}: int in 1..5

pub fn note(about: str) -> Note{number}:
    user: | Write a note about ${{about}} as JSON with title, body, tags and stars.
    assistant: | ?{{it: Note{number} {options}}}
    return it
"""
SAMPLINGS = {
    "greedy": "",
    "temp 1": "temp 1.0",
    "temp 0.7, top_k 20": "temp 0.7 top_k 20",
    "temp 0.7, top_p 0.9": "temp 0.7 top_p 0.9",
    "temp 1, min_p 0.1": "temp 1.0 min_p 0.1",
}


def fill(engine: Engine, number: int, options: str, most: int, again: bool) -> tuple[str, float, int]:
    """The text of a fill, seconds on masks and draws, and tokens drawn; of a second one with `again`."""
    usual, lazy.MOST_TRIES = lazy.MOST_TRIES, most
    try:
        compiled = compile_source(Source("note.sgl", PROGRAM.format(number=number, options=options)))
        program = compiled.program
        assert program is not None, [str(each.message) for each in compiled.diagnostics]
        session = Session(program, engine)
        text = ""
        for _ in range(1 + again):
            session.recorder = collector = Collector()
            text = asyncio.run(session.run("note", {"about": "the sea"}, seed=number, max_tokens=90)).text
        figures = collector.holes["note.it"]
        return text, figures.mask_seconds, figures.sampled
    finally:
        lazy.MOST_TRIES = usual


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--fills", type=int, default=12)
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args()
    engine = load_engine(given.model)
    rows = []
    for name, options in SAMPLINGS.items():
        for again in (False, True):
            times, tokens = [0.0, 0.0], 0
            for number in range(given.fills):
                order = (0, 1) if number % 2 else (1, 0)  # what the first has met, the second knows
                found = {
                    place: fill(engine, number, options, (lazy.MOST_TRIES, 0)[place], again)
                    for place in order
                }
                assert found[0][0] == found[1][0], (name, number)
                tokens += found[0][2]
                for place in (0, 1):
                    times[place] += found[place][1]
            single, whole = (1e6 * each / tokens for each in times)
            rows.append((name, "again" if again else "first", tokens, single, whole))
            print(
                f"{name:22} {rows[-1][1]:6} {tokens:5} drawn  {single:7.0f} µs  whole masks {whole:7.0f} µs",
                flush=True,
            )
    engine.close()
    if given.markdown:
        lines = ["| sampling | fill | drawn | single tokens first, µs a token | whole masks, µs a token |"]
        lines.append("|---|---|--:|--:|--:|")
        lines += [f"| {a} | {b} | {c} | {d:.0f} | {e:.0f} |" for a, b, c, d, e in rows]
        write_page(
            str(given.markdown),
            "Masks that are asked for",
            (__doc__ or "").split("\n\n")[-1],
            "\n".join(lines),
            surroundings(),
        )


if __name__ == "__main__":
    main()
