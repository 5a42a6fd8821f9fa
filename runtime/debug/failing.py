"""What goes wrong at an instruction: errors that arise there, and expectations of tests that do not hold."""

from __future__ import annotations

from sglc.bytecode.opcodes import BY_NAME
from sglc.runtime.engine.core.errors import EngineError, language_error
from sglc.runtime.errors import SglError
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.vm.state.frame import Frame
from sglc.runtime.vm.state.strand import Strand
from sglc.runtime.vm.state.values import failure
from sglc.types.json_text import json_text

EXPECT, EXPECT_RAISES = (BY_NAME[name].number for name in ("EXPECT", "EXPECT_RAISES"))
"""Instructions of expectations."""
MOST_SHOWN = 8
"""Most parts of an expectation that are shown."""
LONGEST = 80
"""Most characters of one of them."""


def is_caught(machine: Strand) -> bool:
    """Whether a handler is open that may catch an error, in a frame of this strand."""
    return any(handler.target is not None for frame in machine.frames for handler in frame.handlers)


def as_language_error(error: Exception) -> SglError:
    """An error as the language has it."""
    if isinstance(error, SglError):
        return error
    if isinstance(error, EngineError):
        return language_error(error)
    name = "Unsatisfiable" if isinstance(error, ConstraintError) else ""
    return SglError(name, str(error)) if name else failure(str(error))


def ended() -> SglError:
    """The error of a run that its debugger has ended."""
    return SglError("Cancelled", "ended by the debugger", fatal=True)


def missed(machine: Strand, frame: Frame, op: int, a: int, b: int) -> str | None:
    """What an expectation misses that is about to be judged; None where it holds, and for other
    instructions."""
    if op == EXPECT_RAISES:
        return f"{machine.program.names[a]} was not raised" + _round(machine) if b else None
    if op != EXPECT or not frame.stack or frame.stack[-1]:
        return None
    parts = [
        f"{text} = {_shown(machine, value)}"
        for text, value in list(machine.run.witnesses.items())[:MOST_SHOWN]
    ]
    told = ": " + ", ".join(parts) if parts else ""
    return "the expectation does not hold" + _round(machine) + told


def _round(machine: Strand) -> str:
    """In which round of a `fuzz`."""
    found = machine.run.draws.round
    return f" in round {found.number + 1} of fuzz" if found is not None else ""


def _shown(machine: Strand, value: object) -> str:
    text = json_text(value) if isinstance(value, str) else machine.show(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
