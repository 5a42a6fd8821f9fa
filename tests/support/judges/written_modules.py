"""Modules of the target `python`, run beside the virtual machine: same answers, same values and messages.

The machine answers its holes at random, and notes each: the conversation in front of it and the text. The
module gets the same texts from its `complete`, and must ask for each with the same conversation.
"""

from __future__ import annotations

import asyncio
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from sglc.driver import compile_source, write_target
from sglc.runtime.errors import SglError
from sglc.runtime.session import Session
from sglc.runtime.vm.holes import holes, scoring
from sglc.runtime.vm.holes.retries import earlier_values
from sglc.runtime.vm.machine import Machine
from sglc.source import Source
from sglc.values.text import display


@dataclass(frozen=True, order=True)
class Asked:
    """One answer of the machine."""

    hole: str
    before: str
    text: str


@dataclass
class Outcome:
    """What a run came to: the text of its value, or the name of its error; and what was asked."""

    value: str = ""
    error: str = ""
    asked: list[Asked] = field(default_factory=list)


@contextmanager
def noting(asked: list[Asked]) -> Iterator[None]:
    """While every hole that the machine fills is noted."""
    keep = holes.keep

    def noted(machine: Any, frame: Any, index: int, value: object, result: Any, *more: Any) -> None:
        conversation = frame.conversation
        after = conversation.state
        size = len(after.stretch) - len(result.text)
        before = replace(after, stretch=after.stretch[:size])
        conversation.state = before
        for rejected, reason in earlier_values(frame, index)[1]:
            conversation.restore(conversation.repaired(before, rejected, reason))
        name = machine.program.holes[index].name
        asked.append(Asked(name, conversation.state.stretch, result.text))
        conversation.state = after
        keep(machine, frame, index, value, result, *more)

    holes.keep = scoring.keep = noted
    try:
        yield
    finally:
        holes.keep = scoring.keep = keep


def machine_run(source: Source, name: str, arguments: dict[str, Any], seed: int) -> Outcome:
    """A function, run by the machine with random answers."""
    program = compile_source(source).program
    assert program is not None
    session = Session(program)
    run = session._new_run(seed)  # calls in the order of the program
    run.fuzzing = True
    code = session.function(name)
    outcome = Outcome()
    with noting(outcome.asked):
        try:
            value = asyncio.run(Machine(run).call(code, session.bind(code, arguments)))
            outcome.value = display(value, program.table)
        except SglError as error:
            outcome.error = error.name
    return outcome


def module_of(text: str) -> types.ModuleType:
    """The written module."""
    module = types.ModuleType("written_program")
    sys.modules[module.__name__] = module  # where dataclasses look for it
    exec(compile(text, "written_program.py", "exec"), module.__dict__)
    return module


def rendered(messages: list[dict[str, str]]) -> str:
    """Messages as the machine writes them where no model is there."""
    parts = [
        each["content"] if each["role"] == "text" else f"<{each['role']}>\n{each['content']}"
        for each in messages
    ]
    return "\n".join(parts)


def same_place(shown: str, before: str) -> bool:
    """Whether messages are those of the machine, which has an empty beginning of the answer as a message."""
    return before in (shown, f"{shown}\n<assistant>\n" if shown else "<assistant>\n")


def module_run(module: types.ModuleType, name: str, arguments: dict[str, Any], asked: list[Asked]) -> Outcome:
    """The same function of the module, given the answers that the machine gave."""
    outcome = Outcome()
    left = list(asked)

    def complete(messages: list[dict[str, str]], **options: Any) -> str:
        assert set(options) == {"schema", "regex", "stop", "max_tokens", "sampling"}
        shown = rendered(messages)
        found = next((each for each in left if same_place(shown, each.before)), None)
        if found is None and ("That is not accepted" in shown or "(Not accepted" in shown):
            # A wrong answer is shown to the model; the machine draws again without a word.
            last = outcome.asked[-1]
            found = next((each for each in left if replace(each, text=last.text) == last), None)
        assert found is not None, (shown, [each.before for each in left])
        left.remove(found)
        outcome.asked.append(found)
        return found.text

    try:
        outcome.value = module.show(module.run(name, complete=complete, attempts=9, **arguments))
    except module.SglError as error:
        outcome.error = error.name
    return outcome


def agree(source: Source, name: str = "main", arguments: dict[str, Any] | None = None, seeds: int = 8) -> int:
    """Run a function both ways with several seeds; the number of answers that were given."""
    text, found = write_target(source, "python", allow_wider=True)
    assert text, [d.message for d in found if d.severity == "error"]
    module = module_of(text)
    answers = 0
    for seed in range(seeds):
        machine = machine_run(source, name, arguments or {}, seed)
        written = module_run(module, name, arguments or {}, machine.asked)
        assert (written.value, written.error) == (machine.value, machine.error)
        assert sorted(written.asked) == sorted(machine.asked)  # branches of the machine run side by side
        answers += len(machine.asked)
    return answers
