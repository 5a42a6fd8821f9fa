"""Work is counted in calls, which are the same on every machine."""

from __future__ import annotations

import sys


def calls_of(action) -> int:
    """Calls that an action makes, of Python's functions and of those written in C."""
    count = 0

    def seen(frame, event, argument) -> None:
        nonlocal count
        count += event.endswith("call")

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count
