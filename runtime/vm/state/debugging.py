"""What a debugger is for a run: a table of steps in place of the machine's own, and a look at every token.

A run without one takes the machine's own table, so it does nothing for debuggers at any instruction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sglc.runtime.decoding.watching import Logits, Look, Moment
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
        self,
        machine: Strand,
        index: int,
        drawn: Sampled,
        data: bytes,
        legal: NextTokens,
        logits: Logits,
        search: Look | None,
    ) -> None:
        """A token of hole `index` was drawn, and not yet written; see `Watcher`. The run goes on when this
        returns."""

    async def search(self, machine: Strand, index: int, moment: Moment, look: Look) -> None:
        """The search for the text of hole `index` is at such a moment; see `Watcher`."""


@dataclass(frozen=True, slots=True)
class HoleWatch:
    """Lets a debugger look at one hole of a strand; see `Watcher`."""

    debugger: RunDebugger
    machine: Strand
    index: int

    async def token(
        self, drawn: Sampled, data: bytes, legal: NextTokens, logits: Logits, search: Look | None = None
    ) -> None:
        """See `Watcher.token`."""
        await self.debugger.token(self.machine, self.index, drawn, data, legal, logits, search)

    async def search(self, moment: Moment, look: Look) -> None:
        """See `Watcher.search`."""
        await self.debugger.search(self.machine, self.index, moment, look)
