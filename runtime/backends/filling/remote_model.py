"""A model elsewhere, as sessions take one."""

from __future__ import annotations

from dataclasses import dataclass

from sglc.runtime.backends.exchange import Backend

CONCURRENCY = 64
"""Calls of a program that are worth keeping going at the same time, where no limit says less: servers batch
some dozens of requests, and a request costs this process no more than a connection."""


@dataclass(frozen=True, slots=True, eq=False)
class RemoteModel:
    """A backend, given to a session in the place of an engine. Whoever opened it closes it."""

    backend: Backend

    @property
    def name(self) -> str:
        """As `--model` has it."""
        return self.backend.name

    @property
    def concurrency(self) -> int:
        """Calls of a program that are worth keeping going at the same time."""
        return CONCURRENCY

    async def close(self) -> None:
        """Give its connections back."""
        await self.backend.close()
