"""Golden cases as sessions: a program by its name, and commands, one a line."""

from __future__ import annotations

import asyncio

from checkout import GOLDEN
from debugging.client import Session
from golden_case import GoldenCase

PROGRAMS = GOLDEN / "debug" / "programs"
FUNCTIONS: dict[str, tuple[str, dict[str, object]]] = {"topic": ("ask", {"topic": "tea"})}
"""Words of `launch` in scripts: a function with its arguments. Others are functions without any."""


def settings_of(program: str, function: str) -> dict[str, object]:
    """What a client says of a run at `launch`."""
    name, arguments = FUNCTIONS.get(function, (function, {}))
    return {"function": name, "args": arguments, "model": f"scripted:{PROGRAMS / f'{program}.json'}"}


async def take(case: GoldenCase, session: Session) -> str:
    """Take the commands of a case; what was to be seen. Nothing of the session may be left behind."""
    head, *script = case.input.split("\n")
    program = head.removeprefix("program ")
    lines = []
    for line in script:
        if line.startswith("launch "):
            function, *more = line.removeprefix("launch ").split()
            if function == "test":
                session.settings, more = {"test": " ".join(more)}, []
            else:
                session.settings = settings_of("empty" if "unscripted" in more else program, function)
            line = " ".join(["launch", *(each for each in more if each != "unscripted")])
        lines.append(line.replace("$P", str(session.program)))
    seen = await session.run(lines)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    return "\n".join(seen).replace(str(PROGRAMS), "programs")
