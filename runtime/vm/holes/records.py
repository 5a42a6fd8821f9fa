"""What is noted of a hole that was filled: for the program, its budgets, statistics and accounts."""

from __future__ import annotations

import hashlib
import math
from asyncio import CancelledError
from collections.abc import Mapping
from typing import Any

from sglc.automata.term import Language
from sglc.automata.term_digest import term_digest
from sglc.bytecode.code import HoleSpec
from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.decoding.requests import HoleResult
from sglc.runtime.errors import SglError
from sglc.runtime.vm.state.frame import Frame
from sglc.runtime.vm.state.run import AskedHole, HoleRecord
from sglc.runtime.vm.state.strand import Strand
from sglc.runtime.vm.state.values import Filled, Scored
from sglc.types.decoding import FIGURES

TOLD = tuple(name for figures in FIGURES.values() for name in figures)
"""Fields of results, of records and of the event `hole_end`."""


def keep(
    machine: Strand, frame: Frame, index: int, value: object, result: HoleResult, scored: Scored | None = None
) -> None:
    """Note a value and what it took, and leave the value on the stack; with its figures where they are read.

    `scored` has the options of a `choose` with their probabilities.
    """
    statistics = machine.run.statistics
    spec = machine.program.holes[index]
    name = spec.name
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
            scores=result.scores,
            shares=result.shares,
            answered_by="" if result.remote is None else result.remote.answered_by,
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
    if spec.told:
        figures = {each: figure for each, figure in told(result).items() if figure is not None}
        value = Filled(value, figures if scored is None else {"scores": scored}, name)
    frame.stack.append(value)


def note_remote(machine: Strand, result: HoleResult) -> None:
    """Count what a hole took of a model elsewhere, whether it was filled or not."""
    if result.remote is not None:
        machine.run.statistics.remote.add(result.remote)


def told(result: HoleResult) -> dict[str, Any]:
    """What a strategy says of its search, by name; None of what does not apply."""
    return {name: getattr(result, name) for name in TOLD}


def shown_figures(result: HoleResult) -> dict[str, object]:
    """What the event `hole_end` tells of a strategy: what applies and is finite, rounded."""
    shown: dict[str, object] = {}
    for name, figure in told(result).items():
        if isinstance(figure, float) and math.isfinite(figure):
            shown[name] = round(figure, 4)
        elif figure is not None and not isinstance(figure, float):
            shown[name] = figure
    return {**shown, **scores_shown(result.scores)}


def scores_shown(scores: Mapping[str, float] | None) -> dict[str, object]:
    """The probabilities of options as events have them; nothing where none were found."""
    return {} if scores is None else {"scores": {text: round(p, 4) for text, p in scores.items()}}


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


def note_asked(
    machine: Strand, frame: Frame, spec: HoleSpec, legal: Language, excluded: frozenset[bytes] = frozenset()
) -> None:
    """Note what a hole is asked, for a golden call."""
    assert frame.conversation is not None and machine.run.asked is not None
    digest = hashlib.sha256(term_digest(legal))
    for text in sorted(excluded):
        digest.update(hashlib.sha256(text).digest())
    before = frame.conversation.rendered()
    machine.run.asked.append(
        AskedHole(spec.name, machine.branch, before, digest.hexdigest()[:32], spec.stops)
    )
