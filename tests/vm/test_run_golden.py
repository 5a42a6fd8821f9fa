"""Programs from source to the trace of a run on a scripted model: the whole road, readable."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import pytest

from golden_case import GoldenCase, golden_cases
from sglc.diagnostics.render import render
from sglc.driver import compile_source
from sglc.options import CompileOptions
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.errors import SglError
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.session import Session
from sglc.runtime.vm.state.trace import Event
from sglc.source import Source
from sglc.types.text.plain_json import dumps


class Printer:
    """Prints events, neighbouring pieces of one kind joined."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._kind = ""
        self._text = ""

    def flush(self) -> None:
        if self._kind:
            self.lines.append(f"{self._kind} {self._text!r}")
        self._kind = self._text = ""

    def __call__(self, event: Event) -> None:
        data = event.data
        where = f"{event.branch}: " if event.branch else ""
        if event.kind in ("text", "forced", "generated"):
            kind = where + {"text": "  text", "forced": "  sure", "generated": "  drew"}[event.kind]
            if kind != self._kind:
                self.flush()
            self._kind = kind
            self._text += event.text
            return
        if event.kind in ("token", "start", "finish"):
            return
        self.flush()
        match event.kind:
            case "role":
                line = f"{data['role']}:"
            case "hole_start":
                line = f"  ?{data['hole']} {data['mode']}"
            case "hole_end":
                line = f"  = {data['text']} ({data['ended']})"
            case "retry":
                line = f"retry {data['strategy']}: {data['rejected']} ({data['reason']})"
            case "check":
                line = f"check {'passed' if data['passed'] else 'failed'} {data['reason']}".rstrip()
            case "error":
                line = f"error {data['name']}: {data['message']}"
            case _:
                line = " ".join([event.kind, *(str(value) for value in data.values())])
        self.lines.append(where + line)


def run(text: str) -> str:
    """What happens when a case runs, the value, and the whole conversation."""
    lines = text.split("\n")
    source = "\n".join(line for line in lines if not line.startswith((">>>", "<<<"))) + "\n"
    call = next(line[3:].strip() for line in lines if line.startswith(">>>"))
    answers = json.loads(next((line[3:] for line in lines if line.startswith("<<<")), "[]"))
    compiled = compile_source(Source("case.sgl", source), CompileOptions())
    if compiled.program is None:
        return "\n\n".join(render(d) for d in compiled.diagnostics)
    name, _, arguments = call.partition(" ")
    printer = Printer()
    engine = ReferenceEngine(ScriptedModel(answers))
    try:
        session = Session(compiled.program, engine)
        result = asyncio.run(session.run(name, json.loads(arguments or "{}"), on_event=printer))
    except SglError as error:
        printer.flush()
        place = f" at line {error.place.line}" if error.place else ""
        return "\n".join([*printer.lines, f"--> {error}{place}"])
    finally:
        engine.close()
    printer.flush()
    value = "nothing"
    if result.type is not None:
        value = dumps(result.value, result.type, compiled.program.table)
    return "\n".join([*printer.lines, f"--> {value}", result.text])


@pytest.mark.slow
@pytest.mark.parametrize("case", golden_cases("run"), ids=str)
def test_the_run_of_a_program(case: GoldenCase, golden: Callable[[GoldenCase, str], None]) -> None:
    golden(case, run(case.input))
