"""Errors of engines: why a request has no answer."""

from __future__ import annotations

from sglc.runtime.errors import SglError


class EngineError(Exception):
    """A request that an engine cannot answer."""


class ContextOverflow(EngineError):
    """A branch is longer than the model's context."""

    def __init__(self, tokens: int, limit: int) -> None:
        super().__init__(f"the context holds {limit} tokens, {tokens} are needed")
        self.tokens = tokens
        self.limit = limit


class QueueFull(EngineError):
    """Too many requests wait for the model."""


class MemoryFull(EngineError):
    """A single branch needs more keys and values than the pool holds."""


class DeadlinePassed(EngineError):
    """A request was not answered before its deadline. That is a whole run's: no handler catches it."""


class StepFailed(EngineError):
    """The executor could not compute a branch's tokens."""


class EngineFault(Exception):
    """An error inside the engine. Neither the request, the model nor the machine is at fault.

    So a program cannot catch it: the error leaves the run as a fault of sglc.
    """

    def __init__(self, reason: BaseException) -> None:
        super().__init__(f"fault of the engine: {type(reason).__name__}: {reason}")
        self.__cause__ = reason


def step_failed(reason: BaseException) -> StepFailed:
    """What a request gets whose step ended with an exception."""
    failed = StepFailed(f"the model's step failed: {reason}")
    failed.__cause__ = reason
    return failed


def too_large(tokens: int, room: int) -> MemoryFull:
    """What a request of so many tokens gets where the pool has room for fewer."""
    return MemoryFull(f"{tokens} tokens do not fit into the memory for keys and values, which holds {room}")


def language_error(fault: EngineError, partial: str = "") -> SglError:
    """The error of the language that a program meets."""
    name, fatal = "Backend", False
    if isinstance(fault, ContextOverflow):
        name = "Budget"
    elif isinstance(fault, DeadlinePassed):
        name, fatal = "Timeout", True
    return SglError(name, str(fault), partial=partial, fatal=fatal)
