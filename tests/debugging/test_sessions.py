"""Scripted sessions of an editor: what a client asks over the debug adapter protocol, and what it sees."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import pytest

from checkout import GOLDEN
from debugging.client import Client, Session
from golden_case import GoldenCase, golden_cases

PROGRAMS = GOLDEN / "debug" / "programs"
CASES = golden_cases("debug")
FUNCTIONS = {"topic": ("ask", {"topic": "tea"})}
"""Words of `launch` in scripts: a function with its arguments. Others are functions without any."""


def settings_of(program: str, function: str) -> dict[str, object]:
    name, arguments = FUNCTIONS.get(function, (function, {}))
    model = f"scripted:{PROGRAMS / f'{program}.json'}"
    return {"function": name, "args": arguments, "model": model}


async def session(case: GoldenCase) -> str:
    head, *script = case.input.split("\n")
    program = head.removeprefix("program ")
    path = PROGRAMS / f"{program}.sgl"
    client = Client()
    made = Session(client, path)
    lines = []
    for line in script:
        if line.startswith("launch "):
            function, *more = line.removeprefix("launch ").split()
            made.settings = settings_of("empty" if "unscripted" in more else program, function)
            more = [each for each in more if each != "unscripted"]
            line = " ".join(["launch", *more])
        lines.append(line.replace("$P", str(path)))
    seen = await made.run(lines)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    return "\n".join(seen).replace(str(PROGRAMS), "programs")


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_sessions(case: GoldenCase, golden: Callable[[GoldenCase, str], None]) -> None:
    golden(case, asyncio.run(session(case)))


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 50 and json.loads((PROGRAMS / "notes.json").read_text(encoding="utf-8"))
