"""Terminators: the operations that end a block, and the only ones that name labels.

The rules of `sglc.ir.ops` hold for them too.
"""

from __future__ import annotations

from dataclasses import field

from sglc.immutable import value
from sglc.ir.ops import Slot, Temp
from sglc.source import Span

Label = str
"""Name of a block: `^loop`."""


@value
class Jump:
    target: Label
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Branch:
    condition: Temp
    then: Label
    otherwise: Label
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Next:
    """Takes the next item of the iterator in a slot, stores it and goes to `body`; to `done` at the end."""

    iterator: Slot
    item: Slot
    body: Label
    done: Label
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Try:
    """Opens a handler and goes to `body`; an error goes to `handler`, the conversation as it is here.

    A `quiet` one stands around computations that the program did not ask for (arguments of a `Start`). Their
    error leaves no trace: no event tells of it, and `error` and `catch` still speak of the error before it.
    """

    body: Label
    handler: Label
    quiet: bool
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Return:
    value: Temp
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class RaiseError:
    name: str
    arguments: tuple[Temp, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Reraise:
    """Raises an error that was caught, with the place where it arose."""

    error: Temp
    span: Span | None = field(default=None, compare=False, repr=False)


Terminator = Jump | Branch | Next | Try | Return | RaiseError | Reraise
TERMINATORS: tuple[type, ...] = Terminator.__args__
