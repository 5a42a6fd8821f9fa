"""How many examples the properties of the constraint engine try."""

from __future__ import annotations

import os


def examples(usual: int) -> int:
    """`usual` examples, or as many as `SGLC_TEST_EXAMPLES` says: for long runs by hand."""
    return int(os.environ.get("SGLC_TEST_EXAMPLES", max(usual, 1)))
