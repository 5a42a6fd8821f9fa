"""How long a command took to get going, part by part."""

from __future__ import annotations

import os
import time


class Startup:
    """A stopwatch with named laps; the first begins with the process, as far as the system tells."""

    def __init__(self) -> None:
        self.began = process_began()
        self.parts: list[tuple[str, float]] = []
        self._last = self.began

    def lap(self, name: str) -> None:
        """End a part that began when the one before ended."""
        now = time.perf_counter()
        self.parts.append((name, now - self._last))
        self._last = now


def process_began() -> float:
    """When this process began, as `time.perf_counter` counts, to a hundredth of a second.

    Where the system does not tell, it is now.
    """
    now = time.perf_counter()
    try:
        with open("/proc/self/stat", encoding="ascii", errors="replace") as file:
            ticks = int(file.read().rpartition(")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return now
    return now - max(0.0, age)
