"""Work on several texts at the same time, in the same steps of the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import TypeVar

R = TypeVar("R")


async def all_of(work: Iterable[Coroutine[object, object, R]]) -> list[R]:
    """The results in order; the first error ends the others."""
    jobs = [asyncio.ensure_future(each) for each in work]
    try:
        return list(await asyncio.gather(*jobs))
    finally:
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)
