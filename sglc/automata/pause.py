"""Work that makes hundreds of thousands of small objects, none of which is garbage before it is done."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_MANY = 5_000
"""Objects that take long to look at."""
_LOOKS = 4
"""Looks at young objects since all that were young have last been looked at again."""


@contextmanager
def without_collection() -> Iterator[None]:
    """Without looking for garbage meanwhile, which would be a third of the time of a large grammar.

    A look at all that a process holds, in the midst of a schema, can take longer than the schema. What has
    been made is looked at once, as it would be with the next few objects, and then counts as old: the next
    look at young objects, in the middle of a mask, would take as long again.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
            new, looks, _ = gc.get_count()
            if new > _MANY or looks > _LOOKS:
                gc.collect(1)
