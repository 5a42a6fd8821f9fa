"""Limits of constraints, and the account that keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sglc.automata import work
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.core.errors import ConstraintError, ConstraintTooCostly


@dataclass(frozen=True, slots=True)
class ConstraintOptions:
    """Limits of one constraint. What passes them is a ConstraintError, never a slow or large process.

    max_terms, max_depth   parts and nesting of its description
    max_states             configurations that it may add to a machine, by all its texts together
    max_work               work of compiling it, and of one completion, in units of `sglc.automata.work`: by
                           default some three seconds and 200 MB; None for no limit
    max_effort             work of one mask, or one step of a token, in the same units: by default some 50 ms;
                           None for no limit
    mask_bytes             memory of the masks that constraints of these options share, by vocabulary
    table_bytes            memory of the tables that they share: when these are larger, they are left to the
                           matchers that use them, and new ones begin afresh
    """

    max_terms: int = 200_000
    max_depth: int = 150
    max_states: int = 1_000_000
    max_work: int | None = work.DEFAULT_WORK
    max_effort: int | None = 50_000
    mask_bytes: int = 64 << 20
    table_bytes: int = 16 << 20


COMPILING = "compiling the constraint"
_BYTES_OF_A_STEP = 16
"""Longer ones are as many steps: few tokens have more bytes."""


class LimitTracker:
    """What one constraint has cost on one machine.

    A context of one mask or step, entered under the machine's lock, in which what is done is charged to it;
    `check` is called while it goes on. What has been found before a limit is passed is kept, so that the same
    question may be asked again: its answer is the right one, or the limit is passed once more.
    """

    __slots__ = ("_before", "_made", "_outer", "_times", "machine", "options", "spent")

    def __init__(self, machine: Machine, options: ConstraintOptions) -> None:
        self.machine = machine
        self.options = options
        self._made = 0
        self._outer: tuple[work.WorkAccount | None, ...] = ()
        """The accounts that were open before, the innermost last."""
        self._times = 1
        self._before = 0
        self.spent = 0
        """Units of work of all masks and steps so far."""

    def reading(self, size: int) -> LimitTracker:
        """The context of a step over so many bytes, which may cost as much as so many tokens."""
        self._times = 1 + size // _BYTES_OF_A_STEP
        return self

    def __enter__(self) -> LimitTracker:
        self._before = len(self.machine.configs)
        limit, times = self.options.max_effort, self._times
        self._times = 1
        self._outer = (
            *self._outer,
            work.exchange(work.WorkAccount(None if limit is None else limit * times)),
        )
        return self

    def __exit__(self, *fault: object) -> None:
        *outer, last = self._outer
        self._outer = tuple(outer)
        inside = work.exchange(last)
        if inside is not None:
            self.spent += inside.spent
        made = len(self.machine.configs) - self._before
        if made:
            self._made += made
            self._before += made
            if fault[0] is None:
                self.check()
        if isinstance(spent := fault[1], work.OutOfWork):
            raise ConstraintTooCostly(
                "a mask or step", spent.limit, spent.spent, spent.part, "max_effort"
            ) from None

    def check(self) -> None:
        """Raises ConstraintError beyond the limit of states."""
        if self._made + len(self.machine.configs) - self._before > self.options.max_states:
            raise ConstraintError(f"the constraint needs more than {self.options.max_states} states")


@contextmanager
def limited(limit: int | None, option: str, what: str) -> Iterator[work.WorkAccount]:
    """Inside, `what` is done: it is put on an account with this limit, which an option has set.

    Raises ConstraintTooCostly when it is passed.
    """
    account = work.WorkAccount(limit)
    try:
        with work.charged(account):
            yield account
    except work.OutOfWork as fault:
        raise ConstraintTooCostly(what, fault.limit, fault.spent, fault.part, option) from None


@contextmanager
def compiling(options: ConstraintOptions) -> Iterator[None]:
    """Inside, work is that of compiling: it goes to the account of whoever compiles, or one of its own."""
    if work.current() is not None:
        yield
        return
    with limited(options.max_work, "max_work", COMPILING):
        yield
