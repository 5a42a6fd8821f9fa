"""Figures of a server itself, beside those of its functions and models."""

from __future__ import annotations

from collections.abc import Iterator

from sglc.runtime.metrics.families import Family, single
from sglc.runtime.serve.runs import Runs


def families_of(runs: Runs) -> Iterator[Family]:
    """What is kept of runs, as it is now."""
    kept = runs.kept
    yield single("gauge", "sglc_kept_runs", "Runs that may outlive their clients.", len(kept))
    yield single("gauge", "sglc_kept_bytes", "Bytes of these, with what they told.", kept.bytes)
    refused, dropped = "Calls refused for want of room.", "Runs that gave their room to others, read before."
    yield single("counter", "sglc_kept_refusals", refused, kept.refused)
    yield single("counter", "sglc_kept_dropped", dropped, kept.dropped)
