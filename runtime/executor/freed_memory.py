"""Keeps memory that a step frees in the process, instead of returning it to the system.

Every layer of a step allocates and frees megabytes of activations. glibc gives freed memory at the end of a
heap back to the system beyond a threshold, and gets larger pieces from the system each time; the next layer
then pays a page fault for each 4 kB of it. Reading prompts took up to half as long again.
"""

from __future__ import annotations

import ctypes
import sys

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
"""`M_TRIM_THRESHOLD` and `M_MMAP_THRESHOLD` of malloc.h (mallopt(3))."""
KEPT_BYTES = 512 << 20
"""Freed memory at the end of a heap that is kept: about twice the activations of the largest step."""
LARGEST_BYTES = 32 << 20
"""Pieces up to this size come from a heap; the most that glibc takes."""


def keep_freed_memory() -> bool:
    """Let the process keep what steps free, for the next ones. False where the C library knows no such
    option.

    It holds for the whole process, so it is for whoever has decided to compute models in it on a CPU.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return False
    return bool(mallopt(TRIM_THRESHOLD, KEPT_BYTES)) and bool(mallopt(MMAP_THRESHOLD, LARGEST_BYTES))
