"""From a constraint and a vocabulary to exact token masks: here are the names that other programs use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sglc.runtime.mask.automaton.limits import ConstraintOptions as ConstraintOptions
    from sglc.runtime.mask.caches import clear_caches as clear_caches
    from sglc.runtime.mask.caches import limit_caches as limit_caches
    from sglc.runtime.mask.constraint import Constraint as Constraint
    from sglc.runtime.mask.constraint import compile_constraint as compile_constraint
    from sglc.runtime.mask.core.errors import ConstraintError as ConstraintError
    from sglc.runtime.mask.core.errors import ConstraintTooCostly as ConstraintTooCostly
    from sglc.runtime.mask.core.errors import UnsupportedConstraint as UnsupportedConstraint
    from sglc.runtime.mask.explanation import Explanation as Explanation
    from sglc.runtime.mask.mask_trace import MaskTrace as MaskTrace
    from sglc.runtime.mask.matcher import Matcher as Matcher
    from sglc.runtime.mask.matcher import fill_masks as fill_masks
    from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary as Vocabulary

_PLACES = {
    "Constraint": "constraint",
    "ConstraintError": "core.errors",
    "ConstraintOptions": "automaton.limits",
    "ConstraintTooCostly": "core.errors",
    "Explanation": "explanation",
    "MaskTrace": "mask_trace",
    "Matcher": "matcher",
    "UnsupportedConstraint": "core.errors",
    "Vocabulary": "vocabulary.vocabulary",
    "clear_caches": "caches",
    "compile_constraint": "constraint",
    "fill_masks": "matcher",
    "limit_caches": "caches",
}


def __getattr__(name: str) -> object:
    """A public name, whose module is imported at the first use."""
    if name in _PLACES:
        return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted((*globals(), *_PLACES))
