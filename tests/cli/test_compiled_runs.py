"""Compiled programs on the real machine: passes change nothing that is seen, files that pass the verifier run
or fail as the language says, never otherwise."""

from __future__ import annotations

import asyncio
import functools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkout import EXAMPLES
from example_budget import examples
from sglc.bytecode.serial import HEADER, dumps, loads, sign
from sglc.driver import compile_file, compile_source
from sglc.options import CompileOptions
from sglc.runtime.session import Session
from sglc.runtime.vm.state.run import Limits
from sglc.runtime.vm.state.trace import Event
from sglc.source import Source

EXAMPLES = sorted(EXAMPLES.glob("*.sgl"))


def seen(path: Path, level: int) -> list[tuple[Any, ...]]:
    """What a listener sees of the tests of a program, neighbouring texts joined, calls of parts left out."""
    text = re.sub(r"times \d+:", "times 5:", path.read_text(encoding="utf-8"))
    program = compile_source(Source(str(path), text), CompileOptions(level=level)).program
    assert program is not None
    session = Session(program)
    events: list[tuple[Any, ...]] = []

    def listen(event: Event) -> None:
        if event.kind == "text":
            text = event.data["text"]
            if events and events[-1][:2] == ("text", event.branch):
                text = events.pop()[2] + text
            events.append(("text", event.branch, text))
        elif event.kind not in ("call", "return"):
            events.append((event.kind, event.branch, json.dumps(event.data, default=str)))

    for code in session.tests:
        result = asyncio.run(session.run_test(code.name, seed=3, on_event=listen))
        events.append((code.name, result.passed, result.expectations))
    return events


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_passes_change_nothing_that_a_listener_sees(path: Path) -> None:
    assert seen(path, 1) == seen(path, 0)


@functools.cache
def tree_of(name: str) -> str:
    """The content of an example's file, as JSON."""
    (path,) = (path for path in EXAMPLES if path.stem == name)
    program = compile_file(path).program
    assert program is not None
    return dumps(program)[HEADER:].decode("ascii")


@pytest.mark.slow
@given(st.sampled_from(["errors", "ideas", "loop", "repair", "shapes", "triage"]), st.data())
@settings(max_examples=examples(24))
def test_changed_programs_that_pass_the_verifier_run_or_fail_as_programs_do(
    name: str, data: st.DataObject
) -> None:
    tree = json.loads(tree_of(name))
    tests = [index for index, code in enumerate(tree["codes"]) if code[0][1] == "test"]
    for _ in range(data.draw(st.integers(1, 3))):
        section = data.draw(st.sampled_from(["codes", "codes", "codes", "constants", "names", "types"]))
        if section == "codes":
            code = tree["codes"][data.draw(st.integers(0, len(tree["codes"]) - 1))]
            numbers = code[1]
            at = data.draw(st.integers(0, len(numbers) - 1))
            numbers[at] = data.draw(st.integers(0, 70) | st.sampled_from(numbers))
        else:
            entries = tree[section]
            one, other = (data.draw(st.integers(0, len(entries) - 1)) for _ in range(2))
            entries[one] = entries[other]
    program, found = loads(sign(json.dumps(tree).encode("ascii")))
    if program is None:
        assert found
        return
    session = Session(program, limits=Limits(steps=5_000, depth=50))
    for index in tests[:2]:
        asyncio.run(session.run_test(program.codes[index].name))
