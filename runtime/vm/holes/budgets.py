"""The tokens that a hole may take."""

from __future__ import annotations

from sglc.runtime.decoding.requests import Budget
from sglc.runtime.vm.state.frame import Frame


def budget_of(frame: Frame, most: int | None) -> Budget | None:
    """The smallest of the hole's own bound and the bounds that its frame runs under."""
    tightest = None if most is None else Budget(max(0, most), f"`max {most} tok`")
    for allowance in frame.allowances:
        if tightest is None or allowance.left < tightest.tokens:
            tightest = Budget(allowance.left, allowance.source, allowance.fatal)
    return tightest
