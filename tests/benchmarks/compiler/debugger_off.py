"""What the debugger costs a run that is not debugged: this checkout beside another one, in turn.

    python tests/benchmarks/compiler/debugger_off.py OTHER_CHECKOUT [ROUNDS] [INSTRUCTIONS]

Each measurement is a process of its own that runs a program of about so many instructions without a model,
and a program with holes on a model with ready logits. It prints processor time: the median of the rounds, the
quickest, and the difference of this checkout from the other one. `debugged` is this checkout with a debugger
that never stops.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[3]
CHILD = r"""
import asyncio, json, sys, time
from sglc.driver import compile_source
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.session import Session
from sglc.runtime.vm.state.run import Limits
from sglc.source import Source

PURE = '''
fn main(rounds: int) -> int:
    var total = 0
    for i in 1..rounds:
        if i % 3 == 0:
            total = total + i
        else:
            total = total - 1
    return total
'''
HOLES = '''
fn main(rounds: int) -> int:
    var total = 0
    for i in 1..rounds:
        assistant: | ?{word: str matching /[a-z]{40,60}/}
        total = total + len(word)
    return total
'''
def debugger(program):
    if sys.argv[2] != "debugged":
        return {}
    from sglc.runtime.debug.debugger import Debugger
    return {"debugger": Debugger(program, None, entry=False)}

def timed(text, rounds):
    program = compile_source(Source("bench.sgl", text)).program
    session = Session(program, ReferenceEngine(ScriptedModel([])), limits=Limits(steps=1 << 40))
    asyncio.run(session.run("main", {"rounds": 5}))
    before = time.process_time()
    found = asyncio.run(session.run("main", {"rounds": rounds}, **debugger(program)))
    return time.process_time() - before, found.statistics.steps, found.statistics.output_tokens

instructions = int(sys.argv[1])
pure = timed(PURE, instructions // 14)
holes = timed(HOLES, 60)
print(json.dumps({"pure": pure[0], "steps": pure[1], "holes": holes[0], "tokens": holes[2]}))
"""


def once(checkout: Path, instructions: int, how: str) -> dict[str, float]:
    python = checkout / ".venv" / "bin" / "python"
    command = [str(python if python.exists() else sys.executable), "-P", "-c", CHILD, str(instructions), how]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=checkout)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main(other: str, rounds: str = "11", instructions: str = "1000000") -> None:
    checkouts = {"before": (Path(other), ""), "now": (ROOT, ""), "debugged": (ROOT, "debugged")}
    found: dict[str, list[dict[str, float]]] = {name: [] for name in checkouts}
    for number in range(int(rounds)):
        order = list(checkouts) if number % 2 else list(checkouts)[::-1]
        for name in order:
            found[name].append(once(*checkouts[name][:1], int(instructions), checkouts[name][1]))
    steps, tokens = (int(found["now"][0][key]) for key in ("steps", "tokens"))
    print(f"{steps:,} instructions, {tokens} tokens, {rounds} rounds")
    print(f"{'':10} {'pure s':>8} {'least':>8} {'':>8} {'holes s':>8} {'least':>8}")
    base = {key: median(each[key] for each in found["before"]) for key in ("pure", "holes")}
    for name, rows in found.items():
        parts = []
        for key in ("pure", "holes"):
            values = [each[key] for each in rows]
            change = 100 * (median(values) / base[key] - 1)
            parts.append(f"{median(values):8.3f} {min(values):8.3f} {change:+7.1f}%")
        print(f"{name:10} " + " ".join(parts))


if __name__ == "__main__":
    main(*sys.argv[1:])
