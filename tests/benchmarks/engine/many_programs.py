"""Many programs in flight at once: when each ends, what the whole takes, and how much memory is held.

    python tests/benchmarks/engine/many_programs.py [--programs 250] [--rounds 3]

Each program has a prompt of its own behind a shared beginning and writes one short record, greedily, on the
default model. Prints a row for each round: tokens a second, the share of the whole after which a tenth, half
and nine tenths of the programs had ended, and the most memory of keys and values that was held.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import time

import sglc

PROGRAM = """
record Note:
    subject: str min 3 chars max 20 chars
    urgent: bool
    reply: str min 10 chars max 60 chars

fn note(mail: str) -> Note:
    system: | You file short mails as JSON objects.
    user:
        | ${mail}
        | ${schema(Note)}
    assistant: | ?{it: Note}
    return it
"""
THINGS = ("kettle", "lamp", "bicycle", "coat", "radio", "table", "clock", "camera")
DEEDS = (
    "never came",
    "arrived broken",
    "is the wrong colour",
    "makes a strange noise",
    "works well, thank you",
)


def mail(number: int) -> str:
    """The text of one program; no two are equal."""
    thing, deed = THINGS[number % len(THINGS)], DEEDS[number // len(THINGS) % len(DEEDS)]
    return f"Order {number}: the {thing} that I bought {number % 27 + 2} days ago {deed}. Customer {number}"


async def together(module: sglc.api.Module, programs: int) -> tuple[list[float], int, int]:
    """Seconds after which each program ended, tokens written, and the most blocks held at a time."""
    begun = time.perf_counter()
    ended: list[float] = []
    most = 0

    async def one(number: int) -> None:
        nonlocal most
        await module.note.aio(mail=mail(number))
        ended.append(time.perf_counter() - begun)
        stats = module.cache_stats()
        most = max(most, 0 if stats is None else stats.held)

    before = module.statistics()["process"]["tokens"]
    await asyncio.gather(*map(one, range(programs)))
    return sorted(ended), module.statistics()["process"]["tokens"] - before, most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=250)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    for _ in range(given.rounds):
        module = sglc.loads(PROGRAM)
        module.note(mail="Warm up.")
        ended, tokens, held = asyncio.run(together(module, given.programs))
        whole = ended[-1]
        shares = ", ".join(f"p{q} {ended[len(ended) * q // 100] / whole:.2f}" for q in (10, 50, 90))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{tokens / whole:.0f} tok/s, {whole:.1f} s, {shares}, {held} blocks held, peak {peak:.0f} MiB")


if __name__ == "__main__":
    main()
