"""What a debugger is for a run: a table of steps in place of the machine's own, and a look at every token.

A run without one takes the machine's own table, so it does nothing for debuggers at any instruction.
"""

from __future__ import annotations

from typing import Protocol

from sglc.runtime.decoding.requests import Logits
from sglc.runtime.engine.sampling.legal import NextTokens
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.vm.state.strand import Step, Strand
from sglc.runtime.vm.state.trace import Event


class RunDebugger(Protocol):
    """Stops one run where its user wants it."""

    top: int
    """How many of the most probable tokens it is told with each token."""

    def begin(self, machine: Strand) -> tuple[Step, ...]:
        """The run of a machine begins. What its instructions do from now on."""

    def heard(self, event: Event) -> None:
        """Hear of an event of the run."""

    async def token(
        self, machine: Strand, index: int, drawn: Sampled, data: bytes, legal: NextTokens, logits: Logits
    ) -> None:
        """A token of hole `index` was drawn, and not yet written; see `Pause`. The run goes on when this
        returns."""
