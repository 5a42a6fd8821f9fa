"""The memory of runs that outlive their clients: counted by tenant and in all, and bounded.

A run whose end a client has had may be dropped early, so that there is room for others. What nobody has had
is never dropped before its time: a call that would be kept is refused while there is no room, and a run
that nobody watches loses its oldest events, never its value.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sglc.runtime.serve.keeping.log import Log

RUN_BYTES = 6144
"""Bytes of a run besides its events and its value: somewhat more than is measured where it has ended."""
SOON = 5.0
"""Seconds after which to come again, where no kept run will have run out by then that is known."""
MOST_LOOKED_AT = 256
"""Kept runs whose end is looked at to say when there is room."""


class NoRoom(Exception):
    """No more runs can be kept now. `bytes` is the bound that is met, `after` the seconds after which to come
    again."""

    def __init__(self, bytes: int, after: float) -> None:
        super().__init__(f"{bytes} bytes are kept already")
        self.bytes = bytes
        self.after = after


@dataclass(eq=False, slots=True)
class Kept:
    """A run that is kept, as its memory is counted."""

    tenant: str
    log: Log
    drop: Callable[[], None]
    """Forgets the run."""
    bytes: int = 0
    watched: bool = True
    """Whether a client reads it or waits for it."""
    had: bool = False
    """Whether a client has had its end."""
    until: float = math.inf
    """When it will be dropped, if nobody comes."""
    gone: bool = False
    """Whether it is kept no more."""


class KeptRuns:
    """Runs that are kept, of all tenants. `most` bounds their bytes, `share` those of one tenant. `clock`
    gives seconds."""

    def __init__(self, most: int, share: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self.share = min(share, most)
        self.bytes = 0
        self.dropped = 0
        """Runs that were dropped before their time."""
        self.refused = 0
        """Calls that were refused for want of room."""
        self._clock = clock
        self._of: dict[str, dict[Kept, None]] = {}
        """Runs by tenant, in their order."""
        self._bytes: Counter[str] = Counter()
        self._had: dict[str, dict[Kept, None]] = {}
        """Those that may be dropped, by tenant, in the order in which they came to it."""

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))

    def bytes_of(self, tenant: str) -> int:
        """Bytes of the runs of a tenant."""
        return self._bytes[tenant]

    def enter(self, tenant: str, log: Log, drop: Callable[[], None]) -> Kept:
        """Keep one more run. Raises NoRoom."""
        self._make_room(tenant, RUN_BYTES)
        if self._bytes[tenant] + RUN_BYTES > self.share:
            self.refused += 1
            raise NoRoom(self.share, self._soonest(self._of.get(tenant, {})))
        if self.bytes + RUN_BYTES > self.most:
            self.refused += 1
            raise NoRoom(self.most, self._soonest(itertools.chain.from_iterable(self._of.values())))
        kept = Kept(tenant, log, drop)
        self._of.setdefault(tenant, {})[kept] = None
        self._add(kept, RUN_BYTES)
        log.counted = lambda by: self.grow(kept, by)
        return kept

    def grow(self, kept: Kept, by: int) -> None:
        """A run takes so many bytes more."""
        if not kept.gone:
            self._add(kept, by)
            self._fit(kept)

    def watch(self, kept: Kept) -> None:
        """A client has come to a run."""
        kept.watched, kept.until = True, math.inf
        self._sort(kept)

    def leave(self, kept: Kept, until: float) -> None:
        """The last client has left it; it is kept until then."""
        kept.watched, kept.until = False, until
        self._sort(kept)
        if not kept.gone:
            self._fit(kept)

    def had(self, kept: Kept) -> None:
        """A client has had its end."""
        kept.had = True
        self._sort(kept)

    def forget(self, kept: Kept) -> None:
        """A run is kept no more."""
        if kept.gone:
            return
        kept.gone, kept.log.counted = True, None
        runs = self._of[kept.tenant]
        del runs[kept]
        self._had.get(kept.tenant, {}).pop(kept, None)
        self._add(kept, -kept.bytes)
        if not runs:
            for each in (self._of, self._had, self._bytes):
                each.pop(kept.tenant, None)

    # -- room ------------------------------------------------------------------------------------------

    def _fit(self, kept: Kept) -> None:
        """Stay within the bounds after a run has grown, or has been left."""
        over = self._make_room(kept.tenant, 0)
        if over > 0 and not kept.watched:
            self._add(kept, -kept.log.trim(over))

    def _make_room(self, tenant: str, bytes: int) -> int:
        """Drop runs that clients have had, until so many bytes more are within the bounds; how many there are
        still too many. A tenant that has too much gives first, then the one that has most."""
        while self._bytes[tenant] + bytes > self.share and self._drop_first(tenant):
            pass
        while self.bytes + bytes > self.most:
            giving = max((each for each in self._had if self._had[each]), key=self.bytes_of, default=None)
            if giving is None:
                break
            self._drop_first(giving)
        return max(self._bytes[tenant] + bytes - self.share, self.bytes + bytes - self.most)

    def _drop_first(self, tenant: str) -> bool:
        first = next(iter(self._had.get(tenant, {})), None)
        if first is None:
            return False
        self.dropped += 1
        self.forget(first)
        first.drop()
        return True

    def _sort(self, kept: Kept) -> None:
        """See whether a run may be dropped now."""
        if kept.had and not kept.watched and not kept.gone:
            self._had.setdefault(kept.tenant, {})[kept] = None
        else:
            self._had.get(kept.tenant, {}).pop(kept, None)

    def _add(self, kept: Kept, bytes: int) -> None:
        kept.bytes += bytes
        self._bytes[kept.tenant] += bytes
        self.bytes += bytes

    def _soonest(self, runs: Iterable[Kept]) -> float:
        seen = itertools.islice(runs, MOST_LOOKED_AT)
        left = min((each.until for each in seen), default=math.inf) - self._clock()
        return left if math.isfinite(left) else SOON
