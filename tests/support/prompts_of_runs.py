"""What a model is given in a run, and what `sglc prompt` shows of the same call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sglc.bytecode.code import Program
from sglc.commands.prompting.fills import read_trace
from sglc.runtime.decoding.hole_text import HoleText
from sglc.runtime.engine.base import Engine
from sglc.runtime.errors import SglError
from sglc.runtime.preview import Preview, preview
from sglc.runtime.session import Session
from sglc.runtime.vm.holes import scoring
from sglc.runtime.vm.state.trace import TraceWriter


@contextmanager
def prompts_of_a_run(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[int, ...]]]:
    """The tokens that the engine's branch holds when the model is first asked for each hole."""
    seen: list[tuple[int, ...]] = []
    heal, measured = HoleText._heal, scoring._measured

    def noted(self: HoleText, masks: object) -> object:
        seen.append(tuple(self.conversation.branch.tokens))
        return heal(self, masks)  # type: ignore[arg-type]

    async def scored(machine: Any, filler: Any, conversation: Any, spec: Any, *more: Any) -> object:
        if spec.mode == "choose":
            conversation.start()
            seen.append(conversation.tokens())
        return await measured(machine, filler, conversation, spec, *more)

    with monkeypatch.context() as patched:
        patched.setattr(HoleText, "_heal", noted)
        patched.setattr(scoring, "_measured", scored)
        yield seen


def run_and_preview(
    program: Program,
    function: str,
    arguments: dict[str, object],
    engine: Engine,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[list[tuple[int, ...]], str, Preview]:
    """What a run gives the model for each hole, its first conversation, and a preview with the run's values.

    The text is empty where the run failed, or a hole had no value left: then a preview has none for it.
    """
    trace = folder / "run.jsonl"
    text = ""
    with prompts_of_a_run(monkeypatch) as seen, TraceWriter.open(trace) as writer:
        try:
            session = Session(program, engine)
            # Calls in their turn: of those ahead of it, some are asked in vain where another one fails.
            ran = session.run(function, arguments, trace=writer, max_tokens=400, concurrency=0)
            text = asyncio.run(ran).text
        except SglError:
            pass
    fills, problems = read_trace(program, trace)
    assert not problems
    events = [json.loads(line)["event"] for line in trace.read_text(encoding="utf-8").splitlines()]
    text = text if events.count("hole_start") == events.count("hole_end") else ""
    tokenizer = engine.model.tokenizer
    shown = asyncio.run(preview(program, function, arguments, tokenizer=tokenizer, fills=fills))
    return seen, text, shown


def asked_tokens(shown: Preview) -> list[tuple[int, ...]]:
    """The tokens of what each hole is asked, in the order of the conversations."""
    found = []
    for recorded in shown.conversations:
        for asked in recorded.asked:
            conversation = recorded.conversation.sibling()
            conversation.restore(asked.transcript)
            found.append(conversation.tokens())
    return found


def check_equal(seen: list[tuple[int, ...]], text: str, shown: Preview) -> None:
    asked = asked_tokens(shown)
    missing = [tokens for tokens in seen if tokens not in asked]
    assert not missing, "the model was given what the preview does not show"
    first = shown.conversations[0] if shown.conversations else None
    if text and first is not None and len(first.path) == 1:
        assert first.conversation.rendered(close=True) == text
