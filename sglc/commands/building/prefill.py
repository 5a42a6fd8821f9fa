"""`sglc build --prefill`: keys and values of what a program's conversations begin with, for later runs."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from sglc.bytecode.code import Program
from sglc.commands.shared.invocation import Invocation, fail, fault
from sglc.runtime.engine.load import PREFILL_BYTES, load_engine, prefill_folder
from sglc.runtime.model.weights.errors import ModelError
from sglc.runtime.session import Session


@dataclass(frozen=True, slots=True)
class Prefilled:
    """What was kept: the tokens of each beginning, and the blocks and bytes that the folder has now."""

    folder: Path
    beginnings: list[int]
    blocks: int
    size: int

    def figures(self) -> dict[str, object]:
        """What is told as JSON."""
        return {
            "output": str(self.folder),
            "beginnings": self.beginnings,
            "blocks": self.blocks,
            "bytes": self.size,
        }

    def line(self) -> str:
        """What is told to people."""
        lengths = ", ".join(map(str, self.beginnings)) or "none"
        held = f"{self.blocks:,} blocks, {self.size:,} bytes in all"
        return f"{self.folder}: beginnings of {lengths} tokens; {held}"


def prefill(invocation: Invocation, program: Program, model: str) -> Prefilled:
    """Compute the beginnings with a model and keep their whole blocks. A model that cannot be had ends the
    command."""
    invocation.stage = f"computing beginnings with {model}"
    folder = prefill_folder()
    try:
        engine = load_engine(model, disk=folder, disk_bytes=PREFILL_BYTES)
    except ModelError as problem:
        raise fail(
            invocation,
            fault("E0807", f"{problem.what}: {problem.where}", reason=problem.why, hint=problem.hint),
        ) from None
    try:
        named = dict.fromkeys(program.models, engine)  # what these read is theirs to compute
        beginnings = asyncio.run(Session(program, engine, models=named).prefill())
    finally:
        engine.close()
    kept = engine.get_cache_stats()
    disk = None if kept is None else kept.disk
    return Prefilled(folder, beginnings, disk.blocks if disk else 0, disk.bytes if disk else 0)
