"""Loads, prints and runs forged programs in a process of its own, and says what went wrong.

`python forged_program_worker.py FIRST COUNT RESULTS PROGRAM…`: forgeries number FIRST to FIRST + COUNT - 1 of
the compiled programs. To RESULTS goes a line for each when it begins, and one where something other than a
diagnostic or a sound run came of it; the last line has the counts.
"""

from __future__ import annotations

import asyncio
import json
import random
import resource
import signal
import sys
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

from fakes.small_models import FickleModel
from hostile.forged_programs import body_of, forged
from hostile.peak_memory import peak_bytes
from sglc.bytecode.code import Program
from sglc.bytecode.disasm import disassemble
from sglc.bytecode.serial import loads
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.errors import ArgumentError, SglError, diagnostic_of
from sglc.runtime.session import Session
from sglc.runtime.vm.state.run import Limits
from sglc.types.type import Bool, Dec, Float, Int, ListOf, MapOf, Type

SECONDS = 60
"""Most for one program on a busy machine."""
DATA = 3 << 30
TIME = 3.0
"""Seconds after which a run is stopped, as any user may."""
TOKENS = 60
STEPS = 5000


def main(first: int, count: int, results: Path, programs: list[Path]) -> None:
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_DATA, (DATA, DATA))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    bodies = [body_of(path.read_bytes()) for path in programs]
    others = [json.loads(body) for body in bodies]
    engine = ReferenceEngine(FickleModel(wanted={1: 4.0}))
    counts: Counter[str] = Counter()
    with results.open("w") as told:
        for number in range(first, first + count):
            print(json.dumps({"begins": number}), file=told, flush=True)
            dice = random.Random(number)
            data = forged(dice.choice(bodies), others, dice)
            signal.alarm(SECONDS)
            try:
                counts[meet(data, engine)] += 1
            except BaseException:
                fault = {"fault": number, "trace": traceback.format_exc()[-3000:]}
                print(json.dumps(fault), file=told, flush=True)
            signal.alarm(0)
        peak = peak_bytes()
        print(json.dumps({"peak": peak, "counts": counts}), file=told, flush=True)


def meet(data: bytes, engine: ReferenceEngine) -> str:
    """Load, print and run a program: "refused", or the way its runs ended."""
    program, faults = loads(data)
    if program is None:
        assert faults and all(fault.code.startswith("E06") for fault in faults)
        return "refused"
    assert disassemble(program)
    session = Session(program, engine, limits=Limits(steps=STEPS))
    ended = {asyncio.run(run(session, program, name)) for name in session.functions}
    for test in session.tests:
        asyncio.run(session.run_test(test.name))
    return "+".join(sorted(ended)) or "nothing to run"


async def run(session: Session, program: Program, name: str) -> str:
    parameters = session.function(name).parameters
    arguments = {each.name: sample(program.types[each.type]) for each in parameters}
    try:
        await session.run(name, arguments, timeout=TIME, max_tokens=TOKENS)
    except ArgumentError as problem:
        assert problem.diagnostic().message
        return "arguments"
    except SglError as error:
        assert diagnostic_of(error, program).message
        return error.code
    return "value"


def sample(type: Type) -> Any:
    """A value that often is of the type."""
    match type:
        case Int(minimum=low, maximum=high):
            return low if low is not None else high if high is not None else 3
        case Dec() | Float():
            return 3
        case Bool():
            return True
        case ListOf(item=item, minimum=least):
            return [sample(item) for _ in range(min(least, 3) or 2)]
        case MapOf():
            return {}
    return "a text"


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), [Path(each) for each in sys.argv[4:]])
