"""Checks, compiles and tests mutated programs in a process of its own, and says what went wrong.

`python mutated_program_worker.py FIRST COUNT RESULTS`: programs number FIRST to FIRST + COUNT - 1 of
`mutated_programs`. To RESULTS goes a line for each when it begins, and one where an exception came of it that
no page documents, a message spoke of what is inside, or it took long; the last line has the counts.
"""

from __future__ import annotations

import asyncio
import json
import re
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from hostile.inner_words import INNER
from hostile.peak_memory import peak_bytes
from hostile.run_digests import digests
from sglc.bytecode.serial import dumps, loads
from sglc.diagnostics.diagnostic import Diagnostic, has_errors
from sglc.diagnostics.edits import edited
from sglc.diagnostics.render import render
from sglc.driver import compile_source
from sglc.runtime.errors import diagnostic_of
from sglc.runtime.session import Session
from sglc.runtime.vm.state.run import Limits
from sglc.source import Source
from strategies.mutated_programs import Original, mutated, originals

SECONDS = 120
"""Most seconds of the processor for one program; then the process ends. Time in which others have the machine
does not count."""
SLOW = 10.0
"""Seconds of the processor for one program that are told. An example with its tests takes half of one."""
DATA = 2 << 30
STEPS = 5000
PYTHON = re.compile(
    r"object at 0x|<class |NoneType|Traceback|\b(?:Key|Attribute|Type|Value|Index|Recursion|Assertion)Error\b"
)
"""What only Python says."""


class Told(Exception):
    """A message says what it should not."""


def main(first: int, count: int, results: Path) -> None:
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_DATA, (DATA, DATA))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    programs = originals()
    counts: Counter[str] = Counter()
    known: dict[bytes, str] = {}
    with results.open("w") as told:
        for number in range(first, first + count):
            print(json.dumps({"begins": number}), file=told, flush=True)
            program = mutated(number, programs)
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            began = time.process_time()
            try:
                counts[meet(program, known)] += 1
            except BaseException as raised:
                fault = {
                    "fault": number,
                    "kind": type(raised).__name__,
                    "trace": traceback.format_exc()[-3000:],
                }
                print(json.dumps(fault), file=told, flush=True)
            signal.setitimer(signal.ITIMER_PROF, 0)
            spent = time.process_time() - began
            if spent > SLOW:
                print(json.dumps({"slow": number, "seconds": round(spent, 1)}), file=told, flush=True)
        peak = peak_bytes()
        print(json.dumps({"peak": peak, "counts": counts}), file=told, flush=True)


def meet(program: Original, known: dict[bytes, str]) -> str:
    """Check, compile and test a program: "refused", or how its tests came out. `known` has the outcomes of
    tests by digest; a test that has run does not run again."""
    compiled = compile_source(Source(program.path, program.text))
    look_at(compiled.diagnostics, program.text)
    if compiled.program is None:
        assert has_errors(compiled.diagnostics)
        return "refused"
    assert not has_errors(compiled.diagnostics)
    again, faults = loads(dumps(compiled.program))
    assert again is not None and not faults, [fault.message for fault in faults]
    session = Session(compiled.program, limits=Limits(steps=STEPS))
    digest = digests(compiled.program)
    ended: set[str] = set()
    for test in session.tests:
        key = digest(test)
        if key not in known:
            known[key] = outcome(session, test.name, program)
        ended.add(known[key])
    return "+".join(sorted(ended)) or "no tests"


def outcome(session: Session, name: str, program: Original) -> str:
    """How a test comes out; `fuzz` has rounds enough, so one seed will do."""
    result = asyncio.run(session.run_test(name))
    if result.error is not None:
        look_at([diagnostic_of(result.error, session.program)], program.text)
    return "passed" if result.passed else "failed"


def look_at(found: list[Diagnostic], text: str) -> None:
    """Raises Told where a message has words of the inside, or an edit that cannot be made."""
    for diagnostic in found:
        words = "\n".join(
            (diagnostic.message, diagnostic.label, diagnostic.reason, diagnostic.hint, diagnostic.witness)
        )
        leaked = (set(INNER.findall(words)) | set(PYTHON.findall(words))) - set(
            INNER.findall(text) + INNER.findall(text.upper())
        )
        shown = render(diagnostic)
        if leaked or not shown or not diagnostic.message:
            raise Told(f"{sorted(leaked)} in\n{shown}")
        if diagnostic.edits:
            edited(text, diagnostic.edits)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
