"""Why a model cannot be used, said to the person who asked for it."""

from __future__ import annotations


class ModelError(Exception):
    """A model that is missing, damaged or of a kind that cannot be run.

    `what` is wrong, `where` it was found (a path or a name), `why` it is so, and `hint` what to do.
    """

    def __init__(self, what: str, where: str = "", why: str = "", hint: str = "") -> None:
        text = what + (f": {where}" if where else "") + (f"\n  why: {why}" if why else "")
        super().__init__(text + (f"\n  hint: {hint}" if hint else ""))
        self.what = what
        self.where = where
        self.why = why
        self.hint = hint
