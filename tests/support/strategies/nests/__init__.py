"""Programs of every form that nests, `n` levels deep."""

from strategies.nests import code, declarations
from strategies.nests.core import FORMS

__all__ = ["FORMS", "code", "declarations"]
