"""What is noted of a hole that was filled: for the program, its budgets, statistics and accounts."""

from __future__ import annotations

from asyncio import CancelledError
from typing import Any

from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.decoding.requests import HoleResult
from sglc.runtime.errors import SglError
from sglc.runtime.vm.state.frame import Frame
from sglc.runtime.vm.state.run import HoleRecord
from sglc.runtime.vm.state.strand import Strand

TOLD = ("weight", "ess", "ancestors", "walks", "bound", "proved")
"""Fields of results, of records and of the event `hole_end`."""


def keep(machine: Strand, frame: Frame, index: int, value: object, result: HoleResult) -> None:
    """Note a value and what it took, and leave the value on the stack."""
    statistics = machine.run.statistics
    name = machine.program.holes[index].name
    machine.records.holes.append(
        HoleRecord(
            name,
            result.text,
            result.ended,
            result.tokens,
            result.sampled,
            result.forced,
            result.pressure,
            **told(result),
            shares=result.shares,
        )
    )
    statistics.holes += 1
    statistics.sampled_tokens += result.sampled
    statistics.forwards += result.sampled - result.saved
    statistics.forced_tokens += result.forced
    statistics.output_tokens += result.tokens
    for allowance in frame.allowances:
        allowance.spent += result.tokens + result.lost
    frame.holes[_short(name)] = value
    frame.texts[index] = result.text
    frame.stack.append(value)


def told(result: HoleResult) -> dict[str, Any]:
    """What a strategy says of its search, by name; None of what does not apply."""
    return {name: getattr(result, name) for name in TOLD}


def rounded(value: object) -> object:
    """A figure as events have it."""
    return round(value, 4) if isinstance(value, float) else value


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def constant_behind(machine: Strand, conversation: Conversation) -> int:
    """Tokens of constant text behind inserted values; 0 where no recorder counts them."""
    text = conversation.ask()
    if not text or machine.run.recorder is None or conversation.encoder is None:
        return 0
    return len(conversation.encoder.encode(text))


def error_name(raised: BaseException) -> str:
    """How accounts name what ended a hole or a run."""
    if isinstance(raised, SglError):
        return raised.name
    return "Cancelled" if isinstance(raised, CancelledError) else "Internal"
