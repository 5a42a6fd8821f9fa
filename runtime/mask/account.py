"""Limits of constraints, and the account that keeps them."""

from __future__ import annotations

from dataclasses import dataclass

from sglc.runtime.mask.errors import ConstraintError
from sglc.runtime.mask.machine import Machine


@dataclass(frozen=True, slots=True)
class ConstraintOptions:
    """Limits of one constraint. What passes them is a ConstraintError, never a slow or large process.

    max_terms, max_depth   parts and nesting of its description
    max_states             configurations that it may add to a machine, by all its texts together
    max_effort             work of one question or step, counted in threads of the configurations it makes
    mask_bytes             memory of the masks that constraints of these options share, by vocabulary
    table_bytes            memory of the tables that they share: when these are larger, they are left to the
                           matchers that use them, and new ones begin afresh
    """

    max_terms: int = 200_000
    max_depth: int = 150
    max_states: int = 1_000_000
    max_effort: int = 1_000_000
    mask_bytes: int = 64 << 20
    table_bytes: int = 16 << 20


class Account:
    """What one constraint has cost on one machine.

    A context of one operation, entered under the machine's lock; `check` is called while it goes on.
    """

    __slots__ = ("_configs", "_effort", "_made", "machine", "options")

    def __init__(self, machine: Machine, options: ConstraintOptions) -> None:
        self.machine = machine
        self.options = options
        self._made = 0

    def __enter__(self) -> Account:
        self._configs = len(self.machine.configs)
        self._effort = self.machine.effort
        return self

    def __exit__(self, *fault: object) -> None:
        machine = self.machine
        made = len(machine.configs) - self._configs
        if made:
            self._made += made
            self._configs += made
        if (made or machine.effort > self._effort) and fault[0] is None:
            self.check()

    def check(self) -> None:
        """Raises ConstraintError beyond a limit."""
        machine, options = self.machine, self.options
        if self._made + len(machine.configs) - self._configs > options.max_states:
            raise ConstraintError(f"the constraint needs more than {options.max_states} states")
        if machine.effort - self._effort > options.max_effort:
            raise ConstraintError("the constraint leaves too many alternatives open")
