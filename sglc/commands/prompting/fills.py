"""Values for holes from the command line: `--fill hole=value`, and what a trace says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from sglc.bytecode.code import HoleSpec, Program
from sglc.commands.shared.invocation import fault
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.diagnostics.suggest import nearest
from sglc.recorded.answers import answer_of, outcome_of
from sglc.runtime.vm.state.run import CallOutcome, Written
from sglc.runtime.vm.state.seed import known_name
from sglc.types.dependent import erased
from sglc.types.language.membership import MemberError
from sglc.types.notation.sgl import show_type
from sglc.types.text.plain_json import from_text
from sglc.types.values import Value

LARGEST_TRACE = 64 * 1024 * 1024

Fills = dict[str, list[Value | Written | CallOutcome]]
"""Answers to each hole, `function.hole` or `function.hole@branch`, in the order in which it is asked, and to
each function of Python, by its name."""


def read_fills(program: Program, pairs: Sequence[str]) -> tuple[Fills, list[Diagnostic]]:
    """`hole=value` texts by the holes' full names; what names no hole, or is no value of it, is reported."""
    fills: Fills = {}
    problems: list[Diagnostic] = []
    for pair in pairs:
        name, equals, text = pair.partition("=")
        name, at, branch = name.strip().partition("@")
        if not equals or not name:
            problems.append(
                fault("E0803", f"`--fill {pair}` is not HOLE=VALUE", hint="write for example --fill age=41")
            )
            continue
        specs, problem = _specs(program, name)
        if problem is not None:
            problems.append(problem)
            continue
        faults: list[Diagnostic] = []
        for spec in specs:
            value, wrong = _typed(program, spec, text)
            if wrong is None:
                fills.setdefault(f"{spec.name}{at}{branch}", []).append(value)
                break
            faults.append(wrong)
        else:
            problems.append(faults[0])
    return fills, problems


def _specs(program: Program, name: str) -> tuple[list[HoleSpec], Diagnostic | None]:
    """The holes that one name means; holes of several functions cannot be meant together."""
    found = [hole for hole in program.holes if name in (hole.name, hole.name.rpartition(".")[2])]
    names = list(dict.fromkeys(hole.name for hole in found))
    if len(names) == 1:
        return found, None
    known = list(dict.fromkeys(hole.name for hole in program.holes))
    if names:
        told, hint = f"`{name}` may mean {len(names)} holes", "write " + " or ".join(names)
    elif not known:
        told, hint = f"{program.name} has no holes", ""
    else:
        close = nearest(name, [*known, *(each.rpartition(".")[2] for each in known)])
        told = f"there is no hole {name}"
        hint = (f"did you mean {close}? " if close else "") + f"holes: {', '.join(sorted(known))}"
    return [], fault("E0814", told, hint=hint)


def _typed(program: Program, spec: HoleSpec, text: str) -> tuple[Value | Written, Diagnostic | None]:
    """The value of a hole that a text on the command line means. A choice is given by what it writes."""
    if spec.type is None or spec.mode == "select":
        return Written(text), None
    wanted = program.types[spec.type]
    try:
        return from_text(text, erased(wanted), program.table), None
    except MemberError as wrong:
        told = f"the value of {spec.name} is no {show_type(wanted)}"
        return None, fault("E0818", told, reason=str(wrong))


def read_trace(program: Program, path: Path) -> tuple[Fills, list[Diagnostic]]:
    """The values that the holes had in a run and what calls of Python came to, from its trace."""
    from sglc.commands.shared.programs import read_text

    text, problem = read_text(path, LARGEST_TRACE)
    if problem is not None:
        return {}, [problem]
    known = {hole.name for hole in program.holes}
    known |= {known_name(code) for code in program.codes if code.extern is not None}
    fills: Fills = {}
    for number, line in enumerate(text.splitlines(), 1):
        try:
            event = json.loads(line)
            found: tuple[str, Written | CallOutcome] | None = None
            if event["event"] == "hole_end":
                found = answer_of(event)
            elif event["event"] == "python":
                found = outcome_of(event)
        except (ValueError, KeyError, TypeError, RecursionError):
            told = f"line {number} of {path} is no event of a trace"
            return {}, [fault("E0819", told, hint="`sglc run … --trace FILE.jsonl` writes one")]
        if found is None:
            continue
        name, answer = found
        hole = name.rpartition("@")[0]
        if hole not in known:
            does = "calls" if isinstance(answer, CallOutcome) else "fills"
            told = f"line {number} of {path} {does} {hole}, which {program.name} has not"
            return {}, [fault("E0819", told, hint="it is the trace of another program")]
        fills.setdefault(name, []).append(answer)
    return fills, []
