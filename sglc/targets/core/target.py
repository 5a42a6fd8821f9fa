"""What every target shares: what it is given, what it gives back, and what it could not say.

A target never approximates in silence. Where it lacks a word for something, it reports a `Loss` with the
construct and its place. The driver turns losses into errors, or, where the user allows a wider text, into
warnings; the text then accepts all that the program accepts, and more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sglc.check.core.result import CheckedProgram
from sglc.ir.module import Module
from sglc.targets.projection.core.loss import Loss


@dataclass(frozen=True, slots=True)
class Subject:
    """What is written: a checked program, and its intermediate code after all passes."""

    checked: CheckedProgram
    module: Module
    hole: str = ""
    """The hole that is asked for, by its name with or without its function; empty for all."""


@dataclass(frozen=True, slots=True)
class Written:
    """The text of a target, and its losses in the order of the text."""

    text: str
    losses: tuple[Loss, ...] = ()


Writer = Callable[[Subject], Written]
