"""`using a or b`, and fallbacks of a project: the next model is asked where the one before cannot be had, or
fails.

Which models there are is known when a run begins. What counts as the failure of a model, so that another one
may be asked, is said here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from sglc.bytecode.code import HoleSpec
from sglc.runtime.engine.core.errors import DeadlinePassed, EngineError, language_error
from sglc.runtime.errors import SglError
from sglc.runtime.vm.holes.models import model_shown
from sglc.runtime.vm.state.frame import Frame
from sglc.runtime.vm.state.run import Run
from sglc.runtime.vm.state.strand import Strand
from sglc.types.model_use import MAIN, MAIN_USE, ModelUse

T = TypeVar("T")


def at_hand(run: Run, use: ModelUse | None) -> list[ModelUse | None]:
    """Who a hole is asked of, in turn: the models of its chain that the run has, or its model or blend. Each
    model is followed by its own fallbacks, which read what it reads."""
    if use is not None and use.teacher is not None:
        return [use]
    found: list[ModelUse | None] = []
    for view in MAIN_USE.views if use is None else use.views:
        if view.name in run.models:
            found.append(None if use is None else ModelUse(view))
            found += (ModelUse(replace(view, name=name)) for name in run.models[view.name].fallbacks)
    return found


def model_failed(error: Exception) -> SglError | None:
    """The error as the language has it, where a model could not do what was asked: its step failed, its queue
    or memory is full, its context is too short, or the conversation cannot be had in its form. None for what
    any model would meet: deadlines, budgets of the program, holes without a legal text, and faults of sglc.
    """
    if isinstance(error, EngineError):
        return None if isinstance(error, DeadlinePassed) else language_error(error)
    if isinstance(error, SglError) and not error.fatal and error.name in ("Backend", "Unsupported"):
        return error
    return None


async def first_answer(
    machine: Strand, frame: Frame, spec: HoleSpec, ask: Callable[[ModelUse | None], Awaitable[T]]
) -> T:
    """What the first model of a hole's chain gives that does not fail. The error of the last one is raised.

    What a model that failed had written is taken back, and the next one begins the hole anew.
    """
    *first, last = at_hand(machine.run, spec.models)
    conversation = frame.conversation
    assert conversation is not None
    for number, use in enumerate(first):
        mark = conversation.mark()
        try:
            return await ask(use)
        except (SglError, EngineError) as raised:
            error = model_failed(raised)
            if error is None:
                raise
            conversation.restore(mark)
            asked = shown(use)
            machine.emit(
                "fallback",
                {"hole": spec.name, "model": asked, "name": error.name, "message": error.message},
            )
            following = [*first, last][number + 1]
            machine.emit("hole_start", {"hole": spec.name, "mode": spec.mode, "model": shown(following)})
            if machine.stream is not None:
                machine.stream.begins(machine, spec.name)
    return await ask(last)


def asked_first(run: Run, use: ModelUse | None) -> dict[str, object]:
    """What the event of a hole's beginning says of its model: of a chain the one that is asked first."""
    first, *others = at_hand(run, use)
    return {"model": shown(first)} if others or (use is not None and use.others) else model_shown(first)


def shown(use: ModelUse | None) -> str:
    """A model, or two, as they stand in a program."""
    return MAIN if use is None else use.shown()
