"""A model elsewhere, as sessions take one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sglc.runtime.backends.exchange import Backend
from sglc.runtime.backends.policy.accounts import Accounts

CONCURRENCY = 64
"""Calls of a program that are worth keeping going at the same time, where no limit says less: servers batch
some dozens of requests, and a request costs this process no more than a connection."""


@dataclass(frozen=True, slots=True, eq=False)
class RemoteModel:
    """A backend, given to a session in the place of an engine. Whoever opened it closes it."""

    backend: Backend
    accounts: Accounts = field(default_factory=Accounts)
    """What it was asked and what that cost."""
    at_once: int | None = None
    """Most requests at the same time; None is no bound."""
    complete: bool = False
    """Whether a value that no answer made whole is ended along a shortest text, and is not `Rejected`."""

    @property
    def name(self) -> str:
        """As `--model` has it."""
        return self.backend.name

    @property
    def concurrency(self) -> int:
        """Calls of a program that are worth keeping going at the same time."""
        return CONCURRENCY if self.at_once is None else self.at_once

    async def close(self) -> None:
        """Give its connections back."""
        await self.backend.close()


def spent(models: Iterable[RemoteModel]) -> dict[str, dict[str, object]]:
    """What models elsewhere were asked and what that cost, by the names of their backends."""
    return {name: figures for model in models for name, figures in model.accounts.plain().items()}
