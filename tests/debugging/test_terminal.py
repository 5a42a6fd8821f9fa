"""The face for a terminal, driven by keys as Textual's own pilot presses them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from debugging.scripts import PROGRAMS
from sglc.debug.expressions import Expressions
from sglc.debug.statements import statements_of
from sglc.driver import compile_file
from sglc.options import CompileOptions
from sglc.runtime.debug.debugger import Debugger
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.session import Session

terminal: Any = pytest.importorskip("sglc.debug.terminal", reason="no Textual (the extra `debug`)")


class Terminal:
    """The face with a run of a program."""

    def __init__(self, name: str = "notes", function: str = "ask", **arguments: object) -> None:
        program = compile_file(PROGRAMS / f"{name}.sgl", CompileOptions(0)).program
        assert program is not None
        engine = ReferenceEngine(ScriptedModel.from_file(PROGRAMS / f"{name}.json"))
        session = Session(program, engine)

        async def run() -> str:
            result = await session.run(function, arguments, debugger=debugger)
            return session.program.name + " gave " + str(result.value)

        self.said: list[str] = []
        self.face = terminal.TerminalFace(program, run, self._note)
        expressions = Expressions(program)
        debugger = Debugger(program, self.face, statements=statements_of(program), evaluate=expressions)
        self.face.plain.attach(debugger, expressions)

    def _note(self, line: str) -> str:
        self.said.append(line)
        return line


async def standing(pilot: Any, face: Any) -> None:
    for _ in range(400):
        await pilot.pause(0.01)
        if face.stop is not None and face.lines_of("source"):
            return
    raise AssertionError("the run does not stand")


async def session() -> list[str]:
    made = Terminal(topic="tea")
    face = made.face
    async with face.run_test(size=(120, 40)) as pilot:
        await standing(pilot, face)
        assert any(line.startswith("   8 > ") for line in face.lines_of("source"))
        await pilot.press("f10")
        await standing(pilot, face)
        await pilot.press("f9", "f6")
        await standing(pilot, face)
        assert any(line.startswith("   9 *") for line in face.lines_of("source")) or face.stop.passage
        assert "ask.note" in "\n".join(face.lines_of("mask"))
        assert "  A: " in face.lines_of("conversation")
        await pilot.press(*"force {", "backspace", *'{"mood": "calm", "size": 12}', "enter")
        await pilot.pause(0.1)
        assert any("12 is more than 9" in line for line in made.said)
        await pilot.press(*'force {"mood": "calm", "size": 3}', "enter")
        await standing(pilot, face)
        assert any(line.startswith("note: Note") for line in face.lines_of("variables"))
        await pilot.press("f8")
        await standing(pilot, face)
        assert face.stop.reason == "back"
        await pilot.press("f5")
        for _ in range(400):
            await pilot.pause(0.01)
            if any("has ended" in line for line in made.said):
                break
        await pilot.press("ctrl+q")
    return made.said


@pytest.mark.slow
def test_keys_and_commands() -> None:
    said = asyncio.run(session())
    assert any("gave" in line and "3" in line for line in said)


async def search() -> None:
    made = Terminal("searches", "beams")
    face = made.face
    async with face.run_test(size=(120, 40)) as pilot:
        await standing(pilot, face)
        for _ in range(2):
            await pilot.press("r", "enter")
            await standing(pilot, face)
        assert face.stop.search is not None and face.stop.search.moment == "begin"
        assert face.lines_of("mask")[0].startswith("beam: beams begin")
        await pilot.press("f7")
        await standing(pilot, face)
        lines = "\n".join(face.lines_of("mask"))
        assert "beam 0 goes on with a token" in lines and "tokens allowed" in lines
        await pilot.press("ctrl+q")


@pytest.mark.slow
def test_a_search_is_shown_with_the_mask_of_its_token() -> None:
    asyncio.run(search())
