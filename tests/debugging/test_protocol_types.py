"""Messages of the adapter against the protocol's own types: Microsoft's declarations, judged by `tsc`.

Every message of all sessions is written as a value of its type; a field that the protocol does not know, or
that has another type, is an error. `npm install @vscode/debugprotocol` in any folder, and
`SGLC_DEBUG_PROTOCOL` with its path.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from checkout import GOLDEN
from debugging.client import Client, Session
from debugging.scripts import take
from golden_case import golden_cases
from judges.typescript_compiler import compiler, needs_compiler

DECLARATIONS = "lib/debugProtocol.d.ts"
OWN = "sgl/"
"""What our own requests begin with."""


def declarations() -> Path | None:
    """The protocol's types in the folder of SGLC_DEBUG_PROTOCOL, or in its node_modules."""
    folder = os.environ.get("SGLC_DEBUG_PROTOCOL", "")
    places = [Path(folder), Path(folder) / "node_modules" / "@vscode" / "debugprotocol"] if folder else []
    return next((each / DECLARATIONS for each in places if (each / DECLARATIONS).is_file()), None)


def capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def typed(message: Mapping[str, Any]) -> str | None:
    """The type that a message is to have; None for what is our own and for refusals."""
    if message["type"] == "event":
        return f"{capital(message['event'])}Event"
    command = message["command"]
    if not message["success"]:
        return "ErrorResponse"
    return None if command.startswith(OWN) or not command else f"{capital(command)}Response"


def sent(message: Mapping[str, Any]) -> str | None:
    """The type of what our client sends: our reading of the protocol goes both ways."""
    command = message["command"]
    return None if command.startswith(OWN) or command == "launch" else f"{capital(command)}Request"


async def messages() -> list[tuple[str, str]]:
    """All messages of the sessions that are well meant, with their types."""
    found: dict[tuple[str, str], None] = {}
    for case in golden_cases("debug"):
        if case.path.stem == "wrong":
            continue
        client = Client()
        program = case.input.split("\n")[0].removeprefix("program ")
        await take(case, Session(client, GOLDEN / "debug" / "programs" / f"{program}.sgl"))
        for message, type in [(each, typed(each)) for each in client.messages] + [
            (each, sent(each)) for each in client.sent
        ]:
            if type is not None:
                found[type, json.dumps(message)] = None
    return list(found)


@pytest.mark.slow
@needs_compiler
@pytest.mark.skipif(declarations() is None, reason="no types of the protocol (SGLC_DEBUG_PROTOCOL)")
def test_messages_are_of_the_types_of_the_protocol(tmp_path: Path) -> None:
    source = declarations()
    assert source is not None
    text = source.read_text(encoding="utf-8")  # newer compilers refuse `module` for a namespace
    text = text.replace("export declare module DebugProtocol", "export declare namespace DebugProtocol")
    (tmp_path / "debugProtocol.d.ts").write_text(text, encoding="utf-8")
    made = asyncio.run(messages())
    lines = ['import { DebugProtocol } from "./debugProtocol";']
    lines += [f"export const m{at}: DebugProtocol.{type} = {text};" for at, (type, text) in enumerate(made)]
    (tmp_path / "messages.ts").write_text("\n".join(lines), encoding="utf-8")
    command = [str(compiler()), "--noEmit", "--strict", "--target", "es2022", "messages.ts"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[:4000]
    kinds = {type for type, _ in made}
    assert len(kinds) >= 30, sorted(kinds)
